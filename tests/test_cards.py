"""config/model/, config/judge/ and config/published/humorbench.csv: the cards of the papers' models, and their rows."""

import datetime
import importlib
import json
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


def test_at_least_45_distinct_models(cards: dict[str, ModelCard]) -> None:
    requests = [{k: v for k, v in card.asked().items() if k not in ("name", "papers")} for card in cards.values()]
    assert len({json.dumps(what, sort_keys=True) for what in requests}) == len(cards) >= 45
    assert len({card.options["id"] for card in cards.values()}) >= 45


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


def test_revisions_are_commits(cards: dict[str, ModelCard]) -> None:
    for card in cards.values():
        revision = card.options.get("revision")
        assert revision is None or re.fullmatch("[0-9a-f]{40}", revision), card.name
        assert revision or not card.options.get("trust_remote_code"), f"{card.name}: code of no known version"


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


def test_a_thinking_budget_leaves_room_for_the_answer(cards: dict[str, ModelCard]) -> None:
    budgets = {n: c.options["thinking_budget"] for n, c in cards.items() if "thinking_budget" in c.options}
    assert sorted(budgets.values()) == [50, 200, 400, 600, 1000, 1024, 2000, 2048, 4096, 8192, 16384]
    assert all(cards[name].thinking_tokens >= budget for name, budget in budgets.items())


def test_thinking_models_have_room_and_their_thoughts_are_told_apart(cards: dict[str, ModelCard]) -> None:
    thinking = {name: card for name, card in cards.items() if card.thinking_tokens}
    assert len(thinking) == 31
    for name, card in cards.items():
        effort = card.options.get("reasoning_effort") or card.options.get("thinking_budget")
        assert name in thinking or not effort
    for name, card in thinking.items():
        assert "max_tokens" not in card.sampling, f"{name}: a task's own limit counts"
        assert card.engine != "vllm" or "--reasoning-parser" in card.options["extra_args"], name
        assert bool(card.options.get("stream")) == ("dashscope" in card.options.get("base_url", "")), name


def test_sampling_is_as_printed(cards: dict[str, ModelCard]) -> None:
    for paper, temperature in {"pixelhumor": 0.0, "humorbench": 1.0}.items():
        assert {c.sampling_for(paper)["temperature"] for c in cards.values() if paper in c.papers} == {temperature}
    for name in ("gpt-4-vision", "gpt-3.5-turbo", "claude-3-opus"):
        assert cards[name].sampling_for("yesbut") == {"temperature": 1.0}
    strip = {name: card.sampling_for("stripcipher") for name, card in cards.items()}
    for name in ("qwen2-vl-7b", "qwen2.5-vl-3b", "qwen2.5-vl-7b"):
        assert strip[name] == {"temperature": 0.01, "top_p": 0.001, "top_k": 1}
    assert strip["cogvlm"] == {"temperature": 0.4, "top_p": 0.8, "top_k": 1}
    assert strip["mplug-owl2"] == {"temperature": 0.7}
    for name in ("llava-1.6-7b", "llava-1.6-13b", "llava-1.6-34b", "llava-1.5-7b", "llava-1.5-13b", "cambrian-13b"):
        assert strip[name] == {"temperature": 0.2}


def test_the_engines_take_the_options(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    result = Counter[str]()
    folders = {"config/model": stems("config/model"), "config/judge": stems("config/judge")}
    for card in (read_card(name, folder) for folder, names in folders.items() for name in names):
        module = importlib.import_module(f"punchline.engines.{card.engine}")
        module.engine(card, 0)
        result[card.engine] += 1
    assert result["openai"] > 40 and result["vllm"] > 20


def test_humorbenchs_judge(judges: dict[str, ModelCard]) -> None:
    assert judges["gpt-4o"].options["id"] == "gpt-4o-2024-08-06"
    assert judges["gpt-3.5-turbo"].options["id"] == "gpt-3.5-turbo-0125"


def test_humorbench_values_as_the_paper_prints_them(
    published: dict[str, list[dict[str, str]]], paper: Callable[[str], str]
) -> None:
    text = paper("humorbench")
    lines = {re.sub(r"^\d{3} |</?i>", "", line) for line in text.split("\n")}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for r in published["humorbench"]:
        rows.setdefault((r["table"], r["row"], r["key"]), []).append(r["value"])
    names = {name.lower().replace(" ", "_"): name for name in ("Wordplay", "Cultural Reference", "Toxic or Shocking")}

    def percent(value: str, digits: int) -> str:
        return f"{100 * float(value):.{digits}f}"

    checked = Counter[str]()
    for (table, row, key), cells in rows.items():
        name, of = row.replace("Overall", "Overall (n=300)"), [percent(v, 2) for v in cells]
        if table == "table1":
            line = "\t".join([name, *of])
        elif table == "table2":
            stars = {"0.736": "*", "0.943": "**"}.get(cells[0], "")
            line = f"{row}\t{cells[0]}{stars}\t{cells[1]}"
        elif table == "table3":
            entire, hard, difference = (percent(v, 1) for v in cells)
            category = key.removeprefix("category=").removesuffix(";labels=41cacd4")
            line = f"{names[category]}\t{entire}%\t{hard}%\t{float(difference):+.1f}"
        elif table == "table4":
            line = f"{row}\t{percent(cells[0], 0)}"
        elif table == "table6":
            line = "\t".join([row, *(percent(v, 1) for v in cells)])
        elif table == "leaderboard":
            line = f"{percent(cells[0], 1)}%"
        else:
            continue
        assert line in (text if table == "leaderboard" else lines), line
        checked[table] += 1
    assert checked == {"leaderboard": 5, "table1": 4, "table2": 4, "table3": 3, "table4": 16, "table6": 3}
