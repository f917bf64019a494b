"""Panel splitting: drawn pages with known boxes, awkward images, and the real comics."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from benchmarks.panel_splitting import iou, load, right
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image
from tests.cases import cases

from punchline.comics.number import draw_labels
from punchline.comics.split import Box, read_image, reading_order, split
from punchline.errors import PunchlineError


def page(
    width: int, height: int, boxes: Iterable[Box], *, gutter: int = 255, line: int = 0, fill: int = 255, thick: int = 2
) -> Any:
    """A page with a frame for each box, and a figure and some words in it."""
    image = np.full((height, width, 3), gutter, np.uint8)
    for box in boxes:
        image[box.y1 : box.y2, box.x1 : box.x2] = line
        image[box.y1 + thick : box.y2 - thick, box.x1 + thick : box.x2 - thick] = fill
        figure(image, box)
    return image


def figure(image: Any, box: Box) -> None:
    x, y = (box.x1 + box.x2) // 2, (box.y1 + box.y2) // 2
    cv2.circle(image, (x, y), 12, (0, 0, 0), 2)
    cv2.line(image, (x, y + 12), (x, box.y2 - 12), (0, 0, 0), 2)
    cv2.putText(image, "HELLO", (box.x1 + 12, box.y1 + 25), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 1)


def grid(columns: int, rows: int, gap: int, margin: int = 10, width: int = 180, height: int = 150) -> list[Box]:
    return [
        Box(x, y, x + width, y + height)
        for y in range(margin, margin + rows * (height + gap), height + gap)
        for x in range(margin, margin + columns * (width + gap), width + gap)
    ]


def size(boxes: list[Box], margin: int = 10) -> tuple[int, int]:
    return max(b.x2 for b in boxes) + margin, max(b.y2 for b in boxes) + margin


def agree(found: list[Box], expected: list[Box], least: float = 0.9) -> bool:
    """Same number, same order, boxes in place."""
    return len(found) == len(expected) and all(iou(a, b) >= least for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("columns, rows", [(2, 1), (4, 1), (1, 3), (3, 3)])
@pytest.mark.parametrize("margin", [0, 10])
@pytest.mark.parametrize("gap", [1, 3, 10, 40])
def test_frames_in_a_grid(columns: int, rows: int, margin: int, gap: int) -> None:
    boxes = grid(columns, rows, gap, margin)
    assert split(page(*size(boxes, margin), boxes)) == boxes


PAINTED = ((0, 0, 255, 2), (0, 255, 110, 2), (128, 0, 255, 2), (255, 20, 60, 2), (255, 0, 255, 8))
COLOURS = [dict(zip(("gutter", "line", "fill", "thick"), values, strict=True)) for values in PAINTED]


@pytest.mark.parametrize(
    ("rows", "margin", "gap", "colours"),
    [
        *((2, 12, gap, colours) for gap in (8, 25) for colours in COLOURS),
        *((1, 0, gap, {"gutter": 0}) for gap in (-2, -1, 1, 6, 12)),  # black bars between panels part them
    ],
)
def test_gutters_of_any_colour(rows: int, margin: int, gap: int, colours: dict[str, int]) -> None:
    boxes = grid(3, rows, gap, margin)
    assert agree(split(page(*size(boxes, margin), boxes, **colours)), boxes)


def test_a_figure_across_the_gutter_joins_no_panels() -> None:
    boxes = grid(3, 2, 10)
    image = page(*size(boxes), boxes)
    cv2.line(image, (150, 70), (260, 90), (0, 0, 0), 3)  # an arm from panel 1 into panel 2
    cv2.line(image, (100, 140), (110, 190), (0, 0, 0), 3)  # and a leg into the row below
    numbered = draw_labels(image, [(*box, label) for label, box in enumerate(boxes, start=1)])
    assert agree(split(image), boxes) and agree(split(numbered), boxes)


WORDS = "A TITLE OR CAPTION OF THE COMIC"


def drawn_pages() -> dict[str, tuple[Any, list[Box], float]]:
    """Pages and their boxes, with the least IoU of each."""
    row, low = grid(3, 1, 10), [Box(b.x1, b.y1 + 30, b.x2, b.y2 + 30) for b in grid(3, 1, 10)]
    pale = page(*size(row), row)
    for box, colour in zip(row, [(203, 192, 255), (255, 230, 180), (170, 240, 250)], strict=True):
        pale[box.y1 : box.y2, box.x1 : box.x2] = colour
    uneven = [Box(10, 10, 200, 320), Box(210, 10, 400, 160), Box(210, 170, 400, 320), Box(10, 330, 400, 450)]
    column = grid(1, 3, 10, width=300)
    frameless = page(*size(column), [column[0], column[2]])
    cv2.rectangle(frameless, (30, 180), (60, 310), (0, 0, 0), 2)
    cv2.line(frameless, (60, 310), (300, 200), (0, 0, 0), 2)
    titled = page(size(low)[0], 260, low)
    for y in (25, 225):
        cv2.putText(titled, WORDS, (20, y), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (0, 0, 0), 2)
    square = grid(2, 2, 8)
    bordered = page(*size(square), square)
    cv2.rectangle(bordered, (2, 2), (size(square)[0] - 3, size(square)[1] - 3), (0, 0, 0), 2)
    huge = [Box(30, 30, 2990, 2011), Box(3050, 30, 6001, 2011)]
    return {
        "pale panels without lines": (pale, row, 1),
        "uneven rows, in reading order": (page(410, 460, uneven), uneven, 1),
        "a row without frame between framed rows": (frameless, column, 0.5),
        "titles and captions": (titled, low, 1),
        "a border around the page": (bordered, square, 1),
        "huge, at a fraction of its size": (page(6047, 2050, huge, thick=5), huge, 0.99),
    }


def one_panel_images() -> dict[str, tuple[Any, list[Box], float]]:
    """Images of one panel: the whole image."""
    parted = page(300, 240, [Box(0, 0, 300, 240)])
    parted[178:180] = 0
    open_page = np.full((240, 300, 3), 255, np.uint8)
    figure(open_page, Box(0, 0, 150, 240))
    figure(open_page, Box(150, 0, 300, 240))
    images = {
        "parted caption": parted,
        "boxes inside": page(300, 240, [Box(0, 0, 300, 240), Box(30, 60, 90, 120), Box(200, 30, 260, 100)]),
        "no frame": open_page,
        "noise": np.random.default_rng(0).integers(0, 256, (240, 300, 3), dtype=np.uint8),
    }
    for shape in ((1, 1), (2, 3), (1, 400), (400, 1), (40, 40, 3)):
        images |= {f"{shape} of {value}": np.full(shape, value, np.uint8) for value in (0, 128, 255)}
    return {name: (image, [Box(0, 0, image.shape[1], image.shape[0])], 1) for name, image in images.items()}


PAGES = drawn_pages() | one_panel_images()


@pytest.mark.parametrize("name", PAGES)
def test_drawn_pages(name: str) -> None:
    image, boxes, least = PAGES[name]
    result = split(image)
    assert agree(result, boxes, least)
    assert all(b.x2 <= image.shape[1] and b.y2 <= image.shape[0] for b in result)


@settings(max_examples=60)
@given(
    arrays.arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40)), elements=st.sampled_from([0, 255])),
    st.integers(1, 5),
)
def test_boxes_lie_within_any_image(pattern: Any, zoom: int) -> None:
    image = np.kron(pattern, np.ones((zoom, zoom), np.uint8))
    before = image.copy()
    result = split(image)
    height, width = image.shape
    assert result
    assert all(0 <= b.x1 < b.x2 <= width and 0 <= b.y1 < b.y2 <= height for b in result)
    assert result == split(np.dstack([image] * 3))
    assert [result[i] for i in reading_order(result)] == result
    assert np.array_equal(image, before)


@pytest.mark.parametrize("boxes, expected", cases(__file__, "orders"))
def test_reading_order(boxes: list[list[int]], expected: list[int]) -> None:
    assert reading_order([Box(*box) for box in boxes]) == expected


def test_read_image_takes_the_first_frame_on_white(tmp_path: Path) -> None:
    first, second = Image.new("RGB", (4, 3), (255, 0, 0)), Image.new("RGB", (4, 3), (0, 255, 0))
    first.save(tmp_path / "a.gif", save_all=True, append_images=[second])
    assert (read_image(tmp_path / "a.gif") == (0, 0, 255)).all()  # red, in BGR
    Image.new("RGBA", (4, 3), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    assert (read_image(tmp_path / "clear.png") == 255).all()
    Image.new("LA", (4, 3), (0, 128)).save(tmp_path / "half.png")
    assert (abs(read_image(tmp_path / "half.png").astype(int) - 127) <= 1).all()
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    Image.new("RGB", (4, 3)).save(tmp_path / "turned.jpg", exif=exif)
    assert read_image(tmp_path / "turned.jpg").shape == (3, 4, 3)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "CMYK", "I;16"])
def test_read_image_of_every_mode(tmp_path: Path, mode: str) -> None:
    deep = mode == "I;16"
    image = Image.fromarray(np.array([[0, 65535 if deep else 255]], np.uint16 if deep else np.uint8))
    (image if deep else image.convert(mode)).save(tmp_path / "x.tif")
    assert read_image(tmp_path / "x.tif").tolist() == [[[0, 0, 0], [255, 255, 255]]]


def test_read_image_names_a_file_that_it_cannot_read(tmp_path: Path) -> None:
    whole = tmp_path / "whole.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (90, 90, 3), dtype=np.uint8)).save(whole)
    content = whole.read_bytes()
    for name, data in {"empty": b"", "text": b"<html>", "torn": content[:-2000], "none": None}.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(PunchlineError, match=name):
            read_image(tmp_path / name)
    with pytest.raises(PunchlineError, match=r"^strip_1\.gif: not a readable image"):
        read_image(io.BytesIO(b"<html>"), "strip_1.gif")


@pytest.mark.real
@pytest.mark.parametrize("kind", ["plain", "numbered"])
def test_the_real_comics(mirror: Path, kind: str) -> None:
    """The floor for all 203 xkcd comics at hand; the figures themselves are in benchmarks/README.md."""
    comics = load(mirror)
    found = [split(getattr(comic, kind)) for comic in comics]
    hits = sum(right(boxes, comic.gold) for boxes, comic in zip(found, comics, strict=True))
    exact = sum(len(boxes) == len(comic.gold) for boxes, comic in zip(found, comics, strict=True))
    assert len(comics) == 203 and exact / 203 >= 0.96
    assert 2 * hits / sum(map(len, found + [comic.gold for comic in comics])) >= 0.97
