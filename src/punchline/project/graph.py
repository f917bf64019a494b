"""The artefacts of a selection as Snakemake sees them: what a rule's job reads and writes, and what is not current."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from punchline.core.engine import check_files
from punchline.paths import Paths
from punchline.project.hops import ALL
from punchline.project.needs import Project
from punchline.workflow.provenance import Artifact, Input, Status, dependencies, is_forced


@dataclass(frozen=True)
class Files:
    """What one job reads, and what it writes that is not current."""

    inputs: list[str]
    stale: list[str]
    why: str = ""  # it is not current
    whole: bool = False  # whether nothing that it rests on runs either


class Graph:
    """A project's steps, by rule and wildcards."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.again: set[str] = set()  # rules and files that somebody asks to make again, or `all`
        self.check = Status(lambda step: is_forced(step, self.again))
        self._whole: dict[Artifact, bool] = {}
        for card in project.cards.values():
            check_files(card, project.engines[card.name], project.listed)
        self.tables = {  # a table's path below the results, without its ending: (benchmark, table)
            spec.file.removesuffix(".csv"): (benchmark, name)
            for benchmark in project.selection.benchmarks
            for name, spec in project.benchmark(benchmark).TABLES.items()
        }

    def labels(self, table: str) -> dict[str, str]:
        """How Snakemake's report calls a table."""
        benchmark, name = self.tables[table]
        return {"table": name, "title": self.project.benchmark(benchmark).TABLES[name].title}

    def in_run(self, path: str) -> str:
        """A result of the default run, named as its own in the run that is selected; any other path as it is."""
        default, own = Paths().results, self.project.paths.results
        within = path.startswith(f"{default}/") and not path.startswith(f"{own}/")
        stem, dot, ending = path.removeprefix(f"{default}/").partition(".")
        where = self.project.paths
        others = [Path(file).name for file in (where.cost, where.discrepancies, where.metrics, where.plots)]
        if within and (stem in self.tables or stem + dot + ending in others):
            return f"{own}/{stem}{dot}{ending}"
        return path

    def steps(self, rule: str, wildcards: Mapping[str, str]) -> list[Artifact]:
        """What a job makes."""
        if rule == "figure":
            return [self.project.figure(*self.tables[wildcards["table"]])]
        return self.project.steps_of(rule, *(wildcards[name] for name in self.project.wildcards(rule)))

    def runs(self, step: Artifact) -> bool:
        """Whether the job that makes a step will run: for it, or for another step that it makes too."""
        if step.rule == "table":
            return any(self.check(one).reason is not None for one in self.project.tables_of(step.wildcards[0]))
        if step.rule == "respond" and step.job:
            served = self.project.steps_of("respond", self.project.respondent(*step.wildcards), ALL)
            return any(self.check(one).reason is not None for one in served)
        return self.check(step).reason is not None

    def whole(self, step: Artifact) -> bool:
        """Whether a step and all that lies before it are current."""
        if step not in self._whole:
            before = (need.step() for need in step.needs if need.step is not None and need.decides)
            self._whole[step] = self.check(step).reason is None and all(map(self.whole, before))
        return self._whole[step]

    def rule_of(self, rule: str) -> str:
        """Snakemake's name of a rule."""
        return {"raw": "fetch_annotations", "images": "fetch_images"}.get(rule, rule)

    def files(self, rule: str, wildcards: object) -> Files:
        """What a job reads and what of it is to be made. `wildcards`: of Snakemake."""
        names = dict(wildcards.items())  # type: ignore[attr-defined]
        inputs: dict[str, None] = {}
        stale: list[str] = []
        why = ""
        steps = self.steps(rule, names)
        for step in steps:
            reason = self.check(step).reason
            inputs |= {_file(need): None for need in step.needs if need.decides or reason is not None}
            if reason is not None:
                why = why or reason
                # Snakemake looks at no job after one that runs: it must see the way from there, past what is current.
                way = dependencies(step, past=lambda made: self.check(made).reason is None)
                made = [(need, need.step()) for need, _ in way if need.step is not None]
                inputs |= {_file(need): None for need, before in made if self.runs(before)}
                stale += [step.job] if step.job else step.outputs
        for step in steps:
            inputs.pop(step.job, None)  # its own
        return Files(list(inputs), stale, why, all(map(self.whole, steps)))

    def outputs(self, rule: str) -> list[str]:
        """Outputs of all of a rule's jobs in the selection."""
        project = self.project
        selection = project.selection
        if rule == "raw":
            return [project.raw(name).record for name in project.manifests]
        if rule in ("images", "availability"):
            return [
                getattr(project, rule)(name).outputs[0] for name in selection.benchmarks if project.illustrated(name)
            ]
        if rule in ("select_items", "items", "gold", "ask", "unread", "ranks"):
            return [getattr(project, rule)(name).outputs[0] for name in selection.benchmarks]
        if rule == "respond":
            return [project.paths.responded(name, ALL) for name in project.respondents]
        if rule == "tables":
            return [step.outputs[0] for step in project.tables()]
        if rule == "figures":
            tables = [(name, spec) for name in selection.benchmarks for spec in project.benchmark(name).TABLES.items()]
            return [project.figure(b, name).outputs[0] for b, (name, spec) in tables if spec.chart or spec.of_models]
        raise ValueError(rule)


def _file(need: Input) -> str:
    """What stands for a file in a rule's inputs: the file that a job is known by, where there is one."""
    made = need.step() if need.step is not None else None
    return made.job if made is not None and made.job else need.path
