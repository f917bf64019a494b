"""A job of Snakemake: one stage's work on its artefacts, done where they are not current, and recorded beside them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import msgspec
import pyarrow as pa

from punchline.core import benchmark as benchmarks
from punchline.core.errors import entry_point
from punchline.core.progress import say
from punchline.core.threads import THREADS
from punchline.project.needs import Project
from punchline.project.processes import AGAIN, SELECTION, SHARDS, end_with_owner
from punchline.project.provenance import Checks, Step, asked_again, record
from punchline.project.selection import Selection


def current(step: Step) -> bool:
    """Whether there is nothing to do for a step whose inputs are there."""
    again = os.environ.get(AGAIN, "").split(",")
    return not asked_again(step, again) and Checks(below=False)(step).reason is None


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


def read_selection(text: str) -> Selection:
    """What the run that a job belongs to evaluates."""
    return msgspec.json.decode(text, type=Selection)


@entry_point
def run(stage: Callable[..., None], rule: str) -> None:
    """A script: an option for each wildcard of the rule. The selection is in the environment, else an option."""
    parser = argparse.ArgumentParser(description=stage.__doc__)
    given = os.environ.get(SELECTION)
    parser.add_argument("--selection", default=given, required=given is None, type=read_selection, help="as JSON")
    parser.add_argument("--threads", default="", help="that it may use; else all cores")
    names = Project.wildcards(rule)
    for name in names:
        parser.add_argument(f"--{name}", required=True)
    args: dict[str, Any] = vars(parser.parse_args())
    os.environ[THREADS] = args["threads"]
    end_with_owner()
    pa.set_memory_pool(pa.system_memory_pool())  # gives back what was freed; Arrow's own keeps it
    shards = os.environ.get(SHARDS)
    stage(Project(args["selection"], int(shards) if shards else None), *(args[name] for name in names))
