"""HumorBench's judge against people: verdicts on explanations that people have labelled (table 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec
import numpy as np
import pandas as pd

from punchline.benchmarks.humorbench.estimates import verdicts
from punchline.benchmarks.humorbench.labels import LABELS, RUBRIC, human_labels, released_verdicts
from punchline.schema import digest_of
from punchline.stats.estimate import Array, Estimate, Value
from punchline.tables.declare import Across, Row

KEY = ["item_id", "explanation"]
COLUMNS = ["judge", *KEY, "passed", "row", "digest"]  # of verdicts; `row` is -1 for those of released files


def _rate(part: Callable[[Array], Array], whole: Callable[[Array], Array]) -> Value:
    def value(sums: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(part(sums) / whole(sums), dtype=np.float64)

    return value


# Sums: tp, fp, fn, tn of the judge's PASS against people's.
RATES: dict[str, Value] = {
    "accuracy": _rate(lambda c: c[..., 0] + c[..., 3], lambda c: c.sum(axis=-1)),
    "fpr": _rate(lambda c: c[..., 1], lambda c: c[..., 1] + c[..., 3]),
    "fnr": _rate(lambda c: c[..., 2], lambda c: c[..., 0] + c[..., 2]),
    "human_pass": _rate(lambda c: c[..., 0] + c[..., 2], lambda c: c.sum(axis=-1)),
}


def _mean_over_explainers(value: Value) -> Value:
    """Unweighted mean of `value` over blocks of four sums."""

    def overall(sums: Array) -> Array:
        blocks = sums.reshape(*sums.shape[:-1], sums.shape[-1] // 4, 4)
        return np.asarray(value(blocks).mean(axis=-1), dtype=np.float64)

    return overall


def _own_verdicts(across: Across) -> pd.DataFrame:
    """Verdicts on the selected models' explanations; the last of several on one."""
    own = verdicts(across.models).dropna(subset=["judge", "parsed"])
    texts = own["parsed"].astype(object)
    known = {text: msgspec.json.decode(text)[0] for text in texts.unique()}
    own = own.assign(explanation=texts.map(known), digest="", passed=own["passed"] == 1.0)
    return own[COLUMNS].astype({"item_id": object, "judge": object}).drop_duplicates(["judge", *KEY], keep="last")


def _released_verdicts(across: Across) -> pd.DataFrame:
    """Verdicts of the released files on labelled explanations."""
    rows = [
        (judge, *key, verdict == "PASS", -1, digest_of([judge, key, verdict]))
        for judge, key, verdict in released_verdicts(across.files)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _agreement(across: Across, part: pd.DataFrame, rates: Iterable[str] = RATES) -> dict[str, Estimate]:
    """Rates over labelled verdicts, each the mean of the explainers' own."""
    explainer = pd.Categorical(part["explainer"])
    cell = 2 * ~part["passed"].to_numpy(bool) + (part["label"] == "FAIL").to_numpy()
    sums = np.zeros((len(part), 4 * max(1, len(explainer.categories))))
    sums[np.arange(len(part)), 4 * explainer.codes + cell] = 1
    clusters = across.items["cluster"].cat.codes.loc[part["item_id"]].to_numpy()
    used = part.loc[part["row"] >= 0, "row"].to_numpy(np.int64)
    digests = tuple(part.loc[part["row"] < 0, "digest"])
    return {name: Estimate(sums, _mean_over_explainers(RATES[name]), clusters, digests, used=used) for name in rates}


def agreement_rows(across: Across) -> Iterator[Row]:
    """Table 1: each judge on each explainer's explanations, and over all explainers; labels of the others alone."""
    rows = [(*key, *label) for key, label in human_labels(across.files).items()]
    labels = pd.DataFrame(rows, columns=[*KEY, "explainer", "label"])
    here = labels[labels["item_id"].isin(across.items.index)]
    found = pd.concat([_own_verdicts(across), _released_verdicts(across)], ignore_index=True)
    found = found.drop_duplicates(["judge", *KEY]).merge(here, on=KEY)
    if found.empty:
        across.notes.append(
            f"No judged explanation has a human label (raw {RUBRIC}, and yours in config/humorbench/{LABELS}: columns "
            "explanation, label, and annotation_row or caption and element)."
        )
    for judge in sorted(set(found["judge"])):
        of_judge = found[found["judge"] == judge]
        for explainer, part in of_judge.groupby("explainer"):
            yield Row(model=str(explainer), judge=judge, **_agreement(across, part))
        yield Row(model="Overall", judge=judge, **_agreement(across, of_judge))
    for explainer in sorted({*labels["explainer"]} - {*found["explainer"]}) if len(found) else ():
        part = here[here["explainer"] == explainer]
        digests = [digest_of(key) for key in part[KEY].itertuples(index=False, name=None)]
        part = part.assign(passed=True, row=-1, digest=digests)
        yield Row(model=explainer, judge="", **_agreement(across, part, ["human_pass"]))
