"""HumorBench's judge against people: what a judge says of explanations that people have labelled (table 1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from punchline.bench.column import Statistics
from punchline.bench.table import Across, NamedRow, Row
from punchline.benchmarks.humorbench.estimates import judged
from punchline.benchmarks.humorbench.labels import LABELS, RUBRIC, human_labels
from punchline.core.stats import Array, Value


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
    found: dict[tuple[str, str], list[tuple[int, bytes, int]]] = {}  # by judge and explainer: (item, digest, cell)
    for model in across.models:
        own = judged(model.frame)
        columns = zip(own.item, own.parsed.codes, own.judge.codes, own.value("passed"), own.digest, strict=True)
        for item, parsed, judge, passed, digest in columns:
            key, who = (across.scope.names[item], (own.parsed.words[parsed] or ("",))[0]), own.judge.words[judge]
            if key in labels and who is not None:
                explainer, label = labels[key]
                cell = (0 if label == "PASS" else 1) if passed == 1.0 else (2 if label == "PASS" else 3)
                found.setdefault((who, explainer), []).append((item, digest, cell))
    if not found:
        across.notes.append(
            f"No judged explanation has a human label (raw {RUBRIC}, and yours in config/humorbench/{LABELS}: columns "
            "explanation, label, and annotation_row or caption and element)."
        )
    rows = []
    for judge in sorted({judge for judge, _ in found}):
        blocks = {name: members for (who, name), members in sorted(found.items()) if who == judge}
        overall = [(*one, 4 * block) for block, members in enumerate(blocks.values()) for one in members]
        groups = [(name, 1, [(*one, 0) for one in members]) for name, members in blocks.items()]
        for name, count, members in (*groups, ("Overall", len(blocks), overall)):
            sums = np.zeros((len(members), 4 * count))
            sums[np.arange(len(members)), [cell + block for _, _, cell, block in members]] = 1.0
            items = np.array([item for item, *_ in members], dtype=np.int64)
            digests = np.array([digest for _, digest, *_ in members], dtype="S64")
            made = Statistics(sums, items, across.scope.clusters[items], digests)
            values = {kind: made.estimate(_mean_over_rows(value, count)) for kind, value in _AGREEMENT.items()}
            rows.append(NamedRow(name, Row({"judge": judge}, values)))
    return rows
