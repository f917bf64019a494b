"""Overlap of two unions of rectangles: IoU, precision and recall by area (Everingham et al. 2010 for single boxes)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Box = tuple[float, float, float, float]  # top, left, height, width, in any one unit

_Grid = npt.NDArray[np.bool_]


def _covered(boxes: Sequence[Box], rows: npt.NDArray[np.float64], columns: npt.NDArray[np.float64]) -> _Grid:
    grid = np.zeros((max(len(rows) - 1, 0), max(len(columns) - 1, 0)), dtype=np.bool_)
    for top, left, height, width in boxes:
        down = slice(*np.searchsorted(rows, (top, top + height)))
        across = slice(*np.searchsorted(columns, (left, left + width)))
        grid[down, across] = True
    return grid


def overlap(candidate: Sequence[Box], reference: Sequence[Box]) -> dict[str, float]:
    """{iou, precision, recall: share of area} of the unions of two sets of boxes; {} where either has no area.

    Exact but for rounding: all edges cut the plane into cells, each of which is wholly inside a box or outside.
    Time and memory grow with the square of the number of boxes. Heights and widths are not negative.
    """
    boxes = [*candidate, *reference]
    rows = np.unique([edge for top, _, height, _ in boxes for edge in (top, top + height)])
    columns = np.unique([edge for _, left, _, width in boxes for edge in (left, left + width)])
    area = np.outer(np.diff(rows), np.diff(columns))
    ours, theirs = _covered(candidate, rows, columns), _covered(reference, rows, columns)
    sizes = [float(area[grid].sum()) for grid in (ours, theirs, ours & theirs, ours | theirs)]
    if not sizes[0] or not sizes[1]:
        return {}
    shares = {"iou": sizes[2] / sizes[3], "precision": sizes[2] / sizes[0], "recall": sizes[2] / sizes[1]}
    return {name: min(share, 1.0) for name, share in shares.items()}
