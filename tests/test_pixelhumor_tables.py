"""PixelHumor's tables against scikit-learn, and against each other in the paper's printed numbers."""

import random
from collections.abc import Mapping

import msgspec
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support
from sklearn.preprocessing import MultiLabelBinarizer
from tests.records import response
from tests.tabulated import rows_of

from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor import MODALITIES, SOUND_EFFECTS, STYLES
from punchline.benchmarks.pixelhumor.scoring import score_item
from punchline.schema import RULES, Gold, Item, Rule, Score
from punchline.tables.declare import Row

TABLES = {name: table for name, table in pixelhumor.TABLES.items() if table.rows is not None}

LABEL_TASKS = ("Q1", "Q2", "Q3", "Q4", "Q5")


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


RNG = random.Random(7)
GOLDS = {gold.item_id: gold for gold in (a_gold(RNG, number) for number in range(120))}
ITEMS = {name: Item(benchmark="pixelhumor", item_id=name, source="c", cluster=name) for name in GOLDS}
TEXTS = {name: answers(RNG, gold) for name, gold in GOLDS.items()}


def graded(rule: Rule) -> list[Score]:
    output = {name: {task: response(task, text) for task, text in own.items()} for name, own in TEXTS.items()}
    return [one for name, gold in GOLDS.items() for one in score_item(output[name], ITEMS[name], gold, "m", rule)]


def rows(table: str, grades: list[Score], items: Mapping[str, Item] = ITEMS) -> list[Row]:
    result = rows_of(TABLES[table], grades, GOLDS, items)
    for row in result:
        assert (tuple(row.estimates), tuple(row.keys)) == (TABLES[table].columns, TABLES[table].keys)
        assert {grade.task for grade in given(row, grades)} <= set(TABLES[table].tasks)
    return result


def given(row: Row, grades: list[Score]) -> list[Score]:
    """The grades that a row speaks of."""
    return [grades[number] for number in sorted({n for e in row.estimates.values() for n in e.given.tolist()})]


def items_of(row: Row, grades: list[Score]) -> set[str]:
    """Ids of the comics that a row speaks of."""
    return {grade.item_id for grade in given(row, grades)}


def points(row: Row) -> dict[str, float | None]:
    return {name: estimate.point() for name, estimate in row.estimates.items()}


def sklearn_scores(grades: list[Score], task: str) -> dict[str, float]:
    """What the released code computes: MultiLabelBinarizer on both sides, weighted average, zero_division=0."""
    scored = [grade for grade in grades if grade.task == task and grade.scored]
    gold = [[label.lower() for label in GOLDS[grade.item_id].values[task]] for grade in scored]
    given = [[label.lower() for label in grade.parsed or ()] for grade in scored]
    binarizer = MultiLabelBinarizer().fit(gold + given)
    right, predicted = binarizer.transform(gold), binarizer.transform(given)
    precision, recall, f1, _ = precision_recall_fscore_support(right, predicted, average="weighted", zero_division=0)
    return {"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy_score(right, predicted)}


@pytest.mark.parametrize("rule", RULES)
def test_labels_equal_scikit_learn(rule: Rule) -> None:
    scores = graded(rule)
    for row, task in zip(rows("table2", scores), LABEL_TASKS[:4], strict=True):
        assert {grade.task for grade in given(row, scores)} == {task}
        assert points(row) == pytest.approx(sklearn_scores(scores, task)), task
    (overall,) = rows("table3", scores)
    for name, value in sklearn_scores(scores, "Q5").items():
        assert name == "accuracy" or points(overall)[name] == pytest.approx(value)
    scored = [grade for grade in scores if grade.task == "Q5" and grade.scored]
    for row in rows("table13", scores):
        style = row.keys["style"]
        right = [style in [label.lower() for label in GOLDS[grade.item_id].values["Q5"]] for grade in scored]
        output = [style in [label.lower() for label in grade.parsed or ()] for grade in scored]
        tn, fp, fn, tp = confusion_matrix(right, output, labels=[False, True]).ravel()
        assert points(row) == {"tp": tp, "fp": fp, "tn": tn, "fn": fn}
        assert points(overall)[f"recall_{style}"] == (pytest.approx(tp / (tp + fn)) if tp + fn else None)
    (numbers,) = rows("table4", scores)
    sizes = [min(len(set(grade.parsed or ())), 5) for grade in scored]
    assert list(points(numbers).values()) == [sizes.count(size) for size in (1, 2, 3, 4, 5)]


def test_a_task_that_was_not_attempted_has_no_value() -> None:
    output = {name: {"Q7": response("Q7", own["Q7"])} for name, own in TEXTS.items()}
    scores = [
        one for name, gold in GOLDS.items() for one in score_item(output[name], ITEMS[name], gold, "m", "released")
    ]
    row = rows("table8", scores)[0]
    counts = {"panel_acc": len(GOLDS), "text_acc": 0, "wer": 0, "cer": 0}
    assert {name: estimate.n for name, estimate in row.estimates.items()} == counts
    for table in TABLES:
        assert rows(table, [])  # no grade at all
        assert table in ("table8", "order_errors") or not any(
            e.n for row in rows(table, scores) for e in row.estimates.values()
        )


@pytest.mark.parametrize(
    ("answer", "errors"),
    [
        ("2, 1, 3", set()),
        ("1, 2, 3", {"default_order"}),
        ("2, 1, 4", {"out_of_range"}),
        ("2, 1", {"wrong_number"}),
        ("2, 1, 1", {"repeated"}),
        ("1, 2, 3, 1, 2, 3, 1", {"wrong_number", "repeated", "runaway"}),
        ("hm", set()),
    ],
)
def test_order_errors(answer: str, errors: set[str]) -> None:
    gold = next(gold for gold in GOLDS.values() if gold.values["number_of_panels"] == 3)
    gold = msgspec.structs.replace(gold, values=gold.values | {"panel_sequence": "2, 1, 3"})
    name, table = gold.item_id, TABLES["order_errors"]
    scores = list(score_item({"Q7": response("Q7", answer)}, ITEMS[name], gold, "model", "released"))
    (row,) = rows_of(table, scores, {name: gold}, {name: ITEMS[name]})
    assert {column: one.point() for column, one in row.estimates.items()} == {
        column: 100 * (column in errors) for column in table.columns or row.columns
    }
