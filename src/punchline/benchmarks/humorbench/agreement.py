"""HumorBench's judge against people: what a judge says of explanations that people have labelled (table 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from punchline.bench.column import Statistics
from punchline.bench.frame import packed
from punchline.bench.table import Across, NamedRow, Row
from punchline.benchmarks.humorbench.estimates import judged
from punchline.benchmarks.humorbench.labels import LABELS, RUBRIC, Key, human_labels, released_verdicts
from punchline.core.records import digest_of
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
    "human_pass": _rate(lambda c: c[..., 0] + c[..., 2], lambda c: c.sum(axis=-1)),
}

Verdicts = dict[Key, tuple[str, bool]]  # digest of what says so, whether it says PASS


def _mean_over_rows(value: Value, rows: int) -> Value:
    """Unweighted mean of `value` over `rows` blocks of four sums."""

    def overall(columns: Array) -> Array:
        blocks = columns.reshape(*columns.shape[:-1], rows, 4)
        return np.asarray(value(blocks).mean(axis=-1), dtype=np.float64)

    return overall


def _verdicts(across: Across, labels: Mapping[Key, tuple[str, str]]) -> dict[tuple[str, str], Verdicts]:
    """{(judge, explainer): verdicts on labelled explanations}: of the selected models, then of the released ones."""
    found: dict[tuple[str, str], Verdicts] = {}
    for model in across.models:
        own = judged(model.frame)
        columns = zip(own.item, own.parsed.codes, own.judge.codes, own.value("passed"), own.digest, strict=True)
        for item, parsed, judge, passed, digest in columns:
            key, who = (across.scope.names[item], (own.parsed.words[parsed] or ("",))[0]), own.judge.words[judge]
            if key in labels and who is not None:
                found.setdefault((who, labels[key][0]), {})[key] = digest.item().hex(), passed == 1.0
    for judge, key, verdict in released_verdicts(across.files):
        if key in labels and key[0] in across.scope.place:
            digest = digest_of([judge, key, verdict])
            found.setdefault((judge, labels[key][0]), {}).setdefault(key, (digest, verdict == "PASS"))
    return found


def agreement_rows(across: Across) -> list[NamedRow]:
    labels = human_labels(across.files)
    found = _verdicts(across, labels)
    if not found:
        across.notes.append(
            f"No judged explanation has a human label (raw {RUBRIC}, and yours in config/humorbench/{LABELS}: columns "
            "explanation, label, and annotation_row or caption and element)."
        )
        return []

    def row(name: str, judge: str, blocks: list[Verdicts], kinds: Iterable[str] = _AGREEMENT) -> NamedRow:
        members = [(key, *said, block) for block, verdicts in enumerate(blocks) for key, said in verdicts.items()]
        sums = np.zeros((len(members), 4 * len(blocks)))
        for at, (key, _, passed, block) in enumerate(members):
            sums[at, 4 * block + 2 * (not passed) + (labels[key][1] == "FAIL")] = 1
        items = np.array([across.scope.place[key[0]] for key, *_ in members], dtype=np.int64)
        digests = packed(digest for _, digest, *_ in members)
        made = Statistics(sums, items, across.scope.clusters[items], digests)
        values = {kind: made.estimate(_mean_over_rows(_AGREEMENT[kind], len(blocks))) for kind in kinds}
        return NamedRow(name, Row({"judge": judge}, values))

    rows = []
    for judge in sorted({judge for judge, _ in found}):
        blocks = {name: verdicts for (who, name), verdicts in sorted(found.items()) if who == judge}
        rows += [row(name, judge, [verdicts]) for name, verdicts in blocks.items()]
        rows.append(row("Overall", judge, list(blocks.values())))
    for name in sorted({name for name, _ in labels.values()} - {name for _, name in found}):
        there = [key for key, label in labels.items() if label[0] == name and key[0] in across.scope.place]
        rows.append(row(name, "", [{key: (digest_of(key), True) for key in there}], ["human_pass"]))
    return rows
