"""Estimates from sufficient statistics, and their bootstrap intervals."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value that is a function of sums over items.

    `sums`: [n, k], one row of sufficient statistics for each item in the denominator, in a fixed order.
    `value`: maps summed statistics [..., k] to values [...]; NaN where undefined.
    `clusters`: [n], the unit that is resampled: names, or their ranks.
    `grades`: digests of the grades that the rows come from (any number of them for a row).
    """

    sums: Array
    value: Callable[[Array], Array]
    clusters: Sequence[str] | npt.NDArray[np.int64]
    grades: Sequence[str] | npt.NDArray[np.bytes_] = ()

    @property
    def n(self) -> int:
        """Items in the denominator."""
        return int(self.sums.shape[0])

    @functools.cached_property
    def exact(self) -> Array:
        """The sums over all items, exactly rounded, whatever order the rows have: [k]."""
        whole = self.sums.sum(axis=0)
        if not (self.sums == np.rint(self.sums)).all() or np.abs(self.sums).sum(axis=0).max(initial=0) >= 2**53:
            whole = np.array([math.fsum(column) for column in self.sums.T.tolist()])
        return np.asarray(whole, dtype=np.float64)

    def point(self) -> float | None:
        """The value over all items; None when it is undefined or there is no item."""
        if self.n == 0:
            return None
        value = float(self.value(self.exact))
        return None if np.isnan(value) else value


def mean(columns: Array) -> Array:
    """Value of a mean from statistics (sum, count)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(columns[..., 0] / columns[..., 1], dtype=np.float64)


def percent(columns: Array) -> Array:
    """A mean in per cent, from statistics (sum, count)."""
    return 100 * mean(columns)


def total(columns: Array) -> Array:
    """Value of a count from statistics (sum,)."""
    return np.asarray(columns[..., 0], dtype=np.float64)


Interval = tuple[float, float] | tuple[None, None]

ROOM = 2_000_000  # numbers that a batch of resamples may take


def _by_cluster(estimate: Estimate) -> Array:
    """Statistics summed by cluster: [clusters, k], in order of the clusters' names.

    Multiples of a power of two so large that all their sums are exact: whatever order BLAS adds in, the digits agree.
    """
    names, index = np.unique(np.asarray(estimate.clusters), return_inverse=True)
    summed = np.stack([np.bincount(index, weights=column, minlength=len(names)) for column in estimate.sums.T], axis=1)
    exponent = math.frexp(float(np.abs(summed).max()) * len(names))[1]
    return np.asarray(np.ldexp(np.round(np.ldexp(summed, 52 - exponent)), exponent - 52))


def _draws(clusters: int, seed: int, resamples: int) -> Iterator[Array]:
    """How often each cluster is drawn in each resample: [some resamples, clusters], until there are enough."""
    rng = np.random.Generator(np.random.PCG64(seed))
    at_a_time = max(1, ROOM // clusters)
    for start in range(0, resamples, at_a_time):
        size = min(at_a_time, resamples - start)
        drawn = rng.integers(clusters, size=(size, clusters)) + clusters * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * clusters).reshape(size, clusters).astype(np.float64)


def intervals(estimates: Sequence[Estimate], seed: int, resamples: int = RESAMPLES) -> list[Interval]:
    """95 % percentile bootstrap intervals, resampling whole clusters with replacement (Efron and Tibshirani 1993).

    They work on the statistics summed by cluster, so no answer is scored again; estimates over as many clusters share
    draws. (None, None) where a value is undefined or fewer than two clusters leave nothing to resample.
    """
    alike: dict[int, list[tuple[int, Array]]] = {}
    known: dict[tuple[int, int], Array] = {}  # estimates of a row may be of the same sums
    for place, estimate in enumerate(estimates):
        if estimate.point() is None:
            continue
        of = id(estimate.sums), id(estimate.clusters)
        if of not in known:
            known[of] = _by_cluster(estimate)
        if len(known[of]) > 1:
            alike.setdefault(len(known[of]), []).append((place, known[of]))
    found: list[Interval] = [(None, None)] * len(estimates)
    for clusters, members in alike.items():
        values: list[list[Array]] = [[] for _ in members]
        for weights in _draws(clusters, seed, resamples):
            sums: dict[int, Array] = {}
            for (place, summed), drawn in zip(members, values, strict=True):
                if id(summed) not in sums:
                    sums[id(summed)] = weights @ summed
                drawn.append(estimates[place].value(sums[id(summed)]))
        for (place, _), drawn in zip(members, values, strict=True):
            defined = np.concatenate(drawn)
            defined = defined[~np.isnan(defined)]
            if defined.size:
                low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
                found[place] = float(low), float(high)
    return found


def interval(estimate: Estimate, seed: int, resamples: int = RESAMPLES) -> Interval:
    """The interval of one estimate."""
    return intervals([estimate], seed, resamples)[0]
