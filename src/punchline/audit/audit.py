"""Audit: rebuild a table from released files and journals in an empty folder, and report what differs.

Only released files and journals are trusted: images, items, gold, requests, scores and the table itself are rebuilt
with the present code and compared with the files of the run.
"""

from __future__ import annotations

import contextlib
import functools
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from punchline import paths
from punchline.artifacts.lineage import Lineage, document, lineage_path, root_of, shown_cells
from punchline.artifacts.passes import CHAINED
from punchline.artifacts.project import Project
from punchline.artifacts.respondents import role_of, shown
from punchline.audit import sources
from punchline.audit.rebuild import Difference, in_order, kind_of, rebuild, same, scratch
from punchline.config.cards import read_card
from punchline.config.runs import making, run_of
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names
from punchline.errors import PunchlineError
from punchline.files import sha256_file
from punchline.paths import DEFAULT_RUN
from punchline.schema import Cell, ModelCard, digest_of
from punchline.tabulate.build import compute, rendered
from punchline.workflow import digests
from punchline.workflow.lineage import File, code_of, files_behind, libraries_of
from punchline.workflow.processes import at_work
from punchline.workflow.provenance import Artifact, read_provenance, with_dependencies


@dataclass(frozen=True)
class Finding:
    """One difference."""

    link: str  # kind of file, or what was checked
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.link}: {self.path}: {self.what}"


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

    def expect(self, path: str | Path, root: str | None) -> None:
        if root is not None and root != self.root:
            self.differs("root", path, f"computed {self.root}, expected {root}")


@digests.afresh()
def audit(table_path: str, *, expect: str | None = None, withheld: Mapping[str, str] | None = None) -> Audit:
    """Audit one table of results/, against a root if one is given.

    `withheld`: files that may be absent, each with why; an artifact that needs one is unchecked, and no difference.
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
    found.expect(path, expect)
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
    _rebuild(found, project, step, functools.partial(_table, project, lineage))
    with contextlib.suppress(PunchlineError, OSError):  # a damaged manifest or ledger has been reported above
        found.sources = sources.sources(project, lineage)
    own = File(path=path.as_posix(), role="lineage", sha256=sha256_file(path))
    found.files = [*lineage.files, own]
    return found


@digests.afresh()
def audit_overview(path: str, project: Project, expect: str | None = None) -> Audit:
    """Audit a file that has no lineage: costs, differences between the rules, ranks, unparsed answers, images.

    Raises PunchlineError for one that the selection has not or that was never made, and while a run is at work.
    """
    check_idle()
    names = project.selection.benchmarks
    steps = [project.overview(), *map(project.tables, names)]
    step = next((step for step in steps if path in step.outputs), None)
    if step is None or not Path(path).is_file():
        hint = f"Make it first: {making(project.selection.run, path)}"
        raise PunchlineError("no such overview", file=path, hint=hint)
    found = Audit(path)
    found.files = files_behind(step, required=False)
    content = [(file.path, file.role, file.content or file.sha256) for file in found.files]
    found.root = digest_of({"overview": path, "selection": project.selection, "files": content})
    found.expect(path, expect)
    behind = with_dependencies(step)
    found.code = [
        made.name for made in behind if (was := read_provenance(made)) and was.code_digest != made.code_digest
    ]

    def last(origin: Path) -> Iterator[tuple[str, str, str]]:
        yield from (("overview", at, what) for _, at, what in rebuild(project, step, origin) if at == path)

    _rebuild(found, project, step, last)
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
    """Compare the files that the table depends on now with those of the lineage."""
    now = {file.path: file for file in files_behind(project.table(lineage.benchmark, lineage.table), required=False)}
    then = {file.path: file for file in lineage.files}
    before = len(found.findings)
    absent = sum(path in found.withheld and not Path(path).is_file() for path in then)
    for path in sorted(now.keys() | then.keys()):
        if path not in then:
            found.differs(now[path].role, path, "the table depends on it, and the lineage does not name it")
        elif path in found.withheld and not Path(path).is_file():
            continue
        elif not Path(path).is_file():
            found.differs(then[path].role, path, "the file is gone")
        elif path not in now and absent:  # what names it is not here
            found.unchecked.append(f"what of {path} counts")
        elif path not in now:
            found.differs(then[path].role, path, "the lineage names it, and the table does not depend on it")
        else:
            ours, theirs = (file.content or file.sha256 for file in (now[path], then[path]))
            if ours != theirs:
                what = "what counts in it has" if then[path].content else "its sha256 is"
                found.differs(then[path].role, path, f"{what} {ours[:16]}…, the lineage has {theirs[:16]}…")
    if absent:
        found.unchecked.append(f"{absent:,} files may not be passed on and are not here: published.json says why")
    if len(found.findings) == before:
        found.links.append(f"{len(lineage.files) - absent:,} files have the content that the lineage names")


def _rebuild(found: Audit, project: Project, target: Artifact, last: Callable[[Path], Iterator[Difference]]) -> None:
    """Check the sources, rebuild all artifacts that `target` depends on, then `last`, each compared with the run's."""
    name = target.wildcards[0] if target.wildcards else ""
    for benchmark in [name] if name else project.selection.benchmarks:
        corpus = f"config/corpus/{project.selection.corpus.name}.yaml"
        _check(found, "corpus", corpus, functools.partial(sources.corpus, project, benchmark))
        if not project.selection.corpus.drawn:
            pinned = functools.partial(sources.published, project, benchmark, project.illustrated(benchmark))
            _check(found, "source", project.paths.raw(benchmark), pinned)
    if found.lineage is not None:
        for card, kind in _cards(found.lineage):
            _check(found, kind, card.file, functools.partial(_card, card, found.lineage, project))
    steps = [step for step in in_order(target) if step is not target]
    with contextlib.redirect_stderr(io.StringIO()), scratch(project, [*steps, target]) as origin:
        for step in steps:
            _check(
                found,
                kind_of(step, step.outputs[0]),
                step.outputs[0],
                functools.partial(rebuild, project, step, origin),
            )
        _check(found, kind_of(target, found.table), found.table, functools.partial(last, origin))


def _check(found: Audit, name: str, path: str, run: Callable[[], Iterator[str] | Iterator[Difference]]) -> None:
    """Note differences. An input that cannot be read is reported, and the audit goes on."""
    gone = [file for file in found.withheld if not Path(file).is_file()]
    differences: list[Difference] = []
    try:
        for one in run():
            differences.append(one if isinstance(one, tuple) else (name, path, one))
    except PunchlineError as error:
        differences.append((name, path, str(error)))
    except (OSError, KeyError, ValueError) as error:  # hostile or damaged bytes must not end the audit
        differences.append((name, path, f"cannot be read: {type(error).__name__}: {error}"))
    without = {file for file in gone for _, at, what in differences if file in what or file == at}
    if without:
        found.unchecked.append(f"{name}: {min(without)} is not here")
    for kind, at, what in differences:
        if not any(file in what or file == at for file in without):
            found.differs(kind, at, what)
    if not differences:
        found.links.append(f"{name}: {path}")


def _cards(lineage: Lineage) -> list[tuple[ModelCard, str]]:
    """Cards of models and judges, each with the name of its kind."""
    models = [(model.card, "model card") for model in lineage.models]
    hops = [hop for model in lineage.models for hop in model.hops if hop.hop != CHAINED]
    judges = {hop.card.file: (hop.card, f"{role_of(hop.hop)} card") for hop in (*hops, *lineage.compared) if hop.card}
    return [*models, *judges.values()]


def _card(card: ModelCard, lineage: Lineage, project: Project) -> Iterator[str]:
    prices = project.benchmark(lineage.benchmark).TABLES[lineage.table].prices
    yield from same([shown(read_card(card.name, card.folder), lineage.benchmark, prices)], [card], lambda c: c.name)


def _table(project: Project, lineage: Lineage, origin: Path) -> Iterator[Difference]:
    """Differences between the rebuilt cells and the lineage's, and between the table's files and their text."""
    name, table = lineage.benchmark, lineage.table
    made, models, compared = compute(project, name, [table])[table]
    path = project.paths.table(project.benchmark(name).TABLES[table].file)
    differing = [
        *same(models, lineage.models, lambda model: model.card.name),
        *same(compared, lineage.compared, lambda asked: asked.who),
        *same(
            made.cells, lineage.cells, lambda cell: f"{cell.row} {cell.column} {cell.filter.get('rule', '')}".strip()
        ),
    ]
    yield from (("table", path, what) for what in differing)
    for file, text in rendered(project, name, table, made).items():
        if (origin / file).is_file() and (origin / file).read_bytes() != text.encode():
            yield "table", file, "it is not what its cells give"


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
