"""Hummus's tables of models' answers, and the figure with numbers."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from punchline.benchmarks.hummus import (
    COUNTS,
    DATASET,
    JOINT_TASKS,
    LIMITS,
    METRICS,
    NAME,
    PROMPT_TASKS,
    SCORERS,
    SIMILAR,
    TEST_SET,
    dataset,
)
from punchline.benchmarks.hummus.dataset import F1, random_rows
from punchline.benchmarks.hummus.scope import held_out
from punchline.core.benchmark import DEFAULT
from punchline.stats.estimate import COEFFICIENT, EXACT, PERCENT, SHARE, Array, Estimate, Value, over_blocks
from punchline.stats.functions import Flags, attempted, blocks, empty, mean, metric, sd, statistic
from punchline.tables.declare import Across, Row, collect, table

GOOD: Mapping[str, tuple[str, Mapping[str, float]]] = {  # column: (task, thresholds of a good answer, section 6.1)
    "naming": ("naming", {"cosine": 0.6}),
    "naming_minilm": ("naming", {"cosine_minilm": 0.6}),
    "image_bbox": ("image_bbox", {"iou": 0.5}),
    "image_label": ("image_label", {"cosine": 0.6}),
    "image_label_minilm": ("image_label", {"cosine_minilm": 0.6}),
    "explanation": ("explanation", {"rouge1": 0.35, "rouge2": 0.087}),
}
FIGURE5_TASKS = ("classification", "naming", "image_label", "caption_hl", "explanation")
ITEMS = {"held_out": lambda item, gold: held_out(item.cluster)}


THREE_F1 = {f"classification_{which}": which for which in ("pos", "neg", "avg")}

OVERLAPS = {"image_bbox": ("iou",), "caption_hl": ("jaccard",), "explanation": ("rouge1", "rouge2")}

Columns = dict[str, Estimate]


def success(part: pd.DataFrame) -> Estimate:
    """Percentage of answers with a parsed text; refusals are in the denominator."""
    return mean(part.assign(success=100 * part.success), "success", PERCENT)


def _counts(part: pd.DataFrame) -> tuple[Array, Flags]:
    """(true and false positives and negatives, [rows, 4]; the rows that have them)."""
    counts = np.stack([metric(part, name) for name in COUNTS], axis=1)
    return counts, np.asarray(~np.isnan(counts).any(axis=1), dtype=np.bool_)


def classification(part: pd.DataFrame, **columns: str) -> Columns:
    """F1 by column of the positive class (pos), the negative one (neg) or their mean (avg), and the success rate."""
    counts, read = _counts(part)
    f1 = {name: statistic(part, counts, F1[which], where=read) for name, which in columns.items()}
    return f1 | {"classification_success": success(part)}


def over_prompts(part: pd.DataFrame, value: Value, *, spread: bool = False, least: int = 1) -> Estimate:
    """Mean (or SD) over the prompts with answers of a function of their counts; empty for fewer than `least`."""
    counts, read = _counts(part)
    value = over_blocks(value, len(COUNTS), spread=spread)
    return blocks(part, counts, read, "task", value) if part.task[read].nunique() >= least else empty(part)


def number_of_prompts(sums: Array) -> Array:
    """Number of blocks."""
    return np.full(sums.shape[:-1], sums.shape[-1] / len(COUNTS))


def means(scores: pd.DataFrame, task: str, *metrics: str) -> Columns:
    """Mean and SD of a task's metrics, by default of its overlap or its similarities, and the task's success rate.

    Columns: `task_metric`, `task` and `task_minilm` for similarity by LaBSE and by the packaged MiniLM, rouge1, rouge2.
    """
    part, kind = scores[scores.task == task], COEFFICIENT if task in SIMILAR else SHARE
    columns: Columns = {}
    for name in metrics or OVERLAPS.get(task, tuple(SCORERS.values())):
        column = f"{task}_{name}".replace("_cosine", "").removeprefix("explanation_")
        columns |= {column: mean(part, name, kind), f"{column}_sd": sd(part, name)}
    return columns | {f"{task}_success": success(part)}


@table("table2", tasks=("classification", "naming", "explanation"), data=random_rows, files=(DATASET, TEST_SET))
def understanding(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    classified = classification(scores[scores.task == "classification"], **THREE_F1)
    yield Row(**classified, **means(scores, "naming"), **means(scores, "explanation"))


@table("table3", tasks=("image_bbox", "image_label", "caption_hl"))
def localisation(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    boxes = means(scores, "image_bbox", "precision", "recall", "iou")
    words = means(scores, "caption_hl", "precision", "recall", "jaccard")
    yield Row(**boxes, **means(scores, "image_label"), **words)


@table("table4", tasks=(*PROMPT_TASKS, "classification"), conditions=("prompts", DEFAULT))
def prompts(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    three = scores[scores.condition == "prompts"]
    columns: Columns = {}
    for name, which in (("positive", "pos"), ("negative", "neg"), ("average", "avg")):
        columns |= {name: over_prompts(three, F1[which]), f"{name}_sd": over_prompts(three, F1[which], spread=True)}
    for name, spread in (("average_of_four", False), ("average_of_four_sd", True)):
        estimate = over_prompts(scores, F1["avg"], spread=spread, least=4)
        columns[name] = replace(estimate, given=three["row"].to_numpy())  # states are those of the three prompts
    prompts = replace(columns["positive"], value=number_of_prompts, kind=EXACT)
    yield Row(**columns, prompts=prompts, success=success(three))


@table("table5", tasks=JOINT_TASKS, conditions=("joint",))
def joint(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    classified = classification(scores[scores.task == "classification"], **THREE_F1)
    boxes, words = means(scores, "image_bbox"), means(scores, "caption_hl")
    yield Row(**classified, **means(scores, "naming"), **boxes, **words)


def _six(part: pd.DataFrame) -> Columns:
    """Columns of table 7."""
    classified = classification(part[part.task == "classification"], classification="avg")
    others = (means(part, task) for task in ("naming", "image_label", "image_bbox", "caption_hl", "explanation"))
    return functools.reduce(operator.or_, others, classified)


@table("table7", of="across", tasks=tuple(LIMITS))
def fine_tuned(across: Across) -> Iterator[Row]:
    by_name = {model.name: model for model in across.models}
    held = across.items.index[across.items.held_out]
    tuned = {name: model.card for name, model in by_name.items() if model.card and model.card.options.get("adapter")}
    for name, card in tuned.items():
        for setting, model_name in (("0-shot", card.base), ("fine-tuned", name)):
            if (model := by_name.get(model_name or "")) is not None:
                columns = _six(model.scores[model.scores.item_id.isin(held)])
                yield Row(setting=setting, **columns).set(of=model, complete=False)


@table("figure5", tasks=(*FIGURE5_TASKS, "classification_no_yes"), conditions=(DEFAULT, "description", "prompts"))
def image_or_description(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    described = scores[scores.condition == "description"]
    texts_of_image = scores[(scores.condition == DEFAULT) & (scores.task != "classification")]
    parts = {
        "image": (texts_of_image, scores[scores.task == "classification_no_yes"]),
        "description": (described, described[described.task == "classification"]),
    }
    for setting, (part, scores_asked) in parts.items():
        if setting == "image" and not (attempted(part) or attempted(scores_asked)):
            part, scores_asked = part[part.task == "naming"], scores_asked[:0]  # its pairs are those of the first task
        texts = means(part, "naming") | means(part, "image_label") | means(part, "caption_hl")
        classified = classification(scores_asked, classification="avg")
        yield Row(input=setting, **classified, **texts, **means(part, "explanation", "rouge1"))


@table("good_answers", tasks=("naming", "image_bbox", "image_label", "explanation"))
def good_answers(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    columns = {}
    for name, (task, least) in GOOD.items():
        part = scores[scores.task == task]
        values = part[list(least)]
        good = (values >= list(least.values())).all(axis=1).astype(float).where(values.notna().all(axis=1))
        columns[name] = mean(part.assign(good=100 * good), "good", PERCENT)
    yield Row(**columns)


OF_MODELS = (understanding, localisation, prompts, joint, dataset.train_and_test, fine_tuned, image_or_description)
TABLES = collect(NAME, METRICS, ITEMS, *OF_MODELS, good_answers, *dataset.TABLES)
