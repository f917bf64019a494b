"""PixelHumor's tables of people's ratings of answers to question 6: tables 5, 6, 7 and figure 3 (sections 5.3, 5.4).

The paper's ratings were not released: ours come from config/pixelhumor/ratings.csv, scores on the paper's scale of 1 to
7, or choices of the best explanation of a comic.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from punchline.benchmarks.pixelhumor import OBJECTIVE
from punchline.files import parse_csv
from punchline.schema import sha256
from punchline.stats.estimate import Estimate, mean, total
from punchline.tables.chart import Chart
from punchline.tables.declare import Row, Table
from punchline.tables.rating_tables import INTERVAL_NOTE, NOTE, ratings_of, reliability_columns, rows, score_columns
from punchline.tables.ratings import RATINGS, preferred, read_ratings

SCALE = (1.0, 7.0)  # section 5.3: a 7-point Likert scale
MORE = 9  # figure 3 speaks of more than 8 panels as one


def _panels(files: Mapping[str, bytes]) -> dict[str, int]:
    """{comic id: its panels}, from the released labels."""
    return {
        cells["comic_id"]: int(cells["number_of_panels"])
        for _, cells in parse_csv(files[OBJECTIVE], ("comic_id", "number_of_panels"), file=OBJECTIVE)
    }


def table5(files: Mapping[str, bytes]) -> list[Row]:
    """Mean, median and deviation of an explanation's score, the mean of its raters'."""
    return rows(ratings_of(files, _panels(files), SCALE), functools.partial(score_columns, scale=SCALE))


def table6(files: Mapping[str, bytes]) -> list[Row]:
    """Agreement of raters, and by how much they differ."""
    return rows(ratings_of(files, _panels(files), SCALE), reliability_columns, overall=True)


def table7(files: Mapping[str, bytes]) -> list[Row]:
    """How often each source's explanation was the one that most raters of a comic chose."""
    choices = read_ratings(files[RATINGS], RATINGS, items=_panels(files), scale=SCALE)[1] if RATINGS in files else []
    best = preferred(choices)
    settled = {item_id: source for item_id, source in best.items() if source is not None}
    named = dict.fromkeys(choice.source for choice in choices)
    made = []
    for source in [*named, *(["(no agreement)"] if len(settled) < len(best) else [])]:
        chosen = [float(settled.get(item_id, "(no agreement)") == source) for item_id in best]
        sums = np.array([[value] for value in chosen])
        of = tuple(sha256(repr(tuple(choice)).encode()) for choice in choices if choice.source == source)
        made.append(Row(model=source, times_selected=Estimate(sums, total, tuple(best), of)).set(complete=False))
    return made


def figure3(files: Mapping[str, bytes]) -> list[Row]:
    """Mean score by number of panels, and the share of the rated comics that have so many."""
    panels = _panels(files)
    ratings = ratings_of(files, panels, SCALE)
    made = []
    for source in dict.fromkeys(rating.source for rating in ratings):
        own = [rating for rating in ratings if rating.source == source]
        comics = list(dict.fromkeys(rating.item_id for rating in own))
        for n in sorted({min(panels[comic], MORE) for comic in comics}):
            group = [rating for rating in own if min(panels[rating.item_id], MORE) == n]
            has = np.array([[float(min(panels[comic], MORE) == n), 1.0] for comic in comics])
            share, relevance = Estimate(has, mean, tuple(comics)), score_columns(group, SCALE)["mean"]
            panels_shown = f"over_{MORE - 1}" if n == MORE else n
            made.append(Row(model=source, panels=panels_shown, mean=relevance, share=share).set(complete=False))
    return made


def _table(name: str, title: str, columns: tuple[str, ...], data: object, *notes: str, **more: object) -> Table:
    return Table(
        name,
        title,
        columns=columns,
        data=data,  # type: ignore[arg-type]
        files=(OBJECTIVE,),
        own=(RATINGS,),
        kind="human",
        notes=(NOTE, INTERVAL_NOTE, *notes),
        **more,  # type: ignore[arg-type]
    )


TABLES = (
    _table(
        "table5",
        "Relevance of explanations, rated by people",
        ("mean", "median", "std"),
        table5,
        "An explanation's score is the mean of its raters'; std is that of a sample (n - 1).",
    ),
    _table(
        "table6",
        "Agreement of raters, and their absolute differences",
        ("k_alpha", "k_alpha_ordinal", "exact_match", "mean", "median", "std"),
        table6,
        "k_alpha: Krippendorff's alpha of scores as intervals; the paper does not name its level.",
        "Every pair of raters counts.",
        n_from="k_alpha",
    ),
    _table(
        "table7",
        "The best explanation of a comic, chosen by people",
        ("times_selected",),
        table7,
        "A comic's best explanation is the one with the most votes; comics where several have are (no agreement).",
        counts=("times_selected",),
    ),
    _table(
        "figure3",
        "Relevance of explanations by number of panels",
        ("mean", "share"),
        figure3,
        "share: of the comics that were rated. All that the paper prints: 1.7 % of them have more than 8 panels.",
        keys=("panels",),
        chart=Chart(("mean", "share"), by="panels"),
    ),
)
