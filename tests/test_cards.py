"""config/model/, config/judge/ and config/published/humorbench.csv: the cards of the papers' models, and their rows."""

import datetime
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from punchline.config.cards import read_card, stems
from punchline.files import parse_csv
from punchline.schema import ModelCard
from punchline.tables.render import read_published

PAPERS = {"pixelhumor": 6, "yesbut": 14, "humorbench": 16 + 5, "hummus": 9, "stripcipher": 16}  # models with a result
PUBLISHED = ["paper", "table", "row", "key", "column", "value", "n", "note"]
# Rows of the published tables that are no model with a card of that name.
ANNOTATED = ("table10", "table11", "table12", "agreement", "figure2")
NO_MODEL = {("pixelhumor", table, "published annotations") for table in ANNOTATED}
NO_MODEL |= {("pixelhumor", "table4", "ground truth"), ("pixelhumor", "table6", "Overall")}
NO_MODEL |= {("pixelhumor", "table7", "Human"), ("pixelhumor", "figure3", "all models")}
NO_MODEL |= {
    ("humorbench", table, row)
    for table, rows in {
        "table1": ["Overall", "Gemini 2.5 Pro", "GPT-4o", "Claude 3.7 Sonnet"],  # whose explanations the judge judged
        "table2": ["GPQA Diamond", "ARC-AGI (with o-series)", "ARC-AGI (w/o o-series)", "LM Arena ELO"],
        "table3": ["elements"],
        "table5": ["elements"],
        "dataset": ["published annotations"],
    }.items()
    for row in rows
}
NO_MODEL |= {("stripcipher", "table3", "StripCipher")}
NO_MODEL |= {("stripcipher", "table4", "Human"), ("stripcipher", "table8", "AVG")}
OF_THE_DATA = {("pixelhumor", "disagreements"), ("stripcipher", "table1"), ("yesbut", "table1"), ("yesbut", "figure8")}
SPELT_OTHERWISE = {("humorbench", "table6", "GPT-5"): "gpt-5"}  # Table 4's spelling is the card's


@pytest.fixture(scope="module")
def cards(root: Path) -> dict[str, ModelCard]:
    """Every card of a model that a paper reports."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        result = (read_card(name) for name in stems("config/model"))
        return {card.name: card for card in result if card.papers}


@pytest.fixture(scope="module")
def judges(root: Path) -> dict[str, ModelCard]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return {name: read_card(name, "config/judge") for name in stems("config/judge")}


@pytest.fixture(scope="module")
def published(root: Path) -> dict[str, list[dict[str, str]]]:
    result = {}
    for paper in ("pixelhumor", "humorbench", "yesbut", "stripcipher"):
        path = root / "config" / "published" / f"{paper}.csv"
        result[paper] = [cells for _, cells in parse_csv(path.read_bytes(), PUBLISHED, file=path)]
    return result


@pytest.mark.parametrize(("paper", "least"), PAPERS.items())
def test_every_model_of_a_paper_has_one_card(cards: dict[str, ModelCard], paper: str, least: int) -> None:
    rows = Counter(card.papers[paper].row for card in cards.values() if paper in card.papers and card.papers[paper].row)
    assert len(rows) >= least
    assert [row for row, count in rows.items() if count > 1] == []


def test_published_rows_have_cards(cards: dict[str, ModelCard], published: dict[str, list[dict[str, str]]]) -> None:
    result = {(r["paper"], r["table"], r["row"]) for rows in published.values() for r in rows}
    result = {place for place in result if place[:2] not in OF_THE_DATA}
    assert result >= NO_MODEL | set(SPELT_OTHERWISE)  # every exception names a row of the table
    for paper, table, row in sorted(result - NO_MODEL):
        named = SPELT_OTHERWISE.get((paper, table, row), row)
        own = [card.papers[paper] for card in cards.values() if paper in card.papers]
        assert named in {one.row for one in own} | {one.rows.get(table) for one in own}, (paper, table, row)


def test_rows_of_one_table_are_printed_there(root: Path, cards: dict[str, ModelCard]) -> None:
    """Tuned models, their bases, models that search."""
    files = (root / "config" / "published").glob("*.csv")
    printed = {(r["paper"], r["table"], r["row"]) for file in files for r in read_published(file)}
    named = {(b, t, row) for c in cards.values() for b, paper in c.papers.items() for t, row in paper.rows.items()}
    assert named and named <= printed


def test_gone_says_when_and_where_from(cards: dict[str, ModelCard], judges: dict[str, ModelCard]) -> None:
    gone = [card.gone for card in (*cards.values(), *judges.values()) if card.gone is not None]
    assert gone
    for reason in gone:
        day = re.search(r"\b20\d\d-\d\d-\d\d\b", reason)
        assert day and datetime.date.fromisoformat(day[0]) and "(" in reason, reason


def test_prices_have_a_date_and_a_source(cards: dict[str, ModelCard], judges: dict[str, ModelCard]) -> None:
    priced = [card for card in (*cards.values(), *judges.values()) if card.price is not None]
    assert priced
    for card in priced:
        assert card.price and card.price.source and card.price.date >= datetime.date(2025, 1, 1)
        assert 0 < card.price.input <= card.price.output
        if card.gone:  # not a price from after its end
            ended = re.search(r"20\d\d-\d\d-\d\d", card.gone)
            assert ended and card.price.date < datetime.date.fromisoformat(ended[0]), card.name


def test_bases_are_cards(cards: dict[str, ModelCard]) -> None:
    assert {card.base for card in cards.values() if card.base} <= set(cards)


def test_humorbench_values_as_the_paper_prints_them(
    published: dict[str, list[dict[str, str]]], paper: Callable[[str], str]
) -> None:
    text = paper("humorbench")
    lines = {re.sub(r"^\d{3} |</?i>", "", line) for line in text.split("\n")}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for r in published["humorbench"]:
        rows.setdefault((r["table"], r["row"], r["key"]), []).append(r["value"])
    names = {name.lower().replace(" ", "_"): name for name in ("Wordplay", "Cultural Reference", "Toxic or Shocking")}

    def percent(values: list[str], digits: int) -> list[str]:
        return [f"{100 * float(value):.{digits}f}" for value in values]

    def line_of(table: str, row: str, key: str, cells: list[str]) -> str:
        if table == "table1":
            return "\t".join([row.replace("Overall", "Overall (n=300)"), *percent(cells, 2)])
        if table == "table2":
            return f"{row}\t{cells[0]}{ {'0.736': '*', '0.943': '**'}.get(cells[0], '') }\t{cells[1]}"
        if table == "table3":
            entire, hard, difference = percent(cells, 1)
            category = names[key.removeprefix("category=").removesuffix(";labels=41cacd4")]
            return f"{category}\t{entire}%\t{hard}%\t{float(difference):+.1f}"
        if table == "leaderboard":
            return f"{percent(cells, 1)[0]}%"
        return "\t".join([row, *percent(cells, 0 if table == "table4" else 1)])

    checked = {"leaderboard": 5, "table1": 4, "table2": 4, "table3": 3, "table4": 16, "table6": 3}
    for (table, row, key), cells in rows.items():
        if table in checked:
            line = line_of(table, row, key, cells)
            assert line in (text if table == "leaderboard" else lines), line
            checked[table] -= 1
    assert set(checked.values()) == {0}
