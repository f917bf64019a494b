"""The text in a comic's panels, read with rapidocr on the weights in its wheel (PP-OCRv6 small), offline.

The comic is read once as a whole and its lines are then given to panels: faster than panel by panel, and not worse
(benchmarks/README.md). Boxes and lines are in pixels of the image given, x to the right, y down.
"""

from __future__ import annotations

import functools
import importlib.metadata
import itertools
import re
import threading
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

from punchline.comics.split import Box, Pixels, reading_order

# Chosen on the even-numbered xkcd comics of the mirror, confirmed on the odd ones (benchmarks/README.md).
SETTINGS: dict[str, Any] = {
    "Global.use_cls": False,  # lettering in comics is never upside down
    "Global.text_score": 0.7,
    "Global.max_side_len": 6000,  # the default halves a long strip, and its letters with it
}
# Changes no text. More threads wait for one another more than they work: read several comics at once instead.
THREADS = {"EngineConfig.onnxruntime.intra_op_num_threads": 1}
MODELS = {"Det.model_path": "PP-OCRv6_det_small.onnx", "Rec.model_path": "PP-OCRv6_rec_small.onnx"}
SIDE, ENLARGED = 736, 1.0  # text is looked for on an image whose shorter side has SIDE pixels, at most so much enlarged
SAME_ROW = 0.5  # of a line's height: how far the middles of lines in one row may be apart
GAP, APART, SHARED = 0.6, 1.0, 0.3  # of one balloon's lines: gaps below, beside, in heights; share of width in common
NEAR = 80  # pixels that a line's middle may lie outside a panel, as a caption below its frame does
ALONE = frozenset("AI?!&")  # a line of one other character is a doodle

# The recogniser knows Chinese; what it takes for such a character is a doodle.
_IDEOGRAPH = re.compile(r"[\u2e80-\u303f\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff]")


class Line(NamedTuple):
    """A line of text and its box."""

    x1: int
    y1: int
    x2: int
    y2: int
    text: str


def derivation() -> dict[str, Any]:
    """Parameters of the text, besides the image."""
    return {
        "rapidocr": importlib.metadata.version("rapidocr"),
        "onnxruntime": importlib.metadata.version("onnxruntime").split(".")[0],
        "opencv": cv2.__version__,
        "weights": sorted(MODELS.values()),
        "settings": {**SETTINGS, "side": SIDE, "enlarged": ENLARGED},
        "v": 1,
    }


def read_lines(image: Pixels) -> list[Line]:
    """The lines of text on an image (BGR, uint8), in no particular order. Safe to call from several threads."""
    reader = _reader(threading.get_ident())
    reader.text_det.limit_side_len = min(SIDE, max(32, int(ENLARGED * min(image.shape[:2]))))
    detected = reader(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    if detected.txts is None:
        return []
    lines = []
    for corners, text in zip(np.asarray(detected.boxes), detected.txts, strict=True):
        (x1, y1), (x2, y2) = corners.min(axis=0), corners.max(axis=0)
        clean = " ".join(_IDEOGRAPH.sub(" ", unicodedata.normalize("NFKC", text)).split())
        if len(clean) > 1 or clean in ALONE:
            lines.append(Line(int(x1), int(y1), int(x2), int(y2), clean))
    return lines


def panel_texts(lines: Sequence[Line], boxes: Sequence[Box]) -> list[str]:
    """The text of each box: of the lines whose middle lies in it, or outside all boxes and at most NEAR away.

    Of boxes that overlap, the smaller one has the line. Lines are put in order and joined with a blank.
    """
    lines_of_box: list[list[Line]] = [[] for _ in boxes]
    for line in lines:
        x, y = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
        away = [float(np.hypot(max(x1 - x, x - x2, 0), max(y1 - y, y - y2, 0))) for x1, y1, x2, y2 in boxes]
        areas = [(x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in boxes]
        distance, _, nearest = min(zip(away, areas, itertools.count()), default=(np.inf, 0, 0))
        if distance <= NEAR:
            lines_of_box[nearest].append(line)
    return [" ".join(line.text for line in in_order(found)) for found in lines_of_box]


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Lines as they are read: balloon by balloon, in each by rows.

    Lines close below or beside one another make a balloon; balloons are ordered as panels are.
    """
    balloons: list[list[Line]] = []
    for line in sorted(lines):
        touched = [balloon for balloon in balloons if any(_together(line, other) for other in balloon)]
        balloons = [balloon for balloon in balloons if balloon not in touched]
        balloons.append([line, *(other for balloon in touched for other in balloon)])
    sides = [list(zip(*balloon, strict=True)) for balloon in balloons]
    extents = [Box(min(lefts), min(tops), max(rights), max(bottoms)) for lefts, tops, rights, bottoms, _ in sides]
    return [line for i in reading_order(extents) for line in in_rows(balloons[i])]


def _together(a: Line, b: Line) -> bool:
    """True if two lines stand close below or close beside each other."""
    height = min(a.y2 - a.y1, b.y2 - b.y1)
    wide, high = min(a.x2, b.x2) - max(a.x1, b.x1), min(a.y2, b.y2) - max(a.y1, b.y1)  # in common; < 0: a gap
    below = wide >= SHARED * min(a.x2 - a.x1, b.x2 - b.x1) and -high <= GAP * height
    beside = high >= height / 2 and -wide <= APART * height
    return below or beside


def in_rows(lines: Sequence[Line]) -> list[Line]:
    """Lines ordered by rows, top to bottom, each row from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.y1 + line.y2, line.x1)):
        row = rows[-1] if rows else [line]
        middle = sum(other.y1 + other.y2 for other in row) / len(row) / 2
        height = min(line.y2 - line.y1, sum(other.y2 - other.y1 for other in row) / len(row))
        if rows and (line.y1 + line.y2) / 2 - middle < SAME_ROW * height:
            row.append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row)]


@functools.cache
def _reader(thread: int) -> Any:
    """rapidocr with explicit weights, so that it never looks for any elsewhere. Loading takes about a second.

    A reader for each thread (its number): its scale is set before each call.
    """
    import rapidocr

    folder = Path(rapidocr.__file__).parent / "models"
    weights = {key: str(folder / model) for key, model in MODELS.items()}
    reader = rapidocr.RapidOCR(params={**SETTINGS, **THREADS, **weights, "Global.log_level": "critical"})
    reader(np.full((64, 64), 255, np.uint8))  # it loads its detector at the first call
    return reader
