from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.rows import a_failure, a_row
from videohv.errors import InputError
from videohv.evaluate import policies as registry
from videohv.evaluate.policies import policies, policy, scores
from videohv.evaluate.row import Row
from videohv.evaluate.statistics import estimate
from videohv.types import Outcome

ROWS = st.lists(
    st.builds(
        lambda i, right, outcome, options: (
            a_row(str(i), right=right, options=options)
            if outcome is Outcome.ANSWERED
            else a_failure(str(i), outcome=outcome, options=options)
        ),
        st.integers(0, 9),
        st.sampled_from([True, False]),
        st.sampled_from(list(Outcome)),
        st.integers(2, 26),
    ),
    min_size=1,
    max_size=30,
)


def accuracy(rows: list[Row], name: str) -> float | None:
    made = estimate(*scores(rows, policies((name,))[0]))
    return made.value if made else None


def test_three_policies_on_rows_counted_by_hand() -> None:
    """4 right, 2 wrong, 1 abstained of four options, 1 failed of five: 4/8, 4/6, (4 + 1/4 + 1/5) / 8."""
    rows = [a_row(f"r{i}") for i in range(4)] + [a_row(f"w{i}", right=False) for i in range(2)]
    rows += [a_failure("a", Outcome.ABSTAINED, options=4), a_failure("f", Outcome.LM_FAILED)]
    assert accuracy(rows, "strict") == 0.5
    assert accuracy(rows, "answered") == pytest.approx(4 / 6)
    assert accuracy(rows, "chance") == pytest.approx(4.45 / 8)


def test_unlabelled_questions_count_under_no_policy() -> None:
    rows = [a_row("a"), a_row("b", right=None), a_row("c", right=None, outcome=Outcome.LM_FAILED)]
    for made in policies():
        assert scores(rows, made) == ([1.0], ["a"]), made.name


def test_without_an_answer_nothing_is_answered() -> None:
    assert accuracy([a_failure()], "answered") is None
    assert accuracy([a_failure()], "strict") == 0.0


@given(ROWS)
def test_strict_is_the_lowest_of_all(rows: list[Row]) -> None:
    strict, answered, chance = (accuracy(rows, name) for name in ("strict", "answered", "chance"))
    assert strict is not None
    assert chance is not None
    assert strict <= chance + 1e-12
    assert answered is None or strict <= answered + 1e-12


@given(ROWS)
def test_without_failures_all_policies_agree(rows: list[Row]) -> None:
    answered = [row for row in rows if row.outcome is Outcome.ANSWERED]
    assert len({accuracy(answered, made.name) for made in policies()}) == 1


def test_a_policy_of_ones_own_is_registered_like_the_built_in_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_POLICIES", dict(registry._POLICIES))

    @policy("half", "a failure is half right")
    def half(row: Row) -> float:
        return 0.5 if row.failed else float(row.right is True)

    assert [made.name for made in policies()] == ["strict", "answered", "chance", "half"]
    assert accuracy([a_row("a"), a_failure("b")], "half") == 0.75


def test_an_unknown_policy_is_named_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="'lenient'; known: strict, answered, chance"):
        policies(("strict", "lenient"))
