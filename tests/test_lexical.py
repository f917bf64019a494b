"""The baselines for text, asked what models and judges are asked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import cases
from tests.records import request, response

from punchline.benchmarks import humorbench
from punchline.benchmarks.humorbench import judge
from punchline.benchmarks.humorbench.answers import explanation, parse_verdict
from punchline.benchmarks.yesbut.answers import read_score
from punchline.benchmarks.yesbut.judge import judge_prompt
from punchline.core.benchmark import filled
from punchline.engines.baselines import content_words, engine, overlap
from punchline.schema import RULES, Gold, Item, ModelCard, Request, Response

ECHO: dict[str, Any] = {"baseline": "echo"}


def item(description: str = "A cat on a mat.", caption: str = "Meow.") -> Item:
    fields: dict[str, Any] = {"description": description, "caption": caption, "idx": "1"}
    return Item(benchmark="humorbench", item_id="0", source="newyorker", cluster=caption, fields=fields)


def said(asked: Request, **options: Any) -> Response:
    (result,) = engine(ModelCard(name="mine", engine="lexical", options=options), 0).answer([asked], {}, "key")
    assert (result.request_id, result.engine) == (asked.request_id, "lexical")
    return result


def judging(answer: str, element: str) -> Request:
    gold = Gold(benchmark="humorbench", item_id="0", values={"element": element})
    return judge.judge_request(item(), gold, response("r", answer), "paper")


def judged(answer: str, element: str, threshold: float = 0.5) -> str | None:
    """overlap's verdict on an answer, by way of the judge's real prompt."""
    return parse_verdict(said(judging(answer, element), baseline="overlap", threshold=threshold).text or "")


def test_content_words() -> None:
    of = {"": "", "the and of it's": "", "Snails CARRY their houses": "snail carry house", "x_y 42%": "x y 42"}
    of |= {"the gas bus": "gas bus", "The dog's bone, the dog’s bone": "dog bone"}  # too short to lose an s
    of |= {"Ärger über naïveté": "ärger über naïveté", "日本語": "日本語", "<b>pun</b>": "b pun"}
    assert {text: content_words(text) for text in of} == {text: {*words.split()} for text, words in of.items()}


@given(st.text(), st.text())
def test_overlap_is_a_share_and_a_text_covers_itself(element: str, text: str) -> None:
    assert overlap(element, element) == (1.0 if content_words(element) else 0.0)
    assert 0 <= overlap(element, text) <= overlap(element, f"{text} {element}") <= 1
    assert judged(text, element or "x") in ("PASS", "FAIL")


@pytest.mark.parametrize(("answer", "element", "threshold", "expected"), cases(__file__, "judged"))
def test_a_judge_that_counts(answer: str, element: str, threshold: float, expected: str) -> None:
    assert judged(answer, element, threshold) == expected


def test_echo_repeats_what_it_was_told() -> None:
    lines = ("Two lines.\nOf description.", "Two lines.\r\nOf caption.")
    for texts in (("A cat on a mat.", "Meow."), lines, ("{caption} <explanation>", "{description}")):
        (asked,) = humorbench.requests(item(*texts))
        assert explanation(said(asked, **ECHO).text or "") == " ".join(texts)


def test_another_question_is_not_attempted() -> None:
    """Echo is no judge either, and overlap no explainer."""
    counting = {"baseline": "overlap", "threshold": 0}
    texts = ("", "What is the order of the panels?", "Caption: a", "\nCartoon description: a")
    answers = [said(request(text), **options) for options in (ECHO, counting) for text in texts]
    answers += [said(*humorbench.requests(item()), **counting), said(judging("a cat", "cat"), **ECHO)]
    assert {(answer.state, answer.reason, answer.text) for answer in answers} == {("missing", "not attempted", None)}


@pytest.mark.parametrize(("kind", "candidate", "expected"), cases(__file__, "yesbut"))
def test_yesbuts_judge(kind: Any, candidate: str, expected: float) -> None:
    values = {"gen": candidate, "ref": "A cat reads a newspaper upside down", "caption": "a comic"}
    for rule in RULES:
        asked = request(filled(judge_prompt(kind, rule), values), benchmark="yesbut")
        assert read_score(said(asked, baseline="overlap", threshold=0.5).text or "", "paper") == expected
