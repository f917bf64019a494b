"""Audit: rebuild a table from released files and journals in an empty folder, and report what differs.

Only released files and journals are trusted: images, items, gold, requests, scores and the table itself are rebuilt
with the present code and compared with the files of the run.
"""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from punchline import paths
from punchline.artifacts.lineage import Lineage, document, lineage_path, root_of, shown_cells
from punchline.artifacts.passes import CHAINED
from punchline.artifacts.project import SHARED, Project
from punchline.artifacts.respondents import role_of, shown
from punchline.audit import sources
from punchline.audit.rebuild import Finding, kind_of, rebuild, same, scratch
from punchline.config.cards import read_card
from punchline.config.runs import making, run_of, selection_text
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names
from punchline.errors import PunchlineError
from punchline.files import sha256_file
from punchline.paths import DEFAULT_RUN
from punchline.schema import Cell, ModelCard, Record, digest_of
from punchline.tabulate.build import compute, rendered
from punchline.workflow import digests
from punchline.workflow.lineage import File, code_of, files_behind, libraries_of
from punchline.workflow.processes import at_work
from punchline.workflow.provenance import Artifact, read_provenance, with_dependencies

UNREADABLE = (PunchlineError, OSError, KeyError, ValueError, TypeError, AttributeError)  # of hostile or damaged bytes


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
    withheld: dict[str, str] = field(default_factory=dict)  # files that need not be there, and why: published.py
    unchecked: list[str] = field(default_factory=list)  # what could not be rebuilt without them

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
def audit(table_path: str, *, expect: str | None = None, withheld: Mapping[str, str] | None = None) -> Audit:
    """Audit one table of results/, against a root if one is given.

    `withheld`: files that may be absent, each with why; an artifact that needs one is unchecked, and no difference.
    Raises PunchlineError when there is no lineage to start from, and while a run is at work.
    """
    check_idle()
    path = lineage_path(table_path)
    if not path.is_file():
        made = making(run_of(table_path) or DEFAULT_RUN, table_path)
        raise PunchlineError("no lineage", file=path, hint=f"Make the table first: {made}")
    found = Audit(table_path, withheld=dict(withheld or {}))
    content = path.read_bytes()
    try:
        lineage = msgspec.json.decode(content, type=Lineage)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        found.differs("lineage", path, f"not a lineage any more: {error}")
        return found
    if document(lineage) != content:
        found.differs("lineage", path, "its content differs from its own sha256")
    found.lineage = lineage
    about = lineage.models, lineage.cells, lineage.files, lineage.compared
    found.root = root_of(lineage.benchmark, lineage.table, lineage.selection, *about)
    found.compare_root(path, lineage.root, "the lineage says")
    found.compare_root(path, expect, "expected")
    known = benchmarks.load(lineage.benchmark).TABLES if lineage.benchmark in benchmark_names() else {}
    where = paths.Paths(run=lineage.selection.run)
    if lineage.table not in known or Path(where.table(known[lineage.table].file)) != Path(table_path):
        found.differs("lineage", path, f"it is the lineage of {lineage.benchmark} {lineage.table}")
        return found
    project = Project(lineage.selection)
    project.cards = {model.card.name: model.card for model in lineage.models}
    step = project.table(lineage.benchmark, lineage.table)
    now, here = code_of(step), libraries_of(step)
    found.code = sorted(rule for rule in now.keys() | lineage.code.keys() if now.get(rule) != lineage.code.get(rule))
    changed = [(name, then) for name, then in (lineage.libraries or {}).items() if here.get(name) != then]
    found.libraries = [f"{name} {then}, here {here.get(name)}" for name, then in changed]
    _files(found, lineage, project)
    _rebuild(found, project, step, partial(_table, project, lineage))
    with contextlib.suppress(PunchlineError, OSError):  # a damaged manifest or ledger has been reported above
        found.sources = sources.sources(project, lineage)
    own = File(path=path.as_posix(), role="lineage", sha256=sha256_file(path))
    found.files = [*lineage.files, own]
    return found


@digests.afresh()
def audit_overview(path: str, project: Project, expect: str | None = None) -> Audit:
    """Audit a file that has no lineage: costs, differences between the rules, ranks, unparsed answers, validity.

    Raises PunchlineError for one that the selection has not or that was never made, and while a run is at work.
    """
    check_idle()
    names = project.selection.benchmarks
    steps = [project.overview(), *map(project.tables, names), *map(project.validity, names)]
    steps += [project.shared()] if SHARED else []
    step = next((step for step in steps if path in step.outputs), None)
    if step is None or not Path(path).is_file():
        hint = f"Make it first: {making(project.selection.run, path)}"
        raise PunchlineError("no such overview", file=path, hint=hint)
    found = Audit(path)
    found.files = files_behind(step, required=False)
    content = [(file.path, file.role, file.content or file.sha256) for file in found.files]
    found.root = digest_of({"overview": path, "selection": project.selection, "files": content})
    found.compare_root(path, expect, "expected")
    before = [(made, read_provenance(made)) for made in with_dependencies(step)]
    found.code = [made.name for made, was in before if was is not None and was.code_digest != made.code_digest]

    def last(origin: Path) -> Iterator[Finding]:
        return (Finding("overview", path, one.what) for one in rebuild(project, step, origin) if one.path == path)

    _rebuild(found, project, step, last)
    return found


def check_idle() -> None:
    """Raises PunchlineError while a run is at work in the folder."""
    if (run := at_work()) is not None:
        what = "what it rewrites would differ from what it wrote before"
        raise PunchlineError(f"a run is at work in this folder (process {run}): {what}", hint="Wait for its end")


def _files(found: Audit, lineage: Lineage, project: Project) -> None:
    """Compare the files that the table depends on now with those of the lineage."""
    now = {file.path: file for file in files_behind(project.table(lineage.benchmark, lineage.table), required=False)}
    then = {file.path: file for file in lineage.files}
    before = len(found.findings)
    absent = {path for path in then if path in found.withheld and not Path(path).is_file()}
    for path in sorted((now.keys() | then.keys()) - absent):
        ours, theirs = now.get(path), then.get(path)
        if theirs is None:
            found.differs(now[path].role, path, "the table depends on it, and the lineage does not name it")
        elif not Path(path).is_file():
            found.differs(theirs.role, path, "the file is gone")
        elif ours is None and absent:  # what names it is not here
            found.unchecked.append(f"what of {path} counts")
        elif ours is None:
            found.differs(theirs.role, path, "the lineage names it, and the table does not depend on it")
        elif (one := ours.content or ours.sha256) != (other := theirs.content or theirs.sha256):
            what = "what counts in it has" if theirs.content else "its sha256 is"
            found.differs(theirs.role, path, f"{what} {one[:16]}…, the lineage has {other[:16]}…")
    if absent:
        found.unchecked.append(f"{len(absent):,} files may not be shared and are not here: published.json says why")
    if len(found.findings) == before:
        found.links.append(f"{len(then) - len(absent):,} files have the content that the lineage names")


def _rebuild(found: Audit, project: Project, target: Artifact, last: Callable[[Path], Iterator[Finding]]) -> None:
    """Check the sources, rebuild all artifacts that `target` depends on, then `last`, each compared with the run's."""
    for benchmark in target.wildcards[:1] or project.selection.benchmarks:
        corpus = f"config/corpus/{project.selection.corpus.name}.yaml"
        _check(found, "corpus", corpus, partial(sources.corpus, project, benchmark))
        if not project.selection.corpus.drawn:
            _check(found, "source", project.paths.raw(benchmark), partial(sources.published, project, benchmark))
    if found.lineage is not None:
        for card, kind in _cards(found.lineage):
            _check(found, kind, card.file, partial(_card, card, found.lineage, project))
    steps = with_dependencies(target)
    with contextlib.redirect_stderr(io.StringIO()), scratch(project, steps) as origin:
        for step in steps:
            path = found.table if step is target else step.outputs[0]
            run = partial(last, origin) if step is target else partial(rebuild, project, step, origin)
            _check(found, kind_of(step, path), path, run)


def _check(found: Audit, link: str, path: str, run: Callable[[], Iterator[str] | Iterator[Finding]]) -> None:
    """Note differences. An input that cannot be read is reported, and the audit goes on."""
    findings: list[Finding] = []
    try:
        findings.extend(one if isinstance(one, Finding) else Finding(link, path, one) for one in run())
    except UNREADABLE as error:
        known = isinstance(error, PunchlineError)
        what = str(error) if known else f"cannot be read: {type(error).__name__}: {error}"
        findings.append(Finding(link, path, what))
    gone = [file for file in found.withheld if not Path(file).is_file()]
    without = {file for file in gone for one in findings if file in one.what or file == one.path}
    if without:
        found.unchecked.append(f"{link}: {min(without)} is not here")
    found.findings += [one for one in findings if not any(file in one.what or file == one.path for file in without)]
    if not findings:
        found.links.append(f"{link}: {path}")


def _cards(lineage: Lineage) -> list[tuple[ModelCard, str]]:
    """Cards of models and judges, each with the name of its kind."""
    models = [(model.card, "model card") for model in lineage.models]
    passes = [pass_ for model in lineage.models for pass_ in model.passes if pass_.pass_ != CHAINED]
    judges = [(pass_.card, f"{role_of(pass_.pass_)} card") for pass_ in (*passes, *lineage.compared) if pass_.card]
    return [*models, *{card.file: (card, kind) for card, kind in judges}.values()]


def _card(card: ModelCard, lineage: Lineage, project: Project) -> Iterator[str]:
    prices = project.benchmark(lineage.benchmark).TABLES[lineage.table].prices
    yield from _same([shown(read_card(card.name, card.folder), lineage.benchmark, prices)], [card])


def _same(made: Sequence[Record], stored: Sequence[Record]) -> Iterator[str]:
    return same(msgspec.to_builtins(made), msgspec.to_builtins(stored))


def _table(project: Project, lineage: Lineage, origin: Path) -> Iterator[Finding]:
    """Differences between the rebuilt cells and the lineage's, and between the table's files and their text."""
    name, table = lineage.benchmark, lineage.table
    made, models, compared = compute(project, name, [table])[table]
    path = project.paths.table(project.benchmark(name).TABLES[table].file)
    pairs = (models, lineage.models), (compared, lineage.compared), (made.cells, lineage.cells)
    yield from (Finding("table", path, what) for pair in pairs for what in _same(*pair))
    for file, text in rendered(project, name, table, made).items():
        if (origin / file).is_file() and (origin / file).read_bytes() != text.encode():
            yield Finding("table", file, "it is not what its cells give")


# ---------------------------------------------------------------------------------------------------------------------
# What a person reads


def cells_of(lineage: Lineage, row: str | None, column: str | None) -> list[Cell]:
    """Cells whose row is, or begins with, `row` and whose column is `column`. Raises PunchlineError for none."""
    chosen = [
        cell
        for cell in shown_cells(lineage)
        if row in (None, cell.row, cell.row.split("|")[0]) and column in (None, cell.column)
    ]
    if not chosen:
        file = next((one.path for one in lineage.files if one.role == "table"), lineage.table)
        rows, columns = (", ".join(sorted({getattr(c, name) for c in lineage.cells})) for name in ("row", "column"))
        published = paths.published(lineage.benchmark)
        hint = f"Rows: {rows}. Columns: {columns}. Published rows have no chain: see {published}"
        raise PunchlineError(f"no computed cell at row {row!r}, column {column!r}", file=file, hint=hint)
    return chosen


def as_text(found: Audit, cells: Sequence[Cell]) -> str:
    """The audit for a terminal."""
    lines: list[str] = []
    lineage = found.lineage
    if lineage is not None:
        for cell in cells:
            value = "empty" if cell.value is None else f"{cell.value:.6g}"
            states = "".join(f", {count} {state}" for state, count in sorted(cell.states.items()))
            interval = "" if cell.lo is None or cell.hi is None else f" [{cell.lo:.6g}, {cell.hi:.6g}]"
            lines.append(f"cell     {cell.row} · {cell.column} = {value}{interval}  (n {cell.n}{states})")
            chosen = ", ".join(f"{key} {value}" for key, value in cell.filter.items())
            lines.append(f"         grades {cell.grades[:16]}… chosen by {chosen}")
        lines.append(f"selected {selection_text(lineage.selection)}")
        for model in lineage.models:
            lines.append(f"model    {model.card.name}: key {model.key[:16]}…, {', '.join(model.versions)}")
        noted = lineage.noted
        dirty = " (with changes)" if noted.get("dirty") else ""
        lines.append(f"made     {noted.get('made_at')} at commit {str(noted.get('commit'))[:12]}{dirty}")
    if rests := Counter(file.role for file in found.files if file.role != "lineage"):
        lines.append("files    " + ", ".join(f"{count} {role}" for role, count in rests.items()))
    lines += [f"from     {source}" for source in found.sources]
    if found.code:
        lines.append(f"code     other code is at hand than what made it: {', '.join(found.code)}")
    if found.libraries:
        lines.append(f"code     other versions are at hand than what made it: {'; '.join(found.libraries)}")
    lines += [f"equal    {link}" for link in found.links]
    lines += [f"not rebuilt: {link}" for link in found.unchecked]
    lines += [f"DIFFERS  {finding}" for finding in found.findings]
    lines.append(f"root     {found.root}")
    partly = f", and {len(found.unchecked):,} parts could not be rebuilt here" if found.unchecked else ""
    lines.append(f"verdict  {found.verdict}{partly}")
    return "\n".join(lines)


def as_json(found: Audit, cells: Sequence[Cell]) -> dict[str, Any]:
    """The audit for a program: verdict, root, files (path, sha256, role), cells, findings, circumstances."""
    lineage, fields = found.lineage, ("table", "verdict", "root", "sources", "code", "libraries", "unchecked")
    return {
        **{name: getattr(found, name) for name in fields},
        "files": [{"path": file.path, "sha256": file.sha256, "role": file.role} for file in found.files],
        "cells": cells,
        "findings": found.findings,
        "models": lineage.models if lineage else [],
        "selection": lineage.selection if lineage else None,
        "noted": lineage.noted if lineage else None,
    }
