"""Results of a run in the formats of other tools: one module per format, each with a function `write`."""

from __future__ import annotations

import importlib
from pathlib import Path

from punchline.artifacts.project import Project
from punchline.files import new_folder

FORMATS = {"hf": "a folder that datasets.load_dataset opens", "inspect": "logs that inspect view shows"}


def export(project: Project, name: str, folder: Path, pictures: str) -> None:
    """Write a run into an empty folder, in one of `FORMATS`.

    `pictures`: own, open or all (report/pictures.py). Raises PunchlineError.
    """
    module = importlib.import_module(f"{__name__}.{name}")
    with new_folder(folder, "Name another: --output DIR") as part:
        module.write(project, part, pictures)
