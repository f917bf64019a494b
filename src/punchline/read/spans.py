"""Places in an answer that were read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from punchline.read.result import Read

Reads = Sequence[tuple[str, Read[Any]]]  # what `notes` gathers


def located(text: str, reads: Reads) -> Iterator[Read[Any]]:
    """What was read of a text, the last first, with its place in the whole: a reader may have been given a part."""
    same = [one for one in reads if one[0] is text]
    for given, found in reversed(same or reads):
        at = text.find(given) if given else -1
        if found.value is not None and at >= 0:
            yield found._replace(start=at + found.start, end=at + found.end)
