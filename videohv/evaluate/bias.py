"""Where options stand and what that does: runs that ask every question under several option orders.

A model that prefers a place answers more often there than the right option stands there, and is right more often when
the right option does (Zheng et al., "Large Language Models Are Not Robust Multiple Choice Selectors", 2024, arXiv
2309.03882, whose measure of it is the standard deviation of the accuracies by place).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from videohv.evaluate.row import Row
from videohv.evaluate.statistics import estimate
from videohv.types import Estimate, Value


class Place(Value):
    """One place in the list of options, counted from 0.

    Args:
        place: Which.
        right_here: Labelled rows whose right option was shown here.
        accuracy: Of those; questions without an answer are wrong.
        right_share: Share of labelled rows whose right option was shown here.
        answer_share: Share of answers that chose this place.
    """

    place: int
    right_here: int
    accuracy: Estimate | None
    right_share: Estimate | None
    answer_share: Estimate | None


class Bias(Value):
    """What the order of the options did to a run.

    Args:
        orders: Different option orders.
        questions: Questions that were asked under more than one.
        places: By place.
        spread: Standard deviation of the accuracies by place, in shares; 0 would be no bias.
        consistency: Share of questions that got the same option under all their orders. A row without an answer agrees
            with nothing; two right answers agree, also where two options have the same text.
        majority: Accuracy of the most frequent answer of each labelled question; of several equally frequent ones the
            one that was given under the first order counts. A question without any answer is wrong.
        single: Accuracy over all rows of the same questions, for comparison.
    """

    orders: int
    questions: int
    places: tuple[Place, ...]
    spread: float | None
    consistency: Estimate | None
    majority: Estimate | None
    single: Estimate | None


def option_bias(rows: Iterable[Row]) -> Bias | None:
    """The influence of option order on a run; None if no question was asked under more than one order."""
    asked: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.key):
        asked.setdefault(row.id, []).append(row)
    repeated = [same for same in asked.values() if len(same) > 1]
    if not repeated:
        return None
    every = [row for same in repeated for row in same]
    places = tuple(_place(place, every) for place in range(max(row.options for row in every)))
    by_place = [place.accuracy.value for place in places if place.accuracy is not None]
    labelled = [same for same in repeated if same[0].right is not None]
    return Bias(
        orders=len({row.order for row in every}),
        questions=len(repeated),
        places=places,
        spread=float(np.std(by_place)) if by_place else None,
        consistency=estimate([_consistent(same) for same in repeated], [same[0].recording for same in repeated]),
        majority=estimate([_majority(same) for same in labelled], [same[0].recording for same in labelled]),
        single=_share([(row.right is True, row) for same in labelled for row in same]),
    )


def _place(place: int, rows: list[Row]) -> Place:
    labelled = [row for row in rows if row.shown_right is not None]
    here = [(row.right is True, row) for row in labelled if row.shown_right == place]
    return Place(
        place=place,
        right_here=len(here),
        accuracy=_share(here),
        right_share=_share([(row.shown_right == place, row) for row in labelled]),
        answer_share=_share([(row.shown_index == place, row) for row in rows if row.shown_index is not None]),
    )


def _share(hits: list[tuple[bool, Row]]) -> Estimate | None:
    return estimate([float(hit) for hit, _ in hits], [row.recording for _, row in hits])


def _consistent(same: list[Row]) -> float:
    if any(row.answer_index is None for row in same):
        return 0.0
    return float(len({row.answer_index for row in same}) == 1 or all(row.right for row in same))


def _majority(same: list[Row]) -> float:
    votes = Counter(row.answer_index for row in same if row.answer_index is not None)
    if not votes:
        return 0.0
    # Of equal counts Counter gives the one that it met first, and the rows are in the order of their orders.
    winner = votes.most_common(1)[0][0]
    return float(next(row.right is True for row in same if row.answer_index == winner))
