"""Tables of similarities of the texts of compared.py: printed pairs, and the domains of image and caption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from punchline.benchmarks.hummus import DATASET, SCORERS, TEST_SET
from punchline.benchmarks.hummus.compared import DOMAINS, compare, keys_of, marked_parts, of_pair
from punchline.benchmarks.hummus.dataset import metaphorical_pairs, statistics_rows
from punchline.benchmarks.score import measured
from punchline.core.benchmark import Files
from punchline.schema import Request
from punchline.stats.estimate import EXACT, PERCENT, Estimate
from punchline.stats.functions import average
from punchline.tables.declare import PublishedRow, Row, Table, Verdicts


def _similarity(request: Request, verdicts: Verdicts) -> dict[str, float]:
    """{column of the scorer: similarity}; {} without a valid verdict."""
    return measured(verdicts.get(request.request_id), SCORERS, -1.001, 1.001)


def pair_rows(files: Files, printed: Sequence[PublishedRow], verdicts: Verdicts) -> Iterator[Row]:
    """The similarity of every printed pair. The packaged scorer has its own column and ignores case."""
    for pair in printed:
        columns: dict[str, Estimate] = {}
        scorer = ""
        for case, request in of_pair(pair).items():
            for column, value in _similarity(request, verdicts).items():
                scorer, response = verdicts[request.request_id]
                if not case or column == "cosine":
                    columns[case or column] = average([value], [pair["key"]], EXACT, digests=[response.digest])
        if columns:
            yield Row(model=scorer, **keys_of(pair), **columns).set(complete="cosine" in columns)


def domain_rows(files: Files, printed: Sequence[PublishedRow], verdicts: Verdicts) -> Iterator[Row]:
    """Share of the metaphorical pairs with a marked part in image or caption that is nearest to that domain.

    A pair leaves the share where a scorer did not compare one of its parts with either domain.
    """
    measures = sorted({name for one in verdicts.values() for name in measured(one, SCORERS, -1.001, 1.001)})
    pairs, marked = metaphorical_pairs(files), marked_parts(files)
    texts = zip(marked["item_id"], marked["part"], marked["term"], strict=True)
    found = pd.DataFrame([_similarity(compare(*one), verdicts) for one in texts], columns=measures)
    for statistic, (domain, other) in DOMAINS.items() if measures else ():
        columns = {}
        for name in measures:
            own = marked.assign(value=found[name])[marked["statistic"] == statistic]
            best = own.groupby(["item_id", "part", "domain"])["value"].max().unstack("domain")
            best = best.reindex(columns=[domain, other])
            is_near = (best[domain] > best[other]).astype(float).where(best.notna().all(axis=1))
            near = is_near.groupby("item_id").agg(lambda parts: parts.max(skipna=False))
            share = near.reindex(pairs.index, fill_value=0.0).dropna()
            of = pairs.loc[share.index]
            columns[name.replace("cosine", "value")] = average(
                100 * share, of["contest"], PERCENT, digests=list(of["digest"])
            )
        yield Row(model=DATASET, statistic=statistic, **columns).set(complete="value" in columns)


TABLES = (
    *(Table(name, compared=pair_rows) for name in ("table8", "table9")),
    Table("statistics", data=statistics_rows, compared=domain_rows, files=(DATASET, TEST_SET)),
)
