"""Options of a strip's questions, as requests show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from punchline.benchmarks.stripcipher import CHOICES, LETTERS, WEAK
from punchline.benchmarks.stripcipher.words import sequence_text
from punchline.comics import frames
from punchline.core.benchmark import DEFAULT
from punchline.core.variants import turned
from punchline.schema import Item, Scalar


def options(item: Item, task: str, condition: str = DEFAULT) -> dict[str, str]:
    """{letter: text} of a task's options; empty texts where it has none."""
    stem = f"{task}_weak" if condition == WEAK else task
    texts = [str(item.fields.get(f"{stem}_{letter}", "")) for letter in LETTERS]
    if task == "reordering_choice" and not any(texts):
        n = int(str(item.fields["frames"]))
        texts = [sequence_text(places) for places in frames.sequences(n, item.item_id)]
    return dict(zip(LETTERS, texts, strict=True))


def rotated(item: Item, values: Mapping[str, Any], by: int) -> tuple[dict[str, Scalar], dict[str, Any]]:
    """Fields and gold values whose options begin with the one at place `by`."""
    fields, right = dict(item.fields), dict(values)
    for task in CHOICES:
        read = options(item, task)
        if any(read.values()):
            letter_of = dict(zip(turned(LETTERS, by), LETTERS, strict=True))
            fields |= {f"{task}_{letter_of[letter]}": text for letter, text in read.items()}
            right |= {task: letter_of[right[task]]} if task in right else {}
    return fields, right
