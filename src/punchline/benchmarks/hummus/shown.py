"""When an answer to Hummus is right at a glance."""

from __future__ import annotations

from punchline.benchmarks.hummus.scope import ANNOTATION
from punchline.schema import Gold, Score

NAMES = {"contest_number": "contest", "image_bbox": "boxes in the image"}
NAMES |= {"image_label": "objects in the image", "caption_hl": "words of the caption"}
GOLD = {"classification": "labels", **ANNOTATION}


def right(score: Score, gold: Gold) -> float | None:
    """From 0 to 1: the classification, or what the task's scorer says of overlap. None: not scored."""
    values = score.metrics
    if "tp" in values:
        return values["tp"] + values["tn"]
    scored_by = ("iou", "jaccard", "cosine", "cosine_minilm", "rouge1")
    return next((values[name] for name in scored_by if name in values), None)
