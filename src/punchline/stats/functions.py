"""Statistics of score rows: each takes a frame of scores and a column's name, and returns an Estimate.

A frame has the columns of punchline.scores.scores_frame. NaN in a metric means: not counted. Pass unfiltered rows: an
estimate remembers which rows it was given, and a table counts missing answers and other states over those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from punchline.errors import check_known
from punchline.stats.estimate import (
    COUNT,
    DIFFERENCE,
    EXACT,
    POSITIVE,
    SHARE,
    Array,
    Difference,
    Estimate,
    Kind,
    Rows,
    Spread,
    Sums,
    Value,
    ratio,
)
from punchline.stats.estimate import mean as mean_of_sums
from punchline.stats.estimate import total as total_of_sums

Flags = npt.NDArray[np.bool_]


def metric(part: pd.DataFrame, column: str) -> Array:
    """Values of a metric, NaN where a score does not have it: [rows].

    Raises PunchlineError for a metric that there is not, TypeError for a column of bool, in which a comparison has made
    False of NaN.
    """
    check_known(column, part.columns, f"no metric {column!r} in a table's function")
    values = part[column]
    if values.dtype == bool:
        raise TypeError(f"{column} is bool, in which NaN has become False: use Series.where to keep NaN")
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def statistic(part: pd.DataFrame, sums: Sums, value: Value, kind: Kind = SHARE, *, where: Flags) -> Estimate:
    """A function of sums over rows. `sums`: statistics per row, [rows, k]; `where`: the rows that count."""
    rows, clusters = part["row"].to_numpy(), part["cluster"].cat.codes.to_numpy()
    return Estimate(sums[where], value, clusters[where], kind=kind, used=rows[where], given=rows)


def attempted(part: pd.DataFrame) -> bool:
    """True if any answer is there: what has only missing ones was not attempted."""
    return bool((part["state"] != "missing").any())


def empty(part: pd.DataFrame) -> Estimate:
    """An estimate of no rows, which a table shows as an empty cell."""
    return statistic(part, np.zeros((len(part), 1)), total_of_sums, where=np.zeros(len(part), dtype=np.bool_))


def mean(
    part: pd.DataFrame, column: str, kind: Kind = SHARE, *, where: Flags | None = None, over: str | None = None
) -> Estimate:
    """Mean of a metric over rows (n: rows); `where`: the rows that may count.

    `over`: unweighted mean of the means of each value of that column (n: items with any).
    """
    values = metric(part, column)
    used = ~np.isnan(values) & (True if where is None else where)
    sums = np.stack([values, np.ones(len(part))], axis=1)
    if over is not None:
        return blocks(part, sums, used, over, _mean_of_means, kind)
    return statistic(part, sums, mean_of_sums, kind, where=used)


def mean_of_clusters(part: pd.DataFrame, column: str, fold: str = "mean") -> Estimate:
    """Mean over clusters of a metric's mean in each, or with fold="min" of its least value (n: clusters)."""
    used = part[part[column].notna()]
    folded = used.groupby(used["cluster"].cat.codes)[column].agg(fold)
    return replace(average(folded, folded.index, SHARE), used=used["row"].to_numpy(), given=part["row"].to_numpy())


def sd(part: pd.DataFrame, column: str, kind: Kind = POSITIVE, *, over: str | None = None) -> Estimate:
    """Population SD of a metric over rows; `over`: sample SD of the means of each value of that column.

    Of fewer than two values there is no SD: an estimate of no rows.
    """
    values = metric(part, column)
    used = ~np.isnan(values)
    if over is None:
        sums = np.stack([values, np.ones(len(part)), values**2], axis=1)
        return statistic(part, sums, deviation, kind, where=used)
    if part.loc[used, over].nunique() < 2:
        return empty(part)
    return blocks(part, np.stack([values, np.ones(len(part))], axis=1), used, over, Spread(_means), kind)


def total(part: pd.DataFrame, column: str, kind: Kind = COUNT) -> Estimate:
    """Sum of a metric; a count of 0 or 1 by default."""
    values = metric(part, column)
    return statistic(part, values[:, None], total_of_sums, kind, where=~np.isnan(values))


def average(
    values: npt.ArrayLike, clusters: npt.ArrayLike, kind: Kind | None = None, *, digests: Sequence[str] = ()
) -> Estimate:
    """Mean of values that are not scores: of released files, of ratings."""
    column = np.asarray(values, dtype=np.float64)
    sums = np.stack([column, np.ones_like(column)], axis=1)
    return Estimate(sums, mean_of_sums, np.asarray(clusters), digests, kind)


def count(
    values: npt.ArrayLike, clusters: npt.ArrayLike, kind: Kind | None = None, *, digests: Sequence[str] = ()
) -> Estimate:
    """Number of items for which a flag that is not a score is true, or the sum of such numbers."""
    return Estimate(np.asarray(values)[:, None], total_of_sums, np.asarray(clusters), digests, kind)


def items_of(part: pd.DataFrame, where: Flags) -> Estimate:
    """Number of items, each sample by itself, with a row that counts; it has no interval."""
    place, first = np.unique(units(part)[where], return_index=True)
    rows, clusters = part["row"].to_numpy(), part["cluster"].cat.codes.to_numpy()
    ones = np.ones((len(place), 1))
    return Estimate(ones, total_of_sums, clusters[where][first], kind=EXACT, used=rows[where], given=rows)


def units(part: pd.DataFrame) -> Rows:
    """The item and sample of each row as one number: [rows]."""
    samples = int(part["sample"].max()) + 1 if len(part) else 1
    return np.asarray(part["item_id"].cat.codes.to_numpy().astype(np.int64) * samples + part["sample"].to_numpy())


def blocks(part: pd.DataFrame, sums: Sums, where: Flags, over: str, value: Value, kind: Kind = SHARE) -> Estimate:
    """A function of sums per item and value of the column `over`: [units, blocks * k], blocks in the order of values.

    n is the number of items, each sample by itself, with a row that counts.
    """
    # Whatever order the rows have, sums are the same.
    names, block = np.unique(part.loc[where, over].to_numpy(object), return_inverse=True)
    place, first, unit = np.unique(units(part)[where], return_index=True, return_inverse=True)
    folded = np.zeros((len(place), len(names), sums.shape[1]))
    np.add.at(folded, (unit, block), sums[where])
    rows, clusters = part["row"].to_numpy(), part["cluster"].cat.codes.to_numpy()
    flat = folded.reshape(len(place), len(names) * sums.shape[1])
    return Estimate(flat, value, clusters[where][first], kind=kind, used=rows[where], given=rows)


def paired(a: pd.DataFrame, b: pd.DataFrame, column: str) -> tuple[Estimate, Estimate, Estimate]:
    """(mean of `a`, mean of `b`, mean of `a` less `b`) of a metric over the items and samples that have it in both.

    The frames are of two models. States are counted over the rows of `a`.
    """
    wanted = ["item_id", "sample", "cluster", "row", column]
    left, right = (part.loc[part[column].notna(), wanted] for part in (a, b))
    both = left.merge(right.drop(columns="cluster"), on=["item_id", "sample"], suffixes=("", "_b"))
    ones, clusters = np.ones(len(both)), both["cluster"].cat.codes.to_numpy()
    first, second = (np.stack([both[name].to_numpy(np.float64), ones], axis=1) for name in (column, f"{column}_b"))
    rows, of = [both["row"].to_numpy(), both["row_b"].to_numpy()], partial(Estimate, given=a["row"].to_numpy())
    less, sums = Difference(mean_of_sums, mean_of_sums, 2), np.concatenate([first, second], axis=1)
    ours, theirs = of(first, mean_of_sums, clusters, used=rows[0]), of(second, mean_of_sums, clusters, used=rows[1])
    return ours, theirs, of(sums, less, clusters, kind=DIFFERENCE, used=np.concatenate(rows))


def _means(sums: Array) -> Array:
    """Means of blocks of two statistics (sum, count): [..., blocks]; NaN without a count."""
    return ratio(sums[..., 0::2], sums[..., 1::2])


def _mean_of_means(sums: Array) -> Array:
    means = _means(sums)
    return ratio(np.nansum(means, axis=-1), (~np.isnan(means)).sum(axis=-1))


def deviation(sums: Array) -> Array:
    """Population SD from sums (x, 1, x squared)."""
    variance = ratio(sums[..., 2], sums[..., 1]) - ratio(sums[..., 0], sums[..., 1]) ** 2
    return np.sqrt(np.maximum(variance, 0))
