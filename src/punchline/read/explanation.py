"""An explanation between tags, and the elements of a text."""

from __future__ import annotations

import re

from punchline.read import reasoning
from punchline.read.result import NOTHING, Read, recorded
from punchline.read.words import pattern

_CUT = "\uffff"  # no character: in place of reasoning
_PLACEHOLDER = pattern(r"\W*{placeholder}\W*|[\W_]*", re.IGNORECASE)


def elements(text: str, tag: str) -> list[re.Match[str]]:
    """Each <tag>…</tag>; group 1: its content."""
    closing = re.compile(rf"<\s{{0,3}}/\s{{0,3}}{tag}\s{{0,3}}>", re.IGNORECASE)
    last = max((match.end() for match in closing.finditer(text)), default=0)  # none begins behind it: linear time
    element = re.compile(rf"<\s{{0,3}}{tag}\s{{0,3}}>(.*?){closing.pattern}", re.IGNORECASE | re.DOTALL)
    return list(element.finditer(text, 0, last))


@recorded
def explanation(answer: str) -> Read[str]:
    """The explanation: the first <explanation>…</explanation>, else all but reasoning.

    Where the tag is opened and the answer ends before it is closed, the rest is taken.

    Args:
        answer: The whole answer of a model.

    Returns:
        The text and its span; no value for the placeholder of a prompt, where nothing is left, and where reasoning
        never ends.

    >>> explanation("<explanation>A pun on mugs.</explanation>").value
    'A pun on mugs.'
    """
    part = reasoning.remove(answer, tuple(tag for tag in reasoning.TAGS if tag != "reasoning"))
    notes = [note.span() for note in elements(part.text, "reasoning")]
    text = reasoning.blanked(part.text, notes, _CUT)
    spans = [match.span(1) for match in elements(text, "explanation")]
    if not spans:
        opening = re.search("<explanation>", text, re.IGNORECASE)
        spans = [(opening.end() if opening else 0, len(text))]
    for start, end in spans:
        content = text[start:end].replace(_CUT, " ")
        if len(content.strip()) > 200 or not _PLACEHOLDER.fullmatch(content.strip()):
            value = text[start:end].replace(_CUT, "").strip()
            start = end - len(content.lstrip())
            return Read(value, part.offset + start, part.offset + start + len(content.strip()))
    return NOTHING
