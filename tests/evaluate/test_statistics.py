from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.evaluate.statistics import estimate, t_quantile, wilson
from videohv.types import Estimate

scored = st.lists(
    st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.2, 1.0]), st.sampled_from("abcdefgh")), min_size=1, max_size=60
)


def made(scores: list[float], clusters: list[str] | None = None) -> Estimate:
    result = estimate(scores, clusters if clusters is not None else [str(i) for i in range(len(scores))])
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (4, 2.7764),
        (9, 2.2622),
        (10, 2.2281),
        (30, 2.0423),
        (59, 2.0010),
        (60, 2.0003),
        (61, 1.9996),
        (120, 1.9799),
        (500, 1.9647),
        (5000, 1.9604),
    ],
)
def test_t_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert t_quantile(freedom) == pytest.approx(quantile, abs=5e-5)


def test_no_freedom_is_refused() -> None:
    with pytest.raises(ValueError, match="0 degrees"):
        t_quantile(0)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"), [(1, 10, 0.0179, 0.4042), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0)]
)
def test_independent_questions_have_wilsons_interval(right: int, n: int, low: float, high: float) -> None:
    interval = made([1.0] * right + [0.0] * (n - right))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)
    assert (interval.n, interval.clusters) == (n, n)


def test_a_clustered_example_worked_by_hand() -> None:
    """Ten recordings of two questions; three all right, four half right, three all wrong.

    between = 10/9 * 6 / 400 = 1/60, independent = 0.25 / 19, n* = 20 * (0.25/19 * 60) * (t19 / t9)^2
    = 20 * 0.789474 * (2.093024 / 2.262157)^2 = 13.5167, and Wilson's interval of 0.5 at 13.5167 is 0.2648 to 0.7352.
    """
    scores = [1.0, 1.0] * 3 + [1.0, 0.0] * 4 + [0.0, 0.0] * 3
    interval = made(scores, [f"r{i // 2}" for i in range(20)])
    assert interval.value == 0.5
    assert (interval.low, interval.high) == pytest.approx((0.2648, 0.7352), abs=5e-5)
    assert interval.clusters == 10


def test_questions_that_share_their_fate_count_once() -> None:
    once = made([1.0, 0.0, 1.0, 1.0, 0.0])
    often = made([1.0] * 20 + [0.0] * 20 + [1.0] * 40 + [0.0] * 20, [f"r{i // 20}" for i in range(100)])
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_one_recording_is_one_observation() -> None:
    interval = made([1.0, 1.0, 0.0, 1.0], ["r"] * 4)
    assert (interval.low, interval.high) == pytest.approx(wilson(0.75, 1.0))


def test_at_100_percent_recordings_count_and_not_questions() -> None:
    interval = made([1.0] * 30, [f"r{i // 3}" for i in range(30)])
    assert (interval.low, interval.high) == pytest.approx((0.7225, 1.0), abs=5e-5)


def test_without_scores_there_is_no_estimate() -> None:
    assert estimate([], []) is None


@given(scored)
def test_the_interval_holds_the_estimate_and_the_order_does_not_matter(pairs: list[tuple[float, str]]) -> None:
    interval = made([score for score, _ in pairs], [cluster for _, cluster in pairs])
    assert 0 <= interval.low <= interval.value <= interval.high <= 1
    random.Random(0).shuffle(pairs)
    other = made([score for score, _ in pairs], [cluster for _, cluster in pairs])
    assert other.model_dump() == pytest.approx(interval.model_dump())


@given(scored)
def test_wrong_and_right_mirror_each_other(pairs: list[tuple[float, str]]) -> None:
    clusters = [cluster for _, cluster in pairs]
    interval = made([score for score, _ in pairs], clusters)
    mirrored = made([1 - score for score, _ in pairs], clusters)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((interval.low, interval.high), abs=1e-6)


@given(scored)
def test_clustering_never_narrows_below_independence(pairs: list[tuple[float, str]]) -> None:
    scores = [float(score > 0.5) for score, _ in pairs]
    clustered, independent = made(scores, [cluster for _, cluster in pairs]), made(scores)
    assert clustered.high - clustered.low >= independent.high - independent.low - 1e-9


def covered(groups: int, p: float, shared: float, runs: int, alone: bool = False) -> float:
    """Share of simulated benchmarks whose interval holds the truth; recordings have 1 to 8 questions."""
    rng = np.random.default_rng(20)
    hits = 0
    for _ in range(runs):
        size = rng.integers(1, 9, groups)
        odds = rng.beta(p * (1 - shared) / shared, (1 - p) * (1 - shared) / shared, groups)
        recording = np.repeat(np.arange(groups), size)
        scores = (rng.random(len(recording)) < odds[recording]).astype(float)
        interval = made(list(scores), None if alone else [str(r) for r in recording])
        hits += interval.low <= p <= interval.high
    return hits / runs


@pytest.mark.parametrize("groups", [4, 12, 60])
@pytest.mark.parametrize("p", [0.5, 0.9])
@pytest.mark.parametrize("shared", [0.02, 0.3, 0.8])
def test_95_percent_intervals_hold_the_truth_about_that_often(groups: int, p: float, shared: float) -> None:
    assert 0.91 <= covered(groups, p, shared, runs=300) <= 1.0


def test_taking_clustered_questions_for_independent_would_not() -> None:
    assert covered(60, 0.5, 0.3, runs=300, alone=True) < 0.85


def test_fractional_scores_have_intervals_of_their_own_spread() -> None:
    rng = np.random.default_rng(3)
    hits, widths = 0, []
    for _ in range(300):
        scores = rng.beta(4, 6, 80)
        interval = made(list(scores), [str(i // 2) for i in range(80)])
        hits += interval.low <= 0.4 <= interval.high
        widths.append(interval.high - interval.low)
    assert 0.92 <= hits / 300 <= 0.99
    # Twice 1.96 times the standard error of beta(4, 6) is 0.0647; a coin's would be 0.215.
    assert 0.06 < float(np.mean(widths)) < 0.08
