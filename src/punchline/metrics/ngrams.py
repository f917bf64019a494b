"""ROUGE-1 and ROUGE-2: overlap of the n-grams of two texts (Lin 2004), by the package rouge-score."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer  # which imports NLTK: slow
    from rouge_score.scoring import Score


def signature(kinds: Sequence[str], characters: bool = False, stemmer: bool = True) -> str:
    """Signature of all that changes `rouge`'s values, e.g. `rouge2:words:stem:rouge-score-0.1.2`."""
    parts = ("+".join(kinds), "characters" if characters else "words", "stem" if stemmer else "plain")
    return ":".join((*parts, f"rouge-score-{version('rouge-score')}"))


@cache
def _scorer(kinds: tuple[str, ...], stemmer: bool) -> RougeScorer:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(list(kinds), use_stemmer=stemmer)


def rouge(
    candidate: str, reference: str, kinds: Sequence[str], characters: bool = False, stemmer: bool = True
) -> dict[str, Score]:
    """{kind: precision, recall, fmeasure} of a candidate with its reference; kinds: rouge1, rouge2.

    Shares from 0 to 1; 0 where a text has no n-gram.

    Units are the package's own: runs of a-z and 0-9 of the lower-cased text, Porter-stemmed with `stemmer` when longer
    than three. `characters`: blanks are put between all characters first, so that a unit is one letter or digit.
    """
    if characters:
        candidate, reference = " ".join(candidate), " ".join(reference)
    return dict(_scorer(tuple(kinds), stemmer).score(reference, candidate))


_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def word_tokens(text: str) -> list[str]:
    """Words and marks as NLTK's word_tokenize has them.

    NLTK's sentence splitter needs a download: here a sentence ends at `.`, `!` or `?` before white space.
    """
    from nltk.tokenize import NLTKWordTokenizer  # slow to import

    tokenizer = NLTKWordTokenizer()
    return [token for sentence in _SENTENCE.split(text) for token in tokenizer.tokenize(sentence)]
