"""What models see of YesBut: the comic as it is published."""

from __future__ import annotations

from punchline.benchmarks.pictures import as_published
from punchline.core.benchmark import Files, Picture


def pictures(item_id: str, content: bytes, files: Files) -> list[Picture]:
    """The published image. The released code read a folder of cropped images, whose making is not described."""
    return [as_published(content)]
