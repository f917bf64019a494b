"""Audit: rebuild a table from released files and journals in an empty folder, and report what differs.

Only released files and journals are trusted: images, items, gold, requests, scores and the table itself are rebuilt
with the present code and compared with the files of the run.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.lineage import Lineage, document, lineage_path, read_lineage, root_of, shown_cells
from punchline.artifacts.project import Project
from punchline.audit import sources
from punchline.audit.rebuild import Finding, as_recorded, kind_of, rebuild, scratch
from punchline.audit.state import again
from punchline.config.runs import selection_text
from punchline.core import benchmark as benchmarks
from punchline.core.pages import templates
from punchline.errors import PunchlineError, check_file
from punchline.files import sha256_file
from punchline.schema import Cell, digest_of
from punchline.workflow import digests
from punchline.workflow.lineage import File, code_of, files_behind, libraries_of
from punchline.workflow.processes import at_work
from punchline.workflow.provenance import Artifact, read_provenance, with_dependencies

UNREADABLE = (OSError, KeyError, ValueError, TypeError, AttributeError)  # of hostile or damaged bytes


@dataclass
class Audit:
    """Result of an audit."""

    table: str
    root: str = ""
    lineage: Lineage | None = None
    files: list[File] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    links: list[str] = field(default_factory=list)  # what was rebuilt or checked and is equal
    code: list[str] = field(default_factory=list)  # kinds of artifact whose code has changed since the build
    libraries: list[str] = field(default_factory=list)  # packages with another version than at the build
    sources: list[str] = field(default_factory=list)  # where the published bytes come from
    recorded: list[str] = field(default_factory=list)  # journals whose answers are taken as they are

    def __post_init__(self) -> None:
        if (run := at_work()) is not None:
            what = "what it rewrites would differ from what it wrote before"
            raise PunchlineError(f"a run is at work in this folder (process {run}): {what}", hint="Wait for its end")

    @property
    def verdict(self) -> str:
        """equal | differs."""
        return "differs" if self.findings else "equal"

    def differs(self, link: str, path: str | Path, what: str) -> None:
        self.findings.append(Finding(link, str(path), what))

    def compare_root(self, path: str | Path, root: str | None, where: str) -> None:
        if root is not None and root != self.root:
            self.differs("root", path, f"computed {self.root}, {where} {root}")


@digests.afresh()
def audit(table_path: str, *, expect: str | None = None) -> Audit:
    """Audit one table of results/, against a root if one is given.

    Raises PunchlineError when there is no lineage to start from, and while a run is at work.
    """
    path = lineage_path(table_path)
    check_file(path, "no lineage", hint=again(table_path))
    lineage = read_lineage(path)
    report = Audit(table_path, lineage=lineage)
    if document(lineage) != path.read_bytes():
        report.differs("lineage", path, "its content differs from its own sha256")
    report.root = root_of(lineage)
    report.compare_root(path, lineage.root, "the lineage says")
    report.compare_root(path, expect, "expected")
    report.files = [*lineage.files, File(path=path.as_posix(), role="lineage", sha256=sha256_file(path))]
    project = Project(lineage.selection)
    known = benchmarks.load(lineage.benchmark).TABLES if lineage.benchmark in benchmarks.folders() else {}
    if lineage.table not in known or project.paths.table(known[lineage.table].file) != table_path:
        raise PunchlineError(f"it is the lineage of {lineage.benchmark} {lineage.table}", file=path)
    try:
        artifact = project.table(lineage.benchmark, lineage.table)
        now, here = code_of(artifact), libraries_of(artifact)
    except PunchlineError as error:  # of a card, or of a file that a card names
        report.differs("selection", path, str(error))
        return report
    report.code = sorted(rule for rule in now.keys() | lineage.code.keys() if now.get(rule) != lineage.code.get(rule))
    report.libraries = _other_versions(lineage.libraries or {}, here)
    _compare_files(report, lineage.files, files_behind(artifact))
    _rebuild(report, project, artifact)
    with contextlib.suppress(PunchlineError, OSError):  # a damaged manifest or fetch log has been reported above
        report.sources = sources.sources(project, lineage)
    return report


@digests.afresh()
def audit_overview(path: str, project: Project, expect: str | None = None) -> Audit:
    """Audit a file that has no lineage: costs, differences between the rules, ranks, unparsed answers, validity.

    Raises PunchlineError for one that the selection has not or that was never made, and while a run is at work.
    """
    report, names = Audit(path), project.selection.benchmarks
    of_each = [make(name) for make in (project.tables, project.validity, project.shortcuts) for name in names]
    artifacts = (project.overview(), project.shared(), *of_each)
    artifact = next((step for step in artifacts if path in step.outputs), None)
    if artifact is None or not Path(path).is_file():
        raise PunchlineError("no such overview", file=path, hint=again(path))
    report.files = files_behind(artifact)
    content = [(file.path, file.role, file.content or file.sha256) for file in report.files]
    report.root = digest_of({"overview": path, "selection": project.selection, "files": content})
    report.compare_root(path, expect, "expected")
    before = [(made, read_provenance(made.record)) for made in with_dependencies(artifact)]
    report.code = [made.name for made, was in before if was is not None and was.code != made.parts]
    then = {name: version for _, was in before if was is not None for name, version in was.libraries.items()}
    report.libraries = _other_versions(then, libraries_of(artifact))
    _rebuild(report, project, artifact)
    return report


def _other_versions(then: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """Packages that have another version here than at the build."""
    return [f"{name} {version}, here {here.get(name)}" for name, version in then.items() if here.get(name) != version]


def _compare_files(report: Audit, lineage: Sequence[File], present: Sequence[File]) -> None:
    """Compare the files that a lineage names with those that the table depends on now."""
    then, now = ({file.path: file.content or file.sha256 for file in of} for of in (lineage, present))
    roles = {file.path: file.role for file in (*present, *lineage)}
    differing = [path for path in sorted(roles) if now.get(path) != then.get(path)]
    for path in differing:
        ours = now.get(path, "the table does not depend on it") or "no such file"
        theirs = then.get(path, "the lineage does not name it")
        changed = roles[path] == "table" and now.get(path) and path in then  # its cells are compared, too
        report.differs(roles[path], path, "it was changed since" if changed else f"now {ours}, then {theirs}")
    if not differing:
        report.links.append(f"{len(then):,} files have the content that the lineage names")


def _rebuild(report: Audit, project: Project, target: Artifact) -> None:
    """Check the sources, rebuild all artifacts that `target` depends on, then it, each compared with the run's."""
    for benchmark in target.wildcards[:1] or project.selection.benchmarks:
        corpus = f"config/corpus/{project.selection.corpus.name}.yaml"
        _check(report, "corpus", corpus, sources.corpus(project, benchmark))
        if not project.selection.corpus.drawn:
            _check(report, "source", project.paths.raw(benchmark), sources.published(project, benchmark))
    artifacts = with_dependencies(target)
    with contextlib.redirect_stderr(io.StringIO()), scratch(project, artifacts) as origin:
        for artifact in artifacts:
            overview = report.table if artifact is target and report.lineage is None else ""
            path = overview or artifact.outputs[0]
            link = "overview" if overview else kind_of(artifact, path)
            _check(report, link, path, rebuild(project, artifact, origin, overview))
            report.recorded += as_recorded(project, artifact)


def _check(report: Audit, link: str, path: str, run: Iterable[str | Finding]) -> None:
    """Note differences. An input that cannot be read is reported, and the audit goes on."""
    before = len(report.findings)
    try:
        report.findings.extend(one if isinstance(one, Finding) else Finding(link, path, one) for one in run)
    except PunchlineError as error:
        report.differs(link, path, str(error))
    except UNREADABLE as error:
        report.differs(link, path, f"cannot be read: {type(error).__name__}: {error}")
    if len(report.findings) == before:
        report.links.append(f"{link}: {path}")


def cells_of(lineage: Lineage, row: str | None, column: str | None) -> list[Cell]:
    """Cells whose row is, or begins with, `row` and whose column is `column`. Raises PunchlineError for none."""
    chosen = [cell for cell in shown_cells(lineage) if row in (None, cell.row, cell.row.split("|")[0])]
    chosen = [cell for cell in chosen if column in (None, cell.column)]
    if not chosen:
        rows, columns = (", ".join(sorted({getattr(c, name) for c in lineage.cells})) for name in ("row", "column"))
        hint = f"Rows: {rows}. Columns: {columns}. Published rows: {paths.published(lineage.benchmark)}"
        raise PunchlineError(f"no computed cell at row {row!r}, column {column!r}", hint=hint)
    return chosen


def as_text(report: Audit, cells: Sequence[Cell]) -> str:
    """The audit for a terminal."""
    lineage = report.lineage
    selected = selection_text(lineage.selection) if lineage else ""
    template = templates(Path(__file__).parent / "templates").get_template("audit.txt")
    return template.render(report=report, cells=cells, lineage=lineage, selected=selected)


def as_json(report: Audit, cells: Sequence[Cell]) -> dict[str, Any]:
    """The audit for a program: verdict, root, files (path, sha256, role), cells, findings, circumstances."""
    names = ("table", "verdict", "root", "sources", "code", "libraries", "recorded", "findings")
    files = [{"path": file.path, "sha256": file.sha256, "role": file.role} for file in report.files]
    of_lineage: dict[str, Any] = {"models": [], "selection": None, "noted": None}
    of_lineage = {name: getattr(report.lineage, name, default) for name, default in of_lineage.items()}
    return {name: getattr(report, name) for name in names} | {"files": files, "cells": cells} | of_lineage
