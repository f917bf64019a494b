"""Shortcuts: answers to closed questions from options, texts or labels alone, scored as a model's answers are.

A shortcut is worth its value in the benchmark's own tables, under the rule of the published values.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from punchline import paths
from punchline.artifacts.run import Run
from punchline.core import shortcuts as by_options
from punchline.core.benchmark import DEFAULT, Benchmark, optional_module
from punchline.files import Keyed, parse_csv
from punchline.schema import Gold, Item, Response, Rule, Score, Text
from punchline.scores import items_frame, scores_frame
from punchline.stats.estimate import ALPHA, FEWEST, NO_ROWS, Estimate
from punchline.stats.intervals import differs
from punchline.tables.declare import Table
from punchline.tables.render import read_published
from punchline.tables.run import rows_of_model
from punchline.validity.answers import limits
from punchline.validity.items import measured

VALUES = ("benchmark", "task", "metric", "shortcut", "value", "lo", "hi", "n", "chance")
COLUMNS = (*VALUES, "best_published", "published_below", "table", "row", "not_above")
FOLDS = 10  # of the cross-validation, by cluster
DRAWS = 4  # of chance: of two or four answers each is drawn equally often
_PROMPT = re.compile(r"_\d$")  # the number of a prompt, in names of YesBut's tasks
Cells = dict[tuple[str, str, str], tuple[str, Estimate]]  # by table, keys, column: task, estimate


def _cross_validated(texts: pd.Series, right: pd.Series, clusters: pd.Series, method: str) -> Any:
    """Predictions for each text by a bag-of-words logistic regression on texts of other clusters."""
    # Slow to import, and most benchmarks have no such shortcut.
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    words = make_pipeline(CountVectorizer(token_pattern=r"\w+"), LogisticRegression(max_iter=1000))
    folds = GroupKFold(min(FOLDS, clusters.nunique()))
    return cross_val_predict(words, texts, right, groups=clusters, cv=folds, method=method)


def options_only(questions: pd.DataFrame) -> pd.Series:
    """The option that looks most like a right one."""
    each = questions["options"].map(lambda options: list(options.items())).explode()
    of = questions.loc[each.index]
    letters = pd.Series(each.str[0].to_numpy())
    values = _cross_validated(each.str[1], letters.to_numpy() == of["right"], of["cluster"], "decision_function")
    best = pd.Series(values).groupby(each.index).idxmax()
    return letters[best].set_axis(best.index)


def text_only(questions: pd.DataFrame) -> pd.Series:
    """The label that the text suggests."""
    labels = _cross_validated(questions["text"], questions["right"], questions["cluster"], "predict")
    return pd.Series(labels, questions.index)


# The column of questions that a shortcut needs, and its answers.
SHORTCUTS: dict[str, tuple[str, Callable[[pd.DataFrame], pd.Series]]] = {
    "always-majority": ("right", lambda questions: pd.Series(questions["right"].mode()[0], questions.index)),
    "longest-option": ("options", lambda questions: questions["options"].map(by_options.longest_option)),
    "options-only": ("options", options_only),
    "text-only": ("text", text_only),
    "last-panel": ("last", lambda questions: questions["last"]),
}
LEARNED = (options_only, text_only)


def draw(questions: pd.DataFrame, number: int) -> pd.Series:
    """One of DRAWS uniform draws: each next answer after a random first."""

    def drawn(question: Any) -> str:
        allowed: list[str] = list(question.options or question.allowed)
        first = random.Random(f"{question.item_id} {question.task}").randrange(len(allowed))
        return allowed[(first + number) % len(allowed)]

    return pd.Series(map(drawn, questions.itertuples()), questions.index, dtype=object)


def questions_of(
    benchmark: Benchmark, items: Mapping[str, Item], golds: Mapping[str, Gold], rule: Rule
) -> pd.DataFrame:
    """Closed questions of a benchmark that have a right answer; empty columns where a shortcut does not apply."""
    module, rows = optional_module(benchmark.NAME, "baselines"), []
    closed: Any = getattr(module, "closed_answers", lambda *_: {})
    last: Any = getattr(module, "last_panel", lambda *_: {})
    for item_id, item in items.items():
        answers, panels = closed(golds[item_id], rule), last(golds[item_id])
        requests = (one for one in benchmark.requests(item) if one.condition == DEFAULT and one.task in answers)
        for request in requests:
            options = by_options.options(request) if request.task in benchmark.OPTIONS else {}
            row = (item_id, item.cluster, request.task, *answers[request.task], options)
            parts = (part for message in request.messages for part in message.content if isinstance(part, Text))
            text = "" if options else "\n".join(part.text for part in parts)
            rows.append((*row, text, panels.get(request.task, "")))
    columns = ["item_id", "cluster", "task", "right", "allowed", "options", "text", "last"]
    return pd.DataFrame(rows, columns=columns)


def answer(questions: pd.DataFrame, column: str, function: Callable[[pd.DataFrame], pd.Series]) -> pd.DataFrame:
    """Item, task and answer of the questions of all tasks to which a shortcut applies."""
    answers = [questions[:0].assign(answer="")]
    for _, of_task in questions.groupby("task", sort=False):
        constant = column == "text" and of_task["text"].nunique() == 1
        few = function in LEARNED and (of_task["cluster"].nunique() < FEWEST or of_task["right"].nunique() < 2)
        if of_task[column].astype(bool).all() and not constant and not few:
            answers.append(of_task.assign(answer=function(of_task)))
    return pd.concat(answers)[["item_id", "task", "answer"]]


class Measured:
    """The values of shortcuts in the tables of one benchmark."""

    def __init__(self, benchmark: Benchmark, items: Mapping[str, Item], golds: Mapping[str, Gold]) -> None:
        self.benchmark, self.items, self.golds = benchmark, items, golds
        self.frame = items_frame(items, golds, benchmark.ITEMS)
        self.published = read_published(paths.published(benchmark.NAME))
        self.questions = functools.cache(functools.partial(questions_of, benchmark, items, golds))
        self.of_model = functools.cache(self._of_model)
        self.scored = functools.cache(self._scored)  # draws and shortcuts have many answers in common

    def _scored(self, item_id: str, task: str, text: str, rule: Rule) -> list[Score]:
        """The scores of one answer."""
        about: dict[str, Any] = {"request_id": "", "model_key": "", "engine": "", "engine_version": "", "state": "ok"}
        answers = {task: Response(text=text, **about)}  # alone: PixelHumor's Q1 = No changes Q3
        item, gold = self.items[item_id], self.golds[item_id]
        return list(self.benchmark.score_item(answers, item, gold, "", rule, tasks=[task]))

    def _of_model(self, table: Table, path: str) -> dict[tuple[str, str], Estimate]:
        """A model's estimates in a table, by keys and column. `path`: its scores."""
        frame, _ = scores_frame(path, self.frame, table.published_rule, self.benchmark.METRICS)
        rows = _ordered(table, frame, self.frame)
        return {(keys, column): replace(estimate, used=NO_ROWS, given=NO_ROWS) for keys, column, estimate in rows}

    def cells(self, required: str, function: Callable[[pd.DataFrame], pd.Series]) -> Cells:
        """Values of a shortcut: each task in the first row of the first table that shows it."""
        cells: Cells = {}
        first: dict[str, tuple[str, str]] = {}

        @functools.cache
        def scored(rule: Rule) -> pd.DataFrame:
            answers = answer(self.questions(rule), required, function).itertuples(index=False)
            scores = (score for one in answers for score in self.scored(*one, rule))
            return scores_frame(scores, self.frame, rule, self.benchmark.METRICS)[0]

        for table in self.benchmark.TABLES.values():
            closed = {*self.questions(table.published_rule)["task"].unique()}
            if table.rows is None or not closed.intersection(table.tasks or closed) - first.keys():
                continue
            frame = scored(table.published_rule)
            for keys, column, estimate in _ordered(table, frame, self.frame):
                tasks = sorted(frame["task"].iloc[estimate.used].unique())
                if all(first.setdefault(task, (table.name, keys)) == (table.name, keys) for task in tasks):
                    cells[table.name, keys, column] = _PROMPT.sub("", tasks[0]), estimate
        return cells

    def _compared(self, place: tuple[str, str, str], shortcut: Estimate, scores: Mapping[str, str]) -> dict[str, Any]:
        """The best published model, how many are below a shortcut, and models whose paired difference is not above."""
        name, keys, column = place
        table, pairs = self.benchmark.TABLES[name], {"", *keys.split(";")}
        sign, value = -1 if table.better(column) == "lower" else 1, shortcut.point() or 0.0
        rows = (row for row in self.published if (row["table"], row["column"]) == (name, column))
        models_rows = (row for row in rows if not row["row"].startswith(("Human", "Random")))
        values = [float(row["value"]) for row in models_rows if pairs.issuperset(row["key"].split(";"))]
        models = {model: self.of_model(table, path).get((keys, column)) for model, path in scores.items()}
        behind = [model for model, of in models.items() if of and of.n and sign * differs(of, shortcut, ALPHA) < 1]
        below = sum(sign * one < sign * value for one in values)
        best = max(values, key=lambda one: sign * one, default=None)
        about = {"best_published": best, "published_below": below, "table": name, "row": keys}
        return about | {"not_above": "; ".join(behind)}

    def rows(self, scores: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Rows of shortcuts.csv. `scores`: paths of the models' scores, by model."""
        each = (self.cells("right", functools.partial(draw, number=number)) for number in range(DRAWS))
        # Values alone: what they are made of is large.
        draws = [{place: estimate.point() for place, (_, estimate) in cells.items()} for cells in each]
        for name, (required, function) in SHORTCUTS.items():
            for place, (task, estimate) in self.cells(required, function).items():
                drawn = [values[place] for values in draws if place in values]
                value, (low, high) = estimate.point(), limits(estimate)
                if value in (estimate.bounds.low, estimate.bounds.high):
                    continue  # of a constant answer, such as the recall of its label
                chance = pd.Series(drawn, dtype=float).mean()
                values = (self.benchmark.NAME, task, place[2], name, value, low, high, estimate.n, chance)
                others = {model: path for model, path in scores.items() if model != name}
                yield dict(zip(VALUES, values, strict=True)) | self._compared(place, estimate, others)


def _ordered(table: Table, frame: pd.DataFrame, items: pd.DataFrame) -> Iterator[tuple[str, str, Estimate]]:
    """(keys, column, estimate) of a table's columns in which more or less is better."""
    for row in rows_of_model(table, frame, items):
        for column, estimate in row.estimates.items():
            ordered = column in table.columns and table.better(column) != "neither"
            if ordered and estimate.point() is not None:
                yield row.key, column, estimate


def rows(run: Run, benchmark: str) -> Iterator[dict[str, Any]]:
    """Rows of a benchmark's shortcuts.csv: every shortcut that applies to one of its closed tasks."""
    items, golds = Keyed(run.paths.items(benchmark), Item), Keyed(run.paths.gold(benchmark), Gold)
    scores = {card.name: run.paths.scores(benchmark, card.name) for card in measured(run)}
    return Measured(run.benchmark(benchmark), items, golds).rows(scores)


def of_all(run: Run) -> list[dict[str, str]]:
    """Rows of the selected benchmarks' shortcuts.csv."""
    files = [run.paths.csv("shortcuts", name) for name in run.selection.benchmarks]
    return [row for file in files for _, row in parse_csv(Path(file).read_bytes(), COLUMNS, file=file)]
