"""Draws docs/demo.png, the README's picture: comics of the demo corpus. Run it again when they change."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from punchline.benchmarks.pixelhumor.demo import SCRIPTS, comic_ids
from punchline.comics.number import encode
from punchline.demo.comics import picture

SHOWN = ("strip_1", "strip_10", "strip_16")  # of one width


def draw(file: Path) -> None:
    """Write the comics, one above the other, as a PNG."""
    scripts = dict(zip(comic_ids(), SCRIPTS, strict=True))
    images = [picture(scripts[name], name)[0] for name in SHOWN]
    file.write_bytes(encode(np.concatenate(images)))


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("demo.png"))
