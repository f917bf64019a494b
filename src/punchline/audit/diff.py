"""Differences between the tables of two runs, and their causes: selection, models, data, code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from punchline.artifacts.lineage import Lineage, shown_cells
from punchline.artifacts.project import Project
from punchline.audit.state import check_table
from punchline.audit.versions import changed_prompts
from punchline.config.runs import changes, selection_of
from punchline.errors import PunchlineError
from punchline.paths import Paths
from punchline.workflow.provenance import Artifact, read_provenance, with_dependencies

SOURCES = ("raw annotation", "image", "subset", "user's file", "published values", "released answers", "manifest")


class TableDiff(NamedTuple):
    """One table in two runs."""

    table: str
    cells: list[dict[str, Any]]  # row, column, a, b of the cells that differ; None where a run has no such cell
    same: int  # cells that are equal
    why: list[str]


def diff(a: str, b: str) -> list[TableDiff]:
    """Tables that both runs have. Raises PunchlineError where there is none."""
    pair = Project(selection_of(a)), Project(selection_of(b))
    tables = []
    shared = [name for name in pair[0].selection.benchmarks if name in pair[1].selection.benchmarks]
    for benchmark, spec in ((name, spec) for name in shared for spec in pair[0].benchmark(name).TABLES.values()):
        files = [project.paths.table(spec.file) for project in pair]
        if all(Path(file).is_file() for file in files):
            artifacts = [project.table(benchmark, spec.name) for project in pair]
            lineages = [check_table(file) for file in files]
            tables.append(_table(spec.file, [project.paths for project in pair], artifacts, lineages))
    if not tables:
        hint = "`punchline runs` lists runs; snakemake --config run=NAME makes one"
        raise PunchlineError(f"the runs {a} and {b} have no table in common", hint=hint)
    return tables


def _table(file: str, places: Sequence[Paths], artifacts: Sequence[Artifact], lineages: Sequence[Lineage]) -> TableDiff:
    a, b = ({(cell.row, cell.column): cell.value for cell in shown_cells(lineage)} for lineage in lineages)
    keys = list(dict.fromkeys([*a, *b]))
    differing = [
        {"row": key[0], "column": key[1], "a": a.get(key), "b": b.get(key)} for key in keys if a.get(key) != b.get(key)
    ]
    why = list(_why(places, artifacts, lineages)) if differing else []
    return TableDiff(file.removesuffix(".csv"), differing, len(keys) - len(differing), why)


def _why(places: Sequence[Paths], artifacts: Sequence[Artifact], lineages: Sequence[Lineage]) -> Iterator[str]:
    """Every difference in the dependencies of the two tables that could make cells differ."""
    a, b = lineages
    yield from (f"selection: {change}" for change in changes(a.selection, b.selection))
    ours, theirs = ({model.card.name: model for model in lineage.models} for lineage in lineages)
    for model in sorted(ours.keys() & theirs.keys()):
        if ours[model].key != theirs[model].key:
            yield f"model: {model} is asked otherwise (key {ours[model].key[:12]}… → {theirs[model].key[:12]}…)"
        elif ours[model].passes != theirs[model].passes:
            yield f"model: {model} is judged otherwise"
    before, after = ({f.path: f.content or f.sha256 for f in one.files if f.role in SOURCES} for one in lineages)
    for path in sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path)):
        yield f"data: {path} " + ("differs" if path in before and path in after else "counts in one of them only")
    yield from (f"prompt: {words}" for words in changed_prompts(*(where.requests(a.benchmark) for where in places)))
    codes = [_codes(step) for step in artifacts]
    for rule in sorted(codes[0].keys() & codes[1].keys()):
        if codes[0][rule] != codes[1][rule]:
            yield f"code: {rule} was made with other code or libraries"


def _codes(table: Artifact) -> dict[str, set[str]]:
    """{rule: code and libraries of its outputs} of a table's dependencies."""
    codes: dict[str, set[str]] = {}
    for artifact in with_dependencies(table):
        if (record := read_provenance(artifact.record)) is not None:
            codes.setdefault(artifact.rule, set()).add(f"{record.code_digest} {sorted(record.libraries.items())}")
    return codes
