"""A job of Snakemake: one stage's work on its artefacts, done where they are not current, and recorded beside them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.progress import say
from punchline.project.needs import Project
from punchline.project.provenance import Checks, Step, record
from punchline.project.selection import Selection

AGAIN = "PUNCHLINE_AGAIN"  # rules and files that somebody asks to make again, as --forcerun names them; `all`
MIRROR = "PUNCHLINE_FETCH_MIRROR"  # where bytes come from is no part of the selection: another mirror reruns nothing


def asked_again(step: Step) -> bool:
    """Whether somebody asked to make a step again, current or not."""
    again = set(filter(None, os.environ.get(AGAIN, "").split(",")))
    return bool(again & {"all", step.rule, *step.outputs})


def environment(mirror: str | None, again: set[str]) -> None:
    """Set in this process's environment what jobs inherit.

    PATH: jobs run with the interpreter that Snakemake runs with, activated or not.
    """
    here = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([here, *(p for p in os.environ["PATH"].split(os.pathsep) if p != here)])
    os.environ[MIRROR] = mirror or ""
    if again:
        os.environ[AGAIN] = ",".join(sorted(again))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # Snakemake runs jobs side by side, one a core


def current(step: Step) -> bool:
    """Whether there is nothing to do for a step whose inputs are there."""
    return not asked_again(step) and Checks(below=False)(step).reason is None


def make(step: Step, write: Callable[[], None]) -> None:
    """Write a step's artefacts with `write`, unless they are current, and the record of what made them.

    Raises PunchlineError when an input changed while it was being read.
    """
    if current(step):
        say(f"{step.name}: kept, nothing that it rests on has changed")
        return
    inputs = step.inputs()
    benchmarks.LOADED.clear()
    write()
    unnamed = {module for module in benchmarks.LOADED if step.code and not step.rests_on_code(module)}
    assert not unnamed, f"{step.name} used code that needs.py does not name: {', '.join(sorted(unnamed))}"
    record(step, inputs)


@entry_point
def run(stage: Callable[..., None], rule: str) -> None:
    """A script: `--selection JSON`, and an option for each wildcard of the rule."""
    parser = argparse.ArgumentParser(description=stage.__doc__)
    parser.add_argument("--selection", required=True, type=read_selection, help="as JSON")
    names = Project.wildcards(rule)
    for name in names:
        parser.add_argument(f"--{name}", required=True)
    args: dict[str, Any] = vars(parser.parse_args())
    stage(Project(args["selection"]), *(args[name] for name in names))


def read_selection(text: str) -> Selection:
    """The selection that a rule hands to its script."""
    return msgspec.json.decode(text, type=Selection)
