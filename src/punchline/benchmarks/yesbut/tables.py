"""YesBut's tables of models' answers: tables 2 and 3, figures 4 and 5.

A value is the unweighted mean over the prompts of a task that have answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from punchline.benchmarks.yesbut import CLOSED, KINDS, METRICS, NAME, PROMPTS, WRITTEN, dataset, ratings
from punchline.core.benchmark import DEFAULT
from punchline.scores import ItemColumn
from punchline.stats.estimate import PERCENT, REAL
from punchline.stats.functions import empty, items_of, mean, sd
from punchline.tables.declare import Row, Table, collect, table

UNITS = {  # kind and scale of a metric
    "bert": (REAL, 100.0),
    "r2": (PERCENT, 100.0),
    "gpt": (REAL, 1.0),  # the released code takes any number for a score, and -1 for none
    "bert_minilm": (REAL, 100.0),  # of the stand-in encoder
    "correct": (PERCENT, 100.0),
}
# Columns that are means: {column: (task without the number of its prompt, metric)}.
MEASURES = {f"{task}_{name}": (task, name) for task in WRITTEN for name in UNITS if name != "correct"}
MEASURES |= {"philosophy_acc": ("moral_mcq", "correct"), "title_acc": ("title_mcq", "correct")}
SCORED = dict(zip(("n_description", "n_contradiction", "n_philosophy", "n_title"), KINDS, strict=True))

TEXT_ONLY = "text_llava_13b"


def _answers(part: pd.DataFrame) -> list[int]:
    """Number of answers to each prompt that has any."""
    answered = part[~part.state.isin(("missing", "failed"))]
    return answered.groupby("task", observed=True).size().tolist()


def _prompts(parts: Iterable[pd.DataFrame]) -> int | str:
    """Number of prompts with an answer; "1-3" where the tasks that have any differ."""
    counts = sorted(len(numbers) for part in parts if (numbers := _answers(part))) or [0]
    return counts[0] if counts[0] == counts[-1] else f"{counts[0]}-{counts[-1]}"


def _is_complete(parts: Mapping[str, pd.DataFrame]) -> bool:
    """True if a task's prompts have equally many answers, and no scored answer lacks a metric that others have.

    A judge may have failed on some answers; where no answer has the metric, no judge was asked.
    """
    scored = {task: part[part.scored] for task, part in parts.items()}
    judged = all(scored[task][metric].notna().nunique() < 2 for task, metric in MEASURES.values())
    return judged and all(len(set(_answers(part))) < 2 for part in parts.values())


def _row(scores: pd.DataFrame, condition: str) -> Row:
    """Columns of the answers in one condition: means, SDs of the prompts' means, and numbers of comics."""
    answers = scores[scores.condition == condition]
    parts = {task: answers[answers.task.isin([f"{task}_{k}" for k in PROMPTS])] for task in KINDS}
    cells = {name: items_of(parts[task], parts[task].scored.to_numpy()) for name, task in SCORED.items()}
    by_prompt = []
    for name, (task, metric) in MEASURES.items():
        part, (kind, scale) = parts[task], UNITS[metric]
        has, scaled = part[metric].notna(), part.assign(**{metric: scale * part[metric]})
        cells[name], cells[f"{name}_sd"] = (of(scaled, metric, kind, over="task") for of in (mean, sd))
        cells[f"n_{name}"] = items_of(part, has.to_numpy())
        by_prompt += [items_of(part, (has & (part.task == f"{task}_{k}")).to_numpy()) for k in PROMPTS]
    numbers = [number for number in by_prompt if number.n]
    cells["prompts_least_n"] = min(numbers, key=lambda number: number.n, default=empty(answers))
    return Row(condition=condition, prompts=_prompts(parts.values()), **cells).set(complete=_is_complete(parts))


@table("table2", conditions=(DEFAULT, TEXT_ONLY))
def all_tasks(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
    """The image row, then the text row; only the text row for a model that answered nothing about images."""
    image, text = (scores[scores.condition == name] for name in (DEFAULT, TEXT_ONLY))
    if text.empty or _answers(image):
        yield _row(scores, DEFAULT)
    if not text.empty:
        yield _row(scores, TEXT_ONLY)


def _by_condition(name: str, *conditions: str) -> Table:
    """A table with a row per condition that was asked, or an empty one of the first."""

    def rows(scores: pd.DataFrame, items: pd.DataFrame) -> Iterator[Row]:
        conditions_asked = [condition for condition in conditions if (scores.condition == condition).any()]
        return (_row(scores, condition) for condition in conditions_asked or conditions[:1])

    return Table(name, rows=rows, tasks=CLOSED, conditions=conditions)


own_description = _by_condition("table3", DEFAULT, "chained")
text_only = _by_condition("figure4", "text_oracle", TEXT_ONLY, "text_llava_7b")
annotated_description = _by_condition("figure5", DEFAULT, "oracle")
OF_ANSWERS = (all_tasks, own_description, text_only, annotated_description, ratings.rated)
ITEMS: dict[str, ItemColumn] = {}  # tables need no columns of items
TABLES = collect(NAME, METRICS, ITEMS, dataset.components, *OF_ANSWERS, dataset.figure8)
