from __future__ import annotations

import pytest

from tests.support.rows import a_failure, a_row
from videohv.evaluate.calibration import calibration


def test_a_small_example_worked_by_hand() -> None:
    """Bin 0.9: confidences 0.9 and 1.0, one right: |0.5 - 0.95| * 2. Bin 0.2: 0.2 and 0.25, none right: 0.225 * 2.

    ECE = (0.9 + 0.45) / 4; Brier = (0.1^2 + 1 + 0.2^2 + 0.25^2) / 4.
    """
    rows = [
        a_row("a", confidence=0.9),
        a_row("b", right=False, confidence=1.0),
        a_row("c", right=False, confidence=0.2),
        a_row("d", right=False, confidence=0.25),
    ]
    made = calibration(rows)
    assert made is not None
    assert made.n == 4
    assert made.ece == pytest.approx(1.35 / 4)
    assert made.brier == pytest.approx((0.01 + 1 + 0.04 + 0.0625) / 4)
    assert [b.n for b in made.bins] == [0, 0, 2, 0, 0, 0, 0, 0, 0, 2]
    assert made.bins[9].confidence == pytest.approx(0.95)
    assert made.bins[0].accuracy is None


@pytest.mark.parametrize("tenth", range(11))
def test_bounds_belong_to_the_bin_above_but_certainty_to_the_last(tenth: int) -> None:
    made = calibration([a_row(confidence=tenth / 10)])
    assert made is not None
    assert [b.n for b in made.bins].index(1) == min(tenth, 9)


def test_only_labelled_answers_with_a_confidence_are_judged() -> None:
    rows = [a_row("a"), a_row("b", right=None, confidence=0.5), a_failure("c", confidence=0.5)]
    assert calibration(rows) is None


def test_perfect_confidence_has_no_error() -> None:
    made = calibration([a_row("a", confidence=1.0), a_row("b", right=False, confidence=0.0)])
    assert made is not None
    assert (made.ece, made.brier) == (0.0, 0.0)
