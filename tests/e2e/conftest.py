from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.servers.runs import KEY, Served

from .project import FAST, Project

TABLE = "results/table8.csv"
SMALL = f"{FAST} limit=6"
VARIABLE = "PUNCHLINE_TEST_KEY"  # holds the key of `add_served`


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
def add_served(server: Served, monkeypatch: pytest.MonkeyPatch) -> Callable[[Project, str], Project]:
    """Gives a project that server as a model and a judge, behind a key; lines to add to the cards."""

    def add(project: Project, lines: str = "") -> Project:
        monkeypatch.setenv(VARIABLE, KEY)
        card = f"engine: openai\nid: m\nbase_url: {server.url}/v1\napi_key_env: {VARIABLE}\n{lines}"
        for folder in ("model", "judge"):
            (project.path / "config" / folder / "served.yaml").write_text(card)
        return project

    return add


@pytest.fixture
def small(small_run: Project, tmp_path: Path) -> Project:
    """A copy of that run, times kept, to do anything with."""
    return small_run.copied(tmp_path / "p")
