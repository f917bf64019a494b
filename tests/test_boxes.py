"""Overlap of unions of boxes, against counting pixels, and by its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punchline.metrics.boxes import Box, overlap

side = st.floats(0, 1, allow_subnormal=False).map(lambda x: round(x, 6))
boxes = st.lists(st.tuples(side, side, side, side), max_size=6)
SIZE = 20  # of the grid that boxes of whole pixels are counted on
pixel = st.integers(0, SIZE).map(float)
whole = st.lists(st.tuples(pixel, pixel, pixel, pixel), max_size=5)


def painted(found: list[Box]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    grid = np.zeros((2 * SIZE, 2 * SIZE), dtype=np.bool_)
    for top, left, height, width in found:
        grid[int(top) : int(top + height), int(left) : int(left + width)] = True
    return grid


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ([(0, 0, 1, 1)], [(0, 0, 1, 1)], (1, 1, 1)),
        ([(0, 0, 1, 1)], [(0, 0, 0.5, 1)], (0.5, 0.5, 1)),
        ([(0, 0, 0.5, 0.5)], [(0.5, 0.5, 0.5, 0.5)], (0, 0, 0)),
        ([(0, 0, 0.5, 1), (0.25, 0, 0.25, 1)], [(0, 0, 1, 1)], (0.5, 1, 0.5)),  # one inside the other
        ([(0, 0, 1, 1)], [(0, 0, 0.5, 0.5), (0.5, 0.5, 0.5, 0.5)], (0.5, 0.5, 1)),
        ([(0.2, 0.2, 0.6, 0.6)] * 3, [(0.2, 0.2, 0.6, 0.6)], (1, 1, 1)),  # a union: once is thrice
    ],
)
def test_known(candidate: list[Box], reference: list[Box], expected: tuple[float, float, float]) -> None:
    assert tuple(overlap(candidate, reference).values()) == pytest.approx(expected)


def test_without_area() -> None:
    for nothing in list[Box](), [(0.1, 0.1, 0.0, 0.5)], [(0.1, 0.1, 0.5, 0.0)]:
        assert overlap(nothing, [(0, 0, 1, 1)]) == overlap([(0, 0, 1, 1)], nothing) == {}


@settings(deadline=None)
@given(whole, whole)
def test_as_many_pixels(candidate: list[Box], reference: list[Box]) -> None:
    ours, theirs = painted(candidate), painted(reference)
    result = overlap(candidate, reference)
    if not ours.any() or not theirs.any():
        assert not result
        return
    both = (ours & theirs).sum()
    shares = {"iou": both / (ours | theirs).sum(), "precision": both / ours.sum(), "recall": both / theirs.sum()}
    assert result == pytest.approx(shares)


@settings(deadline=None)
@given(boxes, boxes)
def test_laws(candidate: list[Box], reference: list[Box]) -> None:
    result, turned = overlap(candidate, reference), overlap(reference, candidate)
    assert bool(result) == bool(turned)
    if not result:
        return
    assert all(0 <= share <= 1 for share in result.values())
    assert result["iou"] <= min(result["precision"], result["recall"]) + 1e-9
    assert result == pytest.approx({"iou": turned["iou"], "precision": turned["recall"], "recall": turned["precision"]})
    assert tuple(overlap(candidate, candidate).values()) == pytest.approx((1, 1, 1))
