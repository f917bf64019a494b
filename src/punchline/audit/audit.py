"""The audit: walk a table back to the published bytes, make every link again, and say which one differs and how.

Nothing is believed but the published bytes and the journals: images, items, gold, requests, grades, cells and the table
itself are made anew with the code at hand and compared with what lies on disk.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from punchline.audit import attest, sources
from punchline.audit.again import Again
from punchline.comics import number
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError
from punchline.core.records import (
    Cell,
    Gold,
    Grade,
    Item,
    LedgerEntry,
    ModelCard,
    Pictures,
    Record,
    Request,
    Response,
    digest_of_all,
)
from punchline.core.storage import read_records, read_table, sha256_file
from punchline.core.threads import threads
from punchline.project import paths
from punchline.project.asking import role_of, shown
from punchline.project.hops import CHAINED, DATA, Hop
from punchline.project.lineage import File, Lineage, document, files_of, lineage_path, root_of
from punchline.project.needs import Project
from punchline.project.processes import at_work
from punchline.project.selection import read_card
from punchline.stages import prepare
from punchline.stages.cells import read_cells
from punchline.stages.pictures import make_pictures
from punchline.stages.prepare import raw_files, selected_text
from punchline.stages.tabulate import compute, rendered

R = TypeVar("R", bound=Record)

SHOWN = 3  # names of records that differ alike


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
    sources: list[str] = field(default_factory=list)  # where the published bytes come from

    @property
    def verdict(self) -> str:
        """equal | differs."""
        return "differs" if self.findings else "equal"

    def differs(self, link: str, path: str | Path, what: str) -> None:
        self.findings.append(Finding(link, str(path), what))


def audit(table_path: str, *, expect: str | None = None, attestation: str | None = None) -> Audit:
    """Audit one table of results/, against a root and a statement (attest.py) if they are given.

    Raises PunchlineError when there is no lineage to start from, and while a run is at work.
    """
    if (run := at_work()) is not None:
        raise PunchlineError(
            f"a run is at work in this folder (process {run}): what it rewrites would differ from what it wrote before",
            way_out="Wait for its end",
        )
    path = lineage_path(table_path)
    if not path.is_file():
        raise PunchlineError(
            "no lineage", file=path, way_out=f"Make the table first: snakemake --cores all {table_path}"
        )
    found = Audit(table_path)
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
    if attestation is not None:
        others = list(attest.differences(attest.read_statement(attestation), lineage))
        for what in others:
            found.differs("attestation", attestation, what)
        if not others:
            found.links.append(
                f"what {attestation} states; whose signature it bears is for the tool to say that made it"
            )
    known = benchmarks.load(lineage.benchmark).TABLES if lineage.benchmark in benchmark_names() else {}
    where = paths.Paths(run=lineage.selection.run)
    if lineage.table not in known or Path(where.table(known[lineage.table].file)) != Path(table_path):
        found.differs("lineage", path, f"it is the lineage of {lineage.benchmark} {lineage.table}")
        return found
    project = project_of(lineage)
    _files(found, lineage, project)
    _links(found, lineage, project)
    with contextlib.suppress(PunchlineError, OSError):  # a damaged manifest or ledger has been reported above
        found.sources = sources.sources(project, lineage)
    own = File(path=path.as_posix(), role="lineage", sha256=sha256_file(path))
    found.files = [*lineage.files, own]
    return found


def project_of(lineage: Lineage) -> Project:
    """The project in the selection of a lineage, with the cards that it names."""
    project = Project(lineage.selection)
    project.cards = {model.card.name: model.card for model in lineage.models}
    return project


def _files(found: Audit, lineage: Lineage, project: Project) -> None:
    """The files that the table rests on, found again, are those that the lineage names, with the same content."""
    now = {file.path: file for file in files_of(project, lineage.benchmark, lineage.table, there=False)}
    then = {file.path: file for file in lineage.files}
    before = len(found.findings)
    for path in sorted(now.keys() | then.keys()):
        if path not in then:
            found.differs(now[path].role, path, "the table rests on it, and the lineage does not name it")
        elif not Path(path).is_file():
            found.differs(then[path].role, path, "the file is gone")
        elif path not in now:
            found.differs(then[path].role, path, "the lineage names it, and the table does not rest on it")
        else:
            ours, theirs = (file.content or file.sha256 for file in (now[path], then[path]))
            if ours != theirs:
                what = "what counts in it has" if then[path].content else "its sha256 is"
                found.differs(then[path].role, path, f"{what} {ours[:16]}…, the lineage has {theirs[:16]}…")
    if len(found.findings) == before:
        found.links.append(f"{len(lineage.files):,} files have the content that the lineage names")


def _links(found: Audit, lineage: Lineage, project: Project) -> None:
    """Make every link again. A link whose input cannot be read is reported, and the walk goes on where it can."""
    name = lineage.benchmark
    spec, where = project.benchmark(name).TABLES[lineage.table], project.paths
    cards = [model.card for model in lineage.models]

    def step(link: str, path: str, run: Callable[[], Iterator[str]], good: str) -> None:
        try:
            differences = list(run())
        except PunchlineError as error:
            differences = [str(error)]
        except (OSError, KeyError, ValueError) as error:  # hostile or damaged bytes must not end the audit
            differences = [f"cannot be read: {type(error).__name__}: {error}"]
        for what in differences:
            found.differs(link, path, what)
        if not differences:
            found.links.append(good)

    has_images = spec.graded and project.illustrated(name)
    corpus = project.selection.corpus
    step("corpus", f"config/corpus/{corpus.name}.yaml", lambda: sources.corpus(project), f"corpus {corpus.name}")
    if corpus.drawn:
        step("source", where.raw(name), lambda: sources.drawn(project, name), "the demo corpus, drawn again")
    else:
        good = "published files have the sha256 of their manifests"
        step("source", where.raw(name), lambda: sources.published(project, name, has_images), good)
    by_name = {model.card.name: model for model in lineage.models}
    again = Again(project, name, by_name, lineage.compared, lineage.table)
    if spec.compared is not None:
        for hop in again.hops(DATA).values():
            _hop_links(step, again, DATA, hop)
    if spec.graded:
        good = "the selection, from the released list"
        step("selected items", where.selected(name), lambda: _selected(project, name), good)
        if has_images:
            good = "pictures that models see, made again"
            step("picture", where.index(name), lambda: _images(project, name), good)
        step("items", where.items(name), lambda: _items(project, name), "items, made again from raw files")
        step("gold", where.gold(name), lambda: _gold(project, name), "gold, made again from raw files")
        step("requests", where.requests(name), lambda: _requests(again), "requests, rendered again from items")
        recorded = {file.path: file.content for file in lineage.files}
        for card in cards:
            _model_links(step, again, card, recorded.get(paths.journal(name, card.name)))
    good = f"{len(lineage.cells):,} cells, computed again"
    step("table", where.table(spec.file), lambda: _table(again, lineage), good)


def _model_links(
    step: Callable[[str, str, Callable[[], Iterator[str]], str], None],
    again: Again,
    card: ModelCard,
    recorded: str | None,
) -> None:
    name, where, benchmark = card.name, again.project.paths, again.name
    priced = again.benchmark.TABLES[again.table].prices
    step("model card", card.file, lambda: _card(card, benchmark, priced), f"card of {name}")
    journal = paths.journal(benchmark, name)
    step("journal", journal, lambda: _journal(again, name, recorded), f"answers of {name} in its journal")
    if sources.released(again.project.engines[name]):
        good = f"answers of {name}, read again from what was released"
        step("released answers", journal, lambda: sources.replayed(again, name), good)
    snapshot = where.snapshot(benchmark, name)
    step("snapshot", snapshot, lambda: _snapshot(again, name), f"snapshot of {name}, from its journal")
    for hop in again.hops(name).values():
        _hop_links(step, again, name, hop)
    good = f"grades of {name}, graded again from its journal"
    step("grades", where.grades(benchmark, name), lambda: _grades(again, name), good)
    good = f"cells of {name}, computed again from those grades"
    step("cells", where.cells(benchmark, name), lambda: _cells(again, name), good)


def _hop_links(
    step: Callable[[str, str, Callable[[], Iterator[str]], str], None], again: Again, name: str, hop: Hop
) -> None:
    where, called = again.project.paths, role_of(hop.name)
    if hop.card is not None and hop.name != CHAINED:
        step(f"{called} card", hop.card.file, lambda: _hop_card(again, name, hop.name), f"card of {hop.card.name}")
    about = "of" if hop.name == CHAINED else "about"
    of = "the data" if name == DATA else "its answers"
    good = f"what {hop.who} was asked {about} {name} ({hop.name}), rendered again from {of}"
    stored = where.hop_requests(again.name, hop.name, name)
    step(f"{called} requests", stored, lambda: _hop_requests(again, name, hop.name), good)
    good = f"answers of {hop.who} on {name} ({hop.name}), from their journal"
    stored = where.hop_snapshot(again.name, hop.name, name)
    step(f"{called} snapshot", stored, lambda: _hop_answers(again, name, hop.name), good)


def _same(made: Sequence[R], stored: Sequence[R], name: Callable[[R], str]) -> Iterator[str]:
    """Differences between what was made again and what is stored: records that differ in the same fields in one."""
    if len(made) != len(stored):
        yield f"{len(stored):,} records stored, {len(made):,} made again"
    alike: dict[tuple[str, ...], list[int]] = {}
    for at, (ours, theirs) in enumerate(zip(made, stored, strict=False)):
        if ours != theirs:
            fields = tuple(f for f in ours.__struct_fields__ if getattr(ours, f) != getattr(theirs, f))
            alike.setdefault(fields, []).append(at)
    for fields, (first, *others) in alike.items():
        text = (
            f"{name(stored[first])}: made again {_brief(made[first], fields)}, stored {_brief(stored[first], fields)}"
        )
        some = ", ".join(name(stored[at]) for at in others[:SHOWN]) + (", …" if len(others) > SHOWN else "")
        yield text + (f"; {len(others):,} more differ in {', '.join(fields)}: {some}" if others else "")


def _brief(record: Record, fields: Sequence[str]) -> str:
    text = repr({name: getattr(record, name) for name in fields})
    return text if len(text) <= 160 else text[:157] + "…"


def _card(card: ModelCard, benchmark: str, prices: bool) -> Iterator[str]:
    now = shown(read_card(card.name, card.folder), benchmark, prices)
    yield from _same([now], [card], lambda c: c.name)


def _selected(project: Project, benchmark: str) -> Iterator[str]:
    made = selected_text(prepare.selection(project, benchmark)).encode()
    if made != Path(project.paths.selected(benchmark)).read_bytes():
        yield "the selection, made again, differs"


def _images(project: Project, benchmark: str) -> Iterator[str]:
    """Every picture, made again from the published image."""
    loaded = project.benchmark(benchmark)
    files = raw_files(project, benchmark, loaded.ITEM_FILES)
    stored = {made.item_id: made for made in read_records(project.paths.index(benchmark), Pictures)}
    entries = [entry for entry in prepare.ledger(project, benchmark) if entry.state == "ok"]
    if {entry.item_id for entry in entries} != set(stored):
        yield "the index does not hold the images that the ledger has"
    versions = {str(one["opencv"]) for made in stored.values() for one in made.derivations if "opencv" in one}
    if other := versions - {str(number.derivation()["opencv"])}:
        yield f"drawn with OpenCV {', '.join(other)}, here is {number.derivation()['opencv']}: install that version"
        return
    folder = project.paths.pictures(benchmark)

    def check(entry: LedgerEntry) -> list[str]:
        if entry.item_id not in stored:
            return []
        try:
            made, contents = make_pictures(loaded, entry, files, folder)
        except PunchlineError as error:
            return [str(error)]
        differences = list(_same([made], [stored[entry.item_id]], lambda m: m.item_id))
        if made.source_sha256 != entry.sha256:
            differences.append(f"{entry.item_id}: {entry.path} is not the image that the ledger recorded")
        for path, content in contents.items():
            if Path(path).is_file() and Path(path).read_bytes() != content:
                differences.append(f"{entry.item_id}: {path} is not what making it again gives")
        return differences

    with ThreadPoolExecutor(threads()) as pool:
        for differences in pool.map(check, entries):
            yield from differences


def _items(project: Project, benchmark: str) -> Iterator[str]:
    stored = read_records(project.paths.items(benchmark), Item)
    yield from _same(prepare.items(project, benchmark), stored, lambda item: item.item_id)


def _gold(project: Project, benchmark: str) -> Iterator[str]:
    stored = read_records(project.paths.gold(benchmark), Gold)
    yield from _same(prepare.golds(project, benchmark), stored, lambda gold: gold.item_id)


def _requests(again: Again) -> Iterator[str]:
    stored = read_table(again.project.paths.requests(again.name), Request)
    yield from _same(again.requests, stored, lambda request: f"{request.item_id} {request.task}")


def _journal(again: Again, model: str, recorded: str | None) -> Iterator[str]:
    if digest_of_all(answer.digest for answer in again.answers(model)) != recorded:
        yield "its answers are not those that the lineage names"


def _snapshot(again: Again, model: str) -> Iterator[str]:
    stored = read_table(again.project.paths.snapshot(again.name, model), Response)
    yield from _same(again.answers(model), stored, lambda r: f"request {r.request_id[:16]}")


def _hop_card(again: Again, model: str, name: str) -> Iterator[str]:
    recorded = again.recorded(model, name).card
    if recorded is not None:
        yield from _card(recorded, again.name, again.benchmark.TABLES[again.table].prices)


def _hop_requests(again: Again, model: str, name: str) -> Iterator[str]:
    stored = read_table(again.project.paths.hop_requests(again.name, name, model), Request)
    yield from _same(again.hop(model, name)[0], stored, lambda r: f"{r.item_id} {r.task}")


def _hop_answers(again: Again, model: str, name: str) -> Iterator[str]:
    stored = read_table(again.project.paths.hop_snapshot(again.name, name, model), Response)
    yield from _same(again.hop(model, name)[1], stored, lambda r: f"request {r.request_id[:16]}")


def _grades(again: Again, model: str) -> Iterator[str]:
    stored = read_table(again.project.paths.grades(again.name, model), Grade)
    yield from _same(again.grades(model), stored, lambda g: f"{g.item_id} {g.task} {g.rule}")


def _cells(again: Again, model: str) -> Iterator[str]:
    """A model's part of the table, and who answered, against what tables were joined of."""
    stored, made = read_cells(again.project.paths.cells(again.name, model)), again.cells(model)
    if (stored.who, stored.unknown) != (made.who, made.unknown):
        yield f"who answered: made again {made.who}, stored {stored.who}"
    for table, rows in made.tables.items():
        if stored.tables.get(table) != rows:
            yield f"its rows of {table} are others"


def _table(again: Again, lineage: Lineage) -> Iterator[str]:
    """Cells from the journal and the raw bytes, against the lineage's; the table's files against their text."""
    said = again.pairs
    made, models, compared = compute(again.project, again.name, lineage.table, again.cells, again.frame, said)
    yield from _same(models, lineage.models, lambda model: model.card.name)
    yield from _same(compared, lineage.compared, lambda asked: asked.who)
    yield from _same(made.cells, lineage.cells, lambda cell: f"{cell.row} {cell.column}")
    for path, text in rendered(again.project, again.name, lineage.table, made).items():
        if Path(path).is_file() and Path(path).read_bytes() != text.encode():
            yield f"{path} is not what its cells give"


# ---------------------------------------------------------------------------------------------------------------------
# What a person reads


def cells_of(lineage: Lineage, row: str | None, column: str | None) -> list[Cell]:
    """Cells whose row is, or begins with, `row` and whose column is `column`. Raises PunchlineError for none."""
    chosen = [
        cell
        for cell in lineage.cells
        if (row is None or cell.row == row or cell.row.split("|")[0] == row)
        and (column is None or cell.column == column)
    ]
    if not chosen:
        rows, columns = sorted({c.row for c in lineage.cells}), sorted({c.column for c in lineage.cells})
        raise PunchlineError(
            f"no computed cell at row {row!r}, column {column!r}",
            file=f"{lineage.table}.lineage.json",
            way_out=f"Rows: {', '.join(rows)}. Columns: {', '.join(columns)}. Published rows have no chain: see "
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
        counts: dict[str, int] = {}
        for file in lineage.files:
            counts[file.role] = counts.get(file.role, 0) + 1
        lines.append("rests on " + ", ".join(f"{count} {role}" for role, count in counts.items()))
        lines += [f"from     {source}" for source in found.sources]
    lines += [f"equal    {link}" for link in found.links]
    lines += [f"DIFFERS  {finding}" for finding in found.findings]
    lines.append(f"root     {found.root}")
    lines.append(f"verdict  {found.verdict}")
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
        "files": [{"path": file.path, "sha256": file.sha256, "role": file.role} for file in found.files],
        "cells": [msgspec.to_builtins(cell) for cell in cells],
        "findings": [{"link": f.link, "path": f.path, "what": f.what} for f in found.findings],
        "models": [msgspec.to_builtins(model) for model in found.lineage.models] if found.lineage else [],
        "selection": msgspec.to_builtins(found.lineage.selection) if found.lineage else None,
        "noted": found.lineage.noted if found.lineage else None,
    }
