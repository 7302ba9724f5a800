"""Option orders: every option at every place once, and the right answer moves along."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from videohv.evaluate.orders import permutation, reordered
from videohv.evaluate.row import Row
from videohv.types import Answer, Outcome, Question, Trace


def question(options: int, right: int | None = 0) -> Question:
    return Question(id="q", text="Which?", options=tuple(f"option {i}" for i in range(options)), answer_index=right)


@given(st.integers(2, 26))
def test_as_many_orders_as_options_put_every_option_everywhere(options: int) -> None:
    asked = question(options)
    shown = [reordered(asked, permutation(asked, order)).options for order in range(options)]
    for place in range(options):
        assert {options_[place] for options_ in shown} == set(asked.options)


@given(st.integers(2, 26), st.integers(0, 60), st.data())
def test_the_right_answer_moves_along(options: int, order: int, data: st.DataObject) -> None:
    asked = question(options, data.draw(st.integers(0, options - 1)))
    places = permutation(asked, order, seed=3)
    shown = reordered(asked, places)
    assert sorted(shown.options) == sorted(asked.options)
    assert shown.answer_index is not None
    assert asked.answer_index is not None
    assert shown.options[shown.answer_index] == asked.options[asked.answer_index]


def test_a_row_knows_the_answer_in_the_benchmarks_own_order() -> None:
    asked = question(5, right=1)
    places = permutation(asked, 2)
    shown = reordered(asked, places)
    trace = Trace(question=shown, outcome=Outcome.ANSWERED, answer=Answer(option_index=shown.answer_index))
    row = Row.of(trace, order=2, permutation=places)
    assert (row.answer_index, row.shown_index, row.right) == (1, 4, True)


def test_orders_are_the_same_each_time() -> None:
    assert permutation(question(4), 9, seed=1) == permutation(question(4), 9, seed=1)
    assert permutation(question(4), 0) == ()
    assert reordered(question(4, None), permutation(question(4), 1)).answer_index is None
