"""Tables of similarities of the texts of compared.py: printed pairs, and the domains of image and caption."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punchline.benchmarks.hummus import DATASET, SCORERS, TEST_SET
from punchline.benchmarks.hummus.compared import CASED, DOMAINS, Marked, compare, keys_of, marked_parts, of_pair
from punchline.benchmarks.hummus.dataset import loaded, of_items, statistics_rows
from punchline.benchmarks.score import measured
from punchline.core.benchmark import Files
from punchline.stats.estimate import EXACT, Estimate, mean, percent
from punchline.tables.declare import PublishedRow, Row, Table, Verdicts


def pair_rows(files: Files, printed: Sequence[PublishedRow], said: Verdicts) -> list[Row]:
    """The similarity of every printed pair. The stand-in's has a column of its own; it knows no case."""
    rows = []
    for pair in printed:
        columns: dict[str, Estimate] = {}
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
            rows.append(Row(model=who, **keys_of(pair), **columns).set(complete="cosine" in columns))
    return rows


def domain_rows(files: Files, printed: Sequence[PublishedRow], said: Verdicts) -> list[Row]:
    """Of the metaphorical pairs, the share in whose image or caption some marked part is nearest to that domain."""
    dataset, _ = loaded(files)
    measure = {column for verdict in said.values() for column in measured(verdict, SCORERS, -1.001, 1.001)}
    found: dict[str, dict[str, Estimate]] = {statistic: {} for statistic in DOMAINS if measure}
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
        Row(model=DATASET, statistic=statistic, **columns).set(complete="value" in columns)
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


def _pairs(name: str, task: str) -> Table:
    return Table(
        name,
        f"Hummus: printed pairs of {task}, and their similarity",
        columns=("cosine", CASED, "cosine_minilm"),
        keys=("output", "reference"),
        compared=pair_rows,
        notes=(
            "The only printed check of the scorer: the paper's pairs compared again. cosine: by LaBSE, in lower case "
            "as everywhere here; cosine_cased: in the case in which they are printed; cosine_minilm: by the packaged "
            "MiniLM, another measure.",
        ),
    )


TABLES = (
    _pairs("table8", "naming"),
    _pairs("table9", "image_label"),
    Table(
        "statistics",
        "Hummus: what sections 4 and 5 count",
        columns=("value", "value_minilm"),
        keys=("statistic",),
        data=statistics_rows,
        compared=domain_rows,
        files=(DATASET, TEST_SET),
        notes=(
            "Shares are percentages of the metaphorical pairs of hummus_dataset.json. Agreement needs the second "
            "person's annotations, which are not released; FrameBERT is another system: published values only.",
            "image_in_target_domain, caption_in_source_domain: pairs with some label of a box, or some highlighted "
            "part, that is nearest to a term of that domain; by LaBSE, value_minilm by the packaged MiniLM.",
        ),
    ),
)
