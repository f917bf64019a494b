"""punchline.parse reads answers to every task as documented, and refuses bad arguments; options, drafts, drawn options.

tests/parsed/*.yaml hold documents of {benchmark, task, its arguments, cases: [[value, answer], …]}; with several
`rules` a value a rule. <<name>> in an answer stands for the words of Hummus's prompts.
"""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.records import refused
from tests.test_read_phrasings import plain

import punchline
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, PROMPTS
from punchline.benchmarks.stripcipher.studies import parse_both
from punchline.benchmarks.stripcipher.words import plain as plain_words
from punchline.benchmarks.yesbut.answers import drawn_option
from punchline.benchmarks.yesbut.options import options
from punchline.core import benchmark as benchmarks
from punchline.schema import RULES

DOCUMENT = (Path(__file__).parent.parent / "docs/reading.md").read_text(encoding="utf-8")
ROW = re.compile(r"\| (\w+) \| (\w+) \| `(.+?)` \| (?:`(.+?)` )?\| `(.+?)` \|")
EXAMPLES = ROW.findall(DOCUMENT)
DOCUMENTS = [
    pytest.param(document, id=f"{path.stem}-{document['task']}")
    for path in sorted((Path(__file__).parent / "parsed").glob("*.yaml"))
    for document in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
]
MORE = {"options": OPTIONS, "labels": (1, 2, 3)}
WORDS = {**INSTRUCTIONS, "joint": PROMPTS["joint"], "A": OPTIONS[0], "B": OPTIONS[1]}


@pytest.mark.parametrize(("benchmark", "task", "text", "more", "value"), EXAMPLES)
def test_documented_examples(benchmark: str, task: str, text: str, more: str, value: str) -> None:
    arguments = eval(f"dict({more})", {"dict": dict})
    assert punchline.parse(benchmark, task, ast.literal_eval(text), **arguments) == ast.literal_eval(value)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_answers_are_read_as_they_are_meant(document: dict[str, Any]) -> None:
    more = MORE | {name: document[name] for name in ("options", "labels", "size") if name in document}
    rules, wrong = document.get("rules", ["paper"]), []
    for says, answer in document["cases"]:
        text = re.sub("<<([A-Za-z_]+)>>", lambda name: WORDS.get(name[1], name[0]), answer)
        for rule, expected in zip(rules, says if len(rules) > 1 else [says], strict=True):
            result = plain(punchline.parse(document["benchmark"], document["task"], text, rule, **more))
            several = document["task"] == "Q5" and result and rule == "paper"  # in no order
            if (sorted(result) if several else result) != (sorted(expected) if several else plain(expected)):
                wrong.append((rule, answer, expected, result))
    assert not wrong


@given(st.text(max_size=100))
def test_every_task_under_both_rules(text: str) -> None:
    assert {benchmark for benchmark, *_ in EXAMPLES} == {*benchmarks.names()}
    for benchmark in benchmarks.names():
        for task in benchmarks.load(benchmark).TASKS:
            for rule in RULES:
                punchline.parse(benchmark, task, text, rule, **MORE)


def test_options_by_letter() -> None:
    assert punchline.parse("yesbut", "title_mcq_1", "B", options={"A": "One", "B": "Two"}) == "B"
    assert punchline.parse("hummus", "classification_a_b", "B", options=OPTIONS[::-1]) == "Yes"


@pytest.mark.parametrize(("call", "message"), refused("arguments of parse"))
def test_bad_arguments(call: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        punchline.parse(*call)


DRAFTS = """Reasoning Chain 1: x\nOptions in Q1:\nA. one\n**B.** two\nC. [three]\nD. four\nRight Answer 1: D
Options in Q2:\nA. a\nB. b\nC. c\nD. d\nRight Answer 2: **B**"""
MEANT = {"prediction": ["four", ["one", "two", "three"]], "comprehension": ["b", ["a", "c", "d"]]}


@pytest.mark.parametrize(
    ("reader", "expected", "text"),
    [
        (options, {"A": "one", "B": "two"}, "A. one\nB. two"),
        *((options, {}, text) for text in ("", "A. one", "A. one\nC. two", "A. one\nA. two", "B. one\nA. two")),
        *((options, {}, text) for text in ("A. one\ntwo", "A. one\nB.", "A one\nB two", "A. one\nB. two\n")),
        (parse_both, MEANT, DRAFTS),
        *((parse_both, {}, text) for text in ("Options in Q1: A. one", "Options in Q1:\nA. one\nRight Answer 1: E")),
    ],
)
def test_options_and_drafts(reader: Any, expected: dict[str, Any], text: str) -> None:
    assert plain(reader(text)) == expected


WORDS_OF_OPTIONS = ["the dog", "B", "Answer: C", "A.", "it's D", "not", "is wrong", "or", "(C)", "wins", "a", ",", "3"]
TEXTS = st.lists(st.sampled_from(WORDS_OF_OPTIONS), max_size=6).map(lambda words: " ".join(("Nobody", *words)))


@given(st.lists(TEXTS, min_size=4, max_size=4, unique_by=plain_words), st.integers(0, 3))
def test_options_like_answers_are_told_apart(offered: list[str], place: int) -> None:
    for answer in (offered[place], f"{'ABCD'[place]}. {offered[place]}", f"**{offered[place]}**"):
        assert punchline.parse("stripcipher", "comprehension", answer, options=offered) == "ABCD"[place]


def test_the_drawn_option_depends_on_item_and_task_only() -> None:
    drawn, again = ([drawn_option(f"{n:05d}.jpg", "title_mcq_1", "ABCD") for n in range(400)] for _ in range(2))
    assert drawn == again and all(70 <= drawn.count(letter) <= 130 for letter in "ABCD")
