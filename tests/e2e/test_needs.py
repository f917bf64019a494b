"""What a table's lineage names, what its jobs read, and what Snakemake knows of are the same files."""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .project import Project
from .test_reruns import choose

pytestmark = [pytest.mark.e2e, pytest.mark.long]

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
    """Every file of data/ and results/ that a script opens is a need of its step, what the step makes, or a journal."""
    from punchline.project.needs import Project as Needs
    from punchline.stages.job import read_selection
    from punchline.workflow.provenance import dependencies, read_provenance

    projects: dict[str, Needs] = {}
    stray = set()
    for _, stage, *arguments, path in opened[1]:
        if not path.startswith(VIEWS) or path.endswith(".made.json"):
            continue
        options = dict(zip(arguments[::2], arguments[1::2], strict=True))
        text = options.pop("--selection")
        options.pop("--threads", None)
        project = projects.setdefault(text, Needs(read_selection(text)))
        steps = project.steps_of(stage, *options.values())
        known = {need.path for step in steps for need in step.needs} | {p for step in steps for p in step.outputs}
        below = [need.step() for step in steps for need in step.needs if need.step]
        if stage == "tables":  # what its lineage names is all that lies below
            below += [need.step() for step in steps for need, _ in dependencies(step) if need.step]
            known |= {need.path for step in steps for need, _ in dependencies(step)}
        if stage == "respond":  # pictures: the requests that it rests on name each by its sha256
            below += [project.pictures(name) for name in project.selection.benchmarks]
        for step in [*steps, *below]:
            found = read_provenance(step)
            known |= {*(found.outputs if found else ()), *(path for _, path, _ in step.journals())}
        kept = path.startswith("data/responses/") and path.endswith(".jsonl")  # a journal, of all runs
        if path not in known and not (kept and stage == "respond"):
            stray.add(f"{stage} {' '.join(options.values())}: {path}")
    assert stray == set()


def test_a_lineage_names_what_the_graph_reads(opened: tuple[Project, list[list[str]]]) -> None:
    """Files of all lineages of a benchmark are the inputs, transitively, of its tables' job in Snakemake's graph."""
    project = opened[0]
    said = project.snakemake("-n", "-p", "--forceall")
    inputs: dict[str, set[str]] = {}
    for job in re.split(r"^(?:local)?rule ", said, flags=re.MULTILINE)[1:]:
        read = re.search(r"^    input: (.*)$", job, re.MULTILINE)
        made = re.search(r"^    output: (.*)$", job, re.MULTILINE)
        for output in made.group(1).split(", ") if made else []:
            names = set(read.group(1).split(", ")) if read else set()
            inputs.setdefault(output.removesuffix(" (update)"), set()).update(names)
    checked = 0
    of_job: dict[str, tuple[set[str], set[str]]] = {}  # by benchmark: files of its lineages, of the job's inputs
    for file in sorted((project.path / "results").rglob("*.lineage.json")):
        lineage = json.loads(file.read_bytes())
        table = file.relative_to(project.path).as_posix().replace(".lineage.json", ".csv")
        reached: set[str] = set()
        queue = [table]
        while queue:
            for name in inputs.get(queue.pop(), ()):
                if name not in reached:
                    reached.add(name)
                    queue.append(name)
        drawn = {name for name in reached if name.endswith("annotations.made.json")}
        named, raw = set(), set()
        for one in lineage["files"]:
            if one["role"] == "raw annotation":
                raw.add(one["path"])
            elif one["role"] not in ("table", "image", "picture") and not one["role"].endswith("journal"):
                named.add(one["path"])
        # One start of an engine serves all benchmarks: through that job others' files are reached too.
        others = {"pixelhumor", "yesbut"} - {lineage["benchmark"]}
        # Snakemake knows what a respondent's job writes by one file, which names the indexes.
        markers = {name for name in reached if "/respondents/" in name}
        indexes = {path for name in markers for path in json.loads((project.path / name).read_bytes())}
        records = [json.loads((project.path / f"{path}.made.json").read_bytes()) for path in indexes]
        reached |= {path for record in records for path in record["outputs"]}
        own = {name for name in reached - drawn - markers if not others & set(Path(name).with_suffix("").parts)}
        assert named <= own, table
        of_job.setdefault(lineage["benchmark"], (set(), own))[0].update(named)
        listed = {path for name in drawn for path in json.loads((project.path / name).read_bytes())["outputs"]}
        assert raw and raw <= listed, table
        checked += 1
    assert checked > 20
    assert all(named == own for named, own in of_job.values()), of_job
