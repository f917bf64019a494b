"""YesBut's figure 3: descriptions and contradictions, rated by people (section 4.2).

The paper's ratings were not released: ours come from config/yesbut/ratings.csv.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from punchline.benchmarks.yesbut import ANNOTATIONS
from punchline.stats.estimate import Estimate
from punchline.tables.chart import Chart
from punchline.tables.declare import Row, Table
from punchline.tables.rating_tables import NOTE, grouped, ratings_of, reliability_columns, rows, score_columns
from punchline.tables.ratings import RATINGS, Rating

SCALE = (1.0, 5.0)  # section 4.2: 1 (worst) to 5 (best)
COLUMNS = ("mean", "std", "k_alpha", "k_alpha_ordinal")


def figure3(files: Mapping[str, bytes]) -> Iterator[Row]:
    """Mean score and agreement of the raters, by task, aspect and source."""
    items = {str(comic["image_file"]) for comic in json.loads(files[ANNOTATIONS])}
    ratings = ratings_of(files, items, SCALE)
    by_aspect = grouped(ratings, lambda rating: f"{rating.about.get('task', '')}|{rating.about.get('aspect', '')}")
    for names, group in by_aspect.items():
        task, _, aspect = names.partition("|")
        yield from rows(group, _columns, {"task": task, "aspect": aspect})


def _columns(ratings: Sequence[Rating]) -> dict[str, Estimate | None]:
    found = {**reliability_columns(ratings), **score_columns(ratings, SCALE)}
    return {name: found.get(name) for name in COLUMNS}


FIGURE3 = Table(
    "figure3",
    "YesBut, figure 3: descriptions and contradictions, rated by people",
    keys=("task", "aspect"),
    columns=COLUMNS,
    data=figure3,
    chart=Chart(("mean",), by="aspect", within=("task",)),
    files=(ANNOTATIONS,),
    own=(RATINGS,),
    kind="human",
    notes=(
        NOTE,
        "mean, std: of the mean of an output's raters; std of a sample (n - 1). Columns task (description, "
        "contradiction) and aspect (correctness, completeness, faithfulness) of the file tell rows apart.",
        "Published rows: completeness of descriptions only. Which of a model's other numbers is of which "
        "aspect cannot be told from the picture's text (docs/yesbut.md).",
    ),
)
