"""Rows of what a scorer says of the texts of compared.py: printed pairs, and the domains of image and caption."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punchline.bench.grade import measured
from punchline.bench.table import PublishedRow, Row, Verdicts
from punchline.benchmarks.hummus import DATASET, SCORERS
from punchline.benchmarks.hummus.compared import DOMAINS, Marked, compare, keys_of, marked_parts, of_pair
from punchline.benchmarks.hummus.dataset import loaded, of_items
from punchline.core.benchmark import Files
from punchline.core.stats import EXACT, Estimate, mean, percent


def pair_rows(files: Files, printed: Sequence[PublishedRow], said: Verdicts) -> list[tuple[str, Row]]:
    """The similarity of every printed pair. The stand-in's has a column of its own; it knows no case."""
    rows = []
    for pair in printed:
        columns: dict[str, Estimate | None] = {}
        who = ""
        for case, request in of_pair(pair).items():
            verdict = said.get(request.request_id)
            for column, value in measured(verdict, SCORERS, -1.001, 1.001).items():
                assert verdict is not None
                who = verdict.judge
                if not case or column == "cosine":
                    sums = np.array([[value, 1.0]])
                    columns[case or column] = Estimate(sums, mean, [pair["key"]], [verdict.response.digest], EXACT)
        if columns:
            rows.append((who, Row(keys_of(pair), columns, whole="cosine" in columns)))
    return rows


def domain_rows(files: Files, printed: Sequence[PublishedRow], said: Verdicts) -> list[tuple[str, Row]]:
    """Of the metaphorical pairs, the share in whose image or caption some marked part is nearest to that domain."""
    dataset, _ = loaded(files)
    measure = {column for verdict in said.values() for column in measured(verdict, SCORERS, -1.001, 1.001)}
    found: dict[str, dict[str, Estimate | None]] = {statistic: {} for statistic in DOMAINS if measure}
    for column in measure:
        hits: dict[str, dict[str, bool]] = {statistic: {} for statistic in DOMAINS}
        for item_id, statistics in marked_parts(files).items():
            for statistic, marked in statistics.items():
                near = [_nearest(item_id, part, marked, column, said) for part in marked.parts]
                if None not in near:
                    hits[statistic][item_id] = DOMAINS[statistic] in near
        for statistic, own in hits.items():
            shares = of_items(dataset, list(own), [[float(hit), 1.0] for hit in own.values()], percent)
            found[statistic][column.replace("cosine", "value")] = shares
    return [
        (DATASET, Row({"statistic": statistic}, columns, whole="value" in columns))
        for statistic, columns in found.items()
    ]


def _nearest(item_id: str, part: str, marked: Marked, column: str, said: Verdicts) -> str | None:
    """Which domain's term is nearest to a part; "" where both are; None where the scorer of the column is silent."""

    def most(terms: Sequence[str]) -> float:
        verdicts = (said.get(compare(item_id, part, term).request_id) for term in terms)
        return max((measured(one, SCORERS, -1.001, 1.001).get(column, np.nan) for one in verdicts), default=np.nan)

    target, source = most(marked.target), most(marked.source)
    if np.isnan(target) or np.isnan(source):
        return None
    return "" if target == source else "target" if target > source else "source"
