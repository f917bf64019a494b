"""What a table's lineage names, what its jobs read, and what Snakemake knows of are the same files."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from punchline.artifacts.project import Project as Needs
from punchline.config.runs import selection_of
from punchline.config.selection import Selection
from punchline.workflow.provenance import dependencies, read_provenance

from .project import Project
from .test_reruns import choose

pytestmark = pytest.mark.long

SELECTION = {"benchmarks": "[pixelhumor, yesbut]", "models": "[random]", "judge": "overlap"}
SELECTION |= {"scorers": "null", "conditions": "all", "limit": "2"}
VIEWS = ("data/raw/", "data/items/", "data/images/", "data/requests/", "data/responses/", "results/")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, list[list[str]]]]:
    """A whole run, and (arguments of a script, file that it opened to read) of every job."""
    project = Project.copy(tmp_path_factory.mktemp("needs"))
    choose(project, **SELECTION)
    log = project.path.parent / "opened.log"
    hook = Path(__file__).parent / "opened"
    environment = project.environment
    environment |= {"PUNCHLINE_OPENED": str(log), "PYTHONPATH": os.pathsep.join([str(hook), environment["PYTHONPATH"]])}
    done = project.ran(sys.executable, "-m", "snakemake", "--cores", "2", env=environment)
    assert done.returncode == 0, done.stderr
    with contextlib.chdir(project.path):
        yield project, [line.split("\t") for line in log.read_text().splitlines()]


def test_a_job_reads_nothing_that_it_does_not_name(opened: tuple[Project, list[list[str]]]) -> None:
    """Every file of data/ and results/ that a job opens is an input or output of its artifacts, or a journal."""
    projects: dict[str, Needs] = {}
    stray = set()
    for text, rule, *names, _, _, path in opened[1]:
        if not path.startswith(VIEWS) or path.endswith(".made.json"):
            continue
        if text not in projects:
            projects[text] = Needs(msgspec.json.decode(text, type=Selection))
        project = projects[text]
        steps = project.built_by(rule, *names)
        known = {need.path for step in steps for need in step.inputs} | {p for step in steps for p in step.outputs}
        below = [need.artifact for step in steps for need in step.inputs if need.artifact]
        if rule == "tables":  # lineages name all files behind a table
            below += [need.artifact for step in steps for need in dependencies(step) if need.artifact]
            known |= {need.path for step in steps for need in dependencies(step)}
        if rule == "respond":  # images: the requests name each by its sha256
            below += [project.pictures(name) for name in project.selection.benchmarks]
        for step in [*steps, *below]:
            result = read_provenance(step.record)
            known |= {*(result.outputs if result else ()), *(path for _, path, _ in step.journals())}
        journal = path.startswith("data/responses/") and path.endswith(".jsonl")  # of all runs
        if path not in known and not (journal and rule == "respond"):
            stray.add(f"{rule} {' '.join(names)}: {path}")
    assert stray == set()
    assert len(opened[1]) > 300


def test_a_lineage_names_what_the_artifacts_read(opened: tuple[Project, list[list[str]]]) -> None:
    """The files of all lineages of a benchmark are the inputs, direct and indirect, of its tables."""
    project = Needs(selection_of("default"))
    for benchmark in project.selection.benchmarks:
        step, named, result = project.tables(benchmark), set[str](), 0
        for path in step.outputs:
            if path.endswith(".lineage.json"):
                files = json.loads(Path(path).read_bytes())["files"]
                roles = {one["path"]: one["role"] for one in files}
                named |= {path for path, role in roles.items() if role not in ("table", "picture")}
                result += 1
        journals = {path for path in named if path.endswith(".jsonl") and path.startswith("data/responses/")}
        needed = {need.path for need in dependencies(step)}
        images = {path for path in named - needed if "/images/" in path}  # that only the fetch log names
        assert result > 5 and named - journals - images == needed
