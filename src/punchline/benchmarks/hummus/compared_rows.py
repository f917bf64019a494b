"""Tables of similarities of the texts of compared.py: printed pairs, and the domains of image and caption."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punchline.benchmarks.hummus import DATASET, SCORERS, TEST_SET
from punchline.benchmarks.hummus.compared import DOMAINS, Marked, compare, keys_of, marked_parts, of_pair
from punchline.benchmarks.hummus.dataset import labelled_pairs, of_pairs, statistics_rows
from punchline.benchmarks.score import measured
from punchline.core.benchmark import Files
from punchline.schema import Request
from punchline.stats.estimate import EXACT, Estimate, mean, percent
from punchline.tables.declare import PublishedRow, Row, Table, Verdicts


def _similarity(request: Request, verdicts: Verdicts) -> dict[str, float]:
    """{column of the scorer: similarity}; {} without a valid verdict."""
    return measured(verdicts.get(request.request_id), SCORERS, -1.001, 1.001)


def pair_rows(files: Files, printed: Sequence[PublishedRow], verdicts: Verdicts) -> list[Row]:
    """The similarity of every printed pair. The packaged scorer has its own column and ignores case."""
    rows = []
    for pair in printed:
        columns: dict[str, Estimate] = {}
        scorer = ""
        for case, request in of_pair(pair).items():
            for column, value in _similarity(request, verdicts).items():
                scorer, response = verdicts[request.request_id]
                if not case or column == "cosine":
                    sums = np.array([[value, 1.0]])
                    columns[case or column] = Estimate(sums, mean, [pair["key"]], [response.digest], EXACT)
        if columns:
            rows.append(Row(model=scorer, **keys_of(pair), **columns).set(complete="cosine" in columns))
    return rows


def domain_rows(files: Files, printed: Sequence[PublishedRow], verdicts: Verdicts) -> list[Row]:
    """Share of the metaphorical pairs with a marked part in image or caption that is nearest to that domain."""
    measures = sorted({name for one in verdicts.values() for name in measured(one, SCORERS, -1.001, 1.001)})
    pairs, marked = labelled_pairs(files), marked_parts(files)
    rows = []
    for statistic, domain in DOMAINS.items() if measures else ():
        columns = {}
        for name in measures:
            near = {item_id: _nearest(item_id, own[statistic], name, verdicts) for item_id, own in marked.items()}
            hits = {item_id: [domain in domains, 1] for item_id, domains in near.items() if None not in domains}
            columns[name.replace("cosine", "value")] = of_pairs(pairs.loc[list(hits)], list(hits.values()), percent)
        rows.append(Row(model=DATASET, statistic=statistic, **columns).set(complete="value" in columns))
    return rows


def _nearest(item_id: str, marked: Marked, column: str, verdicts: Verdicts) -> list[str | None]:
    """The nearest domain of each part; "" for a tie; None without a similarity."""

    def most(part: str, terms: Sequence[str]) -> float:
        found = [_similarity(compare(item_id, part, term), verdicts).get(column, np.nan) for term in terms]
        return max(found, default=np.nan)

    def nearest(part: str) -> str | None:
        target, source = (most(part, terms) for terms in marked.terms.values())
        if np.isnan(target) or np.isnan(source):
            return None
        return "" if target == source else "target" if target > source else "source"

    return [nearest(part) for part in marked.parts]


TABLES = (
    *(Table(name, compared=pair_rows) for name in ("table8", "table9")),
    Table("statistics", data=statistics_rows, compared=domain_rows, files=(DATASET, TEST_SET)),
)
