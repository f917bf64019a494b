"""Answers in other languages, with the words that readers look for in English: those of languages.yaml."""

from __future__ import annotations

import re

from punchline.read.normalize import Plain, lower, replaced
from punchline.read.words import load, spelt

_WORDS = load("languages.yaml", dict[str, str])
_ENGLISH = {f"w{place}": english for place, english in enumerate(_WORDS)}
_VALUE = r"[\"'(]?\b[a-h1-9]\b"
_BEHIND = r"(?<=[a-h1-9])[)\"']{0,2}+"


def _pattern(words: str) -> str:
    return spelt(words).replace("(?<=V)", _BEHIND).replace("V", _VALUE)


_FOREIGN = re.compile("|".join(f"(?P<w{place}>{_pattern(words)})" for place, words in enumerate(_WORDS.values())))


def english(text: Plain) -> Plain:
    """Other languages' words of commitment, denial and contrast are read as English ones.

    Args:
        text: A plain text.

    Returns:
        The text with English words in their place, with spans of the answer.

    >>> english(Plain("Nicht A", "nicht a", tuple(range(7)))).low
    ' not  a'
    """
    if _FOREIGN.search(text.low) is None:
        return text
    # Lower case, as the patterns are, with the letters of the answer wherever nothing is replaced.
    matches = [(*match.span(), _ENGLISH[match.lastgroup or ""]) for match in _FOREIGN.finditer(text.low)]
    whole, places = replaced(matches, text.text, list(text.at))
    return Plain(whole, lower(whole), tuple(places), text.base)
