"""HumorBench's judge against people: verdicts on explanations that people have labelled (table 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np
import pandas as pd

from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.benchmarks.humorbench.estimates import across_models, verdicts
from punchline.benchmarks.humorbench.labels import LABELLED, LABELS, RUBRIC, VERDICTS, labelled
from punchline.schema import digest_of
from punchline.stats.estimate import Estimate, over_blocks
from punchline.stats.verdicts import MEASURES, cells_of, rate
from punchline.tables.declare import Across, Row

KEY = ["item_id", "explanation"]
COLUMNS = ["judge", *KEY, "passed", "row", "digest"]  # of verdicts; `row` is -1 for those of released files
# Of the judge's PASS and people's.
RATES = {name: MEASURES[name][0] for name in ("accuracy", "fpr", "fnr")} | {"human_pass": rate([0, 2], [0, 1, 2, 3])}


def _verdicts(across: Across, released: pd.DataFrame) -> pd.DataFrame:
    """Verdicts on the selected models' explanations, the last of several on one; then those of the released files."""
    frame = verdicts(across.models).dropna(subset=["judge", "parsed"])
    texts = frame["parsed"].astype(object)
    known = {text: msgspec.json.decode(text)[0] for text in texts.unique()}
    frame = frame.assign(explanation=texts.map(known), digest="", passed=frame["passed"] == 1.0)
    frame = frame[COLUMNS].astype({"item_id": object, "judge": object}).drop_duplicates(["judge", *KEY], keep="last")
    return pd.concat([frame, released[COLUMNS]], ignore_index=True).drop_duplicates(["judge", *KEY])


def _agreement(across: Across, part: pd.DataFrame, rates: Iterable[str] = RATES) -> dict[str, Estimate]:
    """Rates over labelled verdicts, each the mean of the explainers' own."""
    explainers = pd.get_dummies(part["explainer"]).to_numpy()
    cells = cells_of(part["passed"], part["label"])
    sums = (explainers[:, :, None] * cells[:, None]).reshape(len(part), 4 * explainers.shape[1])
    clusters = across.items["cluster"].cat.codes.loc[part["item_id"]].to_numpy()
    used = part["row"].to_numpy(np.int64)
    digests = tuple(part.loc[part["row"] < 0, "digest"])
    return {name: Estimate(sums, over_blocks(RATES[name], 4), clusters, digests, used=used) for name in rates}


@across_models("table1", files=(ANNOTATIONS, RUBRIC), runs=(*LABELLED, *VERDICTS), own=(LABELS,))
def judge_agreement(across: Across) -> Iterator[Row]:
    """Table 1: each judge on each explainer's explanations, and over all explainers; labels of the others alone."""
    rows = [
        (judge, *key, passed, -1, digest_of([judge, key, "PASS" if passed else "FAIL"] if judge else key), explainer)
        for judge, explainer, key, passed in labelled(across.files)
    ]
    listed = pd.DataFrame(rows, columns=[*COLUMNS, "explainer"])
    labels = listed[listed["judge"] == ""].rename(columns={"passed": "label"})
    here = labels[labels["item_id"].isin(across.items.index)]
    pairs = _verdicts(across, listed[listed["judge"] != ""]).merge(here[[*KEY, "explainer", "label"]], on=KEY)
    for judge, of_judge in pairs.groupby("judge"):
        for explainer, part in of_judge.groupby("explainer"):
            yield Row(model=str(explainer), judge=str(judge), **_agreement(across, part))
        yield Row(model="Overall", judge=str(judge), **_agreement(across, of_judge))
    for explainer in sorted({*labels["explainer"]} - {*pairs["explainer"]}) if len(pairs) else ():
        part = here[here["explainer"] == explainer].assign(passed=True)
        yield Row(model=explainer, judge="", **_agreement(across, part, ["human_pass"]))
