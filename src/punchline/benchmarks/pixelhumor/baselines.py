"""Answers of baselines to PixelHumor's questions: chance, geometry, OCR. A baseline sees the same as a model.

Answers are written so that both scoring rules read them as meant (docs/pixelhumor.md).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from punchline.benchmarks.pixelhumor import MODALITIES, SOUND_EFFECTS, STYLES
from punchline.comics import ocr
from punchline.comics.number import OFFSET, Label, erase_labels, read_labels
from punchline.comics.split import Box, read_image, reading_order, split
from punchline.core.benchmark import NoAnswer
from punchline.core.engine import images_in
from punchline.schema import Gold, Request, Rule

ROW = 30  # pixels of height by which labels in one row of panels may differ

_KEY_LIKE = re.compile(r"""(\d[\])}*_"']{0,4}\s{0,3}):(?!\d)""")  # what a reader could take for the next panel's number


def panels(labels: Sequence[Label], boxes: Sequence[Box], width: int, height: int) -> list[tuple[Label, Box]]:
    """Labels with their panels, in reading order.

    labels: as read from a comic of width x height pixels; boxes: its panels as found, in reading order. A label belongs
    to the box that it lies in. Where a label lies in no box, or two in one, the boxes are not trusted: panels are then
    laid out from the labels alone, each reaching to the next label on its right and to the next row below.
    """
    by_place: dict[int, Label] = {}
    for label in labels:
        around = [i for i, b in enumerate(boxes) if b.x1 <= label.x < b.x2 and b.y1 <= label.y < b.y2]
        if not around:
            break
        by_place[min(around, key=lambda i: abs(boxes[i].x1 - label.x) + abs(boxes[i].y1 - label.y))] = label
    if len(by_place) == len(labels):
        return [(by_place[i], boxes[i]) for i in sorted(by_place)]

    rows: list[list[Label]] = []
    for label in sorted(labels, key=lambda label: (label.y, label.x)):
        if not rows or label.y - rows[-1][0].y > ROW:
            rows.append([])
        rows[-1].append(label)
    tops = [*(row[0].y - OFFSET[1] for row in rows), height]
    laid_out = []
    for row, bottom in zip(rows, tops[1:], strict=True):
        row.sort(key=lambda label: (label.x, label.y))
        lefts = [*(label.x - OFFSET[0] for label in row), width]
        for label, x1, x2 in zip(row, lefts, lefts[1:], strict=False):
            y1 = label.y - OFFSET[1]
            laid_out.append((label, Box(x1, y1, max(x2, x1 + 1), max(bottom, y1 + 1))))
    return [laid_out[i] for i in reading_order([box for _, box in laid_out])]


def panel_text(label: int, text: str) -> str:
    """One panel's line of an answer to Q8, from which both rules read `label` and nothing else as a panel's number."""
    return f"{label}: " + (_KEY_LIKE.sub(r"\1;", text) or '""')


class Comic:
    """Labels, panels and texts read from one numbered comic. For one thread."""

    def __init__(self, path: Path) -> None:
        self.image = read_image(path)
        self.labels = read_labels(self.image)

    def panels(self) -> list[tuple[Label, Box]]:
        """Labels and their panels in reading order."""
        height, width = self.image.shape[:2]
        return panels(self.labels, split(self.image), width, height)

    def texts(self) -> dict[Label, str]:
        """The text in each label's panel, in the order of the labels."""
        panels = self.panels()
        texts = ocr.panel_texts(ocr.read_lines(erase_labels(self.image)), [box for _, box in panels])
        return dict(sorted(zip((label for label, _ in panels), texts, strict=True)))


ATTEMPTED: dict[str, tuple[str, ...]] = {  # tasks of each baseline that looks at the comic
    "random": ("Q1", "Q2", "Q3", "Q4", "Q5", "Q7"),
    "label-order": ("Q7",),
    "reading-order": ("Q7",),
    "last-panel": ("Q3",),
    "ocr": ("Q7", "Q8"),
}
NAMES_LABELS = ("Q3", "Q7", "Q8")  # tasks whose answer names labels


look = Comic  # what a baseline is given of a request's picture


def baseline(name: str, request: Request, draw: random.Random, seen: Callable[[], Comic]) -> str | None:
    """A baseline's answer about a comic; None for a task that it does not attempt.

    random: a uniform draw from the answers that the question allows; label-order: the labels as they count;
    reading-order: the labels of the panels, split and put in order by geometry; last-panel: the last of these; ocr: as
    reading-order, and Q8 the text read in each panel. Without a picture, what names labels is not attempted. Raises
    NoAnswer where none can be read.
    """
    task = request.task
    if task not in ATTEMPTED.get(name, ()) or (task in NAMES_LABELS and not images_in(request)):
        return None
    if task not in NAMES_LABELS:
        return _random(task, [], draw)
    comic = seen()
    if not comic.labels:
        raise NoAnswer("no label can be read on the image")
    if name == "random":
        return _random(task, [str(label.label) for label in comic.labels], draw)
    if task == "Q8":
        return "\n".join(panel_text(label.label, text) for label, text in comic.texts().items())
    ordered = comic.labels if name == "label-order" else [label for label, _ in comic.panels()]
    return ", ".join(str(label.label) for label in (ordered[-1:] if task == "Q3" else ordered))


def _random(task: str, labels: list[str], draw: random.Random) -> str:
    """A uniform draw from the answers to a question; Q5: 1 to 4 styles; Q7: a permutation of the labels."""
    if task == "Q5":
        return ", ".join(draw.sample(STYLES, draw.randint(1, 4)))
    if task == "Q7":
        return ", ".join(draw.sample(labels, len(labels)))
    return draw.choice(_allowed(labels)[task])


def _allowed(labels: Sequence[str]) -> dict[str, Sequence[str]]:
    """Answers that a question allows; `labels`: of the panels."""
    return {"Q1": ("Yes", "No"), "Q2": SOUND_EFFECTS, "Q3": labels, "Q4": MODALITIES, "Q5": STYLES}


def closed_answers(gold: Gold, rule: Rule) -> dict[str, tuple[str, Sequence[str]]]:
    """Gold labels of Q1 to Q5, and the answers that they allow."""
    labels = [str(label) for label in range(1, gold.values["number_of_panels"] + 1)]
    return {task: (", ".join(gold.values[task]), allowed) for task, allowed in _allowed(labels).items()}


def last_panel(gold: Gold) -> dict[str, str]:
    """The last panel of the annotated reading order, as the answer to Q3."""
    return {"Q3": gold.values["panel_sequence"].split(",")[-1].strip()}
