"""Paired differences of estimates, with what they are worth: intervals, permutation tests, effects.

The unit of all statistics is the cluster (a comic, a caption), as in the tables' intervals: its items are drawn,
swapped and left out together. docs/compare.md says what the numbers mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats as distributions

from punchline.core.stats import Array, Estimate

Cluster = Any  # a name, or its rank

RESAMPLES = 9_999  # of the bootstrap and of the permutation test, which is exact where there are no more swaps
ALPHA = 0.05
POWER = 0.8
ROOM = 4_000_000  # numbers that a batch of resamples may take


@dataclass(frozen=True)
class Paired:
    """What two estimates over the same clusters say. None: undefined, or nothing to resample."""

    a: float
    b: float
    difference: float  # a - b
    low: float | None
    high: float | None
    p: float | None
    effect: float | None
    detectable: float | None
    clusters: int


def paired_differences(
    pairs: Sequence[tuple[Estimate, Estimate]], seed: int, resamples: int = RESAMPLES
) -> list[Paired]:
    """The differences of pairs of estimates whose values are defined. Pairs with the same clusters share draws."""
    names = [_clusters(*pair) for pair in pairs]
    found: dict[int, Paired] = {}
    for alike in sorted(set(names)):
        chosen = [index for index, of in enumerate(names) if of == alike]
        made = _paired([pairs[index] for index in chosen], alike, seed, resamples)
        found |= dict(zip(chosen, made, strict=True))
    return [found[index] for index in range(len(pairs))]


def _paired(
    pairs: Sequence[tuple[Estimate, Estimate]], names: Sequence[Cluster], seed: int, resamples: int
) -> list[Paired]:
    """Of pairs that all have these clusters, at least one."""
    count = len(names)
    points = [(float(a.point() or 0.0), float(b.point() or 0.0)) for a, b in pairs]
    if count < 2:
        return [Paired(a, b, a - b, None, None, None, None, None, count) for a, b in points]
    sums = [(_by_cluster(a, names), _by_cluster(b, names)) for a, b in pairs]
    drawn: list[list[Array]] = [[] for _ in pairs]
    swapped: list[list[Array]] = [[] for _ in pairs]
    with np.errstate(all="ignore"):  # a resample may leave a value undefined
        for weights in _draws(count, seed, resamples):
            for index, ((a, b), (of_a, of_b)) in enumerate(zip(pairs, sums, strict=True)):
                drawn[index].append(a.value(weights @ of_a) - b.value(weights @ of_b))
        for swaps in _swaps(count, seed, resamples):
            for index, ((a, b), (of_a, of_b)) in enumerate(zip(pairs, sums, strict=True)):
                moved = swaps @ (of_b - of_a)
                swapped[index].append(a.value(of_a.sum(axis=0) + moved) - b.value(of_b.sum(axis=0) - moved))
        left_out = [
            a.value(of_a.sum(axis=0) - of_a) - b.value(of_b.sum(axis=0) - of_b)
            for (a, b), (of_a, of_b) in zip(pairs, sums, strict=True)
        ]
    made = []
    for index, (one, other) in enumerate(points):
        low, high = _interval(np.concatenate(drawn[index]), count)
        p = _p_value(one - other, np.concatenate(swapped[index]), exact=_all_swaps(count, resamples))
        effect, detectable = _effect_and_detectable(one - other, left_out[index])
        made.append(Paired(one, other, one - other, low, high, p, effect, detectable, count))
    return made


def _clusters(a: Estimate, b: Estimate) -> tuple[Cluster, ...]:
    """The clusters of two estimates, in order; of ratios, those only that have anything in them.

    A recall of one rare label, say, rests on few clusters. The others change no ratio and would feign a large sample.
    """
    names = tuple(sorted({name for one in (a, b) for name in one.clusters}))
    sums = [_by_cluster(one, names) for one in (a, b)]
    totals = [of.sum(axis=0) for of in sums]
    pairs = zip((a, b), totals, strict=True)
    if not all(math.isclose(float(one.value(2 * of)), float(one.value(of)), rel_tol=1e-9) for one, of in pairs):
        return names
    filled = (sums[0] != 0).any(axis=1) | (sums[1] != 0).any(axis=1)
    return tuple(name for name, kept in zip(names, filled, strict=True) if kept) or names


def _by_cluster(estimate: Estimate, names: Sequence[Cluster]) -> Array:
    """Statistics summed by cluster, [clusters, k], of these only; zeros for one that the estimate has no item of."""
    place = {name: index for index, name in enumerate(names)}
    summed = np.zeros((len(names), estimate.sums.shape[1]))
    places = [place.get(name, -1) for name in estimate.clusters]
    kept = [index for index, of in enumerate(places) if of >= 0]
    np.add.at(summed, [places[index] for index in kept], estimate.sums[kept])
    return summed


def _draws(count: int, seed: int, resamples: int) -> Iterator[Array]:
    """How often each cluster is drawn in each resample: [some resamples, clusters], until there are enough."""
    random = np.random.Generator(np.random.PCG64(seed))
    even = np.full(count, 1 / count)
    for size in _sizes(count, resamples):
        yield random.multinomial(count, even, size=size).astype(np.float64)


def _swaps(count: int, seed: int, resamples: int) -> Iterator[Array]:
    """Which clusters change sides, [some, clusters] of 0 and 1: all ways there are, else `resamples` random ones."""
    if _all_swaps(count, resamples):
        yield (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.float64)
        return
    random = np.random.Generator(np.random.PCG64([seed, 1]))  # other draws than the bootstrap's
    for size in _sizes(count, resamples):
        yield random.integers(2, size=(size, count)).astype(np.float64)


def _all_swaps(count: int, resamples: int) -> bool:
    return count < 60 and 2**count <= resamples + 1


def _sizes(count: int, resamples: int) -> Iterator[int]:
    at_a_time = max(1, ROOM // count)
    return (min(at_a_time, resamples - start) for start in range(0, resamples, at_a_time))


def _interval(drawn: Array, clusters: int) -> tuple[float, float] | tuple[None, None]:
    """95 % percentile interval, expanded for few clusters (Hesterberg, The American Statistician 2015)."""
    drawn = drawn[~np.isnan(drawn)]
    if drawn.size == 0:
        return None, None
    quantile = distributions.t.ppf(1 - ALPHA / 2, clusters - 1) * math.sqrt(clusters / (clusters - 1))
    outside = float(distributions.norm.sf(quantile))
    low, high = np.quantile(drawn, [outside, 1 - outside])
    return float(low), float(high)


def _p_value(observed: float, swapped: Array, *, exact: bool) -> float | None:
    """Two-sided: the share of swaps with a difference as large; random ones and the observed (Phipson, Smyth 2010)."""
    swapped = swapped[~np.isnan(swapped)]
    if swapped.size == 0:
        return None
    as_large = np.abs(swapped) >= abs(observed) * (1 - 1e-9) - 1e-12  # equal but for rounding is equal
    return float(as_large.mean()) if exact else float((as_large.sum() + 1) / (swapped.size + 1))


def _effect_and_detectable(observed: float, left_out: Array) -> tuple[float | None, float | None]:
    """d_z, and the smallest difference that is found with POWER at ALPHA.

    `left_out`: [clusters], the difference without each. The jackknife's standard error times the root of the number of
    clusters is the standard deviation of the clusters' differences where the value is a mean over equal clusters.
    """
    count = left_out.size
    error = math.sqrt((count - 1) / count * float(((left_out - left_out.mean()) ** 2).sum()))
    if not math.isfinite(error) or error <= 1e-12 * max(1.0, abs(observed)):
        return None, None
    wanted = distributions.t.ppf(1 - ALPHA / 2, count - 1) + distributions.t.ppf(POWER, count - 1)
    return observed / (error * math.sqrt(count)), float(wanted * error)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number (Holm, Scandinavian Journal of Statistics 1979)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
