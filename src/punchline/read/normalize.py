"""An answer without its dress: what is said, and where in the answer each character of it stands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

LINE = re.compile(r"^.*", re.MULTILINE)
HEAD, TAIL = 3_000, 5_000  # characters of an answer that are read: who answers does so first or last

# One letter that stands in brackets, quotation marks or emphasis of its own becomes "(X)".
_OPEN, _CLOSE = r"[*_`\"'“”‘’«»‹›「」『』\[({【$]", r"[*_`\"'“”‘’«»‹›「」『』\])}】$]"
_DRESS = re.compile(
    r"(?P<struck>~~[^~\n]{1,200}+~~|<(?:s|del|strike)>[^<>\n]{1,200}+</(?:s|del|strike)>)|(?P<latex>\\(?:f?boxed|fbox"
    r"|text(?:bf|it|rm|sf)?|math(?:bf|rm|it|sf)|operatorname|boldsymbol|[bi]f|rm)\s?(?=\{|\s))|(?P<task>(?:(?:^"
    r"|(?<=\n))[ \t]{0,20}[-*+] {1,3}|(?<!\S))[\[(](?:[xX]| {1,3})[\])](?=[ \t]{1,3}\S)"
    r"|(?<=[\w).:] )[\[(](?:[xX]| {1,3})[\])](?=\s{0,9}(?:\Z|[(A-Z])))"
    rf"|(?<![\w'’])(?:{_OPEN}|\\[(\[]){{1,4}}+ ?(?P<letter>[A-Za-z])(?P<mark>[.:)]?) ?(?:{_CLOSE}"
    rf"|\\[)\]]){{1,4}}+(?!\w)"
    r"|(?P<line></?(?:p|br|div|li|ul|ol|tr|td|th|table|h[1-6]|pre)\b[^<>]{0,99}>)"
    r"|(?P<gone></?(?:b|i|u|strong|em|span|center|code|mark|sup|sub|font|s)\b[^<>]{0,99}>"
    r"|<\|[^<>|\n]{1,40}\|>|<end_of_turn>|\[/?INST\])"
    r"|(?P<begin>(?:^|(?<=\n))(?:[ \t]{0,20}(?:#{1,6}(?=[ \t])|>(?=[ \t])|[-*+•●▪◦‣·▸➤](?=[ \t]))[ \t]{0,4}){1,4}+)"
    r"|(?P<rule>(?:^|(?<=\n))[ \t|:=*_-]{3,200}+(?=\n|\Z))"
    r"|(?P<arrow>\\(?:(?:long)?rightarrow|to)\b)"
    r"|(?P<fence>```\w{0,12})"
    r"|(?P<edge>(?:^|(?<=\n))[ \t]{0,20}\|[ \t]{0,20}|[ \t]{0,20}\|[ \t]{0,20}(?=\n|\Z))"
    r"|(?P<mark_up>\*+|_{2,}|(?<!\w)_|_(?!\w)|`+|~~|\$|\\[()\[\],;!]|[{}])"
    r"|(?P<hidden>[\x00-\x08\x0b-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\u20e3\ufe0e\ufe0f\ufeff\ufffb\ufffc]+)"
    r"|(?P<newline>[^\S\n]*+\n\s*+)"
    r"|(?P<blank>[^\S\n]+)"
)
_SAME = str.maketrans(
    dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("‘’´", "'")
    | dict.fromkeys("‐‑–−―", "-")
    | dict.fromkeys("➜➝➞➙⟶", "→")
    | {"…": ".", "、": ",", "。": ".", "｡": "."}
)
_EAST = "[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"  # letters that are written without blanks between words
# Written longer in plain: ticks and crosses in one form, dashes that part clauses, blanks beside East Asian letters.
_WIDER = re.compile(
    rf"(?P<tick>[✅✔☑])|(?P<cross>[❌✘✖❎☐])|(?P<dash> ?— ?)|(?P<gap>(?<={_EAST})(?=[A-Za-z0-9])"
    rf"|(?<=[A-Za-z0-9])(?={_EAST}))"
)
_WIDE = {"tick": " ✓ ", "cross": " ✗ ", "dash": " - ", "gap": " "}


class Plain(NamedTuple):
    """A text without dress; `low` is it in lower case, as long; at[i] is where character i stands in the answer.

    `base`: where the text begins in the answer.
    """

    text: str
    low: str
    at: tuple[int, ...]
    base: int = 0

    def span(self, start: int, end: int) -> tuple[int, int]:
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


def lower(text: str) -> str:
    """Lower case, character by character."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _instead(match: re.Match[str]) -> str:
    """Replacement of a piece of formatting."""
    kind, matched = match.lastgroup, match[0]
    if kind in ("letter", "mark"):
        letter, mark = match["letter"], match["mark"]
        if letter in "aI" and not set(matched) - set("*_ aI"):  # an article, a pronoun, in italics
            return letter
        return f"({letter}){mark.replace(')', '')}"
    if kind in ("newline", "line", "rule"):
        return "\n"
    if kind == "arrow":
        return "→"
    if kind == "task":
        return "✗ " if matched[-2] == " " else "✓ "
    if kind in ("blank", "struck", "fence") or (kind == "gone" and matched.startswith(("<|", "["))):
        return " "
    return ""


def ends(text: str, head: int, tail: int) -> list[tuple[int, str]]:
    """The text, or the beginning and the end of one longer than head + tail, each with its offset."""
    return [(0, text)] if len(text) <= head + tail else [(0, text[:head]), (len(text) - tail, text[len(text) - tail :])]


def plain(text: str, *, head: int = HEAD, tail: int = TAIL, base: int = 0) -> Plain:
    """A text as it reads: no emphasis, headings, bullets, fences, LaTeX, tags, invisible characters, runs of blanks.

    Of a text longer than head + tail only its beginning and its end are read, as two pieces with a line's end between.
    `base`: where the text begins in the answer that spans refer to.
    """
    pieces: list[str] = []
    at: list[int] = []
    for offset, piece in ends(text, head, tail):
        begin = base + offset
        rendered, places = _replaced(_DRESS, _instead, same_length(piece), list(range(begin, begin + len(piece))))
        at += [*[begin] * bool(pieces), *places]
        pieces.append(rendered)
    whole = "\n".join(pieces)
    if not whole.isascii():
        whole, at = _replaced(_WIDER, lambda match: _WIDE[match.lastgroup or "gap"], whole, at, stride=0)
    return Plain(whole, lower(whole), tuple(at), base)


def part(answer: str, start: int, end: int | None = None) -> Plain:
    """A part of an answer in plain, with spans of the answer."""
    return plain(answer[start:end], base=start)


def _replaced(
    pattern: re.Pattern[str], instead: Callable[[re.Match[str]], str], text: str, at: list[int], stride: int = 1
) -> tuple[str, list[int]]:
    """A text with its matches replaced, and where each character stands; `stride`: places between two new ones."""
    pieces: list[str] = []
    places: list[int] = []
    last = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        new = instead(match)
        pieces += [text[last:start], new]
        places += at[last:start] + [at[max(start, min(start + n * stride, end - 1))] for n in range(len(new))]
        last = end
    return "".join((*pieces, text[last:])), places + at[last:]
