"""Tables of people's ratings, whichever benchmark's answers were rated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from punchline.grouping import grouped
from punchline.schema import sha256
from punchline.stats.estimate import COEFFICIENT, POSITIVE, SHARE, Array, Estimate, Kind, Median, Value, mean
from punchline.stats.ratings import alpha_of, coincidences, counts, deviation_of, mean_of
from punchline.tables.declare import Row
from punchline.tables.ratings import RATINGS, Rating, read_ratings

OVERALL = "Overall"
Columns = dict[str, Estimate | None]


def ratings_of(
    files: Mapping[str, bytes], items: Collection[str] | None, scale: tuple[float, float] | None
) -> list[Rating]:
    """The scores of the user's ratings file; none where there is no file."""
    return read_ratings(files[RATINGS], RATINGS, items=items, scale=scale)[0] if RATINGS in files else []


def digest(rating: Rating) -> str:
    """Digest of a rating, as in a cell's lineage."""
    return sha256(repr((*rating[:4], sorted(rating.about.items()))).encode())


def _units(ratings: Iterable[Rating]) -> dict[tuple[str, str], list[Rating]]:
    """Ratings of the same answer by several raters."""
    return grouped(ratings, lambda rating: (rating.item_id, rating.source))


def _estimate(sums: Array, value: Value, kind: Kind, items: Sequence[str], of: Iterable[Rating]) -> Estimate:
    return Estimate(sums, value, tuple(items), tuple(digest(rating) for rating in of), kind)


def score_columns(ratings: Sequence[Rating], scale: tuple[float, float]) -> Columns:
    """mean, median and std over items of an item's score, the mean of its raters', from `scale`."""
    units = _units(ratings)
    scores = [float(np.mean([rating.score for rating in unit])) for unit in units.values()]
    items, bounded = [item_id for item_id, _ in units], Kind("korn-graubard", *scale)
    return _moments(scores, bounded, items, ratings)


def _moments(values: Sequence[float], of_mean: Kind, items: Sequence[str], of: Iterable[Rating]) -> Columns:
    """mean, median and std of values."""
    scale = sorted(set(values))
    kinds: dict[str, tuple[Value, Kind]] = {"mean": (mean_of(scale), of_mean)}
    kinds |= {"median": (Median(tuple(scale)), POSITIVE), "std": (deviation_of(scale), POSITIVE)}
    return {name: _estimate(counts(values, scale), *kind, items, of) for name, kind in kinds.items()}


def reliability_columns(ratings: Sequence[Rating]) -> Columns:
    """k_alpha (interval), k_alpha_ordinal; exact_match, and mean, median, std of the absolute difference of two raters.

    Every pair of raters of the same thing counts once. None where nothing has two ratings.
    """
    units = {key: unit for key, unit in _units(ratings).items() if len(unit) > 1}
    if not units:
        return {}
    of = [rating for unit in units.values() for rating in unit]
    pairs = [
        (item_id, abs(a.score - b.score))
        for (item_id, _), unit in units.items()
        for a, b in itertools.combinations(unit, 2)
    ]
    items, gaps = [item_id for item_id, _ in pairs], [gap for _, gap in pairs]
    values = sorted({rating.score for rating in of})
    matrices = coincidences([[rating.score for rating in unit] for unit in units.values()], values)
    rated = [item_id for item_id, _ in units]
    return {
        "k_alpha": _estimate(matrices, alpha_of(values, "interval"), COEFFICIENT, rated, of),
        "k_alpha_ordinal": _estimate(matrices, alpha_of(values, "ordinal"), COEFFICIENT, rated, of),
        "exact_match": _estimate(np.array([[float(gap == 0), 1.0] for gap in gaps]), mean, SHARE, items, of),
        **_moments(gaps, POSITIVE, items, of),
    }


def rows(
    ratings: Sequence[Rating],
    columns: Callable[[Sequence[Rating]], Mapping[str, Estimate | None]],
    keys: Mapping[str, str | int] | None = None,
    *,
    overall: bool = False,
) -> list[Row]:
    """One row a source and, with `overall`, one of all sources."""
    groups = grouped(ratings, lambda rating: rating.source)
    if overall and groups:
        groups[OVERALL] = list(ratings)
    return [Row(model=source, **keys or {}, **columns(group)).set(complete=False) for source, group in groups.items()]
