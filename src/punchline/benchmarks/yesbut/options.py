"""Options of YesBut's questions, as the released file has them and prompts show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from punchline.benchmarks.yesbut import CHOSEN
from punchline.core.variants import turned
from punchline.schema import Item, Scalar


def options(question: str) -> dict[str, str]:
    """{letter: text} of a question's options, one a line (`A. …`), letters from A on; {} for anything else."""
    matches = [re.fullmatch(r"([A-E])\. (.+)", line) for line in question.split("\n")]
    read = {match[1]: match[2].strip() for match in matches if match}
    return read if len(matches) > 1 and all(matches) and "".join(read) == "ABCDE"[: len(matches)] else {}


def rotated(item: Item, values: Mapping[str, Any], by: int) -> tuple[dict[str, Scalar], dict[str, Any]]:
    """Fields and gold values whose options begin with the one at place `by`."""
    fields, right = dict(item.fields), dict(values)
    for kind in CHOSEN:
        read = options(str(fields[kind]))
        letter_of = dict(zip(turned(list(read), by), read, strict=True))
        fields[kind] = "\n".join(f"{letter}. {read[before]}" for before, letter in letter_of.items())
        if kind in right:
            right[kind] = letter_of[right[kind]]
    return fields, right
