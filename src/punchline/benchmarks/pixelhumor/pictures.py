"""PixelHumor's images for models: the comic with a red number on every panel."""

from __future__ import annotations

import io

from punchline.benchmarks.pictures import png_of
from punchline.benchmarks.pixelhumor.data import boxes_of
from punchline.comics.number import derivation, draw_labels
from punchline.comics.split import read_image
from punchline.core.benchmark import PUBLISHED, Files, Picture


def pictures(item_id: str, content: bytes, files: Files) -> list[Picture]:
    """The comic with a number on every panel. Raises PunchlineError for a comic without boxes and for a bad box."""
    boxes = boxes_of(files, item_id)
    numbered = draw_labels(read_image(io.BytesIO(content), PUBLISHED), boxes, name=PUBLISHED)
    return [png_of("", numbered, {"boxes": [list(box) for box in boxes], **derivation()})]
