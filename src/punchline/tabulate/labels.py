"""People's labels of answers, and judges' verdicts on the same answers."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pandas as pd

from punchline.artifacts.run import Run
from punchline.core.benchmark import DEFAULT, optional_module
from punchline.prepare import files_of_table

PEOPLE = "people"
PASSED = "passed"  # the metric of a score whose judge says PASS or FAIL
TEXT = ["item_id", "digest"]  # names a labeled or judged text

# A verdict: the judge or PEOPLE; the model whose answer it is about (None: a released label); the item and its cluster;
# the sample; the digest of the judged text; PASS or FAIL.
COLUMNS = ["judge", "model", "item_id", "cluster", "sample", "digest", PASSED]


def verdicts_in(model: str, scores: pd.DataFrame) -> pd.DataFrame:
    """The verdicts on a model's answers in the default condition, by COLUMNS."""
    if PASSED not in scores:
        return pd.DataFrame(columns=COLUMNS)
    judged = scores[scores["scored"] & scores[PASSED].notna() & scores["judge"].notna()]
    judged = judged[judged["condition"] == DEFAULT]
    plain = judged[["judge", "item_id", "cluster", "sample", PASSED]].astype(object)
    texts = [next(iter(json.loads(text)), "") if isinstance(text, str) else "" for text in judged["parsed"]]
    return plain.assign(model=model, digest=texts, **{PASSED: plain[PASSED].astype(bool)})[COLUMNS]


def read_labels(run: Run, benchmark: str, items: pd.DataFrame) -> pd.DataFrame:
    """Labels by people, and released verdicts on the same texts, by COLUMNS; `explainer`: the labeled texts' model."""
    columns = [*COLUMNS, "explainer"]
    if (labels := optional_module(benchmark, "labels")) is None:
        return pd.DataFrame(columns=columns)
    files = files_of_table(run, benchmark, labels.SHOWN)
    clusters = dict(zip(items.index, items["cluster"], strict=True))
    rows = [
        (judge or PEOPLE, None, item, clusters[item], 0, digest, passed, explainer)
        for judge, explainer, (item, digest), passed in labels.labelled(files)
        if item in clusters
    ]
    return pd.DataFrame(rows, columns=columns)


def checked(labels: pd.DataFrame, verdicts: Iterable[pd.DataFrame]) -> set[str]:
    """Judges with a verdict on a text that people have labeled."""
    labeled_texts = labels.loc[labels["judge"] == PEOPLE, TEXT]
    given = [labels[labels["judge"] != PEOPLE], *verdicts]
    return {str(name) for part in given for name in part.merge(labeled_texts, on=TEXT)["judge"]}
