"""StripCipher's part of the demo corpus: wordless strips that the project draws, with texts of its own making.

Written in the item format, each of its cases at least once: strips that are split, strips with boxes in the record,
one with PixelHumor's boxes, one without reviewed texts. Texts and categories are their author's opinion.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from punchline.benchmarks.stripcipher import METADATA, OBJECTIVE, STRIPS
from punchline.comics.number import encode
from punchline.core.files import write_bytes, write_text
from punchline.core.storage import csv_text
from punchline.demo.comics import page, picture
from punchline.demo.scripts import Script, words

SOURCE = "demo"


class Drawn(msgspec.Struct, frozen=True):
    """One strip: its page, and its texts; the first option of each is right."""

    rows: str
    play: str
    boxes: Literal["", "own", "pixelhumor"] = ""  # in the record; in PixelHumor's files; "": the strip is split
    category: str | None = None
    prediction: tuple[str, str, str, str] | None = None
    comprehension: tuple[str, str, str, str] | None = None
    question: str | None = None  # of comprehension
    meaning: str | None = None

    @property
    def script(self) -> Script:
        return Script(self.play, "grid", self.rows)


DRAWN = words(__file__, tuple[Drawn, ...])


def item_ids() -> list[str]:
    """One id a strip."""
    return [f"{SOURCE}_{number}" for number in range(1, len(DRAWN) + 1)]


def _choice(options: tuple[str, str, str, str] | None, question: str | None = None) -> dict[str, Any] | None:
    return None if options is None else {"question": question, "options": list(options), "answer": options[0]}


def _record(item_id: str, strip: Drawn) -> dict[str, Any]:
    texts = {
        "prediction": _choice(strip.prediction),
        "comprehension": _choice(strip.comprehension, strip.question),
        "meaning": strip.meaning,
        "category": strip.category,
    }
    boxes: Any = strip.boxes or None
    if strip.boxes == "own":
        boxes = [list(frame) for frame in page(strip.script)[1]]
    return {
        "item_id": item_id,
        "source": SOURCE,
        "url": "",
        "frames": len(strip.script.panels),
        "boxes": boxes,
        "texts": texts if any(texts.values()) else None,
        "credit": "the Punchline project",
        "licence": "of the project",
    }


def draw(folder: Path) -> None:
    """Write strips.json, the two files of PixelHumor's that it refers to, and images/<item id>.png."""
    records, metadata, objective = [], [], []
    for item_id, strip in zip(item_ids(), DRAWN, strict=True):
        script = strip.script
        records.append(json.dumps(_record(item_id, strip), ensure_ascii=False))
        image, _ = picture(script, item_id)
        write_bytes(folder / "images" / f"{item_id}.png", encode(image))
        if strip.boxes == "pixelhumor":
            n = len(script.panels)  # labelled from the last panel to the first
            labelled = [dict(zip(("x1", "y1", "x2", "y2"), frame, strict=True)) for frame in page(script)[1]]
            panels = [box | {"panel_number": str(n - place)} for place, box in enumerate(labelled)]
            metadata.append({"comic_id": item_id, "metadata": str(panels)})
            objective.append({"comic_id": item_id, "panel_sequence": ", ".join(map(str, range(n, 0, -1)))})
    write_text(folder / STRIPS, "[\n" + ",\n".join(records) + "\n]\n")
    write_text(folder / METADATA, csv_text(("comic_id", "metadata"), metadata))
    write_text(folder / OBJECTIVE, csv_text(("comic_id", "panel_sequence"), objective))
