"""`import punchline`: tables, items, answers and grades of a run as pandas frames. docs/notebooks.md has every column.

It reads what a run has made and makes nothing. What is older than what it rests on is given with a warning.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd

from punchline.audit.compare import Comparison, compare_models
from punchline.audit.state import check_shown
from punchline.config.runs import find_root, made_with, making, table_named
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError, nearest
from punchline.files import Keyed, records_in
from punchline.paths import DEFAULT_RUN
from punchline.project.needs import Project
from punchline.read import thoughts
from punchline.report.items import prompt
from punchline.report.pictures import right_of_item, rights
from punchline.schema import RULES, Gold, Item, Request, Response, Rule, Score
from punchline.scores import read_scores
from punchline.stages.ask import asked
from punchline.workflow.provenance import Artifact, Status

P = ParamSpec("P")
T = TypeVar("T")

KEY = ("item_id", "task", "condition", "sample")


class Stale(UserWarning):
    """What was read is not what the run's selection, data and code give now."""


def _in_project(method: Callable[Concatenate[Run, P], T]) -> Callable[Concatenate[Run, P], T]:
    """Paths of a project begin at its root: be there as long as a method runs. Not for several threads at once."""

    @functools.wraps(method)
    def within(self: Run, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with contextlib.chdir(self.root):
            return method(self, *args, **kwargs)

    return within


class Run:
    """One run of a project. Raises PunchlineError for a folder that is none, and for a run that there is not."""

    def __init__(self, root: str | Path = ".", run: str = DEFAULT_RUN) -> None:
        if not isinstance(run, str):
            raise PunchlineError(f"a run has a name, got {run!r}", hint=f"Leave it out for run {DEFAULT_RUN}")
        self.root = find_root(Path(root).resolve())
        self.name = run
        with contextlib.chdir(self.root):
            made_with(run)

    def __repr__(self) -> str:
        project = self._project()
        models = f"{len(self.models)} model{'s' * (len(self.models) != 1)}"
        return f"run {self.name} of {self.root}: {', '.join(project.selection.benchmarks)}; {models}"

    @_in_project
    def _project(self) -> Project:
        return Project(made_with(self.name))  # anew: the run may have been made again since

    @property
    def benchmarks(self) -> list[str]:
        """The benchmarks of its selection."""
        return self._project().selection.benchmarks

    @property
    def models(self) -> list[str]:
        """The models of its selection."""
        return self._project().selection.models

    @property
    @_in_project
    def tables(self) -> list[str]:
        """The tables of its benchmarks that were made, as `table` takes them."""
        return [f"{b}/{t}" for b, t in (s.wildcards for s in self._project().tables()) if self._csv(b, t).is_file()]

    def _csv(self, benchmark: str, table: str) -> Path:
        return Path(self._project().paths.table(benchmarks.load(benchmark).TABLES[table].file))

    @_in_project
    def table(self, name: str) -> pd.DataFrame:
        """A table as its CSV has it, every digit: `table8`, `yesbut/table2`, or a path. `attrs["root"]`: its root."""
        benchmark, table = table_named(name, self.name)
        project, path = self._of(benchmark), self._csv(benchmark, table)
        if not path.is_file():
            raise PunchlineError(
                f"run {self.name} has no table {table} of {benchmark}",
                hint=f"Make it: snakemake --cores all {path}. There is: {', '.join(self.tables) or 'none yet'}",
            )
        _warn(project.table(benchmark, table))
        root = check_shown(path.as_posix()).root
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype={"model": str})
        frame.attrs |= {"benchmark": benchmark, "table": table, "root": root}
        return frame

    @_in_project
    def items(self, benchmark: str) -> pd.DataFrame:
        """A benchmark's items: id, source, pictures, what stands in its annotations, what is right."""
        project = self._of(benchmark)
        where = project.paths
        _there(where.items(benchmark), where.gold(benchmark), run=self.name)
        _warn(project.items(benchmark), project.gold(benchmark))
        known, golds = rights(project, benchmark), Keyed(where.gold(benchmark), Gold)
        rows = []
        for item in records_in(where.items(benchmark), Item):
            right = right_of_item(project, known, item)
            rows.append(
                {
                    "item_id": item.item_id,
                    "source": item.source,
                    "cluster": item.cluster,
                    "pictures": self._pictures(item),
                    "missing": item.missing,
                    "licence": right.licence or None,
                    "credit": right.credit or None,
                    **{f"field_{name}": value for name, value in item.fields.items()},
                    **{f"gold_{name}": value for name, value in golds[item.item_id].values.items()},
                }
            )
        return pd.DataFrame(rows)

    @_in_project
    def answers(self, model: str, benchmark: str) -> pd.DataFrame:
        """A model's answers to a benchmark, what it was asked, what was read of them, and how both rules grade them."""
        project = self._of(benchmark, model)
        where = project.paths
        _there(where.snapshot(benchmark, model), where.scores(benchmark, model), run=self.name)
        _warn(project.score(benchmark, model))
        items, golds = Keyed(where.items(benchmark), Item), Keyed(where.gold(benchmark), Gold)
        graded = _by_answer(read_scores(where.scores(benchmark, model)))
        rows = []
        for request, response in asked(project, benchmark, model):
            key = (request.item_id, request.task, request.condition, request.sample)
            grades = graded.get(key, {})
            rows.append(
                {
                    **dict(zip(KEY, key, strict=True)),
                    "question": prompt(request),
                    "gold": golds[request.item_id].values,
                    **_said(request, response),
                    "pictures": self._pictures(items[request.item_id]),
                    "reading": grades["paper"].parsed if "paper" in grades else None,
                    **{name: value for rule in RULES for name, value in _graded(rule, grades).items()},
                }
            )
        names = dict.fromkeys(name for row in rows for name in row)
        graded_by = {rule: [name for name in names if name.startswith(f"{rule}_")] for rule in RULES}
        own = [name for name in names if not any(name in of for of in graded_by.values())]
        return pd.DataFrame(rows, columns=[*own, *(name for of in graded_by.values() for name in of)])

    @_in_project
    def grades(self, model: str, benchmark: str, rule: Rule | None = None) -> pd.DataFrame:
        """A model's grades, a line an answer and rule, with a column for each value. `rule`: those under one only."""
        if rule is not None and rule not in RULES:
            raise PunchlineError(f"no rule {rule!r}", hint=nearest(rule, RULES))
        project = self._of(benchmark, model)
        path = project.paths.scores(benchmark, model)
        _there(path, run=self.name)
        _warn(project.score(benchmark, model))
        columns = (*KEY, "rule", "state", "scored", "truncated", "parsed", "judge", "signature", "digest")
        return pd.DataFrame(
            {name: getattr(grade, name) for name in columns} | grade.metrics
            for grade in read_scores(path)
            if rule in (None, grade.rule)
        )

    @_in_project
    def compare(self, a: str, b: str, table: str | None = None) -> pd.DataFrame:
        """Paired differences of two models, as `punchline compare` has them: in one table, else in each main table.

        `attrs["notes"]`: what was left out and why.
        """
        for model in (a, b):
            self._check(model, self.models, "model", "models")
        path = None if table is None else self._csv(*table_named(table, self.name)).as_posix()
        made, refused = compare_models((a, b), path, self.name)
        frame = pd.DataFrame(row for comparison in made for row in _differences(comparison))
        frame.attrs["notes"] = [note for comparison in made for note in comparison.notes] + refused
        return frame

    def _pictures(self, item: Item) -> list[str]:
        return [str(self.root / image.path) for image in item.images]

    def _of(self, benchmark: str, *models: str) -> Project:
        project = self._project()
        self._check(benchmark, project.selection.benchmarks, "benchmark", "benchmarks")
        for model in models:
            self._check(model, project.selection.models, "model", "models")
        return project

    def _check(self, name: str, selected: list[str], what: str, key: str) -> None:
        """Raises PunchlineError for what the run has not selected."""
        if name not in selected:
            hint = f"{nearest(name, selected)}. To have another one: snakemake --cores all --config {key}=[…]"
            raise PunchlineError(f"run {self.name} has no {what} {name!r}", hint=hint)


def _warn(*steps: Artifact) -> None:
    checks = Status()
    for step in steps:
        if (why := checks(step).reason) is not None:
            warnings.warn(f"{step.outputs[0]} is not current: {why}", Stale, stacklevel=4)


def _there(*files: str, run: str) -> None:
    """Raises PunchlineError for a file that was not made."""
    for file in files:
        if not Path(file).is_file():
            raise PunchlineError(f"not made yet in run {run}", file=file, hint=f"Make it: {making(run, file)}")


def _by_answer(grades: Iterable[Score]) -> Mapping[tuple[str, str, str, int], dict[str, Score]]:
    """Both rules' grades of each answer."""
    found: dict[tuple[str, str, str, int], dict[str, Score]] = {}
    for grade in grades:
        found.setdefault((grade.item_id, grade.task, grade.condition, grade.sample), {})[grade.rule] = grade
    return found


def _said(request: Request, response: Response) -> dict[str, Any]:
    """An answer, apart from the thoughts that it carries."""
    text = response.text
    own = thoughts.off(text).offset if text else 0
    return {
        "answer": text[own:] if text is not None else None,
        "thoughts": (text[:own] or None) if text is not None else None,
        "state": response.state,
        "reason": response.reason,
        "truncated": response.truncated,
        "prompt_tokens": response.usage.prompt,
        "completion_tokens": response.usage.completion,
        "reasoning_tokens": response.usage.reasoning,
        "latency_s": response.latency_s,
        "request_id": request.request_id,
    }


def _graded(rule: str, grades: Mapping[str, Score]) -> dict[str, Any]:
    """One rule's grade of an answer, each column named after the rule."""
    if rule not in grades:
        return {}
    grade = grades[rule]
    own = {"state": grade.state, "scored": grade.scored, "parsed": grade.parsed} | grade.metrics
    return {f"{rule}_{name}": value for name, value in own.items()}


def _differences(comparison: Comparison) -> Iterable[dict[str, Any]]:
    for one in comparison.differences:
        paired = one.paired
        yield {
            "benchmark": comparison.benchmark,
            "table": comparison.table,
            "rule": comparison.rule,
            "row": one.row,
            "column": one.column,
            "n_a": one.n[0],
            "n_b": one.n[1],
            "clusters": paired.clusters,
            "a": paired.a,
            "b": paired.b,
            "difference": paired.difference,
            "difference_lo": paired.low,
            "difference_hi": paired.high,
            "p": paired.p,
            "p_holm": one.p_holm,
            "effect": paired.effect,
            "detectable": paired.detectable,
        }
