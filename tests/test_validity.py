"""Validity of scores: items, links, people, repeats, shortcuts."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.records import read_items
from tests.tabulated import DATA, read_benchmark

from punchline.artifacts.contents import behind_shortcuts
from punchline.audit.compare import clusters_needed
from punchline.benchmarks import hummus, humorbench
from punchline.config.cards import read_card
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.benchmark import DEFAULT
from punchline.schema import ModelCard
from punchline.validity.items import item_statistics
from punchline.validity.links import caption_of, link, links
from punchline.validity.people import agreement, by_agreement
from punchline.validity.repeats import statistics
from punchline.validity.shortcuts import SHORTCUTS, Measured, questions_of


@pytest.mark.parametrize(
    ("answers", "share", "discrimination", "flag"),
    [
        ("1 1 1 1 1 1", 1, None, "all_right"),
        ("0 0 0 0 0 0", 0, None, "none_right"),
        ("1 1 0 0 0 1", 1 / 2, 0.7809, ""),  # right for the better models
        ("0 0 0 1 1 0", 1 / 3, -0.8835, "negative"),
        ("1 1 0 0 0 -", 2 / 5, 0.7206, ""),  # `-`: not scored
    ],
)
def test_flags(answers: str, share: float, discrimination: float | None, flag: str) -> None:
    rest = {"e": "1 1 1 1 0 1", "m": "1 1 1 0 0 1", "h": "1 0 0 0 0 1", "x": answers}
    right = pd.DataFrame(
        (f"m{model}", item, "Q1", "default", "paper", float(value))
        for item, line in rest.items()
        for model, value in enumerate(line.split())
        if value != "-"
    )
    right.columns = pd.Index(["model", "item_id", "task", "condition", "rule", "right"])
    (row,) = (row for row in item_statistics(right) if row["item_id"] == "x")
    assert row["share_right"] == pytest.approx(share) and row["flag"] == flag
    assert row["discrimination"] == (None if discrimination is None else pytest.approx(discrimination, abs=1e-3))
    assert [*item_statistics(right[right.model < "m4"])] == []  # four models


def test_clusters_needed() -> None:
    for difference, low, high, detectable, needed in (
        (0.03, -0.01, 0.07, 0.06, 400),
        (-0.03, -0.07, 0.01, 0.06, 400),
        (0.03, 0.01, 0.05, 0.03, None),  # settled
        (-0.03, -0.05, -0.01, 0.03, None),
        (0.0, -0.01, 0.01, 0.02, None),
        (0.5, None, None, None, None),
    ):
        one = {"clusters": 100, "difference": difference, "low": low, "high": high, "detectable": detectable}
        assert clusters_needed(one) == needed


def pairs(clusters: int, both: int, only_hummus: int, only_humorbench: int, neither: int) -> pd.DataFrame:
    cells = [(1, 1)] * both + [(1, 0)] * only_hummus + [(0, 1)] * only_humorbench + [(0, 0)] * neither
    joined = pd.DataFrame(cells, columns=["named", "explained"])
    return joined.assign(cluster=[f"c{n % clusters}" for n in joined.index], caption=[f"t{n}" for n in joined.index])


@pytest.mark.parametrize(
    ("clusters", "cells", "odds_ratio", "lo", "hi"),
    [
        (10, (4, 1, 1, 4), 9, 0.188, 430),
        (40, (40, 10, 10, 40), 40.5**2 / 10.5**2, 5.52, 40.06),  # by Woolf: log +- 2.02 sqrt(2 / 40.5 + 2 / 10.5)
        (4, (4, 1, 1, 4), 9, None, None),  # no interval under 5 contests
        (10, (5, 5, 0, 0), None, None, None),  # every metaphor is named: not testable
    ],
)
def test_odds_ratio(clusters: int, cells: tuple[int, ...], odds_ratio: float | None, lo: Any, hi: Any) -> None:
    row = link(pairs(clusters, *cells))
    assert (row["contests"], row["n"], row["both"], row["neither"]) == (clusters, sum(cells), cells[0], cells[3])
    result = (row.get("odds_ratio"), row.get("lo"), row.get("hi"))
    assert result == tuple(value and pytest.approx(value, rel=0.01) for value in (odds_ratio, lo, hi))


def test_answers_are_joined_by_caption() -> None:
    of = {"sample": 0, "condition": "default"}
    elements = pd.DataFrame([{"caption": c, "passed": p, **of} for c, p in [("a", 1), ("a", 0), ("b", 1), ("z", 1)]])
    tasks = {"classification": {"tp": 1, "tn": 0}, "naming": {"cosine": 0.59, "cosine_minilm": 0.6}}
    answers = [
        {"caption": c, "cluster": "1", "task": task, **of, **values} for c in "abc" for task, values in tasks.items()
    ]
    columns = ["task", "both", "only_hummus", "only_humorbench"]
    rows = {tuple(row[name] for name in columns) for row in links(pd.DataFrame(answers), elements)}
    assert rows == {("classification", 2, 1, 0), ("naming", 0, 0, 2), ("naming_minilm", 2, 1, 0)}


@pytest.mark.real
def test_shared_captions(mirror: Path) -> None:
    own = {}
    for module in (hummus, humorbench):
        names = {*module.ITEM_FILES, *module.GOLD_FILES}
        own[module.NAME] = read_items(module, {name: (mirror / module.NAME / name).read_bytes() for name in names})
    ours, theirs = ({caption_of(item): item for item in items.values()} for items in own.values())
    shared = ours.keys() & theirs.keys()
    assert len(shared) == 145 and len({ours[caption].cluster for caption in shared}) == 62
    assert sum(caption_of(item) in shared for item in own["humorbench"].values()) == 239  # elements
    assert sum(ours[caption].fields["asked"] == "all" for caption in shared) == 79  # metaphors to name


def test_agreement_of_an_item() -> None:
    expected = {"a": None, "a a": 1, "a b": 0, "a a b": 1 / 3, "a a a b": 1 / 2}
    assert {given: agreement(given.split()) for given in expected} == expected


def test_a_model_where_people_agree() -> None:
    yes, no = '["yes"]', '["no"]'
    given = {(f"{kind}{n}", "Q1"): [yes, yes if kind == "a" else no] for kind in "ad" for n in range(6)}
    part = pd.DataFrame([(item, task, yes if item < "d3" else no, yes, item) for item, task in given])
    part.columns = pd.Index(["item_id", "task", "parsed", "gold", "cluster"])
    (row,) = by_agreement(part, given)
    values = {"n_agreed": 6, "n_disputed": 6, "agreed": 1, "disputed": 0.5, "difference": 0.5, "votes": 0.75}
    assert row | values == row
    few = next(by_agreement(part[part.item_id < "d3"], given))
    assert few["disputed"] == 1 and few["disputed_lo"] is None and "difference" not in few


@pytest.mark.parametrize(
    ("answers", "expected"),
    [  # a word an item, in a cluster of its own; A is right
        ("AABA BBBB", {"n_items": 2, "samples": 4, "agreement": (0.5 + 1) / 2, "value": 0.375, "se_sampling": 0.125}),
        ("AB AA BB AA BC", {"agreement": 3 / 5, "value": 0.5, "se_sampling": 0.1, "se_items": 0.2}),
        ("AB AA BB AA", {"n_items": 4, "se_items": None}),  # four clusters
        ("AB AB AB AB AB", {"agreement": 0, "se_items": 0, "se_sampling": 0.05**0.5}),
        ("A AA BB", {"n_items": 2, "samples": 2, "se_sampling": 0}),  # one answer says nothing of repeats
        ("A B", {}),
    ],
)
def test_repeats_by_hand(answers: str, expected: dict[str, Any]) -> None:
    cells = [
        (f"i{n}", f"c{n}", answer, float(answer == "A")) for n, word in enumerate(answers.split()) for answer in word
    ]
    result = statistics(pd.DataFrame(cells, columns=["item_id", "cluster", "answer", "right"]).assign(sample=0))
    assert {name: result[name] for name in expected} == pytest.approx(expected) and bool(result) == bool(expected)


def test_samples_of_a_judge_are_in_its_card_only() -> None:
    card = ModelCard(name="j", engine="openai", folder="config/judge", samples=10)
    plain = ModelCard(name="j", engine="openai", folder="config/judge")
    assert (card.repeats, plain.repeats, card.asked()["samples"], "samples" in plain.asked()) == (10, 1, 10, False)
    with pytest.raises(ValueError, match="a judge's only"):
        ModelCard(name="m", engine="openai", samples=10)


def test_shortcuts_on_released_annotations(mirror: Path) -> None:
    for benchmark, shortcut, expected in (
        # 218 and 121 of 348; half of the ties would be 217 and 120.
        ("yesbut", "longest-option", {("moral_mcq", "philosophy_acc"): 62.644, ("title_mcq", "title_acc"): 34.770}),
        ("yesbut", "options-only", {("moral_mcq", "philosophy_acc"): 85.920, ("title_mcq", "title_acc"): 52.299}),
        ("hummus", "always-majority", {("classification", "classification_pos"): 2 * 558 / (2 * 558 + 382)}),
        ("hummus", "text-only", {("classification", "classification_avg"): 0.495}),
        ("pixelhumor", "last-panel", {("Q3", "f1"): 0.9448, ("Q3", "accuracy"): 0.9504}),
    ):
        cells = Measured(*read_benchmark(benchmark, mirror)[:3]).cells(*SHORTCUTS[shortcut])
        values = {(task, column): estimate.point() for (*_, column), (task, estimate) in cells.items()}
        tolerance = 0.01 if shortcut.endswith("only") else 1e-3  # a solver's rounding may turn an answer
        assert {key: values[key] for key in expected} == pytest.approx(expected, rel=tolerance)


def test_rows_of_shortcuts() -> None:
    loaded, items, golds, _ = read_benchmark("yesbut")
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
def test_always_majority_answers_what_most_gold_labels_say(mirror: Path, name: str) -> None:
    loaded, items, golds, _ = read_benchmark(name, DATA / "demo" if name == "stripcipher" else mirror)
    majority = engines.load(read_card("always-majority"), 0)
    questions = questions_of(loaded, items, golds, "released")
    known = {task: part["right"].mode()[0] for task, part in questions.groupby("task")}
    requests = [request for request in loaded.requests(next(iter(items.values()))) if request.condition == DEFAULT]
    answers = majority.answer(requests, {}, "k")
    output = {request.task: answer.text for request, answer in zip(requests, answers, strict=True)}
    assert {task: output[task] for task in known if output.get(task)} == ({} if name == "stripcipher" else known)
