"""PixelHumor's tables of models' answers: tables 2, 3, 4, 8, 13, 14 and 15."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from punchline.benchmarks.pixelhumor import METRICS, NAME, STYLES, SUBJECTIVE, dataset, ratings
from punchline.benchmarks.pixelhumor.data import Subjective, by_comic
from punchline.benchmarks.pixelhumor.dataset import QUESTIONS
from punchline.core.benchmark import Files
from punchline.stats.estimate import POSITIVE, Estimate, total
from punchline.stats.functions import mean
from punchline.stats.labels import Labels
from punchline.tables.declare import Row, collect, table

STYLE_KEYS = tuple(style.lower() for style in (*STYLES, "NA"))
SUBTASKS = {"humor_presence": "Q1", "sound_effect": "Q2", "panel_contribution": "Q3", "modality": "Q4"}
SIZES = {"styles_1": (1, 1), "styles_2": (2, 2), "styles_3": (3, 3), "styles_4": (4, 4), "styles_5plus": (5, np.inf)}
CONFUSION = ("tp", "fp", "tn", "fn")

ITEMS = {
    "panels": lambda item, gold: int(gold.values["number_of_panels"]),
    "styles": lambda item, gold: frozenset(style.lower() for style in gold.values["Q5"]),
}

_LABEL_NOTE = (
    "Means over classes weighted by gold labels; a class's undefined value is 0. Under rule released a comic counts "
    "only where the answer to Q1 holds 'yes'."
)
_Frame = pd.DataFrame


@table(
    "table2",
    "Humor identification",
    tasks=tuple(SUBTASKS.values()),
    notes=(_LABEL_NOTE, "accuracy: the answer's labels are exactly the gold labels; not in the paper."),
)
def identification(scores: _Frame, items: _Frame) -> Iterator[Row]:
    for name, task in SUBTASKS.items():
        found = Labels(scores[scores.task == task])
        weighted = {"f1": found.f1(), "precision": found.precision(), "recall": found.recall()}
        yield Row(subtask=name, **weighted, accuracy=found.exact())


@table(
    "table3",
    "Humor classification, with the recall of each style",
    tasks=("Q5",),
    notes=(
        _LABEL_NOTE,
        "The paper's Per. and Exa. recalls of LLaVA-OV 7B and Qwen2-VL 7B are swapped in its Table 13.",
    ),
)
def classification(scores: _Frame, items: _Frame) -> Iterator[Row]:
    found = Labels(scores)
    recalls = {f"recall_{style}": found.recall(style) for style in STYLE_KEYS}
    yield Row(f1=found.f1(), precision=found.precision(), recall=found.recall(), **recalls)


def _ground_truth(files: Files) -> Iterator[Row]:
    labels = by_comic(files, SUBJECTIVE, Subjective)
    names = sorted(labels)
    sizes = np.array([len(set(labels[name].Q5)) for name in names])
    flags = {name: ((sizes >= least) & (sizes <= most))[:, None] for name, (least, most) in SIZES.items()}
    yield Row(model="ground truth", **{name: Estimate(flag, total, names) for name, flag in flags.items()})


@table(
    "table4",
    "Number of humor styles predicted for a comic",
    tasks=("Q5",),
    counts=tuple(SIZES),
    data=_ground_truth,
    files=(SUBJECTIVE,),
    notes=("Comics; NA is one style. An answer without any style is in no column.",),
)
def number_of_styles(scores: _Frame, items: _Frame) -> Iterator[Row]:
    found = Labels(scores)
    yield Row(**{name: found.with_size(*limits) for name, limits in SIZES.items()})


@table(
    "table8",
    "Sequence recognition",
    file="table8.csv",
    main=True,
    published_rule="released",
    tasks=("Q7", "Q8"),
    lower_is_better=("wer", "cer"),
    notes=(
        "Means over comics; WER and CER are not clipped at 1.",
        "A comic of one panel is always in order: see the rows multi-panel.",
        "Baselines reading-order and ocr find the panels and the labels drawn on them by rule and sort them by place, "
        "the one thing that this table asks for; they see nothing of text, people or story. That they can be above "
        "every model says how much of the task is layout.",
    ),
)
def sequence(scores: _Frame, items: _Frame) -> Iterator[Row]:
    several = scores.item_id.isin(items.index[items.panels > 1])
    for subset, part in {"all": scores, "multi-panel": scores[several]}.items():
        order, text = part[part.task == "Q7"], part[part.task == "Q8"]
        rates = {name: mean(text, name, POSITIVE) for name in ("wer", "cer")}
        yield Row(subset=subset, panel_acc=mean(order, "panel_acc"), text_acc=mean(text, "text_acc"), **rates)


@table(
    "table13",
    "Confusion matrix of humor classification by style",
    tasks=("Q5",),
    counts=CONFUSION,
    notes=("Comics. The paper's rows Per. and Exa. of LLaVA-OV 7B and Qwen2-VL 7B are swapped.",),
)
def confusion(scores: _Frame, items: _Frame) -> Iterator[Row]:
    found = Labels(scores)
    for style in STYLE_KEYS:
        yield Row(style=style, **found.confusion(style))


def _f1_by_task(part: _Frame, **keys: str | int) -> Row:
    return Row(**keys, **{f"task{task[1:]}_f1": Labels(part[part.task == task]).f1() for task in QUESTIONS})


@table("table14", "F1 of each task over the comics of one humor style", tasks=QUESTIONS, notes=(_LABEL_NOTE,))
def by_style(scores: _Frame, items: _Frame) -> Iterator[Row]:
    for style in STYLE_KEYS:
        such = items.index[[style in styles for styles in items.styles]]
        yield _f1_by_task(scores[scores.item_id.isin(such)], style=style)


@table(
    "table15",
    "F1 of each task over the comics with one number of panels",
    tasks=QUESTIONS,
    keys=("panels",),
    columns=tuple(f"task{task[1:]}_f1" for task in QUESTIONS),
    notes=(_LABEL_NOTE,),
)
def by_panels(scores: _Frame, items: _Frame) -> Iterator[Row]:
    for panels in sorted(set(items.panels)):
        yield _f1_by_task(scores[scores.item_id.isin(items.index[items.panels == panels])], panels=int(panels))


TABLES = collect(
    NAME,
    METRICS,
    ITEMS,
    *(identification, classification, number_of_styles, sequence, confusion, by_style, by_panels),
    *(*dataset.TABLES, *ratings.TABLES),
)
