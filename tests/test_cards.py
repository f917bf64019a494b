"""config/model/, config/judge/ and config/published/humorbench.csv: the cards of the papers' models, and their rows."""

import datetime
import re
from collections import Counter
from contextlib import chdir
from pathlib import Path

import pytest

from punchline.config.cards import read_card, stems
from punchline.schema import ModelCard
from punchline.tables.render import read_published

PAPERS = {"pixelhumor": 6, "yesbut": 14, "humorbench": 16 + 5, "hummus": 9, "stripcipher": 16}  # models with a result
# Rows of the published tables that are no model with a card of that name.
NO_MODEL = {
    *(("pixelhumor", f"table{n}", "published annotations") for n in (10, 11, 12)),
    *(("pixelhumor", table, "published annotations") for table in ("agreement", "figure2")),
    *{("pixelhumor", "table4", "ground truth"), ("pixelhumor", "table6", "Overall"), ("pixelhumor", "table7", "Human")},
    *{("pixelhumor", "figure3", "all models"), ("stripcipher", "table3", "StripCipher")},
    *{("stripcipher", "table4", "Human"), ("stripcipher", "table8", "AVG")},
    # Whose explanations the judge judged.
    *(("humorbench", "table1", row) for row in ("Overall", "Gemini 2.5 Pro", "GPT-4o", "Claude 3.7 Sonnet")),
    *(("humorbench", "table2", f"ARC-AGI ({which} o-series)") for which in ("with", "w/o")),
    *(("humorbench", "table2", row) for row in ("GPQA Diamond", "LM Arena ELO")),
    *{("humorbench", "table3", "elements"), ("humorbench", "table5", "elements")},
    ("humorbench", "dataset", "published annotations"),
}
OF_THE_DATA = {("pixelhumor", "disagreements"), ("stripcipher", "table1"), ("yesbut", "table1"), ("yesbut", "figure8")}
SPELT_OTHERWISE = {("humorbench", "table6", "GPT-5"): "gpt-5"}  # Table 4's spelling is the card's

Published = dict[str, list[dict[str, str]]]  # rows of each paper


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
def published(root: Path) -> Published:
    papers = ("pixelhumor", "humorbench", "yesbut", "stripcipher")
    return {paper: read_published(root / f"config/published/{paper}.csv") for paper in papers}


@pytest.mark.parametrize(("paper", "least"), PAPERS.items())
def test_every_model_of_a_paper_has_one_card(cards: dict[str, ModelCard], paper: str, least: int) -> None:
    rows = Counter(card.papers[paper].row for card in cards.values() if paper in card.papers and card.papers[paper].row)
    assert len(rows) >= least
    assert [row for row, count in rows.items() if count > 1] == []


def test_published_rows_have_cards(cards: dict[str, ModelCard], published: Published) -> None:
    result = {(r["paper"], r["table"], r["row"]) for rows in published.values() for r in rows}
    result = {place for place in result if place[:2] not in OF_THE_DATA}
    assert result >= NO_MODEL | set(SPELT_OTHERWISE)  # every exception names a row of the table
    for paper, table, row in sorted(result - NO_MODEL):
        named = SPELT_OTHERWISE.get((paper, table, row), row)
        own = [card.papers[paper] for card in cards.values() if paper in card.papers]
        assert named in {one.row for one in own} | {one.rows.get(table) for one in own}, (paper, table, row)


def test_rows_of_one_table_are_printed_there(root: Path, cards: dict[str, ModelCard]) -> None:
    files = (root / "config" / "published").glob("*.csv")
    printed = {(r["paper"], r["table"], r["row"]) for file in files for r in read_published(file)}
    named = {(b, t, row) for c in cards.values() for b, paper in c.papers.items() for t, row in paper.rows.items()}
    assert named and named <= printed


def test_gone_says_when_and_where_from(every: list[ModelCard]) -> None:
    gone = [card.gone for card in every if card.gone is not None]
    assert gone
    for reason in gone:
        day = re.search(r"\b20\d\d-\d\d-\d\d\b", reason)
        assert day and datetime.date.fromisoformat(day[0]) and "(" in reason, reason


def test_prices_have_a_date_and_a_source(every: list[ModelCard]) -> None:
    priced = [card for card in every if card.price is not None]
    assert priced
    for card in priced:
        assert card.price and card.price.source and card.price.date >= datetime.date(2025, 1, 1)
        assert 0 < card.price.input <= card.price.output
        if card.gone:  # not a price from after its end
            ended = re.search(r"20\d\d-\d\d-\d\d", card.gone)
            assert ended and card.price.date < datetime.date.fromisoformat(ended[0]), card.name


def test_bases_are_cards(cards: dict[str, ModelCard]) -> None:
    assert {card.base for card in cards.values() if card.base} <= set(cards)
