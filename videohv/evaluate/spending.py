"""What questions cost: calls, tokens, money and time, each as a distribution over questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from videohv.evaluate.row import Row
from videohv.types import Value


class Spent(Value):
    """One quantity over the questions that it is known of.

    Args:
        name: What is counted; times in seconds, `cost` in US dollars.
        n: Questions that it is known of.
        mean: A question.
        median: A question.
        p95: 95 of 100 questions need no more (linear between neighbours).
        total: Of all of them.
    """

    name: str
    n: int
    mean: float
    median: float
    p95: float
    total: float


_QUANTITIES: tuple[tuple[str, Callable[[Row], float | None]], ...] = (
    ("calls", lambda row: row.calls),
    ("cached_calls", lambda row: row.cached_calls),
    ("failed_calls", lambda row: row.failed_calls),
    ("prompt_tokens", lambda row: row.prompt_tokens),
    ("completion_tokens", lambda row: row.completion_tokens),
    ("images", lambda row: row.images),
    ("cost", lambda row: row.cost),
    ("seconds", lambda row: row.seconds),
    ("rounds", lambda row: row.rounds),
    ("looks", lambda row: row.looks),
)


def spending(rows: Iterable[Row]) -> tuple[Spent, ...]:
    """What the rows spent, by quantity; one that is not known of any row is left out.

    A question that was asked again counts with its last time alone.
    """
    rows = list(rows)
    made = (distribution(name, [quantity(row) for row in rows]) for name, quantity in _QUANTITIES)
    return tuple(spent for spent in made if spent is not None)


def stages(rows: Iterable[Row]) -> tuple[Spent, ...]:
    """Seconds by role, over the questions in which it was called, the longest total first.

    Calls that run side by side are added up, so a stage may take longer than its question.
    """
    seconds: dict[str, list[float]] = {}
    for row in rows:
        own: dict[str, float] = {}
        for role, took in row.stages:
            own[role] = own.get(role, 0.0) + took
        for role, took in own.items():
            seconds.setdefault(role, []).append(took)
    made = [spent for role, each in seconds.items() if (spent := distribution(role, each)) is not None]
    return tuple(sorted(made, key=lambda spent: (-spent.total, spent.name)))


def distribution(name: str, values: Sequence[float | None]) -> Spent | None:
    """The distribution of the values that are known; None if none is."""
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if not len(known):
        return None
    median, p95 = np.percentile(known, [50, 95])
    total = float(known.sum())
    return Spent(name=name, n=len(known), mean=total / len(known), median=float(median), p95=float(p95), total=total)
