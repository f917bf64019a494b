"""What benchmarks read besides answers to their tasks: options of a question, drafts, drawn options."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchline.benchmarks.stripcipher.answers import parse
from punchline.benchmarks.stripcipher.studies import parse_both
from punchline.benchmarks.stripcipher.words import plain as plain_words
from punchline.benchmarks.yesbut.answers import drawn_option
from punchline.benchmarks.yesbut.options import options

DRAFTS = """Reasoning Chain 1: x\nOptions in Q1:\nA. one\n**B.** two\nC. [three]\nD. four\nRight Answer 1: D
Options in Q2:\nA. a\nB. b\nC. c\nD. d\nRight Answer 2: **B**"""


@pytest.mark.parametrize(
    ("reader", "expected", "text"),
    [
        (options, {"A": "one", "B": "two"}, "A. one\nB. two"),
        *((options, {}, text) for text in ("", "A. one", "A. one\nC. two", "A. one\nA. two", "B. one\nA. two")),
        *((options, {}, text) for text in ("A. one\ntwo", "A. one\nB.", "A one\nB two", "A. one\nB. two\n")),
        (
            parse_both,
            {"prediction": ("four", ("one", "two", "three")), "comprehension": ("b", ("a", "c", "d"))},
            DRAFTS,
        ),
        *((parse_both, {}, text) for text in ("Options in Q1: A. one", "Options in Q1:\nA. one\nRight Answer 1: E")),
    ],
)
def test_options_and_drafts(reader: Any, expected: dict[str, Any], text: str) -> None:
    result = reader(text)
    assert {name: (one[0], tuple(one[1])) if reader is parse_both else one for name, one in result.items()} == expected


WORDS_OF_OPTIONS = ["the dog", "B", "Answer: C", "A.", "it's D", "not", "is wrong", "or", "(C)", "wins", "a", ",", "3"]
TEXTS = st.lists(st.sampled_from(WORDS_OF_OPTIONS), max_size=6).map(lambda words: " ".join(("Nobody", *words)))


@given(st.lists(TEXTS, min_size=4, max_size=4, unique_by=plain_words), st.integers(0, 3))
def test_options_like_answers_are_told_apart(offered: list[str], place: int) -> None:
    choices = dict(zip("ABCD", offered, strict=True))
    for answer in (offered[place], f"{'ABCD'[place]}. {offered[place]}", f"**{offered[place]}**"):
        assert parse("comprehension", answer, "paper", options=choices, labels=()) == "ABCD"[place]


def test_the_drawn_option_depends_on_item_and_task_only() -> None:
    drawn, again = ([drawn_option(f"{n:05d}.jpg", "title_mcq_1", "ABCD") for n in range(400)] for _ in range(2))
    assert drawn == again and all(70 <= drawn.count(letter) <= 130 for letter in "ABCD")
