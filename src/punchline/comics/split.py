"""Panel splitting: the boxes of a comic's panels, in reading order.

Method. Ink is what differs from the gutter's colour. A panel with a frame is a connected component of ink whose
outline, seen from each of its four sides, is a straight line. Two frames that a figure or a balloon ties together are
cut where a gutter runs between two straight lines and out of the picture, and where a bar of ink parts them. What is
left in a gap beside the frames of a row, or in a band of its own, and is about as large as a panel, is a panel without
a frame. With fewer than two panels the whole image is the one panel: a single frame keeps its title and caption.

Boxes are in pixels of the image given, x2 and y2 exclusive (as in PixelHumor's metadata.csv: a panel that fills an
image 740 pixels wide has x1 = 0, x2 = 740). Pure red (0, 0, 255 in BGR) counts as gutter: it is the ink of PixelHumor's
panel numbers, so that numbered and plain comics split alike. Measured in benchmarks/README.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from punchline.errors import PunchlineError

Pixels = NDArray[np.uint8]
Mask = NDArray[np.uint8]  # 0 or 1

WORKING_SIDE = 2000  # a longer image is searched at a fraction of its size, 1/2, 1/3, ...

# All of the following were chosen on the even-numbered xkcd comics.
CONTRAST = 48  # levels between ink and gutter, of 255, in any colour plane
MIN_SIDE, MIN_NARROW = 0.05, 0.15  # a panel's least side, as a share of the image's longer / shorter side
MIN_AREA = 0.01  # a frame's least area, as a share of the image's
STRAIGHT, NEAR, FACING = 0.5, 0.8, 0.8  # least shares of an outline on its line / near its line / along a gutter
GUTTER = 0.04  # a gutter's greatest width inside a component, as a share of the image's longer side
SOLID = 0.97  # least ink in each column of a bar
CROSSED = 0.15  # most ink in each column of a gutter that something crosses
BESIDE, BAND = 0.3, 0.5  # a panel without frame: least size beside frames / in a band of its own, in frames
TILED = 0.8  # a frame whose inner frames cover this share of it is the page's border
OVERLAP = 0.1  # of a side: how far boxes may reach into the next row or column


class Box(NamedTuple):
    """A panel's place in pixels: columns x1 <= x < x2, rows y1 <= y < y2."""

    x1: int
    y1: int
    x2: int
    y2: int


def read_image(path: str | Path | BinaryIO, name: str | None = None) -> Pixels:
    """An image file, or an open one, as BGR, uint8, shape (height, width, 3); errors call it `name`.

    The first frame of an animation; transparency on white; an EXIF orientation is ignored, as the boxes of the
    benchmarks refer to the stored pixels. Raises PunchlineError naming the file if it cannot be read.
    """
    try:
        with Image.open(path) as image:
            if image.mode.startswith(("I", "F")):  # 16 bits a pixel and more: Pillow would clip, not scale
                deep = np.asarray(image, dtype=np.float64)
                scale = 255 / 65535 if deep.max(initial=0) > 255 else 1
                return np.repeat(np.clip(deep * scale, 0, 255).astype(np.uint8)[:, :, np.newaxis], 3, axis=2)
            rgba = image.convert("RGBA")
            paper = Image.new("RGBA", rgba.size, "white")
            paper.alpha_composite(rgba)
            return np.ascontiguousarray(np.asarray(paper, dtype=np.uint8)[:, :, 2::-1])
    except Exception as error:  # decoders raise anything on bytes that are no image
        what = f"not a readable image: {error}"
        raise PunchlineError(what, file=name or str(path), hint="Fetch it again") from error


def split(image: Pixels) -> list[Box]:
    """The panels of a comic in reading order; the whole image if there are not at least two.

    image: BGR of shape (height, width, 3) or grey of shape (height, width), uint8. The same image always gives the same
    boxes.
    """
    height, width = image.shape[:2]
    factor = -(-max(height, width) // WORKING_SIDE)
    # Blocks of factor x factor pixels as one, ink where any pixel is: thin lines stay whole.
    block = np.ones((factor, factor), np.uint8)
    ink = np.ascontiguousarray(cv2.dilate(_ink(image), block, anchor=(0, 0))[::factor, ::factor], np.uint8)
    frames = _frames(ink)
    panels = frames + _frameless(ink, frames)
    if len(panels) < 2:
        return [Box(0, 0, width, height)]
    boxes = [Box(b.x1 * factor, b.y1 * factor, min(b.x2 * factor, width), min(b.y2 * factor, height)) for b in panels]
    return [boxes[i] for i in reading_order(boxes)]


def reading_order(boxes: Sequence[Box]) -> list[int]:
    """Indices of the boxes in the order in which Western comics are read.

    A recursive XY-cut: rows from top to bottom where a horizontal line can part the boxes, else columns from left to
    right, so that a tall panel comes before (or after) two stacked ones beside it. Boxes may overlap by OVERLAP of
    their sides; those that no line can part go by y1, then x1. Ties keep the order given.
    """

    def reach(i: int, axis: int) -> tuple[float, float]:
        low, high = boxes[i][axis], boxes[i][axis + 2]
        return low + OVERLAP * (high - low), high - OVERLAP * (high - low)

    def ordered(indices: list[int]) -> list[int]:
        for axis in (1, 0):
            groups: list[list[int]] = []
            end = float("-inf")
            for low, high, i in sorted((*reach(i, axis), i) for i in indices):
                groups += [[]] if low >= end else []
                groups[-1].append(i)
                end = max(end, high)
            if len(groups) > 1:
                return [i for group in groups for i in ordered(sorted(group))]
        return sorted(indices, key=lambda i: (boxes[i][1], boxes[i][0]))

    return ordered(list(range(len(boxes))))


def _ink(image: Pixels) -> Mask:
    """1 where a pixel differs from the gutter: white, or the one colour all around a picture on dark ground."""
    # Wider than a frame drawn along the image's edge, which must not be taken for the ground.
    rim = max(5, round(0.015 * min(image.shape[:2])))
    edge = np.ones(image.shape[:2], np.bool_)
    edge[rim:-rim, rim:-rim] = False
    ground = np.median(np.atleast_3d(image)[edge], axis=0).astype(int)
    ink = _differs(image, ground)
    if ink[edge].mean() > 0.1:
        ground[:] = 255
        ink = _differs(image, ground)
    if ground.max() < 128:
        # On dark ground a panel is its light area: heal the lines drawn across it.
        ink = np.asarray(cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)), dtype=np.uint8)
    if image.ndim == 3:
        ink[cv2.inRange(image, np.array([0, 0, 250]), np.array([5, 5, 255])) > 0] = 0
    return ink


def _differs(image: Pixels, ground: NDArray[np.int_]) -> Mask:
    """1 where any colour plane is more than CONTRAST from the ground's: a pale fill differs in one."""
    return np.asarray(cv2.inRange(image, ground - CONTRAST, ground + CONTRAST) == 0, np.uint8)


def _depths(mask: Mask) -> list[NDArray[np.float64]]:
    """Seen from the left, top, right, bottom: pixels before the first ink, a value per row or column; inf for none."""
    ink = mask.view(np.bool_)  # argmax stops at the first True
    views = (ink, ink.T, ink[:, ::-1], ink[::-1].T)
    firsts = [view.argmax(axis=1) for view in views]
    return [np.where(view[np.arange(len(view)), at], at, np.inf) for view, at in zip(views, firsts, strict=True)]


def _outline(mask: Mask) -> Box | None:
    """The rectangle that the ink's outline follows on all four sides; None if it is no rectangle.

    A side is the median depth of the ink, so that text or a figure may poke out over less than half of it.
    """
    height, width = mask.shape
    place = []
    for depth, length in zip(_depths(mask), (width, height, width, height), strict=True):
        side = float(np.median(depth))
        if side > length / 2:
            return None
        off = np.abs(depth - side)
        if np.mean(off <= 2 + 0.01 * length) < STRAIGHT or np.mean(off <= 2 + 0.12 * length) < NEAR:
            return None
        place.append(int(side))
    box = Box(place[0], place[1], width - place[2], height - place[3])
    return box if _area(box) > 0 else None


def _frames(ink: Mask) -> list[Box]:
    """The panels that have a frame (or are filled to a rectangle)."""
    height, width = ink.shape
    least = _least_side(ink)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    outlines = []
    for label, (x, y, w, h, _) in enumerate(stats.tolist()[1:], start=1):
        if min(w, h) < least or w * h < MIN_AREA * height * width:
            continue
        around = Box(x, y, x + w, y + h)
        frame = _outline((labels[y : y + h, x : x + w] == label).view(np.uint8))
        if frame is None:
            # Panels tied together around a corner enclose others and have no outline without these.
            frame = _outline(ink[y : y + h, x : x + w])
            parts = [] if frame is None else _cut(ink, _within(around, frame))
            outlines += parts if len(parts) > 1 else []
        elif min(frame.x2 - frame.x1, frame.y2 - frame.y1) >= least:
            outlines.append(_within(around, frame))
    outlines.sort(key=lambda b: (-_area(b), b))
    return [part for box in _panels_of(outlines) for part in _cut(ink, box)]


def _within(outer: Box, inner: Box) -> Box:
    """`inner`, given from the corner of `outer`, on the page."""
    return Box(outer.x1 + inner.x1, outer.y1 + inner.y1, outer.x1 + inner.x2, outer.y1 + inner.y2)


def _panels_of(boxes: list[Box]) -> list[Box]:
    """The outermost boxes; instead of a border around the page what it encloses. boxes: largest first."""
    panels: list[Box] = []
    while boxes:
        box, *others = boxes
        boxes = [b for b in others if not _lies_in(b, box)]
        within = [b for b in others if _lies_in(b, box)]
        inner: list[Box] = []
        for b in within:
            inner += [] if any(_lies_in(b, other) for other in inner) else [b]
        border = len(inner) > 1 and sum(map(_area, inner)) >= TILED * _area(box)
        panels += _panels_of(within) if border else [box]
    return panels


def _lies_in(inner: Box, outer: Box) -> bool:
    """True if at least half of a box lies in another."""
    width = min(inner.x2, outer.x2) - max(inner.x1, outer.x1)
    height = min(inner.y2, outer.y2) - max(inner.y1, outer.y1)
    return max(width, 0) * max(height, 0) >= 0.5 * _area(inner)


def _cut(ink: Mask, box: Box) -> list[Box]:
    """The box parted at the gutters and bars inside it that leave a frame on either side."""
    inside = ink[box.y1 : box.y2, box.x1 : box.x2]
    # A thin line across a frame parts a picture from its caption; down a frame, it parts two panels.
    for side, view, thinnest in (("y", inside.T, max(5.0, 0.01 * max(ink.shape))), ("x", inside, 1.0)):
        for low, high in itertools.chain(_gutters(view, ink), _bars(view, ink, thinnest)):
            if _outline(view[:, :low]) and _outline(view[:, high:]):
                at = getattr(box, f"{side}1")
                before, after = box._replace(**{f"{side}2": at + low}), box._replace(**{f"{side}1": at + high})
                return _cut(ink, before) + _cut(ink, after)
    return [box]


def _gutters(view: Mask, ink: Mask) -> Iterator[tuple[int, int]]:
    """Ranges of columns that are nearly empty, leave the picture at an end, and lie between two straight lines.

    A frame's line would go on where a gap between two lines of text meets it; a gutter has an open end.
    """
    width = view.shape[1]
    for start, end in _runs(view.mean(axis=0) <= CROSSED, ink):
        gap = view[:, start:end]
        if gap[:6].any() and gap[-6:].any():
            continue
        facing = _depths(view[:, :start])[2], _depths(view[:, end:])[0]
        if all(np.mean(depth <= 3 + 0.01 * width) >= FACING for depth in facing):
            yield start, end


def _bars(view: Mask, ink: Mask, thinnest: float) -> Iterator[tuple[int, int]]:
    """Bars of ink from end to end between lighter pictures: a line that panels share, a gutter as dark as the frames.

    Given less their first and last column, which close the panels beside; after a bar of one column they overlap by it.
    """
    share = view.mean(axis=0)
    for start, end in _runs(share >= SOLID, ink):
        beside = *share[start - 3 : start], *share[end : end + 3]
        if end - start >= thinnest and max(beside) <= 0.5:
            yield start + 1, end - 1


def _runs(wanted: NDArray[np.bool_], ink: Mask) -> list[tuple[int, int]]:
    """Runs of wanted columns, no wider than a gutter, with room for a panel on either side."""
    widest, least = max(6.0, GUTTER * max(ink.shape)), _least_side(ink)
    changes = np.diff(np.concatenate([[0], wanted.astype(np.int8), [0]]))
    runs = zip(np.flatnonzero(changes == 1).tolist(), np.flatnonzero(changes == -1).tolist(), strict=True)
    return [(a, b) for a, b in runs if b - a <= widest and a >= least and len(wanted) - b >= least]


def _frameless(ink: Mask, frames: list[Box]) -> list[Box]:
    """The panels without frame: ink beside the frames of a row, or in a band above, between or below the rows."""
    height, width = ink.shape
    rest = ink.copy()
    for b in frames:  # with the soft edge of its line
        rest[max(0, b.y1 - 2) : b.y2 + 2, max(0, b.x1 - 2) : b.x2 + 2] = 0
    panels = []
    for row in _rows(frames):
        top, bottom = min(b.y1 for b in row), max(b.y2 for b in row)
        narrowest = min(b.x2 - b.x1 for b in row)
        for low, high in _gaps([(b.x1, b.x2) for b in row], width):
            x1, y1, x2, y2 = _extent(rest[top:bottom, low:high])
            if x2 - x1 >= BESIDE * narrowest and y2 - y1 >= BESIDE * (bottom - top):
                panels.append(Box(low + x1, top, low + x2, bottom))
    if len(frames) + len(panels) < 2:
        return []  # what stands above or below a single frame is its title or caption
    usual_width = float(np.median([b.x2 - b.x1 for b in frames]))
    usual_height = float(np.median([b.y2 - b.y1 for b in frames]))
    for low, high in _gaps([(b.y1, b.y2) for b in frames], height):
        x1, y1, x2, y2 = _extent(rest[low:high])
        if x2 - x1 >= BAND * usual_width and y2 - y1 >= BAND * usual_height:
            panels.append(Box(x1, low + y1, x2, low + y2))
    return panels


def _rows(boxes: list[Box]) -> list[list[Box]]:
    """Boxes grouped by rows: each shares more than half of its height with its row."""
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda b: (b.y1, b.x1)):
        for row in rows:
            top, bottom = min(b.y1 for b in row), max(b.y2 for b in row)
            if min(box.y2, bottom) - max(box.y1, top) > (box.y2 - box.y1) / 2:
                row.append(box)
                break
        else:
            rows.append([box])
    return rows


def _gaps(spans: list[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The ranges of 0..length that no span covers."""
    ends = itertools.accumulate((high for _, high in sorted(spans)), max, initial=0)
    starts = [*(low for low, _ in sorted(spans)), length]
    return [(end, low) for end, low in zip(ends, starts, strict=True) if low > end]


def _extent(mask: Mask) -> Box:
    """The ink's bounding box; an empty one where there is no ink."""
    x, y, width, height = cv2.boundingRect(np.ascontiguousarray(mask))
    return Box(x, y, x + width, y + height)


def _least_side(ink: Mask) -> float:
    height, width = ink.shape
    return float(max(12.0, min(MIN_SIDE * max(height, width), MIN_NARROW * min(height, width))))


def _area(box: Box) -> int:
    return (box.x2 - box.x1) * (box.y2 - box.y1)
