"""Two passes through the real graph against a real server: an explanation, then a judge; and no key anywhere."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.servers.runs import KEY, Served

from .conftest import VARIABLE
from .project import Project

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


def test_two_hops_and_no_key_anywhere(project: Project, server: Served) -> None:
    output = project.punchline("plan", *CONFIG.split())
    assert "6 " in output and "answer" in output and "judge" in output and KEY not in output
    assert server.get("/counts") == {} and os.environ[VARIABLE] == KEY  # planning asks nothing
    server.script(key="another")
    output = project.snakemake(TABLE, config=CONFIG, fails=True)
    assert VARIABLE in output and KEY not in output  # it names the variable; the server had echoed the key
    server.script(key=KEY)
    output = project.snakemake(TABLE, "results/cost.csv", config=CONFIG)
    assert KEY not in output
    row = next(row for row in project.rows(TABLE) if row["model"] == "served")
    # The server's verdicts are prose: none can be read, all are counted, nothing is scored.
    assert row["n"] == "0" and row["n_unparsable"] == "6" and row["accuracy"] == ""
    costs = project.rows("results/cost.csv")
    assert [row["hop"] for row in costs] == ["answer", "judge"]
    assert all(int(row["tokens_in"]) > 0 and float(row["cost"]) > 0 for row in costs)
    counts = server.get("/counts")
    report = project.audit(TABLE)
    assert report["verdict"] == "equal" and KEY not in str(report)
    assert files_with(KEY, project.path) == []
    # A second run asks nothing, and neither does one that has to make its snapshots anew.
    assert project.to_run(TABLE, config=CONFIG) == set()
    project.snakemake(TABLE, "--forcerun", "respond", config=CONFIG)
    table = [line.split() for line in project.punchline("plan", *CONFIG.replace("=6", "=12").split()).splitlines()]
    header, planned = (next(line for line in table if word in line) for word in ("to_ask", "answer"))
    assert planned[header.index("to_ask")] == "6"
    assert server.get("/counts") == counts
