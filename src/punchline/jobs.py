"""Jobs of Snakemake: build the artifacts of one job that are not current, each with its provenance file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib import import_module

import msgspec
import pyarrow as pa

from punchline.artifacts.project import RULES, Project
from punchline.config.selection import Selection
from punchline.core.threads import THREADS
from punchline.errors import entry_point
from punchline.text import log_line
from punchline.workflow.processes import AGAIN, SELECTION, SHARDS, end_with_owner
from punchline.workflow.provenance import Artifact, Status, write_provenance


def status() -> Status:
    """The status of artifacts, with the rebuilds that were requested of this job."""
    return Status(os.environ.get(AGAIN, "").split(","))


def build(project: Project, artifact: Artifact) -> None:
    """Build an artifact and write its provenance file. Raises PunchlineError if an input changes during the build."""
    inputs = artifact.input_digests()
    call(project, artifact)
    write_provenance(artifact, inputs)


def call(project: Project, artifact: Artifact) -> None:
    """Call the build function of an artifact."""
    module, _, function = artifact.build.partition(":")
    getattr(import_module(module), function)(project, *artifact.wildcards)


def run_job(project: Project, rule: str, *wildcards: str) -> None:
    """Build what is not current of the artifacts of one job."""
    if rule == "respond":  # one start of the engine for all of them
        import_module("punchline.respond").respond(project, *wildcards)
        return
    reason = status()
    for artifact in project.built_by(rule, *wildcards):
        if reason(artifact) is None:
            log_line(f"{artifact.name}: up to date, not rebuilt")
        else:
            build(project, artifact)


@entry_point
def main(arguments: Sequence[str]) -> None:
    """Run the job of a rule and its wildcards; the selection is in the environment."""
    parser = argparse.ArgumentParser(prog="stage.py", description="Run one job of Snakemake.")
    parser.add_argument("rule", choices=RULES)
    parser.add_argument("wildcards", nargs="*")
    parser.add_argument("--threads", default="", help="number of threads; default: all cores")
    args = parser.parse_args(arguments)
    os.environ[THREADS] = args.threads
    end_with_owner()
    pa.set_memory_pool(pa.system_memory_pool())  # returns freed memory to the system; Arrow's own pool keeps it
    shards = os.environ.get(SHARDS)
    selection = msgspec.json.decode(os.environ[SELECTION], type=Selection)
    run_job(Project(selection, int(shards) if shards else None), args.rule, *args.wildcards)
