"""Tables of similarities of the texts of compared.py: printed pairs, and the domains of image and caption."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from punchline.benchmarks.hummus import DATASET, SCORERS, TEST_SET
from punchline.benchmarks.hummus.compared import CASED, DOMAINS, Marked, compare, keys_of, marked_parts, of_pair
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
