"""The audit: walk a table back to the published bytes, make every link again, and say which one differs and how.

Nothing is believed but the published bytes and the journals: images, items, gold, requests, grades, cells and the table
itself are made anew with the code at hand and compared with what lies on disk.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from punchline.comics import number
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import names as benchmark_names
from punchline.core.errors import PunchlineError
from punchline.core.journal import Key, parse_journal
from punchline.core.records import (
    Cell,
    Gold,
    Grade,
    Item,
    LedgerEntry,
    ModelCard,
    Record,
    Request,
    Response,
    digest_of_all,
)
from punchline.core.storage import parse_csv, read_records, read_table, sha256_file
from punchline.project.hops import CHAINED, by_journal
from punchline.project.selection import read_card
from punchline.stages.ask import ask, ask_hop
from punchline.stages.grade import Verdicts, grade, read_verdicts
from punchline.stages.pictures import make_pictures
from punchline.stages.prepare import Pictures, make_gold, make_items, read_files, read_selected, select, selected_text
from punchline.stages.tabulate import (
    Chain,
    File,
    Hop,
    Lineage,
    Model,
    compute,
    document,
    hops_for,
    lineage_path,
    rendered,
    role_of,
    root_of,
)

R = TypeVar("R", bound=Record)


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


def audit(table_path: str, *, expect: str | None = None) -> Audit:
    """Audit one table of results/. Raises PunchlineError when there is no lineage to start from."""
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
    found.root = root_of(
        lineage.benchmark, lineage.table, lineage.selection, lineage.models, lineage.cells, lineage.files
    )
    if found.root != lineage.root:
        found.differs("root", path, f"computed {found.root}, the lineage says {lineage.root}")
    if expect is not None and expect != found.root:
        found.differs("root", path, f"computed {found.root}, expected {expect}")
    known = benchmarks.load(lineage.benchmark).TABLES if lineage.benchmark in benchmark_names() else {}
    if lineage.table not in known or Path(known[lineage.table].path) != Path(table_path):
        found.differs("lineage", path, f"it is the lineage of {lineage.benchmark} {lineage.table}")
        return found
    _files(found, lineage)
    _links(found, lineage)
    with contextlib.suppress(PunchlineError, OSError):  # a damaged manifest or ledger has been reported above
        found.sources = sources(lineage)
    own = File(path=path.as_posix(), role="lineage", sha256=sha256_file(path))
    found.files = [*lineage.files, own]
    return found


def _files(found: Audit, lineage: Lineage) -> None:
    """Every file is there with the bytes that the lineage names. Journals grow: their lines are checked instead."""

    def check(file: File) -> Finding | None:
        path = Path(file.path)
        if not path.is_file():
            return Finding(file.role, file.path, "the file is gone")
        if file.role.endswith("journal"):
            return None
        digest = sha256_file(path)
        if digest == file.sha256:
            return None
        return Finding(file.role, file.path, f"sha256 is {digest[:16]}…, the lineage has {file.sha256[:16]}…")

    with ThreadPoolExecutor() as pool:
        differing = [finding for finding in pool.map(check, lineage.files) if finding is not None]
    found.findings += differing
    if not differing:
        found.links.append(f"{len(lineage.files):,} files have the bytes that the lineage names")


def _links(found: Audit, lineage: Lineage) -> None:
    """Make every link again. A link whose input cannot be read is reported, and the walk goes on where it can."""
    chain = Chain(lineage.benchmark, lineage.selection)
    benchmark = benchmarks.load(chain.benchmark)
    spec = benchmark.TABLES[lineage.table]
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

    has_images = any(file.role == "picture index" for file in lineage.files)
    if not chain.selection.corpus.drawn:
        good = "published files have the sha256 of their manifests"
        step("source", chain.raw, lambda: _sources(chain, has_images), good)
    again = _Again(chain, {model.card.name: model for model in lineage.models})
    if spec.graded:
        step("selected items", chain.selected, lambda: _selected(chain), "the selection, from the released list")
        if has_images:
            step("picture", chain.index, lambda: _images(chain), "pictures that models see, made again")
        step("items", chain.items, lambda: _items(chain, has_images), "items, made again from raw files")
        step("gold", chain.gold, lambda: _gold(chain), "gold, made again from raw files")
        step("requests", chain.requests, lambda: _requests(again), "requests, rendered again from items")
        recorded = {file.path: file.content for file in lineage.files}
        for card in cards:
            _model_links(step, again, card, recorded.get(chain.journal(card.name)))
    step("table", spec.path, lambda: _table(again, lineage), f"{len(lineage.cells):,} cells, computed again")


def _model_links(
    step: Callable[[str, str, Callable[[], Iterator[str]], str], None],
    again: _Again,
    card: ModelCard,
    recorded: str | None,
) -> None:
    name, chain = card.name, again.chain
    step("model card", card.file, lambda: _card(card), f"card of {name}")
    step("journal", chain.journal(name), lambda: _journal(again, name, recorded), f"answers of {name} in its journal")
    step("snapshot", chain.snapshot(name), lambda: _snapshot(again, name), f"snapshot of {name}, from its journal")
    for hop in hops_for(chain, card):
        _hop_links(step, again, card, hop)
    step("grades", chain.grades(name), lambda: _grades(again, name), f"grades of {name}, graded again from its journal")


def _hop_links(
    step: Callable[[str, str, Callable[[], Iterator[str]], str], None], again: _Again, card: ModelCard, hop: Hop
) -> None:
    name, chain, called = card.name, again.chain, role_of(hop.name)
    if hop.card is not None and hop.name != CHAINED:
        step(f"{called} card", hop.card.file, lambda: _hop_card(again, name, hop.name), f"card of {hop.card.name}")
    about = "of" if hop.name == CHAINED else "about"
    good = f"what {hop.who} was asked {about} {name} ({hop.name}), rendered again from its answers"
    stored = chain.hop_requests(hop.name, name)
    step(f"{called} requests", stored, lambda: _hop_requests(again, card, hop.name), good)
    good = f"answers of {hop.who} on {name} ({hop.name}), from their journal"
    step(f"{called} snapshot", chain.hop_snapshot(hop.name, name), lambda: _hop_answers(again, card, hop.name), good)


def _sources(chain: Chain, has_images: bool) -> Iterator[str]:
    """Raw files against the manifests; images against the ledger and the pins."""
    manifest = Path(f"data/manifests/{chain.benchmark}/annotations.csv")
    for _, row in parse_csv(manifest.read_bytes(), ("path", "url", "sha256"), file=manifest):
        path = Path(chain.raw) / row["path"]
        if path.is_file() and sha256_file(path) != row["sha256"]:
            yield f"{path} is not what {row['url']} had when its sha256 was pinned"
    if not has_images:
        return
    pinned: dict[str, set[str]] = {}
    for name in ("images_pinned.csv", "images.lock.csv"):  # the lock holds the digests of first fetches
        file = manifest.with_name(name)
        if file.is_file():
            for _, row in parse_csv(file.read_bytes(), ("comic_id", "sha256"), file=file):
                pinned.setdefault(row["comic_id"], set()).add(row["sha256"])
    for entry in _ledger(chain):
        if entry.state == "ok" and entry.sha256 not in pinned.get(entry.item_id, {entry.sha256}):
            yield f"{entry.path}: the ledger's sha256 is neither pinned nor locked for {entry.item_id}"


def sources(lineage: Lineage) -> list[str]:
    """Where the published bytes come from, for people: the manifests' URLs and the ledger's."""
    chain = Chain(lineage.benchmark, lineage.selection)
    if chain.selection.corpus.drawn:
        module = benchmarks.drawn(lineage.benchmark)
        assert module is not None
        return [f"made by the project: src/{module.__name__.replace('.', '/')}.py"]
    manifest = Path(f"data/manifests/{chain.benchmark}/annotations.csv")
    used = {Path(file.path).name for file in lineage.files if file.role == "raw annotation"}
    rows = parse_csv(manifest.read_bytes(), ("path", "url", "sha256"), file=manifest)
    lines = [f"{row['url']} sha256 {row['sha256'][:16]}…" for _, row in rows if row["path"] in used]
    if any(file.role == "ledger" for file in lineage.files):
        entries = [entry for entry in _ledger(chain) if entry.state == "ok"]
        places = Counter(urlsplit(entry.url or "").netloc or (entry.url or "").split(":")[0] for entry in entries)
        lines += [f"{count:,} images from {place}: one by one in {chain.ledger}" for place, count in places.items()]
    return lines


def _same(made: Sequence[R], stored: Sequence[R], name: Callable[[R], str]) -> Iterator[str]:
    """Differences between what was made again and what is stored, by record."""
    if len(made) != len(stored):
        yield f"{len(stored):,} records stored, {len(made):,} made again"
    for ours, theirs in zip(made, stored, strict=False):
        if ours != theirs:
            fields = [f for f in ours.__struct_fields__ if getattr(ours, f) != getattr(theirs, f)]
            yield f"{name(theirs)}: made again {_brief(ours, fields)}, stored {_brief(theirs, fields)}"


def _brief(record: Record, fields: Sequence[str]) -> str:
    text = repr({name: getattr(record, name) for name in fields})
    return text if len(text) <= 160 else text[:157] + "…"


def _card(card: ModelCard) -> Iterator[str]:
    now = read_card(card.name)
    yield from _same([now], [card], lambda c: c.name)


def _selected(chain: Chain) -> Iterator[str]:
    benchmark = benchmarks.load(chain.benchmark)
    files = read_files([f"{chain.raw}/{name}" for name in benchmark.ITEM_FILES])
    chosen = select(
        benchmark.listing(files),
        sources=(chain.selection.corpus.sources or {}).get(chain.benchmark),
        subset=chain.selection.subset,
        limit=chain.selection.limit,
    )
    if selected_text(chosen).encode() != Path(chain.selected).read_bytes():
        yield "the selection, made again, differs"


def _ledger(chain: Chain) -> list[LedgerEntry]:
    wanted = set(read_selected(chain.selected))
    return [entry for entry in read_records(chain.ledger, LedgerEntry) if entry.item_id in wanted]


def _images(chain: Chain) -> Iterator[str]:
    """Every picture, made again from the published image."""
    benchmark = benchmarks.load(chain.benchmark)
    files = read_files([f"{chain.raw}/{name}" for name in benchmark.ITEM_FILES])
    stored = {made.item_id: made for made in read_records(chain.index, Pictures)}
    entries = [entry for entry in _ledger(chain) if entry.state == "ok"]
    if {entry.item_id for entry in entries} != set(stored):
        yield "the index does not hold the images that the ledger has"
    versions = {str(one["opencv"]) for made in stored.values() for one in made.derivations if "opencv" in one}
    if other := versions - {str(number.derivation()["opencv"])}:
        yield f"drawn with OpenCV {', '.join(other)}, here is {number.derivation()['opencv']}: install that version"
        return
    folder = Path(chain.index).parent.as_posix()

    def check(entry: LedgerEntry) -> list[str]:
        if entry.item_id not in stored:
            return []
        try:
            made, contents = make_pictures(benchmark, entry, files, folder)
        except PunchlineError as error:
            return [str(error)]
        differences = list(_same([made], [stored[entry.item_id]], lambda m: m.item_id))
        if made.source_sha256 != entry.sha256:
            differences.append(f"{entry.item_id}: {entry.path} is not the image that the ledger recorded")
        for path, content in contents.items():
            if Path(path).is_file() and Path(path).read_bytes() != content:
                differences.append(f"{entry.item_id}: {path} is not what making it again gives")
        return differences

    with ThreadPoolExecutor() as pool:
        for differences in pool.map(check, entries):
            yield from differences


def _items(chain: Chain, has_images: bool) -> Iterator[str]:
    benchmark = benchmarks.load(chain.benchmark)
    made = make_items(
        benchmark,
        read_files([f"{chain.raw}/{name}" for name in benchmark.ITEM_FILES]),
        read_selected(chain.selected),
        _ledger(chain) if has_images else None,
        read_records(chain.index, Pictures) if has_images else [],
    )
    yield from _same(made, read_records(chain.items, Item), lambda item: item.item_id)


def _gold(chain: Chain) -> Iterator[str]:
    benchmark = benchmarks.load(chain.benchmark)
    files = read_files([f"{chain.raw}/{name}" for name in benchmark.GOLD_FILES])
    made = make_gold(benchmark, files, read_selected(chain.selected))
    yield from _same(made, read_records(chain.gold, Gold), lambda gold: gold.item_id)


class _Again:
    """What is made again once and compared in several places: requests, answers, grades."""

    def __init__(self, chain: Chain, models: Mapping[str, Model]) -> None:
        self.chain = chain
        self.models = models  # by name
        self.journals: dict[str, dict[Key, Response]] = {}
        self.benchmark = benchmarks.load(chain.benchmark)
        self.answers = functools.cache(self._answers)
        self.hop = functools.cache(self._hop)
        self.grades = functools.cache(self._grades)

    @functools.cached_property
    def requests(self) -> list[Request]:
        """Requests rendered from the items."""
        selection = self.chain.selection
        items = read_records(self.chain.items, Item)
        return ask(self.benchmark, items, selection.samples, selection.conditions)

    def _journal(self, file: str) -> dict[Key, Response]:
        """A journal, read once. Raises PunchlineError for a damaged one."""
        if file not in self.journals:
            content = Path(file).read_bytes()
            answers, whole = parse_journal(content, file=file)
            if whole != len(content):
                raise PunchlineError("the last line is torn", file=file, way_out="Run the target `responses` again")
            self.journals[file] = answers
        return self.journals[file]

    def _look_up(self, file: str, requests: Sequence[Request], key: str) -> list[Response]:
        """A journal's answers to requests. Raises PunchlineError for one that it has not."""
        answers = self._journal(file)
        for request in requests:
            if (request.request_id, key) not in answers:
                raise PunchlineError(f"no answer to {request.item_id} {request.task}", file=file)
        return [answers[request.request_id, key] for request in requests]

    def _answers(self, model: str) -> list[Response]:
        """The journal's answers to those requests."""
        return self._look_up(self.chain.journal(model), self.requests, self.models[model].key)

    @functools.cached_property
    def golds(self) -> list[Gold]:
        """Gold made from the raw files."""
        files = read_files([f"{self.chain.raw}/{name}" for name in self.benchmark.GOLD_FILES])
        return make_gold(self.benchmark, files, read_selected(self.chain.selected))

    def hops(self, model: str) -> dict[str, Hop]:
        """What the model's answers led to, by name, in order."""
        return {hop.name: hop for hop in hops_for(self.chain, self.models[model].card)}

    def asked(self, model: str) -> tuple[list[Request], list[Response]]:
        """Everything that the model itself was asked, and its answers: what judges see and what is graded."""
        requests, answers = self.requests, self.answers(model)
        if CHAINED in self.hops(model):
            chained = self.hop(model, CHAINED)
            return [*requests, *chained[0]], [*answers, *chained[1]]
        return requests, answers

    def _hop(self, model: str, name: str) -> tuple[list[Request], list[Response]]:
        """A hop's requests, rendered from the journals' answers and gold, and its journals' answers to them."""
        hop = self.hops(model)[name]
        recorded = next(asked for asked in self.models[model].hops if asked.hop == name)
        requests, answers = (self.requests, self.answers(model)) if name == CHAINED else self.asked(model)
        items, conditions = read_records(self.chain.items, Item), self.chain.selection.conditions
        made = ask_hop(self.benchmark, name, items, self.golds, requests, answers, conditions)
        found: dict[str, Response] = {}
        for stem, part in by_journal(hop.who, hop.engine, made).items():
            given = self._look_up(self.chain.hop_journal(name, stem), part, recorded.key)
            found |= {answer.request_id: answer for answer in given}
        return made, [found[request.request_id] for request in made]

    def _grades(self, model: str) -> list[Grade]:
        """Grades made from the journals and the raw bytes, past every view in between."""
        items = read_records(self.chain.items, Item)
        judges = {name: hop for name, hop in self.hops(model).items() if name != CHAINED}
        verdicts: Verdicts | None = {} if judges else None
        for name, hop in judges.items():
            assert verdicts is not None
            verdicts |= read_verdicts(hop.who, *self.hop(model, name), self.chain.hop_snapshot(name, model))
        return grade(self.benchmark, model, items, self.golds, *self.asked(model), verdicts)


def _requests(again: _Again) -> Iterator[str]:
    stored = read_table(again.chain.requests, Request)
    yield from _same(again.requests, stored, lambda request: f"{request.item_id} {request.task}")


def _journal(again: _Again, model: str, recorded: str | None) -> Iterator[str]:
    if digest_of_all(answer.digest for answer in again.answers(model)) != recorded:
        yield "its answers are not those that the lineage names"


def _snapshot(again: _Again, model: str) -> Iterator[str]:
    stored = read_table(again.chain.snapshot(model), Response)
    yield from _same(again.answers(model), stored, lambda r: f"request {r.request_id[:16]}")


def _hop_card(again: _Again, model: str, name: str) -> Iterator[str]:
    recorded = next(asked.card for asked in again.models[model].hops if asked.hop == name)
    if recorded is not None:
        yield from _same([read_card(recorded.name, recorded.folder)], [recorded], lambda c: c.name)


def _hop_requests(again: _Again, card: ModelCard, name: str) -> Iterator[str]:
    stored = read_table(again.chain.hop_requests(name, card.name), Request)
    yield from _same(again.hop(card.name, name)[0], stored, lambda r: f"{r.item_id} {r.task}")


def _hop_answers(again: _Again, card: ModelCard, name: str) -> Iterator[str]:
    stored = read_table(again.chain.hop_snapshot(name, card.name), Response)
    yield from _same(again.hop(card.name, name)[1], stored, lambda r: f"request {r.request_id[:16]}")


def _grades(again: _Again, model: str) -> Iterator[str]:
    stored = read_table(again.chain.grades(model), Grade)
    yield from _same(again.grades(model), stored, lambda g: f"{g.item_id} {g.task} {g.rule}")


def _table(again: _Again, lineage: Lineage) -> Iterator[str]:
    """Cells from the journal and the raw bytes, against the lineage's; the table's files against their text."""
    cards = [model.card for model in lineage.models]
    made, models = compute(
        again.chain,
        lineage.table,
        cards,
        lambda card: again.grades(card.name),
        lambda card: again.answers(card.name),
        lambda card, hop: again.hop(card.name, hop)[1],
    )
    yield from _same(models, lineage.models, lambda model: model.card.name)
    yield from _same(made.cells, lineage.cells, lambda cell: f"{cell.row} {cell.column}")
    for path, text in rendered(again.chain, lineage.table, made).items():
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
            file=lineage_path(benchmarks.load(lineage.benchmark).TABLES[lineage.table].path),
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
