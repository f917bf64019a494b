"""Builds and baselines run only code that counts: their calls are traced."""

import shutil
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.selected import selection_in

from punchline import jobs
from punchline.artifacts.project import RULES, Project
from punchline.workflow import code
from punchline.workflow.provenance import Artifact

pytestmark = pytest.mark.long

ROOM = f"{code.PACKAGE}/"
call = jobs.call
# Engines describe themselves while artifacts are described: the result is a parameter.
DESCRIBES = ("engines/", "journal.py")


class Trace:
    """Files of the package whose functions run in this process within a block, by the name of the block."""

    def __init__(self) -> None:
        self.files = defaultdict[str, set[str]](set)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        files = self.files[name]

        def note(frame: FrameType, event: str, _: Any) -> None:
            """Note the file of a call, for sys.setprofile; code that runs on import makes constants only."""
            file = frame.f_code.co_filename
            if event == "call" and file.startswith(ROOM) and frame.f_code.co_name != "<module>":
                files.add(file.removeprefix(ROOM))

        threading.setprofile(note)
        sys.setprofile(note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]

    def build(self, project: Project, artifact: Artifact) -> None:
        with self.of(artifact.name):
            call(project, artifact)


@pytest.fixture
def folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without anything made, as the working directory."""
    for name in ("config", "data/demo", "data/manifests"):
        shutil.copytree(root / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("chosen", [["pixelhumor", "hummus", "humorbench"], ["yesbut", "stripcipher"]], ids="".join)
def test_a_build_runs_no_file_that_does_not_count(
    chosen: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, artifacts = Trace(), {}
    monkeypatch.setattr(jobs, "call", trace.build)
    models = {"models": ["random", "echo"], "judge": "overlap", "scorers": None}
    project = Project(selection_in(folder, benchmarks=chosen, conditions="all", limit=2, **models))
    for rule in RULES[:-2]:
        for names in project.jobs(rule):
            jobs.run_job(project, rule, *names)
            artifacts |= {step.name: step for step in project.built_by(rule, *names)}
    uncounted = {
        (name, file)
        for name, files in trace.files.items()
        for file in files - artifacts[name].parts.keys()
        if artifacts[name].code and not file.startswith(DESCRIBES)
    }
    assert len(trace.files) > 20 and uncounted == set()


# Modules that everything imports.
HELPERS = {"core/engine.py", "core/benchmark.py", "core/threads.py", "schema.py", "grouping.py", "errors.py", "text.py"}


def test_a_baseline_runs_no_file_that_its_key_does_not_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace, counted, digest = Trace(), set[str](), code.digest

    def noted(*places: str) -> str:
        counted.update(file for file in code._files() if file.startswith(places))
        return digest(*places)

    models = ["random", "label-order", "reading-order", "longest-option", "last-panel", "echo", "prior"]
    benchmarks = ["pixelhumor", "hummus", "humorbench", "yesbut", "stripcipher"]
    project = Project(selection_in(folder, benchmarks=benchmarks, models=models, judge=None, scorers=None, limit=2))
    for rule in ("fetch", "prepare"):
        for names in project.jobs(rule):
            jobs.run_job(project, rule, *names)
    monkeypatch.setattr(code, "digest", noted)
    for engine in {type(engine) for engine in project.engines.values()}:
        answer = engine.answer

        def traced(self: Any, requests: Any, *others: Any, answer: Any = answer) -> Any:
            requests = list(requests)
            with trace.of("answers"):
                responses = list(answer(self, requests, *others))
            yield from responses

        monkeypatch.setattr(engine, "answer", traced)
    for names in project.jobs("respond"):
        jobs.run_job(project, "respond", *names)
    assert trace.files["answers"] - counted - HELPERS == set() and len(trace.files["answers"]) > 12
