"""What models see of Hummus: the cartoon as it is published."""

from __future__ import annotations

from punchline.benchmarks.pictures import as_published
from punchline.core.benchmark import Files, Picture


def pictures(item_id: str, content: bytes, files: Files) -> list[Picture]:
    """The cartoon of the pair's contest as it is published."""
    return [as_published(content)]
