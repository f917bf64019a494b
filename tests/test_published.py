"""config/published/: every file against its tables; pixelhumor.csv against the paper's text and its notes on swaps."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import load
from punchline.files import parse_csv
from punchline.tables.render import read_published

COLUMNS = ["paper", "table", "row", "key", "column", "value", "n", "note"]


@pytest.fixture(scope="module")
def records(root: Path) -> list[dict[str, str]]:
    path = root / "config" / "published" / "pixelhumor.csv"
    return [cells for _, cells in parse_csv(path.read_bytes(), COLUMNS, file=path)]


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
