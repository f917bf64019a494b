"""config/published/pixelhumor.csv: against itself, against the paper's own arithmetic, and against the paper's text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from punchline.core.storage import parse_csv

COLUMNS = ["paper", "table", "row", "key", "column", "value", "n", "note"]
MODELS = ["GPT-4o", "Gemini-1.5-Pro", "Qwen2-VL-72B", "Gemma3-27B", "LLaVA-OV-7B", "Qwen2-VL-7B"]
STYLES = ["comparison", "personification", "exaggeration", "pun", "sarcasm", "silliness", "surprise", "dark", "na"]
SUPPORT = dict(zip(STYLES, [240, 648, 505, 225, 267, 663, 908, 173, 33], strict=True))  # comics with the style
SOURCES = ["explosm", "peanuts", "garfield", "xkcd", "phdcomics", "they_can_talk", "smbc"]
SWAPPED = {(m, s) for m in ("LLaVA-OV-7B", "Qwen2-VL-7B") for s in ("personification", "exaggeration")}
SIZES = {
    "table2": 72,
    "table3": 72,
    "table4": 35,
    "table5": 18,
    "table6": 35,
    "table7": 7,
    "table8": 24,
    "table10": 21,
    "table11": 21,
    "table12": 63,
    "table13": 216,
    "table14": 270,
    "table15": 480,
    "agreement": 2,
    "figure2": 9,
    "figure3": 1,
}

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


def test_form(records: list[dict[str, str]], values: Values) -> None:
    assert list(records[0]) == COLUMNS
    assert len(values) == len(records), "a value is given twice"
    assert Counter(r["table"] for r in records) == SIZES
    for r in records:
        assert r["paper"] == "pixelhumor"
        assert re.fullmatch(r"\d+(\.\d+)?", r["value"]), r
        assert re.fullmatch(r"(\w+=\w+(;\w+=\w+)*)?", r["key"]), r
        assert r["n"] in ("", "2800", "350", "70"), r


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
def test_table4_follows_from_table13(values: Values, model: str) -> None:
    """Both count the predicted labels; Table 4 tells 5 and more apart no longer."""
    predicted = sum(sum(confusion(values, model, style)[:2]) for style in STYLES)
    numbers = [int(values["table4", model, "", f"styles_{k}"]) for k in (1, 2, 3, 4, "5plus")]
    assert 0 <= predicted - sum(k * number for k, number in enumerate(numbers, start=1)) <= 3


def test_table4_ground_truth(values: Values) -> None:
    numbers = [int(values["table4", "ground truth", "", f"styles_{k}"]) for k in (1, 2, 3, 4, "5plus")]
    assert sum(numbers) == 2800
    assert sum(k * number for k, number in enumerate(numbers, start=1)) == sum(SUPPORT.values())


@pytest.mark.parametrize("model", MODELS)
def test_table4_rows_count_all_comics(values: Values, model: str) -> None:
    assert sum(int(v) for (table, row, _, _), v in values.items() if (table, row) == ("table4", model)) == 2800


def test_table7_counts_all_comics(values: Values) -> None:
    assert sum(int(v) for (table, *_), v in values.items() if table == "table7") == 70


@pytest.mark.parametrize("source", SOURCES)
def test_table12_counts_all_comics(values: Values, source: str) -> None:
    assert (
        sum(int(v) for (table, _, key, _), v in values.items() if (table, key) == ("table12", f"source={source}"))
        == 400
    )


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


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("table2", "Qwen2-VL-7B", "subtask=sound_effect", "recall"), "0.007"),
        (("table2", "Gemini-1.5-Pro", "subtask=modality", "f1"), "0.613"),
        (("table3", "GPT-4o", "", "recall_personification"), "0.965"),
        (("table4", "ground truth", "", "styles_1"), "2052"),
        (("table4", "LLaVA-OV-7B", "", "styles_1"), "2800"),
        (("table5", "GPT-4o", "", "median"), "6.500"),
        (("table6", "Overall", "", "k_alpha"), "0.523"),
        (("table7", "Human", "", "times_selected"), "48"),
        (("table8", "Gemini-1.5-Pro", "subset=all", "panel_acc"), "0.645"),
        (("table8", "Qwen2-VL-7B", "subset=all", "cer"), "0.485"),
        (("table10", "published annotations", "source=smbc", "max"), "18"),
        (("table11", "published annotations", "source=they_can_talk", "average"), "15.27"),
        (("table12", "published annotations", "source=garfield", "na"), "0"),
        (("table13", "Gemma3-27B", "style=silliness", "fp"), "1813"),
        (("table13", "Qwen2-VL-72B", "style=comparison", "tn"), "2491"),
        (("table14", "Gemini-1.5-Pro", "style=dark", "task2_f1"), "0.829"),
        (("table14", "LLaVA-OV-7B", "style=dark", "task5_f1"), "0.008"),
        (("table15", "GPT-4o", "panels=1", "task1_f1"), "0.959"),
        (("table15", "LLaVA-OV-7B", "panels=13", "task3_f1"), "0.500"),
        (("table15", "Qwen2-VL-7B", "panels=17", "task4_f1"), "1.000"),
    ],
)
def test_values_read_by_eye(values: Values, place: tuple[str, str, str, str], value: str) -> None:
    assert values[place] == value


def block(lines: list[str], number: int) -> list[list[str]]:
    """Rows of the table above the line that begins with its caption."""
    end = next(i for i, line in enumerate(lines) if line.startswith(f"Table {number}:"))
    start = end
    while not lines[start - 1].strip() or "\t" in lines[start - 1]:
        start -= 1
    return [line.split("\t") for line in lines[start:end] if line.strip()]


@pytest.mark.real
@pytest.mark.parametrize("number", [2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15])
def test_every_printed_number_in_print_order(mirror: Path, records: list[dict[str, str]], number: int) -> None:
    paper = mirror.parent / "papers" / "pixelhumor.txt"
    if not paper.is_file():
        pytest.skip(f"PAPER TEXT ABSENT: {paper}")
    printed = [
        cell.replace(",", "")
        for cells in block(paper.read_text(encoding="utf-8").split("\n"), number)
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
    mirror: Path, values: Values, table: str, key: str, column: str, sentence: str
) -> None:
    paper = mirror.parent / "papers" / "pixelhumor.txt"
    if not paper.is_file():
        pytest.skip(f"PAPER TEXT ABSENT: {paper}")
    text = " ".join(paper.read_text(encoding="utf-8").split())
    assert sentence.format(values[table, "published annotations", key, column]) in text
