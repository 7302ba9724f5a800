"""Which agent of the hypothesis–verification loop went wrong with a question, and why, as far as its trace shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from videohv.modules.settings import Part
from videohv.optimize.metrics.case import Case, brief, support, supported
from videohv.optimize.metrics.feedback_windows import Said, choosing, looking
from videohv.types import Draft, Outcome, Quality, Status, Support

FOUND_NOTHING, HALF = 0.0, 0.5
CONTRADICTS_ITSELF = 0.25


def judged_agents(case: Case) -> Mapping[str, Said]:
    """What can be said of each agent, in the order in which they are asked.

    0 is given for what made the right answer impossible or turned it down, 0.25 for a reply that contradicts itself,
    0.5 for what left it open, 1 for what served it, and for windows the share that lies in the annotated moment. An
    agent that was not asked, or of which the trace tells nothing, is left out.
    """
    said = {
        "thinker.predict": _thinker(case),
        "judge.predict": _judge(case),
        "verifier.locate": _locate(case),
        "verifier.look": looking(case, [look for round_ in case.trace.rounds for look in round_.looks]),
        "verifier.check": _check(case),
        "answer.predict": _answer(case),
    }
    return {agent: words for agent, words in said.items() if words is not None}


def _thinker(case: Case) -> Said | None:
    if not case.hypotheses or _is_off(case, Part.HYPOTHESES):
        return None
    own = [h for h in case.hypotheses if h.option_index in case.right]
    if not any(h.stated for h in case.hypotheses):
        return FOUND_NOTHING, "No hypothesis was stated; the options' own texts had to stand in."
    if not any(h.stated for h in own):
        return FOUND_NOTHING, f"No hypothesis was stated for {case.answer}, which is right."
    if all(h.pruned for h in own):
        plausibility = max(h.plausibility for h in own)
        return FOUND_NOTHING, (
            f"The right option {case.answer} was pruned: a plausibility of {plausibility:.2f} kept it out of the "
            "check, although the summary alone does not rule it out."
        )
    draft = case.trace.rounds[-1].drafts[-1]
    if draft.quality is Quality.OVERLAPPING:
        return HALF, f"The hypotheses overlapped to the end{_quoted(draft.critique)}."
    return 1.0, "The hypothesis for the right option was stated and tested."


def _judge(case: Case) -> Said | None:
    rounds = case.trace.rounds
    if not rounds or not rounds[-1].drafts or _is_off(case, Part.CLUE):
        return None
    draft = rounds[-1].drafts[-1]
    if draft.quality is None or draft.clue is None:
        return FOUND_NOTHING, "It gave no usable clue; the question itself was looked for."
    expected = {p.option_index: p.expectation for p in draft.clue.predictions}
    tested = frozenset(h.option_index for h in draft.hypotheses if not h.pruned)
    clue = brief(draft.clue.observation)
    if not expected:
        return FOUND_NOTHING, f'The clue "{clue}" came without predictions, so it could not separate the options.'
    if tested & case.right and not expected.keys() & case.right:
        return FOUND_NOTHING, f'The clue "{clue}" has no prediction for {case.answer}, which is right.'
    for a, b in _alike(case, draft):
        of_right = bool({a, b} & case.right)
        words = (
            f'The clue "{clue}" does not separate {case.named(a)} from {case.named(b)}: it predicts '
            f'"{brief(expected[a])}" for both.'
        )
        return (FOUND_NOTHING if of_right else HALF), words
    if draft.quality is Quality.OVERLAPPING:
        words = "It called the hypotheses overlapping, so its clue does not separate them"
        return CONTRADICTS_ITSELF, f"{words}{_quoted(draft.critique)}."
    if _undecided(case) and not _missed(case):
        return HALF, f'What was seen for the clue "{clue}" did not separate the options: no verdict was reached.'
    return 1.0, "Its clue has a prediction of its own for each option that was tested."


def _locate(case: Case) -> Said | None:
    first = [round_.looks[0] for round_ in case.trace.rounds if round_.looks]
    windows = [window for look in first for window in look.windows]
    return choosing(case, windows, [evidence for look in first for evidence in look.evidence])


def _check(case: Case) -> Said | None:
    check = case.check
    if check is None or _is_off(case, Part.STATUS):
        return None
    faults: list[Said] = []
    stands, sides = support(check, case.right), supported(check)
    others = sides - case.right
    why = {v.option_index: v.why for v in check.verdicts}
    tested = {h.option_index for h in case.hypotheses if not h.pruned}
    if tested & case.right:
        reason = _quoted(next((why[i] for i in sorted(case.right) if i in why), ""))
        if stands is Support.REFUTED:
            faults.append((FOUND_NOTHING, f"It refuted {case.answer}, which is right{reason}."))
        elif others and stands is not Support.SUPPORTED:
            wrong = min(others)
            faults.append(
                (FOUND_NOTHING, f"It supported {case.named(wrong)}{_quoted(why[wrong])}, but {case.answer} is right.")
            )
        elif others:
            faults.append((HALF, f"It supported {case.named(min(others))} as well as {case.answer}, which is right."))
        elif stands is not Support.SUPPORTED:
            faults.append((HALF, f"It left {case.answer}, which is right, unclear{reason}."))
    faults += _contradictions(case)
    if faults:
        return min(score for score, _ in faults), " ".join(words for _, words in faults)
    return (1.0, "It supported the right option and no other.") if stands is Support.SUPPORTED else None


def _contradictions(case: Case) -> Iterable[Said]:
    check = case.check
    assert check is not None
    groups = {case.same(i) for i in supported(check)}
    if check.status is Status.VERIFIED and len(groups) != 1:
        how_many = f"{len(groups)} options" if groups else "no option"
        yield CONTRADICTS_ITSELF, f"Its status is VERIFIED, but its verdicts support {how_many}."
    undecided = [v for v in check.verdicts if v.support is Support.UNCLEAR]
    if check.status is Status.NOT_VERIFIED and len(groups) == 1 and len(check.verdicts) > 1 and not undecided:
        yield CONTRADICTS_ITSELF, "Its status is NOT_VERIFIED, but its verdicts support one option and refute the rest."


def _answer(case: Case) -> Said | None:
    if case.failed:
        return None
    if case.is_right:
        return 1.0, "It chose the right option."
    sides = supported(case.check)
    if case.trace.outcome is Outcome.ABSTAINED or case.chosen is None:
        hint = ", which the last check supported" if sides & case.right else ""
        return FOUND_NOTHING, f"It declined to answer; {case.answer} is right{hint}."
    chosen = case.named(case.chosen)
    if sides & case.right and not sides & case.same(case.chosen):
        return FOUND_NOTHING, (
            f"It ignored the evidence: the last check supported {case.answer}, which is right; it answered {chosen}."
        )
    if sides & case.right:
        return FOUND_NOTHING, f"The last check supported {chosen} and {case.answer}; it chose the wrong one."
    if sides & case.same(case.chosen):
        return HALF, f"It followed the last check to {chosen}, which is wrong; the fault lies before it."
    if sides:
        return FOUND_NOTHING, (
            f"It followed neither the last check, which supported {case.named(min(sides))}, nor what is right "
            f"({case.answer}): it answered {chosen}."
        )
    aside = any(h.pruned for h in case.hypotheses if h.option_index in case.right)
    eligible = " An option that was set aside is as eligible as the others." if aside else ""
    return FOUND_NOTHING, f"No option was supported, and it chose {chosen}; {case.answer} is right.{eligible}"


def _alike(case: Case, draft: Draft) -> list[tuple[int, int]]:
    """Pairs of different options for which the clue predicts the same; those with the right option first."""
    assert draft.clue is not None
    words = [(p.option_index, _words(p.expectation)) for p in draft.clue.predictions]
    pairs = [
        (a, b)
        for n, (a, said) in enumerate(words)
        for b, other in words[n + 1 :]
        if said == other and b not in case.same(a)
    ]
    return sorted(pairs, key=lambda pair: not (set(pair) & case.right))


def _undecided(case: Case) -> bool:
    check = case.check
    if check is None:
        return False
    return check.status is Status.NOT_VERIFIED or all(v.support is Support.UNCLEAR for v in check.verdicts)


def _missed(case: Case) -> bool:
    """Whether no window that was looked at touches an annotated moment."""
    windows = [evidence.window for evidence in case.trace.evidence]
    return bool(case.question.spans) and not any(w.overlap(s) > 0 for w in windows for s in case.question.spans)


def _is_off(case: Case, part: Part) -> bool:
    return part.value in (case.trace.settings.get("without") or ())


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"\w+", text.casefold())))


def _quoted(text: str) -> str:
    return f': "{brief(text)}"' if text.strip() else ""
