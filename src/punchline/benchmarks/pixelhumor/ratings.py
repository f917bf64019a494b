"""PixelHumor's tables of people's ratings of answers to question 6: tables 5, 6, 7 and figure 3 (sections 5.3, 5.4).

The paper's ratings were not released: ours come from config/pixelhumor/ratings.csv, scores on the paper's scale of 1 to
7, or choices of the best explanation of a comic.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pandas as pd

from punchline.benchmarks.comic_panels import by_comic
from punchline.benchmarks.pixelhumor import OBJECTIVE
from punchline.benchmarks.pixelhumor.data import Objective
from punchline.core.benchmark import Files
from punchline.grouping import grouped
from punchline.schema import sha256
from punchline.stats.functions import average, count
from punchline.tables.declare import Row, table
from punchline.tables.rating_tables import ratings_of, reliability_columns, rows, score_columns
from punchline.tables.ratings import RATINGS, Rating, preferred, read_ratings

SCALE = (1.0, 7.0)  # section 5.3: a 7-point Likert scale
MORE = 9  # figure 3 speaks of more than 8 panels as one
NO_AGREEMENT = "(no agreement)"
_RATED: dict[str, Any] = {"of": "data", "files": (OBJECTIVE,), "own": (RATINGS,)}


def _panels(files: Files) -> dict[str, int]:
    return {comic_id: row.number_of_panels for comic_id, row in by_comic(files, OBJECTIVE, Objective).items()}


def _ratings(files: Files) -> list[Rating]:
    return ratings_of(files, _panels(files), SCALE)


@table("table5", **_RATED)
def relevance(files: Files) -> list[Row]:
    """Mean, median and deviation of an explanation's score, the mean of its raters'."""
    return rows(_ratings(files), functools.partial(score_columns, scale=SCALE))


@table("table6", **_RATED)
def reliability(files: Files) -> list[Row]:
    """Agreement of raters, and by how much they differ."""
    return rows(_ratings(files), reliability_columns, overall=True)


@table("table7", **_RATED)
def preference(files: Files) -> Iterator[Row]:
    """Number of comics for which most raters chose each source's explanation."""
    choices = read_ratings(files[RATINGS], RATINGS, items=_panels(files), scale=SCALE)[1] if RATINGS in files else []
    best = pd.Series(preferred(choices), dtype=object).fillna(NO_AGREEMENT)
    for source in dict.fromkeys([*(choice.source for choice in choices), *best[best == NO_AGREEMENT]]):
        of = [sha256(repr(tuple(choice)).encode()) for choice in choices if choice.source == source]
        yield Row(model=source, times_selected=count(best == source, best.index, digests=of)).set(complete=False)


@table("figure3", **_RATED)
def by_panels(files: Files) -> Iterator[Row]:
    """Mean score by number of panels, and the share of the rated comics that have so many."""
    panels = _panels(files)
    for source, ratings in grouped(_ratings(files), lambda rating: rating.source).items():
        sizes = pd.Series({rating.item_id: min(panels[rating.item_id], MORE) for rating in ratings})
        for n in sorted(set(sizes)):
            mean = score_columns([rating for rating in ratings if sizes[rating.item_id] == n], SCALE)["mean"]
            label = f"over_{MORE - 1}" if n == MORE else int(n)
            share = average(sizes == n, sizes.index)
            yield Row(model=source, panels=label, mean=mean, share=share).set(complete=False)


TABLES = (relevance, reliability, preference, by_panels)
