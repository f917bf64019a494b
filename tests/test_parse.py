"""punchline.parse reads answers to every task as the documented examples say, and refuses bad arguments.

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
from tests.test_read_phrasings import plain

import punchline
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, PROMPTS
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
WORDS = {**INSTRUCTIONS, "joint": PROMPTS["joint"], "A": OPTIONS[0], "B": OPTIONS[1]}


@pytest.mark.parametrize(("benchmark", "task", "text", "more", "value"), EXAMPLES)
def test_documented_examples(benchmark: str, task: str, text: str, more: str, value: str) -> None:
    arguments = eval(f"dict({more})", {"dict": dict})
    assert punchline.parse(benchmark, task, ast.literal_eval(text), **arguments) == ast.literal_eval(value)


@pytest.mark.parametrize(("document", "says", "text"), CASES)
def test_answers_are_read_as_they_are_meant(document: dict[str, Any], says: Any, text: str) -> None:
    more = MORE | {name: document[name] for name in ("options", "labels", "size") if name in document}
    text = re.sub("<<([A-Za-z_]+)>>", lambda name: WORDS.get(name[1], name[0]), text)
    rules = document.get("rules", ["paper"])
    for rule, expected in zip(rules, says if len(rules) > 1 else [says], strict=True):
        result = plain(punchline.parse(document["benchmark"], document["task"], text, rule, **more))
        several = document["task"] == "Q5" and result and rule == "paper"  # in no order
        assert (sorted(result) if several else result) == (sorted(expected) if several else plain(expected))


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
