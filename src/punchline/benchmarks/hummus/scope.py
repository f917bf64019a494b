"""Scope of Hummus's tasks, contests held out of fine-tuning, and the form in which texts are compared."""

from __future__ import annotations

from punchline.benchmarks.hummus import POSITIVE
from punchline.read.metaphors import MARKUP
from punchline.schema import Gold, Rule, sha256

# What gold must have for a task to be scored, where it is not called as the task
ANNOTATION = {"naming": "metaphors", "image_bbox": "boxes", "image_label": "objects", "caption_hl": "highlight"}


def in_scope(task: str, gold: Gold, rule: Rule) -> bool:
    """True if the task is scored on the item: labelled under the rule; but for classification positive, annotated."""
    label = gold.values["labels"][rule]
    if task.startswith("classification"):
        return label is not None
    return label in POSITIVE and bool(gold.values.get(ANNOTATION.get(task, task)))


def held_out(contest: int | str) -> bool:
    """True if a contest's pairs are held out of fine-tuning: about 30 %, by the contest's number alone.

    Not the paper's split: its test set, the pairs that both people annotated, is not released.
    """
    return int(sha256(f"hummus|split|{contest}".encode())[:8], 16) / 16**8 < 0.3


def plain(text: str) -> str:
    """In lower case, without markup: gold is in title case, answers are often in capitals."""
    return " ".join(MARKUP.sub("", text).lower().split())
