"""The command that makes a project."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

import punchline
from punchline.cli.base import app, given
from punchline.errors import PunchlineError
from punchline.files import new_folder

WORKFLOW = Path(punchline.__file__).parent / "template"  # packed by setup.py
PIN = "requirements.txt"  # in place of src/: DVC runs its stages again for another version


@app.command("init", rich_help_panel="Run")
def init_command(folder: Annotated[str, typer.Argument(metavar="DIR", help="New or empty folder")]) -> None:
    """Create a project folder: workflow, configuration, manifests."""
    if not WORKFLOW.is_dir():
        raise PunchlineError(
            "this Punchline is a checkout, installed in place, and brings no workflow along",
            hint=f"Work in it, {WORKFLOW.parent.parent.parent}, or git clone it",
        )
    target = Path(given(folder)).resolve()
    with new_folder(target, "Name a new folder") as new:
        shutil.copytree(WORKFLOW, new)
        stages = new / "dvc.yaml"
        stages.write_text(re.sub(r"(deps: \[.*?)\bsrc\b", rf"\1{PIN}", stages.read_text()))
        (new / PIN).write_text(f"punchline=={punchline.__version__}\n")
    print(f"{target}: a project; `git init` there if its history is to be kept (dvc needs it)")
    print("snakemake --cores all results/table8.csv     # in it: the demo corpus, the baselines")
