"""Means with 95 % intervals that know that questions of one recording are not independent of each other.

The estimate is the plain mean over questions, which is a ratio estimator when recordings differ in their number of
questions. Its variance is the linearised between-cluster one with the factor G/(G-1) for G recordings (Cochran,
"Sampling Techniques", 1977, 6.3 and 9A; the CR1 of Miller, "Adding Error Bars to Evals", 2024, arXiv 2411.00640). A
symmetric interval from that variance fails exactly where benchmarks are: near 0 and 1, with few recordings, and at 0 or
100 % it has no width. So the variance is turned into an effective sample size, corrected for the degrees of freedom as
Korn and Graubard do (Survey Methodology 24, 1998), and the Wilson score interval is taken at that size, which Franco,
Little, Louis and Slud (J. Survey Statistics and Methodology 7, 2019) find to cover well in small clustered samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from videohv.types import Estimate

LEVEL = 0.95
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)

Floats = NDArray[np.float64]


def estimate(scores: Sequence[float] | Floats, clusters: Sequence[str]) -> Estimate | None:
    """The mean of scores between 0 and 1 with its interval; None without scores.

    The effective sample size lies between two bounds that need no variance to be estimated. Independent scores are the
    upper one: a design effect below 1 is taken for noise. The lower one is that all questions of a recording share
    their fate, for which Kish's n^2 / sum(m_g^2) observations are left; it takes over where nothing can be estimated:
    with one recording, and at 0 or 100 %. With a recording for every question this is the Wilson interval as such.
    Scores that are not 0 or 1 vary less than a coin of the same mean; the size is raised by that ratio, as far as n
    scores can tell it.

    Args:
        scores: One a question, from 0 to 1.
        clusters: The recording of each, in the same order.
    """
    x = np.asarray(scores, dtype=np.float64)
    n = len(x)
    if n == 0:
        return None
    sizes, totals = by_cluster(x, clusters)
    value = float(x.sum() / n)
    low, high = wilson(value, _effective_size(x, value, sizes, totals))
    return Estimate(value=value, low=min(low, value), high=max(high, value), n=n, clusters=len(sizes))


def by_cluster(scores: Floats, clusters: Sequence[str]) -> tuple[Floats, Floats]:
    """Number and sum of the scores of each cluster, both in the order of the clusters' names."""
    _, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return np.bincount(index).astype(np.float64), np.bincount(index, weights=scores).astype(np.float64)


def wilson(value: float, size: float) -> tuple[float, float]:
    """The Wilson score interval (J. American Statistical Association 22, 1927) of a proportion among `size` draws."""
    weight = Z * Z / size
    middle = (value + weight / 2) / (1 + weight)
    half = Z / (1 + weight) * math.sqrt(max(0.0, value * (1 - value)) / size + weight / (4 * size))
    return max(0.0, middle - half), min(1.0, middle + half)


def unseen(sizes: Floats) -> float:
    """The share of questions unlike all others that could have gone unseen: the upper bound of 0 %.

    Args:
        sizes: Questions of each recording; those of one recording are taken to share their fate.
    """
    return wilson(0.0, _shared_fate(sizes))[1]


def _shared_fate(sizes: Floats) -> float:
    return float(sizes.sum() * sizes.sum() / (sizes * sizes).sum())


def _effective_size(x: Floats, value: float, sizes: Floats, totals: Floats) -> float:
    n, groups = len(x), len(sizes)
    shared_fate = _shared_fate(sizes)
    spread = float(((x - value) ** 2).sum())
    coin = value * (1 - value)
    if groups == 1 or spread <= 1e-12 * n:
        return shared_fate
    between = groups / (groups - 1) * float(((totals - value * sizes) ** 2).sum()) / n**2
    independent = spread / (n * (n - 1))
    corrected = n * (independent / between if between > 0 else 1.0) * (t_quantile(n - 1) / t_quantile(groups - 1)) ** 2
    size = min(float(n), max(shared_fate, corrected))
    narrower = n * coin / spread * (Z / t_quantile(n - 1)) ** 2
    return size * max(1.0, narrower)


@lru_cache(maxsize=4096)
def t_quantile(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t.

    Up to 60 degrees of freedom by bisection on the distribution's finite series for whole degrees (Abramowitz and
    Stegun 26.7.3 and 26.7.4); beyond by its expansion about the normal quantile (26.7.5), which is right to 1e-6 there.

    Raises:
        ValueError: If `freedom` is less than 1.
    """
    if freedom < 1:
        raise ValueError(f"{freedom} degrees of freedom")
    if freedom > 60:
        z2 = Z * Z
        terms = (
            (z2 + 1) / 4,
            ((5 * z2 + 16) * z2 + 3) / 96,
            (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
        )
        return Z * (1 + sum(term / float(freedom) ** power for power, term in enumerate(terms, start=1)))
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_within(middle, freedom) < LEVEL else (low, middle)
    return (low + high) / 2


def _t_within(t: float, freedom: int) -> float:
    """The probability that Student's t lies between -t and t."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine2 = math.cos(angle) ** 2
    if freedom % 2:
        term = math.sin(angle) * math.cos(angle)
        total = term if freedom > 1 else 0.0
        for k in range(3, freedom - 1, 2):
            term *= cosine2 * (k - 1) / k
            total += term
        return 2 / math.pi * (angle + total)
    term = total = math.sin(angle)
    for k in range(2, freedom - 1, 2):
        term *= cosine2 * (k - 1) / k
        total += term
    return total
