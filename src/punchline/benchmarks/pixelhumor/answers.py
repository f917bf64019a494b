"""Parsers of answers to PixelHumor's questions, under both rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec

from punchline.benchmarks.pixelhumor import MODALITIES, SOUND_EFFECTS, STYLES
from punchline.grouping import grouped
from punchline.read import label, number, presence, reasoning, sequence, several, yes_no
from punchline.read import panel_texts as panels
from punchline.schema import Rule

# The released pattern `(\d+):\s*(.*?)(?=(\d+: |$))` with possessive quantifiers and look-behinds: the same matches, in
# linear time (the original is quadratic in the length of a run of digits).
RELEASED_PANEL = re.compile(r"(?<!\d)(\d++):\s*+(.*?)(?=(?<!\d)\d++: |$)", re.DOTALL)


# Further forms of labels in answers under rule `paper`, by question.
_Forms = dict[str, tuple[str, ...]]
_FORMS = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, _Forms])
_STYLES = dict.fromkeys(STYLES, ()) | _FORMS["Q5"]


def plain_number(digits: str) -> str:
    """A number without leading zeros and in ASCII digits."""
    return str(int(digits))


_PAPER: dict[str, Callable[[str, Collection[str]], str | tuple[str, ...] | None]] = {
    "Q1": lambda answer, _: yes_no.yes_no(answer, stems=("understand", "get the joke", "get it")).value,
    "Q2": lambda answer, _: presence.presence(answer, SOUND_EFFECTS).value,
    "Q3": lambda answer, known: number.number(answer, known).value,
    "Q4": lambda answer, _: label.label(answer, _FORMS["Q4"], both=("Text", "Visual", "Both"), none=True).value,
    "Q5": lambda answer, _: several.several(answer, _STYLES).value,
    "Q7": lambda answer, known: sequence.sequence(answer, known).value,
}


def _parse_released(task: str, answer: str) -> tuple[str, ...] | None:
    if task in ("Q1", "Q2"):
        return (answer.lower(),) if answer.strip() else None
    if task == "Q3":
        return tuple(re.findall(r"\d+", answer)) or None
    if task == "Q4":
        return (answer,) if answer in MODALITIES else None
    if task == "Q5":
        pieces = answer.split(", ") if "," in answer else answer.split(" ")
        return tuple(piece for piece in pieces if piece in STYLES) or None
    pieces = [piece for piece in answer.replace(" ", "").split(",") if piece.isdecimal()]
    # isdigit in the released code, which then fails on digits such as a superscript two; int() refuses longer ones
    return tuple(plain_number(piece) if len(piece) <= 4000 else piece for piece in pieces) or None


def parse_labels(task: str, answer: str, rule: Rule, known: Collection[str] = ()) -> tuple[str, ...] | None:
    """Labels that an answer to Q1 … Q5 or Q7 gives; None when nothing can be read out of it. Never raises.

    Q1, Q2 and Q4: one label; Q3: a panel number (`released`: every number); Q5: styles; Q7: panel numbers in order.
    Under `released`, Q1 and Q2 give the whole answer lower-cased, as the released code compares it. `known`: the
    labels of the comic's panels; rule `paper` reads no other number, and an order of all of them only.
    """
    if rule == "released":
        return _parse_released(task, answer)
    parsed = _PAPER[task](answer, known)
    return (parsed,) if isinstance(parsed, str) else parsed


def _unquote_released(value: str) -> str:
    """The text of one panel as the released code unquotes it."""
    value = value.strip()
    for opening, closing in ('""', "{}"):
        if value[:1] == opening and value[-1:] == closing:
            value = value[1:-1]
    if value[:1].isdigit():
        if len(value.strip()) <= 2:
            return ""
        if value[1] in ")\n":
            value = value[2:]
    return value


def panel_texts(answer: str, rule: Rule, known: Collection[str] = ()) -> dict[str, str]:
    """{label: text} of an answer to Q8 or of a gold text, in its order; a repeated label's texts joined with a space.

    `known`: the labels of the comic's panels; rule `paper` takes no other number for a key.
    """
    if rule == "paper":
        return panels.panel_texts(answer, known).value or {}
    matches = grouped(RELEASED_PANEL.finditer(answer), lambda match: match[1])
    return {key: " ".join(_unquote_released(match[2]) for match in of_key) for key, of_key in matches.items()}


NEEDS = dict.fromkeys(("Q3", "Q7", "Q8"), "labels")


def parse(task: str, text: str, rule: Rule, *, labels: Collection[str], **_: Any) -> Any:
    """The label, labels, panel numbers or texts of an answer (punchline.parse)."""
    if task == "Q6":
        return reasoning.without(text) if rule == "paper" else text
    if task == "Q8":
        return panel_texts(text, rule, labels) or None
    parsed = parse_labels(task, text, rule, labels)
    if parsed is None or task == "Q5":
        return parsed
    values = tuple(int(one) if one.isdecimal() and len(one) < 9 else one for one in parsed)
    return values if task == "Q7" or len(values) > 1 else values[0]
