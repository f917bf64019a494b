"""Presence of something in a picture, and whether it contributes."""

from __future__ import annotations

import re

from punchline.read import choice, normalize, sentences, words
from punchline.read.resolve import resolve, statements
from punchline.read.result import NOTHING, Read, reader

_ABSENT = words.pattern("{absent}")
_CONTRIBUTING = words.pattern(r"(?P<no>{not_contributing})|(?P<yes>{contributing})")
_IDLE = words.pattern(r"\b{idle}\b")
_ASKED = re.compile(r"\bcontribut[^?.\n]{0,60}\? ?(?:(?P<yes>yes)|no)\b")  # "Do they contribute? No."
_ABOUT_EFFECTS = re.compile(r"sound|effect|onomatop|\b(?:sfx|they|these|answer|option|none|not absent|is there)\b")


def _presence(text: normalize.Plain) -> tuple[int, int, int] | None:
    """(0 absent, 1 contributing, 2 idle; start, end) of a plain text; None where it does not say."""
    low = re.sub(r"\bnot absent\b", lambda match: "present".rjust(len(match[0])), text.low)
    absent = _ABSENT.search(low)
    if (asked := _ASKED.search(low)) and not absent:
        return 1 if asked["yes"] else 2, *asked.span()
    masked = words.blanked(_ABSENT, low, 1)
    stated = {
        (1 if contributes else 2): (start + at, start + to)
        for start, end in sentences.sentences(masked)
        if not words.UNSURE.search(masked, start, end)
        for contributes, at, to in statements(masked[start:end], _CONTRIBUTING, judged=True)
    }
    if (idle := _IDLE.search(masked)) and 1 not in stated:
        stated.setdefault(2, idle.span())
    if absent:
        after = re.match(r" ?(?:(?:are|is|were|was) )?(?:present|visible|used)\b", masked[absent.end() :])
        masked = masked[absent.end() + after.end() :] if after else masked
        return None if re.search(r"\bpresent\b|\bor\b", masked) or 1 in stated else (0, *absent.span())
    there = re.search(r"\b(?:present|presence|there|is|are|was|were|has|does|effects?|they|it|contribut\w+)\b", masked)
    if len(stated) != 1 or not (1 in stated or there):
        return None
    [(kind, span)] = stated.items()
    return kind, *span


@reader
def presence(answer: str, labels: tuple[str, str, str]) -> Read[str]:
    """Read whether something is absent, present and contributing, or present and not contributing.

    Args:
        answer: The whole answer of a model.
        labels: The three labels in this order; their letters in the question are A, B, C.

    Returns:
        The label and its span; no value for two of them, and for "present" alone.

    >>> presence("There are no sound effects.", ("Absent", "Contributes", "Does not contribute")).value
    'Absent'
    """
    text = normalize.plain(answer)
    last = sentences.sentences(text.low)[-1] if text.low.strip() else (0, 0)
    alone = re.findall(r"\w+", text.low[slice(*last)]) in [re.findall(r"\w+", label.lower()) for label in labels]
    elsewhere = len(text.low) > 40 and "absent" in text.low[8:] and not _ABOUT_EFFECTS.search(text.low)
    if elsewhere and not alone:
        return NOTHING  # somebody else is absent
    by_letter = dict(zip("ABC", labels, strict=True))
    chosen = choice.choice(answer, "ABC", by_letter)
    if chosen.value is not None:
        return Read(by_letter[chosen.value], chosen.start, chosen.end)

    def read_text(part: normalize.Plain, _: bool) -> Read[str]:
        reading = _presence(part)
        return Read(labels[reading[0]], *part.span(*reading[1:])) if reading else NOTHING

    return resolve(answer, read_text)
