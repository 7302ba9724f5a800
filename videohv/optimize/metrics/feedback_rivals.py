"""The same for the other methods: what can be said of their agents from a trace."""

from __future__ import annotations

from collections.abc import Mapping

from videohv.optimize.metrics.case import Case, brief
from videohv.optimize.metrics.feedback_windows import Said, choosing, looking
from videohv.types import Outcome


def judged_captions(case: Case) -> Mapping[str, Said]:
    """The one agent that answers from captions."""
    return _of("captions.answer", _answered(case))


def judged_direct(case: Case) -> Mapping[str, Said]:
    """The one agent that answers from frames; where none of them shows the annotated moment, no answer could know."""
    said = _answered(case)
    times = [time for evidence in case.trace.evidence for time in evidence.times]
    spans = case.question.spans
    if said is not None and said[0] == 0 and spans and not any(s.start <= t <= s.end for t in times for s in spans):
        said = 0.5, f"{said[1]} None of the {len(times)} frames shows the annotated moment."
    return _of("direct.answer", said)


def judged_retrieval(case: Case) -> Mapping[str, Said]:
    """Who answers, who says what is missing and where, and who looks; the first look is nobody's choice."""
    said = _answered(case)
    confidence = case.trace.answer.confidence if case.trace.answer is not None else None
    if said is not None and said[0] == 0 and confidence == 1.0:
        said = 0.0, f"{said[1]} It was as certain as can be, so nothing more was looked for."
    looks = [look for round_ in case.trace.rounds[1:] for look in round_.looks]
    windows = [window for look in looks for window in look.windows]
    seen = [evidence for look in looks for evidence in look.evidence]
    agents = {
        "retrieval.answer": said,
        "retrieval.seek": choosing(case, windows, seen),
        "retrieval.look": looking(case, looks),
    }
    return {agent: words for agent, words in agents.items() if words is not None}


def _answered(case: Case) -> Said | None:
    if case.failed:
        return None
    if case.is_right:
        return 1.0, "It chose the right option."
    if case.trace.outcome is Outcome.ABSTAINED or case.chosen is None:
        return 0.0, f"It declined to answer; {case.answer} is right."
    reasoning = case.trace.answer.reasoning if case.trace.answer is not None else ""
    because = f' because "{brief(reasoning)}"' if reasoning else ""
    return 0.0, f"It answered {case.named(case.chosen)}{because}; {case.answer} is right."


def _of(agent: str, said: Said | None) -> Mapping[str, Said]:
    return {} if said is None else {agent: said}
