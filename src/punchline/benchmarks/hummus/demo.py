"""Hummus's part of the demo corpus: cartoons that the project draws, with captions and annotations of its own making.

Written in the released file formats, quirks included: several captions of one cartoon, a pair whose two labels differ,
one that is in hummus_dataset.json only, <u> beside <i>, metaphors in both directions and in parentheses, keys that are
absent where they do not apply. Boxes are those of the things drawn.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from punchline.benchmarks.hummus import DATASET, DESCRIPTIONS, TEST_SET
from punchline.comics.number import encode
from punchline.core.files import write_bytes, write_text
from punchline.core.storage import csv_text
from punchline.demo.comics import picture
from punchline.demo.scripts import Script, words

SEED = 0


class Cartoon(msgspec.Struct, frozen=True):
    play: str
    description: str


class Pair(msgspec.Struct, frozen=True):
    """One caption of a cartoon with its annotation; what is empty is left out of the file."""

    number: int  # nyc-combi-N
    contest: int
    caption: str
    label: str  # met_class
    tested: str | None = None  # is_met where it differs from the label; "" where the pair is not in test_set.json
    marked: str = ""  # caption_hl
    metaphor: str = ""
    things: tuple[str, ...] = ()  # drawn things that are boxed
    names: str = ""  # bbox_labels
    figures: str = ""
    explanation: str = ""


class Words(msgspec.Struct, frozen=True):
    cartoons: dict[int, Cartoon]  # by contest
    pairs: tuple[Pair, ...]


CARTOONS, PAIRS = msgspec.structs.astuple(words(__file__, Words))


def _drawn(contest: int) -> tuple[bytes, tuple[int, int], list[tuple[str, tuple[float, float, float, float]]]]:
    """(PNG, (width, height), things with their boxes x1, y1, x2, y2) of a contest's cartoon."""
    script = Script(CARTOONS[contest].play, "single", "1")
    image, panels = picture(script, f"hummus:{contest}", SEED)
    return encode(image), (image.shape[1], image.shape[0]), panels[0].bodies


def _record(pair: Pair, size: tuple[int, int], bodies: list[tuple[str, tuple[float, ...]]]) -> dict[str, Any]:
    """The pair as hummus_dataset.json has it."""
    record: dict[str, Any] = {
        "caption": pair.caption,
        "contest_number": pair.contest,
        "met_class": pair.label,
    }
    width, height = size
    if pair.things:
        left = list(bodies)
        boxes = []
        for thing in pair.things:
            found = next(one for one in left if one[0] == thing)
            left.remove(found)
            x1, y1, x2, y2 = (round(side) for side in found[1])
            x1, y1, x2, y2 = max(x1, 0), max(y1, 0), min(x2, width), min(y2, height)
            boxes.append({"top": float(y1), "left": float(x1), "height": float(y2 - y1), "width": float(x2 - x1)})
        record |= {
            "image_attributes": {
                "height": height,
                "width": width,
                "asset_type": "image",
                "mime_type": "image/png",
                "exif_rotation": "1",
            },
            "bboxes": boxes,
            "caption_hl": pair.marked,
            "conceptual_metaphor": pair.metaphor,
            "bbox_labels": pair.names,
        }
    record |= {"figures": pair.figures} if pair.figures else {}
    return record | ({"explanation": pair.explanation} if pair.explanation else {})


def draw(folder: Path) -> None:
    """Write the annotations in the released formats and images/<item id>.png, one for every pair."""
    drawn = {contest: _drawn(contest) for contest in CARTOONS}
    dataset: dict[str, Any] = {}
    tested: list[dict[str, Any]] = []
    for pair in PAIRS:
        item_id = f"nyc-combi-{pair.number}"
        png, size, bodies = drawn[pair.contest]
        dataset[item_id] = _record(pair, size, list(bodies))
        label = pair.label if pair.tested is None else pair.tested
        if label and label != "Discard":
            tested.append(
                {
                    "combi_id": item_id,
                    "caption": pair.caption,
                    "contest_number": pair.contest,
                    "is_met": label,
                }
            )
        write_bytes(folder / "images" / f"{item_id}.png", png)
    write_text(folder / DATASET, json.dumps(dataset, indent=4, ensure_ascii=False) + "\n")
    write_text(folder / TEST_SET, json.dumps(tested[::-1], indent=4, ensure_ascii=False) + "\n")
    rows = [
        {"contest_number": number, "image_description": cartoon.description} for number, cartoon in CARTOONS.items()
    ]
    write_text(folder / DESCRIPTIONS, csv_text(("contest_number", "image_description"), rows))
