"""config/published/: every file against its tables; pixelhumor.csv against the paper's arithmetic and text."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import load
from punchline.files import parse_csv
from punchline.stats import labels
from punchline.tables.render import read_published

COLUMNS = ["paper", "table", "row", "key", "column", "value", "n", "note"]
MODELS = ["GPT-4o", "Gemini-1.5-Pro", "Qwen2-VL-72B", "Gemma3-27B", "LLaVA-OV-7B", "Qwen2-VL-7B"]
STYLES = ["comparison", "personification", "exaggeration", "pun", "sarcasm", "silliness", "surprise", "dark", "na"]
SUPPORT = dict(zip(STYLES, [240, 648, 505, 225, 267, 663, 908, 173, 33], strict=True))  # comics with the style
SOURCES = ["explosm", "peanuts", "garfield", "xkcd", "phdcomics", "they_can_talk", "smbc"]
SWAPPED = {(m, s) for m in ("LLaVA-OV-7B", "Qwen2-VL-7B") for s in ("personification", "exaggeration")}
SIZES = {"table2": 72, "table3": 72, "table4": 35, "table5": 18, "table6": 35, "table7": 7, "table8": 24}
SIZES |= {"table10": 21, "table11": 21, "table12": 63, "table13": 216, "table14": 270, "table15": 480}
SIZES |= {"agreement": 2, "figure2": 9, "figure3": 1}

Values = dict[tuple[str, str, str, str], str]


@pytest.fixture(scope="module")
def records(root: Path) -> list[dict[str, str]]:
    path = root / "config" / "published" / "pixelhumor.csv"
    return [cells for _, cells in parse_csv(path.read_bytes(), COLUMNS, file=path)]


@pytest.fixture(scope="module")
def values(records: list[dict[str, str]]) -> Values:
    return {(r["table"], r["row"], r["key"], r["column"]): r["value"] for r in records}


def confusion(values: Values, model: str, style: str) -> tuple[int, int, int, int]:
    """(TP, FP, TN, FN) of Table 13."""
    tp, fp, tn, fn = (int(values["table13", model, f"style={style}", column]) for column in ("tp", "fp", "tn", "fn"))
    return tp, fp, tn, fn


def other(style: str) -> str:
    return {"personification": "exaggeration", "exaggeration": "personification"}[style]


def test_form(records: list[dict[str, str]]) -> None:
    assert list(records[0]) == COLUMNS
    assert Counter(r["table"] for r in records) == SIZES
    assert {r["n"] for r in records} <= {"", "2800", "350", "70"}


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_published_values_fit_their_tables(root: Path, benchmark: str) -> None:
    rows, tables = read_published(root / "config" / "published" / f"{benchmark}.csv"), load(benchmark).TABLES
    assert len({(r["table"], r["row"], r["key"], r["column"]) for r in rows}) == len(rows), "a value is given twice"
    for r in rows:
        assert r["paper"] == benchmark and re.fullmatch(r"-?\d+(\.\d+)?", r["value"]), r
        keys = dict(part.split("=", 1) for part in r["key"].split(";") if part)
        table = tables[r["table"]]
        assert set(keys) <= set(table.keys) and r["column"] in table.columns, r
        assert set(keys) == set(table.keys) or benchmark in ("stripcipher", "humorbench"), r
        assert keys.get("condition", "default") in ("default", *table.conditions), r


def test_rows_and_keys(records: list[dict[str, str]]) -> None:
    rows: dict[str, list[str]] = {}
    keys: dict[str, list[str]] = {}
    for r in records:
        rows.setdefault(r["table"], []).append(r["row"])
        keys.setdefault(r["table"], []).append(r["key"])
    for table in ("table2", "table3", "table5", "table8", "table13", "table14", "table15"):
        assert set(rows[table]) == set(MODELS)
    assert set(rows["table4"]) == {"ground truth", *MODELS}
    assert set(rows["table6"]) == {*MODELS, "Overall"}
    assert set(rows["table7"]) == {"Human", *MODELS}
    for table in ("table10", "table11", "table12", "agreement", "figure2"):
        assert set(rows[table]) == {"published annotations"}
    for table in ("table10", "table11", "table12"):
        assert set(keys[table]) == {f"source={source}" for source in SOURCES}
    for table in ("table13", "table14"):
        assert set(keys[table]) == {f"style={style}" for style in STYLES}
    assert set(keys["table15"]) == {f"panels={number}" for number in [*range(1, 15), 17, 18]}
    assert set(keys["table8"]) == {"subset=all"}


@pytest.mark.parametrize("model", MODELS)
def test_table13_counts_all_comics(values: Values, model: str) -> None:
    for style in STYLES:
        tp, fp, tn, fn = confusion(values, model, style)
        assert tp + fp + tn + fn == 2800
        assert tp + fn == SUPPORT[other(style) if (model, style) in SWAPPED else style]


def test_swapped_rows_are_noted(records: list[dict[str, str]]) -> None:
    noted = {(r["row"], r["key"].removeprefix("style=")) for r in records if "swapped" in r["note"]}
    assert noted == SWAPPED
    assert {r["table"] for r in records if "swapped" in r["note"]} == {"table13"}


@pytest.mark.parametrize("model", MODELS)
def test_table3_follows_from_table13(values: Values, model: str) -> None:
    sums = {"f1": 0.0, "precision": 0.0, "recall": 0.0}
    for style in STYLES:
        tp, fp, _, fn = confusion(values, model, other(style) if (model, style) in SWAPPED else style)
        weight = (tp + fn) / sum(SUPPORT.values())
        assert float(values["table3", model, "", f"recall_{style}"]) == pytest.approx(tp / (tp + fn), abs=0.00051)
        sums["recall"] += weight * tp / (tp + fn)
        sums["precision"] += weight * tp / (tp + fp) if tp + fp else 0
        sums["f1"] += weight * 2 * tp / (2 * tp + fp + fn)
    for column, value in sums.items():
        assert float(values["table3", model, "", column]) == pytest.approx(value, abs=0.00051)


@pytest.mark.parametrize("model", MODELS)
def test_humor_presence_of_table2_follows_from_na_of_table13(values: Values, model: str) -> None:
    """Rule `paper`: N/A is predicted exactly where Q1 is No. One printed value (of 18) does not follow."""
    tp, fp, tn, fn = confusion(values, model, "na")
    sums = np.array([tn, tn + fn, tn + fp, tp, tp + fp, tp + fn])
    differ = {
        score.__name__
        for score in (labels.f1, labels.precision, labels.recall)
        if abs(float(score(sums)) - float(values["table2", model, "subtask=humor_presence", score.__name__])) > 0.00051
    }
    assert differ == ({"recall"} if model == "Qwen2-VL-72B" else set())


@pytest.mark.parametrize("row", ["ground truth", *MODELS])
def test_table4_counts_the_labels_of_table13(values: Values, row: str) -> None:
    """Table 4 tells 5 and more apart no longer, and the ground truth has no comic of so many."""
    truth = row == "ground truth"
    labels_ = sum(SUPPORT.values()) if truth else sum(sum(confusion(values, row, style)[:2]) for style in STYLES)
    numbers = [int(values["table4", row, "", f"styles_{k}"]) for k in (1, 2, 3, 4, "5plus")]
    assert 0 <= labels_ - sum(k * number for k, number in enumerate(numbers, start=1)) <= (0 if truth else 3)


def test_counts_add_up_to_all_comics(values: Values) -> None:
    def total(table: str, row: str = "", key: str = "") -> int:
        wanted = {place for place in values if place[0] == table and row in ("", place[1]) and key in ("", place[2])}
        return sum(int(values[place]) for place in wanted)

    assert {total("table4", row=row) for row in ("ground truth", *MODELS)} == {2800}
    assert {total("table12", key=f"source={source}") for source in SOURCES} == {400}
    assert total("table7") == 70


@pytest.mark.parametrize("model", MODELS)
def test_table14_is_within_the_comics_of_a_style(values: Values, model: str) -> None:
    """Table 14 is no per-style F1 of Table 13: it scores all labels on the comics that have the style.

    For N/A those comics have no other label and no false positive, so there the two can be compared.
    """
    tp, _, _, fn = confusion(values, model, "na")
    for task in (1, 3, 4, 5):
        published = float(values["table14", model, "style=na", f"task{task}_f1"])
        assert published == pytest.approx(2 * tp / (2 * tp + fn), abs=0.00051)
    tp, fp, _, fn = confusion(values, "GPT-4o", "comparison")
    assert 2 * tp / (2 * tp + fp + fn) == pytest.approx(0.383, abs=0.0005)
    assert values["table14", "GPT-4o", "style=comparison", "task5_f1"] == "0.594"


def block(lines: list[str], number: int) -> list[list[str]]:
    """Rows of the table above the line that begins with its caption."""
    end = next(i for i, line in enumerate(lines) if line.startswith(f"Table {number}:"))
    start = end
    while not lines[start - 1].strip() or "\t" in lines[start - 1]:
        start -= 1
    return [line.split("\t") for line in lines[start:end] if line.strip()]


@pytest.mark.real
@pytest.mark.parametrize("number", [2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15])
def test_every_printed_number(paper: Callable[[str], str], records: list[dict[str, str]], number: int) -> None:
    printed = [
        cell.replace(",", "")
        for cells in block(paper("pixelhumor").split("\n"), number)
        for cell in cells[1:]  # the first cell names the row; in Table 15 it is a number of panels
        if re.fullmatch(r"[\d,]+(\.\d+)?", cell)
    ]
    assert [r["value"] for r in records if r["table"] == f"table{number}"] == printed


@pytest.mark.real
@pytest.mark.parametrize(
    ("table", "key", "column", "sentence"),
    [
        ("agreement", "question=overall", "agreement", "overall agreement level was {},"),
        ("agreement", "question=overall", "alpha", "K-alpha score was lower at {},"),
        ("figure2", "part=sound_effects;label=absent", "percent", "{}% of the 2,800 comics lack sound effects"),
        ("figure2", "part=sound_effects;label=present", "percent", "Among the {}% that include them"),
        ("figure2", "part=sound_effects;label=contribute_of_present", "percent", "approximately {}% feature"),
        ("figure2", "part=modality;label=text", "percent", "primary humor driver in {}% of comics"),
        ("figure2", "part=modality;label=both", "percent", "Another {}% rely on a synergistic"),
        ("figure2", "part=modality;label=na", "percent", "while {}% are labeled non-humorous"),
        ("figure2", "part=styles;label=surprise", "percent", "most prevalent humor style ({}%)"),
        ("figure2", "part=styles;label=personification", "percent", "follows closely ({}%)"),
        ("figure2", "part=styles;label=dark", "percent", "humor is least common ({}%)"),
    ],
)
def test_values_printed_in_the_text(
    paper: Callable[[str], str], values: Values, table: str, key: str, column: str, sentence: str
) -> None:
    text = " ".join(paper("pixelhumor").split())
    assert sentence.format(values[table, "published annotations", key, column]) in text
