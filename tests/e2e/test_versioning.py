"""DVC and Snakemake over the same graph: in either order, and after clone, pull and restore."""

import subprocess
from pathlib import Path

import pytest

from .project import Project, jobs
from .test_reruns import choose

pytestmark = pytest.mark.long


def start(path: Path) -> Project:
    """A small selection in run.yaml itself, as `dvc repro` takes it from there; everything committed."""
    project = Project.copy(path)
    choose(project, models="[random, reading-order]", limit="4")
    project.run("git", "init", "-q", "-b", "main")
    project.run("git", "add", "-A")
    project.run("git", "commit", "-qm", "start")
    return project


@pytest.fixture(scope="module")
def restored(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """dvc repro, push, commit; then clone, pull and restore elsewhere."""
    first = start(tmp_path_factory.mktemp("first"))
    output = first.dvc("repro")
    assert {"fetch", "prepare", "respond", "score", "tables"} <= {job.split()[0] for job in jobs(output)}
    assert first.wanted("all") == set(), "after dvc repro, snakemake has nothing to do"
    assert "Data and pipelines are up to date" in first.dvc("repro")
    store = tmp_path_factory.mktemp("store")
    first.dvc("remote", "add", "-d", "store", str(store))
    first.dvc("push")
    first.run("git", "add", "-A")
    first.run("git", "commit", "-qm", "run")
    clone = tmp_path_factory.mktemp("second") / "clone"
    subprocess.run(["git", "clone", "-q", str(first.path), str(clone)], check=True, env=first.environment)
    second = Project(clone)
    second.punchline("restore")
    return second


def test_after_clone_pull_and_restore_there_is_nothing_to_do(restored: Project) -> None:
    assert restored.wanted("all") == set()
    before = restored.journal_lines()
    assert before == 2 * 4 * 8
    assert jobs(restored.snakemake("all")) == []
    assert restored.journal_lines() == before
    assert restored.audit("results/table8.csv")["verdict"] == "equal"
    assert "Data and pipelines are up to date" in restored.dvc("repro")


def test_restored_changes_rerun_what_depends_on_them(restored: Project) -> None:
    scoring = restored.path / "src/punchline/score.py"
    good = scoring.read_text()
    scoring.write_text(good + "\nCHANGED = True\n")
    expected = {"score pixelhumor random", "score pixelhumor reading-order", "tables pixelhumor"}
    assert restored.wanted("results/table8.csv") == expected
    scoring.write_text(good)
    assert restored.wanted("all") == set()


def test_restore_refuses_when_the_files_are_not_those_of_the_lock(restored: Project) -> None:
    label = restored.path / "data/raw/demo/pixelhumor/subjective_label.csv"
    good = label.read_bytes()
    label.write_bytes(good + b"\n")
    output = restored.punchline("restore", "--no-pull", fails=True)
    label.write_bytes(good)
    assert "the files are not those of dvc.lock (stages fetch" in output
    assert "Traceback" not in output


def test_dvc_repro_after_a_bare_snakemake_runs_no_job(tmp_path: Path) -> None:
    project = start(tmp_path / "p")
    project.snakemake("all")
    lines = project.journal_lines()
    output = project.dvc("repro")
    assert jobs(output) == []
    assert project.journal_lines() == lines
    assert project.wanted("all") == set()
