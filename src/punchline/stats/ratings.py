"""Statistics of people's ratings, from sums over items, so that intervals need no second look at a rating.

Ratings have few distinct values: how often each was given says all of a mean, a median and a deviation; a coincidence
matrix of the values says all of Krippendorff's alpha (Krippendorff 2004, chapter 11; the package `krippendorff` gives
the same from the single ratings).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from punchline.stats.estimate import Array, Value, ratio

Level = Literal["nominal", "ordinal", "interval"]


def counts(values: Sequence[float], scale: Sequence[float]) -> Array:
    """Statistics [n, k] of n values on a scale of k: which of them each is."""
    return np.asarray(np.asarray(values)[:, None] == np.asarray(scale), dtype=np.float64)


def deviation_of(scale: Sequence[float]) -> Value:
    """The sample's standard deviation (n - 1), from how often each value of the scale was given."""
    ordered = np.array(scale)

    def value(sums: Array) -> Array:
        n = sums.sum(axis=-1)
        centre = ratio(sums @ ordered, n)
        squares = (sums * (ordered - centre[..., None]) ** 2).sum(axis=-1)
        return np.sqrt(ratio(squares, np.where(n > 1, n - 1, np.nan)))

    return value


def coincidences(units: Sequence[Sequence[Any]], scale: Sequence[Any]) -> Array:
    """Statistics [n, k * k] of n units: each unit's coincidence matrix; zero for a unit with fewer than two ratings."""
    place = {value: column for column, value in enumerate(scale)}
    sums = np.zeros((len(units), len(scale), len(scale)))
    for matrix, values in zip(sums, units, strict=True):
        for first, second in itertools.permutations(values, 2):
            matrix[place[first], place[second]] += 1 / (len(values) - 1)
    return sums.reshape(len(units), len(scale) ** 2)


def nominal_counts(pairs: Sequence[Sequence[Any]], scale: Sequence[Any]) -> Array:
    """Statistics [n, k + 1] of n pairs of ratings: ratings of each value of a scale of k, and of equal pairs.

    They say of a nominal alpha what coincidence matrices say, in far less memory.
    """
    counted = [[pair.count(value) for value in scale] for pair in pairs]
    given = np.array(counted, np.float64).reshape(len(pairs), len(scale))
    return np.column_stack([given, 2 * (given == 2).any(axis=1)])


def nominal_alpha(sums: Array) -> Array:
    """Krippendorff's nominal alpha from summed `nominal_counts` [..., k + 1]; NaN where all ratings are one value."""
    given, equal = sums[..., :-1], sums[..., -1]
    n = given.sum(axis=-1)
    chance = ratio(n**2 - (given**2).sum(axis=-1), n - 1)
    return np.where(chance > 0, 1 - ratio(n - equal, chance), np.nan)


def alpha_of(scale: Sequence[float], level: Level) -> Value:
    """Krippendorff's alpha from summed coincidence matrices [..., k * k]; NaN where all ratings are one value."""
    ordered = np.array(scale, dtype=np.float64)
    size = len(ordered)

    def value(sums: Array) -> Array:
        observed = sums.reshape(*sums.shape[:-1], size, size)
        margins = observed.sum(axis=-1)
        n = margins.sum(axis=-1)
        if level == "ordinal":
            middle = np.cumsum(margins, axis=-1) - margins / 2  # ranks of the values, ties at their middle
            distance = (middle[..., :, None] - middle[..., None, :]) ** 2
        elif level == "interval":
            distance = (ordered[:, None] - ordered[None, :]) ** 2
        else:
            distance = 1.0 - np.eye(size)
        expected = margins[..., :, None] * margins[..., None, :]
        chance = ratio((expected * distance).sum(axis=(-1, -2)), n - 1)
        disagreement = (observed * distance).sum(axis=(-1, -2))
        return np.where(chance > 0, 1 - ratio(disagreement, chance), np.nan)

    return value
