from __future__ import annotations

import pytest

from tests.support.rows import a_failure, a_row
from videohv.evaluate.grounding import GroundingScores, grounding
from videohv.evaluate.row import Row
from videohv.types import Window

RELIED = (Window(start=0, end=4),)


def grounded(id: str, iou: float, iop: float, right: bool | None = True) -> Row:
    return a_row(id, right, relied=RELIED, iou=iou, iop=iop, union_iou=iou / 2, union_iop=iop / 2)


ROWS = [
    grounded("a", 0.5, 0.5),
    grounded("b", 0.3, 1.0, right=False),
    grounded("c", 0.2, 0.3),
    a_failure("d", iou=0.0, iop=0.0, union_iou=0.0, union_iop=0.0),
    a_row("no spans"),
]


def values(scores: GroundingScores | None) -> dict[str, float]:
    assert scores is not None
    return {name: getattr(scores, name).value for name in GroundingScores.model_fields}


def test_a_small_example_worked_by_hand() -> None:
    made = grounding(ROWS)
    assert made is not None
    assert (made.n, made.windowless) == (4, 1)
    assert values(made.every) == pytest.approx(
        {"miou": 0.25, "iou_03": 0.5, "iou_05": 0.25, "miop": 0.45, "iop_03": 0.75, "iop_05": 0.5, "acc_gqa": 0.25}
    )
    assert values(made.union)["miou"] == pytest.approx(0.125)
    assert values(made.union)["acc_gqa"] == 0.0


def test_the_official_script_leaves_questions_without_a_window_out() -> None:
    made = grounding(ROWS)
    assert made is not None
    assert values(made.official) == pytest.approx(
        {"miou": 1 / 3, "iou_03": 2 / 3, "iou_05": 1 / 3, "miop": 0.6, "iop_03": 1.0, "iop_05": 2 / 3, "acc_gqa": 1 / 3}
    )


def test_a_run_that_never_looked_has_no_official_figures() -> None:
    made = grounding([a_row("a", iou=0.0, iop=0.0, union_iou=0.0, union_iop=0.0)])
    assert made is not None
    assert made.official is None
    assert values(made.every)["miop"] == 0.0


def test_unlabelled_questions_are_grounded_but_not_counted_as_wrong() -> None:
    made = grounding([grounded("a", 1.0, 1.0), grounded("b", 1.0, 1.0, right=None)])
    assert made is not None
    assert made.every.acc_gqa is not None
    assert (made.every.acc_gqa.value, made.every.acc_gqa.n) == (1.0, 1)
    assert made.every.miou.n == 2


def test_without_annotated_spans_there_is_none() -> None:
    assert grounding([a_row("a")]) is None
