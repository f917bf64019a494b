"""How PixelHumor's comics are called in a report, and when an answer is right at a glance."""

from __future__ import annotations

from punchline.schema import Gold, Score

NAMES = {
    "Q1": "humour",
    "Q2": "sound effects",
    "Q3": "panels that matter",
    "Q4": "modality",
    "Q5": "style",
    "number_of_panels": "panels",
    "potentially_harmful": "harm",
}
SEQUENCE = "panel_sequence"  # of gold: the order of the panels
BLURRED = {"potentially_harmful": "harm"}  # gold's value that a picture is blurred for until somebody asks


def right(grade: Score, gold: Gold) -> float | None:
    """From 0 to 1: F1 of labels, whether the panels are in order, 1 - WER of the texts. None: not scored."""
    if grade.task in ("Q1", "Q2", "Q3", "Q4", "Q5"):
        if not grade.parsed:
            return None
        wanted, said = ({str(label).lower() for label in labels} for labels in (gold.values[grade.task], grade.parsed))
        return 2 * len(wanted & said) / (len(wanted) + len(said))
    if "wer" in grade.metrics:
        return max(0.0, 1 - grade.metrics["wer"])
    return grade.metrics.get("panel_acc")
