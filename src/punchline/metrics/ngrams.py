"""ROUGE: overlap of n-grams, and longest common subsequence, of two texts (Lin 2004), by the package rouge-score."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module, metadata
from typing import Any, NamedTuple

KINDS = ("rouge1", "rouge2", "rougeL")


class Overlap(NamedTuple):
    """Shares in 0..1; 0 where a text has no n-gram."""

    precision: float
    recall: float
    f1: float


@cache
def library() -> str | None:
    """Name and version of the package, e.g. `rouge-score-0.1.2`; None where it is not installed."""
    try:
        import_module("rouge_score.rouge_scorer")
        return f"rouge-score-{metadata.version('rouge-score')}"
    except (ImportError, metadata.PackageNotFoundError):
        return None


def signature(kinds: Sequence[str] = KINDS, characters: bool = False, stemmer: bool = True) -> str:
    """What names all that changes `rouge`'s values, e.g. `rouge2:words:stem:rouge-score-0.1.2`."""
    parts = ("+".join(kinds), "characters" if characters else "words", "stem" if stemmer else "plain")
    return ":".join((*parts, library() or "absent"))


@cache
def _scorer(kinds: tuple[str, ...], stemmer: bool) -> Any:
    return import_module("rouge_score.rouge_scorer").RougeScorer(list(kinds), use_stemmer=stemmer)


def rouge(
    candidate: str, reference: str, kinds: Sequence[str] = KINDS, characters: bool = False, stemmer: bool = True
) -> dict[str, Overlap] | None:
    """{kind: overlap} of a candidate with its reference; None where rouge-score is not installed.

    Units are the package's own: runs of a-z and 0-9 of the lower-cased text, Porter-stemmed with `stemmer` when longer
    than three. `characters`: blanks are put between all characters first, so that a unit is one letter or digit.
    Time and memory of rougeL grow with the product of the lengths, of the others with their sum.
    """
    if library() is None:
        return None
    if characters:
        candidate, reference = " ".join(candidate), " ".join(reference)
    scores = _scorer(tuple(kinds), stemmer).score(reference, candidate)
    return {kind: Overlap(*map(float, scores[kind])) for kind in kinds}


_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def word_tokens(text: str) -> list[str] | None:
    """Words and marks as NLTK's word_tokenize has them; None where NLTK (it comes with rouge-score) is not installed.

    NLTK's sentence splitter needs a download: here a sentence ends at `.`, `!` or `?` before white space.
    """
    if library() is None:
        return None
    tokenizer = import_module("nltk.tokenize").NLTKWordTokenizer()
    return [token for sentence in _SENTENCE.split(text) for token in tokenizer.tokenize(sentence)]
