"""Numbered comics: drawing, reading back and erasing of labels."""

import io
from pathlib import Path

import cv2
import numpy as np
import pytest

from punchline.benchmarks.pixelhumor.data import Metadata, by_comic
from punchline.comics import number
from punchline.comics.split import Pixels, read_image
from punchline.errors import PunchlineError
from punchline.files import parse_csv


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


NEIGHBOURS = [(0, 0, 60, 90, 3), (100, 0, 160, 90, 1), (0, 100, 60, 190, 11), (100, 100, 160, 190, 1)]


@pytest.mark.parametrize(
    ("boxes", "expected"),
    [
        ([], []),
        (NEIGHBOURS, [(1, 120, 30), (1, 120, 130), (3, 20, 30), (11, 20, 130)]),  # repeated, and in order
        ([(0, 0, 90, 90, 4), (9, 5, 90, 90, 7)], [(4, 20, 30), (7, 29, 35)]),  # drawn over each other
        ([(-5, -3, 900, 900, 4)], [(4, 15, 27)]),  # of a box that reaches beyond the image
        *(([(x, y, 300, 200, 5)], [(5, x + 20, y + 30)]) for x, y in ((258, 177), (264, 169))),  # cut by the edge
    ],
)
def test_reads_labels_wherever_they_are(boxes: list[number.LabelledBox], expected: list[tuple[int, int, int]]) -> None:
    assert number.read_labels(number.draw_labels(blank(), boxes)) == expected


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
