"""What went well or wrong with a question, in words that a model can write a better prompt from.

Everything is read off the trace and the known right option; the same trace has the same words. Each agent is named as
in `named_predictors()`, and a fault is put where the trace shows it: an agent that did its part with what it was given
is not blamed for the outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from videohv.optimize.metrics.case import Case, brief
from videohv.optimize.metrics.feedback_loop import judged_agents
from videohv.optimize.metrics.feedback_rivals import judged_captions, judged_direct, judged_retrieval
from videohv.optimize.metrics.feedback_windows import Said
from videohv.types import Outcome

WHY_SHOWN = 240
"""Characters of the reason for a failed step that are repeated."""

_METHODS: Mapping[str, Callable[[Case], Mapping[str, Said]]] = {
    "videohv": judged_agents,
    "captions": judged_captions,
    "direct": judged_direct,
    "retrieval": judged_retrieval,
}

_AGENTS = {step: f"{step}.predict" for step in ("captioner", "summary", "thinker", "judge", "answer")}
"""Agents whose name is not that of their step."""

_IN_PART = ("one of ", "captions of ")
"""How the reasons begin of steps that were done without a part."""

_OF_THE_PROMPT = (Outcome.PARSE_FAILED, Outcome.CONTENT_FILTERED)
"""Outcomes that another prompt could have changed."""


class Critique(NamedTuple):
    """What can be said of a question.

    Args:
        text: How it ended, and what every agent did wrong.
        agents: (score, words) of single agents, where the trace tells: good and bad.
    """

    text: str
    agents: dict[str, Said]


def critique(case: Case) -> Critique:
    """Say how a question ended and which agent failed why.

    Methods that are not built in have the outcome and the failed steps only.
    """
    judged = _METHODS.get(case.trace.method)
    agents = dict(judged(case)) if judged is not None else {}
    for agent, (score, words) in _failed_steps(case).items():
        standing = agents.get(agent)
        if standing is None or standing[0] == 1.0:
            agents[agent] = score, words
        else:
            agents[agent] = min(score, standing[0]), f"{words} {standing[1]}"
    faults = [f"{agent}: {words}" for agent, (score, words) in agents.items() if score < 1]
    return Critique(" ".join([_ending(case), *faults]), agents)


def _failed_steps(case: Case) -> dict[str, Said]:
    failed: dict[str, Said] = {}
    for step, why in ((d.step, d.why) for d in case.trace.degraded):
        if step not in ("video", "captions"):
            in_part = why.startswith(_IN_PART)
            words = f"It was done without in part: {brief(why, WHY_SHOWN)}." if in_part else _failure(why)
            failed.setdefault(_AGENTS.get(step, step), (0.5 if in_part else 0.0, words))
    if case.trace.outcome in _OF_THE_PROMPT:
        step, colon, why = case.trace.error.partition(": ")
        if colon:
            failed[_AGENTS.get(step, step)] = 0.0, _failure(why)
    return failed


def _failure(why: str) -> str:
    return f"It failed for good: {brief(why, WHY_SHOWN).rstrip('.')}."


def _ending(case: Case) -> str:
    if case.failed:
        why = f" ({brief(case.trace.error, WHY_SHOWN)})" if case.trace.error else ""
        return f"No answer: the question ended as {case.trace.outcome.value}{why}. {case.answer} is right."
    if case.trace.outcome is Outcome.ABSTAINED or case.chosen is None:
        return f"It declined to answer. {case.answer} is right."
    if case.is_right:
        return f"Right: it answered {case.named(case.chosen)}."
    return f"Wrong: it answered {case.named(case.chosen)}, but {case.answer} is right."
