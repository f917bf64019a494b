"""Words and passages that a text puts between <i> and </i>."""

from __future__ import annotations

import re

from punchline.read.words import Span, Texts

_MARK = re.compile(r"(?:<|&lt;)(/?)(?:i|em)(?:>|&gt;)", re.IGNORECASE)


def words(text: str, hyphens: bool = False) -> Texts:
    """Words, lower-cased, in order: runs of letters and digits with the apostrophes inside; tags are left out.

    Args:
        text: A text.
        hyphens: True to keep hyphens inside, too.

    Returns:
        The words.

    >>> words("It's <b>Two</b>-faced")
    ("it's", 'two', 'faced')
    """
    untagged, joints = re.sub(r"</?[a-zA-Z]{1,10}>", "", text), "'’‐‑-" if hyphens else "'’"
    return tuple(word.replace("’", "'") for word in re.findall(rf"\w+(?:[{joints}]\w+)*", untagged.lower()))


def spans(text: str) -> list[Span]:
    """Spans between <i> and </i> (or <em>), in order; of nested ones the outermost, without those never closed.

    >>> spans("It <i>flies</i>.")
    [(6, 11)]
    """
    passages, opened = list[Span](), list[int]()
    for tag in _MARK.finditer(text):
        if not tag[1]:
            opened.append(tag.end())
        elif opened:
            start = opened.pop()
            passages += [] if opened else [(start, tag.start())]
    return passages


def passages(text: str) -> Texts:
    """The text of each span, as it is."""
    return tuple(text[start:end] for start, end in spans(text))


def highlighted(text: str) -> Texts:
    """The words of all spans, in order."""
    return tuple(word for passage in passages(text) for word in words(passage))
