import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.golden.runs import RELEASED
from tests.servers.runs import KEY, VARIABLE, Served

from .project import FAST, Project

TABLE = "results/table8.csv"
SMALL = f"{FAST} limit=6"


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Project], object]], Project]:
    """Gives a copy of the project in which something was done, once for all workers of pytest."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def copy(name: str, make: Callable[[Project], object]) -> Project:
        made = shared / f"made-{name}"
        with made.with_suffix(".lock").open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.seek(0)
            if not lock.read():
                make(Project.copy(made))
                lock.write("made")
        return Project(made).copied(tmp_path_factory.mktemp(name))

    return copy


@pytest.fixture(scope="session")
def small_run(once: Callable[[str, Callable[[Project], object]], Project]) -> Project:
    """Table 8 on six demo comics. Do not change it: take a copy with `small`."""
    return once("small", lambda project: project.snakemake(TABLE, config=SMALL))


@pytest.fixture(scope="session")
def released_run(mirror: Path, once: Callable[[str, Callable[[Project], object]], Project]) -> Project:
    """All tables of HumorBench's released runs. Do not change it."""
    if not (mirror / "humorbench_runs").is_dir():
        pytest.skip(f"REAL DATA ABSENT: no humorbench_runs/ in {mirror}")
    return once("released", lambda project: project.snakemake("all_tables", config=f"run={RELEASED} mirror={mirror}"))


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """A copy of the project, in which nothing is built."""
    return Project.copy(tmp_path / "p")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A real server that answers as any OpenAI-compatible one, and misbehaves as told; its key is in $VARIABLE."""
    monkeypatch.setenv(VARIABLE, KEY)
    served = Served()
    yield served
    served.kill()


def add_served(project: Project, server: Served, lines: str = "") -> Project:
    """Give a project that server as a model and a judge, behind the key; lines to add to the cards."""
    for folder in ("model", "judge"):
        project.add_served("served", server.url, f"api_key_env: {VARIABLE}\n{lines}", folder)
    return project


@pytest.fixture
def small(small_run: Project, tmp_path: Path) -> Project:
    """A copy of that run, times kept, to do anything with."""
    return small_run.copied(tmp_path / "p")
