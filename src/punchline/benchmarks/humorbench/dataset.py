"""HumorBench's data in numbers (section 3), and the elements that its table 5 shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from punchline.benchmarks.annotations import csv_rows
from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.benchmarks.humorbench.data import Element, normal
from punchline.benchmarks.humorbench.estimates import across_models, verdicts
from punchline.benchmarks.humorbench.labels import RUBRIC, read_labelled
from punchline.schema import digest_of
from punchline.stats.estimate import EXACT
from punchline.stats.functions import average, count
from punchline.tables.declare import Across, Row, table

# Table 5: `idx` of the element that it prints of a cartoon; none of those that occur twice.
EXAMPLES = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, str])


@table("dataset", of="data", files=(ANNOTATIONS, RUBRIC))
def counts(files: Mapping[str, bytes]) -> Iterator[Row]:
    """Numbers of elements, captions and labelled explanations in the released files."""
    captions = [normal(row.caption) for _, row in csv_rows(files, ANNOTATIONS, Element)]
    rubric = RUBRIC.split("/")[-1]
    counted: dict[str, Sequence[object]] = {"elements": [*enumerate(captions)], "pairs": [*dict.fromkeys(captions)]}
    if rubric in files:
        counted["judged_explanations"] = read_labelled(files[rubric], rubric, files[ANNOTATIONS])
    numbers = {
        name: count(np.ones(len(records)), np.arange(len(records)), EXACT, digests=[*map(digest_of, records)])
        for name, records in counted.items()
    }
    yield Row(model="released annotations", **numbers)


@across_models("table5")
def examples_of_paper(across: Across) -> Iterator[Row]:
    """Table 5: the share of the selected models that pass each element of the paper's examples."""
    judged, idx = verdicts(across.models), across.items["idx"]
    for cartoon, example in EXAMPLES.items():
        part = judged[judged["item_id"].isin(idx.index[idx == example])]
        if len(part):
            rate = replace(average(part["passed"], np.arange(len(part)), EXACT), used=part["row"].to_numpy())
            yield Row(model="elements", cartoon=cartoon, pass_rate=rate)
