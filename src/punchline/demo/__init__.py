"""The demo corpus: small raw files of every benchmark that the project makes itself, in the released formats."""

from __future__ import annotations

import importlib
from pathlib import Path

# Each module has `draw(folder)`, which writes the files that data/manifests/<benchmark>/annotations.csv lists.
MODULES = {
    "humorbench": "punchline.benchmarks.humorbench.demo",
    "hummus": "punchline.benchmarks.hummus.demo",
    "pixelhumor": "punchline.demo.comics",
    "stripcipher": "punchline.benchmarks.stripcipher_demo",
    "yesbut": "punchline.benchmarks.yesbut_demo",
}


def draw(benchmark: str, folder: Path) -> None:
    """Write the raw files of one benchmark's demo items to a folder."""
    importlib.import_module(MODULES[benchmark]).draw(folder)
