"""Names of PixelHumor's questions in a report, and correctness of an answer."""

from __future__ import annotations

from pathlib import Path

import msgspec

from punchline.schema import Gold, Score

NAMES = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, str])
GOLD = {"Q7": "panel_sequence", "Q8": "text"}  # name of a task's gold value, where it is not the task's
WHY = {"NA": "Q1 was answered No, so this question counts as NA (paper, section 5.1)."}  # of a parsed answer
SEQUENCE = "panel_sequence"  # of gold: the order of the panels
BLURRED = {"potentially_harmful": "harm"}  # gold's value that a picture is blurred for until somebody asks


def right(score: Score, gold: Gold) -> float | None:
    """From 0 to 1: F1 of labels, whether the panels are in order, 1 - WER of the texts. None: not scored."""
    if score.task in ("Q1", "Q2", "Q3", "Q4", "Q5"):
        wanted, given = ({str(label).lower() for label in one} for one in (gold.values[score.task], score.parsed or ()))
        return 2 * len(wanted & given) / (len(wanted) + len(given)) if given else None
    wer = score.metrics.get("wer")
    return max(0.0, 1 - wer) if wer is not None else score.metrics.get("panel_acc")
