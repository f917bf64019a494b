"""PixelHumor's images for models: the comic with a red number on every panel."""

from __future__ import annotations

import io
from functools import lru_cache

from punchline.benchmarks.annotations import content_of
from punchline.benchmarks.pictures import png_of
from punchline.benchmarks.pixelhumor import METADATA
from punchline.benchmarks.pixelhumor.data import Box, boxes
from punchline.comics.number import derivation, draw_labels
from punchline.comics.split import read_image
from punchline.core.benchmark import PUBLISHED, Files, Picture
from punchline.errors import PunchlineError


def pictures(item_id: str, content: bytes, files: Files) -> list[Picture]:
    """The comic with a number on every panel. Raises PunchlineError for a comic without boxes and for a bad box."""
    boxes = boxes_of(files).get(item_id)
    if boxes is None:
        raise PunchlineError("no panel boxes", file=METADATA, record=item_id)
    numbered = draw_labels(read_image(io.BytesIO(content), PUBLISHED), boxes, name=PUBLISHED)
    return [png_of("", numbered, {"boxes": [list(box) for box in boxes], **derivation()})]


def boxes_of(files: Files) -> dict[str, list[Box]]:
    """Panel boxes of every comic: read once, not once a comic."""
    return _boxes(content_of(files, METADATA))


@lru_cache(maxsize=2)
def _boxes(metadata: bytes) -> dict[str, list[Box]]:
    return boxes({METADATA: metadata})
