"""PixelHumor's tables against scikit-learn, and against each other in the paper's printed numbers."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer
from tests.tabulated import rows_of

from punchline.bench.table import Row, key_text
from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor import MODALITIES, SOUND_EFFECTS, STYLES
from punchline.benchmarks.pixelhumor.grade import GRADED, grade_item
from punchline.core.intervals import interval
from punchline.core.records import RULES, Gold, Grade, Item, Response, Rule, State
from punchline.core.stats import Estimate
from punchline.score import labels

TABLES = {name: table for name, table in pixelhumor.TABLES.items() if table.by_model}

LABEL_TASKS = ("Q1", "Q2", "Q3", "Q4", "Q5")


def response(task: str, text: str | None, state: State = "ok") -> Response:
    return Response(request_id=task, model_key="m", state=state, text=text, engine="test", engine_version="1")


def a_gold(rng: random.Random, number: int) -> Gold:
    n = rng.choice([1, 2, 3, 4, 4])
    order = rng.sample(range(1, n + 1), n)
    values = {
        "Q1": ["Yes"],
        "Q2": [rng.choice(SOUND_EFFECTS)],
        "Q3": [str(rng.randint(1, n))],
        "Q4": [rng.choice(MODALITIES)],
        "Q5": rng.sample(STYLES, rng.choice([1, 1, 2, 3])),
        "panel_sequence": ", ".join(map(str, order)),
        "text": "\n".join(f"{label}: {rng.choice(['', 'A B', 'C'])}" for label in range(1, n + 1)),
        "number_of_panels": n,
        "potentially_harmful": "harm",
    }
    if rng.random() < 0.1:
        values |= {"Q1": ["No"], "Q2": ["Absent"], "Q3": ["NA"], "Q4": ["NA"], "Q5": ["NA"]}
    return Gold(benchmark="pixelhumor", item_id=f"c_{number:03}", values=values)


def answers(rng: random.Random, gold: Gold) -> dict[str, str]:
    n = gold.values["number_of_panels"]
    return {
        "Q1": rng.choice(["Yes", "Yes.", "yes", "No", "hm"]),
        "Q2": rng.choice([*SOUND_EFFECTS, "absent.", "hm"]),
        "Q3": rng.choice(["1", "2", "Panel 3", "19", "1 and 2", "none at all", "NA"]),
        "Q4": rng.choice([*MODALITIES, "text", "Both."]),
        "Q5": rng.choice(["hm", "NA", *(", ".join(rng.sample(STYLES, k)) for k in (1, 2, 3, 4, 5, 6))]),
        "Q7": ", ".join(map(str, rng.sample(range(1, n + 1), n))),
        "Q8": rng.choice([gold.values["text"], "1: A B", "hm"]),
    }


@pytest.fixture(scope="module")
def comics() -> tuple[dict[str, Gold], dict[str, Item], dict[str, dict[str, str]]]:
    rng = random.Random(7)
    golds = {gold.item_id: gold for gold in (a_gold(rng, number) for number in range(120))}
    items = {name: Item(benchmark="pixelhumor", item_id=name, source="c", cluster=name) for name in golds}
    return golds, items, {name: answers(rng, gold) for name, gold in golds.items()}


def graded(comics: tuple[dict[str, Gold], dict[str, Item], dict[str, dict[str, str]]], rule: Rule) -> list[Grade]:
    golds, items, texts = comics
    return [
        grade
        for name, gold in golds.items()
        for grade in grade_item(
            {task: response(task, x) for task, x in texts[name].items()}, items[name], gold, "m", rule
        )
    ]


def rows(table: str, grades: list[Grade], golds: Mapping[str, Gold], items: Mapping[str, Item]) -> list[Row]:
    found = rows_of(TABLES[table], grades, golds, items)
    for row in found:
        assert set(row.columns) == set(TABLES[table].names)
        assert tuple(row.keys) == TABLES[table].keys
        assert set(row.tasks or ()) <= set(TABLES[table].tasks)
    return found


def items_of(row: Row) -> set[str]:
    """Ids of the comics that a row speaks of."""
    assert row.frame is not None and row.items is not None
    return {name for name, there in zip(row.frame.scope.names, row.items, strict=True) if there}


def points(row: Row) -> dict[str, float | None]:
    return {name: None if estimate is None else estimate.point() for name, estimate in row.columns.items()}


def sklearn_scores(grades: list[Grade], golds: Mapping[str, Gold], task: str) -> dict[str, float]:
    """What the released code computes: MultiLabelBinarizer on both sides, weighted average, zero_division=0."""
    scored = [grade for grade in grades if grade.task == task and grade.scored]
    gold = [[label.lower() for label in golds[grade.item_id].values[task]] for grade in scored]
    given = [[label.lower() for label in grade.parsed or ()] for grade in scored]
    binarizer = MultiLabelBinarizer().fit(gold + given)
    right, predicted = binarizer.transform(gold), binarizer.transform(given)
    precision, recall, f1, _ = precision_recall_fscore_support(right, predicted, average="weighted", zero_division=0)
    return {"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy_score(right, predicted)}


@pytest.mark.parametrize("rule", RULES)
def test_labels_equal_scikit_learn(comics, rule: Rule) -> None:  # type: ignore[no-untyped-def]
    golds, items, _ = comics
    grades = graded(comics, rule)
    for row, task in zip(rows("table2", grades, golds, items), LABEL_TASKS[:4], strict=True):
        assert row.tasks == (task,)
        assert points(row) == pytest.approx(sklearn_scores(grades, golds, task)), task
    (row,) = rows("table3", grades, golds, items)
    expected = sklearn_scores(grades, golds, "Q5")
    assert {name: points(row)[name] for name in ("f1", "precision", "recall")} == pytest.approx(
        {name: expected[name] for name in ("f1", "precision", "recall")}
    )


@pytest.mark.parametrize("rule", RULES)
def test_breakdowns_equal_scikit_learn(comics, rule: Rule) -> None:  # type: ignore[no-untyped-def]
    golds, items, _ = comics
    grades = graded(comics, rule)
    for table, key, has in (
        ("table14", "style", lambda gold, name: name in [label.lower() for label in gold.values["Q5"]]),
        ("table15", "panels", lambda gold, name: gold.values["number_of_panels"] == name),
    ):
        found = rows(table, grades, golds, items)
        assert len(found) == (9 if table == "table14" else 4)
        for row in found:
            chosen = {name: gold for name, gold in golds.items() if has(gold, row.keys[key])}
            assert items_of(row) == set(chosen)
            inside = [grade for grade in grades if grade.item_id in chosen]
            for number, task in enumerate(LABEL_TASKS, start=1):
                value = points(row)[f"task{number}_f1"]
                if any(grade.task == task and grade.scored for grade in inside):
                    assert value == pytest.approx(sklearn_scores(inside, golds, task)["f1"])
                else:
                    assert value is None


@pytest.mark.parametrize("rule", RULES)
def test_styles_agree_with_each_other(comics, rule: Rule) -> None:  # type: ignore[no-untyped-def]
    golds, items, _ = comics
    grades = graded(comics, rule)
    scored = [grade for grade in grades if grade.task == "Q5" and grade.scored]
    (overall,) = rows("table3", grades, golds, items)
    for row in rows("table13", grades, golds, items):
        style = row.keys["style"]
        right = [style in [label.lower() for label in golds[grade.item_id].values["Q5"]] for grade in scored]
        given = [style in [label.lower() for label in grade.parsed or ()] for grade in scored]
        tn, fp, fn, tp = confusion_matrix(right, given, labels=[False, True]).ravel()
        assert points(row) == {"tp": tp, "fp": fp, "tn": tn, "fn": fn}
        assert points(overall)[f"recall_{style}"] == (pytest.approx(tp / (tp + fn)) if tp + fn else None)
    (numbers,) = rows("table4", grades, golds, items)
    sizes = [len(set(grade.parsed or ())) for grade in scored]
    assert [points(numbers)[name] for name in TABLES["table4"].names] == [
        *(sizes.count(size) for size in (1, 2, 3, 4)),
        sum(size >= 5 for size in sizes),
    ]


@pytest.mark.parametrize("rule", RULES)
def test_table_8_is_means_over_comics(comics, rule: Rule) -> None:  # type: ignore[no-untyped-def]
    golds, items, _ = comics
    grades = graded(comics, rule)
    everything, multi = rows("table8", grades, golds, items)
    assert [row.keys["subset"] for row in (everything, multi)] == ["all", "multi-panel"]
    assert items_of(everything) == set(golds)
    assert items_of(multi) == {name for name, gold in golds.items() if "," in gold.values["panel_sequence"]}
    for row in (everything, multi):
        for name, value in points(row).items():
            values = [g.values[name] for g in grades if name in g.values and g.item_id in items_of(row)]
            assert value == pytest.approx(np.mean(values))
            estimate = row.columns[name]
            assert estimate is not None
            assert estimate.n == len(values) == len(items_of(row))


def test_every_estimate_names_its_grades_and_resamples_comics(comics) -> None:  # type: ignore[no-untyped-def]
    golds, items, _ = comics
    grades = graded(comics, "paper")
    digest = {grade.digest: grade for grade in grades}
    for table in TABLES:
        for row in rows(table, grades, golds, items):
            for estimate in row.columns.values():
                assert isinstance(estimate, Estimate)
                used = [digest[bytes(name).hex()] for name in estimate.grades]  # type: ignore[arg-type]
                assert len(used) == estimate.n == len({grade.digest for grade in used})
                ids = sorted(golds)  # a comic is a cluster of its own
                assert [grade.item_id for grade in used] == [ids[int(rank)] for rank in estimate.clusters]
                assert {grade.item_id for grade in used} <= items_of(row)
                assert all(grade.scored for grade in used)
                low, high = interval(estimate)
                assert low is None or high is None or low <= high


def test_the_order_of_grades_does_not_matter(comics) -> None:  # type: ignore[no-untyped-def]
    golds, items, _ = comics
    grades = graded(comics, "released")
    shuffled = random.Random(1).sample(grades, len(grades))
    for table in TABLES:
        for one, other in zip(rows(table, grades, golds, items), rows(table, shuffled, golds, items), strict=True):
            assert points(one) == points(other)
            assert key_text(one.keys) == key_text(other.keys)
            assert [sorted(map(bytes, e.grades)) for e in one.columns.values() if e] == [
                sorted(map(bytes, e.grades)) for e in other.columns.values() if e
            ]


def test_a_task_that_was_not_attempted_has_no_value(comics) -> None:  # type: ignore[no-untyped-def]
    golds, items, texts = comics
    grades = [
        grade
        for name, gold in golds.items()
        for grade in grade_item({"Q7": response("Q7", texts[name]["Q7"])}, items[name], gold, "m", "released")
    ]
    row = rows("table8", grades, golds, items)[0]
    assert {name: estimate is None for name, estimate in row.columns.items()} == {
        "panel_acc": False,
        "text_acc": True,
        "wer": True,
        "cer": True,
    }
    for table in ("table2", "table3", "table4", "table13", "table14", "table15"):
        assert all(estimate is None for row in rows(table, grades, golds, items) for estimate in row.columns.values())
    for table in TABLES:
        assert rows(table, [], golds, items)  # no grade at all


def test_missing_failed_and_refused_answers(comics) -> None:  # type: ignore[no-untyped-def]
    golds, items, _ = comics
    states: list[State] = ["ok", "missing", "failed", "refused"]
    grades = []
    for number, (name, gold) in enumerate(golds.items()):
        state = states[number % 4]
        text = gold.values["panel_sequence"] if state == "ok" else None
        grades += grade_item({"Q7": response("Q7", text, state)}, items[name], gold, "m", "released")
    estimate = rows("table8", grades, golds, items)[0].columns["panel_acc"]
    assert estimate is not None
    assert (estimate.n, estimate.point()) == (60, 0.5)  # ok and refused are in the denominator


def test_only_selected_comics_count(comics) -> None:  # type: ignore[no-untyped-def]
    golds, items, _ = comics
    few = dict(list(items.items())[:10])
    row = rows("table8", graded(comics, "released"), golds, few)[0]
    assert items_of(row) == set(few)
    assert row.columns["panel_acc"] is not None
    assert row.columns["panel_acc"].n == 10


def test_table_8_follows_the_released_code_and_the_others_the_paper() -> None:
    assert {name: table.rule for name, table in TABLES.items()} == {
        **dict.fromkeys(("table2", "table3", "table4", "table13", "table14", "table15"), "paper"),
        "table8": "released",
    }
    assert TABLES["table8"].file == "table8.csv"
    assert set(GRADED) == {task for table in TABLES.values() for task in table.tasks}


# --------------------------------------------------------------------------------------------- the paper's own numbers

STYLE_KEYS = tuple(style.lower() for style in (*STYLES, "NA"))
SUPPORT = dict(zip(STYLE_KEYS, (240, 648, 505, 225, 267, 663, 908, 173, 33), strict=True))
SWAPPED = {"LLaVA-OV-7B", "Qwen2-VL-7B"}  # their rows Per. and Exa. of Table 13 stand in each other's place


@pytest.fixture(scope="module")
def printed() -> dict[tuple[str, str, str, str], float]:
    path = Path(__file__).resolve().parent.parent / "config" / "published" / "pixelhumor.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return {(r["table"], r["row"], r["key"], r["column"]): float(r["value"]) for r in csv.DictReader(file)}


def models(printed: Mapping[tuple[str, str, str, str], float]) -> list[str]:
    return sorted({row for table, row, _, _ in printed if table == "table13"})


def confusion(printed: Mapping[tuple[str, str, str, str], float], model: str) -> dict[str, dict[str, float]]:
    """Table 13 of a model by style, the swapped rows put right."""
    swap = {"personification": "exaggeration", "exaggeration": "personification"} if model in SWAPPED else {}
    return {
        style: {
            cell: printed["table13", model, f"style={swap.get(style, style)}", cell]
            for cell in ("tp", "fp", "tn", "fn")
        }
        for style in STYLE_KEYS
    }


def test_table_13_has_gold_support(printed) -> None:  # type: ignore[no-untyped-def]
    assert len(models(printed)) == 6
    for model in models(printed):
        for style, cells in confusion(printed, model).items():
            assert cells["tp"] + cells["fn"] == SUPPORT[style]
            assert sum(cells.values()) == 2800


def test_table_3_follows_from_table_13(printed) -> None:  # type: ignore[no-untyped-def]
    for model in models(printed):
        cells = confusion(printed, model)
        sums = np.array([v for c in cells.values() for v in (c["tp"], c["tp"] + c["fp"], c["tp"] + c["fn"])])
        for name, score in (("f1", labels.f1), ("precision", labels.precision), ("recall", labels.recall)):
            assert float(score(sums)) == pytest.approx(printed["table3", model, "", name], abs=0.00051), (model, name)
        for style, c in cells.items():
            expected = printed["table3", model, "", f"recall_{style}"]
            assert c["tp"] / (c["tp"] + c["fn"]) == pytest.approx(expected, abs=0.00051), (model, style)


def test_humor_presence_of_table_2_follows_from_na_of_table_13(printed) -> None:  # type: ignore[no-untyped-def]
    """Rule `paper`: N/A is predicted exactly where Q1 is No. One printed value (of 18) does not follow."""
    differ = set()
    for model in models(printed):
        na = confusion(printed, model)["na"]
        sums = np.array([na["tn"], na["tn"] + na["fn"], na["tn"] + na["fp"], na["tp"], na["tp"] + na["fp"], 33])
        for name, score in (("f1", labels.f1), ("precision", labels.precision), ("recall", labels.recall)):
            if abs(float(score(sums)) - printed["table2", model, "subtask=humor_presence", name]) > 0.00051:
                differ.add((model, name))
    assert differ == {("Qwen2-VL-72B", "recall")}


def test_table_14_of_na_follows_from_table_13(printed) -> None:  # type: ignore[no-untyped-def]
    """Over the 33 comics without humor, tasks 1, 3, 4 and 5 have one class, and are right where Q1 is No."""
    for model in models(printed):
        right = confusion(printed, model)["na"]["tp"]
        value = float(labels.f1(np.array([right, right, 33])))
        for task in (1, 3, 4, 5):
            assert printed["table14", model, "style=na", f"task{task}_f1"] == pytest.approx(value, abs=0.00051)


def test_table_14_task_5_is_not_the_f1_of_one_style(printed) -> None:  # type: ignore[no-untyped-def]
    """2 TP / (2 TP + FP + FN) of Table 13 gives .383 for GPT-4o's Comparison; Table 14 prints .594."""
    c = confusion(printed, "GPT-4o")["comparison"]
    assert 2 * c["tp"] / (2 * c["tp"] + c["fp"] + c["fn"]) == pytest.approx(0.383, abs=0.0005)
    assert printed["table14", "GPT-4o", "style=comparison", "task5_f1"] == 0.594


def test_table_4_counts_na_as_one_style(printed) -> None:  # type: ignore[no-untyped-def]
    """Its numbers of styles add up to the predictions of Table 13, N/A included (5+ holds at least 5)."""
    for model in models(printed):
        numbers = [printed["table4", model, "", name] for name in TABLES["table4"].names]
        assert sum(numbers) == 2800
        predictions = sum(c["tp"] + c["fp"] for c in confusion(printed, model).values())
        at_least = sum(size * number for size, number in enumerate(numbers, start=1))
        assert at_least <= predictions <= at_least + 3 * numbers[4]
