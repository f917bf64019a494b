"""Phrasings with what they say: each is read right, and stays so in another dress.

tests/phrasings/*.yaml hold documents of {reader, its parameters, phrasings: {family: [[what it says, answer], …]}}.
"""

import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.test_readings import plain

from punchline.read import (
    boxes,
    choice,
    labels,
    names,
    number,
    panel_texts,
    rating,
    refusal,
    sequence,
    tags,
    verdict,
    yes_no,
)
from punchline.read.result import Read

FOLDER = Path(__file__).parent / "phrasings"


class Phrasing(NamedTuple):
    document: dict[str, Any]
    name: str
    says: Any
    answer: str

    def __repr__(self) -> str:
        return f"{self.name}: {self.answer!r} says {self.says!r}"

    def read(self, answer: str) -> Read[Any]:
        return READERS[self.document["reader"]](answer, self.document)


def _pair(sizes: list[int] | None) -> tuple[int, int] | None:
    return (sizes[0], sizes[1]) if sizes else None


READERS: dict[str, Any] = {
    "choice": lambda answer, of: choice.choice(answer, of["letters"], of.get("options")),
    "yes_no": lambda answer, of: yes_no.yes_no(
        answer, of.get("stems", ()), of.get("letters"), of.get("options"), of.get("against", ())
    ),
    "label": lambda answer, of: labels.label(answer, of["labels"], of.get("both"), none=of.get("none", False)),
    "presence": lambda answer, of: labels.presence(answer, tuple(of["labels"])),
    "several": lambda answer, of: labels.several(answer, of["labels"]),
    "number": lambda answer, of: number.number(answer, of["labels"]),
    "sequence": lambda answer, of: sequence.sequence(answer, of["labels"]),
    "object_name": lambda answer, of: names.object_name(answer, of.get("shown", ())),
    "boxes": lambda answer, of: boxes.boxes(answer, _pair(of.get("size")), of.get("corners", "thousandths")),
    "marked_words": lambda answer, of: tags.marked_words(answer),
    "explanation": lambda answer, of: tags.explanation(answer),
    "panel_texts": lambda answer, of: panel_texts.panel_texts(answer, of["labels"]),
    "rating": lambda answer, of: rating.rating(answer),
    "verdict": lambda answer, of: verdict.verdict(answer),
    "refusal": lambda answer, of: refusal.refusal(answer),
}


def _all() -> list[Phrasing]:
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            for family, rows in document["phrasings"].items():
                for place, (says, answer) in enumerate(rows, 1):
                    found.append(Phrasing(document, f"{document['reader']}-{family}-{place}", says, answer))
    return found


PHRASINGS = _all()


def test_there_are_enough_and_each_is_there_once() -> None:
    assert len(PHRASINGS) >= 500
    keys = [(one.document["reader"], repr(sorted(one.document.items(), key=str)), one.answer) for one in PHRASINGS]
    assert len(set(keys)) == len(keys)
    assert sum(one.says is None for one in PHRASINGS) >= 100


@pytest.mark.parametrize("phrasing", PHRASINGS, ids=lambda one: one.name)
def test_every_phrasing_is_read_right(phrasing: Phrasing) -> None:
    found = phrasing.read(phrasing.answer)
    assert plain(found.value) == phrasing.says
    if found.value is not None:
        assert 0 <= found.start < found.end <= len(phrasing.answer)
        assert phrasing.answer[found.start : found.end].strip()
    else:
        assert (found.start, found.end) == (0, 0)


THOUGHTS = (
    "<think>\nPerhaps A, or D? Yes. No. Panel 2. 1, 2, 3. Both. [[1]] PASS\n</think>\n",
    "<think></think>",
    "◁think▷The answer is B. Text, Pun, Absent.◁/think▷",
    "[THINK]Final answer: D. [0.9, 0.9, 0.1, 0.1][/THINK]\n\n",
    "The answer might be A, no, C. 3, 2, 1.\n</think>\n\n",
    "<|channel|>analysis<|message|>Answer: A. Answer: Yes.<|end|><|start|>assistant<|channel|>final<|message|>",
)
WRITTEN = ("object_name", "explanation", "panel_texts", "marked_words")  # whose answer is the text itself
FORMATS = ("{", "<", "\\", "|", "#", "```", "[", "*", "~", "_", "$")


def _thought_of(answer: str) -> bool:
    return any(mark in answer for mark in ("think", "THINK", "<|channel|>", "<reasoning>", "assistantfinal"))


settled = [one for one in PHRASINGS if one.says is not None]
closed = [one for one in PHRASINGS if not _thought_of(one.answer)]


@settings(max_examples=400)
@given(st.sampled_from(closed), st.sampled_from(THOUGHTS))
def test_thoughts_before_it_change_nothing(phrasing: Phrasing, thought: str) -> None:
    found = phrasing.read(thought + phrasing.answer)
    assert plain(found.value) == phrasing.says
    if found.value is not None:
        assert found.start >= len(thought)


@settings(max_examples=300)
@given(
    st.sampled_from(PHRASINGS),
    st.sampled_from((" ", "\n", "\n\n", "\t", "   \n", "\u00a0", "\u200b", "\ufeff")),
    st.sampled_from(("", " ", "\n\n", "  \n ", "\u200e")),
)
def test_white_space_around_it_changes_nothing(phrasing: Phrasing, before: str, after: str) -> None:
    if phrasing.document["reader"] not in WRITTEN or (before + after).isspace():
        assert plain(phrasing.read(before + phrasing.answer + after).value) == phrasing.says


@settings(max_examples=300)
@given(st.sampled_from(PHRASINGS), st.randoms(use_true_random=False))
def test_longer_blanks_between_words_change_nothing(phrasing: Phrasing, draw: random.Random) -> None:
    if phrasing.document["reader"] in (*WRITTEN, "boxes") or "|" in phrasing.answer:
        return
    answer = "".join(c * draw.choice((1, 1, 2, 3)) if c == " " else c for c in phrasing.answer)
    assert plain(phrasing.read(answer).value) == phrasing.says


DRESS = ("**{}**", "*{}*", '"{}"', "“{}”", "```\n{}\n```", "> {}", "### {}", "- {}", "({})", "<b>{}</b>")
DRESS += ("__{}__", "`{}`")


@settings(max_examples=500)
@given(st.sampled_from(PHRASINGS), st.sampled_from(DRESS))
def test_dress_around_one_plain_line_changes_nothing(phrasing: Phrasing, dress: str) -> None:
    answer = phrasing.answer
    bare = "\n" not in answer and not any(mark in answer for mark in FORMATS) and not _thought_of(answer)
    bare = bare and not answer.startswith((">", "-", "→"))  # marks of a line, at its beginning only
    if not bare or not answer.strip() or phrasing.document["reader"] in (*WRITTEN, "boxes"):
        return
    if '"' in answer and ('"' in dress or "“" in dress):
        return
    assert plain(phrasing.read(dress.format(answer)).value) == phrasing.says


BESIDE = "It is a clever piece of work."  # of the comic, and of no answer


def test_a_sentence_beside_it_makes_no_reading_wrong() -> None:
    """In front or behind, as a paragraph of its own; a bare word that means nothing by itself may go unread."""
    unread = 0
    others = (*WRITTEN, "boxes", "refusal")
    answered = [one for one in closed if one.document["reader"] not in others and one.answer.strip()]
    for phrasing in answered:
        answer = phrasing.answer.rstrip()
        for beside in (f"{BESIDE}\n\n{answer}", f"{answer}\n\n{BESIDE}"):
            found = plain(phrasing.read(beside).value)
            assert found in (phrasing.says, None) or answer.endswith("?"), (phrasing, beside)
            unread += found != phrasing.says
    assert unread < len(answered) / 40


CLOSERS = (
    "I hope this helps!",
    "Let me know if you need anything else.",
    "Thank you for the interesting comic!",
    "Feel free to ask for more details.",
)


@settings(max_examples=400)
@given(st.sampled_from(settled), st.sampled_from(CLOSERS), st.sampled_from((" ", "\n", "\n\n")))
def test_a_courteous_last_sentence_changes_nothing(phrasing: Phrasing, closer: str, gap: str) -> None:
    answer = phrasing.answer.rstrip()
    if phrasing.document["reader"] in WRITTEN or not answer or (gap == " " and answer[-1] not in ".!"):
        return
    assert plain(phrasing.read(answer + gap + closer).value) == phrasing.says


@settings(max_examples=300)
@given(st.sampled_from(PHRASINGS), st.booleans())
def test_case_is_dress_where_no_letter_is_an_option(phrasing: Phrasing, upper: bool) -> None:
    """In capitals an article is an A, and a small a an article: options and names keep their case."""
    cased = phrasing.document["reader"] not in ("label", "several", "number", "sequence")
    if cased or _thought_of(phrasing.answer) or "\\" in phrasing.answer:
        return
    answer = phrasing.answer.upper() if upper else phrasing.answer.lower()
    assert plain(phrasing.read(answer).value) == phrasing.says


YES_NO = {"A": "Yes", "B": "No"}


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (choice.choice("The last option.", "ABC"), "C"),
        (choice.choice("the second option", "AB"), "B"),
        (choice.choice("the third option", "AB"), None),
        (choice.choice("The last option.", ""), None),
        (yes_no.yes_no("The last option.", letters=YES_NO), "No"),
        (yes_no.yes_no("The first option.", letters=YES_NO), "Yes"),
        (yes_no.yes_no("The third option.", letters=YES_NO), None),
        (yes_no.yes_no("The last option."), None),
    ],
)
def test_a_place_among_options_without_texts(found: Read[str], says: str | None) -> None:
    assert found.value == says
