"""PixelHumor's tables of people's ratings of answers to question 6: tables 5, 6, 7 and figure 3 (sections 5.3, 5.4).

The paper's ratings were not released: ours come from config/pixelhumor/ratings.csv, scores on the paper's scale of 1 to
7, or choices of the best explanation of a comic.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from punchline.benchmarks.pixelhumor import OBJECTIVE
from punchline.benchmarks.pixelhumor.data import Objective, by_comic
from punchline.core.benchmark import Files
from punchline.schema import sha256
from punchline.stats.estimate import Estimate, mean, total
from punchline.tables.chart import Chart
from punchline.tables.declare import Row, Table
from punchline.tables.rating_tables import (
    INTERVAL_NOTE,
    NOTE,
    grouped,
    ratings_of,
    reliability_columns,
    rows,
    score_columns,
)
from punchline.tables.ratings import RATINGS, Rating, preferred, read_ratings

SCALE = (1.0, 7.0)  # section 5.3: a 7-point Likert scale
MORE = 9  # figure 3 speaks of more than 8 panels as one
NO_AGREEMENT = "(no agreement)"


def _panels(files: Files) -> dict[str, int]:
    return {comic_id: row.number_of_panels for comic_id, row in by_comic(files, OBJECTIVE, Objective).items()}


def _ratings(files: Files) -> list[Rating]:
    return ratings_of(files, _panels(files), SCALE)


def _relevance(files: Files) -> list[Row]:
    """Mean, median and deviation of an explanation's score, the mean of its raters'."""
    return rows(_ratings(files), functools.partial(score_columns, scale=SCALE))


def _reliability(files: Files) -> list[Row]:
    """Agreement of raters, and by how much they differ."""
    return rows(_ratings(files), reliability_columns, overall=True)


def _preference(files: Files) -> Iterator[Row]:
    """How often each source's explanation was the one that most raters of a comic chose."""
    choices = read_ratings(files[RATINGS], RATINGS, items=_panels(files), scale=SCALE)[1] if RATINGS in files else []
    best = {item_id: source or NO_AGREEMENT for item_id, source in preferred(choices).items()}
    sources = dict.fromkeys(choice.source for choice in choices) | dict.fromkeys({NO_AGREEMENT} & {*best.values()})
    for source in sources:
        chosen = np.array([[float(one == source)] for one in best.values()])
        of = tuple(sha256(repr(tuple(choice)).encode()) for choice in choices if choice.source == source)
        yield Row(model=source, times_selected=Estimate(chosen, total, tuple(best), of)).set(complete=False)


def _by_panels(files: Files) -> Iterator[Row]:
    """Mean score by number of panels, and the share of the rated comics that have so many."""
    panels = _panels(files)
    for source, own in grouped(_ratings(files), lambda rating: rating.source).items():
        sizes = {rating.item_id: min(panels[rating.item_id], MORE) for rating in own}
        for n in sorted({*sizes.values()}):
            relevance = score_columns([rating for rating in own if sizes[rating.item_id] == n], SCALE)["mean"]
            share = Estimate(np.array([[float(size == n), 1.0] for size in sizes.values()]), mean, tuple(sizes))
            label = f"over_{MORE - 1}" if n == MORE else n
            yield Row(model=source, panels=label, mean=relevance, share=share).set(complete=False)


def _table(name: str, title: str, *notes: str, **options: Any) -> Table:
    every = {"files": (OBJECTIVE,), "own": (RATINGS,), "kind": "human", "notes": (NOTE, INTERVAL_NOTE, *notes)}
    return Table(name, title, **every | options)


TABLES = (
    _table(
        "table5",
        "Relevance of explanations, rated by people",
        "An explanation's score is the mean of its raters'; std is that of a sample (n - 1).",
        data=_relevance,
        columns=("mean", "median", "std"),
    ),
    _table(
        "table6",
        "Agreement of raters, and their absolute differences",
        "k_alpha: Krippendorff's alpha of scores as intervals; the paper does not name its level.",
        "Every pair of raters counts.",
        data=_reliability,
        columns=("k_alpha", "k_alpha_ordinal", "exact_match", "mean", "median", "std"),
        n_from="k_alpha",
    ),
    _table(
        "table7",
        "The best explanation of a comic, chosen by people",
        "A comic's best explanation is the one with the most votes; comics where several have are (no agreement).",
        data=_preference,
        columns=("times_selected",),
        counts=("times_selected",),
    ),
    _table(
        "figure3",
        "Relevance of explanations by number of panels",
        "share: of the comics that were rated. All that the paper prints: 1.7 % of them have more than 8 panels.",
        data=_by_panels,
        columns=("mean", "share"),
        keys=("panels",),
        chart=Chart(("mean", "share"), by="panels"),
    ),
)
