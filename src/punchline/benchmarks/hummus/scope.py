"""Which of Hummus's pairs a task is scored on."""

from __future__ import annotations

from punchline.benchmarks.hummus import POSITIVE
from punchline.schema import Gold, Rule

ANNOTATION = {  # what gold must have for the task to be scored
    "naming": "metaphors",
    "image_bbox": "boxes",
    "image_label": "objects",
    "caption_hl": "highlight",
    "explanation": "explanation",
}


def in_scope(task: str, gold: Gold, rule: Rule) -> bool:
    """Whether the task is scored on the item: labelled under the rule; but for classification positive, annotated."""
    label = gold.values["labels"][rule]
    if task.startswith("classification"):
        return label is not None
    return label in POSITIVE and bool(gold.values.get(ANNOTATION[task]))
