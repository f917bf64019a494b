"""A job of Snakemake: one stage's work on its artefacts, done where they are not current, and recorded beside them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from punchline.config.selection import Selection
from punchline.core import benchmark as benchmarks
from punchline.core.threads import THREADS
from punchline.errors import entry_point
from punchline.project.needs import Project
from punchline.project.processes import AGAIN, SELECTION, SHARDS, end_with_owner
from punchline.text import log_line
from punchline.workflow.provenance import Artifact, Status, is_forced, write_provenance


def current(step: Artifact) -> bool:
    """Whether there is nothing to do for a step whose inputs are there."""
    again = os.environ.get(AGAIN, "").split(",")
    return not is_forced(step, again) and Status(below=False)(step).reason is None


def make(step: Artifact, write: Callable[[], None], inputs: dict[str, str] | None = None) -> None:
    """Write a step's artefacts with `write`, unless they are current, and the record of what made them.

    `inputs`: digests of what it reads, taken before another step of the job read it. Raises PunchlineError when an
    input changed while it was being read.
    """
    if current(step):
        log_line(f"{step.name}: up to date, not rebuilt")
        return
    inputs = step.inputs() if inputs is None else inputs
    benchmarks.LOADED.clear()
    write()
    unnamed = {module for module in benchmarks.LOADED if step.code and not step.rests_on_code(module)}
    assert not unnamed, f"{step.name} used code that needs.py does not name: {', '.join(sorted(unnamed))}"
    write_provenance(step, inputs)


def read_selection(text: str) -> Selection:
    """What the run that a job belongs to evaluates."""
    return msgspec.json.decode(text, type=Selection)


@entry_point
def run(stage: Callable[..., None], rule: str, arguments: Sequence[str]) -> None:
    """Run a stage for the wildcards in `arguments`. The selection is in the environment, or an option."""
    parser = argparse.ArgumentParser(prog=f"stage.py {rule}", description=stage.__doc__)
    given = os.environ.get(SELECTION)
    parser.add_argument("--selection", default=given, required=given is None, type=read_selection, help="as JSON")
    parser.add_argument("--threads", default="", help="that it may use; else all cores")
    names = Project.wildcards(rule)
    for name in names:
        parser.add_argument(f"--{name}", required=True)
    args: dict[str, Any] = vars(parser.parse_args(arguments))
    os.environ[THREADS] = args["threads"]
    end_with_owner()
    pa.set_memory_pool(pa.system_memory_pool())  # gives back what was freed; Arrow's own keeps it
    shards = os.environ.get(SHARDS)
    stage(Project(args["selection"], int(shards) if shards else None), *(args[name] for name in names))
