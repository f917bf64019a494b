from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.test_engine_openai import Served

from .project import FAST, Project

TABLE = "results/table8.csv"
SMALL = f"{FAST} limit=6"


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Table 8 on six demo comics. Do not change it: take a copy with `small`."""
    project = Project.copy(tmp_path_factory.mktemp("small"))
    project.snakemake(TABLE, config=SMALL)
    return project


@pytest.fixture
def server() -> Iterator[Served]:
    """A real server that answers as any OpenAI-compatible one, and misbehaves as told."""
    served = Served()
    yield served
    served.kill()


@pytest.fixture
def small(small_run: Project, tmp_path: Path) -> Project:
    """A copy of that run, times kept, to do anything with."""
    shutil.copytree(small_run.path, tmp_path / "p", dirs_exist_ok=True, symlinks=True)
    return Project(tmp_path / "p")
