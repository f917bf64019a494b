"""PixelHumor's tables of models' answers: tables 2, 3, 4, 8, 13, 14 and 15."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from punchline.bench.table import Row, Table
from punchline.benchmarks.pixelhumor import STYLES, SUBJECTIVE, dataset, ratings
from punchline.benchmarks.pixelhumor.data import released_records, subjective_labels
from punchline.core.benchmark import Files
from punchline.core.records import Gold, Grade, Item
from punchline.core.stats import Array, Estimate, mean, total
from punchline.score import labels as label_metrics

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Scored:
    """One task's scored grades of one model, as arrays with one row for each comic, in order of comic id."""

    attempted: bool  # whether the model has any grade for the task that is not `missing`
    grades: tuple[Grade, ...]
    gold: tuple[frozenset[str], ...]
    classes: tuple[str, ...]  # of the gold labels, lower-cased
    clusters: npt.NDArray[np.object_]

    @cached_property
    def digests(self) -> npt.NDArray[np.object_]:
        return np.array([grade.digest for grade in self.grades], dtype=np.object_)

    @cached_property
    def counts(self) -> Array:
        """[n, 3 C] for punchline.score.labels."""
        return label_metrics.counts(self.predicted, _indicator(self.gold, self.classes))

    @cached_property
    def answers(self) -> list[frozenset[str]]:
        return [frozenset(label.lower() for label in grade.parsed or ()) for grade in self.grades]

    @cached_property
    def predicted(self) -> Flags:
        return _indicator(self.answers, self.classes)

    def estimate(self, sums: Array, value: Any, where: Flags | None = None) -> Estimate | None:
        """An estimate over the comics `where`; None when the model was not asked."""
        if not self.attempted:
            return None
        chosen = slice(None) if where is None else where
        return Estimate(
            sums=sums[chosen],
            value=value,
            clusters=self.clusters[chosen].tolist(),
            grades=self.digests[chosen].tolist(),
        )

    def flag(self, name: str, where: Flags | None = None) -> Estimate | None:
        """Mean of a value of the grades."""
        ones = np.ones(len(self.grades))
        values = np.array([grade.values[name] for grade in self.grades], dtype=np.float64)
        return self.estimate(np.column_stack([values, ones]), mean, where)

    def where(self, comics_: frozenset[str]) -> Flags:
        return np.array([grade.item_id in comics_ for grade in self.grades], dtype=np.bool_)


def _indicator(labels: Sequence[frozenset[str]], classes: Sequence[str]) -> Flags:
    """[n, C]: whether an item has a label."""
    column = {label: index for index, label in enumerate(classes)}
    matrix = np.zeros((len(labels), len(classes)), dtype=np.bool_)
    for row, found in enumerate(labels):
        for label in found:
            if label in column:
                matrix[row, column[label]] = True
    return matrix


def _scored(
    grades: Iterable[Grade], golds_: Mapping[str, Gold], items_: Mapping[str, Item], tasks: Sequence[str]
) -> dict[str, _Scored]:
    """The scored grades of each task; grades of comics that are not in the selection are left out."""
    found: dict[str, list[Grade]] = {task: [] for task in tasks}
    attempted = dict.fromkeys(tasks, False)
    for grade in grades:
        if grade.task in found and grade.item_id in golds_ and grade.item_id in items_:
            attempted[grade.task] |= grade.state != "missing"
            if grade.scored:
                found[grade.task].append(grade)
    result = {}
    for task, chosen in found.items():
        chosen.sort(key=lambda grade: grade.item_id)
        gold = tuple(
            frozenset(label.lower() for label in golds_[grade.item_id].values.get(task, ())) for grade in chosen
        )
        result[task] = _Scored(
            attempted=attempted[task],
            grades=tuple(chosen),
            gold=gold,
            classes=tuple(sorted(frozenset[str]().union(*gold))),
            clusters=np.array([items_[grade.item_id].cluster for grade in chosen], dtype=np.object_),
        )
    return result


Golds = Mapping[str, Gold]
Items = Mapping[str, Item]

_PRECISION_RECALL_F1 = {"f1": label_metrics.f1, "precision": label_metrics.precision, "recall": label_metrics.recall}
_STYLE_KEYS = tuple(style.lower() for style in (*STYLES, "NA"))
_SUBTASKS = {"humor_presence": "Q1", "sound_effect": "Q2", "panel_contribution": "Q3", "modality": "Q4"}
_STYLE_COUNTS = ("styles_1", "styles_2", "styles_3", "styles_4", "styles_5plus")
_BY_TASK = {f"task{task[1]}_f1": task for task in ("Q1", "Q2", "Q3", "Q4", "Q5")}


def _scope(golds_: Golds, items_: Items) -> frozenset[str]:
    return frozenset(items_) & frozenset(golds_)


def _table2(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    answers = _scored(grades, golds_, items_, tuple(_SUBTASKS.values()))
    rows = []
    for subtask, task in _SUBTASKS.items():
        scored = answers[task]
        exact = np.array([a == g for a, g in zip(scored.answers, scored.gold, strict=True)], dtype=np.float64)
        columns = {name: scored.estimate(scored.counts, value) for name, value in _PRECISION_RECALL_F1.items()}
        columns["accuracy"] = scored.estimate(np.column_stack([exact, np.ones(len(exact))]), mean)
        rows.append(Row({"subtask": subtask}, columns, _scope(golds_, items_), (task,)))
    return rows


def _table3(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    scored = _scored(grades, golds_, items_, ("Q5",))["Q5"]
    columns = {name: scored.estimate(scored.counts, value) for name, value in _PRECISION_RECALL_F1.items()}
    predicted, gold = _indicator(scored.answers, _STYLE_KEYS), _indicator(scored.gold, _STYLE_KEYS)
    for index, style in enumerate(_STYLE_KEYS):
        hits = np.column_stack([predicted[:, index] & gold[:, index], gold[:, index]]).astype(np.float64)
        columns[f"recall_{style}"] = scored.estimate(hits, mean)
    return [Row({}, columns, _scope(golds_, items_), ("Q5",))]


def _style_counts(labels: Sequence[frozenset[str]]) -> dict[str, Array]:
    """For each column of Table 4, [n, 1]: whether a comic has that number of styles; NA is one style."""
    numbers = np.array([min(len(found), len(_STYLE_COUNTS)) for found in labels], dtype=np.int64)
    return {name: (numbers == number).astype(np.float64)[:, None] for number, name in enumerate(_STYLE_COUNTS, start=1)}


def _table4(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    scored = _scored(grades, golds_, items_, ("Q5",))["Q5"]
    columns = {name: scored.estimate(sums, total) for name, sums in _style_counts(scored.answers).items()}
    return [Row({}, columns, _scope(golds_, items_), ("Q5",))]


def _table4_ground_truth(files: Files) -> list[tuple[str, Row]]:
    subjective = released_records(files, SUBJECTIVE, ["Q1", "Q2", "Q3", "Q4", "Q5"])
    names = sorted(subjective)
    labels = [frozenset(subjective_labels(subjective[n][1], subjective[n][0], n)["Q5"]) for n in names]
    columns = {
        name: Estimate(sums=sums, value=total, clusters=names, grades=())
        for name, sums in _style_counts(labels).items()
    }
    return [("ground truth", Row({}, columns, frozenset(names), ()))]


def _table8(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    answers = _scored(grades, golds_, items_, ("Q7", "Q8"))
    scope = _scope(golds_, items_)
    rows = []
    for subset, comics_ in (
        ("all", scope),
        ("multi-panel", frozenset(name for name in scope if golds_[name].values["number_of_panels"] > 1)),
    ):
        where = {task: answers[task].where(comics_) for task in answers}
        columns = {"panel_acc": answers["Q7"].flag("panel_acc", where["Q7"])}
        columns |= {name: answers["Q8"].flag(name, where["Q8"]) for name in ("text_acc", "wer", "cer")}
        rows.append(Row({"subset": subset}, columns, comics_, ("Q7", "Q8")))
    return rows


def _table13(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    scored = _scored(grades, golds_, items_, ("Q5",))["Q5"]
    predicted, gold = _indicator(scored.answers, _STYLE_KEYS), _indicator(scored.gold, _STYLE_KEYS)
    cells = {"tp": predicted & gold, "fp": predicted & ~gold, "tn": ~predicted & ~gold, "fn": ~predicted & gold}
    return [
        Row(
            {"style": style},
            {name: scored.estimate(flags[:, [index]].astype(np.float64), total) for name, flags in cells.items()},
            _scope(golds_, items_),
            ("Q5",),
        )
        for index, style in enumerate(_STYLE_KEYS)
    ]


def _f1_by_task(answers: Mapping[str, _Scored], key: str, name: str | int, comics_: frozenset[str]) -> Row:
    columns = {
        column: answers[task].estimate(answers[task].counts, label_metrics.f1, answers[task].where(comics_))
        for column, task in _BY_TASK.items()
    }
    return Row({key: name}, columns, comics_, tuple(_BY_TASK.values()))


def _table14(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    answers = _scored(grades, golds_, items_, tuple(_BY_TASK.values()))
    scope = _scope(golds_, items_)
    rows = []
    for style in (*STYLES, "NA"):
        comics_ = frozenset(name for name in scope if style in golds_[name].values["Q5"])
        rows.append(_f1_by_task(answers, "style", style.lower(), comics_))
    return rows


def _table15(grades: Sequence[Grade], golds_: Golds, items_: Items) -> list[Row]:
    answers = _scored(grades, golds_, items_, tuple(_BY_TASK.values()))
    by_panels: dict[int, set[str]] = {}
    for name in _scope(golds_, items_):
        by_panels.setdefault(golds_[name].values["number_of_panels"], set()).add(name)
    return [_f1_by_task(answers, "panels", panels, frozenset(by_panels[panels])) for panels in sorted(by_panels)]


_LABEL_NOTE = (
    "Means over classes weighted by gold labels; a class's undefined value is 0. Under rule released a comic counts "
    "only where the answer to Q1 holds 'yes'."
)
TABLES = {
    table.name: table
    for table in (
        Table(
            name="table2",
            title="Humor identification",
            file="pixelhumor/table2.csv",
            rule="paper",
            keys=("subtask",),
            columns=(*_PRECISION_RECALL_F1, "accuracy"),
            tasks=tuple(_SUBTASKS.values()),
            rows=_table2,
            notes=(_LABEL_NOTE, "accuracy: the answer's labels are exactly the gold labels; not in the paper."),
        ),
        Table(
            name="table3",
            title="Humor classification, with the recall of each style",
            file="pixelhumor/table3.csv",
            rule="paper",
            keys=(),
            columns=(*_PRECISION_RECALL_F1, *(f"recall_{style}" for style in _STYLE_KEYS)),
            tasks=("Q5",),
            rows=_table3,
            notes=(
                _LABEL_NOTE,
                "The paper's Per. and Exa. recalls of LLaVA-OV 7B and Qwen2-VL 7B are swapped in its Table 13.",
            ),
        ),
        Table(
            name="table4",
            title="Number of humor styles predicted for a comic",
            file="pixelhumor/table4.csv",
            rule="paper",
            keys=(),
            columns=_STYLE_COUNTS,
            whole=_STYLE_COUNTS,
            tasks=("Q5",),
            rows=_table4,
            data_rows=_table4_ground_truth,
            files=(SUBJECTIVE,),
            notes=("Comics; NA is one style. An answer without any style is in no column.",),
        ),
        Table(
            name="table8",
            title="Sequence recognition",
            file="table8.csv",
            rule="released",
            keys=("subset",),
            columns=("panel_acc", "text_acc", "wer", "cer"),
            tasks=("Q7", "Q8"),
            rows=_table8,
            notes=(
                "Means over comics; WER and CER are not clipped at 1.",
                "A comic of one panel is always in order: see the rows multi-panel.",
            ),
        ),
        Table(
            name="table13",
            title="Confusion matrix of humor classification by style",
            file="pixelhumor/table13.csv",
            rule="paper",
            keys=("style",),
            columns=("tp", "fp", "tn", "fn"),
            whole=("tp", "fp", "tn", "fn"),
            tasks=("Q5",),
            rows=_table13,
            notes=("Comics. The paper's rows Per. and Exa. of LLaVA-OV 7B and Qwen2-VL 7B are swapped.",),
        ),
        Table(
            name="table14",
            title="F1 of each task over the comics of one humor style",
            file="pixelhumor/table14.csv",
            rule="paper",
            keys=("style",),
            columns=tuple(_BY_TASK),
            tasks=tuple(_BY_TASK.values()),
            rows=_table14,
            notes=(_LABEL_NOTE,),
        ),
        Table(
            name="table15",
            title="F1 of each task over the comics with one number of panels",
            file="pixelhumor/table15.csv",
            rule="paper",
            keys=("panels",),
            columns=tuple(_BY_TASK),
            tasks=tuple(_BY_TASK.values()),
            rows=_table15,
            notes=(_LABEL_NOTE,),
        ),
    )
}

TABLES |= dataset.TABLES | ratings.TABLES
