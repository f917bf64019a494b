"""PixelHumor's tables of models' answers: tables 2, 3, 4, 8, 13, 14 and 15."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from punchline.bench.column import Column, Make, Statistics, by_answer, mean_of
from punchline.bench.frame import Flags, Frame
from punchline.bench.table import Row, Table, tables
from punchline.benchmarks.pixelhumor import NAME, STYLES, SUBJECTIVE, dataset, ratings
from punchline.benchmarks.pixelhumor.data import records, subjective_labels
from punchline.core.benchmark import Files
from punchline.core.records import Gold
from punchline.core.stats import COUNT, POSITIVE, Array, Estimate, Kind, Value, mean, total
from punchline.score import labels as label_metrics

STYLE_KEYS = tuple(style.lower() for style in (*STYLES, "NA"))
SUBTASKS = {"humor_presence": "Q1", "sound_effect": "Q2", "panel_contribution": "Q3", "modality": "Q4"}
STYLE_COUNTS = ("styles_1", "styles_2", "styles_3", "styles_4", "styles_5plus")
CONFUSION = ("tp", "fp", "tn", "fn")
WEIGHTED: dict[str, Value] = {
    "f1": label_metrics.f1,
    "precision": label_metrics.precision,
    "recall": label_metrics.recall,
}

Labels = frozenset[str]


def _lower(labels: Iterable[str] | None) -> Labels:
    return _labels(tuple(labels or ()))


@functools.cache  # few are different
def _labels(labels: tuple[str, ...]) -> Labels:
    return frozenset(label.lower() for label in labels)


def _indicator(labels: Sequence[Labels], classes: Sequence[str]) -> Flags:
    """[n, C]: whether each has a label."""
    flags = np.array([[one in found for one in classes] for found in labels], dtype=np.bool_)
    return flags.reshape(len(labels), len(classes))


class _Read:
    """The labels of scored answers to one question, and of gold."""

    def __init__(self, scored: Frame, task: str) -> None:
        golds, names = scored.scope.golds, scored.scope.names
        self.scored = scored
        self.words = [_lower(words) for words in scored.parsed.words]
        self.golds = scored.scope.once(task, lambda: [_lower(golds[name].values.get(task)) for name in names])

    @property
    def classes(self) -> list[str]:
        """Of gold, where something was scored."""
        return sorted(frozenset[str]().union(*(self.golds[place] for place in np.unique(self.scored.item))))

    def said(self, classes: Sequence[str]) -> Flags:
        return _indicator(self.words, classes)[self.scored.parsed.codes]

    def right(self, classes: Sequence[str]) -> Flags:
        return _indicator(self.golds, classes)[self.scored.item]


def _column(name: str, task: str | None, make: Make, value: Value = mean, kind: Kind | None = None) -> Column:
    return Column(name, () if task is None else (task,), make, value, kind, empty=True, parsed=True)


@functools.cache
def _of_labels(task: str | None, count: Callable[[_Read], Flags]) -> Make:
    """Statistics [n, k] of scored answers to a question, None: the only one of the row."""

    def make(frame: Frame) -> Statistics | None:
        own = frame if task is None else frame.of([task])
        if not own.attempted:
            return None
        read = _Read(own.take(own.scored), task or str(own.task.used()[0]))
        return by_answer(read.scored, count(read))

    return make


def _counts(read: _Read) -> Flags:
    return label_metrics.counts(read.said(read.classes), read.right(read.classes))


def _exact(read: _Read) -> Flags:
    pairs = zip(read.scored.parsed.codes, read.scored.item, strict=True)
    equal = [read.words[word] == read.golds[item] for word, item in pairs]
    return np.column_stack([np.array(equal, dtype=np.bool_), np.ones(len(equal), dtype=np.bool_)])


def _sizes(counts: Iterable[int]) -> Flags:
    """[n, 5]: whether each has that number of styles; NA is one style."""
    sizes = np.minimum(np.fromiter(counts, np.int64), len(STYLE_COUNTS))
    return np.asarray(sizes[:, None] == np.arange(1, len(STYLE_COUNTS) + 1), dtype=np.bool_)


def _styles(read: _Read) -> Flags:
    return _sizes(map(len, read.words))[read.scored.parsed.codes]


def _confusion(read: _Read) -> Flags:
    """[n, 4 C]: tp, fp, tn, fn of every style."""
    said, right = read.said(STYLE_KEYS), read.right(STYLE_KEYS)
    return np.concatenate([said & right, said & ~right, ~said & ~right, ~said & right], axis=1)


def _weighted(task: str | None, prefix: str = "", names: Iterable[str] = WEIGHTED) -> list[Column]:
    return [_column(f"{prefix}{name}", task, _of_labels(task, _counts), WEIGHTED[name]) for name in names]


def _nth(place: int) -> Value:
    return lambda sums: np.asarray(sums[..., place], dtype=np.float64)


def _recall(place: int) -> Value:
    tp, fn = place, place + 3 * len(STYLE_KEYS)

    def value(sums: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums[..., tp] / (sums[..., tp] + sums[..., fn]), dtype=np.float64)

    return value


def _by_subtask(frame: Frame) -> list[Row]:
    return [Row({"subtask": name}, tasks=(task,), frame=frame.of([task])) for name, task in SUBTASKS.items()]


def _by_style_of_answers(frame: Frame) -> list[Row]:
    found = _of_labels("Q5", _confusion)(frame)
    counts = None if found is None else found.on(frame.scope.everything)
    return [
        Row(
            {"style": style},
            {
                cell: counts and counts.estimate(_nth(part * len(STYLE_KEYS) + place), COUNT, empty=True)
                for part, cell in enumerate(CONFUSION)
            },
        )
        for place, style in enumerate(STYLE_KEYS)
    ]


def _of_style(style: str, gold: Gold) -> bool:
    return style in gold.values["Q5"]


def _by_style(frame: Frame) -> list[Row]:
    return [
        Row({"style": style.lower()}, items=frame.scope.such(functools.partial(_of_style, style)))
        for style in (*STYLES, "NA")
    ]


def _panels(gold: Gold) -> int:
    return int(gold.values["number_of_panels"])


def _by_panels(frame: Frame) -> list[Row]:
    counts = np.array([_panels(frame.scope.golds[name]) for name in frame.scope.names])
    return [Row({"panels": int(n)}, items=np.asarray(counts == n)) for n in np.unique(counts)]


def _with_multi_panel(frame: Frame) -> list[Row]:
    several = frame.scope.such(lambda gold: _panels(gold) > 1)
    return [Row({"subset": "all"}), Row({"subset": "multi-panel"}, items=several)]


def _ground_truth(files: Files) -> list[tuple[str, Row]]:
    every = records(files, SUBJECTIVE, ["Q1", "Q2", "Q3", "Q4", "Q5"])
    styles = {name: len(set(subjective_labels(cells, line, name)["Q5"])) for name, line, cells in every}
    names = sorted(styles)
    sums = _sizes(styles[name] for name in names)
    columns = {name: Estimate(sums[:, [place]], total, names) for place, name in enumerate(STYLE_COUNTS)}
    return [("ground truth", Row({}, columns))]


_LABEL_NOTE = (
    "Means over classes weighted by gold labels; a class's undefined value is 0. Under rule released a comic counts "
    "only where the answer to Q1 holds 'yes'."
)
_BY_TASK = [column for n in range(1, 6) for column in _weighted(f"Q{n}", f"task{n}_", ["f1"])]
TABLES = tables(
    NAME,
    Table(
        "table2",
        "Humor identification",
        [*_weighted(None), _column("accuracy", None, _of_labels(None, _exact))],
        keys=("subtask",),
        tasks=tuple(SUBTASKS.values()),
        split=_by_subtask,
        notes=(_LABEL_NOTE, "accuracy: the answer's labels are exactly the gold labels; not in the paper."),
    ),
    Table(
        "table3",
        "Humor classification, with the recall of each style",
        [
            *_weighted("Q5"),
            *(
                _column(f"recall_{style}", "Q5", _of_labels("Q5", _confusion), _recall(place))
                for place, style in enumerate(STYLE_KEYS)
            ),
        ],
        notes=(
            _LABEL_NOTE,
            "The paper's Per. and Exa. recalls of LLaVA-OV 7B and Qwen2-VL 7B are swapped in its Table 13.",
        ),
    ),
    Table(
        "table4",
        "Number of humor styles predicted for a comic",
        [_column(name, "Q5", _of_labels("Q5", _styles), _nth(place), COUNT) for place, name in enumerate(STYLE_COUNTS)],
        whole=STYLE_COUNTS,
        data_rows=_ground_truth,
        files=(SUBJECTIVE,),
        notes=("Comics; NA is one style. An answer without any style is in no column.",),
    ),
    Table(
        "table8",
        "Sequence recognition",
        [
            *(mean_of(name, task, name, empty=True) for name, task in (("panel_acc", "Q7"), ("text_acc", "Q8"))),
            *(mean_of(name, "Q8", name, kind=POSITIVE, empty=True, better="lower") for name in ("wer", "cer")),
        ],
        file="table8.csv",
        main=True,
        rule="released",
        keys=("subset",),
        split=_with_multi_panel,
        notes=(
            "Means over comics; WER and CER are not clipped at 1.",
            "A comic of one panel is always in order: see the rows multi-panel.",
            "Baselines reading-order and ocr find the panels and the labels drawn on them by rule and sort them by "
            "place, the one thing that this table asks for; they see nothing of text, people or story. That they can "
            "be above every model says how much of the task is layout.",
        ),
    ),
    Table(
        "table13",
        "Confusion matrix of humor classification by style",
        CONFUSION,
        keys=("style",),
        whole=CONFUSION,
        tasks=("Q5",),
        split=_by_style_of_answers,
        notes=("Comics. The paper's rows Per. and Exa. of LLaVA-OV 7B and Qwen2-VL 7B are swapped.",),
    ),
    Table(
        "table14",
        "F1 of each task over the comics of one humor style",
        _BY_TASK,
        keys=("style",),
        split=_by_style,
        notes=(_LABEL_NOTE,),
    ),
    Table(
        "table15",
        "F1 of each task over the comics with one number of panels",
        _BY_TASK,
        keys=("panels",),
        split=_by_panels,
        notes=(_LABEL_NOTE,),
    ),
)

TABLES |= dataset.TABLES | ratings.TABLES
