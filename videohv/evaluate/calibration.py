"""How far an answer's confidence can be believed."""

from __future__ import annotations

from collections.abc import Iterable

from videohv.evaluate.row import Row
from videohv.types import Value

BINS = 10


class Bin(Value):
    """Answers of similar confidence.

    Args:
        low: Lower bound, included.
        high: Upper bound, included in the last bin only.
        n: Answers in it.
        confidence: Their mean confidence; None without answers.
        accuracy: The share of them that is right; None without answers.
    """

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


class Calibration(Value):
    """Confidence against correctness, over labelled answers that came with a confidence.

    Args:
        n: How many there are.
        ece: Expected calibration error in ten bins of equal width: the mean distance of accuracy and confidence,
            weighted by the answers in a bin (Guo et al., "On Calibration of Modern Neural Networks", 2017). 0 is best.
        brier: Mean squared distance of confidence and correctness (Brier 1950). 0 is best; 0.25 is what saying 50 %
            always comes to.
        bins: The ten bins.
    """

    n: int
    ece: float
    brier: float
    bins: tuple[Bin, ...]


def calibration(rows: Iterable[Row]) -> Calibration | None:
    """The calibration of the answers among the rows; None if none of them can be judged."""
    judged = [
        (row.confidence, float(row.right))
        for row in rows
        if row.right is not None and row.answer_index is not None and row.confidence is not None
    ]
    if not judged:
        return None
    binned: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for confidence, right in judged:
        binned[min(BINS - 1, int(confidence * BINS))].append((confidence, right))
    bins = tuple(_bin(number, inside) for number, inside in enumerate(binned))
    return Calibration(
        n=len(judged),
        ece=sum(
            b.n * abs(b.accuracy - b.confidence) for b in bins if b.accuracy is not None and b.confidence is not None
        )
        / len(judged),
        brier=sum((confidence - right) ** 2 for confidence, right in judged) / len(judged),
        bins=bins,
    )


def _bin(number: int, inside: list[tuple[float, float]]) -> Bin:
    n = len(inside)
    return Bin(
        low=number / BINS,
        high=(number + 1) / BINS,
        n=n,
        confidence=sum(confidence for confidence, _ in inside) / n if n else None,
        accuracy=sum(right for _, right in inside) / n if n else None,
    )
