"""Shortcuts: their values on released annotations, chance, intervals, published values, cards."""

from pathlib import Path
from typing import Any

import pytest
from tests.records import read_golds, read_items

from punchline.artifacts.contents import behind_shortcuts
from punchline.config.cards import read_card
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.benchmark import DEFAULT
from punchline.schema import Gold, Item
from punchline.validity.shortcuts import SHORTCUTS, Measured, questions_of


def read(name: str, folder: Path, root: Path) -> tuple[Any, dict[str, Item], dict[str, Gold]]:
    """A benchmark, its items and its gold: of a folder, and the project's own files."""
    loaded = benchmarks.load(name)
    places = (folder / name, root / "data" / "manifests" / name)
    files = {
        file: next(place / file for place in places if (place / file).is_file()).read_bytes()
        for file in {*loaded.ITEM_FILES, *loaded.GOLD_FILES}
    }
    return loaded, read_items(loaded, files), read_golds(loaded, files)


def test_values_on_released_annotations(mirror: Path, root: Path) -> None:
    for benchmark, shortcut, expected in (
        # 218 and 121 of 348; half of the ties would be 217 and 120.
        ("yesbut", "longest-option", {("moral_mcq", "philosophy_acc"): 62.644, ("title_mcq", "title_acc"): 34.770}),
        ("yesbut", "options-only", {("moral_mcq", "philosophy_acc"): 85.920, ("title_mcq", "title_acc"): 52.299}),
        ("hummus", "always-majority", {("classification", "classification_pos"): 2 * 558 / (2 * 558 + 382)}),
        ("hummus", "text-only", {("classification", "classification_avg"): 0.495}),
        ("pixelhumor", "last-panel", {("Q3", "f1"): 0.9448, ("Q3", "accuracy"): 0.9504}),
    ):
        cells = Measured(*read(benchmark, mirror, root)).cells(*SHORTCUTS[shortcut])
        values = {(task, column): estimate.point() for (*_, column), (task, estimate) in cells.items()}
        tolerance = 0.01 if shortcut.endswith("only") else 1e-3  # a solver's rounding may turn an answer
        assert {key: values[key] for key in expected} == pytest.approx(expected, rel=tolerance)


def test_rows(root: Path) -> None:
    loaded, items, golds = read("yesbut", root / "data/demo", root)
    rows = list(Measured(loaded, items, golds).rows({}))
    assert {row["shortcut"] for row in rows} == {"always-majority", "longest-option", "options-only"}
    assert {row["chance"] for row in rows} == {25.0}  # each option is drawn equally often
    for row in rows:
        assert row["n"] == 8 and row["lo"] < row["value"] < row["hi"]
    (longest,) = (row for row in rows if (row["shortcut"], row["metric"]) == ("longest-option", "philosophy_acc"))
    assert (longest["value"], longest["best_published"], longest["published_below"]) == (87.5, 84.1, 11)
    few = dict(list(items.items())[:4])  # under 5 clusters: no interval, nothing to learn from
    rows = list(Measured(loaded, few, golds).rows({}))
    assert rows and {(row["lo"], row["hi"]) for row in rows} == {(None, None)}
    assert "options-only" not in {row["shortcut"] for row in rows}


def test_tables_note_models_that_are_not_above_the_best_shortcut(tmp_path: Path) -> None:
    lines = [
        "table,row,metric,shortcut,value,not_above",
        "table8,subset=all,panel_acc,always-majority,0.31,a; b",
        "table8,subset=all,panel_acc,last-panel,0.4567,a; b; c",
        "table8,subset=all,text_acc,last-panel,0.1,d",
        "table8,subset=multi-panel,panel_acc,last-panel,0.2,",
        "table2,,f1,last-panel,0.2,e",
    ]
    (tmp_path / "shortcuts.csv").write_text("\n".join(lines))
    table = benchmarks.load("pixelhumor").TABLES["table8"]
    assert behind_shortcuts(str(tmp_path / "shortcuts.csv"), table) == [
        "Not above the shortcut last-panel (panel_acc 0.457, subset=all) by the paired interval: a; b; c."
    ]


@pytest.mark.parametrize("name", ["pixelhumor", "yesbut", "hummus", "stripcipher", "satire"])
def test_always_majority_answers_what_most_gold_labels_say(mirror: Path, root: Path, name: str) -> None:
    folder = root / "data/demo" if name == "stripcipher" else mirror
    of = read(name, folder, root)
    majority = engines.load(read_card("always-majority"), 0)
    questions = questions_of(*of, "released")
    known = {task: part["right"].mode()[0] for task, part in questions.groupby("task")}
    requests = [request for request in of[0].requests(next(iter(of[1].values()))) if request.condition == DEFAULT]
    answers = majority.answer(requests, {}, "k")
    output = {request.task: answer.text for request, answer in zip(requests, answers, strict=True)}
    assert {task: output[task] for task in known if output.get(task)} == ({} if name == "stripcipher" else known)
