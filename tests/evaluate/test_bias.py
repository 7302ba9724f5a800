from __future__ import annotations

import pytest

from tests.support.rows import a_failure, a_row
from videohv.evaluate.bias import option_bias
from videohv.evaluate.row import Row


def shown(id: str, order: int, place: int | None, right_place: int | None, answer: int | None) -> Row:
    """A row of a question with three options: the chosen place, the right one, and the answer in the own order."""
    facts = {"order": order, "options": 3, "shown_right": right_place}
    if place is None:
        return a_failure(id, **facts)
    right = place == right_place if right_place is not None else None
    return a_row(id, right, shown_index=place, answer_index=answer, **facts)


ROWS = [
    # Right twice, wherever it stands.
    shown("a", 0, 0, 0, 0),
    shown("a", 1, 2, 2, 0),
    # Always the first place: right once, and two different options.
    shown("b", 0, 0, 0, 0),
    shown("b", 1, 0, 2, 1),
    # The same wrong option both times.
    shown("c", 0, 1, 0, 1),
    shown("c", 1, 0, 2, 1),
    # One failure.
    shown("d", 0, 0, 0, 0),
    shown("d", 1, None, 2, None),
]


def test_a_small_example_worked_by_hand() -> None:
    made = option_bias(ROWS)
    assert made is not None
    assert (made.orders, made.questions) == (2, 4)
    first, second, third = made.places
    assert (first.right_here, second.right_here, third.right_here) == (4, 0, 4)
    assert first.accuracy is not None
    assert first.accuracy.value == 3 / 4
    assert second.accuracy is None
    assert third.accuracy is not None
    assert third.accuracy.value == 1 / 4
    assert [place.answer_share.value if place.answer_share else None for place in made.places] == pytest.approx(
        [5 / 7, 1 / 7, 1 / 7]
    )
    assert [place.right_share.value if place.right_share else None for place in made.places] == [0.5, 0.0, 0.5]
    assert made.spread == pytest.approx(0.25)
    assert made.consistency is not None
    assert made.consistency.value == 2 / 4
    # a: right; b: a tie, the first order's answer is right; c: wrong; d: its one answer is right.
    assert made.majority is not None
    assert made.majority.value == 3 / 4
    assert made.single is not None
    assert made.single.value == 4 / 8


def test_the_order_of_the_rows_does_not_matter() -> None:
    assert option_bias(reversed(ROWS)) == option_bias(ROWS)


def test_a_majority_outvotes_the_first_order() -> None:
    made = option_bias([shown("a", 0, 1, 0, 1), shown("a", 1, 2, 2, 0), shown("a", 2, 1, 1, 0)])
    assert made is not None
    assert made.majority is not None
    assert made.majority.value == 1.0


def test_two_equal_texts_that_are_both_right_are_the_same_answer() -> None:
    made = option_bias([a_row("a", order=0, answer_index=2), a_row("a", order=1, answer_index=4)])
    assert made is not None
    assert made.consistency is not None
    assert made.consistency.value == 1.0


def test_unlabelled_questions_still_show_consistency() -> None:
    made = option_bias([shown("a", 0, 0, None, 0), shown("a", 1, 2, None, 0)])
    assert made is not None
    assert made.consistency is not None
    assert made.consistency.value == 1.0
    assert made.majority is None
    assert made.spread is None


def test_one_order_alone_says_nothing() -> None:
    assert option_bias([a_row("a"), a_row("b")]) is None
