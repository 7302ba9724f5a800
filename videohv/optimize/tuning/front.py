"""Settings that were tried, and those of them that nothing beats: the Pareto front of accuracy and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from videohv.evaluate.columns import ABSENT, number, share, table
from videohv.optimize.tuning.space import Scalar
from videohv.types import Estimate, Value


class Tried(Value):
    """Settings that were tried.

    Args:
        number: Counted from 1 in the order in which they were tried.
        settings: Those that are searched.
        accuracy: Of the questions whose answer is known, failures and abstentions wrong; None for a trial that failed.
        tokens: Of prompts and replies, a question: what was sent and what came out of the response cache together,
            so that a trial does not look cheaper for coming after another. None for a trial that failed.
        sent: Tokens that were sent for it, in all.
        failed: Questions that failed.
        questions: That were asked.
        why: Why the trial failed; empty if it did not.
    """

    number: int
    settings: dict[str, Scalar]
    accuracy: Estimate | None = None
    tokens: float | None = None
    sent: int = 0
    failed: int = 0
    questions: int = 0
    why: str = ""


def pareto(tried: Iterable[Tried]) -> tuple[Tried, ...]:
    """Those that no other one beats, the cheapest first: every other has fewer right or takes more tokens.

    Of two that are the same in both, the one that was tried first.
    """
    scored = [one for one in tried if one.accuracy is not None and one.tokens is not None]
    front: list[Tried] = []
    for one in sorted(scored, key=lambda one: (one.tokens, -_accuracy(one), one.number)):
        if not front or _accuracy(one) > _accuracy(front[-1]):
            front.append(one)
    return tuple(front)


def front_text(tried: Sequence[Tried], names: Sequence[str]) -> str:
    """The front as a table, and what became of the others.

    Args:
        tried: All of them.
        names: Of the settings that are searched.
    """
    front = pareto(tried)
    lines = [_table(front, names)] if front else ["no trial could be scored"]
    failed = [one for one in tried if one.why]
    beaten = len(tried) - len(front) - len(failed)
    lines.append(f"{len(tried)} settings tried, {len(front)} on the front, {beaten} beaten, {len(failed)} failed")
    lines += [f"trial {one.number} failed: {one.why}" for one in failed]
    return "\n".join(lines)


def _table(front: Sequence[Tried], names: Sequence[str]) -> str:
    rows = [
        (
            str(one.number),
            *(str(one.settings.get(name, ABSENT)) for name in names),
            share(one.accuracy),
            number(one.tokens),
            f"{one.failed} of {one.questions}",
        )
        for one in front
    ]
    right = (0, *range(1, len(names) + 1), len(names) + 2, len(names) + 3)
    return table(("trial", *names, "accuracy", "tokens a question", "failed"), rows, right=right)


def _accuracy(one: Tried) -> float:
    assert one.accuracy is not None
    return one.accuracy.value
