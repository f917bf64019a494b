"""Word and character error rates of one text against another (jiwer)."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version

import jiwer
from rapidfuzz.distance import Levenshtein  # what jiwer itself counts edits with

LIBRARY = f"jiwer-{version('jiwer')}"

# jiwer keeps the whole alignment: two bits for each pair of characters. Above this many pairs (50 MB) only the number
# of edits is counted, which is all that the rates need.
ALIGNED = 200_000_000


@lru_cache(maxsize=4)  # both rules often score the same pair, one after the other
def error_rates(reference: str, candidate: str) -> tuple[float, float]:
    """(WER, CER): edits that turn the candidate into the reference, over the reference's words and characters.

    Not clipped: a long candidate scores above 1. White space is collapsed for words, stripped for characters. Raises
    ValueError for a reference without a word, for which neither rate is defined.
    """
    if not reference.strip():
        raise ValueError("the error rates of an empty reference are undefined")
    if len(reference) * len(candidate) > ALIGNED:
        pairs = (reference.split(), candidate.split()), (reference.strip(), candidate.strip())
        wer, cer = (Levenshtein.distance(right, given) / len(right) for right, given in pairs)
        return wer, cer
    return float(jiwer.wer(reference, candidate)), float(jiwer.cer(reference, candidate))
