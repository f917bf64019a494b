"""Texts as they are compared, and sequences as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable


def plain(text: str) -> str:
    """Words and digits only, in lower case, for comparing texts."""
    return " ".join(re.findall(r"\w+", text.lower()))


def sequence_text(places: Iterable[int]) -> str:
    """Places, from 0, as people write a sequence: `2, 3, 1`."""
    return ", ".join(str(place + 1) for place in places)
