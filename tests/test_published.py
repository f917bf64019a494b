"""config/published/: every file against its tables, and against the papers' texts."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import load
from punchline.tables.render import read_published


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


@pytest.mark.real
@pytest.mark.parametrize("benchmark", ["pixelhumor", "hummus", "stripcipher", "yesbut"])
def test_every_published_value_is_printed(root: Path, paper: Callable[[str], str], benchmark: str) -> None:
    numbers = re.findall(r"[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+", paper(benchmark))
    printed = {number.replace(",", "") for number in numbers}
    rows = read_published(root / "config/published" / f"{benchmark}.csv")
    assert [row for row in rows if row["value"].removeprefix("-") not in printed] == []
