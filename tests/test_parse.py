"""punchline.parse reads answers to every task as the documented examples say, and refuses bad arguments."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.test_readings import plain

import punchline
from punchline.benchmarks.hummus.instructions import OPTIONS
from punchline.core import benchmark as benchmarks
from punchline.schema import RULES

DOCUMENT = (Path(__file__).parent.parent / "docs/reading.md").read_text(encoding="utf-8")
ROW = re.compile(r"\| (\w+) \| (\w+) \| `(.+?)` \| (?:`(.+?)` )?\| `(.+?)` \|")
EXAMPLES = ROW.findall(DOCUMENT)
CASES = [
    pytest.param(document, says, text, id=f"{path.stem}-{document['task']}-{place}")
    for path in sorted((Path(__file__).parent / "parsed").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    for place, (says, text) in enumerate(document["cases"], 1)
]
MORE = {"options": OPTIONS, "labels": (1, 2, 3)}


def arguments(text: str) -> dict[str, Any]:
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}


@pytest.mark.parametrize(("benchmark", "task", "text", "more", "value"), EXAMPLES)
def test_documented_examples(benchmark: str, task: str, text: str, more: str, value: str) -> None:
    assert punchline.parse(benchmark, task, ast.literal_eval(text), **arguments(more)) == ast.literal_eval(value)


@pytest.mark.parametrize(("document", "says", "text"), CASES)
def test_answers_are_read_as_they_are_meant(document: dict[str, Any], says: Any, text: str) -> None:
    more = {name: document[name] for name in ("options", "labels", "size") if name in document}
    result = plain(punchline.parse(document["benchmark"], document["task"], text, **more))
    assert (sorted(result) if document["task"] == "Q5" and result else result) == plain(says)


@given(st.text(max_size=100))
def test_every_task_under_both_rules(text: str) -> None:
    assert {benchmark for benchmark, *_ in EXAMPLES} == {*benchmarks.names()}
    for benchmark in benchmarks.names():
        for task in benchmarks.load(benchmark).TASKS:
            for rule in RULES:
                punchline.parse(benchmark, task, text, rule, **MORE)


def test_options_by_letter() -> None:
    assert punchline.parse("yesbut", "title_mcq_1", "B", options={"A": "One", "B": "Two"}) == "B"
    assert [punchline.parse("hummus", "classification_a_b", letter, options=OPTIONS) for letter in "AB"] == [
        "Yes",
        "No",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("yesbot", "title_mcq_1", ""), "no benchmark 'yesbot'. Did you mean 'yesbut'?"),
        (("pixelhumor", "Q9", ""), "pixelhumor has no task 'Q9'. Did you mean 'Q"),
        (("pixelhumor", "Q1", "", "papers"), "no rule 'papers'. Did you mean 'paper'?"),
        (("yesbut", "title_mcq_1", "A"), "task title_mcq_1 of yesbut needs options"),
        (("stripcipher", "reordering_generation", "1"), "task reordering_generation of stripcipher needs labels"),
        (("pixelhumor", "Q3", "1"), "needs labels: the numbers of the panels"),
    ],
)
def test_bad_arguments(call: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        punchline.parse(*call)
