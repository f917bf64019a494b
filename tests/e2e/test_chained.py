"""A model is asked about its own answers, a judge about both, and the audit walks every pass: YesBut, through the real
graph, against a real server; and no key anywhere."""

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.servers.runs import KEY, VARIABLE, Served

from .conftest import add_served
from .project import Project

TABLE = "results/yesbut/table3.csv"
CONFIG = "benchmarks=[yesbut] models=[served] judge=served scorers=null conditions=[oracle,chained] limit=2"
PRICE = "price: {input: 1, output: 2, date: 2026-01-01, source: made up for this test}\n"


def texts(path: Path, column: str) -> list[str]:
    return [str(value) for value in pq.read_table(path)[column].to_pylist()]


@pytest.mark.long
def test_every_pass_is_asked_kept_and_audited(fresh: Project, server: Served) -> None:
    project = add_served(fresh, server, PRICE)
    rows = [line.split() for line in project.punchline("plan", *CONFIG.split()).splitlines()]
    header = next(row for row in rows if "to_ask" in row)
    to_ask = {row[header.index("hop")]: row[header.index("to_ask")] for row in rows if "served" in row}
    assert to_ask["answer"] == "42"  # two comics
    assert server.get("/counts") == {} and os.environ[VARIABLE] == KEY  # planning asks nothing
    server.script(key="another")
    output = project.snakemake(TABLE, config=CONFIG, fails=True)
    assert VARIABLE in output and KEY not in output  # it names the variable; the server had echoed the key
    server.script(key=KEY)
    output = project.snakemake(TABLE, "results/cost.csv", config=CONFIG)
    assert KEY not in output
    data = project.path / "data"
    own = texts(data / "responses/yesbut/served.parquet", "text")
    chained = texts(data / "requests/yesbut/chained/served.parquet", "messages")
    assert len(chained) == 2 * 9  # two comics, three prompts of three tasks that take a description
    assert all(any(answer in request for answer in own) for request in chained)
    judged = texts(data / "requests/yesbut/judge/served.parquet", "condition")
    assert {"default", "chained"} <= set(judged)
    assert project.rows(TABLE, model="served")
    costs = project.rows("results/cost.csv")
    assert {"answer", "chained", "judge"} == {row["hop"] for row in costs}
    assert all(int(row["tokens_in"]) > 0 and float(row["cost"]) > 0 for row in costs)
    counts = server.get("/counts")
    report = project.audit(TABLE)
    assert report["verdict"] == "equal", report["findings"]
    roles = {file["role"] for file in report["files"]}
    assert {"chained requests", "chained snapshot", "chained journal"} <= roles
    assert {f"judge's {what}" for what in ("card", "requests", "snapshot", "journal")} <= roles
    files = (path for path in project.path.rglob("*") if path.is_file())
    assert not [path for path in files if "tests" not in path.parts and KEY.encode() in path.read_bytes()]
    # A second run asks nothing, and neither does one that has to make its indexes anew.
    assert project.wanted(TABLE, config=CONFIG) == set()
    project.snakemake(TABLE, "--forcerun", "respond", config=CONFIG)
    plain = CONFIG.replace("[oracle,chained]", "[oracle]")
    project.snakemake("results/runs/plain/yesbut/table3.csv", config=f"{plain} run=plain")
    assert "Not asked: chained" in (project.path / "results/runs/plain/yesbut/table3.md").read_text()
    assert server.get("/counts") == counts

    # A description that is changed after the fact breaks what was asked on its ground.
    journal = data / "responses/yesbut/served.jsonl"
    content = journal.read_bytes()
    description = next(text for text in own if len(text) > 8).encode()
    assert description in content
    journal.write_bytes(content.replace(description, description[:-1] + b"!"))
    report = project.audit(TABLE)
    assert report["verdict"] == "differs"
    damaged = [finding["what"] for finding in report["findings"] if ".jsonl, line " in finding["what"]]
    assert damaged and all(what.startswith(f"{journal.relative_to(project.path)}, line ") for what in damaged)
