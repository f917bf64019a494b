"""What a rule hands to its script: `--selection JSON`, made as the Snakefile makes it."""

import contextlib
from pathlib import Path

from punchline.config.selection import Selection, read_selection
from punchline.schema import canonical


def selection_in(folder: Path, **overrides: object) -> Selection:
    """The selection of a folder that has config/."""
    with contextlib.chdir(folder):
        return read_selection(overrides)[0]


def selection_json(folder: Path, **overrides: object) -> str:
    """The same as a script takes it."""
    return canonical(selection_in(folder, **overrides)).decode()
