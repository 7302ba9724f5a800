from __future__ import annotations

import pytest

from tests.support.rows import a_failure, a_row
from videohv.errors import InputError
from videohv.evaluate.compare import Comparison, comparability, compare
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.row import Row


def pairs(**cells: int) -> tuple[list[Row], list[Row]]:
    """Rows of two runs with so many questions that both, only A, only B, or neither has right."""
    a, b = [], []
    for name, (right_a, right_b) in {"both": (1, 1), "a": (1, 0), "b": (0, 1), "neither": (0, 0)}.items():
        for i in range(cells.get(name, 0)):
            a.append(a_row(f"{name}{i}", bool(right_a), type="CW" if i % 2 else "TN", calls=4, seconds=2.0))
            b.append(a_row(f"{name}{i}", bool(right_b), type="CW" if i % 2 else "TN", calls=6, cost=0.5))
    return a, b


def test_a_small_example_worked_by_hand() -> None:
    made = compare(*pairs(both=5, a=1, b=7, neither=3))
    assert (made.shared, made.only_a, made.only_b, made.unscored) == (16, 0, 0, 0)
    c = made.contrast
    assert c is not None
    assert (c.n, c.both, c.only_a, c.only_b, c.neither) == (16, 5, 1, 7, 3)
    assert (c.a.value, c.b.value, c.difference.value) == (6 / 16, 12 / 16, 6 / 16)
    assert c.p == pytest.approx(0.0390625)
    # Every question is a recording: 8 of them differ, and |1 * k - (8 - k)| >= 6 for k of 0, 1, 7, 8.
    assert c.p_clustered == pytest.approx(18 / 256)
    assert c.difference.low < 6 / 16 < c.difference.high
    assert made.gained == tuple(f"b{i}" for i in range(7))
    assert made.lost == ("a0",)


def test_parts_by_type() -> None:
    made = compare(*pairs(both=5, a=1, b=7, neither=3))
    assert [(p.type, p.contrast.n, p.contrast.only_a, p.contrast.only_b) for p in made.parts] == [
        ("CW", 6, 0, 3),
        ("TN", 10, 1, 4),
    ]


def test_what_only_one_run_has_is_counted_and_not_compared() -> None:
    a, b = pairs(both=3, b=2)
    made = compare([*a, a_row("x"), a_row("y")], [*b, a_row("z")])
    assert (made.shared, made.only_a, made.only_b) == (5, 2, 1)
    assert made.contrast is not None
    assert made.contrast.n == 5


def test_option_orders_are_pairs_of_their_own() -> None:
    turned = {"order": 1, "permutation": (1, 2, 3, 4, 0)}
    a = [a_row("q"), a_row("q", right=False, **turned)]
    b = [a_row("q"), a_row("q", right=True, **turned)]
    made = compare(a, b)
    assert made.shared == 2
    assert made.gained == ("q#1",)
    assert not made.warnings
    other = compare(a, [b[0], b[1].model_copy(update={"permutation": (2, 3, 4, 0, 1)})])
    assert other.warnings == ("1 questions were shown with other option orders in the two runs (q)",)


def test_failures_are_wrong_and_unlabelled_questions_unscored() -> None:
    a = [a_row("1"), a_failure("2"), a_row("3", right=None)]
    b = [a_failure("1"), a_row("2"), a_row("3", right=None)]
    made = compare(a, b)
    assert made.contrast is not None
    assert (made.contrast.only_a, made.contrast.only_b, made.unscored) == (1, 1, 1)
    assert made.agreement.value == pytest.approx(1 / 3)


def test_without_labels_the_answers_can_still_be_compared() -> None:
    made = compare([a_row("1", right=None)], [a_row("1", right=None, answer_index=3)])
    assert made.contrast is None
    assert made.agreement.value == 0.0


def test_costs_stand_beside_each_other_on_the_shared_questions() -> None:
    a, b = pairs(both=4)
    costs = {line.name: line for line in compare([*a, a_row("x", calls=100)], b).cost}
    assert costs["calls"].a is not None
    assert costs["calls"].b is not None
    assert (costs["calls"].a.mean, costs["calls"].b.mean) == (4.0, 6.0)
    assert costs["cost"].a is None
    assert costs["cost"].b is not None
    assert costs["cost"].b.total == 2.0


def test_runs_that_share_nothing_are_refused() -> None:
    with pytest.raises(InputError, match=r"share no question: the first has 2 \(a, b\), the second 1 \(c#1\)"):
        compare([a_row("a"), a_row("b")], [a_row("c", order=1)])
    with pytest.raises(InputError, match="the second none"):
        compare([a_row("a")], [])


def test_swapping_the_runs_mirrors_everything() -> None:
    a, b = pairs(both=9, a=4, b=11, neither=6)
    there, back = compare(a, b), compare(b, a)
    assert there.contrast is not None
    assert back.contrast is not None
    assert there.contrast.difference.value == -back.contrast.difference.value
    assert there.contrast.difference.low == pytest.approx(-back.contrast.difference.high)
    assert (there.contrast.p, there.contrast.p_clustered) == (back.contrast.p, back.contrast.p_clustered)
    assert (there.gained, there.lost) == (back.lost, back.gained)


def test_a_comparison_is_the_same_each_time_and_survives_json() -> None:
    a, b = pairs(both=9, a=4, b=11, neither=6)
    made = compare(a, b)
    assert compare(reversed(a), reversed(b)) == made
    assert Comparison.model_validate_json(made.model_dump_json()) == made


def test_what_stands_against_comparing_is_said() -> None:
    one = Manifest(benchmark="egoschema", split="subset", data_hash="1", question_ids=("a", "b"))
    assert comparability(one, one) == ()
    changed = comparability(one, one.model_copy(update={"data_hash": "2"}))
    assert "their texts, options or labels differ" in changed[0]
    fewer = comparability(one, one.model_copy(update={"data_hash": "2", "question_ids": ("a",)}))
    assert fewer == ("the runs asked different sets of questions (2 and 1)",)
    assert "are of egoschema:subset and of nextqa" in comparability(one, Manifest(benchmark="nextqa", data_hash="1"))[0]
    assert compare([a_row()], [a_row()], warnings=changed).warnings == changed
