"""Estimates from sufficient statistics, and their bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
    `clusters`: n names, the unit that is resampled.
    `grades`: digests of the grades that the rows come from (any number of them for a row).
    """

    sums: Array
    value: Callable[[Array], Array]
    clusters: Sequence[str]
    grades: Sequence[str]

    @property
    def n(self) -> int:
        """Items in the denominator."""
        return int(self.sums.shape[0])

    def point(self) -> float | None:
        """The value over all items; None when it is undefined or there is no item."""
        if self.n == 0:
            return None
        exact = np.array([math.fsum(column) for column in self.sums.T])  # whatever order the rows have
        value = float(self.value(exact))
        return None if np.isnan(value) else value


def mean(columns: Array) -> Array:
    """Value of a mean from statistics (sum, count)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(columns[..., 0] / columns[..., 1], dtype=np.float64)


def total(columns: Array) -> Array:
    """Value of a count from statistics (sum,)."""
    return np.asarray(columns[..., 0], dtype=np.float64)


@lru_cache(maxsize=2)
def _weights(clusters: int, seed: int, resamples: int) -> Array:
    """How often each cluster is drawn in each resample: [resamples, clusters]."""
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = (rng.integers(clusters, size=clusters) for _ in range(resamples))
    return np.array([np.bincount(names, minlength=clusters) for names in drawn], dtype=np.float64)


def interval(estimate: Estimate, seed: int, resamples: int = RESAMPLES) -> tuple[float, float] | tuple[None, None]:
    """95 % percentile bootstrap interval, resampling whole clusters with replacement (Efron and Tibshirani 1993).

    Works on the statistics summed by cluster, so no answer is scored again. (None, None) when the value is undefined or
    fewer than two clusters leave nothing to resample.
    """
    names, index = np.unique(np.asarray(estimate.clusters, dtype=object).astype(str), return_inverse=True)
    if len(names) < 2 or estimate.point() is None:
        return None, None
    by_cluster = np.zeros((len(names), estimate.sums.shape[1]))
    np.add.at(by_cluster, index, estimate.sums)
    # Multiples of a power of two so large that every sum below is exact: whatever order BLAS adds in, the digits agree.
    exponent = math.frexp(float(np.abs(by_cluster).max()) * len(names))[1]
    by_cluster = np.ldexp(np.round(np.ldexp(by_cluster, 52 - exponent)), exponent - 52)
    values = estimate.value(_weights(len(names), seed, resamples) @ by_cluster)
    values = values[~np.isnan(values)]
    if values.size == 0:
        return None, None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
