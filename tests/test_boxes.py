"""Overlap of unions of boxes, against counting pixels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punchline.metrics.boxes import Box, overlap

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
        *((nothing, [(0, 0, 1, 1)], ()) for nothing in ([], [(0.1, 0.1, 0.0, 0.5)], [(0.1, 0.1, 0.5, 0.0)])),
        ([(0, 0, 1, 1)], [], ()),
    ],
)
def test_known(candidate: list[Box], reference: list[Box], expected: tuple[float, ...]) -> None:
    assert tuple(overlap(candidate, reference).values()) == pytest.approx(expected)


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
