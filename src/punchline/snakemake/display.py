"""Output of a run of Snakemake: one line per job, the lines of job logs as they come, errors last."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.logging import DefaultFormatter, logger
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent

from punchline.text import log_line

EVERY_S = 0.3
UNCHANGED = "unchanged"  # ends the message of a job that runs nothing
SHOWN = 10  # failed jobs
ERROR = "error: "
STOPPED = "stopped; what was fetched, answered and made is kept, and the same command goes on from there"
TERMINATED = "Terminating processes on user request"
# Said of every run, or again by the line of a job, or by the errors at the end.
LEFT_OUT = (
    "Using workflow specific profile",
    "Building DAG of jobs",
    "Using shell:",
    "host:",
    "Assuming unrestricted shared filesystem",
    "Select jobs to execute",
    "Execute ",
    "Reasons:",
    "RuleException:",
    "Cannot restore ",
    "Would remove temporary output",
    "Shutting down, this might take some time",
    "Exiting because a job execution failed",
    "At least one job did not complete successfully",
    "WorkflowError:\nAt least one job did not complete successfully",
    TERMINATED,
    "Cancelling snakemake on user request",
    "Complete log",
    "Elapsed time",
)
NOT_A_LINE = (
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RESOURCES_INFO,
    LogEvent.JOB_FINISHED,
    LogEvent.JOB_STARTED,
    LogEvent.PROGRESS,
    LogEvent.JOB_ERROR,
    LogEvent.GROUP_ERROR,
)


def job_name(record: logging.LogRecord) -> str:
    """A job in words: its rule's message, else its rule and wildcards."""
    fields: dict[str, Any] = record.__dict__
    return str(fields.get("rule_msg") or " ".join([fields["rule_name"], *map(str, dict(fields["wildcards"]).values())]))


class Lines(DefaultFormatter):  # type: ignore[misc]
    """A line a job, with its place among all; all of it, files and command, where shell commands are printed."""

    def __init__(self, settings: Any) -> None:
        super().__init__(settings.quiet, settings.show_failed_logs)
        self.whole = settings.printshellcmds
        self.dryrun = settings.dryrun
        self.total = self.begun = 0

    def format(self, record: logging.LogRecord) -> str:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO and (counts := getattr(record, "stats", None)):
            again, self.total = bool(self.total), counts["total"]
            jobs = ", ".join(f"{n} {rule}" for rule, n in counts.items() if rule != "total")
            return "" if again else f"{self.total} jobs: {jobs}"
        if event == LogEvent.JOB_INFO:
            if self.whole:
                return "\n".join(self._format_job_info(record.__dict__))
            self.begun += 1
            line = f"{self.begun}/{self.total} {job_name(record)}"
            return line if self.dryrun else f"{time.strftime('%H:%M:%S')} {line}"
        return str(super().format(record))


def worth_a_line(record: logging.LogRecord) -> bool:
    """True if a reader learns something from one of Snakemake's own lines."""
    event = getattr(record, "event", None)
    text = record.getMessage() if record.msg is not None else ""
    return event not in NOT_A_LINE and not text.startswith(LEFT_OUT)


class Display(logging.Handler):
    """Follows jobs: shows what their logs gain, and keeps which failed for the end."""

    def __init__(self, settings: Any) -> None:
        super().__init__()
        self.settings = settings
        self.loud = Quietness.ALL not in (settings.quiet or ())
        self.names: dict[int, tuple[str, list[Path]]] = {}  # of jobs: name, logs
        self.followed: dict[int, dict[Path, int]] = {}  # jobs at work: bytes of each log that were shown
        self.failed: dict[str, list[Path]] = {}
        self.stopped = False
        self.guard = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        event, fields = getattr(record, "event", None), record.__dict__
        if event == LogEvent.JOB_INFO:
            logs = [Path(name) for name in fields["log"]]
            self.names[fields["jobid"]] = (job_name(record), logs)
            if not self.settings.dryrun and not job_name(record).endswith(f": {UNCHANGED}"):
                for path in logs:  # of an earlier run: what follows is this one's
                    with suppress(PermissionError):  # the job says so
                        path.unlink(missing_ok=True)
                with self.guard:
                    self.followed[fields["jobid"]] = dict.fromkeys(logs, 0)
        elif event == LogEvent.JOB_FINISHED:
            self.follow(fields["job_id"])
            self.failed.pop(self.names.get(fields["job_id"], ("", []))[0], None)  # it was tried again
        elif event == LogEvent.JOB_ERROR and fields.get("jobid") in self.names:
            self.follow(fields["jobid"])
            name, logs = self.names[fields["jobid"]]
            self.failed[name] = logs
            if fields.get("rule_msg"):  # the cluster's message
                log_line(str(fields["rule_msg"]).strip())
        elif record.msg is not None and record.getMessage().startswith(TERMINATED):
            self.stopped = True

    def follow(self, ended: int | None = None) -> None:
        """Show the lines that logs of jobs at work have gained; of one that has ended, the last of them."""
        with self.guard:
            for job in [ended] if ended is not None else list(self.followed):
                for path, offset in self.followed.get(job, {}).items():
                    lines, offset = _gained(path, offset, whole=ended is None)
                    self.followed[job][path] = offset
                    for line in lines:
                        if not line.startswith(ERROR) and self.loud:
                            with suppress(OSError):  # nobody reads any more
                                log_line(line)
            if ended is not None:
                self.followed.pop(ended, None)

    def watch(self) -> None:
        """Follow until the process ends."""
        while True:
            time.sleep(EVERY_S)
            with suppress(OSError, ValueError):  # a closed terminal
                self.follow()

    def close_with_errors(self) -> None:
        """Print the errors of a run, or that it was stopped."""
        with suppress(OSError, ValueError):
            if self.stopped and not self.settings.dryrun:
                log_line(STOPPED)
                return
            for line in self.errors():
                log_line(line)

    def errors(self) -> Iterator[str]:
        """Failed jobs with their errors."""
        if len(self.failed) > SHOWN:
            yield f"{len(self.failed)} jobs failed, of which the last {SHOWN}:"
        for name, logs in list(self.failed.items())[-SHOWN:]:
            yield f"failed: {name}" + "".join(f" ({path})" for path in logs)
            yield ERROR + why(logs)


def why(logs: list[Path]) -> str:
    """A job's error, or the last line of its log."""
    lines: list[str] = []
    for path in logs:
        with suppress(OSError):
            lines += [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(ERROR)]
    if errors:
        return errors[-1].removeprefix(ERROR)
    if any(line.startswith("Traceback ") for line in lines):
        return lines[-1]
    if lines:
        return f"it ended without saying why, as when it is stopped from outside; its last words: {lines[-1]}"
    return "it was ended from outside and has said nothing; the system's own log may tell (out of memory?)"


def _gained(path: Path, offset: int, *, whole: bool) -> tuple[list[str], int]:
    """(lines, place) that a log has gained since `offset`; `whole`: without a line that is still being written."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            new = file.read()
    except OSError:
        return [], offset
    if whole:
        new = new[: new.rfind(b"\n") + 1]
    return new.decode("utf-8", "replace").splitlines(), offset + len(new)


def install(workflow: Any) -> None:
    """Show a run in this way, unless the user has chosen a logger, or it is one job on a node."""
    settings = workflow.output_settings
    if workflow.remote_exec or getattr(workflow, "subprocess_exec", False):
        return
    display = Display(settings)
    stream = next((handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"), None)
    if stream is not None:
        stream.setFormatter(Lines(settings))
        stream.addFilter(worth_a_line)
        _end_with_reader(stream)
    logger.addHandler(display)
    atexit.register(display.close_with_errors)
    if not settings.dryrun:
        threading.Thread(target=display.watch, daemon=True).start()


def _end_with_reader(stream: Any) -> None:
    """`| head` ends a run in good order and without a word."""
    emit = stream.emit

    def until_closed(record: logging.LogRecord) -> None:
        try:
            emit(record)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.stream.fileno())
            raise SystemExit(141) from None

    stream.emit = until_closed
