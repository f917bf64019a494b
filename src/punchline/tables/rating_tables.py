"""Tables of people's ratings, whichever benchmark's answers were rated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from punchline.grouping import grouped
from punchline.schema import sha256
from punchline.stats.estimate import COEFFICIENT, POSITIVE, SHARE, Estimate, Kind, Median, Value
from punchline.stats.functions import average
from punchline.stats.ratings import Level, alpha_of, coincidences, counts, deviation_of
from punchline.tables.declare import Row
from punchline.tables.ratings import RATINGS, Rating, read_ratings

Columns = dict[str, Estimate]
ColumnsOf = Callable[[Sequence[Rating]], Mapping[str, Estimate]]


def ratings_of(files: Mapping[str, bytes], items: Collection[str], scale: tuple[float, float]) -> list[Rating]:
    """The scores of the user's ratings file; none where there is no file."""
    return read_ratings(files[RATINGS], RATINGS, items=items, scale=scale)[0] if RATINGS in files else []


def digest(rating: Rating) -> str:
    """Digest of a rating, as in a cell's lineage."""
    return sha256(repr((*rating[:4], sorted(rating.about.items()))).encode())


def _units(ratings: Iterable[Rating]) -> dict[tuple[str, str], list[Rating]]:
    """Ratings of the same answer by several raters."""
    return grouped(ratings, lambda rating: (rating.item_id, rating.source))


def score_columns(ratings: Sequence[Rating], scale: tuple[float, float]) -> Columns:
    """mean, median and std over items of an item's score, the mean of its raters', from `scale`."""
    units = _units(ratings)
    scores = [float(np.mean([rating.score for rating in unit])) for unit in units.values()]
    return _moments(scores, Kind("korn-graubard", *scale), [item_id for item_id, _ in units], [*map(digest, ratings)])


def _moments(values: Sequence[float], of_mean: Kind, items: Sequence[str], digests: Sequence[str]) -> Columns:
    """mean, median and std of values."""
    scale = sorted(set(values))
    sums, mean = counts(values, scale), average(values, items, of_mean, digests=digests)
    spread: dict[str, Value] = {"median": Median(tuple(scale)), "std": deviation_of(scale)}
    return {"mean": mean} | {name: Estimate(sums, value, items, digests, POSITIVE) for name, value in spread.items()}


def reliability_columns(ratings: Sequence[Rating]) -> Columns:
    """k_alpha (interval), k_alpha_ordinal; exact_match, and mean, median, std of the absolute difference of two raters.

    Every pair of raters of the same thing counts once. None where nothing has two ratings.
    """
    units = {key: unit for key, unit in _units(ratings).items() if len(unit) > 1}
    if not units:
        return {}
    of = [rating for unit in units.values() for rating in unit]
    pairs = [(item, abs(a.score - b.score)) for (item, _), unit in units.items() for a, b in combinations(unit, 2)]
    (items, gaps), digests = zip(*pairs, strict=True), [*map(digest, of)]
    values, rated = sorted({rating.score for rating in of}), [item_id for item_id, _ in units]
    matrices = coincidences([[rating.score for rating in unit] for unit in units.values()], values)
    levels: dict[str, Level] = {"k_alpha": "interval", "k_alpha_ordinal": "ordinal"}
    columns = {k: Estimate(matrices, alpha_of(values, v), rated, digests, COEFFICIENT) for k, v in levels.items()}
    columns["exact_match"] = average([gap == 0 for gap in gaps], items, SHARE, digests=digests)
    return columns | _moments(gaps, POSITIVE, items, digests)


def rows(ratings: Sequence[Rating], columns: ColumnsOf, *, overall: bool = False, **keys: str) -> list[Row]:
    """One row a source, with the key columns `keys`, and, with `overall`, one of all sources."""
    groups = grouped(ratings, lambda rating: rating.source)
    if overall and groups:
        groups["Overall"] = list(ratings)
    return [Row(model=source, **keys, **columns(group)).set(complete=False) for source, group in groups.items()]
