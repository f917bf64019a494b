"""What a run says: job lines, what logs gain, the last words of failed jobs; and jobs that end with their owner."""

import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from punchline.snakemake.display import STOPPED, Display, Lines, why, worth_a_line
from punchline.workflow.processes import OWNER

SETTINGS = SimpleNamespace(quiet=None, show_failed_logs=False, printshellcmds=False, dryrun=False)


def record(event: LogEvent | None, text: str = "", **said: Any) -> logging.LogRecord:
    result = logging.LogRecord("snakemake", logging.INFO, "", 0, text, (), None)
    result.__dict__.update(said | {"event": event})
    return result


def job(jobid: int, name: str, *logs: Path) -> logging.LogRecord:
    paths = [str(path) for path in logs]
    return record(LogEvent.JOB_INFO, jobid=jobid, rule_msg=name, rule_name="r", wildcards={"a": "x"}, log=paths)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("asking\nerror: config/x.yaml: no key. Set it\nstopped\n", "config/x.yaml: no key. Set it"),
        ("Traceback (most recent call last):\n  File\nValueError: seven\n\n", "ValueError: seven"),
        (
            "infer m on b: 17 of 72, about 17 s left\n",
            "it ended without saying why, as when it is stopped from outside; its last words: infer m on b: 17 of 72,"
            " about 17 s left",
        ),
        ("", "it was ended from outside and has said nothing; the system's own log may tell (out of memory?)"),
    ],
)
def test_why_a_job_failed(tmp_path: Path, log: str, said: str) -> None:
    (tmp_path / "a.log").write_text(log)
    assert why([tmp_path / "a.log"]) == said


def test_a_line_a_job() -> None:
    lines = Lines(SETTINGS)
    assert lines.format(record(LogEvent.RUN_INFO, "Job stats", stats={"r": 2, "total": 2})) == "2 jobs: 2 r"
    assert lines.format(job(1, "grades of m")).endswith(" 1/2 grades of m")
    dry = Lines(SimpleNamespace(**{**vars(SETTINGS), "dryrun": True}))
    assert dry.format(job(1, "grades of m")) == "1/0 grades of m"
    assert not worth_a_line(record(None, "Building DAG of jobs..."))
    assert worth_a_line(record(None, "Nothing to be done (all requested files are present and up to date)."))


def test_logs_are_followed_and_errors_come_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, display = tmp_path / "a.log", Display(SETTINGS)
    log.write_text("of an earlier run\n")
    display.emit(job(7, "answers of m", log))
    log.write_text("1 of 2\n2 o")
    display.follow()
    assert capsys.readouterr().err == "1 of 2\n"
    with log.open("a") as file:
        file.write("f 2\nerror: a: b\n")
    display.emit(record(LogEvent.JOB_ERROR, jobid=7))
    assert capsys.readouterr().err == "2 of 2\n"
    display.close_with_errors()
    assert capsys.readouterr().err == f"failed: answers of m ({log})\nerror: a: b\n"
    display.emit(record(None, "Terminating processes on user request, this might take some time."))
    display.close_with_errors()
    assert capsys.readouterr().err == f"{STOPPED}\n"


def test_a_job_ends_with_its_owner(root: Path) -> None:
    owner = subprocess.Popen(["sleep", "60"])
    code = "import time; from punchline.workflow.processes import end_with_owner; end_with_owner(); time.sleep(60)"
    environment = {OWNER: str(owner.pid), "PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin"}
    result = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
    with pytest.raises(subprocess.TimeoutExpired):
        result.wait(timeout=3)
    owner.kill()
    owner.wait()
    output = result.communicate(timeout=30)[1]
    assert result.returncode == -15 and output.startswith("stopped: the run that this job belongs to is gone")
