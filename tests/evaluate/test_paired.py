from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.evaluate.paired import difference_interval, mcnemar, sign_flip
from videohv.evaluate.statistics import unseen


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [
        (1, 7, 2 * 9 / 256 - 8 / 256),  # 0.0391; 0.0703 without the mid-p correction
        (7, 1, 10 / 256),
        (0, 5, 1 / 32),
        (1, 9, 12 / 1024),
        (2, 2, 1 - 6 / 32),
        (1, 1, 0.75),
        (0, 0, 1.0),
        (0, 1, 0.5),
    ],
)
def test_mid_p_mcnemar_worked_by_hand(only_a: int, only_b: int, p: float) -> None:
    assert mcnemar(only_a, only_b) == pytest.approx(p)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mid_p_is_a_probability_and_blind_to_names(only_a: int, only_b: int) -> None:
    p = mcnemar(only_a, only_b)
    assert 0 < p <= 1
    assert p == mcnemar(only_b, only_a)


def test_many_pairs_come_to_the_normal_approximation() -> None:
    z = 200 / math.sqrt(5000)
    assert mcnemar(2400, 2600) == pytest.approx(math.erfc(z / math.sqrt(2)), abs=1e-4)


@pytest.mark.parametrize(
    ("totals", "p"),
    [
        ((1.0, 1.0, 1.0), 2 / 8),
        ((1.0, 1.0, -1.0), 1.0),
        ((2.0, 1.0), 2 / 4),
        ((2.0, -1.0, 0.0), 1.0),
        ((1.0,) * 10, 2 / 1024),
        ((0.0, 0.0), 1.0),
    ],
)
def test_sign_flips_worked_by_hand(totals: tuple[float, ...], p: float) -> None:
    assert sign_flip(floats(*totals)) == pytest.approx(p)


def test_many_sign_flips_are_drawn_the_same_each_time() -> None:
    totals = floats(*[1.0] * 60, *[-1.0] * 40)
    p = sign_flip(totals)
    assert p == sign_flip(totals)
    assert p == pytest.approx(math.erfc((20 - 1) / 10 / math.sqrt(2)), abs=0.012)
    assert sign_flip(floats(*[1.0] * 60)) == pytest.approx(1e-4)


def test_independent_pairs_agree_with_mcnemar_and_clustered_ones_do_not() -> None:
    alone = floats(*[1.0] * 30, *[-1.0] * 12)
    assert sign_flip(alone) == pytest.approx(mcnemar(12, 30), abs=0.01)
    # The same 42 pairs, but in six recordings that each go one way.
    assert sign_flip(floats(10, 10, 10, -4, -4, -4)) > 0.2


def test_an_interval_is_the_same_each_time_and_near_the_normal_one() -> None:
    sizes, totals = floats(*[1.0] * 400), floats(*[1.0] * 60, *[-1.0] * 20, *[0.0] * 320)
    low, high = difference_interval(sizes, totals)
    assert (low, high) == difference_interval(sizes, totals)
    half = 1.96 * math.sqrt((0.2 - 0.01) / 400)
    assert (low, high) == pytest.approx((0.1 - half, 0.1 + half), abs=0.004)


def test_pairs_of_one_recording_move_together() -> None:
    apart = difference_interval(floats(*[1.0] * 40), floats(*[1.0] * 20, *[0.0] * 20))
    together = difference_interval(floats(*[5.0] * 8), floats(*[5.0] * 4, *[0.0] * 4))
    assert together[1] - together[0] > 1.5 * (apart[1] - apart[0])


def test_where_nothing_differs_the_bounds_say_what_could_have_gone_unseen() -> None:
    sizes = floats(*[1.0] * 10)
    assert difference_interval(sizes, np.zeros(10)) == pytest.approx((-0.2775, 0.2775), abs=5e-5)
    assert difference_interval(floats(8.0), floats(8.0)) == pytest.approx((1 - 2 * unseen(floats(1.0)), 1.0))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(-5, 5)), min_size=2, max_size=12))
def test_swapping_the_runs_mirrors_the_interval(pairs: list[tuple[int, int]]) -> None:
    sizes = floats(*[size for size, _ in pairs])
    totals = floats(*[max(-size, min(size, total)) for size, total in pairs])
    low, high = difference_interval(sizes, totals)
    assert low <= totals.sum() / sizes.sum() + 1e-9
    assert high >= totals.sum() / sizes.sum() - 1e-9
    mirrored = difference_interval(sizes, -totals)
    assert mirrored == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize("gain", [0.0, 0.15])
def test_intervals_hold_the_truth_about_95_percent_of_the_time(gain: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videohv.evaluate.paired.RESAMPLES", 1000)
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(250):
        sizes = rng.integers(1, 6, 25).astype(float)
        # Whole recordings lean one way; on average B is better by `gain`.
        lean = np.clip(rng.normal(gain, 0.2, 25), -0.9, 0.9)
        totals = np.array([(rng.random(int(n)) < (1 + m) / 2).sum() * 2 - n for n, m in zip(sizes, lean, strict=True)])
        low, high = difference_interval(sizes, totals.astype(float))
        hits += low <= gain <= high
    assert 0.91 <= hits / 250 <= 0.99
