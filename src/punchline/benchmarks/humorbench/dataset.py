"""HumorBench's data in numbers (section 3), and the elements that its table 5 shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from punchline.bench.data import csv_rows
from punchline.bench.table import Across, NamedRow, Row
from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.benchmarks.humorbench.data import Element
from punchline.benchmarks.humorbench.estimates import EXPLAIN, judged
from punchline.benchmarks.humorbench.labels import RUBRIC, read_labelled
from punchline.benchmarks.humorbench.texts import normal
from punchline.core.records import digest_of
from punchline.core.stats import EXACT, Estimate, mean, total

EXAMPLES = {  # table 5: `idx` of the element that it prints of a cartoon; none of those that occur twice
    "CC123065": "490",
    "NYCC #40": "50",
    "NYCC #15": "17",
    "NYCC #669": "218",
    "NYCC #665": "213",
    "NYCC #687": "244",
    "NYCC #686": "462",
    "NYCC #61": "80",
}


def dataset_rows(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
    """What the released files count: elements, captions, explanations that people labelled."""
    captions = [normal(row.caption) for _, row in csv_rows(files, ANNOTATIONS, Element)]
    rubric = RUBRIC.split("/")[-1]
    counted: dict[str, Sequence[object]] = {
        "elements": [*enumerate(captions)],
        "pairs": [*dict.fromkeys(captions)],
    }
    if rubric in files:
        counted["judged_explanations"] = read_labelled(files[rubric], rubric, files[ANNOTATIONS])
    columns = {
        name: Estimate(np.ones((len(of), 1)), total, np.arange(len(of)), list(map(digest_of, of)), EXACT)
        for name, of in counted.items()
    }
    return [("released annotations", Row({}, columns))]


def example_rows(across: Across) -> list[NamedRow]:
    """The share of the selected models that pass each element of table 5."""
    place_of = {str(item.fields["idx"]): place for place, item in enumerate(across.scope.items.values())}
    rows = []
    for cartoon, idx in EXAMPLES.items():
        verdicts = [own.take(own.item == place_of.get(idx, -1)) for own in (judged(m.frame) for m in across.models)]
        passed = np.concatenate([own.value("passed") for own in verdicts])
        if not len(passed):
            continue
        digests = np.concatenate([own.digest for own in verdicts])
        sums = np.stack([passed, np.ones(len(passed))], axis=1)
        rate = Estimate(sums, mean, np.arange(len(passed)), digests, EXACT)
        rows.append(NamedRow("elements", Row({"cartoon": cartoon}, {"pass_rate": rate}, tasks=(EXPLAIN,))))
    if not rows:
        across.notes.append("No verdict on any of the paper's examples.")
    return rows
