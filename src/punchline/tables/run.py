"""Run a table's functions: rows as plain data, with intervals, states and the digests of the scores they depend on."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from punchline.core.benchmark import DEFAULT
from punchline.schema import STATES, Cell, Rule, Scalar, digest_of_all, sha256
from punchline.scores import DIGEST, Digests
from punchline.stats.estimate import NO_ROWS, Estimate
from punchline.stats.estimate import Rows as RowNumbers
from punchline.stats.functions import units
from punchline.stats.intervals import interval
from punchline.tables.declare import Across, Row, Table, no_scores

# The first of these that an answer to one of a row's tasks is in is the item's state in that row.
WORST = ("failed", "missing", "refused", "unparsable")
COUNTED = (*(state for state in STATES if state != "ok"), "truncated")
FLAGS = ("truncated", "extracted")  # counted beside the state; `extracted` is shown in runs with an extractor


class Measured(NamedTuple):
    """A row of one model, or of the data, as plain data: all that a table shows of it."""

    model: str
    kind: str  # measured | baseline | human
    engine: str
    keys: dict[str, str | int]
    key: str
    cells: dict[str, Cell]  # by column, where anything is in the denominator
    items: int  # over which states are counted, each sample by itself; 0 for rows of the data
    states: dict[str, int]
    complete: bool
    tasks: str  # of its scores


class Answers:
    """States, tasks and digests of score rows, by row number, which goes on from each model's frame to the next."""

    def __init__(self, frames: Sequence[tuple[pd.DataFrame, Digests]] = ()) -> None:
        frames = frames or [(no_scores(()), np.empty(0, DIGEST))]
        for (frame, _), end in zip(frames, itertools.accumulate(len(frame) for frame, _ in frames), strict=True):
            frame["row"] = np.arange(end - len(frame), end, dtype=np.int32)
        heads = ["task", "condition"]
        parts = [frame[[*heads, "state", *FLAGS]].astype(dict.fromkeys(heads, object)) for frame, _ in frames]
        rows = pd.concat(parts, ignore_index=True)
        self.pairs = list(rows[heads].drop_duplicates().itertuples(index=False, name=None))  # (task, condition)
        self.pair = rows.groupby(heads, sort=False).ngroup().to_numpy()
        self.state = rows["state"].cat.codes.to_numpy()
        self.flags = {name: rows[name].to_numpy() for name in FLAGS}
        self.unit = np.concatenate([units(frame) for frame, _ in frames])
        self.digests = np.concatenate([digests for _, digests in frames])

    def given(self, row: Row) -> RowNumbers:
        """Numbers of the score rows that a row's states are counted over."""
        numbers = np.concatenate([NO_ROWS, *(estimate.given for estimate in row.estimates.values())])
        return np.unique(numbers[numbers >= 0])

    def count_states(self, given: RowNumbers) -> tuple[int, dict[str, int]]:
        """(items, {state but ok, or flag: items}) of score rows, each sample of an item by itself.

        An item is in one state, the worst of its answers; beside it, it has the flags that one of them has. A task
        without a single answer was not attempted and does not count, unless none was.
        """
        attempted = np.bincount(self.pair[given], weights=self.state[given] != STATES.index("missing")) > 0
        if attempted.any():
            given = given[attempted[self.pair[given]]]
        place, unit = np.unique(self.unit[given], return_inverse=True)
        severity = np.array([len(WORST) - WORST.index(state) if state in WORST else 0 for state in STATES])
        worst = np.zeros(len(place), dtype=np.int64)
        np.maximum.at(worst, unit, severity[self.state[given]])
        counts = {state: int((worst == severity[STATES.index(state)]).sum()) for state in COUNTED[:-1]}
        counts |= {name: len(np.unique(unit[flag[given]])) for name, flag in self.flags.items()}
        return len(place), {name: count for name, count in counts.items() if count}

    def filter(self, given: RowNumbers) -> dict[str, Scalar]:
        """Filter of these score rows: tasks, their condition but for the default, other pairs of task@condition."""
        pairs = [self.pairs[number] for number in dict.fromkeys(self.pair[given].tolist())]
        if not pairs:
            return {}
        condition = pairs[0][1]
        chosen: dict[str, Scalar] = {"tasks": ",".join(task for task, of in pairs if of == condition)}
        chosen |= {} if condition == DEFAULT else {"condition": condition}
        others = ["@".join(pair) for pair in pairs if pair[1] != condition]
        return chosen | ({"asked": ",".join(others)} if others else {})

    def digest(self, estimate: Estimate) -> str:
        """One digest of the scores that an estimate depends on, and of what else it says it depends on."""
        digests = np.sort(self.digests[np.unique(estimate.used[estimate.used >= 0])])
        texts = digests.tobytes().hex("\n", digests.itemsize)
        return digest_of_all([*estimate.digests, *texts.split()]) if len(estimate.digests) else sha256(texts.encode())


def measure(
    table: Table, rule: Rule, rows: Iterable[Row], answers: Answers | None = None, kind: str = "measured"
) -> list[Measured]:
    """Rows as plain data: cells with intervals, states, and what they depend on.

    `answers`: of the scores that they are made of; None for rows of the data, which are of this `kind`.
    """
    answers, measured = answers or Answers(), []
    for row in rows:
        given = answers.given(row)
        items, states = answers.count_states(given)
        chosen = answers.filter(given)
        name = "|".join(filter(None, (row.model, row.key)))
        about: dict[str, Any] = {"table": table.name, "states": states, "row": name}
        about["filter"] = ({"model": row.model, "rule": rule} if chosen else {}) | chosen | row.keys
        cells = {name: _cell(name, of, answers, about) for name, of in row.estimates.items() if of.n}
        about_model = (row.model, row.of.kind if row.of else kind, row.of.engine if row.of else "")
        tasks = str(chosen.get("tasks", ""))
        measured.append(Measured(*about_model, row.keys, row.key, cells, items, states, row.complete, tasks))
    return measured


def _cell(column: str, of: Estimate, answers: Answers, about: Mapping[str, Any]) -> Cell:
    low, high = interval(of)
    method = "" if low is None else of.signature
    digest = answers.digest(of)
    return Cell(**about, column=column, value=of.point(), lo=low, hi=high, n=of.n, grades=digest, interval=method)


def rows_of_model(table: Table, scores: pd.DataFrame, items: pd.DataFrame) -> list[Row]:
    """A model's own rows of a table."""
    return [] if table.rows is None else list(table.rows(table.read_by(scores), items))


def rows_of(table: Table, across: Across) -> list[Row]:
    """Rows of a table: each model's own, then those that need several models."""
    rows = []
    for model in across.models:
        for row in rows_of_model(table, model.scores, across.items):
            row.model, row.of = model.name, model
            rows.append(row)
    if table.across is not None:
        models = [replace(model, scores=table.read_by(model.scores)) for model in across.models]
        several = list(table.across(replace(across, models=models)))
        across.notes.extend([table.empty_note] if table.empty_note and not several else [])
        rows += several
    return rows
