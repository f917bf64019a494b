"""`punchline run` and the last lines of a run, which say what it came to."""

import re
import shlex
from pathlib import Path

from tests.servers.runs import KEY, Served

from .conftest import TABLE, add_served
from .project import Project


def test_a_model_of_a_server_from_its_card(small: Project, server: Served, tmp_path: Path) -> None:
    add_served(small, server, "price: {input: 1.0, output: 2.0, date: 2026-01-01, source: test}\n")
    card = tmp_path / "mine.yaml"
    card.write_text((small.path / "config/model/served.yaml").read_text())
    arguments = [str(card), "reading-order", "--run", "mine", "--limit", "6", "--strict"]
    output = small.run("python", "-m", "punchline.cli", "run", *arguments)
    first, *lines = output.stdout.splitlines()
    assert first.startswith("config/model/mine.yaml: copied from")
    command = lines[0]
    assert command.startswith("snakemake --cores all all report --config run=mine 'models=[mine,reading-order]'")
    assert "reading-order ahead of mine by 100.0 points of panel_acc (multi-panel)" in output.stdout
    assert lines[-1].startswith("Report: results/runs/mine/report/index.html")
    assert (small.path / "results/runs/mine/report/index.html").is_file()
    again = small.run("python", "-m", *shlex.split(command), "-n")
    assert "unchanged" in again.stdout + again.stderr or "Nothing to be done" in again.stdout + again.stderr


def test_failures_end_a_run_in_a_summary(small: Project, server: Served) -> None:
    project = add_served(small, server, "attempts: 1\nbreaker: 0\n")
    config = "models=[random,served] limit=6"
    server.script(key=KEY, fault="500")
    output = project.snakemake(TABLE, config=config)
    *_, served, tables, failed, advice = output.strip().splitlines()
    count = re.fullmatch(r"served: (\d+) failed", served)
    assert count is not None
    assert re.fullmatch(r"\d+ tables written: results/pixelhumor/\S+\.csv, .*, …", tables)
    assert failed.startswith(f"served: {count[1]} of {count[1]} answers failed: HTTP 500")
    assert advice == "To ask these again: punchline retry"
    assert re.search(r"^random: \d+ answered, \d+ missing$", output, re.MULTILINE)

    (project.path / "results/pixelhumor/scores/served.parquet").unlink()
    output = project.snakemake(TABLE, config=f"{config} strict=true", fails=True)
    assert output.strip().endswith(
        "error: answers failed, or a table has no scored item, and strict=true was asked for"
    )
    server.script(key=KEY)
    output = project.punchline("retry")
    assert re.search(r"^served: \d+ answered", output, re.MULTILINE) and "failed:" not in output
    assert "field strict: Expected `bool`" in project.snakemake(TABLE, config=f"{config} strict=perhaps", fails=True)
