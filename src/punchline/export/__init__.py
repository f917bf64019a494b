"""Results of a run in the formats of other tools: one module per format, each with a function `write`."""

from __future__ import annotations

import importlib
from pathlib import Path

from punchline.artifacts.project import Project
from punchline.errors import check_known
from punchline.files import new_folder

FORMATS = {"hf": "a folder that datasets.load_dataset opens", "inspect": "logs that inspect view shows"}


def export(project: Project, name: str, folder: Path, pictures: str) -> list[str]:
    """Write a run into an empty folder, in one of `FORMATS`; returns lines to print.

    `pictures`: own, open or all (report/pictures.py). Raises PunchlineError.
    """
    check_known(name, FORMATS, f"no format {name!r}")
    module = importlib.import_module(f"{__name__}.{name}")
    with new_folder(folder, "Name another: --output DIR") as part:
        lines: list[str] = module.write(project, part, pictures)
    return lines
