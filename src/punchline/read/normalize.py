"""An answer without its dress: what is said, and where in the answer each character of it stands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from punchline.read.words import Span, load

LINE = re.compile(r"^.*", re.MULTILINE)
HEAD, TAIL = 3_000, 5_000  # characters of an answer that are read: who answers does so first or last

_PLAIN = {'"': "“”„«»", "'": "‘’´", "-": "‐‑–−―", "→": "➜➝➞➙⟶", ".": "…。｡", ",": "、"}
_SAME = str.maketrans({one: plain for plain, others in _PLAIN.items() for one in others})
_Kinds = dict[str, tuple[str, str]]  # {kind of formatting: (pattern, what replaces it)}
_KINDS = load("normalize.yaml", dict[str, _Kinds])
_FORMATTING, _WIDER = (
    re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, (pattern, _) in kinds.items())) for kinds in _KINDS.values()
)
_HIDDEN = re.compile(_KINDS["formatting"]["hidden"][0])
_INSTEAD = {kind: instead for kinds in _KINDS.values() for kind, (_, instead) in kinds.items()}


_SPACES = str.maketrans(
    dict.fromkeys("\u00a0\u2007\u202f", " ") | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff")
)


def normalize_unicode(text: str) -> str:
    """A text as it is compared: NFC, plain blanks for no-break ones, nothing of no width.

    >>> normalize_unicode("cafe\\u0301") == "caf\\u00e9"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(_SPACES))


class Plain(NamedTuple):
    """A text without dress; `low` is it in lower case, as long; at[i] is where character i stands in the answer.

    `base`: where the text begins in the answer.
    """

    text: str
    low: str
    at: tuple[int, ...]
    base: int = 0

    def span(self, start: int, end: int) -> Span:
        """A span of the plain text as one of the answer."""
        if not self.at or start >= end:
            return self.base, self.base
        return self.at[start], self.at[min(end, len(self.at)) - 1] + 1


@lru_cache(maxsize=4096)
def _compatible(character: str) -> str:
    """Full width and the like as plain characters, where one is one; a raised digit is the mark of a note."""
    if unicodedata.decomposition(character).startswith(("<super>", "<sub>")) and character.isdigit():
        return " "
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def same_length(text: str) -> str:
    """NFKC, plain quotation marks and dashes, character by character."""
    if text.isascii():
        return text
    return "".join(map(_compatible, text)).translate(_SAME)


def visible(text: str) -> str:
    """A text with plain characters for full width, and none that are invisible."""
    return _HIDDEN.sub("", "".join(map(_compatible, text)))


def lower(text: str) -> str:
    """Lower case, character by character."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _instead(match: re.Match[str]) -> str:
    """Replacement of a piece of formatting."""
    if match.lastgroup == "task":
        return "✗ " if match[0][-2] == " " else "✓ "
    instead = _INSTEAD[match.lastgroup or ""]
    return match.expand(instead) if "\\" in instead else instead  # expanding is slow


def ends(text: str, head: int, tail: int) -> list[tuple[int, str]]:
    """The text, or the beginning and the end of one longer than head + tail, each with its offset."""
    return [(0, text)] if len(text) <= head + tail else [(0, text[:head]), (len(text) - tail, text[len(text) - tail :])]


def plain(answer: str, start: int = 0, end: int | None = None) -> Plain:
    """Formatting is dress: emphasis, headings, bullets, fences, LaTeX, tags, full width, invisible characters.

    Of a text longer than HEAD + TAIL only its beginning and its end are read, as two pieces with a line's end between.

    Args:
        answer: The whole answer of a model.
        start: Where the part begins that is wanted.
        end: Where it ends; None: with the answer.

    Returns:
        The text as it reads, with spans of the answer.

    >>> plain("**Answer**: “B”").text
    'Answer: (B)'
    """
    pieces: list[str] = []
    at: list[int] = []
    for offset, piece in ends(answer[start:end], HEAD, TAIL):
        begin = start + offset
        rendered, places = _replaced(_FORMATTING, same_length(piece), list(range(begin, begin + len(piece))))
        at += [*[begin] * bool(pieces), *places]
        pieces.append(rendered)
    whole = "\n".join(pieces)
    if not unicodedata.is_normalized("NFC", whole):
        whole, at = _composed(whole, at)
    if not whole.isascii():
        whole, at = _replaced(_WIDER, whole, at, stride=0)
    return Plain(whole, lower(whole), tuple(at), start)


def _composed(text: str, at: list[int]) -> tuple[str, list[int]]:
    """NFC of a text, and where each character stands: a letter with its marks at the letter's place."""
    pieces: list[str] = []
    starts: list[int] = []
    for character, place in zip(text, at, strict=True):
        if pieces and _joins(pieces[-1], character):
            pieces[-1] += character
        else:
            pieces.append(character)
            starts.append(place)
    composed = [unicodedata.normalize("NFC", piece) for piece in pieces]
    places = [start for start, piece in zip(starts, composed, strict=True) for _ in piece]
    return "".join(composed), places


def _joins(before: str, character: str) -> bool:
    """True for a mark, and for what one character is made of together with those before it (Hangul)."""
    if character.isascii() or unicodedata.combining(character):
        return not character.isascii()
    joined, alone = (unicodedata.normalize("NFC", text) for text in (before + character, before))
    return len(joined) == len(alone)


def _replaced(pattern: re.Pattern[str], text: str, at: list[int], stride: int = 1) -> tuple[str, list[int]]:
    """A text with a pattern's matches replaced, and where each character stands."""
    return replaced(((*match.span(), _instead(match)) for match in pattern.finditer(text)), text, at, stride)


def replaced(spans: Iterable[tuple[int, int, str]], text: str, at: list[int], stride: int = 1) -> tuple[str, list[int]]:
    """A text with spans replaced, and where each character stands; `stride`: places between two new ones."""
    pieces: list[str] = []
    places: list[int] = []
    last = 0
    for start, end, new in spans:
        pieces += [text[last:start], new]
        places += at[last:start] + [at[max(start, min(start + n * stride, end - 1))] for n in range(len(new))]
        last = end
    return "".join((*pieces, text[last:])), places + at[last:]
