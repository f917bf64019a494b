"""Numbered comics as the authors made them, and how their labels are read back.

Each panel's label is drawn with OpenCV's Hershey simplex, scale 1, red, thickness 2, at (x1 + 20, y1 + 30) of its box
in metadata.csv (PixelHumor, released code). OpenCV 4 draws it without anti-aliasing, so that the label's pixels are
pure red and match a template exactly; OpenCV 5 draws other bytes: `derivation` records the version.

Images are (height, width, 3) uint8 arrays, BGR; coordinates are pixels, x to the right, y down.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from punchline.comics.split import Pixels
from punchline.errors import PunchlineError

LabelledBox = tuple[int, int, int, int, int]  # x1, y1, x2, y2, label

FONT = cv2.FONT_HERSHEY_SIMPLEX
SCALE = 1
THICKNESS = 2
RED = (0, 0, 255)  # BGR
OFFSET = (20, 30)  # from a box's upper left corner to the label's anchor: the left end of its base line

ADVANCE = 20  # pixels from one digit to the next; all digits of Hershey simplex are as wide as each other
WINDOW = (30, 36)  # width and height of a digit's template
ANCHOR = (4, 29)  # of the digit in its template
VISIBLE = 0.6  # the share of a digit's pixels that must lie inside the image for it to be read
BLOT = 0.35  # the share of red pixels around a digit above which red art, not a digit, is what was found
FRESH = 0.25  # the share of a digit's pixels that no larger digit explains


class Label(NamedTuple):
    """A label as drawn on a comic; (x, y) is its anchor."""

    label: int
    x: int
    y: int


def derivation() -> dict[str, Any]:
    """Parameters of a numbered image, besides the image and the boxes."""
    label = {"font": "HERSHEY_SIMPLEX", "scale": SCALE, "thickness": THICKNESS, "bgr": list(RED)}
    return {"opencv": cv2.__version__, **label, "offset": list(OFFSET), "format": "png", "v": 1}


def draw_labels(image: Pixels, boxes: Sequence[LabelledBox], *, name: str | None = None) -> Pixels:
    """A copy of the image with each box's label drawn on it, in the order given.

    A label that reaches over the image's edge is cut off, as OpenCV does. Raises PunchlineError, naming `name`, for a
    box that has no area inside the image.
    """
    height, width = image.shape[:2]
    numbered = image.copy()
    for x1, y1, x2, y2, label in boxes:
        if min(x2, width) <= max(x1, 0) or min(y2, height) <= max(y1, 0):
            what = f"box ({x1}, {y1}, {x2}, {y2}) has no area inside the image of {width} x {height} pixels"
            raise PunchlineError(what, file=name, record=f"panel {label}", hint="Correct the box in metadata.csv")
        _put(numbered, str(label), x1 + OFFSET[0], y1 + OFFSET[1])
    return numbered


def encode(image: Pixels) -> bytes:
    """PNG bytes of an image, losslessly; every setting is named, so that no default can change the bytes."""
    settings = [cv2.IMWRITE_PNG_COMPRESSION, 6, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_DEFAULT]
    return cv2.imencode(".png", image, settings)[1].tobytes()


def read_labels(image: Pixels) -> list[Label]:
    """The labels drawn on a comic, ascending; ties by position, top to bottom.

    Exact: it finds labels as `draw_labels` draws them on a losslessly stored image, among other red art too.
    """
    red = _red(image)
    pad_x, pad_y = WINDOW
    padded = np.pad(red, ((pad_y, pad_y), (pad_x, pad_x)))
    inside = np.pad(np.ones_like(red), ((pad_y, pad_y), (pad_x, pad_x)))
    explained = np.zeros_like(padded)
    digits: dict[tuple[int, int], int] = {}  # anchor in the padded image: digit
    for size, _, digit, x, y in sorted(_candidates(padded, inside)):
        area = (slice(y, y + WINDOW[1]), slice(x, x + WINDOW[0]))
        glyph = _digits()[digit][0] & inside[area]
        if int((glyph & ~explained[area]).sum()) >= FRESH * -size:
            explained[area] |= glyph
            digits.setdefault((x, y), digit)

    labels = []
    for x, y in digits:
        if (x - ADVANCE, y) not in digits:  # a number's first digit
            text = ""
            while (at := (x + ADVANCE * len(text), y)) in digits:
                text += str(digits[at])
            labels.append(Label(int(text), x + ANCHOR[0] - pad_x, y + ANCHOR[1] - pad_y))
    return sorted(labels, key=lambda label: (label.label, label.y, label.x))


def erase_labels(image: Pixels) -> Pixels:
    """A copy of the image in which each label's pixels have the median colour of those around it."""
    clean = image.copy()
    for label in read_labels(image):
        drawn = np.zeros_like(image)
        _put(drawn, str(label.label), label.x, label.y)
        pixels = _red(drawn)
        around = _dilated(pixels, 7, 7).astype(bool) & ~_red(image).astype(bool)
        if around.any():
            clean[pixels.astype(bool)] = np.median(image[around], axis=0).astype(np.uint8)
    return clean


def _put(image: Pixels, text: str, x: int, y: int) -> None:
    cv2.putText(image, text, (x, y), FONT, SCALE, RED, THICKNESS)


def _red(image: Pixels) -> Pixels:
    return np.asarray(cv2.inRange(image, RED, RED) // 255, np.uint8)


@functools.cache
def _digits() -> list[tuple[Pixels, Pixels]]:
    """For each digit its template and the ring around it, as masks of WINDOW's size."""
    canvases = np.zeros((10, WINDOW[1], WINDOW[0], 3), np.uint8)
    for digit, canvas in enumerate(canvases):
        _put(canvas, str(digit), *ANCHOR)
    return [(glyph, _dilated(glyph, 3, 3) & ~glyph) for glyph in map(_red, canvases)]


def _dilated(mask: Pixels, width: int, height: int) -> Pixels:
    return np.asarray(cv2.dilate(mask, np.ones((height, width), np.uint8)), np.uint8)


def _candidates(padded: Pixels, inside: Pixels) -> Iterator[tuple[float, float, int, int, int]]:
    """Places where all visible pixels of a digit are red: (-visible pixels, red share around it, digit, x, y)."""
    for left, top, right, bottom in _regions(padded):
        area = (slice(top, bottom), slice(left, right))
        for digit, (glyph, ring) in enumerate(_digits()):
            visible = _count(inside[area], glyph)
            blot = _count(padded[area], ring) / int(ring.sum())
            all_red = _count(padded[area], glyph) == visible
            for y, x in np.argwhere(all_red & (visible >= VISIBLE * int(glyph.sum())) & (blot <= BLOT)):
                yield -float(visible[y, x]), float(blot[y, x]), digit, int(x) + left, int(y) + top


def _count(mask: Pixels, template: Pixels) -> NDArray[np.float32]:
    """At each position of the template in the mask, how many pixels are set in both."""
    counts = cv2.matchTemplate(mask.astype(np.float32), template.astype(np.float32), cv2.TM_CCORR)
    return np.rint(counts).astype(np.float32)


def _regions(padded: Pixels) -> list[tuple[int, int, int, int]]:
    """Boxes (left, top, right, bottom) around clusters of red pixels, with a template's margin on each side."""
    wide, high = WINDOW
    stats = cv2.connectedComponentsWithStats(_dilated(padded, wide, high))[2]
    return [(max(x - wide, 0), max(y - high, 0), x + w + wide, y + h + high) for x, y, w, h, _ in stats[1:].tolist()]
