"""StripCipher's tables and figures of models' answers: tables 4 to 8, figures 4 and 6. Scores are percentages, as
published."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from punchline.benchmarks.stripcipher import (
    FEWEST,
    MEANING,
    METRICS,
    MOST,
    NAME,
    ROW,
    SEQUENCE,
    SHUFFLED,
    TASKS,
    dataset,
)
from punchline.benchmarks.stripcipher.accuracies import accuracy, mean_accuracy
from punchline.benchmarks.stripcipher.dataset import NOT_THEIRS
from punchline.benchmarks.stripcipher.holdout import held_out
from punchline.benchmarks.stripcipher.strips import CATEGORIES
from punchline.core.benchmark import DEFAULT
from punchline.stats.estimate import NO_ROWS, Estimate
from punchline.stats.functions import Flags
from punchline.tables.chart import Chart
from punchline.tables.declare import Across, Row, Table, collect, table

COMPREHENSION, CHOICE, GENERATION = "comprehension", "reordering_choice", "reordering_generation"
PRINTED = {"prediction": 600, COMPREHENSION: 680, CHOICE: 890}  # strips, table 3

ITEMS = {
    "frames": lambda item, gold: gold.values["frames"],
    "category": lambda item, gold: gold.values.get("category"),
    "tasks": lambda item, gold: frozenset(task for task in TASKS if task in gold.values),
    "meaning": lambda item, gold: "meaning" in item.fields,
    "held_out": lambda item, gold: held_out(item.item_id),
}

_STAR = (
    "A task without an answer is empty (the paper's *) and counts 0 in avg; avg is empty where the strips at hand do "
    "not have all four tasks."
)
_FRAMES = (
    "frames: separate, or side by side in one image (condition row), which a task's answers are taken of where it has "
    "none on separate frames; where that holds for some tasks only, they are named. Comprehension has the whole strip."
)
_PLACES = (
    "reordering_generation takes an answer for the frames in the order of the story; reordering_generation_as_places "
    "takes the same answer for the places of the frames as shown. The instruction can be read both ways."
)
_Frame = pd.DataFrame


def _asked(items: _Frame, task: str) -> Flags:
    """The strips that a task is asked of: [items]."""
    return np.array([task in tasks for tasks in items.tasks], dtype=np.bool_)


def _papers(items: _Frame) -> bool:
    """True if these may be the paper's strips: as many of each task as its table 3 has. No others compare with it."""
    return all(_asked(items, task).sum() == count for task, count in PRINTED.items())


def _by_task(scores: _Frame, tasks: Sequence[str] = TASKS) -> tuple[dict[str, _Frame], str]:
    """(scores of each task, how its frames were shown): of frames side by side where no separate ones are scored."""
    parts, in_row, separate = {}, [], []
    for task in tasks:
        own = scores[scores.task == task]
        parts[task], instead = own[own.condition == DEFAULT], own[own.condition == ROW]
        if parts[task].scored.any():
            separate += [task] if task != COMPREHENSION else []
        elif instead.scored.any():
            parts[task] = instead
            in_row.append(task)
    if not in_row:
        return parts, "separate"
    return parts, f"side by side: {', '.join(in_row)}" if separate else "side by side"


def _accuracies(
    scores: _Frame, tasks: Sequence[str] = TASKS, held: pd.Index | None = None
) -> tuple[dict[str, _Frame], dict[str, str | Estimate]]:
    """(scores of each task; accuracy of each, and how its frames were shown). `held`: strips that reordering counts."""
    parts, frames = _by_task(scores, tasks)
    cells: dict[str, str | Estimate] = {"frames": frames}
    for task, part in parts.items():
        counted = None if held is None or task == COMPREHENSION else part.item_id.isin(held).to_numpy()
        cells[task] = accuracy(part, where=counted)
    return parts, cells


@table(
    "table4",
    "StripCipher table 4: accuracy, %",
    tasks=TASKS,
    conditions=(DEFAULT, ROW),
    notes=(_STAR, _FRAMES, _PLACES, NOT_THEIRS),
)
def main_results(scores: _Frame, items: _Frame) -> Iterator[Row]:
    parts, cells = _accuracies(scores)
    every = pd.concat(parts.values())
    every["task"] = every.task.cat.set_categories(TASKS)  # summed in this order, whatever order the scores have
    average = mean_accuracy(every, "task", len(TASKS)) if all(_asked(items, task).any() for task in TASKS) else None
    as_places = accuracy(parts[GENERATION], "correct_as_places")
    yield Row(**cells, avg=average, **{f"{GENERATION}_as_places": as_places}).set(complete=_papers(items))


def _before_and_after(across: Across) -> Iterator[Row]:
    models = {model.name: model for model in across.models}
    pairs = [(m, models[m.card.base]) for m in across.models if m.card is not None and m.card.base in models]
    if not pairs:
        across.notes.append("No tuned model is selected together with its base: a card names it with `base: STEM`.")
    for tuned, base in pairs:
        for training, model in (("none", base), ("reordering", tuned)):
            _, cells = _accuracies(model.scores, TASKS[1:], across.items.index[across.items.held_out])
            yield Row(training=training, **cells).set(of=model, complete=_papers(across.items))


tuning = Table(
    "table5",
    "StripCipher table 5: fine-tuning on reordering, accuracy, %",
    across=_before_and_after,
    keys=("training", "frames"),
    columns=TASKS[1:],
    tasks=TASKS[1:],
    conditions=(DEFAULT, ROW),
    percents=TASKS[1:],
    notes=("Reordering is scored on strips that fine-tuning holds out, comprehension on all.", _FRAMES, NOT_THEIRS),
)


@table(
    "table6",
    "StripCipher table 6: comprehension by input, accuracy, %",
    tasks=(COMPREHENSION,),
    conditions=(DEFAULT, SEQUENCE, SHUFFLED),
    notes=("Inputs sequence and shuffled need conditions=[sequence,shuffled].", NOT_THEIRS),
)
def by_input(scores: _Frame, items: _Frame) -> Iterator[Row]:
    for name, condition in {"whole": DEFAULT, "sequence": SEQUENCE, "shuffled": SHUFFLED}.items():
        part = scores[scores.condition == condition]
        yield Row(input=name, comprehension=accuracy(part)).set(complete=_papers(items))


@table(
    "table7",
    "StripCipher table 7: reordering by choice, with and without the implicit meaning, accuracy, %",
    tasks=(CHOICE,),
    conditions=(DEFAULT, MEANING),
    notes=("Input meaning needs conditions=[meaning], and strips with reviewed texts.", NOT_THEIRS),
)
def with_meaning(scores: _Frame, items: _Frame) -> Iterator[Row]:
    shuffled, given = (scores[scores.condition == condition] for condition in (DEFAULT, MEANING))
    papers, told = _papers(items), items.index[items.meaning.astype(bool)]
    yield Row(input="shuffled", reordering_choice=accuracy(shuffled)).set(complete=papers)
    if 0 < len(told) < len(items):
        same = accuracy(shuffled[shuffled.item_id.isin(told)])
        yield Row(subset="with meaning", input="shuffled", reordering_choice=same).set(complete=False)
    yield Row(input="meaning", reordering_choice=accuracy(given)).set(complete=papers)


def _split(scores: _Frame, items: _Frame, column: str, kinds: Sequence[str | int]) -> Iterator[Row]:
    """Comprehension by a property of the strips."""
    papers, asked = _papers(items), _asked(items, COMPREHENSION)
    for kind in kinds:
        strips = items.index[asked & (items[column] == kind)]
        if len(strips):
            right = accuracy(scores[scores.item_id.isin(strips)])
            yield Row(**{column: kind}, comprehension=right).set(complete=papers)


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


by_frames = Table(
    "table8",
    "StripCipher table 8: comprehension by number of frames, accuracy, %",
    rows=functools.partial(_split, column="frames", kinds=range(FEWEST, MOST + 1)),
    across=_mean_of_models,
    keys=("frames",),
    columns=(COMPREHENSION,),
    tasks=(COMPREHENSION,),
    percents=(COMPREHENSION,),
    notes=("AVG: the mean of the selected models, at least two, without baselines.", NOT_THEIRS),
)


@table(
    "figure4",
    "StripCipher figure 4: accuracy by size of the model, %",
    tasks=TASKS,
    conditions=(DEFAULT, ROW),
    chart=Chart(TASKS, within=("frames",)),
    notes=("Of the figure's values the text prints three and table 4 two more.", _FRAMES, NOT_THEIRS),
)
def by_model_size(scores: _Frame, items: _Frame) -> Iterator[Row]:
    yield Row(**_accuracies(scores)[1]).set(complete=_papers(items))


by_category = Table(
    "figure6",
    "StripCipher figure 6: comprehension by category, accuracy, %",
    rows=functools.partial(_split, column="category", kinds=CATEGORIES),
    keys=("category",),
    columns=(COMPREHENSION,),
    tasks=(COMPREHENSION,),
    percents=(COMPREHENSION,),
    chart=Chart((COMPREHENSION,), by="category"),
    notes=("The paper prints no number of this figure.",),
)


TABLES = collect(
    NAME,
    METRICS,
    ITEMS,
    *(dataset.size, dataset.tasks),
    *(main_results, tuning, by_input, with_meaning, by_frames, by_model_size),
    *(dataset.categories, by_category),
)
