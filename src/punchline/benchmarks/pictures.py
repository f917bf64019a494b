"""Pictures that models see as they were published."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

from punchline.comics.number import encode
from punchline.comics.split import Pixels, read_image
from punchline.core.benchmark import PUBLISHED, Files, Picture
from punchline.errors import PunchlineError

SUFFIXES = {"PNG": ".png", "JPEG": ".jpg", "MPO": ".jpg"}  # what models are shown as it is


def pictures(item_id: str, content: bytes, files: Files) -> list[Picture]:
    """The published image."""
    return [as_published(content)]


def as_published(content: bytes, name: str = "page") -> Picture:
    """The published image itself: its own bytes, or a PNG of what is neither PNG nor JPEG (a GIF's first frame).

    Raises PunchlineError for bytes that are no image.
    """
    try:
        with Image.open(io.BytesIO(content)) as image:
            kind, (width, height) = image.format, image.size
        if kind in SUFFIXES:
            return Picture(name, content, SUFFIXES[kind], width, height, {})
        return png_of(name, read_image(io.BytesIO(content)), {})
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError, PunchlineError) as error:
        raise PunchlineError(f"not a readable image: {error}", file=PUBLISHED, hint="Fetch it again") from error


def png_of(name: str, pixels: Pixels, derivation: dict[str, Any]) -> Picture:
    """A picture of these pixels, as PNG."""
    height, width = pixels.shape[:2]
    return Picture(name, encode(pixels), ".png", width, height, derivation)
