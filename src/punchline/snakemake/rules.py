"""The rules' view of a selection: inputs, commands and resources of jobs, by what is current (workflow/provenance.py).

No file time decides. An input function forces the job of an artifact that is not current, and returns only files that
may still change in this run; the command of a job is chosen when its turn comes, so that an unchanged one starts no
Python. `dag.forcefiles` is the one undocumented name of Snakemake that this uses (tests/e2e/test_reruns.py).
"""

from __future__ import annotations

import atexit
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil
from snakemake.resources import Resources
from snakemake.settings.types import RerunTrigger

from punchline import budget
from punchline.artifacts.passes import ALL
from punchline.artifacts.project import KINDS, Project
from punchline.config.resources import gpus, memory_mb, minutes
from punchline.config.runs import changes_in_place, nothing_scored, run_of
from punchline.config.selection import Execution, Selection, named_run, read_selection, write_chosen
from punchline.core.engine import check_files
from punchline.errors import PunchlineError, system_error
from punchline.files import write_bytes
from punchline.paths import LAST_RUN, Paths, demo
from punchline.schema import canonical
from punchline.snakemake import preflight
from punchline.snakemake.summary import summary
from punchline.start import STOPPED
from punchline.workflow.processes import (
    AGAIN,
    MIRROR,
    OWNER,
    PICTURES,
    PUBLIC,
    SELECTION,
    SHARDS,
    check_writable,
    end_with_parent,
    is_public,
    pictures_mode,
    take_folder,
)
from punchline.workflow.provenance import Status

CardOf = Callable[[Any], Any]  # of wildcards: a card, a recipe, or None
UNCHANGED = "unchanged"  # reason of a job that runs nothing
STRICT = "error: answers failed, or a table has no scored item, and strict=true was asked for"


@contextmanager
def in_one_message() -> Iterator[None]:
    """End with one message for an error, last: Snakemake would append its place in the rules."""
    try:
        yield
    except (PunchlineError, OSError) as error:
        sys.exit(f"error: {error if isinstance(error, PunchlineError) else system_error(error)}")


def environment(selection: Selection, making: Execution, again: set[str]) -> None:
    """Set in this process's environment what jobs inherit.

    PATH: jobs run with the interpreter that Snakemake runs with, activated or not.
    """
    here = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([here, *(p for p in os.environ["PATH"].split(os.pathsep) if p != here)])
    os.environ.update({SELECTION: canonical(selection).decode(), OWNER: str(os.getpid()), MIRROR: making.mirror or ""})
    os.environ.update({SHARDS: str(making.shards or ""), budget.MAX_COST: str(making.max_cost or "")})
    if again:
        os.environ[AGAIN] = ",".join(sorted(again))


def _print_last(lines: Iterable[str]) -> None:
    """Print lines when this process ends, below those of Snakemake."""
    atexit.register(lambda text: print(end=text, file=sys.stderr), "".join(f"{line}\n" for line in lines))


class Snakefile:
    """The rules' view of a selection."""

    @in_one_message()
    def __init__(self, workflow: Any, config: Mapping[str, Any]) -> None:
        self.workflow = workflow
        self.stopped = 0  # exit status after a signal
        if not workflow.remote_exec:
            signal.signal(signal.SIGINT, self.stop)
            signal.signal(signal.SIGTERM, self.stop)
        self.config = {key: value for key, value in config.items() if key not in ("pictures", "public")}  # the report's
        check_writable()
        os.environ[PICTURES] = pictures_mode(config.get("pictures"))
        os.environ[PUBLIC] = str(is_public(config.get("public")))
        self.selection, self.making = read_selection(self.config)
        for target in sys.argv[1:]:  # Snakemake would find nothing to do for a file of another run
            run = run_of(target)
            if target.startswith(f"{Paths().results}/") and run != self.selection.run:
                raise PunchlineError(f"{target} belongs to the run {run}", hint=f"Add --config run={run}")
        self.project = self.later = Project(self.selection, self.making.shards)
        for card in self.project.cards.values():
            check_files(card, self.project.engines[card.name], self.project.listed)
        for name in self.selection.benchmarks:
            if self.selection.corpus.drawn and not self.project.demo_files(name):
                raise PunchlineError(f"no demo data for {name}: use corpus=full", file=demo(name))
            self.project.tables(name)  # an error in what describes it is the rules' otherwise
        self.again: set[str] = set()  # kinds and files of which a rebuild is requested, or `all`
        self.reasons: dict[tuple[str, ...], str] = {}  # why a job runs, by rule and wildcards
        self.answers = False  # whether a job of the run asks or scores
        self.began = time.time()

    # Jobs

    def inputs(self, rule: str, *fixed: str) -> Callable[[Any], list[str]]:
        """Input function of a rule; `fixed`: values of its wildcards, if not in the paths of its outputs."""

        @in_one_message()
        def files(wildcards: Any) -> list[str]:
            _ = self.status
            if self.workflow.remote_exec:  # on a node: Snakemake on the other machine has chosen the job
                return []
            artifacts = self.project.built_by(rule, *(fixed or wildcards))
            whole = self.workflow.execution_settings is None  # a drawing of the graph, a report
            pending = [step for step in artifacts if whole or self.status.pending(step) is not None]
            makers = [need.artifact for step in pending for need in step.inputs if need.artifact is not None]
            if rule == "respond" and pending and wildcards.shard == ALL:
                shards = self.project.shards(wildcards.respondent)  # their number decides nothing
                makers += [self.project.shard(wildcards.respondent, shard) for shard in shards]
            if any(self.status(step) is not None for step in pending) and not whole:
                self.workflow.dag.forcefiles.update(step.job for step in pending)
            elif self.making.strict and not whole and not self.workflow.dryrun:
                # Snakemake calls `done` after a job only.
                self.workflow.dag.forcefiles.update(step.job for step in artifacts)
            jobs = {made.job: None for made in makers if whole or self.status.pending(made)}
            return [job for job in jobs if job != artifacts[0].job]

        return files

    @cached_property
    @in_one_message()
    def status(self) -> Status:
        """The status of artifacts before the run; the first use sets what jobs inherit from this process."""
        workflow = self.workflow
        self.again = set(filter(None, os.environ.get(AGAIN, "").split(",")))
        if workflow.remote_exec:
            environment(self.selection, self.making, self.again)
            end_with_parent()
            return Status(self.again)
        names = {re.sub("^tables_.*", "tables", name) for name in workflow.dag_settings.forcerun}
        self.again |= {kind for name in names for kind in KINDS.get(name, (name,))}
        self.again |= {"all"} if workflow.dag_settings.forceall else set()
        environment(self.selection, self.making, self.again)
        workflow.dag_settings.rerun_triggers = frozenset([RerunTrigger.MTIME])
        if preflight.ignores_address(self.project):
            print(preflight.IGNORED, file=sys.stderr)
        for line in changes_in_place(self.selection):
            print(line, file=sys.stderr)
        settings = workflow.execution_settings
        if settings is not None and not workflow.dryrun:
            write_bytes(LAST_RUN, self.selection.run.encode())
        if settings is not None and settings.lock and not workflow.dryrun and take_folder():
            for lock in Path(".snakemake/locks").glob("*.lock"):  # of a killed run
                lock.unlink(missing_ok=True)
        return Status(self.again)

    def params_of(self, rule: str, *fixed: str) -> dict[str, Callable[..., str]]:
        """Params of a rule. `run`: the command of a job whose inputs are there; `:` if its artifacts are current.

        `why`: the reason why a job runs, or may run.
        """

        @in_one_message()
        def run(wildcards: Any, threads: int) -> str:
            names = fixed or tuple(wildcards)
            reasons = filter(None, map(Status(self.again), self.later.built_by(rule, *names)))
            self.reasons[(rule, *names)] = reason = next(reasons, UNCHANGED).partition("; ")[0]
            if reason == UNCHANGED:
                return f": {UNCHANGED}"
            if not self.workflow.dryrun:  # what depends on this job's files is read again
                self.later = Project(self.selection, self.making.shards)
            log = f"{self.project.paths.logs}/{'/'.join((rule, *names))}.log"
            return f"python scripts/stage.py {' '.join((rule, *names))} --threads {threads} 2>&1 | tee -i {log} >&2"

        def why(wildcards: Any) -> str:
            names = fixed or tuple(wildcards)
            if not self.workflow.dryrun:
                return self.reasons.get((rule, *names), UNCHANGED)
            pending = filter(None, map(self.status.pending, self.project.built_by(rule, *names)))
            reason = max(pending, default="will run: asked for")  # "will" before "may"
            respondent = names[0] if rule == "respond" else None
            cannot = respondent and preflight.cannot_run(
                self.project.card_of(respondent), self.project.engine_of(respondent)
            )
            return f"{reason}; it cannot run here: {cannot}" if cannot else reason

        return {"run": run, "why": why}

    def resources_of(self, card: CardOf, runtime: CardOf | None = None) -> dict[str, Callable[..., Any]]:
        """Resources of a rule whose job asks by the card that `card` gives for its wildcards (None: nobody is asked).

        Minutes: those of the card, or of what `runtime` gives, else of default-resources, which Snakemake does not
        apply to a resource that a rule names.
        """
        default = Resources.from_mapping(self.workflow.resource_settings.default_resources or {}).get("runtime")

        def limit(wildcards: Any, input: Any, attempt: int, threads: int, rulename: str, async_run: Any) -> Any:
            minutes_of_card = minutes((runtime or card)(wildcards), attempt)
            if minutes_of_card is not None or default is None:
                return minutes_of_card
            about = {"input": input, "threads": threads, "rulename": rulename, "async_run": async_run}
            return default.evaluate(wildcards, attempt=attempt, **about).value

        return {
            "gpu": lambda wildcards: gpus(card(wildcards)),
            "mem_mb": lambda wildcards, attempt: memory_mb(card(wildcards), attempt),
            "runtime": limit,
        }

    def all_of(self, rule: str) -> Callable[[Any], list[str]]:
        """Input function: the files of all jobs of a rule in this selection."""
        return lambda wildcards: [self.project.built_by(rule, *names)[0].job for names in self.project.jobs(rule)]

    def page(self, path: str) -> dict[str, Any]:
        """Category, caption and labels of a CSV in Snakemake's own report."""
        stem = str(Path(path).with_suffix("")).removeprefix(f"{self.project.paths.results}/")
        if stem not in self.project.by_path:
            return {"category": "Overviews", "caption": f"../report/{Path(stem).name}.rst", "labels": {"table": stem}}
        benchmark, table = self.project.by_path[stem]
        labels = {"table": table, "title": self.project.benchmark(benchmark).TABLES[table].title}
        return {"category": benchmark, "caption": "../report/table.rst", "labels": labels}

    @in_one_message()
    def start(self) -> None:
        """Before the first job: check what the run needs, and record its selection."""
        if not self.workflow.remote_exec:  # Snakemake's own handler waits until the jobs have asked everything
            signal.signal(signal.SIGTERM, self.stop)
        jobs = list(self.workflow.dag.needrun_jobs())
        if self.making.max_cost and not self.workflow.remote_exec:
            for job in jobs:
                if job.rule.name == "respond":
                    budget.check(self.project.card_of(job.wildcards_dict["respondent"]))
            budget.reset()
        if not self.workflow.touch:
            preflight.check(self.project, self.making.mirror, jobs, here=self.workflow.local_exec)
        write_chosen(self.selection, {**named_run(self.config)[1], **self.config})
        self.answers = any(job.rule.name in ("respond", "score") for job in jobs)

    def done(self) -> None:
        """After the last job: a summary, and tables without a scored item, last.

        `strict`: of all answers and tables that were asked for, built now or before; status 1 if one is bad.
        """
        red, plain = ("\x1b[31m", "\x1b[0m") if sys.stderr.isatty() else ("", "")
        reasons = {names[0]: reason for (rule, *names), reason in self.reasons.items() if rule == "tables"}
        tables = [step for step in self.project.every_table() if step.wildcards[0] in reasons]
        built = [step.outputs[0] for step in tables if reasons[step.wildcards[0]] != UNCHANGED]
        looked_at = [step.outputs[0] for step in tables] if self.making.strict else built
        lines = list(summary(self.project, built)) if self.answers or self.making.strict else []
        lines += [(True, f"{path}: not one item is scored") for path in looked_at if nothing_scored(path)]
        strict = self.making.strict and any(is_bad for is_bad, _ in lines)
        lines += [(True, STRICT)] if strict else []
        _print_last(f"{red}{line}{plain}" if is_bad else line for is_bad, line in lines)
        if strict:
            sys.exit(1)

    def failed(self) -> None:
        """After a run that did not succeed: print the errors of its jobs, below Snakemake's last lines."""
        if self.stopped:
            sys.exit(self.stopped)
        logs = [path for path in Path(self.project.paths.logs).rglob("*.log") if path.stat().st_mtime >= self.began]
        lines = [line for path in logs for line in path.read_text("utf-8", "replace").splitlines()]
        _print_last(dict.fromkeys(line for line in lines if line.startswith("error: ")) or [STOPPED])

    def stop(self, number: int, frame: object) -> None:
        """Handle Ctrl-C and SIGTERM: end this process, with one line, as soon as its jobs have ended."""
        if self.stopped:
            return
        self.stopped = 128 + number
        _print_last([STOPPED])
        if number == signal.SIGTERM:  # a terminal sends Ctrl-C to jobs, too
            for job in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    job.send_signal(signal.SIGINT)
        sys.exit(self.stopped)


def wildcard(names: Iterable[str]) -> str:
    """The constraint of a wildcard that is one of these names."""
    return "|".join(map(re.escape, names))
