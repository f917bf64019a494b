"""Word and character error rates of one text against another, as jiwer defines them."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import version

from rapidfuzz.distance import Levenshtein  # what jiwer itself counts edits with, after aligning the texts for display

LIBRARY = f"jiwer-{version('jiwer')}"
_SPACES = re.compile(r"\s\s+")


def _words(text: str, numbers: dict[str, int]) -> list[int]:
    """The words that jiwer's wer_default makes of a text, each as a number."""
    words = _SPACES.sub(" ", text).strip().split(" ")
    return [numbers.setdefault(word, len(numbers)) for word in words if word]


@lru_cache(maxsize=4)  # both rules often score the same pair, one after the other
def error_rates(reference: str, candidate: str) -> tuple[float, float]:
    """(WER, CER): edits that turn the candidate into the reference, over the reference's words and characters.

    Not clipped: a long candidate scores above 1. White space is collapsed for words, stripped for characters. Raises
    ValueError for a reference without a word, for which neither rate is defined.
    """
    if not reference.strip():
        raise ValueError("the error rates of an empty reference are undefined")
    numbers: dict[str, int] = {}
    words = _words(reference, numbers), _words(candidate, numbers)
    characters = reference.strip(), candidate.strip()
    wer, cer = (Levenshtein.distance(right, said) / len(right) for right, said in (words, characters))
    return wer, cer
