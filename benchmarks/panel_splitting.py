"""Panel splitting against the gold boxes of PixelHumor's xkcd comics: F1, exact panel count, milliseconds an image.

    .venv/bin/python benchmarks/panel_splitting.py [MIRROR]

MIRROR (default: $PUNCHLINE_MIRROR, else ../shared/upstream) holds xkcd/manifest.csv with its images and
pixelhumor/metadata.csv. Prints a Markdown table. The splitter's constants were chosen on the comics with even numbers;
the odd ones were held out. A found box is right if it has an IoU of at least 0.5 with a gold box of its own (the
best pairs first); F1 is over all boxes together. Two plain methods run beside it, on the same images in the same run.
"""

from __future__ import annotations

import ast
import csv
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from punchline.comics.split import Box, Pixels, read_image, reading_order, split
from punchline.errors import PunchlineError, entry_point

SHARE = 0.04
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Comic:
    number: int
    plain: Pixels
    numbered: Pixels
    gold: list[Box]


@dataclass(frozen=True)
class Score:
    """What one method made of one comic."""

    comic: Comic
    right: int
    found: int
    seconds: float


def whole_image(image: Pixels) -> list[Box]:
    """Baseline: one panel."""
    return [Box(0, 0, image.shape[1], image.shape[0])]


def connected_components(image: Pixels) -> list[Box]:
    """Baseline: the components of non-white ink whose box covers 4 % of the image, less those inside another.

    4 % is the best of 1, 2, 3, 4 and 5 % on the even-numbered comics; fewer than two boxes become the whole image.
    """
    height, width = image.shape[:2]
    ink = (cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) < 208).astype(np.uint8)
    stats = cv2.connectedComponentsWithStats(ink, connectivity=8)[2][1:]
    boxes = [Box(int(x), int(y), int(x + w), int(y + h)) for x, y, w, h, _ in stats if w * h >= SHARE * height * width]
    outer = [
        a
        for a in boxes
        if not any(a != b and b.x1 <= a.x1 and b.y1 <= a.y1 and b.x2 >= a.x2 and b.y2 >= a.y2 for b in boxes)
    ]
    return [outer[i] for i in reading_order(outer)] if len(outer) > 1 else whole_image(image)


def iou(a: Box, b: Box) -> float:
    width, height = min(a.x2, b.x2) - max(a.x1, b.x1), min(a.y2, b.y2) - max(a.y1, b.y1)
    shared = max(0, width) * max(0, height)
    return shared / ((a.x2 - a.x1) * (a.y2 - a.y1) + (b.x2 - b.x1) * (b.y2 - b.y1) - shared)


def right(found: list[Box], gold: list[Box]) -> int:
    """Boxes found that have a gold box of their own with IoU >= 0.5, the best pairs first."""
    pairs = sorted(((iou(a, b), i, j) for i, a in enumerate(found) for j, b in enumerate(gold)), reverse=True)
    taken: dict[int, int] = {}
    for overlap, i, j in pairs:
        if overlap >= 0.5 and i not in taken and j not in taken.values():
            taken[i] = j
    return len(taken)


def load(mirror: Path) -> list[Comic]:
    def rows(name: str) -> list[dict[str, str]]:
        if not (mirror / name).is_file():
            raise PunchlineError("no such file", file=mirror / name, hint="Name the folder with the real data")
        with (mirror / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    panels = {row["comic_id"]: ast.literal_eval(row["metadata"]) for row in rows("pixelhumor/metadata.csv")}
    comics = []
    for row in rows("xkcd/manifest.csv"):
        gold: list[dict[str, Any]] = panels[row["comic_id"]]
        plain = read_image(mirror / "xkcd" / row["file"])
        numbered = plain.copy()
        for panel in gold:  # the labels as PixelHumor's authors draw them
            place = (panel["x1"] + 20, panel["y1"] + 30)
            cv2.putText(numbered, panel["panel_number"], place, cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 255), 2)
        boxes = [Box(panel["x1"], panel["y1"], panel["x2"], panel["y2"]) for panel in gold]
        comics.append(Comic(int(row["number"]), plain, numbered, boxes))
    return comics


def measure(method: Callable[[Pixels], list[Box]], comics: list[Comic], numbered: bool) -> list[Score]:
    scores = []
    for comic in comics:
        image = comic.numbered if numbered else comic.plain
        times = []
        for _ in range(3):
            start = time.perf_counter()
            result = method(image)
            times.append(time.perf_counter() - start)
        scores.append(Score(comic, right(result, comic.gold), len(result), min(times)))
    return scores


def cells(scores: list[Score]) -> str:
    boxes = sum(s.found + len(s.comic.gold) for s in scores)
    exact = sum(s.found == len(s.comic.gold) for s in scores)
    f1 = 2 * sum(s.right for s in scores) / boxes
    milliseconds = 1000 * sum(s.seconds for s in scores) / len(scores)
    return f"{len(scores)} | {f1:.3f} | {exact / len(scores):.3f} ({exact}) | {milliseconds:.1f}"


@entry_point
def main() -> None:
    default = os.environ.get("PUNCHLINE_MIRROR", ROOT.parent / "shared" / "upstream")
    mirror = Path(sys.argv[1] if len(sys.argv) > 1 else default)
    comics = load(mirror)
    runs: list[tuple[str, Callable[[Pixels], list[Box]], bool]] = [
        ("whole image", whole_image, False),
        ("connected components", connected_components, False),
        ("punchline", split, False),
        ("punchline, numbered comics", split, True),
    ]
    print("| method | panels | comics | n | F1 | exact count | ms/image |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    for name, method, numbered in runs:
        scores = measure(method, comics, numbered)
        for panels, least in (("all", 1), ("multi", 2)):
            for half, parities in (("all", {0, 1}), ("even (tuned)", {0}), ("odd (held out)", {1})):
                chosen = [s for s in scores if len(s.comic.gold) >= least and s.comic.number % 2 in parities]
                print(f"| {name} | {panels} | {half} | {cells(chosen)} |")


if __name__ == "__main__":
    main()
