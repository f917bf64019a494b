"""What baselines answer to PixelHumor's questions: chance, geometry, OCR. They see what a model sees.

Answers are written so that both scoring rules read them as meant (docs/pixelhumor.md).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from punchline.benchmarks.pixelhumor import MODALITIES, SOUND_EFFECTS, STYLES, TASKS
from punchline.comics import ocr
from punchline.comics.number import OFFSET, Label, erase_labels, read_labels
from punchline.comics.split import Box, read_image, reading_order, split
from punchline.core.benchmark import NoAnswer
from punchline.schema import Request

PRIOR = TASKS
ROW = 30  # pixels of height by which labels in one row of panels may differ

_KEY_LIKE = re.compile(r"""(\d[\])}*_"']{0,4}\s{0,3}):(?!\d)""")  # what a reader could take for the next panel's number


def panels(labels: Sequence[Label], boxes: Sequence[Box], width: int, height: int) -> list[tuple[Label, Box]]:
    """Labels with their panels, in reading order.

    labels: as read from a comic of width x height pixels; boxes: its panels as found, in reading order. A label belongs
    to the box that it lies in. Where a label lies in no box, or two in one, the boxes are not trusted: panels are then
    laid out from the labels alone, each reaching to the next label on its right and to the next row below.
    """
    own: dict[int, Label] = {}
    for label in labels:
        around = [i for i, b in enumerate(boxes) if b.x1 <= label.x < b.x2 and b.y1 <= label.y < b.y2]
        if not around:
            break
        own[min(around, key=lambda i: abs(boxes[i].x1 - label.x) + abs(boxes[i].y1 - label.y))] = label
    if len(own) == len(labels):
        return [(own[i], boxes[i]) for i in sorted(own)]

    rows: list[list[Label]] = []
    for label in sorted(labels, key=lambda label: (label.y, label.x)):
        if rows and label.y - rows[-1][0].y <= ROW:
            rows[-1].append(label)
        else:
            rows.append([label])
    laid_out = []
    for row, below in zip(rows, [*rows[1:], None], strict=True):
        bottom = below[0].y - OFFSET[1] if below else height
        row.sort(key=lambda label: (label.x, label.y))
        for label, right in zip(row, [*row[1:], None], strict=True):
            x1, y1 = label.x - OFFSET[0], label.y - OFFSET[1]
            x2 = right.x - OFFSET[0] if right else width
            laid_out.append((label, Box(x1, y1, max(x2, x1 + 1), max(bottom, y1 + 1))))
    return [laid_out[i] for i in reading_order([box for _, box in laid_out])]


def panel_text(label: int, text: str) -> str:
    """One panel's line of an answer to Q8, from which both rules read `label` and nothing else as a panel's number."""
    return f"{label}: " + (_KEY_LIKE.sub(r"\1;", text) or '""')


class Comic:
    """What can be read off one numbered comic, each thing at most once. For one thread."""

    def __init__(self, path: Path) -> None:
        self.image = read_image(path)
        self.labels = read_labels(self.image)
        self._panels: list[tuple[Label, Box]] | None = None  # not cached_property: in 3.11 all comics share its lock

    @property
    def panels(self) -> list[tuple[Label, Box]]:
        """Labels and their panels in reading order."""
        if self._panels is None:
            height, width = self.image.shape[:2]
            self._panels = panels(self.labels, split(self.image), width, height)
        return self._panels

    def texts(self) -> dict[Label, str]:
        """The text in each label's panel, in the order of the labels."""
        lines = ocr.read_lines(erase_labels(self.image))
        texts = ocr.panel_texts(lines, [box for _, box in self.panels])
        return dict(sorted(zip((label for label, _ in self.panels), texts, strict=True)))


def answer_random(task: str, comic: Comic, rng: random.Random) -> str:
    """A uniform draw from the answers that the question allows; Q5: 1 to 4 styles; Q7: a permutation of the labels."""
    labels = [str(label.label) for label in comic.labels]
    if task == "Q5":
        return ", ".join(rng.sample(STYLES, rng.randint(1, 4)))
    if task == "Q7":
        return ", ".join(rng.sample(labels, len(labels)))
    choices = {"Q1": ("Yes", "No"), "Q2": SOUND_EFFECTS, "Q3": labels, "Q4": MODALITIES}
    return rng.choice(choices[task])


def answer_label_order(task: str, comic: Comic, rng: random.Random) -> str:
    """The labels as they count."""
    return ", ".join(str(label.label) for label in comic.labels)


def answer_reading_order(task: str, comic: Comic, rng: random.Random) -> str:
    """The labels of the panels, split and put in order by geometry."""
    return ", ".join(str(label.label) for label, _ in comic.panels)


def answer_ocr(task: str, comic: Comic, rng: random.Random) -> str:
    """Q7 as reading-order; Q8: the text read in each panel."""
    if task == "Q8":
        return "\n".join(panel_text(label.label, text) for label, text in comic.texts().items())
    return answer_reading_order(task, comic, rng)


# What each baseline that looks at the comic does, and for which tasks.
LOOKING: dict[str, tuple[Callable[[str, Comic, random.Random], str], tuple[str, ...]]] = {
    "random": (answer_random, ("Q1", "Q2", "Q3", "Q4", "Q5", "Q7")),
    "label-order": (answer_label_order, ("Q7",)),
    "reading-order": (answer_reading_order, ("Q7",)),
    "ocr": (answer_ocr, ("Q7", "Q8")),
}
NAMES_LABELS = ("Q3", "Q7", "Q8")  # tasks whose answer names labels


def look(path: Path) -> Comic:
    """What can be read off a numbered comic."""
    return Comic(path)


def baseline(name: str, request: Request, draw: random.Random, seen: Callable[[], Comic]) -> str | None:
    """What a baseline answers about a comic; a task that it does not attempt: None."""
    if name not in LOOKING or request.task not in LOOKING[name][1]:
        return None
    comic = seen()
    if request.task in NAMES_LABELS and not comic.labels:
        raise NoAnswer("no label can be read on the image")
    return LOOKING[name][0](request.task, comic, draw)
