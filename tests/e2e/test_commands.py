"""Messages to people: names, typing errors, logs, errors last, runs that are stopped or start twice, summaries."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cases import cases
from tests.servers.runs import KEY, Served

from .conftest import SMALL, TABLE, add_served
from .project import Project

SERVED = "benchmarks=[humorbench] models=[served] limit=24"
LEADERBOARD = "results/humorbench/leaderboard.csv"


def last_line(text: str) -> str:
    return text.rstrip().rsplit("\n", 1)[-1]


@pytest.mark.parametrize(("command", "within", "expected"), cases(__file__, "commands"))
def test_commands(small_run: Project, command: str, within: str, expected: str) -> None:
    status = 1 if expected.startswith("error: --config") else 2 * expected.startswith("error")  # 1: as of Snakemake
    words = (sys.executable, "-m", "punchline.cli", *command.split())
    done = small_run.ran(*words, cwd=small_run.path / within)
    output = done.stdout + done.stderr
    assert done.returncode == status and re.search(expected, output, re.DOTALL), output
    assert "Traceback" not in output
    if "--json" in command:
        json.loads(done.stdout)
    assert "--runnable" not in command or '"can run here": "no' not in output


def test_help_needs_no_project(small_run: Project, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "punchline.cli", "compare"]
    done = [small_run.ran(*command, *more, cwd=tmp_path) for more in (["--help"], ["random", "ocr"])]
    assert [one.returncode for one in done] == [0, 2]
    assert "MODEL" in done[0].stdout and "no Snakefile" in done[1].stderr
    assert re.fullmatch(r"punchline \d+\.\d+\.\d+\n", small_run.punchline("--version"))


def test_an_error_comes_last_and_once(small: Project) -> None:
    raw, table = "data/raw/demo/pixelhumor/subjective_label.csv", (small.path / TABLE).read_bytes()
    small.rewrite_raw(raw, (small.path / raw).read_text().replace("['", "[x'", 1).encode())
    output = small.snakemake(TABLE, config=SMALL, fails=True)
    assert last_line(output).startswith(f"error: {raw}, line 2, record borderless_1, field Q1: ")
    assert "log: logs/prepare/pixelhumor.log" in output and "Traceback" not in output
    assert (small.path / TABLE).read_bytes() == table and list(small.path.rglob("*.part")) == []
    image = "data/raw/demo/pixelhumor/images/borderless_1.png"
    small.rewrite_raw(image, b"<html>not found</html>")
    (small.path / "data/items/pixelhumor/ledger.jsonl.made.json").unlink()  # else the image counts as damaged
    output = last_line(small.snakemake(TABLE, config=SMALL, fails=True))
    assert output.startswith(f"error: {image}: not a readable image")
    (small.path / "config/run.yaml").write_text("models: [random")
    assert last_line(small.snakemake("-n", fails=True)).startswith("error: config/run.yaml")


def test_a_missing_key_is_said_before_any_job(small: Project) -> None:
    (small.path / "config/model/served.yaml").write_text("engine: openai\nid: m\napi_key_env: NO_SUCH_KEY\n")
    before = small.files()
    output = small.snakemake(TABLE, config="models=[random,served] limit=4", fails=True)
    assert "NO_SUCH_KEY holds no API key" in last_line(output) and "Job 1" not in output
    assert small.files() == before, "nothing was begun"


def test_lint_finds_nothing_but_that_environments_are_not_condas(small_run: Project) -> None:
    for config in ("", "corpus=full benchmarks=all judge=overlap conditions=all"):
        chosen = ["--config", *config.split()] if config else []
        done = small_run.ran(sys.executable, "-m", "snakemake", "--lint", *chosen)
        titles = set(re.findall(r"^    \* (.*):$", done.stdout + done.stderr, re.MULTILINE))
        assert titles == {"Specify a conda environment or container for each rule."}


def begun(project: Project, *words: str, job: str = "respond") -> subprocess.Popen[str]:
    """A run in a session of its own, without a home folder, some answers in, or with this job at work.

    `words`: of another command than snakemake.
    """
    command = [
        sys.executable,
        *(words or ("-m", "snakemake", "--cores", "2", LEADERBOARD, "--config", *SERVED.split())),
    ]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    environment = project.environment | {"HOME": "/dev/null/home"}
    process = subprocess.Popen(command, cwd=project.path, env=environment, text=True, **pipes)
    ends = time.monotonic() + 60
    while is_early(project, job):
        assert time.monotonic() < ends and process.poll() is None
        time.sleep(0.05)
    return process


def jobs_of(project: Project) -> list[str]:
    """Command lines of jobs that are at work in a project."""
    every = (process.info for process in psutil.process_iter(["cwd", "cmdline"]))
    here = (" ".join(one["cmdline"]) for one in every if one["cwd"] == str(project.path.resolve()))
    return [words for words in here if "scripts/" in words]


def is_early(project: Project, job: str) -> bool:
    """True until a job imports something, or has journalled three answers."""
    if job == "respond":
        journal = project.path / "data/responses/humorbench/served.jsonl"
        return not journal.exists() or journal.read_bytes().count(b"\n") < 3
    every = (process for process in psutil.process_iter(["cwd", "cmdline"]) if process.info["cmdline"])
    here = (one for one in every if one.info["cwd"] == str(project.path.resolve()))
    return not any(one.info["cmdline"][1:3] == ["scripts/stage.py", job] and one.cpu_times().user > 0.2 for one in here)


def goes_on(project: Project, server: Served) -> None:
    """The same command goes on: nothing is in its way, and nothing is asked twice."""
    server.script()
    output = project.snakemake(LEADERBOARD, config=SERVED)
    assert "tables of humorbench" in output
    journal = (project.path / "data/responses/humorbench/served.jsonl").read_text().splitlines()
    assert 3 < len(journal) <= sum(server.get("/counts").values()) <= len(journal) + 1, "only what was under way"


LONG = [pytest.param(one, marks=pytest.mark.long) for one in (signal.SIGTERM, signal.SIGHUP)]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, *LONG])
def test_a_killed_run_takes_its_jobs_along_and_goes_on(small: Project, server: Served, how: signal.Signals) -> None:
    small.add_served("served", server.url, "modality: [text]\nconcurrency: 1\nbreaker: 0\nattempts: 1\n")
    server.script(latency=2.0 if how in (signal.SIGINT, signal.SIGTERM) else 0.3)
    process = begun(small)
    assert jobs_of(small)
    if how in (signal.SIGINT, signal.SIGTERM):
        output = small.snakemake(LEADERBOARD, config=SERVED, fails=True)
        assert f"another run is at work in this folder: process {process.pid} on " in last_line(output)
        assert small.wanted(TABLE, config=SMALL) == set(), "looking is free"
        os.killpg(process.pid, how) if how == signal.SIGINT else process.send_signal(how)
        output, left = process.communicate(timeout=60)[0], "files and answers are kept, and the same command resumes"
        assert last_line(output) == f"stopped early: {left}" and output.count(left) == 1
        assert "Traceback" not in output and process.returncode == 128 + how
    else:
        process.send_signal(how)  # the run alone: its jobs are to see that it is gone
    assert process.wait(timeout=30) != 0
    ends = time.monotonic() + 60
    while jobs_of(small):
        assert time.monotonic() < ends, "orphans"
        time.sleep(0.1)
    goes_on(small, server)


@pytest.mark.parametrize(
    ("job", "how"),
    [
        ("respond", signal.SIGINT),
        *(
            pytest.param(job, how, marks=pytest.mark.long)
            for job, how in (("fetch", signal.SIGINT), ("respond", signal.SIGTERM), ("score", signal.SIGTERM))
        ),
    ],
)
def test_a_stopped_command_says_once_that_it_resumes(small: Project, server: Served, job: str, how: Any) -> None:
    small.add_served("served", server.url, "modality: [text]\nconcurrency: 1\nbreaker: 0\nattempts: 1\n")
    server.script(latency=1.0 if job == "respond" else 0)
    words = ("-m", "punchline.cli", "run", "served", "--benchmark", "humorbench", "--limit", "24")
    process = begun(small, *words, job=job)
    os.killpg(process.pid, how) if how == signal.SIGINT else process.send_signal(how)
    output = process.communicate(timeout=60)[0]
    assert last_line(output).startswith("stopped early: ") and output.count("same command resumes") == 1
    assert "Traceback" not in output and process.returncode == 128 + how
    server.script()


def test_strict_looks_at_what_stands(small: Project, server: Served) -> None:
    small.add_served("served", server.url, "modality: [text]\nbreaker: 0\nattempts: 1\n")
    server.script(fault="500")
    config = "benchmarks=[humorbench] models=[served,prior] limit=3"
    for _ in range(2):
        output = small.snakemake(LEADERBOARD, config=f"{config} strict=true", fails=True)
        assert last_line(output).startswith("error: answers failed") and "served: 3 failed" in output
        assert "prior: 3 not attempted\n" in output and "missing" not in output
    small.snakemake("respond_all", config=f"{config} strict=true", fails=True)
    assert "Nothing to be done" in small.snakemake(LEADERBOARD, config=config)
    small.punchline("run", "served", "--benchmark", "humorbench", "--limit", "3", "--strict", fails=True)
    assert "3 not attempted" in small.punchline("plan", *config.split())
    server.script()


def test_a_plan_with_a_judge_whose_weights_are_not_built(small: Project) -> None:
    card = "engine: transformers\nid: data/models/smollm2-135m-instruct\nmodality: [text]\ngpus: 0\n"
    (small.path / "config/judge/mine.yaml").write_text(card)
    output = small.punchline("plan", "models=[echo]", "benchmarks=[humorbench]", "judge=mine", "limit=3")
    assert "6 requests to ask" in output


def test_a_model_of_a_server_from_its_card(small: Project, server: Served, tmp_path: Path) -> None:
    add_served(small, server, "price: {input: 1.0, output: 2.0, date: 2026-01-01, source: test}\n")
    card = tmp_path / "mine.yaml"
    card.write_text((small.path / "config/model/served.yaml").read_text())
    output = small.execute(f"punchline run {card} reading-order --run mine --limit 6 --strict")
    first, command, *lines = output.splitlines()
    assert first.startswith("config/model/mine.yaml: copied from")
    assert command.startswith("snakemake --cores all all report --config run=mine 'models=[mine,reading-order]'")
    assert "reading-order ahead of mine by 100.0 points of panel_acc (multi-panel)" in output
    assert lines[-1].startswith("Report: results/runs/mine/report/index.html")
    assert (small.path / "results/runs/mine/report/index.html").is_file()
    again = small.snakemake(*shlex.split(command)[3:], "-n")
    assert "unchanged" in again or "Nothing to be done" in again


@pytest.mark.long
def test_failures_end_a_run_in_a_summary_and_are_asked_again(small: Project, server: Served) -> None:
    project = add_served(small, server, "attempts: 1\nbreaker: 0\n")
    assert project.punchline("retry") == "nothing to retry: no answer of this selection failed\n"
    config = "models=[random,served] limit=6"
    server.script(key=KEY, fault="500")
    output = project.snakemake(TABLE, config=config)
    *_, served, tables, failed, advice = output.strip().splitlines()
    count = re.fullmatch(r"served: (\d+) failed", served)
    assert count is not None
    assert re.fullmatch(r"\d+ tables written: results/pixelhumor/\S+\.csv, .*, …", tables)
    assert failed.startswith(f"served: {count[1]} of {count[1]} answers failed: HTTP 500")
    assert advice == "To ask these again: punchline retry"
    assert re.search(r"^random: \d+ answered, \d+ not attempted$", output, re.MULTILINE)

    (project.path / "results/pixelhumor/scores/served.parquet").unlink()
    output = project.snakemake(TABLE, config=f"{config} strict=true", fails=True)
    assert last_line(output) == "error: answers failed, or a table has no scored item, and strict=true was asked for"
    server.script(key=KEY)
    output = project.punchline("retry")
    assert re.match(rf"Retrying {count[1]} failed answers", output) and "failed:" not in output
    assert re.search(r"^served: \d+ answered", output, re.MULTILINE) and "tables of pixelhumor" in output
    assert "nothing to retry" in project.punchline("retry")

    server.script(key=KEY, fault="500")
    assert f"{LEADERBOARD}: not one item is scored" in project.snakemake(LEADERBOARD, config=SERVED)
    assert "not one item is scored" in project.punchline("print", "humorbench/leaderboard")
