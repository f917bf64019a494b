"""Differences between the tables of two runs, and their causes: selection, models, data, code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from punchline.artifacts.lineage import Lineage, shown_cells
from punchline.artifacts.project import Project
from punchline.audit.state import check_shown
from punchline.audit.versions import asked_otherwise
from punchline.config.runs import changes, made_with
from punchline.errors import PunchlineError
from punchline.workflow.provenance import read_provenance, with_dependencies

SOURCES = ("raw annotation", "image", "subset", "user's file", "published values", "released answers", "manifest")


class TableDiff(NamedTuple):
    """One table in two runs."""

    table: str
    cells: list[dict[str, Any]]  # row, column, a, b of the cells that differ; None where a run has no such cell
    same: int  # cells that are equal
    why: list[str]


def diff(a: str, b: str) -> list[TableDiff]:
    """Tables that both runs have. Raises PunchlineError where there is none."""
    one, other = Project(made_with(a)), Project(made_with(b))
    found = []
    for benchmark in one.selection.benchmarks:
        if benchmark not in other.selection.benchmarks:
            continue
        for name, spec in one.benchmark(benchmark).TABLES.items():
            files = [project.paths.table(spec.file) for project in (one, other)]
            if all(Path(file).is_file() for file in files):
                lineages = [check_shown(file) for file in files]
                found.append(_table(spec.file, one, other, benchmark, name, *lineages))
    if not found:
        raise PunchlineError(
            f"the runs {a} and {b} have no table in common",
            hint="`punchline runs` lists runs; snakemake --config run=NAME makes one",
        )
    return found


def _table(file: str, one: Project, other: Project, benchmark: str, name: str, a: Lineage, b: Lineage) -> TableDiff:
    ours, theirs = ({(cell.row, cell.column): cell.value for cell in shown_cells(lineage)} for lineage in (a, b))
    keys = list(dict.fromkeys([*ours, *theirs]))
    differing = [
        {"row": key[0], "column": key[1], "a": ours.get(key), "b": theirs.get(key)}
        for key in keys
        if ours.get(key) != theirs.get(key)
    ]
    why = list(_why(one, other, benchmark, name, a, b)) if differing else []
    return TableDiff(file.removesuffix(".csv"), differing, len(keys) - len(differing), why)


def _why(one: Project, other: Project, benchmark: str, name: str, a: Lineage, b: Lineage) -> Iterator[str]:
    """Every difference in what the two tables rest on that could make cells differ."""
    for change in changes(a.selection, b.selection):
        yield f"selection: {change}"
    ours, theirs = ({model.card.name: model for model in lineage.models} for lineage in (a, b))
    for model in sorted(ours.keys() & theirs.keys()):
        if ours[model].key != theirs[model].key:
            yield f"model: {model} is asked otherwise (key {ours[model].key[:12]}… → {theirs[model].key[:12]}…)"
        elif ours[model].hops != theirs[model].hops:
            yield f"model: {model} is judged otherwise"
    before, after = ({file.path: file for file in lineage.files if file.role in SOURCES} for lineage in (a, b))
    for path in sorted(before.keys() | after.keys()):
        x, y = before.get(path), after.get(path)
        if x is None or y is None:
            yield f"data: {path} counts in one of them only"
        elif (x.content or x.sha256) != (y.content or y.sha256):
            yield f"data: {path} differs"
    if (otherwise := asked_otherwise(benchmark, one.paths, other.paths)) is not None:
        yield f"prompt: {otherwise}"
    codes = [_codes(project, benchmark, name) for project in (one, other)]
    for rule in sorted(codes[0].keys() & codes[1].keys()):
        if codes[0][rule] != codes[1][rule]:
            yield f"code: {rule} was made with other code or libraries"


def _codes(project: Project, benchmark: str, name: str) -> dict[str, Any]:
    """{rule: (code, libraries) of what it made} along a table's way."""
    found: dict[str, set[str]] = {}
    for step in with_dependencies(project.table(benchmark, name)):
        made = read_provenance(step)
        if made is not None:
            found.setdefault(step.rule, set()).add(f"{made.code_digest} {sorted(made.libraries.items())}")
    return found
