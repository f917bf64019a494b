"""The form in which texts are compared."""

from __future__ import annotations

from punchline.read.metaphors import MARKUP


def plain(text: str) -> str:
    """In lower case, without markup: gold is in title case, answers are often in capitals."""
    return " ".join(MARKUP.sub("", text).lower().split())
