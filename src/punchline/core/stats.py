"""Estimates from sufficient statistics, and their 95 % intervals by cluster, without resampling (docs/intervals.md)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats as distributions

from punchline.core.errors import PunchlineError

Array = npt.NDArray[np.float64]
Value = Callable[[Array], Array]
Interval = tuple[float, float] | tuple[None, None]
NONE: Interval = None, None

ALPHA = 0.05
VERSION = 1  # of the methods
ROOM = 2_000_000  # numbers that a batch of clusters may take
EQUAL = 1e-12  # what rounding leaves of a difference, against the range of the values


class Kind(NamedTuple):
    """What a statistic is: the method of its interval, and what its values lie between.

    korn-graubard: of shares, F1 and whatever is bounded. count: the same for a number of items, between none and all.
    hall: of what has no upper bound. bonett-price: of differences of what is bounded. none: it has no interval.
    """

    method: Literal["korn-graubard", "count", "hall", "bonett-price", "none"]
    low: float = -math.inf
    high: float = math.inf


SHARE = Kind("korn-graubard", 0.0, 1.0)
PERCENT = Kind("korn-graubard", 0.0, 100.0)
COEFFICIENT = Kind("korn-graubard", -1.0, 1.0)  # cosines, alphas
COUNT = Kind("count", 0.0)
REAL = Kind("hall")
POSITIVE = Kind("hall", 0.0)  # error rates, tokens, cost, deviations
DIFFERENCE = Kind("bonett-price", -1.0, 1.0)
EXACT = Kind("none")  # what is counted or computed, not estimated


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


_KINDS: dict[Value, Kind] = {percent: PERCENT, total: COUNT}


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

    `sums`: [n, k], one row of sufficient statistics for each item in the denominator, in a fixed order.
    `value`: maps summed statistics [..., k] to values [...]; NaN where undefined.
    `clusters`: [n], the unit that varies from sample to sample: names, or their ranks.
    `grades`: digests of the grades that the rows come from (any number of them for a row).
    `kind`: None is that of the value, a share where nothing else is known of it.
    """

    sums: Array
    value: Value
    clusters: Sequence[str] | npt.NDArray[np.int64]
    grades: Sequence[str] | npt.NDArray[np.bytes_] = ()
    kind: Kind | None = None

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

    @functools.cached_property
    def by_cluster(self) -> Array:
        """The sums of each cluster, in order of the clusters' names: [clusters, k]."""
        names, index = np.unique(np.asarray(self.clusters), return_inverse=True)
        return np.stack([np.bincount(index, weights=column, minlength=len(names)) for column in self.sums.T], axis=1)

    def point(self) -> float | None:
        """The value over all items; None when it is undefined or there is no item."""
        if self.n == 0:
            return None
        value = float(self.value(self.exact))
        return None if np.isnan(value) else value

    @property
    def bounds(self) -> Kind:
        """Its kind, with the bounds that its values have here."""
        kind = self.kind or _KINDS.get(self.value, SHARE)
        return kind._replace(high=float(self.n)) if kind.method == "count" else kind

    @property
    def method(self) -> str:
        """The method of its interval."""
        own = {MeanOf: "mover", Median: "woodruff"}.get(type(self.value))
        return own if own and self.bounds.method != "none" else self.bounds.method

    @property
    def signature(self) -> str:
        """Names all that its interval hangs on but the sums; "" for one without."""
        if self.method == "none":
            return ""
        return f"{self.method}|{self.bounds.low:g}..{self.bounds.high:g}|level:{1 - ALPHA:g}|v:{VERSION}"


# ---------------------------------------------------------------------------------------------- what a cluster is worth


def _parts(summed: Array) -> Iterator[Array]:
    """Clusters, as many at a time as there is room for."""
    size = max(1, ROOM // summed.shape[1])
    return (summed[start : start + size] for start in range(0, len(summed), size))


class Influence(NamedTuple):
    """What a value owes to each cluster."""

    each: Array  # [clusters]: the jackknife's pseudo-values less their mean; 0 for one that it does not rest on
    rests: npt.NDArray[np.bool_]  # [clusters]
    clusters: int  # that it rests on

    @property
    def variance(self) -> float:
        """Of the value: the jackknife's."""
        return float((self.each**2).sum() / (self.clusters * (self.clusters - 1)))


def influence(estimate: Estimate, value: Value | None = None) -> Influence | None:
    """Of a value of an estimate's sums, its own by default; None where fewer than two clusters say anything of it.

    Values without one cluster at a time (Efron and Stein, Annals of Statistics 1981). A ratio rests on clusters of
    which alone it is defined, or that move it: the recall of a rare label rests on few.
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
        without = np.concatenate([value((whole - part) * rest) for part in _parts(summed)])
        alone = np.concatenate([_alone(value, part) for part in _parts(summed)]) if ratio else np.zeros(count)
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
    room = 1e-3 * (high - low) if math.isfinite(high - low) else 0.0  # cosines in single precision pass 1
    if least < low - room or most > high + room:
        raise PunchlineError(
            f"a value from {least:g} to {most:g} where its column says {low:g} to {high:g}",
            way_out="Declare the column's kind (core/stats.py): POSITIVE, say, for what has no upper bound",
        )


# ------------------------------------------------------------------------------------------------------------ intervals


def _quantile(count: int) -> float:
    return float(distributions.t.ppf(1 - ALPHA / 2, count - 1))


def _korn_graubard(share: float, of: Influence, width: float = 1.0, spread: float | None = None) -> tuple[float, float]:
    """Clopper and Pearson's interval for as many items as would have this variance.

    Korn and Graubard, Survey Methodology 1998: with the degrees of freedom of the clusters. `width`: of the range that
    the influences are in. Where all clusters agree, each of them is an item. `spread`: the share that the variance is
    of, where that is another one.
    """
    of_which = share if spread is None else spread
    size, variance = float(of.clusters), of.variance / width**2
    if variance > 0 and 0 < of_which < 1:
        size = of_which * (1 - of_which) / variance
        size *= (float(distributions.norm.ppf(1 - ALPHA / 2)) / _quantile(of.clusters)) ** 2
    hits = share * size
    low = float(distributions.beta.ppf(ALPHA / 2, hits, size - hits + 1)) if hits > 0 else 0.0
    high = float(distributions.beta.ppf(1 - ALPHA / 2, hits + 1, size - hits)) if hits < size else 1.0
    return min(low, share), max(high, share)


def _hall(value: float, of: Influence) -> tuple[float, float]:
    """t intervals with the skewness transformed away (Hall, Journal of the Royal Statistical Society B 1992).

    The skewness of a small sample is too small; it is taken 1 + 2 / sqrt(clusters) times, which keeps the coverage of
    log-normal values (benchmarks/coverage.py). Where all clusters agree, at most 1 - 0.025^(1/clusters) of what was not
    seen is otherwise, by as much as the value, or by 1 where that is 0.
    """
    count, variance = of.clusters, of.variance
    if variance == 0:
        reach = (1 - (ALPHA / 2) ** (1 / count)) * (abs(value) or 1.0)
        return value - reach, value + reach
    kept = of.each[of.each != 0]
    second, third = float((kept**2).sum()) / count, float((kept**3).sum()) / count
    skewness = third / second**1.5 * (1 + 2 / math.sqrt(count))
    error, root = math.sqrt(variance), math.sqrt(count)

    def inverse(quantile: float) -> float:
        if abs(skewness) < 1e-6:
            return quantile
        shifted = 1 + skewness * (quantile / root - skewness / (6 * count))
        return float(3 * root / skewness * (np.cbrt(shifted) - 1))

    quantile = _quantile(count)
    return value - inverse(quantile) * error, value - inverse(-quantile) * error


def _bonett_price(value: float, of: Influence, reach: float) -> tuple[float, float]:
    """t interval with two clusters more, whose differences are the largest that there can be, one each way.

    Bonett and Price, Journal of Educational and Behavioral Statistics 2012, for the difference of paired shares.
    """
    count = of.clusters
    centre = value * count / (count + 2)
    squares = float((of.each**2).sum()) + count * (value - centre) ** 2 + 2 * (reach**2 + centre**2)
    half = _quantile(count) * math.sqrt(squares / ((count + 1) * (count + 2)))
    return centre - half, centre + half


def _mover(estimate: Estimate, parts: tuple[Value, ...]) -> Interval:
    """Of a mean of values, from the intervals of these (Zou and Donner, Statistics in Medicine 2008)."""
    points, reaches, moved = [], [], []
    for part in parts:
        of, point = influence(estimate, part), float(part(estimate.exact))
        low, high = (estimate.bounds.low, estimate.bounds.high) if of is None else _limits(estimate, point, of)
        points.append(point)
        reaches.append((point - low, high - point))
        moved.append(np.zeros(len(estimate.by_cluster)) if of is None else of.each)
    lengths = np.array([math.sqrt(float((each**2).sum())) or 1.0 for each in moved])
    together = np.array([[float((one * other).sum()) for other in moved] for one in moved]) / np.outer(lengths, lengths)
    np.fill_diagonal(together, 1.0)
    value = float(np.mean(points))
    down, up = (np.array(reach) / len(parts) for reach in zip(*reaches, strict=True))
    below, above = (math.sqrt(max(0.0, float(reach @ together @ reach))) for reach in (down, up))
    return value - below, value + above


def _woodruff(estimate: Estimate, median: Median) -> Interval:
    """Of a median: where the distribution crosses the limits of a half (Woodruff, JASA 1952)."""
    counts, point = estimate.exact, estimate.point()
    below = np.cumsum(counts) / counts.sum()
    places = np.array(median.scale) <= point
    of = influence(estimate, lambda columns: (columns * places).sum(axis=-1) / columns.sum(axis=-1))
    if of is None:
        return NONE
    limits = _korn_graubard(0.5, of, spread=float(below[places][-1]))
    low, high = (median.scale[min(int((below < limit - EQUAL).sum()), len(below) - 1)] for limit in limits)
    return low, high


def _limits(estimate: Estimate, value: float, of: Influence) -> tuple[float, float]:
    method, low, high = estimate.bounds
    if method == "hall":
        limits = _hall(value, of)
    elif method == "bonett-price":
        limits = _bonett_price(value, of, (high - low) / 2)
    else:
        width = high - low
        share = min(1.0, max(0.0, (value - low) / width))
        down, up = _korn_graubard(share, of, width)
        limits = min(low + width * down, value), max(low + width * up, value)
    return max(low, limits[0]), min(high, limits[1])


def interval(estimate: Estimate) -> Interval:
    """The 95 % interval of an estimate, by the method of its kind.

    (None, None) where it is undefined, has none, or fewer than two clusters say anything of it.
    """
    value = estimate.point()
    if value is None or estimate.method == "none":
        return NONE
    of = influence(estimate) if estimate.method != "woodruff" else None
    if isinstance(estimate.value, Median):
        return _woodruff(estimate, estimate.value)
    if of is None:
        return NONE
    if isinstance(estimate.value, MeanOf):
        low, high = _mover(estimate, estimate.value.parts)
        assert low is not None and high is not None
        return max(estimate.bounds.low, low), min(estimate.bounds.high, high)
    return _limits(estimate, value, of)


def difference(a: Estimate, b: Estimate) -> Estimate:
    """The value of `a` less that of `b`, over the clusters of both."""
    width, (method, low, high) = a.sums.shape[1], a.bounds
    reach = max(high, b.bounds.high) - low
    sums = np.zeros((a.n + b.n, width + b.sums.shape[1]))
    sums[: a.n, :width], sums[a.n :, width:] = a.sums, b.sums
    kind = Kind(method) if method in ("hall", "none") else Kind("bonett-price", -reach, reach)
    return Estimate(sums, Difference(a.value, b.value, width), [*a.clusters, *b.clusters], kind=kind)
