"""`import punchline`: tables, items, answers and grades of a run as pandas frames. docs/notebooks.md has every column.

It reads the files of a run and builds nothing. Files that are not current are returned with a warning.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from punchline.artifacts.project import Project
from punchline.audit.compare import compare_models, differences_frame
from punchline.audit.state import check_table
from punchline.config.runs import find_root, making, run_of, runs, selection_of, table_named
from punchline.errors import PunchlineError, check_file, check_known
from punchline.files import Keyed
from punchline.paths import DEFAULT_RUN
from punchline.read import reasoning
from punchline.report.items import pick_fields, prompt
from punchline.report.pictures import items_with_rights
from punchline.requests import exchanges
from punchline.schema import RULES, Gold, Item, Response, Rule
from punchline.scores import read_scores
from punchline.workflow.provenance import Artifact, Status

KEY = ("item_id", "task", "condition", "sample")
GRADE = (*KEY, "rule", "state", "scored", "truncated", "parsed", "judge", "signature", "digest")


class Stale(UserWarning):
    """A file is not what the run's selection, data and code give now."""


class Run:
    """One run of a project. Raises PunchlineError for a folder that is none, and for a run that there is not."""

    def __init__(self, root: str | Path = ".", run: str = DEFAULT_RUN) -> None:
        self.root, self.name = find_root(Path(root).resolve()), run
        with contextlib.chdir(self.root):
            check_known(run, {DEFAULT_RUN, *runs()}, f"no run {run!r}")

    @contextlib.contextmanager
    def _project(self, *benchmarks: str, models: Sequence[str] = ()) -> Iterator[Project]:
        """The project, whose root is the working folder until the end of a call. Not for several threads at once.

        Raises PunchlineError for benchmarks and models that the run has not selected.
        """
        with contextlib.chdir(self.root):
            project = Project(selection_of(self.name))  # anew: the run may have been made again since
            selected = project.selection
            for name in benchmarks:
                check_known(name, selected.benchmarks, f"run {self.name} has no benchmark {name!r}")
            for name in models:
                check_known(name, selected.models, f"run {self.name} has no model {name!r}")
            yield project

    @property
    def benchmarks(self) -> list[str]:
        """The benchmarks of its selection."""
        with self._project() as project:
            return project.selection.benchmarks

    @property
    def models(self) -> list[str]:
        """The models of its selection."""
        with self._project() as project:
            return project.selection.models

    @property
    def tables(self) -> list[str]:
        """The tables of its benchmarks that were made, as `table` takes them."""
        with self._project() as project:
            made = (step for step in project.every_table() if Path(step.outputs[0]).is_file())
            return ["/".join(step.wildcards) for step in made]

    def table(self, name: str) -> pd.DataFrame:
        """A table as its CSV has it, every digit: `table8`, `yesbut/table2`, or a path. `attrs["root"]`: its root."""
        if run_of(name, self.name) != self.name:
            raise PunchlineError(f"{name} is of another run than {self.name}", hint="Give the table's name")
        with self._project():
            benchmark, table = table_named(name, self.name)
        with self._project(benchmark) as project:
            path = project.table(benchmark, table).outputs[0]
            self._check_built(project.tables(benchmark), path)
            root = check_table(path).root
            frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype={"model": str})
        frame.attrs |= {"benchmark": benchmark, "table": table, "root": root}
        return frame

    def items(self, benchmark: str) -> pd.DataFrame:
        """A benchmark's items: id, source, pictures, annotations, gold."""
        rows = []
        with self._project(benchmark) as project:
            self._check_built(project.items(benchmark))
            self._check_built(project.gold(benchmark))
            golds = Keyed(project.paths.gold(benchmark), Gold)
            for item, right in items_with_rights(project, benchmark):
                about = pick_fields(item, "item_id", "source", "cluster") | {"pictures": self._pictures(item)}
                about |= {"missing": item.missing, "licence": right.licence or None, "credit": right.credit or None}
                about |= {f"field_{name}": value for name, value in item.fields.items()}
                rows.append(about | {f"gold_{name}": value for name, value in golds[item.item_id].values.items()})
        return pd.DataFrame(rows)

    def answers(self, model: str, benchmark: str) -> pd.DataFrame:
        """A model's answers to a benchmark, with their prompts, parsed labels, and scores under both rules."""
        rows = []
        with self._project(benchmark, models=[model]) as project:
            where = project.paths
            self._check_built(project.answers(benchmark, "", model))
            self._check_built(project.score(benchmark, model))
            items, golds = Keyed(where.items(benchmark), Item), Keyed(where.gold(benchmark), Gold)
            for request, response in exchanges(project, benchmark, model):
                row = pick_fields(request, *KEY) | {"question": prompt(request), "gold": golds[request.item_id].values}
                row |= _answer(response) | {"pictures": self._pictures(items[request.item_id])}
                rows.append(row | {"reading": None})
            frame = pd.DataFrame(rows)
            for rule in RULES:
                scores = _scores(where.scores(benchmark, model), rule).set_index(list(KEY))
                scores = scores.drop(columns=["rule", "truncated", "judge", "signature", "digest"])
                frame = frame.join(scores.add_prefix(f"{rule}_"), on=list(KEY))
        return frame.assign(reading=frame["paper_parsed"].where(frame["paper_parsed"].notna(), None))

    def grades(self, model: str, benchmark: str, rule: Rule | None = None) -> pd.DataFrame:
        """A model's scores, a row per answer and rule, with a column for each metric. `rule`: only those under it."""
        check_known(rule or RULES[0], RULES, f"no rule {rule!r}")
        with self._project(benchmark, models=[model]) as project:
            self._check_built(project.score(benchmark, model))
            return _scores(project.paths.scores(benchmark, model), rule)

    def compare(self, a: str, b: str, table: str | None = None) -> pd.DataFrame:
        """Paired differences of two models, as `punchline compare` has them: in one table, else in each main table.

        `attrs["notes"]`: what was left out and why.
        """
        with self._project(models=[a, b]):
            named = None if table is None else table_named(table, self.name)
            comparisons, refused = compare_models((a, b), named, self.name)
        frame = differences_frame(comparisons)
        frame.attrs["notes"] = [note for comparison in comparisons for note in comparison.notes] + refused
        return frame

    def _pictures(self, item: Item) -> list[str]:
        return [str(self.root / image.path) for image in item.images]

    def _check_built(self, artifact: Artifact, file: str = "") -> None:
        """Warns of an artifact that is not current. Raises PunchlineError if its `file`, or the first, is missing."""
        file = file or artifact.outputs[0]
        check_file(file, f"not made yet in run {self.name}", hint=f"In a shell: {making(self.name, file)}")
        if (why := Status().of_all(artifact)) is not None:
            warnings.warn(f"{file} is not current: {why}", Stale, stacklevel=3)


def _scores(path: str, rule: Rule | None) -> pd.DataFrame:
    """Scores under one rule, or all, with a column for each metric that they have."""
    rows = [pick_fields(score, *GRADE) | score.metrics for score in read_scores(path) if rule in (None, score.rule)]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=GRADE)


def _answer(response: Response) -> dict[str, Any]:
    """The columns of an answer, its text apart from the reasoning in it."""
    text, usage = response.text, response.usage
    start = reasoning.remove(text).offset if text else 0
    answer = {"answer": text and text[start:], "thoughts": text[:start] if text and start else None}
    counts = {f"{kind}_tokens": getattr(usage, kind) for kind in ("prompt", "completion", "reasoning")}
    answer |= pick_fields(response, "state", "reason", "truncated") | counts
    return answer | pick_fields(response, "latency_s", "request_id")
