"""HumorBench's judge against people: what a judge says of explanations that people have labelled (table 1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from punchline.bench.table import Across, NamedRow, Row
from punchline.benchmarks.humorbench.estimates import Value, judged
from punchline.benchmarks.humorbench.labels import LABELS, RUBRIC, human_labels
from punchline.core.records import Grade
from punchline.core.stats import Array, Estimate


def _rate(wrong: Callable[[Array], Array], of: Callable[[Array], Array]) -> Value:
    def value(columns: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(wrong(columns) / of(columns), dtype=np.float64)

    return value


# Sums: tp, fp, fn, tn of the judge's PASS against people's.
_AGREEMENT: dict[str, Value] = {
    "accuracy": _rate(lambda c: c[..., 0] + c[..., 3], lambda c: c.sum(axis=-1)),
    "fpr": _rate(lambda c: c[..., 1], lambda c: c[..., 1] + c[..., 3]),
    "fnr": _rate(lambda c: c[..., 2], lambda c: c[..., 0] + c[..., 2]),
}


def _mean_over_rows(value: Value, rows: int) -> Value:
    """Unweighted mean of `value` over `rows` blocks of four sums."""

    def overall(columns: Array) -> Array:
        blocks = columns.reshape(*columns.shape[:-1], rows, 4)
        return np.asarray(value(blocks).mean(axis=-1), dtype=np.float64)

    return overall


def agreement_rows(across: Across) -> list[NamedRow]:
    labels = human_labels(across.files)
    by_explainer: dict[tuple[str, str], list[tuple[Grade, int]]] = {}
    for model in across.models:
        for grade in judged(model.grades):
            key = grade.item_id, (grade.parsed or ("",))[0]
            if key in labels and grade.judge is not None:
                explainer, label = labels[key]
                passed = grade.values["passed"] == 1.0
                cell = (0 if label == "PASS" else 1) if passed else (2 if label == "PASS" else 3)
                by_explainer.setdefault((grade.judge, explainer), []).append((grade, cell))
    if not by_explainer:
        across.notes.append(
            f"No judged explanation has a human label (raw {RUBRIC}, and yours in config/humorbench/{LABELS}: columns "
            "explanation, label, and annotation_row or caption and element)."
        )
    rows = []
    for judge in sorted({judge for judge, _ in by_explainer}):
        groups = {name: found for (who, name), found in sorted(by_explainer.items()) if who == judge}
        blocks = list(groups.items())
        for index, (explainer, found) in enumerate([*blocks, ("Overall", [])]):
            overall = explainer == "Overall"
            members = [(g, c, i) for i, (_, group) in enumerate(blocks) for g, c in group if overall or i == index]
            sums = np.zeros((len(members), 4 * (len(blocks) if overall else 1)))
            for at, (_, cell, block) in enumerate(members):
                sums[at, cell + (4 * block if overall else 0)] = 1.0
            columns: dict[str, Estimate | None] = {
                name: Estimate(
                    sums=sums,
                    value=_mean_over_rows(value, len(blocks)) if overall else value,
                    clusters=[across.items[g.item_id].cluster for g, _, _ in members],
                    grades=[g.digest for g, _, _ in members],
                )
                for name, value in _AGREEMENT.items()
            }
            del found
            rows.append(NamedRow(explainer, Row({"judge": judge}, columns)))
    return rows
