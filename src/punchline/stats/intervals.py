"""95 % intervals of estimates, by cluster, without resampling: a method a kind of statistic (docs/intervals.md)."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv, chdtr, chndtrinc, ndtri, stdtrit  # scipy.stats takes a second to import

from punchline.stats.estimate import (
    ALPHA,
    EQUAL,
    Difference,
    Estimate,
    Influence,
    Kind,
    MeanOf,
    Median,
    Spread,
    Value,
    influence,
)

Interval = tuple[float, float] | tuple[None, None]
NONE: Interval = None, None


def _quantile(count: int, alpha: float = ALPHA) -> float:
    return float(stdtrit(count - 1, 1 - alpha / 2))


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
        size *= (float(ndtri(1 - ALPHA / 2)) / _quantile(of.clusters)) ** 2
    hits = share * size
    low = float(betaincinv(hits, size - hits + 1, ALPHA / 2)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, size - hits, 1 - ALPHA / 2)) if hits < size else 1.0
    return min(low, share), max(high, share)


def _hall(value: float, of: Influence, alpha: float) -> tuple[float, float]:
    """t intervals with the skewness transformed away (Hall, Journal of the Royal Statistical Society B 1992).

    The skewness of a small sample is too small; it is taken 1 + 3 / sqrt(clusters) times, which keeps the coverage of
    log-normal values (benchmarks/coverage.py). Where all clusters agree, at most 1 - 0.025^(1/clusters) of what was not
    seen is otherwise, by as much as the value, or by 1 where that is 0.
    """
    count, variance = of.clusters, of.variance
    if variance == 0:
        reach = (1 - (alpha / 2) ** (1 / count)) * (abs(value) or 1.0)
        return value - reach, value + reach
    scaled = of.each / float(np.abs(of.each).max())
    second, third = float((scaled**2).sum()) / count, float((scaled**3).sum()) / count
    skewness = third / second**1.5 * (1 + 3 / math.sqrt(count))
    error, root = math.sqrt(variance), math.sqrt(count)

    def inverse(quantile: float) -> float:
        if abs(skewness) < 1e-6:
            return quantile
        shifted = 1 + skewness * (quantile / root - skewness / (6 * count))
        return float(3 * root / skewness * (np.cbrt(shifted) - 1))

    quantile = _quantile(count, alpha)
    return value - inverse(quantile) * error, value - inverse(-quantile) * error


def _bonett_price(value: float, of: Influence, reach: float, alpha: float) -> tuple[float, float]:
    """t interval with two clusters more, whose differences are the largest that there can be, one each way.

    Bonett and Price, Journal of Educational and Behavioral Statistics 2012, for the difference of paired shares.
    """
    count = of.clusters
    centre = value * count / (count + 2)
    squares = float((of.each**2).sum()) + count * (value - centre) ** 2 + 2 * (reach**2 + centre**2)
    half = _quantile(count, alpha) * math.sqrt(squares / ((count + 1) * (count + 2)))
    return centre - half, centre + half


def _mover(estimate: Estimate, parts: tuple[Value, ...]) -> tuple[float, float]:
    """Interval of a mean of values, from their intervals (Zou and Donner, Statistics in Medicine 2008)."""
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
    return max(estimate.bounds.low, value - below), min(estimate.bounds.high, value + above)


def _woodruff(estimate: Estimate, median: Median) -> Interval:
    """Interval of a median: where the distribution crosses the limits of a half (Woodruff, JASA 1952)."""
    counts, point = estimate.exact, estimate.point()
    below = np.cumsum(counts) / counts.sum()
    places = np.array(median.scale) <= point
    of = influence(estimate, lambda columns: (columns * places).sum(axis=-1) / columns.sum(axis=-1))
    if of is None:
        return NONE
    limits = _korn_graubard(0.5, of, spread=float(below[places][-1]))
    low, high = (median.scale[min(int((below < limit - EQUAL).sum()), len(below) - 1)] for limit in limits)
    return low, high


def _steiger(estimate: Estimate, spread: Spread, value: float) -> Interval:
    """Of a deviation of m fixed values, from the non-central chi-square distribution of their squares' sum.

    The values differ by chance alone already, so that 0 is within where they differ by no more than that; inverted as
    for a root mean square effect (Steiger, Psychological Methods 2004), with Satterthwaite's degrees of freedom.
    """
    values = spread.each(estimate.exact)
    there = np.flatnonzero(~np.isnan(values)).tolist()

    def one(place: int) -> Value:
        return lambda columns: spread.each(columns)[..., place]

    moved = [of for place in there if (of := influence(estimate, one(place))) is not None]
    if len(moved) < max(2, len(there)):
        return NONE
    each = np.stack([of.each / math.sqrt(of.clusters * (of.clusters - 1)) for of in moved])
    apart = each - each.mean(axis=0)
    covariance, below = apart @ apart.T, len(there) - spread.ddof
    trace = float(np.trace(covariance))
    if trace <= EQUAL**2 * float((each**2).sum()):  # all clusters have the values alike
        width = estimate.bounds.high - estimate.bounds.low
        width = width if math.isfinite(width) else float(np.abs(values[there]).max()) or 1.0
        reach = (1 - (ALPHA / 2) ** (1 / min(of.clusters for of in moved))) * width
        return max(0.0, value - reach), value + reach
    freedom = trace**2 / float((covariance**2).sum())
    unit = trace / freedom
    size = value**2 * below / unit

    def limit(size: float, probability: float) -> float:
        """The deviation for which a sum of squares is at most that with this probability; 0 if none."""
        if chdtr(freedom, size) <= probability:
            return 0.0
        if size > 1e4:  # there the root is normal
            return (math.sqrt(size) - float(ndtri(probability))) * math.sqrt(unit / below)
        return math.sqrt(float(chndtrinc(size, freedom, probability)) * unit / below)

    high = limit(max(size, freedom), ALPHA / 2)  # less than chance gives says no more than what it gives
    return min(limit(size, 1 - ALPHA / 2), value), max(high, value)


def _fisher(rho: float, n: int) -> Interval:
    """Interval of Spearman's rho of n items: Fisher's z, standard error of Bonett and Wright, Psychometrika 2000.

    Of a perfect order from what it would be with two neighbours changed.
    """
    if n < 5:
        return NONE
    inner = min(abs(rho), 1 - 12 / (n * (n**2 - 1)))
    reach = float(ndtri(1 - ALPHA / 2)) * math.sqrt((1 + inner**2 / 2) / (n - 3))
    low, high = math.tanh(math.atanh(inner) - reach), math.tanh(math.atanh(inner) + reach)
    high = max(high, abs(rho))
    return (low, high) if rho >= 0 else (-high, -low)


def _limits(estimate: Estimate, value: float, of: Influence, alpha: float = ALPHA) -> tuple[float, float]:
    method, low, high = estimate.bounds
    if method == "hall":
        limits = _hall(value, of, alpha)
    elif method == "bonett-price":
        limits = _bonett_price(value, of, (high - low) / 2, alpha)
    else:
        width = high - low
        share = min(1.0, max(0.0, (value - low) / width))
        down, up = _korn_graubard(share, of, width)
        limits = min(low + width * down, value), max(low + width * up, value)
    return max(min(low, value), limits[0]), min(high, limits[1])  # tokens below 0 are a server's fault


def interval(estimate: Estimate) -> Interval:
    """The 95 % interval of an estimate, by the method of its kind.

    (None, None) where it is undefined, has none, or fewer than two clusters say anything of it.
    """
    value = estimate.point()
    if value is None or estimate.method == "none":
        return NONE
    if estimate.method == "fisher":
        return _fisher(value, estimate.n)
    if isinstance(estimate.value, Median):
        return _woodruff(estimate, estimate.value)
    if isinstance(estimate.value, Spread):
        return _steiger(estimate, estimate.value, value)
    of = influence(estimate)
    if of is None:
        return NONE
    if isinstance(estimate.value, MeanOf):
        return _mover(estimate, estimate.value.parts)
    return _limits(estimate, value, of)


def difference(a: Estimate, b: Estimate) -> Estimate:
    """The value of `a` less that of `b`, over the clusters of both."""
    width, (method, low, high) = a.sums.shape[1], a.bounds
    reach = max(high, b.bounds.high) - low
    kind = Kind(method) if method in ("hall", "none") else Kind("bonett-price", -reach, reach)
    names = np.union1d(a.cluster_names, b.cluster_names)
    summed = np.zeros((len(names), width + b.sums.shape[1]))
    summed[np.searchsorted(names, a.cluster_names), :width] = a.by_cluster
    summed[np.searchsorted(names, b.cluster_names), width:] = b.by_cluster
    estimate = Estimate(summed, Difference(a.value, b.value, width), names, kind=kind)
    vars(estimate)["exact"] = np.concatenate([a.exact, b.exact])  # rounded once, not cluster by cluster
    return estimate


def differs(a: Estimate, b: Estimate, alpha: float) -> int:
    """1 where the value of `a` is the greater one, -1 where the smaller, at this level; 0 where that cannot be told."""
    of = difference(a, b)
    value, moved = of.point(), influence(of)
    if value is None or moved is None:
        return 0
    low, high = _limits(of, value, moved, alpha)
    return (low > 0) - (high < 0)
