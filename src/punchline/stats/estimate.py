"""Estimates from sufficient statistics, and what they owe to each cluster of items."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from punchline.errors import PunchlineError

Array = npt.NDArray[np.float64]
Sums = npt.NDArray[Any]  # of numbers, of counts (unsigned integers), or of truths
Value = Callable[[Array], Array]

Rows = npt.NDArray[np.integer[Any]]
NO_ROWS: Rows = np.empty(0, dtype=np.int32)

ALPHA = 0.05
FEWEST = 5  # clusters that an interval of answers or of labels needs
VERSION = 1  # of the methods
EQUAL = 1e-12  # what rounding leaves of a difference, against the range of the values


class Kind(NamedTuple):
    """A kind of statistic: the method of its interval, and the bounds of its values.

    korn-graubard: of shares, F1 and whatever is bounded. count: the same for a number of items, between none and all.
    hall: of what has no upper bound. bonett-price: of differences of what is bounded. fisher: of a rank correlation of
    items. none: it has no interval.
    """

    method: Literal["korn-graubard", "count", "hall", "bonett-price", "fisher", "none"]
    low: float = -math.inf
    high: float = math.inf


SHARE = Kind("korn-graubard", 0.0, 1.0)
PERCENT = Kind("korn-graubard", 0.0, 100.0)
COEFFICIENT = Kind("korn-graubard", -1.0, 1.0)  # cosines, alphas
COUNT = Kind("count", 0.0)
REAL = Kind("hall")
POSITIVE = Kind("hall", 0.0)  # error rates, tokens, cost, deviations
DIFFERENCE = Kind("bonett-price", -1.0, 1.0)
RANKS = Kind("fisher", -1.0, 1.0)  # Spearman's rho
EXACT = Kind("none")  # what is counted or computed, not estimated


def ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> Array:
    """Quotients without warnings: 0 / 0 is NaN."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(numerator / denominator, dtype=np.float64)


def mean(columns: Array) -> Array:
    """Value of a mean from statistics (sum, count)."""
    return ratio(columns[..., 0], columns[..., 1])


def percent(columns: Array) -> Array:
    """A mean in per cent, from statistics (sum, count)."""
    return 100 * mean(columns)


def total(columns: Array) -> Array:
    """Value of a count from statistics (sum,)."""
    return np.asarray(columns[..., 0], dtype=np.float64)


@dataclass(frozen=True)
class MeanOf:
    """The unweighted mean of several values of the same statistics: a macro average."""

    parts: tuple[Value, ...]

    def __call__(self, columns: Array) -> Array:
        return np.asarray(sum(part(columns) for part in self.parts) / len(self.parts), dtype=np.float64)


@dataclass(frozen=True)
class Difference:
    """A value of the first `width` statistics less one of the others."""

    a: Value
    b: Value
    width: int

    def __call__(self, columns: Array) -> Array:
        a, b = self.a(columns[..., : self.width]), self.b(columns[..., self.width :])
        return np.asarray(a - b, dtype=np.float64)


@dataclass(frozen=True)
class Spread:
    """The standard deviation of several values of the same statistics, of those that are there.

    `each`: maps statistics [..., k] to the values [..., m]. `ddof`: 1 for a sample's deviation, 0 for a population's.
    """

    each: Value
    ddof: int = 1

    def __call__(self, columns: Array) -> Array:
        values = self.each(columns)
        count = (~np.isnan(values)).sum(axis=-1)
        centre = ratio(np.nansum(values, axis=-1), count)
        squares = np.nansum((values - centre[..., None]) ** 2, axis=-1)
        return np.sqrt(ratio(squares, np.where(count > self.ddof, count - self.ddof, np.nan)))


def over_blocks(value: Value, width: int, *, spread: bool = False) -> Value:
    """The mean (or population SD) of a value over blocks of `width` statistics; of a macro average, part by part."""

    def each(columns: Array) -> Array:
        return value(columns.reshape(*columns.shape[:-1], columns.shape[-1] // width, width))

    if spread:
        return Spread(each, ddof=0)
    if isinstance(value, MeanOf):
        return MeanOf(tuple(over_blocks(part, width) for part in value.parts))
    return lambda columns: np.asarray(each(columns).mean(axis=-1), dtype=np.float64)


@dataclass(frozen=True)
class Median:
    """The median, from how often each value of an ascending scale was given; of two middle values their mean."""

    scale: tuple[float, ...]

    def __call__(self, columns: Array) -> Array:
        n = columns.sum(axis=-1)
        below = np.cumsum(columns, axis=-1)

        def at(rank: Array) -> Array:  # the value of that rank, counted from 1
            place = np.minimum((below < rank[..., None]).sum(axis=-1), len(self.scale) - 1)
            return np.asarray(np.array(self.scale, dtype=np.float64)[place])

        middle = (at(np.floor((n + 1) / 2)) + at(np.ceil((n + 1) / 2))) / 2
        return np.asarray(np.where(n > 0, middle, np.nan), dtype=np.float64)


@dataclass(frozen=True)
class Estimate:
    """A value that is a function of sums over items.

    `sums`: [n, k], one row of sufficient statistics for each item in the denominator, in a fixed order: numbers,
    counts, or truths, which count 1.
    `value`: maps summed statistics [..., k] to values [...]; NaN where undefined.
    `clusters`: [n], the unit that varies from sample to sample: names, or their ranks.
    `digests`: of what the rows come from (any number of them for a row), where that is not scores.
    `used`, `given`: numbers of the score rows that the sums come from, and of all that the statistic was given.
    `kind`: None is a count where the value is `total`, else a share.
    """

    sums: Sums
    value: Value
    clusters: Sequence[str] | npt.NDArray[np.integer[Any]]
    digests: Sequence[str] = ()
    kind: Kind | None = None
    used: Rows = field(default_factory=lambda: NO_ROWS, repr=False)
    given: Rows = field(default_factory=lambda: NO_ROWS, repr=False)

    @property
    def n(self) -> int:
        """Items in the denominator."""
        return int(self.sums.shape[0])

    @property
    def cluster_names(self) -> npt.NDArray[Any]:
        """The clusters, sorted."""
        return np.unique(np.asarray(self.clusters))

    @functools.cached_property
    def exact(self) -> Array:
        """The sums over all items, exactly rounded, whatever order the rows have: [k]."""
        sums = np.asarray(self.sums, dtype=np.float64)
        if (sums == np.rint(sums)).all() and np.abs(sums).sum(axis=0).max(initial=0) < 2**53:
            return np.asarray(sums.sum(axis=0))
        return np.array([math.fsum(column) for column in sums.T.tolist()])

    @property
    def by_cluster(self) -> Array:
        """The sums of each cluster, in order of their names: [clusters, k]. Not kept: they are large."""
        names, index = np.unique(np.asarray(self.clusters), return_inverse=True)
        sums = np.empty((len(names), self.sums.shape[1]))
        for column, values in enumerate(self.sums.T):
            sums[:, column] = np.bincount(index, weights=values, minlength=len(names))
        return sums

    def point(self) -> float | None:
        """The value over all items; None when it is undefined or there is no item."""
        if self.n == 0:
            return None
        value = float(self.value(self.exact))
        return None if np.isnan(value) else value

    @property
    def bounds(self) -> Kind:
        """Its kind, with the bounds that its values have here."""
        kind = self.kind or (COUNT if self.value is total else SHARE)
        return kind._replace(high=float(self.n)) if kind.method == "count" else kind

    @property
    def method(self) -> str:
        """The method of its interval."""
        special = {MeanOf: "mover", Median: "woodruff", Spread: "steiger"}.get(type(self.value))
        return special if special and self.bounds.method != "none" else self.bounds.method

    @property
    def signature(self) -> str:
        """Names all that its interval depends on but the sums; "" for one without."""
        if self.method == "none":
            return ""
        return f"{self.method}|{self.bounds.low:g}..{self.bounds.high:g}|level:{1 - ALPHA:g}|v:{VERSION}"


# ---------------------------------------------------------------------------------------------- what a cluster is worth


class Influence(NamedTuple):
    """Influence of each cluster on a value."""

    each: Array  # [clusters]: the jackknife's pseudo-values less their mean; 0 for one that it does not rest on
    rests: npt.NDArray[np.bool_]  # [clusters]
    clusters: int  # that it depends on

    @property
    def variance(self) -> float:
        """Jackknife variance of the value."""
        return float((self.each**2).sum() / (self.clusters * (self.clusters - 1)))


def influence(estimate: Estimate, value: Value | None = None) -> Influence | None:
    """Of a value of an estimate's sums, its own by default; None where fewer than two clusters say anything of it.

    Values without one cluster at a time (Efron and Stein, Annals of Statistics 1981). A ratio depends on clusters of
    which alone it is defined, or that move it: the recall of a rare label depends on few.
    Raises PunchlineError for a cluster whose own value is not within the bounds of the estimate's kind.
    """
    value, summed, whole = value or estimate.value, estimate.by_cluster, estimate.exact
    count = len(summed)
    if count < 2:
        return None
    with np.errstate(all="ignore"):
        point = float(value(whole))
        ratio = float(value(2 * whole)) == point
        rest = 1.0 if ratio else count / (count - 1)  # what grows with the sample is not to shrink with it
        without = value((whole - summed) * rest)
        alone = _alone(value, summed) if ratio else np.zeros(count)
    if ratio:
        _check(estimate, alone)
    rests = ~np.isnan(without) & ((without != point) | ~np.isnan(alone))
    count = int(rests.sum())
    if count < 2:
        return None
    each = np.where(rests, (count - 1) * (without[rests].mean() - without), 0.0)
    spread = float(np.ptp(without[rests]))
    scale = max(abs(point), float(np.abs(each).max()), 1e-300)
    return Influence(each if spread > EQUAL * scale else np.zeros_like(each), rests, count)


def _alone(value: Value, columns: Array) -> Array:
    """The value of each cluster alone; of a macro average or a difference that of what is defined of it."""
    if isinstance(value, MeanOf):
        return functools.reduce(np.fmax, (_alone(part, columns) for part in value.parts))
    if isinstance(value, Difference):
        a, b = _alone(value.a, columns[:, : value.width]), _alone(value.b, columns[:, value.width :])
        return np.where(np.isnan(a) & np.isnan(b), np.nan, np.nan_to_num(a) - np.nan_to_num(b))
    return value(columns)


def _check(estimate: Estimate, values: Array) -> None:
    low, high = estimate.bounds[1:]
    least, most = np.nanmin(values, initial=math.inf), np.nanmax(values, initial=-math.inf)
    room = 1e-3 * (high - low)  # cosines in single precision pass 1
    if least < low - room or most > high + room:
        what = f"a value from {least:g} to {most:g} where its column says {low:g} to {high:g}"
        hint = "Declare the column's kind (stats/estimate.py): POSITIVE, say, for what has no upper bound"
        raise PunchlineError(what, hint=hint)
