"""Paired differences of estimates, with what they are worth: intervals, permutation tests, effects.

The unit of all statistics is the cluster (a comic, a caption), and the intervals are made as the tables' are: its items
are swapped and left out together. docs/intervals.md says what the numbers mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats as distributions

from punchline.stats.estimate import ALPHA, Array, Estimate, Influence, influence
from punchline.stats.intervals import difference, interval

RESAMPLES = 9_999  # of the permutation test, which is exact where there are no more swaps
POWER = 0.8
ROOM = 4_000_000  # swaps that are drawn at once


@dataclass(frozen=True)
class Paired:
    """Two estimates over the same clusters, compared. None: undefined, or fewer than two clusters."""

    a: float
    b: float
    difference: float  # a - b
    low: float | None
    high: float | None
    p: float | None
    effect: float | None
    detectable: float | None
    clusters: int  # that the difference depends on


def paired_difference(a: Estimate, b: Estimate, seed: int, resamples: int = RESAMPLES) -> Paired:
    """The difference of two estimates whose values are defined; one without an interval has no test either."""
    value_a, value_b = float(a.point() or 0.0), float(b.point() or 0.0)
    of = difference(a, b)
    moved = influence(of) if of.method != "none" else None
    if moved is None:
        return Paired(value_a, value_b, value_a - value_b, None, None, None, None, None, len(of.by_cluster))
    low, high = interval(of)
    summed, width = of.by_cluster[moved.rests], a.sums.shape[1]
    of_a, of_b, swapped = summed[:, :width], summed[:, width:], []
    with np.errstate(all="ignore"):  # a swap may leave a value undefined
        for swaps in _swaps(moved.clusters, seed, resamples):
            taken = swaps @ (of_b - of_a)
            swapped.append(a.value(of_a.sum(axis=0) + taken) - b.value(of_b.sum(axis=0) - taken))
    p = _p_value(value_a - value_b, np.concatenate(swapped), exact=_all_swaps(moved.clusters, resamples))
    effect, detectable = _effect_and_detectable(value_a - value_b, moved)
    return Paired(value_a, value_b, value_a - value_b, low, high, p, effect, detectable, moved.clusters)


def _swaps(count: int, seed: int, resamples: int) -> Iterator[Array]:
    """Clusters that change sides, [some, clusters] of 0 and 1: all ways there are, else `resamples` random ones."""
    if _all_swaps(count, resamples):
        yield (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.float64)
        return
    random, at_a_time = np.random.Generator(np.random.PCG64([seed, 1])), max(1, ROOM // count)
    for start in range(0, resamples, at_a_time):
        size = min(at_a_time, resamples - start), count
        yield random.integers(2, size=size, dtype=np.uint8).astype(np.float64)


def _all_swaps(count: int, resamples: int) -> bool:
    return count < 60 and 2**count <= resamples + 1


def _p_value(observed: float, swapped: Array, *, exact: bool) -> float | None:
    """Two-sided: the share of swaps with a difference as large; random ones and the observed (Phipson, Smyth 2010)."""
    swapped = swapped[~np.isnan(swapped)]
    if swapped.size == 0:
        return None
    as_large = np.abs(swapped) >= abs(observed) * (1 - 1e-9) - 1e-12  # equal but for rounding is equal
    return float(as_large.mean()) if exact else float((as_large.sum() + 1) / (swapped.size + 1))


def _effect_and_detectable(observed: float, of: Influence) -> tuple[float | None, float | None]:
    """d_z, and the smallest difference that is found with POWER at ALPHA.

    The jackknife's standard error times the root of the number of clusters is the standard deviation of the clusters'
    differences where the value is a mean over equal clusters.
    """
    error = math.sqrt(of.variance)
    if error == 0:
        return None, None
    wanted = distributions.t.ppf(1 - ALPHA / 2, of.clusters - 1) + distributions.t.ppf(POWER, of.clusters - 1)
    return observed / (error * math.sqrt(of.clusters)), float(wanted * error)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number (Holm, Scandinavian Journal of Statistics 1979)."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.minimum(1.0, np.asarray(p_values)[order] * np.arange(len(p_values), 0, -1))
    return [float(value) for value in np.maximum.accumulate(adjusted)[np.argsort(order)]]
