"""What models see of PixelHumor: the comic with a red number on every panel."""

from __future__ import annotations

from functools import lru_cache

from punchline.benchmarks.pixelhumor import METADATA
from punchline.benchmarks.pixelhumor.data import Box, boxes
from punchline.comics import number
from punchline.core.benchmark import PUBLISHED, Files, Picture
from punchline.errors import PunchlineError


def pictures(item_id: str, content: bytes, files: Files) -> list[Picture]:
    """The comic with a number on every panel. Raises PunchlineError for a comic without boxes and for a bad box."""
    found = _boxes(files[METADATA]).get(item_id)
    if found is None:
        raise PunchlineError("no panel boxes", file=METADATA, record=item_id)
    png = number.number(content, found, name=PUBLISHED)
    derivation = {"boxes": [list(box) for box in found], **number.derivation()}
    return [Picture("", png, ".png", *number.png_size(png), derivation)]


@lru_cache(maxsize=2)
def _boxes(metadata: bytes) -> dict[str, list[Box]]:
    """Panel boxes of every comic: read once, not once a comic."""
    return boxes({METADATA: metadata})
