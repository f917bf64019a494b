"""The audit: walk a table back to the published bytes, make every link again, and say which one differs and how.

Nothing is believed but the published bytes and the journals: images, items, gold, requests, scores and the table
itself are made anew with the code at hand and compared with what lies on disk.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from punchline import paths
from punchline.audit import sources
from punchline.audit.again import Again
from punchline.audit.links import Link, answered_links, hop_links, same, source_links
from punchline.config.runs import making, run_of
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names
from punchline.errors import PunchlineError
from punchline.files import sha256_file
from punchline.paths import DEFAULT_RUN
from punchline.project.hops import DATA
from punchline.project.lineage import Lineage, document, lineage_path, root_of, shown_cells
from punchline.project.needs import Project
from punchline.project.processes import at_work
from punchline.schema import Cell
from punchline.stages.tabulate import compute, rendered
from punchline.workflow import digests
from punchline.workflow.lineage import File, code_of, files_behind, libraries_of


@dataclass(frozen=True)
class Finding:
    """One link that differs."""

    link: str  # which step of the way of the data
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.link}: {self.path}: {self.what}"


@dataclass
class Audit:
    """What an audit found."""

    table: str
    root: str = ""
    lineage: Lineage | None = None
    files: list[File] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    links: list[str] = field(default_factory=list)  # what was made again and found equal, in words
    code: list[str] = field(default_factory=list)  # rules whose code is another now than what made the table
    libraries: list[str] = field(default_factory=list)  # of which another version is installed than what made it
    sources: list[str] = field(default_factory=list)  # where the published bytes come from
    withheld: dict[str, str] = field(default_factory=dict)  # files that need not be there, and why: published.py
    unchecked: list[str] = field(default_factory=list)  # links that could not be made again without them

    @property
    def verdict(self) -> str:
        """equal | differs."""
        return "differs" if self.findings else "equal"

    def differs(self, link: str, path: str | Path, what: str) -> None:
        self.findings.append(Finding(link, str(path), what))


@digests.afresh()
def audit(table_path: str, *, expect: str | None = None, withheld: Mapping[str, str] | None = None) -> Audit:
    """Audit one table of results/, against a root if one is given.

    `withheld`: files that may be absent, each with why; a link that needs one is unchecked, and no difference.
    Raises PunchlineError when there is no lineage to start from, and while a run is at work.
    """
    check_idle()
    path = lineage_path(table_path)
    if not path.is_file():
        raise PunchlineError(
            "no lineage",
            file=path,
            hint=f"Make the table first: {making(run_of(table_path) or DEFAULT_RUN, table_path)}",
        )
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
    if found.root != lineage.root:
        found.differs("root", path, f"computed {found.root}, the lineage says {lineage.root}")
    if expect is not None and expect != found.root:
        found.differs("root", path, f"computed {found.root}, expected {expect}")
    known = benchmarks.load(lineage.benchmark).TABLES if lineage.benchmark in benchmark_names() else {}
    where = paths.Paths(run=lineage.selection.run)
    if lineage.table not in known or Path(where.table(known[lineage.table].file)) != Path(table_path):
        found.differs("lineage", path, f"it is the lineage of {lineage.benchmark} {lineage.table}")
        return found
    project = project_of(lineage)
    step = project.table(lineage.benchmark, lineage.table)
    now, here = code_of(step), libraries_of(step)
    found.code = [rule for rule in sorted(now.keys() | lineage.code.keys()) if now.get(rule) != lineage.code.get(rule)]
    found.libraries = [
        f"{name} {version}, here {here.get(name)}"
        for name, version in (lineage.libraries or {}).items()
        if here.get(name) != version
    ]
    _files(found, lineage, project)
    _links(found, lineage, project)
    with contextlib.suppress(PunchlineError, OSError):  # a damaged manifest or ledger has been reported above
        found.sources = sources.sources(project, lineage)
    own = File(path=path.as_posix(), role="lineage", sha256=sha256_file(path))
    found.files = [*lineage.files, own]
    return found


def check_idle() -> None:
    """Raises PunchlineError while a run is at work in the folder."""
    if (run := at_work()) is not None:
        raise PunchlineError(
            f"a run is at work in this folder (process {run}): what it rewrites would differ from what it wrote before",
            hint="Wait for its end",
        )


def project_of(lineage: Lineage) -> Project:
    """The project in the selection of a lineage, with the cards that it names."""
    project = Project(lineage.selection)
    project.cards = {model.card.name: model.card for model in lineage.models}
    return project


def _files(found: Audit, lineage: Lineage, project: Project) -> None:
    """The files that the table rests on, found again, are those that the lineage names, with the same content."""
    now = {file.path: file for file in files_behind(project.table(lineage.benchmark, lineage.table), required=False)}
    then = {file.path: file for file in lineage.files}
    before = len(found.findings)
    absent = sum(path in found.withheld and not Path(path).is_file() for path in then)
    for path in sorted(now.keys() | then.keys()):
        if path not in then:
            found.differs(now[path].role, path, "the table rests on it, and the lineage does not name it")
        elif path in found.withheld and not Path(path).is_file():
            continue
        elif not Path(path).is_file():
            found.differs(then[path].role, path, "the file is gone")
        elif path not in now and absent:  # what names it is not here
            found.unchecked.append(f"what of {path} counts")
        elif path not in now:
            found.differs(then[path].role, path, "the lineage names it, and the table does not rest on it")
        else:
            ours, theirs = (file.content or file.sha256 for file in (now[path], then[path]))
            if ours != theirs:
                what = "what counts in it has" if then[path].content else "its sha256 is"
                found.differs(then[path].role, path, f"{what} {ours[:16]}…, the lineage has {theirs[:16]}…")
    if absent:
        found.unchecked.append(f"{absent:,} files may not be passed on and are not here: published.json says why")
    if len(found.findings) == before:
        found.links.append(f"{len(lineage.files) - absent:,} files have the content that the lineage names")


def linker(found: Audit) -> Link:
    """Notes what differs in a link. One whose input cannot be read is reported, and the walk goes on where it can."""
    gone = [file for file in found.withheld if not Path(file).is_file()]

    def link(name: str, path: str, run: Callable[[], Iterator[str]], good: str) -> None:
        try:
            differences = list(run())
        except PunchlineError as error:
            differences = [str(error)]
        except (OSError, KeyError, ValueError) as error:  # hostile or damaged bytes must not end the audit
            differences = [f"cannot be read: {type(error).__name__}: {error}"]
        without = {file for file in gone for what in differences if file in what}
        if without:
            found.unchecked.append(f"{good}: {min(without)} is not here")
        for what in differences:
            if not any(file in what for file in without):
                found.differs(name, path, what)
        if not differences:
            found.links.append(good)

    return link


def _links(found: Audit, lineage: Lineage, project: Project) -> None:
    """Make every link again."""
    name, link = lineage.benchmark, linker(found)
    spec = project.benchmark(name).TABLES[lineage.table]
    source_links(link, project, name, pictures=spec.of_models and project.illustrated(name))
    by_name = {model.card.name: model for model in lineage.models}
    again = Again(project, name, by_name, lineage.table, compared=lineage.compared)
    if spec.compared is not None:
        for hop in again.hops(DATA).values():
            hop_links(link, again, DATA, hop, True)
    if spec.of_models:
        answered_links(link, again, lineage)
    good = f"{len(lineage.cells):,} cells, computed again"
    link("table", project.paths.table(spec.file), lambda: _table(again, lineage), good)


def _table(again: Again, lineage: Lineage) -> Iterator[str]:
    """Cells from the journal and the raw bytes, against the lineage's; the table's files against their text."""
    made, models, compared = compute(again.project, again.name, [lineage.table], again)[lineage.table]
    yield from same(models, lineage.models, lambda model: model.card.name)
    yield from same(compared, lineage.compared, lambda asked: asked.who)
    yield from same(
        made.cells, lineage.cells, lambda cell: f"{cell.row} {cell.column} {cell.filter.get('rule', '')}".strip()
    )
    for path, text in rendered(again.project, again.name, lineage.table, made).items():
        if Path(path).is_file() and Path(path).read_bytes() != text.encode():
            yield f"{path} is not what its cells give"


# ---------------------------------------------------------------------------------------------------------------------
# What a person reads


def cells_of(lineage: Lineage, row: str | None, column: str | None) -> list[Cell]:
    """Cells whose row is, or begins with, `row` and whose column is `column`. Raises PunchlineError for none."""
    chosen = [
        cell
        for cell in shown_cells(lineage)
        if (row is None or cell.row == row or cell.row.split("|")[0] == row)
        and (column is None or cell.column == column)
    ]
    if not chosen:
        rows, columns = sorted({c.row for c in lineage.cells}), sorted({c.column for c in lineage.cells})
        raise PunchlineError(
            f"no computed cell at row {row!r}, column {column!r}",
            file=next((one.path for one in lineage.files if one.role == "table"), lineage.table),
            hint=f"Rows: {', '.join(rows)}. Columns: {', '.join(columns)}. Published rows have no chain: see "
            f"config/published/{lineage.benchmark}.csv",
        )
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
            lines.append(f"         grades {cell.grades[:16]}… chosen by {_filter(cell.filter)}")
        lines.append(f"selected {_selection(lineage)}")
        for model in lineage.models:
            lines.append(f"model    {model.card.name}: key {model.key[:16]}…, {', '.join(model.versions)}")
        noted = lineage.noted
        dirty = " (with changes)" if noted.get("dirty") else ""
        lines.append(f"made     {noted.get('made_at')} at commit {str(noted.get('commit'))[:12]}{dirty}")
    if rests := Counter(file.role for file in found.files if file.role != "lineage"):
        lines.append("rests on " + ", ".join(f"{count} {role}" for role, count in rests.items()))
    lines += [f"from     {source}" for source in found.sources]
    if found.code:
        lines.append(f"code     other code is at hand than what made it: {', '.join(found.code)}")
    if found.libraries:
        lines.append(f"code     other versions are at hand than what made it: {'; '.join(found.libraries)}")
    lines += [f"equal    {link}" for link in found.links]
    lines += [f"not made again: {link}" for link in found.unchecked]
    lines += [f"DIFFERS  {finding}" for finding in found.findings]
    lines.append(f"root     {found.root}")
    partly = f", and {len(found.unchecked):,} links could not be made again here" if found.unchecked else ""
    lines.append(f"verdict  {found.verdict}{partly}")
    return "\n".join(lines)


def _filter(chosen: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in chosen.items())


def _selection(lineage: Lineage) -> str:
    chosen = lineage.selection
    parts = [
        f"corpus {chosen.corpus.name}",
        f"seed {chosen.seed}",
        f"scoring {chosen.scoring or 'as each table has it'}",
    ]
    if chosen.subset:
        parts.append(f"subset {chosen.subset}")
    if chosen.limit:
        parts.append(f"limit {chosen.limit}")
    return ", ".join(parts)


def as_json(found: Audit, cells: Sequence[Cell]) -> dict[str, Any]:
    """The audit for a program: verdict, root, files (path, sha256, role), cells, findings, circumstances."""
    return {
        "table": found.table,
        "verdict": found.verdict,
        "root": found.root,
        "sources": found.sources,
        "code": found.code,
        "libraries": found.libraries,
        "unchecked": found.unchecked,
        "files": [{"path": file.path, "sha256": file.sha256, "role": file.role} for file in found.files],
        "cells": [msgspec.to_builtins(cell) for cell in cells],
        "findings": [{"link": f.link, "path": f.path, "what": f.what} for f in found.findings],
        "models": [msgspec.to_builtins(model) for model in found.lineage.models] if found.lineage else [],
        "selection": msgspec.to_builtins(found.lineage.selection) if found.lineage else None,
        "noted": found.lineage.noted if found.lineage else None,
    }
