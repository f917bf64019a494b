"""A model is asked about its own answers, a judge about both, and the audit walks every pass: YesBut, through the real
graph, against a real server."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.servers.runs import KEY, Served

from .project import Project

TABLE = "results/yesbut/table3.csv"
CONFIG = "benchmarks=[yesbut] models=[served] judge=served scorers=null conditions=[oracle,chained] limit=2"


@pytest.fixture
def project(tmp_path: Path, add_served: Callable[[Project], Project]) -> Project:
    return add_served(Project.copy(tmp_path / "p"))


def texts(path: Path, column: str) -> list[str]:
    return [str(value) for value in pq.read_table(path)[column].to_pylist()]


def test_every_hop_is_asked_kept_and_audited(project: Project, server: Served) -> None:
    server.script(key=KEY)
    project.snakemake(TABLE, config=CONFIG)
    data = project.path / "data"
    own = texts(data / "responses/yesbut/served.parquet", "text")
    chained = texts(data / "requests/yesbut/chained/served.parquet", "messages")
    assert len(chained) == 2 * 9  # two comics, three prompts of three tasks that take a description
    assert all(any(answer in request for answer in own) for request in chained)
    judged = texts(data / "requests/yesbut/judge/served.parquet", "condition")
    assert {"default", "chained"} <= set(judged)
    assert any(row["model"] == "served" for row in project.rows(TABLE))
    counts = server.get("/counts")
    report = project.audit(TABLE)
    assert report["verdict"] == "equal", report["findings"]
    roles = {file["role"] for file in report["files"]}
    assert {"chained requests", "chained snapshot", "chained journal", "judge's journal"} <= roles
    assert project.to_run(TABLE, config=CONFIG) == set()
    project.snakemake(TABLE, "--forcerun", "respond", config=CONFIG)
    assert server.get("/counts") == counts

    plain = CONFIG.replace("[oracle,chained]", "[oracle]")
    project.snakemake("results/runs/plain/yesbut/table3.csv", config=f"{plain} run=plain")
    assert "Not asked: chained" in (project.path / "results/runs/plain/yesbut/table3.md").read_text()

    # A description that is changed after the fact breaks what was asked on its ground.
    journal = data / "responses/yesbut/served.jsonl"
    content = journal.read_bytes()
    description = next(text for text in own if len(text) > 8).encode()
    assert description in content
    journal.write_bytes(content.replace(description, description[:-1] + b"!"))
    report = project.audit(TABLE)
    assert report["verdict"] == "differs"
    assert any("served.jsonl, line " in finding["what"] for finding in report["findings"])
    named = {finding["path"] for finding in report["findings"] if finding["link"] == "journal"}
    assert named == {"data/responses/yesbut/served.jsonl"}, "later passes: their journals are intact"
