"""Phrasings with what they say: each is read right, and stays so in another dress.

tests/phrasings/*.yaml hold documents of {reader, its parameters, phrasings: {family: [[what it says, answer], …]}}.
"""

import importlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.test_readings import plain

from punchline.read import choice, yes_no
from punchline.read.result import Read

FOLDER = Path(__file__).parent / "phrasings"
MODULES = {"label": "labels", "presence": "labels", "several": "labels", "object_name": "names"}
MODULES |= {"marked_words": "tags", "explanation": "tags"}


def read(answer: str, document: dict[str, Any]) -> Read[Any]:
    """The value that a document's reader reads; the document's other entries are the reader's parameters."""
    name = document["reader"]
    reader = getattr(importlib.import_module(f"punchline.read.{MODULES.get(name, name)}"), name)
    return reader(answer, **{key: value for key, value in document.items() if key not in ("reader", "phrasings")})


WRITTEN = ("object_name", "explanation", "panel_texts", "marked_words")  # whose answer is the text itself


class Phrasing(NamedTuple):
    document: dict[str, Any]
    name: str
    says: Any
    answer: str

    def __repr__(self) -> str:
        return f"{self.name}: {self.answer!r} says {self.says!r}"

    @property
    def reader(self) -> str:
        return str(self.document["reader"])

    @property
    def has_thoughts(self) -> bool:
        marks = ("think", "THINK", "<|channel|>", "<reasoning>", "assistantfinal")
        return any(mark in self.answer for mark in marks)

    def read(self, answer: str) -> Read[Any]:
        return read(answer, self.document)


PHRASINGS = [
    Phrasing(document, f"{document['reader']}-{family}-{place}", says, answer)
    for path in sorted(FOLDER.glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    for family, rows in document["phrasings"].items()
    for place, (says, answer) in enumerate(rows, 1)
]


def test_there_are_enough_and_each_is_there_once() -> None:
    assert len(PHRASINGS) >= 500
    assert len({(one.reader, repr(sorted(one.document.items(), key=str)), one.answer) for one in PHRASINGS}) == len(
        PHRASINGS
    )
    assert sum(one.says is None for one in PHRASINGS) >= 100


@pytest.mark.parametrize("phrasing", PHRASINGS, ids=lambda one: one.name)
def test_every_phrasing_is_read_right(phrasing: Phrasing) -> None:
    result = phrasing.read(phrasing.answer)
    assert plain(result.value) == phrasing.says
    if result.value is not None:
        assert 0 <= result.start < result.end <= len(phrasing.answer)
        assert phrasing.answer[result.start : result.end].strip()
    else:
        assert (result.start, result.end) == (0, 0)


THOUGHTS = (
    "<think>\nPerhaps A, or D? Yes. No. Panel 2. 1, 2, 3. Both. [[1]] PASS\n</think>\n",
    "<think></think>",
    "◁think▷The answer is B. Text, Pun, Absent.◁/think▷",
    "[THINK]Final answer: D. [0.9, 0.9, 0.1, 0.1][/THINK]\n\n",
    "The answer might be A, no, C. 3, 2, 1.\n</think>\n\n",
    "<|channel|>analysis<|message|>Answer: A. Answer: Yes.<|end|><|start|>assistant<|channel|>final<|message|>",
)
closed = [one for one in PHRASINGS if not one.has_thoughts]


@settings(max_examples=400)
@given(st.sampled_from(closed), st.sampled_from(THOUGHTS))
def test_thoughts_before_it_change_nothing(phrasing: Phrasing, thought: str) -> None:
    result = phrasing.read(thought + phrasing.answer)
    assert plain(result.value) == phrasing.says
    assert result.value is None or result.start >= len(thought)


FORMATS = ("{", "<", "\\", "|", "#", "```", "[", "*", "~", "_", "$")
DRESS = ("**{}**", "*{}*", '"{}"', "“{}”", "```\n{}\n```", "> {}", "### {}", "- {}", "({})", "<b>{}</b>")
DRESS += ("__{}__", "`{}`")
BEFORE, AFTER = (" ", "\n", "\n\n", "\t", "   \n", "\u00a0", "\u200b", "\ufeff"), ("", " ", "\n\n", "  \n ", "\u200e")
CLOSERS = (
    "I hope this helps!",
    "Let me know if you need anything else.",
    "Thank you for the interesting comic!",
    "Feel free to ask for more details.",
)


def spaced(one: Phrasing, draw: random.Random) -> str | None:
    before, after = draw.choice(BEFORE), draw.choice(AFTER)
    return before + one.answer + after if one.reader not in WRITTEN or (before + after).isspace() else None


def widened(one: Phrasing, draw: random.Random) -> str | None:
    if one.reader in (*WRITTEN, "boxes") or "|" in one.answer:
        return None
    return "".join(c * draw.choice((1, 1, 2, 3)) if c == " " else c for c in one.answer)


def dressed(one: Phrasing, draw: random.Random) -> str | None:
    """One plain line in marks; a mark of a line stands at its beginning only."""
    dress, answer = draw.choice(DRESS), one.answer
    bare = (
        answer.strip() and "\n" not in answer and not any(mark in answer for mark in FORMATS) and not one.has_thoughts
    )
    quoted = '"' in answer and ('"' in dress or "“" in dress)
    named = one.reader in (*WRITTEN, "boxes") or answer.startswith((">", "-", "→"))
    return dress.format(answer) if bare and not quoted and not named else None


def closed_politely(one: Phrasing, draw: random.Random) -> str | None:
    answer, gap = one.answer.rstrip(), draw.choice((" ", "\n", "\n\n"))
    ended = answer and (gap != " " or answer[-1] in ".!")
    return answer + gap + draw.choice(CLOSERS) if ended and one.says is not None and one.reader not in WRITTEN else None


def cased(one: Phrasing, draw: random.Random) -> str | None:
    """In capitals an article is an A, and a small a an article: options and names keep their case."""
    if one.reader not in ("label", "several", "number", "sequence") or one.has_thoughts or "\\" in one.answer:
        return None
    return draw.choice((one.answer.upper(), one.answer.lower()))


@pytest.mark.parametrize("change", [spaced, widened, dressed, closed_politely, cased], ids=lambda one: one.__name__)
def test_another_dress_changes_nothing(change: Callable[[Phrasing, random.Random], str | None]) -> None:
    @settings(max_examples=500)
    @given(st.sampled_from(PHRASINGS), st.randoms(use_true_random=False))
    def unchanged(phrasing: Phrasing, draw: random.Random) -> None:
        if (answer := change(phrasing, draw)) is not None:
            assert plain(phrasing.read(answer).value) == phrasing.says, answer

    unchanged()


BESIDE = "It is a clever piece of work."  # of the comic, and of no answer


def test_a_sentence_beside_it_makes_no_reading_wrong() -> None:
    """In front or behind, as a paragraph of its own; a bare word that means nothing by itself may go unread."""
    others = (*WRITTEN, "boxes", "refusal")
    answered = [one for one in closed if one.reader not in others and one.answer.strip()]
    unread = 0
    for phrasing in answered:
        answer = phrasing.answer.rstrip()
        for beside in (f"{BESIDE}\n\n{answer}", f"{answer}\n\n{BESIDE}"):
            result = plain(phrasing.read(beside).value)
            assert result in (phrasing.says, None) or answer.endswith("?"), (phrasing, beside)
            unread += result != phrasing.says
    assert unread < len(answered) / 40


def test_a_place_among_options_without_texts() -> None:
    letters = {"A": "Yes", "B": "No"}
    places = [("last", "ABC", "C"), ("second", "AB", "B"), ("third", "AB", None), ("last", "", None)]
    assert [choice.choice(f"The {place} option.", given).value for place, given, _ in places] == [p[2] for p in places]
    output = [yes_no.yes_no(f"The {place} option.", letters=letters).value for place in ("last", "first", "third")]
    assert output == ["No", "Yes", None] and yes_no.yes_no("The last option.").value is None
