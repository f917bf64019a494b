"""config/model/, config/judge/ and config/published/: cards and published values, and what papers print."""

import datetime
import re
from collections import Counter
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest
from tests.cases import cases

from punchline.config.cards import read_card, stems
from punchline.core import benchmark as benchmarks
from punchline.schema import ModelCard
from punchline.tables.render import read_published

PAPERS = {"pixelhumor": 6, "yesbut": 14, "humorbench": 16 + 5, "hummus": 9, "stripcipher": 16}  # models with a result
NO_MODEL = {(name, *row) for name, rows in cases(__file__, "no_model").items() for row in rows}
OF_THE_DATA = {("pixelhumor", "disagreements"), ("stripcipher", "table1"), ("yesbut", "table1"), ("yesbut", "figure8")}
SPELT_OTHERWISE = {("humorbench", "table6", "GPT-5"): "gpt-5"}  # Table 4's spelling is the card's


@pytest.fixture(scope="module")
def every(root: Path) -> list[ModelCard]:
    """Every card of a model or judge."""
    with chdir(root):
        folders = ("config/model", "config/judge")
        return [read_card(name, folder) for folder in folders for name in stems(folder)]


@pytest.fixture(scope="module")
def cards(every: list[ModelCard]) -> dict[str, ModelCard]:
    """Every card of a model that a paper reports."""
    return {card.name: card for card in every if card.papers}


@pytest.fixture(scope="module")
def printed(root: Path) -> set[tuple[str, str, str]]:
    """(paper, table, row) of every published value."""
    files = (root / "config/published").glob("*.csv")
    return {(r["paper"], r["table"], r["row"]) for file in files for r in read_published(file)}


@pytest.mark.parametrize(("paper", "least"), PAPERS.items())
def test_every_model_of_a_paper_has_one_card(cards: dict[str, ModelCard], paper: str, least: int) -> None:
    rows = Counter(card.papers[paper].row for card in cards.values() if paper in card.papers and card.papers[paper].row)
    assert len(rows) >= least
    assert [row for row, count in rows.items() if count > 1] == []


def test_published_rows_have_cards(cards: dict[str, ModelCard], printed: set[tuple[str, str, str]]) -> None:
    result = {place for place in printed if place[:2] not in OF_THE_DATA}
    assert result >= NO_MODEL | set(SPELT_OTHERWISE)  # every exception names a row of the table
    for paper, table, row in sorted(result - NO_MODEL):
        named = SPELT_OTHERWISE.get((paper, table, row), row)
        own = [card.papers[paper] for card in cards.values() if paper in card.papers]
        assert named in {one.row for one in own} | {one.rows.get(table) for one in own}, (paper, table, row)
    named = {(b, t, row) for c in cards.values() for b, paper in c.papers.items() for t, row in paper.rows.items()}
    assert named and named <= printed
    assert {card.base for card in cards.values() if card.base} <= set(cards)


def test_ends_and_prices_have_a_date_and_a_source(every: list[ModelCard]) -> None:
    gone = {card.name: card.gone for card in every if card.gone is not None}
    priced = {card.name: card.price for card in every if card.price is not None}
    assert gone and priced
    ended = {}
    for name, reason in gone.items():
        day = re.search(r"\b20\d\d-\d\d-\d\d\b", reason)
        assert day and "(" in reason, reason
        ended[name] = datetime.date.fromisoformat(day[0])
    for name, price in priced.items():
        assert price.source and datetime.date(2025, 1, 1) <= price.date < ended.get(name, datetime.date.max), name
        assert 0 < price.input <= price.output


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_published_values_fit_their_tables(root: Path, benchmark: str) -> None:
    rows, tables = read_published(root / "config" / "published" / f"{benchmark}.csv"), benchmarks.load(benchmark).TABLES
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
