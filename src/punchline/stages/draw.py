"""The demo corpus: raw files that the project draws and writes itself."""

from __future__ import annotations

from pathlib import Path

from punchline.core import benchmark as benchmarks
from punchline.project.needs import Project
from punchline.stages.job import make


def write_demo(project: Project, benchmark: str) -> None:
    """The raw files of one benchmark's demo items, in the released formats."""
    step, folder = project.raw(benchmark), Path(project.paths.raw(benchmark))
    folder.mkdir(parents=True, exist_ok=True)
    make(step, lambda: benchmarks.drawn(benchmark).draw(folder))
