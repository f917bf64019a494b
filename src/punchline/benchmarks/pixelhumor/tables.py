"""PixelHumor's tables of models' answers: tables 2, 3, 4, 8, 13, 14 and 15."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

from punchline.benchmarks.comic_panels import by_comic
from punchline.benchmarks.pixelhumor import METRICS, NAME, STYLES, SUBJECTIVE, dataset, ratings
from punchline.benchmarks.pixelhumor.data import Subjective
from punchline.benchmarks.pixelhumor.dataset import QUESTIONS
from punchline.benchmarks.pixelhumor.people import with_people
from punchline.core.benchmark import Files
from punchline.stats.estimate import PERCENT, POSITIVE
from punchline.stats.functions import count, mean
from punchline.stats.labels import Labels
from punchline.tables.declare import Row, collect, table

STYLE_KEYS = tuple(style.lower() for style in (*STYLES, "NA"))
SUBTASKS = {"humor_presence": "Q1", "sound_effect": "Q2", "panel_contribution": "Q3", "modality": "Q4"}
SIZES = {"styles_1": (1, 1), "styles_2": (2, 2), "styles_3": (3, 3), "styles_4": (4, 4), "styles_5plus": (5, np.inf)}
ORDER_ERRORS = ("default_order", "out_of_range", "wrong_number", "repeated", "runaway")

ITEMS = {
    "panels": lambda item, gold: int(gold.values["number_of_panels"]),
    "styles": lambda item, gold: frozenset(style.lower() for style in gold.values["Q5"]),
}


@with_people
@table("table2", tasks=tuple(SUBTASKS.values()))
def identification(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    for name, task in SUBTASKS.items():
        labels = Labels(scores[scores.task == task])
        weighted = {"f1": labels.f1(), "precision": labels.precision(), "recall": labels.recall()}
        yield Row(subtask=name, **weighted, accuracy=labels.exact())


@with_people
@table("table3", tasks=("Q5",))
def classification(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    labels = Labels(scores)
    recalls = {f"recall_{style}": labels.recall(style) for style in STYLE_KEYS}
    yield Row(f1=labels.f1(), precision=labels.precision(), recall=labels.recall(), **recalls)


def _styles_of_gold(files: Files) -> Iterator[Row]:
    sizes = pd.Series({comic: len(set(labels.Q5)) for comic, labels in by_comic(files, SUBJECTIVE, Subjective).items()})
    counts = {name: count(sizes.between(*limits), sizes.index) for name, limits in SIZES.items()}
    yield Row(model="ground truth", **counts)


@table("table4", tasks=("Q5",), data=_styles_of_gold, files=(SUBJECTIVE,))
def number_of_styles(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    labels = Labels(scores)
    yield Row(**{name: labels.with_size(*limits) for name, limits in SIZES.items()})


@table("table8", tasks=("Q7", "Q8"))
def sequence(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    several = scores.item_id.isin(items.index[items.panels > 1])
    for subset, part in {"all": scores, "multi-panel": scores[several]}.items():
        order, text = part[part.task == "Q7"], part[part.task == "Q8"]
        rates = {name: mean(text, name, POSITIVE) for name in ("wer", "cer")}
        yield Row(subset=subset, panel_acc=mean(order, "panel_acc"), text_acc=mean(text, "text_acc"), **rates)


@table("order_errors", tasks=("Q7",))
def order_errors(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    part = scores[scores.item_id.isin(items.index[items.panels > 1])]
    panels = items.panels.reindex(part.item_id.astype(object))
    orders = [json.loads(parsed) if isinstance(parsed, str) else None for parsed in part.parsed]
    errors = [_order_errors(order, n) for order, n in zip(orders, panels, strict=True)]
    columns = pd.DataFrame(errors, index=part.index, columns=ORDER_ERRORS, dtype=float)
    columns["default_order"] *= 1 - part.panel_acc
    columns = columns.where(part.scored, np.nan)
    yield Row(**{name: mean(part.assign(error=100 * columns[name]), "error", PERCENT) for name in ORDER_ERRORS})


def _order_errors(order: list[str] | None, panels: int) -> tuple[bool, ...] | None:
    """Flags of ORDER_ERRORS of a parsed order."""
    if order is None:
        return (False,) * len(ORDER_ERRORS)
    labels = [str(label) for label in range(1, panels + 1)]
    repeated, runaway = len(set(order)) < len(order), len(order) > 2 * panels
    return order == labels, not set(order) <= set(labels), len(order) != panels, repeated, runaway


@table("table13", tasks=("Q5",))
def confusion(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    labels = Labels(scores)
    for style in STYLE_KEYS:
        yield Row(style=style, **labels.confusion(style))


def _f1_by_task(part: pd.DataFrame, **keys: str | int) -> Row:
    return Row(**keys, **{f"task{task[1:]}_f1": Labels(part[part.task == task]).f1() for task in QUESTIONS})


@table("table14", tasks=QUESTIONS)
def by_style(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    for style in STYLE_KEYS:
        of_styles = items.index[[style in styles for styles in items.styles]]
        yield _f1_by_task(scores[scores.item_id.isin(of_styles)], style=style)


@table("table15", tasks=QUESTIONS)
def by_panels(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    for panels in sorted(set(items.panels)):
        yield _f1_by_task(scores[scores.item_id.isin(items.index[items.panels == panels])], panels=int(panels))


TABLES = collect(
    NAME,
    METRICS,
    ITEMS,
    *(identification, classification, number_of_styles, sequence, order_errors, confusion, by_style, by_panels),
    *(*dataset.TABLES, *ratings.TABLES),
)
