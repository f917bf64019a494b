"""What the rules ask: the selection, what a job reads, which jobs are not current, which targets there are.

Input functions mark jobs whose artefacts are not current as forced: no time stamp decides (graph.py, provenance.py).
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from snakemake.resources import Resources
from snakemake.settings.types import RerunTrigger

from punchline.config.cards import stems
from punchline.config.runs import changes_in_place, nothing_scored, run_of
from punchline.config.selection import named_run, read_selection, write_chosen
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError, did_you_mean, system_error
from punchline.paths import Paths
from punchline.project import preflight
from punchline.project.display import install
from punchline.project.graph import Graph
from punchline.project.needs import Project
from punchline.project.processes import (
    PICTURES,
    check_writable,
    end_with_parent,
    environment,
    pictures_mode,
    take_folder,
)
from punchline.project.resources import gpus, memory_mb, minutes
from punchline.project.summary import summary

CardOf = Callable[[Any], Any]  # of wildcards: a card, a recipe, or None


def fail(error: PunchlineError) -> NoReturn:
    """End with one message, last: Snakemake would put the place in its rules after it."""
    sys.exit(f"error: {error}")


class Snakefile:
    """The rules' view of a selection."""

    def __init__(self, workflow: Any, config: Mapping[str, Any]) -> None:
        self.workflow = workflow
        self.config = {key: value for key, value in config.items() if key != "pictures"}  # of the report only
        self.reasons: dict[tuple[str, ...], str] = {}  # why a job runs, by rule and wildcards
        install(workflow, self.reasons)
        try:
            check_writable()
            os.environ[PICTURES] = pictures_mode(config.get("pictures"))
            self.making = read_selection(self.config)
            self.selection = self.making.selection
            self.project = Project(self.selection, self.making.shards)
            self.project.scorers  # noqa: B018  (what is none is said here)
            self.graph = Graph(self.project)
        except PunchlineError as error:
            fail(error)
        self.tables: list[str] = []
        self.answers = False  # whether a job of the run asks or scores
        self.as_stored = workflow.modifier.path_modifier.apply_default_storage
        workflow.modifier.path_modifier.apply_default_storage = self.target

    # Jobs

    def needs(self, rule: str, **fixed: str) -> Callable[[Any], list[Any]]:
        """Input function of a rule; `fixed`: what names its job besides its wildcards."""
        from snakemake.io import ancient

        def files(wildcards: Any) -> list[Any]:
            self.prepare()
            try:
                job = self.graph.files(rule, {**wildcards, **fixed})
            except PunchlineError as error:
                fail(error)
            except OSError as error:
                fail(PunchlineError(system_error(error)))
            if job.stale and not self.workflow.remote_exec:
                self.workflow.dag.forcefiles.update(job.stale)
                name = "_".join([self.graph.rule_of(rule), *fixed.values()])
                self.reasons[(name, *map(str, wildcards))] = job.why
                return list(job.inputs)
            # A run has nothing to look for before such a job. Reports, and drawings of the graph, show it whole.
            if job.whole and self.workflow.execution_settings is not None and not self.workflow.remote_exec:
                return []
            return [ancient(path) for path in job.inputs]

        return files

    def takes(self, card: CardOf, runtime: CardOf | None = None) -> dict[str, Callable[..., Any]]:
        """Resources of a rule whose job asks by the card that `card` gives for its wildcards (None: nobody is asked).

        Minutes: as that card says, or what `runtime` gives, else as default-resources do, which of themselves reach no
        resource that a rule names.
        """
        default = Resources.from_mapping(self.workflow.resource_settings.default_resources or {}).get("runtime")

        def limit(wildcards: Any, input: Any, attempt: int, threads: int, rulename: str, async_run: Any) -> Any:
            said = minutes((runtime or card)(wildcards), attempt)
            if said is not None or default is None:
                return said
            about = {"input": input, "threads": threads, "rulename": rulename, "async_run": async_run}
            return default.evaluate(wildcards, attempt=attempt, **about).value

        return {
            "gpu": lambda wildcards: gpus(card(wildcards)),
            "mem_mb": lambda wildcards, attempt: memory_mb(card(wildcards), attempt),
            "runtime": limit,
        }

    def all_of(self, rule: str) -> Callable[[Any], list[str]]:
        """Input function: outputs of all jobs of a rule in this selection."""
        return lambda wildcards: self.graph.outputs(rule)

    @functools.cache  # noqa: B019  (there is one)
    def prepare(self) -> None:
        """Once, before the first job is looked at: what jobs inherit, and what somebody asks to make again."""
        workflow = self.workflow
        if workflow.remote_exec:  # on a node: which job it is, and why, was said where Snakemake runs
            environment(self.making, set())
            end_with_parent()
            return
        self.graph.again = {re.sub("^(judge|table)s?_.*", r"\1", name) for name in workflow.dag_settings.forcerun}
        if workflow.dag_settings.forceall:
            self.graph.again = {"all"}
        environment(self.making, self.graph.again)
        # Of Snakemake's own reasons to run a job, a missing file stays. The others judge by times and by what this
        # folder happens to remember; inputs of a current job are ancient, so that the one that must be left is still.
        workflow.dag_settings.rerun_triggers = frozenset([RerunTrigger.MTIME])
        for line in changes_in_place(self.selection):
            print(line, file=sys.stderr)
        settings = workflow.execution_settings
        if settings is not None and settings.lock and not workflow.dryrun:
            self.take_folder()

    def take_folder(self) -> None:
        """Hold the folder, and lift the lock of a run that was killed: its process no longer holds it."""
        try:
            if take_folder():
                for lock in Path(".snakemake/locks").glob("*.lock"):
                    lock.unlink(missing_ok=True)
        except PunchlineError as error:
            fail(error)

    def start(self) -> None:
        """Before the first job runs: what it needs is there; and what the run is made with is kept."""
        try:
            local = self.workflow.local_exec
            jobs = list(self.workflow.dag.needrun_jobs())
            if not self.workflow.touch:
                preflight.check(self.project, self.making.mirror, jobs, here=local)
            write_chosen(self.selection, {**named_run(self.config)[1], **self.config})
        except PunchlineError as error:
            fail(error)
        except OSError as error:
            fail(PunchlineError(system_error(error)))
        self.answers = any(job.rule.name in ("respond", "score") for job in jobs)
        made = (path for job in jobs if job.rule.name.startswith("tables_") for path in job.output)
        self.tables = [str(path) for path in made if path.endswith(".csv")]

    def done(self) -> None:
        """After the last job: what the run came to, and tables that say nothing. With `strict`, a failure is one."""
        red, plain = ("\x1b[31m", "\x1b[0m") if sys.stderr.isatty() else ("", "")
        lines = list(summary(self.project, self.tables)) if self.answers else []
        lines += [(True, f"{path}: not one item is scored") for path in self.tables if nothing_scored(path)]
        for is_bad, line in lines:
            print(f"{red}{line}{plain}" if is_bad else line, file=sys.stderr)
        if self.making.strict and any(is_bad for is_bad, _ in lines):
            fail(PunchlineError("answers failed, or a table has no scored item, and strict=true was asked for"))

    # Targets

    def target(self, path: Any) -> Any:
        """A path of the graph as Snakemake stores it; one of the command line's, in the run that is selected.

        results/table8.csv is the table in the selected run's folder. Ends with an error for a path that no rule makes.
        """
        settings = self.workflow.dag_settings
        if settings is None or path not in self.asked:  # None: rules are being read
            return self.as_stored(path)
        if (run := run_of(str(path))) and run != self.selection.run:
            fail(PunchlineError(f"{path} is of the run {run}", hint=f"Add --config run={run}"))
        name = self.graph.in_run(str(path))
        if not any(rule.is_producer(name) for rule in self.workflow.rules) and not Path(name).exists():
            fail(PunchlineError(f"no target {path!r}", hint=self.way_to(str(path))))
        return self.as_stored(name)

    @functools.cached_property
    def asked(self) -> set[str]:
        """What the command line names."""
        settings = self.workflow.dag_settings
        return {os.path.relpath(name) for name in (*settings.targets, *settings.forcerun)}

    def way_to(self, path: str) -> str:
        """What a target that there is not lacks, or is like."""
        selection = self.selection
        for benchmark in sorted(benchmarks.names(), key=lambda name: name not in selection.benchmarks):
            selected = benchmark in selection.benchmarks
            for name, table in benchmarks.load(benchmark).TABLES.items():
                if path in (
                    self.project.paths.table(table.file),
                    Paths().table(table.file),
                    name,
                    f"{benchmark}/{name}",
                ):
                    if selected:
                        return f"Name its file: {self.project.paths.table(table.file)}"
                    both = ",".join([*selection.benchmarks, benchmark])
                    return f"It is {benchmark}'s, which is not selected: add --config benchmarks=[{both}]"
            if not selected and (f"/{benchmark}/" in path or f"/{benchmark}." in path):
                return f"{benchmark} is not selected: add --config benchmarks=[{benchmark}]"
        model = Path(path).stem
        if model in stems("config/model") and model not in selection.models:
            return f"The model {model} is not selected: add --config models=[{','.join([*selection.models, model])}]"
        named = [rule.name for rule in self.workflow.rules]
        tables = [self.project.paths.table(f"{name}.csv") for name in self.graph.tables]
        return f"{did_you_mean(path, [*named, *tables])}`punchline tables` lists the tables"


def wildcard(names: Iterable[str]) -> str:
    """The constraint of a wildcard that is one of these names."""
    return "|".join(map(re.escape, names))
