"""Phrasings with what they say: each is read right, and stays so in another dress.

tests/phrasings/*.yaml hold documents of {reader, its parameters, phrasings: {family: [[what it says, answer], …]}}.
"""

import importlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from punchline.read.result import Read

FOLDER = Path(__file__).parent / "phrasings"
WRITTEN = ("object_name", "explanation", "panel_texts", "marked_words")  # whose answer is the text itself


def plain(value: Any) -> Any:
    """The value as JSON has it, with six decimals."""
    return json.loads(json.dumps(value), parse_float=lambda digits: round(float(digits), 6))


class Phrasing(NamedTuple):
    document: dict[str, Any]
    reader: str
    name: str
    says: Any
    answer: str

    def read(self, answer: str) -> Read[Any]:
        """What the document's reader reads; its other entries are the reader's parameters."""
        module = importlib.import_module(f"punchline.read.{self.reader}")
        parameters = {key: value for key, value in self.document.items() if key not in ("reader", "phrasings")}
        reading: Read[Any] = getattr(module, self.reader)(answer, **parameters)
        return reading


PHRASINGS = [
    Phrasing(document, document["reader"], f"{document['reader']}-{family}-{place}", says, answer)
    for path in sorted(FOLDER.glob("*.yaml"))
    for document in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    for family, rows in document["phrasings"].items()
    for place, (says, answer) in enumerate(rows, 1)
]


@pytest.mark.parametrize("reader", sorted({one.reader for one in PHRASINGS}))
def test_every_phrasing_is_read_right(reader: str) -> None:
    for phrasing in (one for one in PHRASINGS if one.reader == reader):
        result = phrasing.read(phrasing.answer)
        assert plain(result.value) == phrasing.says, phrasing
        assert 0 <= result.start <= result.end <= len(phrasing.answer), phrasing
        assert (result.value is not None) == bool(phrasing.answer[result.start : result.end].strip()), phrasing


MADE = yaml.safe_load((FOLDER.parent / "pieces.yaml").read_text(encoding="utf-8"))
THINKS = ("think", "THINK", "<|channel|>", "<reasoning>", "assistantfinal")
FORMATS = ("{", "<", "\\", "|", "#", "```", "[", "*", "~", "_", "$", "\n", *THINKS)


def changes(one: Phrasing, draw: random.Random) -> Iterator[str]:
    """The answer with reasoning, blanks, marks and courtesies around it, with wider blanks, in capitals."""
    answer, thinks = one.answer, any(mark in one.answer for mark in THINKS)
    before, after = draw.choice(MADE["before"]), draw.choice(MADE["after"])
    if not thinks:
        yield draw.choice(MADE["thoughts"]) + answer
    if one.reader not in WRITTEN or (before + after).isspace():
        yield before + answer + after
    if one.reader not in WRITTEN and answer.rstrip() and one.says is not None:
        gap = draw.choice((" ", "\n", "\n\n") if answer.rstrip()[-1] in ".!" else ("\n", "\n\n"))
        yield answer.rstrip() + gap + draw.choice(MADE["closers"])
    if one.reader not in (*WRITTEN, "boxes") and "|" not in answer:
        yield "".join(c * draw.choice((1, 1, 2, 3)) if c == " " else c for c in answer)
    if one.reader not in (*WRITTEN, "boxes") and answer.strip() and not any(mark in answer for mark in FORMATS):
        dress = draw.choice(MADE["dress"])  # of one plain line; a mark of a line stands at its beginning only
        if not (answer.startswith((">", "-", "→")) or ('"' in answer and dress in ('"{}"', "“{}”"))):
            yield dress.format(answer)
    if one.reader in ("label", "several", "number", "sequence") and not thinks and "\\" not in answer:
        yield draw.choice((answer.upper(), answer.lower()))  # of others: in capitals an article is an A


@settings(max_examples=800)
@given(st.sampled_from(PHRASINGS), st.randoms(use_true_random=False))
def test_another_dress_changes_nothing(phrasing: Phrasing, draw: random.Random) -> None:
    for answer in changes(phrasing, draw):
        result = phrasing.read(answer)
        assert plain(result.value) == phrasing.says, answer
        thoughts = max((len(one) for one in MADE["thoughts"] if answer.startswith(one)), default=0)
        assert result.value is None or result.start >= thoughts


def test_a_sentence_beside_it_makes_no_reading_wrong() -> None:
    """In front or behind, as a paragraph of its own; a bare word that means nothing by itself may go unread."""
    others = (*WRITTEN, "boxes", "refusal")
    answered = [one for one in PHRASINGS if one.reader not in others and one.answer.strip()]
    answered = [one for one in answered if not any(mark in one.answer for mark in THINKS)]
    beside, unread = "It is a clever piece of work.", 0  # said of the comic, and of no answer
    for phrasing in answered:
        answer = phrasing.answer.rstrip()
        for text in (f"{beside}\n\n{answer}", f"{answer}\n\n{beside}"):
            result = plain(phrasing.read(text).value)
            assert result in (phrasing.says, None) or answer.endswith("?"), (phrasing, text)
            unread += result != phrasing.says
    assert unread < len(answered) / 40
