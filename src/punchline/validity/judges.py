"""Judged accuracy of each model, corrected by people's labels of a part of its answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from punchline.artifacts.run import Run
from punchline.core.benchmark import DEFAULT, optional_module
from punchline.schema import RULES, ModelCard
from punchline.scores import scores_frame
from punchline.stats.estimate import Array
from punchline.stats.verdicts import SUMS, corrected, verdict_agreement
from punchline.tabulate.labels import PASSED, PEOPLE, TEXT, read_labels, verdicts_in
from punchline.tabulate.ranks import items_of
from punchline.validity.answers import with_limits

COLUMNS = (
    *("model", "judge", "rule", "judged", "labeled", "n_labeled", "fpr", "fpr_lo", "fpr_hi", "fnr", "fnr_lo", "fnr_hi"),
    *("kappa", "corrected", "corrected_lo", "corrected_hi", "method", "rank_judged", "rank_corrected"),
)


def rows(run: Run, benchmark: str) -> list[dict[str, Any]]:
    """Rows of corrected.csv: a row per model, judge, rule and method; one that says so where labels are missing."""
    if PASSED not in run.benchmark(benchmark).METRICS:
        return []
    items = items_of(run, benchmark)
    labels = read_labels(run, benchmark, items)
    lines = []
    for rule, card in itertools.product(RULES, run.cards.values()):
        scores = scores_frame(run.paths.scores(benchmark, card.name), items, rule)[0]
        lines += [{"model": card.name, "rule": rule} | row for row in _of_model(benchmark, card, scores, labels)]
    return _ranked(lines)


def _of_model(benchmark: str, card: ModelCard, scores: pd.DataFrame, labels: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows of one model, by judge. Its labeled texts: answers of the run, or texts that labels say are the model's."""
    scored = scores[(scores["condition"] == DEFAULT) & scores[PASSED].notna()]
    unjudged, hook = scored.loc[scored["judge"].isna(), "cluster"], optional_module(benchmark, "labels")
    human = labels[labels["judge"] == PEOPLE]
    named = [hook is not None and hook.explains(card, name) for name in human["explainer"]]
    for judge, frame in verdicts_in(card.name, scores).groupby("judge"):
        answers = frame.merge(human[TEXT].assign(labeled=True), on=TEXT, how="left")
        answers["labeled"] = answers["labeled"].notna()
        texts = answers.loc[answers["labeled"], "digest"]
        part = human[np.array(named, dtype=bool) | human["digest"].isin(texts)].rename(columns={PASSED: "label"})
        verdicts = pd.concat([frame, labels[labels["judge"] == judge]]).drop_duplicates(TEXT)
        both = part.merge(verdicts[[*TEXT, PASSED]], on=TEXT)
        row: dict[str, Any] = {"judge": judge, "judged": frame[PASSED].sum() / (len(frame) + len(unjudged))}
        if both.empty:
            n = len(part)
            yield row | {"labeled": part["label"].mean() if n else None, "n_labeled": n, "method": "not testable"}
            continue
        measures = verdict_agreement(both[PASSED], both["label"], [*both["cluster"]])
        row |= {"labeled": both["label"].mean(), "n_labeled": len(both), "kappa": measures["kappa"].point()}
        row |= with_limits(fpr=measures["fpr"], fnr=measures["fnr"])
        for method, ends in corrected(*_sums(both, answers, unjudged.tolist())).items():
            values = dict(zip(("corrected", "corrected_lo", "corrected_hi"), ends, strict=True))
            yield row | values | {"method": method}


def _sums(both: pd.DataFrame, answers: pd.DataFrame, unjudged: Sequence[Any]) -> tuple[Array, list[str]]:
    """(sums by SUMS, clusters) of labeled texts, answers with a verdict, and answers that are wrong without one."""
    label, verdict, passed = (of.astype(float) for of in (both["label"], both[PASSED], answers[PASSED]))
    rest = 1.0 - answers["labeled"]
    parts = [
        pd.DataFrame({"labeled": 1.0, "label": label, "verdict": verdict, "both": label * verdict}),
        pd.DataFrame({"judged": 1.0, "passed": passed, "rest": rest, "rest_passed": rest * passed}),
        pd.DataFrame({"unjudged": np.ones(len(unjudged))}),
    ]
    sums = pd.concat(parts).reindex(columns=SUMS).fillna(0.0).to_numpy(np.float64)
    return sums, [*both["cluster"], *answers["cluster"], *unjudged]


def _ranked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the ranks, judged and corrected, among models that one judge and method can correct; ties share."""
    frame = pd.DataFrame(rows, columns=COLUMNS)
    testable = frame[frame["corrected"].notna()]
    for name in ("judged", "corrected"):
        ranks = testable.groupby(["rule", "judge", "method"])[name].rank(method="min", ascending=False)
        frame[f"rank_{name}"] = ranks.astype("Int64")
    known = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in known.to_dict("records")]
