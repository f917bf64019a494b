"""YesBut's figure 3: descriptions and contradictions, rated by people (section 4.2).

The paper's ratings were not released: ours come from config/yesbut/ratings.csv.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from punchline.benchmarks.yesbut import ANNOTATIONS
from punchline.grouping import grouped
from punchline.tables.declare import Row, table
from punchline.tables.rating_tables import ratings_of, reliability_columns, rows, score_columns
from punchline.tables.ratings import RATINGS

SCALE = (1.0, 5.0)  # section 4.2: 1 (worst) to 5 (best)


@table("figure3", of="data", files=(ANNOTATIONS,), own=(RATINGS,))
def rated(files: Mapping[str, bytes]) -> Iterator[Row]:
    """Mean score and agreement of the raters, by task, aspect and source."""
    items = {str(comic["image_file"]) for comic in json.loads(files[ANNOTATIONS])}
    ratings = ratings_of(files, items, SCALE)
    by_aspect = grouped(ratings, lambda rating: (rating.about.get("task", ""), rating.about.get("aspect", "")))
    for (task, aspect), group in by_aspect.items():
        yield from rows(group, lambda of: reliability_columns(of) | score_columns(of, SCALE), task=task, aspect=aspect)
