"""Tables of answers that are all missing: the same rows over the same answers as of any others."""

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.records import read_golds, read_items, response
from tests.tabulated import frame_of_items, frame_of_scores

from punchline.core import benchmark as benchmarks
from punchline.schema import RULES, STATES, Rule
from punchline.scores import metrics_of
from punchline.tables.declare import Across, Model, Table
from punchline.tables.run import Answers, rows_of

BY_STATE = {
    "hummus/figure5",  # where nothing was answered, the picture's row is over the pairs of the first task
    "yesbut/table2",  # a model that answered descriptions only has their row in place of the picture's
}
COUNTED = "prompts"  # a key that says how many of YesBut's prompts have answers
SAID = ("A", "B", "C", "Yes.", "No", "1, 2, 3", "2: a\n1: b", "Surprise, Pun", "Both", "A dog waits.", "0.5", "hm")


def emptied(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows, none of which was answered."""
    nothing = {"state": pd.Categorical(["missing"] * len(frame), STATES), "scored": False, "truncated": False}
    nothing |= {"parsed": pd.Categorical([None] * len(frame)), **dict.fromkeys(metrics_of(frame), np.nan)}
    return frame.assign(**nothing)


def speaks_of(table: Table, frame: pd.DataFrame, items: pd.DataFrame, files: dict[str, bytes]) -> list[list[object]]:
    """Of each row its keys, its columns, and numbers of the answers that its states are counted over."""
    answers = Answers([(frame, np.empty(len(frame), "V32"))])
    rows = rows_of(table, Across([Model("m", "measured", "openai", frame)], items, files))
    return [[row.keys | {COUNTED: 0}, row.columns, answers.given(row).tolist()] for row in rows]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", benchmarks.names())
def test_no_row_hangs_on_what_was_answered(name: str, rule: Rule, root: Path) -> None:
    loaded, rng = benchmarks.load(name), random.Random(0)
    tables = {one: table for one, table in loaded.TABLES.items() if table.of_models}
    wanted = {*loaded.ITEM_FILES, *loaded.GOLD_FILES, *(file for table in tables.values() for file in table.files)}
    folder = root / "data/demo" / name
    folder = folder if folder.is_dir() else root / "data/manifests" / name  # satire has no demo files
    files = {one: (folder / one).read_bytes() for one in sorted(wanted)}
    items, golds = read_items(loaded, files), read_golds(loaded, files)
    scores = []
    for condition in sorted({condition for table in tables.values() for condition in table.conditions}):
        for item in items.values():
            requests = {task: response(f"{condition} {task}", rng.choice(SAID)) for task in loaded.TASKS}
            scores += loaded.score_item(requests, item, golds[item.item_id], "m", rule, None, condition)
    of_items = frame_of_items(items, golds)
    frame, _ = frame_of_scores(scores, of_items, rule)
    for one, table in tables.items():
        result, nothing = (speaks_of(table, part, of_items, files) for part in (frame, emptied(frame)))
        assert (result or not table.rows) and (result == nothing) == (f"{name}/{one}" not in BY_STATE), one
