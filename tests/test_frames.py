"""Frames of strips: cutting, masking, rows, seeded orders that never change; numbers: drawn, read back, erased."""

import io
import math
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import cases

from punchline.benchmarks.comic_panels import Metadata, by_comic
from punchline.comics import frames, number
from punchline.comics.shuffle import distinct_permutations, inverse, permutation
from punchline.comics.split import Box, Pixels, read_image
from punchline.errors import PunchlineError
from punchline.files import parse_csv

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


def blank(width: int = 300, height: int = 200, colour: int = 255) -> Pixels:
    return np.full((height, width, 3), colour, np.uint8)


def test_draws_as_the_papers_call_and_stores_it_losslessly() -> None:
    image, expected = blank(), blank()
    cv2.putText(expected, "12", (7 + 20, 9 + 30), cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 255), 2)
    assert np.array_equal(number.draw_labels(image, [(7, 9, 200, 150, 12)]), expected)
    assert np.array_equal(image, blank()), "the published image is left as it is"
    picture = np.random.default_rng(0).integers(0, 255, (90, 140, 3), np.uint8)
    result = number.encode(picture)
    assert result == number.encode(picture.copy())
    assert np.array_equal(read_image(io.BytesIO(result)), picture)
    assert number.derivation().items() >= {"opencv": cv2.__version__, "font": "HERSHEY_SIMPLEX", "v": 1}.items()


@pytest.mark.parametrize("box", [(300, 0, 400, 50, 3), (-9, 0, 0, 50, 3), (0, 200, 10, 230, 3), (50, 10, 50, 90, 3)])
def test_bad_boxes(box: number.LabelledBox) -> None:
    with pytest.raises(
        PunchlineError, match=r"^strip_1\.png, record panel 3: .* has no area inside the image of 300 x 200"
    ):
        number.draw_labels(blank(), [box], name="strip_1.png")


@pytest.mark.parametrize("label", [*range(21), 88, 111, 2025])
@pytest.mark.parametrize("colour", [0, 128, 255])
def test_reads_every_label(label: int, colour: int) -> None:
    drawn = number.draw_labels(blank(colour=colour), [(13, 7, 250, 150, label)])
    assert number.read_labels(drawn) == [(label, 33, 37)]


@pytest.mark.parametrize(("boxes", "expected"), cases(__file__, "labels"))
def test_reads_labels_wherever_they_are(boxes: list[list[int]], expected: list[list[int]]) -> None:
    assert [[*label] for label in number.read_labels(number.draw_labels(blank(), boxes))] == expected


def test_red_art_is_no_label_and_stays_where_labels_are_erased() -> None:
    image = blank(colour=200)
    cv2.rectangle(image, (10, 100), (120, 180), number.RED, -1)
    cv2.circle(image, (220, 160), 25, number.RED, 2)
    cv2.line(image, (150, 190), (290, 150), number.RED, 2)
    assert number.read_labels(image) == []
    assert number.read_labels(number.draw_labels(image, [(100, 80, 290, 190, 6)])) == [(6, 120, 110)]
    drawn = number.draw_labels(image, [(0, 0, 100, 90, 3), (150, 0, 250, 100, 12)])
    assert not np.array_equal(drawn, image)
    assert np.array_equal(number.erase_labels(drawn), image)
    assert np.array_equal(number.erase_labels(image), image)


@pytest.mark.real
def test_reads_every_label_of_the_real_comics(mirror: Path) -> None:
    files = {"metadata.csv": (mirror / "pixelhumor/metadata.csv").read_bytes()}
    metadata, count = by_comic(files, "metadata.csv", Metadata), 0
    for _, comic in parse_csv((mirror / "xkcd/manifest.csv").read_bytes(), ["file"], file="manifest.csv"):
        boxes = metadata[comic["comic_id"]].boxes
        read = number.read_labels(number.draw_labels(read_image(mirror / "xkcd" / comic["file"]), boxes))
        assert read == sorted((label, x1 + 20, y1 + 30) for x1, y1, _, _, label in boxes), comic
        count += len(read)
    assert count == 558
