"""Readers of text between tags: marked words, an explanation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from punchline.read import highlight, reasoning
from punchline.read.result import Read, recorded, verbatim

_MOST = 40_000  # characters in which marks are looked for
_REVISED = re.compile(
    r"\b(?:correct(?:ed)?|final|revised|updated) (?:caption|answer|version)\b[^:\n]{0,20}:", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r"\W*(?:\w+ ){0,3}(?:goes|go|comes|belongs) here\W*|\W*(?:your|the) (?:\w+ )?(?:explanation|answer|judge?ment"
    r"|text)\W*|[\W_]*",
    re.IGNORECASE,
)


def _is_placeholder(text: str) -> bool:
    bare = text.strip()
    return len(bare) <= 200 and _PLACEHOLDER.fullmatch(bare) is not None


def inside(text: str, tag: str, at: int = 0) -> tuple[int, int] | None:
    """The span of the content of the first <tag>…</tag> from `at` on."""
    opening = re.compile(rf"<\s{{0,3}}{re.escape(tag)}\s{{0,3}}>", re.IGNORECASE).search(text, at)
    if opening is None:
        return None
    closing = re.compile(rf"<\s{{0,3}}/\s{{0,3}}{re.escape(tag)}\s{{0,3}}>", re.IGNORECASE).search(text, opening.end())
    return (opening.end(), closing.start()) if closing else None


@verbatim
def marked_words(answer: str) -> Read[tuple[str, ...]]:
    """Words between <i> and </i> (or <em>), lower-cased, in order. A passage that is never closed is not marked."""
    passages = [span for span in highlight.spans(answer[:_MOST]) if highlight.words(answer[slice(*span)])]
    for cue in _REVISED.finditer(answer[:_MOST]):
        passages = [span for span in passages if span[0] > cue.end()] or passages
    words = tuple(word for span in passages for word in highlight.words(answer[slice(*span)], hyphens=True))
    return Read(words, passages[0][0], passages[-1][1]) if passages else Read(None)


@recorded
def explanation(
    answer: str, tag: str = "explanation", notes: Sequence[str] = ("reasoning",), placeholders: Sequence[str] = ()
) -> Read[str]:
    """What explains: the first <tag>…</tag> that is no placeholder of the prompt, else all but thoughts and `notes`.

    `notes`: tags of the prompt's own format whose content is not judged. Where a tag is opened and the answer ends
    before it is closed, the rest is taken. Nothing where nothing is left, and where thoughts never end.
    """
    part = reasoning.remove(answer, tuple(one for one in reasoning.TAGS if one not in notes))
    text, cut = _without(part.text, notes)

    def span_of(start: int, end: int) -> Read[str]:
        """A span without white space at its ends."""
        content = text[start:end]  # with blanks in place of notes
        start, end = end - len(content.lstrip()), start + len(content.rstrip())
        pieces, at = [], start
        for cut_from, cut_to in cut:
            if start <= cut_from and cut_to <= end:
                pieces.append(part.text[at:cut_from])
                at = cut_to
        value = "".join((*pieces, part.text[at:end]))
        return Read(value, part.offset + start, part.offset + end) if value else Read(None)

    placeholder_texts = {" ".join(one.lower().split()) for one in placeholders}
    at = 0
    while (span := inside(text, tag, at)) is not None:
        content = text[span[0] : span[1]]
        if not _is_placeholder(content) and " ".join(content.lower().split()) not in placeholder_texts:
            return span_of(*span)
        at = span[1]
    if at:
        return Read(None)
    opening = re.compile(rf"<{re.escape(tag)}>", re.IGNORECASE).search(text)
    return span_of(opening.end() if opening else 0, len(text)) if not _is_placeholder(text) else Read(None)


def _without(text: str, notes: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """A text with blanks for the notes in it, tags included, and their spans."""
    cut: list[tuple[int, int]] = []
    for note in notes:
        at = 0
        while (span := inside(text, note, at)) is not None:
            start, at = text.rfind("<", 0, span[0]), text.find(">", span[1]) + 1
            cut.append((start, at))
    return reasoning.blanked(text, sorted(cut)), sorted(cut)
