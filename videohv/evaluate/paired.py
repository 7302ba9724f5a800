"""Tests and intervals for two runs on the same questions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist

import numpy as np

from videohv.evaluate.statistics import Floats, t_quantile, unseen

RESAMPLES = 10_000
SEED = 0
_CHUNK = 1_000_000
"""Numbers held at once while resampling."""


def mcnemar(only_a: int, only_b: int) -> float:
    """The two-sided mid-p value of McNemar's test, from the numbers of pairs that only one run has right.

    Under equal accuracies each such pair is a fair coin. The exact binomial test is conservative; the mid-p value
    counts the observed split half and keeps its level (Fagerland, Lydersen and Laake, "The McNemar test for binary
    matched-pairs data", BMC Medical Research Methodology 13:91, 2013). It takes the pairs for independent;
    `sign_flip` does not.
    """
    n, fewer = only_a + only_b, min(only_a, only_b)
    if only_a == only_b:
        return 1 - math.comb(n, fewer) / 2 ** (n + 1) if n else 1.0
    below = term = 1
    for i in range(1, fewer + 1):
        term = term * (n - i + 1) // i
        below += term
    return float((2 * below - term) / 2**n)


def sign_flip(totals: Floats) -> float:
    """The two-sided p value that the sum of the recordings' differences is 0, each as likely to have the other sign.

    A permutation test on recordings: whatever holds within one stays together. All sign patterns are gone through for
    up to 12 recordings that differ at all, else 10,000 random ones with a fixed seed, the observed one among them.
    """
    differing = np.abs(totals[totals != 0])
    if not len(differing):
        return 1.0
    observed = abs(float(totals.sum())) - 1e-9
    if len(differing) <= 12:
        patterns = (np.arange(2 ** len(differing))[:, None] >> np.arange(len(differing))) & 1
        return float(np.mean(np.abs((2.0 * patterns - 1) @ differing) >= observed))
    rng = np.random.default_rng(SEED)
    as_far = 1
    for count in _chunks(RESAMPLES - 1, len(differing)):
        signs = rng.integers(0, 2, (count, len(differing)), dtype=np.int8)
        as_far += int((np.abs((2.0 * signs - 1) @ differing) >= observed).sum())
    return as_far / RESAMPLES


def difference_interval(sizes: Floats, totals: Floats) -> tuple[float, float]:
    """The 95 % interval of a paired difference: percentiles of 10,000 resamples of whole recordings, seed fixed.

    Percentiles are too narrow with few recordings, so they are taken further out, as Hesterberg's expanded percentile
    interval does ("What Teachers Should Know About the Bootstrap", The American Statistician 69, 2015). When all
    recordings differ alike, or there is only one, resampling shows nothing: then the bounds leave room for the share
    of questions of another kind that could have gone unseen. Below ten recordings no method has enough to go by, and
    the bounds are rather too close.

    Args:
        sizes: Pairs of each recording.
        totals: Sum of the differences of each recording.
    """
    value, groups = float(totals.sum() / sizes.sum()), len(sizes)
    if np.allclose(totals, value * sizes):
        share = unseen(sizes)
        return value * (1 - share) - share, value * (1 - share) + share
    rng = np.random.default_rng(SEED)
    means = []
    for count in _chunks(RESAMPLES, groups):
        drawn = rng.integers(0, groups, (count, groups), dtype=np.int32)
        means.append(totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    tail = 100 * NormalDist().cdf(-math.sqrt(groups / (groups - 1)) * t_quantile(groups - 1))
    low, high = np.percentile(np.concatenate(means), [tail, 100 - tail])
    return float(low), float(high)


def _chunks(total: int, width: int) -> Iterable[int]:
    step = max(1, _CHUNK // width)
    return (min(step, total - done) for done in range(0, total, step))
