"""StripCipher's tables and figures of models' answers: tables 4 to 8, figures 4 and 6. Scores are percentages, as
published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from punchline.benchmarks.stripcipher import (
    CHOICES,
    COMPREHENSION,
    FEWEST,
    GOLD_FILES,
    MEANING,
    METRICS,
    MOST,
    NAME,
    REVIEWED,
    ROW,
    SEQUENCE,
    SHUFFLED,
    TASKS,
    WEAK,
    dataset,
    evaluation,
)
from punchline.benchmarks.stripcipher.holdout import held_out
from punchline.benchmarks.stripcipher.strips import CATEGORIES
from punchline.core.benchmark import DEFAULT, Files
from punchline.stats.estimate import NO_ROWS, PERCENT, Array, Estimate, percent, ratio
from punchline.stats.functions import Flags, mean
from punchline.tables.declare import Across, Row, collect, table

CHOICE, GENERATION = "reordering_choice", "reordering_generation"
PRINTED = {"prediction": 600, COMPREHENSION: 680, CHOICE: 890}  # strips, table 3

ITEMS = {
    "frames": lambda item, gold: gold.values["frames"],
    "category": lambda item, gold: gold.values.get("category"),
    "tasks": lambda item, gold: frozenset(task for task in TASKS if task in gold.values),
    "meaning": lambda item, gold: "meaning" in item.fields,
    "weak": lambda item, gold: frozenset(task for task in REVIEWED if f"{task}_weak_A" in item.fields),
    "held_out": lambda item, gold: held_out(item.item_id),
}


def accuracy(part: pd.DataFrame, column: str = "correct", where: Flags | None = None) -> Estimate:
    """100 x right / scored; `where`: the rows that may count."""
    return replace(mean(part, column, PERCENT, where=where), value=percent)


def mean_accuracy(part: pd.DataFrame, over: str, count: int) -> Estimate:
    """Sum of the accuracies of each value of the column `over`, divided by `count`: a value without answers adds 0."""

    def value(sums: Array) -> Array:
        return np.asarray(100 * ratio(sums[..., 0::2], sums[..., 1::2]).sum(axis=-1) / count)

    return replace(mean(part, "correct", PERCENT, over=over), value=value)


def _has(items: pd.DataFrame, task: str, column: str = "tasks") -> pd.Series[bool]:
    """Flags of the strips that a task is asked of; `column` weak: with weak distractors too."""
    return items[column].map(lambda tasks: task in tasks).astype(bool)


def _complete(items: pd.DataFrame) -> bool:
    """True if these may be the paper's strips: as many of each task as its table 3 has. No others compare with it."""
    return all(_has(items, task).sum() == count for task, count in PRINTED.items())


def _accuracies(
    scores: pd.DataFrame, tasks: Sequence[str] = TASKS, held: pd.Index | None = None
) -> tuple[dict[str, pd.DataFrame], dict[str, str | Estimate]]:
    """(scores of each task; accuracy of each, and how its frames were shown). `held`: strips that reordering counts.

    A task is scored on frames side by side where no answer on separate ones is scored.
    """
    scored = set(scores.loc[scores.scored, ["task", "condition"]].itertuples(index=False, name=None))
    in_row = [task for task in tasks if (task, DEFAULT) not in scored and (task, ROW) in scored]
    separate = any((task, DEFAULT) in scored for task in tasks if task != COMPREHENSION)
    frames = "side by side" + (f": {', '.join(in_row)}" if separate else "") if in_row else "separate"
    parts, cells = {}, dict[str, str | Estimate](frames=frames)
    for task in tasks:
        condition = ROW if task in in_row else DEFAULT
        parts[task] = part = scores[(scores.task == task) & (scores.condition == condition)]
        counted = None if held is None or task == COMPREHENSION else part.item_id.isin(held).to_numpy()
        cells[task] = accuracy(part, where=counted)
    return parts, cells


def _people(files: Files) -> Iterator[Row]:
    """Raters of the study `people`, on questions with options."""
    answers = evaluation.read_answers(files)
    if len(answers):
        yield Row(model="people", **_accuracies(answers, CHOICES)[1]).set(complete=False)


_OF_PEOPLE: dict[str, Any] = {"data": _people, "files": GOLD_FILES, "own": (evaluation.ANSWERS,), "kind": "human"}


@table("table4", tasks=TASKS, conditions=(DEFAULT, ROW), **_OF_PEOPLE)
def main_results(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    parts, cells = _accuracies(scores)
    has_all_tasks = all(_has(items, task).any() for task in TASKS)
    average = mean_accuracy(pd.concat(parts.values()), "task", len(TASKS)) if has_all_tasks else None
    as_places = accuracy(parts[GENERATION], "correct_as_places")
    yield Row(**cells, avg=average, **{f"{GENERATION}_as_places": as_places}).set(complete=_complete(items))


@table("table5", of="across", tasks=TASKS[1:], conditions=(DEFAULT, ROW))
def tuning(across: Across) -> Iterator[Row]:
    for tuned, base in across.with_base:
        for training, model in (("none", base), ("reordering", tuned)):
            _, cells = _accuracies(model.scores, TASKS[1:], across.items.index[across.items.held_out])
            yield Row(training=training, **cells).set(of=model, complete=_complete(across.items))


@table("table6", tasks=(COMPREHENSION,), conditions=(DEFAULT, SEQUENCE, SHUFFLED))
def by_input(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    for name, condition in {"whole": DEFAULT, "sequence": SEQUENCE, "shuffled": SHUFFLED}.items():
        part = scores[scores.condition == condition]
        yield Row(input=name, comprehension=accuracy(part)).set(complete=_complete(items))


@table("table7", tasks=(CHOICE,), conditions=(DEFAULT, MEANING))
def with_meaning(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    shuffled, given = (scores[scores.condition == condition] for condition in (DEFAULT, MEANING))
    complete, meanings = _complete(items), items.index[items.meaning.astype(bool)]
    yield Row(input="shuffled", reordering_choice=accuracy(shuffled)).set(complete=complete)
    if 0 < len(meanings) < len(items):
        same = accuracy(shuffled[shuffled.item_id.isin(meanings)])
        yield Row(subset="with meaning", input="shuffled", reordering_choice=same).set(complete=False)
    yield Row(input="meaning", reordering_choice=accuracy(given)).set(complete=complete)


@table("distractors", tasks=REVIEWED, conditions=(DEFAULT, WEAK))
def by_distractors(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    for name, condition in {"strong": DEFAULT, "weak": WEAK}.items():
        cells = {}
        for task in REVIEWED:
            part = scores[(scores.task == task) & (scores.condition == condition)]
            cells[task] = accuracy(part[part.item_id.isin(items.index[_has(items, task, "weak")])])
        yield Row(distractors=name, **cells).set(complete=False)


def _split(scores: pd.DataFrame, items: pd.DataFrame, column: str, kinds: Sequence[str | int]) -> Iterator[Row]:
    """Comprehension by a property of the strips."""
    for kind in kinds:
        strips = items.index[_has(items, COMPREHENSION) & (items[column] == kind)]
        if len(strips):
            part = scores[scores.item_id.isin(strips)]
            yield Row(**{column: kind}, comprehension=accuracy(part)).set(complete=_complete(items))


def _mean_of_models(across: Across) -> Iterator[Row]:
    """The mean of the selected models that answer; baselines are none."""
    models = {model.name: model.scores for model in across.models if model.kind != "baseline"}
    if len(models) < 2:
        return
    scores = pd.concat(models, names=["name"]).reset_index("name")
    for frames in range(FEWEST, MOST + 1):
        part = scores[scores.item_id.isin(across.items.index[across.items.frames == frames])]
        count = part.name[part.correct.notna()].nunique()
        if count > 1:
            average = replace(mean_accuracy(part, "name", count), given=NO_ROWS)  # its models' rows count states
            yield Row(model="AVG", frames=frames, comprehension=average).set(complete=False)


@table("table8", tasks=(COMPREHENSION,), across=_mean_of_models)
def by_frames(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    return _split(scores, items, "frames", range(FEWEST, MOST + 1))


@table("figure4", tasks=TASKS, conditions=(DEFAULT, ROW))
def by_model_size(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    yield Row(**_accuracies(scores)[1]).set(complete=_complete(items))


@table("figure6", tasks=(COMPREHENSION,))
def by_category(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    return _split(scores, items, "category", CATEGORIES)


OF_MODELS = (main_results, tuning, by_input, with_meaning, by_frames, by_distractors, by_model_size)
TABLES = collect(NAME, METRICS, ITEMS, dataset.size, dataset.by_task, *OF_MODELS, dataset.categories, by_category)
