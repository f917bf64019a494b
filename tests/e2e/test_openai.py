"""Two hops through the real graph against a real server: an explanation, then a judge; and no key anywhere."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.test_engine_openai import KEY, Served

from .conftest import VARIABLE
from .project import Project

pytestmark = pytest.mark.e2e

TABLE = "results/humorbench/leaderboard.csv"
CONFIG = "benchmarks=[humorbench] models=[served] judge=served limit=6"


@pytest.fixture
def project(tmp_path: Path, add_served: Callable[[Project, str], Project]) -> Project:
    price = "price: {input: 1, output: 2, date: 2026-01-01, source: made up for this test}"
    return add_served(Project.copy(tmp_path / "p"), f"modality: [text]\n{price}\n")


def files_with(text: str, folder: Path) -> list[Path]:
    """Files of a run that hold a text; the tests' own sources, which plant it, left out."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(folder / "tests"))
    return [path for path in files if text.encode() in path.read_bytes()]


def rows(project: Project, table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((project.path / table).read_text())))


def test_two_hops_and_no_key_anywhere(project: Project, server: Served) -> None:
    server.script(key="another")
    said = project.snakemake(TABLE, config=CONFIG, fails=True)
    assert VARIABLE in said and KEY not in said  # it names the variable; the server had echoed the key
    server.script(key=KEY)
    said = project.snakemake(TABLE, "results/cost.csv", config=CONFIG)
    assert KEY not in said
    ours = next(row for row in rows(project, TABLE) if row["model"] == "served")
    # The server's verdicts are prose: none can be read, all are counted, nothing is scored.
    assert ours["n"] == "0" and ours["n_unparsable"] == "6" and ours["accuracy"] == ""
    costs = rows(project, "results/cost.csv")
    assert [row["hop"] for row in costs] == ["answer", "judge"]
    assert all(int(row["tokens_in"]) > 0 and float(row["cost"]) > 0 for row in costs)
    counts = server.get("/counts")
    found = project.audit(TABLE)
    assert found["verdict"] == "equal" and KEY not in str(found)
    assert files_with(KEY, project.path) == []
    # A second run asks nothing, and neither does one that has to make its snapshots anew.
    assert project.to_run(TABLE, config=CONFIG) == set()
    project.snakemake(TABLE, "--forcerun", "infer", "judge_served", config=CONFIG)
    assert server.get("/counts") == counts


def test_failed_answers_are_asked_again_by_retry(project: Project, server: Served) -> None:
    server.script(key=KEY, fault="500")
    card = project.path / "config/model/served.yaml"
    card.write_text(card.read_text() + "attempts: 1\nbreaker: 0\n")
    project.snakemake(TABLE, config=CONFIG)
    ours = next(row for row in rows(project, TABLE) if row["model"] == "served")
    assert ours["n_failed"] == "6"
    assert "INCOMPLETE" in (project.path / TABLE).with_suffix(".md").read_text()
    server.script(key=KEY)
    assert project.to_run(TABLE, config=CONFIG) == set()
    project.punchline("retry", *CONFIG.split())
    ours = next(row for row in rows(project, TABLE) if row["model"] == "served")
    assert ours["n_failed"] == "0" and ours["n_unparsable"] == "6"


def test_plan_asks_nothing(project: Project, server: Served) -> None:
    said = project.punchline("plan", *CONFIG.split())
    assert "6 " in said and "answer" in said and "judge" in said and KEY not in said
    assert server.get("/counts") == {}
    assert os.environ[VARIABLE] == KEY
    assert "tokens_s" not in said  # nothing was measured yet
    card = project.path / "config/model/served.yaml"
    card.write_text(card.read_text() + "concurrency: 1\n")
    server.script(key=KEY, latency=0.4)
    project.snakemake(TABLE, config=CONFIG)
    asked = server.get("/counts")
    table = [line.split() for line in project.punchline("plan", *CONFIG.replace("=6", "=12").split()).splitlines()]
    header, planned = (next(line for line in table if word in line) for word in ("tokens_s", "answer"))
    assert int(planned[header.index("tokens_s")]) > 0 and planned[header.index("to_ask")] == "6"
    assert server.get("/counts") == asked
