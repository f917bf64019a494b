"""config/published/: every file against its tables, and against the papers' texts."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import load
from punchline.tables.render import read_published


@pytest.fixture(scope="module")
def records(root: Path) -> list[dict[str, str]]:
    return [dict(row) for row in read_published(root / "config/published/pixelhumor.csv")]


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


def test_swapped_rows_are_noted(records: list[dict[str, str]]) -> None:
    noted = {(r["table"], r["row"], r["key"]) for r in records if "swapped" in r["note"]}
    styles = ("style=personification", "style=exaggeration")
    assert noted == {*itertools.product(["table13"], ["LLaVA-OV-7B", "Qwen2-VL-7B"], styles)}


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


IN_SENTENCES = {  # place of a published value: the sentence that has it
    "agreement question=overall agreement": "overall agreement level was {},",
    "agreement question=overall alpha": "K-alpha score was lower at {},",
    "figure2 part=sound_effects;label=absent percent": "{}% of the 2,800 comics lack sound effects",
    "figure2 part=sound_effects;label=present percent": "Among the {}% that include them",
    "figure2 part=sound_effects;label=contribute_of_present percent": "approximately {}% feature",
    "figure2 part=modality;label=text percent": "primary humor driver in {}% of comics",
    "figure2 part=modality;label=both percent": "Another {}% rely on a synergistic",
    "figure2 part=modality;label=na percent": "while {}% are labeled non-humorous",
    "figure2 part=styles;label=surprise percent": "most prevalent humor style ({}%)",
    "figure2 part=styles;label=personification percent": "follows closely ({}%)",
    "figure2 part=styles;label=dark percent": "humor is least common ({}%)",
}


@pytest.mark.real
def test_values_printed_in_the_text(paper: Callable[[str], str], records: list[dict[str, str]]) -> None:
    text = " ".join(paper("pixelhumor").split())
    own = [r for r in records if r["row"] == "published annotations"]
    values = {f"{r['table']} {r['key']} {r['column']}": r["value"] for r in own}
    assert [place for place, sentence in IN_SENTENCES.items() if sentence.format(values[place]) not in text] == []


def test_every_number_of_hummus(root: Path, paper: Callable[[str], str]) -> None:
    lines = paper("hummus").splitlines()
    printed: dict[tuple[str, str], list[str]] = {}
    for row in read_published(root / "config" / "published" / "hummus.csv"):
        table_of_numbers = row["table"] in ("table2", "table3", "table4", "table5")
        if table_of_numbers and not row["column"].endswith("success") and row["column"] != "prompts":
            printed.setdefault((row["table"], row["row"]), []).append(row["value"])
    assert len(printed) == 10 + 9 + 3 + 10
    for (name, row), values in printed.items():
        end = next(i for i, line in enumerate(lines) if line.startswith(f"T{name[1:-1]} {name[-1]}:"))
        (line,) = [line for line in lines[end - 13 : end] if re.match(re.escape(row) + r" \d", line)]
        assert re.findall(r"\d\.\d\d", line.removeprefix(row)) == values, (name, row)


def test_every_number_of_stripcipher(paper: Callable[[str], str], root: Path) -> None:
    text = paper("stripcipher")
    for cell in read_published(root / "config/published/stripcipher.csv"):
        assert cell["value"] in text or f"{int(cell['value']):,}" in text, cell
