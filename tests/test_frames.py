"""Frames of strips: cutting, masking, rows; seeded orders that never change."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchline.comics import frames
from punchline.comics.shuffle import distinct_permutations, inverse, permutation
from punchline.comics.split import Box, Pixels
from punchline.errors import PunchlineError

COUNTS = st.integers(3, 8)


def image(height: int = 40, width: int = 90) -> Pixels:
    rng = np.random.default_rng(0)
    return rng.integers(1, 255, (height, width, 3), dtype=np.uint8)


def test_frames_are_cut_in_the_order_of_the_boxes() -> None:
    page = image()
    first, second = frames.cut(page, [Box(50, 0, 90, 40), Box(0, 10, 20, 30)])
    assert np.array_equal(first, page[:, 50:])
    assert np.array_equal(second, page[10:30, :20])
    first[:] = 0
    assert page.all(), "frames are copies"
    (part,) = frames.cut(page, [Box(80, 30, 92, 42)])  # two pixels beyond
    assert part.shape == (10, 10, 3)


@pytest.mark.parametrize(
    "box", [Box(80, 0, 93, 40), Box(0, 0, 90, 43), Box(10, 0, 10, 5), Box(-1, 0, 5, 5), Box(90, 0, 92, 40)]
)
def test_a_box_outside_the_image_is_named(box: Box) -> None:
    with pytest.raises(PunchlineError, match=r"the image.*frame 2"):
        frames.cut(image(), [Box(0, 0, 5, 5), box], name="the image")


def test_a_masked_frame_is_white_with_a_line() -> None:
    parts = [image(30, 30) for _ in range(4)]
    masked = frames.masked(parts)
    assert [np.array_equal(a, b) for a, b in zip(parts, masked, strict=True)] == [True, True, False, True]
    blank = masked[2]
    assert blank.shape == parts[2].shape
    assert (blank[2:-2, 2:-2] == 255).all()
    assert (blank[:2] == 0).all() and (blank[:, -2:] == 0).all()
    assert not frames.masked([image(1, 1)] * 3)[1].any(), "of one pixel nothing but the line is left"


def test_a_row_has_white_margins() -> None:
    parts = [image(10, 12), image(30, 8)]
    row = frames.row(parts)
    expected = np.full((30 + 40, 12 + 8 + 60, 3), 255, np.uint8)
    expected[20:30, 20:32], expected[20:50, 52:60] = parts
    assert np.array_equal(row, expected) and row.dtype == np.uint8


@given(COUNTS, st.text(max_size=20))
def test_orders(n: int, key: str) -> None:
    page = frames.shown_order(n, key)
    assert sorted(page) == list(range(n))
    assert page != tuple(range(n))
    right = frames.right_sequence(n, key)
    assert [page[place] for place in right] == list(range(n))  # taken in this order, the story comes out
    assert inverse(right) == page
    offered = frames.sequences(n, key)
    assert len(set(offered)) == 4
    assert offered.count(right) == 1
    assert tuple(range(n)) not in offered
    assert all(sorted(sequence) == list(range(n)) for sequence in offered)
    assert (page, offered) == (frames.shown_order(n, key), frames.sequences(n, key))


def test_too_few_frames_have_no_orders() -> None:
    for few, function in ((2, frames.sequences), (1, frames.shown_order)):
        with pytest.raises(PunchlineError):
            function(few, "x")


def test_orders_that_must_never_change() -> None:
    assert permutation(6, 42, "strip_ä") == (0, 3, 5, 2, 1, 4)
    assert permutation(10, -1, "") == (4, 1, 6, 2, 5, 9, 3, 8, 0, 7)


@given(st.integers(1, 4), st.integers(0, 5), st.text(max_size=3), st.data())
def test_distinct_permutations(n: int, seed: int, key: str, data: st.DataObject) -> None:
    gold = tuple(range(n))
    most = math.factorial(n) - 1
    count = data.draw(st.integers(0, most))
    orders = distinct_permutations(n, count, seed, key, excluding=[gold])
    assert len(set(orders)) == len(orders) == count
    assert gold not in orders
    assert all(sorted(order) == list(gold) for order in orders)
    assert distinct_permutations(n, most, seed, key, excluding=[gold])[:count] == orders
    with pytest.raises(PunchlineError, match=f"{most + 1} distinct orders of {n} frames wanted, {most} are there"):
        distinct_permutations(n, most + 1, seed, key, excluding=[gold])
