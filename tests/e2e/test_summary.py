"""The last lines of a run say what it came to; with strict=true a failed answer is a failed run."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.test_engine_openai import KEY, Served

from .conftest import TABLE
from .project import Project

pytestmark = pytest.mark.e2e


def test_failures_end_a_run_in_a_summary(
    tmp_path: Path, add_served: Callable[[Project, str], Project], server: Served
) -> None:
    project = add_served(Project.copy(tmp_path / "p"), "attempts: 1\nbreaker: 0\n")
    config = "models=[random,served] limit=2"
    server.script(key=KEY, fault="500")
    said = project.snakemake(TABLE, config=config)
    *_, served, tables, failed, advice = said.strip().splitlines()
    count = re.fullmatch(r"served: (\d+) failed", served)
    assert count is not None
    assert re.fullmatch(r"\d+ tables written: results/pixelhumor/\S+\.csv, .*, …", tables)
    assert failed.startswith(f"served: {count[1]} of {count[1]} answers failed: HTTP 500")
    assert advice == "To ask these again: punchline retry"
    assert re.search(r"^random: \d+ answered, \d+ missing$", said, re.MULTILINE)

    (project.path / "results/pixelhumor/scores/served.parquet").unlink()
    said = project.snakemake(TABLE, config=f"{config} strict=true", fails=True)
    assert said.strip().endswith("error: answers failed, or a table has no scored item, and strict=true was asked for")
    server.script(key=KEY)
    said = project.punchline("retry")
    assert re.search(r"^served: \d+ answered", said, re.MULTILINE) and "failed:" not in said
    assert "field strict: Expected `bool`" in project.snakemake(TABLE, config=f"{config} strict=perhaps", fails=True)
