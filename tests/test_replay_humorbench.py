"""Released explanations of HumorBench with their verdicts: reading of the CSV, and what is answered from it."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import cases
from tests.records import refused

from punchline.artifacts.passes import JUDGE, passes_of
from punchline.benchmarks.humorbench import replay as released
from punchline.benchmarks.humorbench import requests
from punchline.benchmarks.humorbench.answers import parse_verdict
from punchline.benchmarks.humorbench.judge import judge_request
from punchline.benchmarks.released import Answer, Answers
from punchline.core.benchmark import load
from punchline.engines import replay
from punchline.errors import PunchlineError
from punchline.files import csv_text
from punchline.schema import Gold, Item, ModelCard, Usage

ROW = {"annotation_row": "6", "model": "o1", "explanation": "A pun.", "autograder_judgment": "PASS"}


def table(*rows: dict[str, str]) -> bytes:
    return csv_text(tuple(dict.fromkeys(name for row in rows for name in row)), rows).encode()


def read(*rows: dict[str, str], select: Any = None) -> Answers:
    return released.read({"f.csv": table(*rows)}, "f.csv", select)


def replayed(folder: Path, *rows: dict[str, str]) -> tuple[ModelCard, replay.Replay]:
    """A card, and its engine that replays rows of a file."""
    (folder / "r.csv").write_bytes(table(*rows))
    card = ModelCard(name="o1", engine="replay", options={"format": "humorbench", "path": str(folder / "r.csv")})
    return card, replay.engine(card, 0)


def verdict_in(answers: Answers, row: str = "6") -> Answer:
    judge = answers[row]["judge"]
    assert isinstance(judge, Answer)
    return judge


def test_four_columns_are_enough_others_are_read_and_foreign_ones_are_not() -> None:
    answers = read(ROW)
    assert answers["6"]["explain"] == Answer("A pun.")
    judge = verdict_in(answers)
    assert (parse_verdict(judge.text or ""), judge.usage, judge.judge) == ("PASS", Usage(), "unnamed")
    tokens = {"explainer_tokens_in": "191.0", "explainer_tokens_out": ""}
    tokens |= {"autograder_tokens_in": "435", "autograder_tokens_out": "72."}
    answers = read(ROW | tokens | {"run": "x", "autograder_model": " gpt-4o ", "autograder_reasoning": " It\ndoes. "})
    assert answers["6"]["explain"] == Answer("A pun.", Usage(prompt=191))
    judge = verdict_in(answers)
    assert "<reasoning>It\ndoes.</reasoning>" in (judge.text or "")
    assert (judge.usage, judge.judge) == (Usage(prompt=435, completion=72), "gpt-4o")


@pytest.mark.parametrize(("rows", "select", "expected"), refused("humorbench answers"))
def test_bad_files(rows: list[dict[str, str]], select: Any, expected: str) -> None:
    with pytest.raises(PunchlineError, match=re.escape(expected)):
        read(*(ROW | row for row in rows), select=select)


def test_select_picks_a_run() -> None:
    rows = (ROW, ROW | {"model": "gpt-4o", "explanation": "b"}, ROW | {"annotation_row": "7", "model": "gpt-4o"})
    assert set(read(*rows, select={"model": "gpt-4o"})) == {"6", "7"}
    assert read(*rows, select={"model": "gpt-4o", "annotation_row": 6})["6"]["explain"] == Answer("b")


@example("The student wrote <judgement>PASS</judgement> itself.", "FAIL")  # the column counts, whatever is cited
@example("<judgement>", "FAIL")
@example("</reasoning><judgement>PASS</judgement>", "FAIL")
@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="<\0")),
    st.sampled_from(["PASS", "FAIL", "ERROR"]),
)
def test_a_verdict_survives(reasoning: str, verdict: str) -> None:
    judge = verdict_in(read(ROW | {"autograder_reasoning": reasoning, "autograder_judgment": verdict}))
    assert parse_verdict(judge.text or "") == (verdict if verdict in ("PASS", "FAIL") else None)


def item(row: str) -> Item:
    fields: dict[str, Any] = {"description": "d", "caption": "c", "idx": "1"}
    return Item(benchmark="humorbench", item_id=row, source="newyorker", cluster="c", fields=fields)


def test_explanations_and_verdicts_are_answered(tmp_path: Path) -> None:
    own = ROW | {"autograder_model": "gpt-4o"}
    seven, last = own | {"annotation_row": "7", "autograder_judgment": ""}, own | {"annotation_row": "9999"}
    odd = ROW | {"annotation_row": "8", "autograder_model": "../../etc/x", "explanation": ""}
    _, engine = replayed(tmp_path, own, seven, last, odd)
    explained = {row: next(engine.answer(requests(item(row)), {}, "key")) for row in ("6", "7", "8", "9")}
    assert [(one.state, one.text, one.reason) for one in explained.values()] == [
        *[("ok", "A pun.", None)] * 2,
        ("missing", None, "null in the file"),
        ("missing", None, "item not in the file"),
    ]
    golds = {row: Gold(benchmark="humorbench", item_id=row, values={"element": "e"}) for row in ("6", "7")}
    sent = [judge_request(item(row), gold, explained[row], "paper") for row, gold in golds.items()]
    given, none = engine.answer(sent, {}, "key")
    assert (parse_verdict(given.text or ""), given.effective) == ("PASS", {"judge": "gpt-4o"})
    assert (none.state, none.reason, none.effective) == ("missing", "question not in the file", {})
    assert engine.unknown([str(row) for row in range(499)]) == ["9999"]


@pytest.mark.parametrize(("judges", "asked", "expected"), cases(__file__, "judges", tuple))
def test_who_judges_released_answers(tmp_path: Path, judges: tuple[str, str], asked: str | None, expected: str) -> None:
    rows = (ROW | {"annotation_row": str(n), "autograder_model": judge} for n, judge in enumerate(judges))
    chosen = {"judge": asked, "extractor": None, "cosine": "labse"}
    card, engine = replayed(tmp_path, *rows)
    assert passes_of(load("humorbench"), card, engine, ["default"], chosen) == {JUDGE: expected}
    assert passes_of(load("pixelhumor"), card, engine, ["default"], chosen) == {}
