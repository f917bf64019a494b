"""The demo corpus: small raw files of every benchmark that the project makes itself, in the released formats."""

from __future__ import annotations

from pathlib import Path

from punchline.core.benchmark import drawn


def draw(benchmark: str, folder: Path) -> None:
    """Write the raw files of one benchmark's demo items to a folder."""
    module = drawn(benchmark)
    assert module is not None
    module.draw(folder)
