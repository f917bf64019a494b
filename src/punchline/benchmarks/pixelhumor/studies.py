"""Rating studies of explanations of PixelHumor's comics, which studies.yaml describes."""

from __future__ import annotations

from punchline.benchmarks.pixelhumor import NAME
from punchline.benchmarks.study import read_studies

STUDIES = read_studies(NAME)
