from __future__ import annotations

import pytest

from tests.support.rows import a_row
from videohv.evaluate.spending import distribution, spending, stages


def test_mean_median_percentile_and_total() -> None:
    made = distribution("calls", [1, 2, 3, 4, 10])
    assert made is not None
    # The 95th percentile lies at 0.95 * 4 = 3.8 of the sorted values: 4 + 0.8 * 6.
    assert (made.n, made.mean, made.median, made.p95, made.total) == (5, 4.0, 3.0, pytest.approx(8.8), 20.0)


def test_what_is_not_known_is_not_counted_as_zero() -> None:
    rows = [a_row("a", cost=0.2), a_row("b", cost=None), a_row("c", cost=0.4)]
    cost = next(spent for spent in spending(rows) if spent.name == "cost")
    assert (cost.n, cost.total) == (2, pytest.approx(0.6))
    assert "cost" not in {spent.name for spent in spending([a_row()])}


def test_stages_are_added_up_within_a_question_and_the_longest_comes_first() -> None:
    rows = [a_row("a", stages=(("thinker", 1.0), ("look", 2.0), ("look", 3.0))), a_row("b", stages=(("thinker", 2.0),))]
    look, thinker = stages(rows)
    assert (look.name, look.n, look.total, look.mean) == ("look", 1, 5.0, 5.0)
    assert (thinker.name, thinker.n, thinker.total, thinker.mean) == ("thinker", 2, 3.0, 1.5)
