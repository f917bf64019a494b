"""Rating study of texts on YesBut's comics, which studies.yaml describes."""

from __future__ import annotations

from punchline.benchmarks.study import read_studies
from punchline.benchmarks.yesbut import NAME

STUDIES = read_studies(NAME)
