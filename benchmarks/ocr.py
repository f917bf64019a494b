"""OCR of comic panels compared, on the real xkcd comics with PixelHumor's boxes and texts; prints a Markdown table.

    .venv/bin/python benchmarks/ocr.py [--mirror ../shared/upstream] [--every N] [--demo FOLDER]

Every comic goes through all engines before the next one does, so that the ratios of their times hold on a busy machine.
Upper case, white space collapsed; WER and CER are those of the whole corpus (edits / words or characters of the
reference; text in a panel that has none counts as insertions). --demo times the chosen engine on a folder of comics.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import jiwer
import rapidocr

from punchline.benchmarks.pixelhumor.answers import panel_texts
from punchline.benchmarks.pixelhumor.baselines import Comic
from punchline.comics import ocr
from punchline.comics.split import Box, Pixels, read_image
from punchline.files import parse_csv
from punchline.text import log_line

Boxes = Mapping[str, Box]
Read = Callable[[Pixels, Boxes], dict[str, str]]  # of a comic and its panels: {label: text}


def lines(reader: Any, image: Pixels) -> list[ocr.Line]:
    """Lines that a rapidocr finds."""
    result = reader(image)
    if result.txts is None:
        return []
    corners = [(*box.min(axis=0).astype(int), *box.max(axis=0).astype(int)) for box in result.boxes]
    return [ocr.Line(*box, text) for box, text in zip(corners, result.txts, strict=True)]


def crop(image: Pixels, box: Box) -> Pixels:
    return image[max(box.y1, 0) : box.y2, max(box.x1, 0) : box.x2]


def grey(image: Pixels) -> Pixels:
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def by_panel(reader: Any, prepare: Callable[[Pixels], Pixels]) -> Read:
    def read(image: Pixels, boxes: Boxes) -> dict[str, str]:
        return {
            label: " ".join(line.text for line in ocr.in_rows(lines(reader, prepare(crop(image, box)))))
            for label, box in boxes.items()
        }

    return read


def whole(reader: Any) -> Read:
    def read(image: Pixels, boxes: Boxes) -> dict[str, str]:
        result = lines(reader, grey(image))
        return dict(zip(boxes, ocr.panel_texts(result, list(boxes.values())), strict=True))

    return read


def punchline(image: Pixels, boxes: Boxes) -> dict[str, str]:
    return dict(zip(boxes, ocr.panel_texts(ocr.read_lines(image), list(boxes.values())), strict=True))


def tesseract(image: Pixels, boxes: Boxes) -> dict[str, str]:
    texts = {}
    for label, box in boxes.items():
        png = cv2.imencode(".png", crop(image, box))[1].tobytes()
        command = ["tesseract", "-", "-", "--psm", "6", "-l", "eng"]
        done = subprocess.run(command, input=png, capture_output=True, check=True)
        texts[label] = done.stdout.decode()
    return texts


def engines() -> dict[str, Read]:
    """What is compared, each with one thread. The first is what the times of the others are relative to."""

    def make(**settings: Any) -> Any:
        return rapidocr.RapidOCR(params={"Global.log_level": "critical"} | ocr.THREADS | settings)

    measured = {"Global.use_cls": False, "Global.text_score": 0.3}
    small = measured | {"Det.limit_type": "max", "Det.limit_side_len": 6000}
    ours = (
        f"Punchline: as a whole, enlarged {ocr.ENLARGED:g} times at most, by balloons, score 0.7, no single characters"
    )
    compared = {
        "rapidocr, its defaults, panel by panel": by_panel(make(), lambda image: image),
        "rapidocr, grey, no classifier, score 0.3, panel by panel": by_panel(make(**measured), grey),
        "the same, comic as a whole": whole(make(**measured)),
        "the same, comic as a whole, not enlarged": whole(make(**small)),
        ours: punchline,
    }
    if shutil.which("tesseract"):
        compared["tesseract, page mode 6, panel by panel"] = tesseract
    return compared


def edits(reference: str, text: str) -> tuple[int, int, int, int]:
    """(word edits, words, character edits, characters)."""
    reference, text = (" ".join(s.upper().split()) for s in (reference, text))
    if not reference:
        return len(text.split()), 0, len(text), 0
    words, characters = jiwer.process_words(reference, text), jiwer.process_characters(reference, text)
    return (
        words.substitutions + words.deletions + words.insertions,
        len(reference.split()),
        characters.substitutions + characters.deletions + characters.insertions,
        len(reference),
    )


def compare(mirror: Path, every: int) -> None:
    def cells(name: str, columns: list[str]) -> dict[str, dict[str, str]]:
        records = parse_csv((mirror / name).read_bytes(), ["comic_id", *columns], file=name)
        return {record["comic_id"]: record for _, record in records}

    metadata, texts = cells("pixelhumor/metadata.csv", ["metadata"]), cells("pixelhumor/objective_label.csv", ["text"])
    comics = list(cells("xkcd/manifest.csv", ["file"]).items())[::every]
    compared = engines()
    sums = {name: [0, 0, 0, 0] for name in compared}
    seconds = dict.fromkeys(compared, 0.0)
    panels = 0
    for n, (comic_id, comic) in enumerate(comics):
        image = read_image(mirror / "xkcd" / comic["file"])
        boxes = {
            p["panel_number"]: Box(p["x1"], p["y1"], p["x2"], p["y2"])
            for p in ast.literal_eval(metadata[comic_id]["metadata"])
        }
        if n == 0:
            for read in compared.values():
                read(image, boxes)  # loads weights
        gold = panel_texts(texts[comic_id]["text"], "paper", boxes)
        panels += len(boxes)
        for name, read in compared.items():
            start = time.perf_counter()
            result = read(image, boxes)
            seconds[name] += time.perf_counter() - start
            for label in boxes:
                for i, value in enumerate(edits(gold.get(label, ""), result[label])):
                    sums[name][i] += value
        if n % 20 == 19:
            log_line(f"{n + 1} of {len(comics)} comics")
    first = next(iter(seconds.values()))
    words = next(iter(sums.values()))[1]
    print(f"{len(comics)} comics, {panels} panels, {words} words; {versions()}\n")
    print("| engine | WER | CER | s / panel | time |\n|---|---|---|---|---|")
    for name, (word_edits, words, character_edits, characters) in sums.items():
        print(
            f"| {name} | {word_edits / words:.3f} | {character_edits / characters:.3f} "
            f"| {seconds[name] / panels:.2f} | {seconds[name] / first:.2f} |"
        )


def versions() -> str:
    result = ocr.derivation()
    return f"rapidocr {result['rapidocr']}, onnxruntime {result['onnxruntime']}, OpenCV {result['opencv']}"


def time_folder(folder: Path) -> None:
    """Seconds for all numbered comics of a folder, read as the baseline `ocr` reads them."""
    paths = sorted(folder.glob("*.png"))
    start, processor = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        panels = sum(pool.map(lambda path: len(Comic(path).texts()), paths))
    wall, used = time.perf_counter() - start, time.process_time() - processor
    load = os.getloadavg()[0]
    print(f"{len(paths)} comics, {panels} panels: {wall:.1f} s, {used:.1f} processor seconds (load average {load:.1f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, default=Path("../shared/upstream"))
    parser.add_argument("--every", type=int, default=1, help="take every Nth comic only")
    parser.add_argument("--demo", type=Path, help="time the chosen engine on a folder of numbered comics instead")
    arguments = parser.parse_args()
    if arguments.demo:
        time_folder(arguments.demo)
    else:
        compare(arguments.mirror, arguments.every)
