"""The built-in metrics: right, right for a seen reason, looked in the right place, right for few tokens."""

from __future__ import annotations

import math

from videohv.errors import InputError
from videohv.evaluate.relied import best_overlap, relied_windows
from videohv.optimize.metrics.case import Case, support, supported
from videohv.optimize.metrics.feedback import critique
from videohv.optimize.metrics.metric import Score, metric
from videohv.types import Check, Outcome, Question, Status, Support, Trace, Verdict


@metric("accuracy")
class Accuracy:
    """1 for the right option, or one with the same text; 0 for everything else."""

    name = "accuracy"

    def __call__(self, question: Question, trace: Trace) -> Score:
        """See `Metric`.

        Raises:
            InputError: If the right option is not known.
        """
        case = Case.of(question, trace)
        return _score(case, float(case.is_right))


@metric("consistent")
class Consistent:
    """1 for the right option if what was seen stands for it, else 0.

    What was seen stands for an answer if all of this holds:

    * something was looked at;
    * the last check does not refute the answered option, supports it where its status is VERIFIED, and supports no
      other option without supporting this one; without a check the answer's own verdicts are held to the same;
    * the answer names no conflict, or the last check is VERIFIED and supports the answered option: then the conflict
      is with the summary, which counts less than the evidence.

    An option without a verdict counts as unclear.
    """

    name = "consistent"

    def __call__(self, question: Question, trace: Trace) -> Score:
        """See `Metric`.

        Raises:
            InputError: If the right option is not known, or the method answers without looking at anything.
        """
        case = Case.of(question, trace)
        if trace.outcome is Outcome.ANSWERED and not trace.rounds:
            raise InputError(
                f"metric {self.name!r}: the method {trace.method!r} records no evidence, so no answer of it can be "
                "consistent with any; use accuracy"
            )
        doubt = inconsistency(case) if case.is_right else ""
        return _score(case, float(case.is_right and not doubt), doubt)


@metric("grounding")
class Grounding:
    """NExT-GQA's IoP: the share of the window most relied on that lies in an annotated span, the best of the spans.

    It does not ask whether the answer is right. Without a window it is 0. After the official evaluation, see
    `videohv.evaluate.grounding`.
    """

    name = "grounding"

    def __call__(self, question: Question, trace: Trace) -> Score:
        """See `Metric`.

        Raises:
            InputError: If the right option is not known, or no span is annotated.
        """
        case = Case.of(question, trace)
        if not question.spans:
            raise InputError(
                f"metric {self.name!r}: question {question.id!r} has no annotated spans; use a benchmark that has "
                "them, such as nextgqa"
            )
        if case.failed:
            return _score(case, 0.0)
        relied = relied_windows(trace)
        best = best_overlap(relied[0] if relied else None, question.spans)
        value = best.iop if best is not None else 0.0
        where = f"The answer relied most on {relied[0]}" if relied else "The answer relied on no window"
        spans = ", ".join(str(span) for span in question.spans)
        return _score(case, value, f"{where}; the annotated moment is {spans} (share inside: {value:.2f}).")


class Frugal:
    """1 for the right option less what its tokens cost, 0 for everything else.

    Tokens are those of prompts and replies, replies out of the response cache counted as when they were made:
    otherwise the program that is scored second would look cheaper. Models that tell nobody how many tokens they used
    count as free.

    Args:
        per_1000_tokens: Taken off for 1000 tokens. At 0.01, a question that takes 20,000 tokens has 0.8.
        most: Never more than this is taken off, so that a right answer is worth more than a wrong one.

    Raises:
        InputError: If one of them is negative or not a number, or `most` is 1 or more.
    """

    name = "frugal"

    def __init__(self, per_1000_tokens: float = 0.01, most: float = 0.5) -> None:
        if not (math.isfinite(per_1000_tokens) and per_1000_tokens >= 0 and 0 <= most < 1):
            raise InputError(
                f"metric {self.name!r}: per_1000_tokens is {per_1000_tokens} and most is {most}; the first must be 0 "
                "or more, the second from 0 to less than 1"
            )
        self.per_1000_tokens, self.most = per_1000_tokens, most

    def __call__(self, question: Question, trace: Trace) -> Score:
        """See `Metric`.

        Raises:
            InputError: If the right option is not known.
        """
        case = Case.of(question, trace)
        used = tokens(trace)
        off = min(self.most, self.per_1000_tokens * used / 1000)
        return _score(case, 1.0 - off if case.is_right else 0.0, f"It took {used} tokens.")


metric("frugal")(Frugal)


def tokens(trace: Trace) -> int:
    """Tokens that a question takes, whatever of it lay in the response cache."""
    return sum(u.prompt_tokens + u.completion_tokens + u.spared_tokens for u in trace.usage)


def inconsistency(case: Case) -> str:
    """Why what was seen does not stand for the answer of a case that has one, in a sentence; empty if it does."""
    trace, chosen = case.trace, case.chosen
    assert chosen is not None
    assert trace.answer is not None
    own, check = case.same(chosen), case.check
    if not any(evidence.times for evidence in trace.evidence):
        return "Nothing was looked at, so nothing that was seen stands for the answer."
    judged = check or _own_verdicts(trace.answer.verdicts)
    stands = support(judged, own)
    who = "The last check" if check is not None else "The answer's own list of verdicts"
    if stands is Support.REFUTED:
        return f"{who} refutes the answered option."
    if stands is not Support.SUPPORTED and (others := supported(judged) - own):
        return f"{who} supports {case.named(min(others))} and not the answered option."
    verified = check is not None and check.status is Status.VERIFIED
    if verified and stands is not Support.SUPPORTED:
        return "The check is VERIFIED but does not support the answered option."
    if trace.answer.conflicts and not verified:
        return "The answer names conflicts that no verified check settles."
    return ""


def _own_verdicts(verdicts: tuple[Verdict, ...]) -> Check:
    return Check(status=Status.PARTIAL, rationale="", verdicts=verdicts)


def _score(case: Case, value: float, more: str = "") -> Score:
    said = critique(case)
    return Score(value, f"{said.text} {more}".strip(), said.agents)
