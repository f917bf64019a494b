"""What a table rests on, written beside it, and the audit that walks it back to the published bytes.

A lineage is one canonical JSON document: the selection, the models, every cell, and every file with its sha256 and
role. `root` is a digest of all of that which must be equal wherever the same run is made; `noted` (commit, time,
mirror, machine) is recorded and enters nothing but `sha256`, the document's own digest.
"""

from __future__ import annotations

import platform
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from punchline import __version__
from punchline.bench.table import Graded, Table, Tabulated, as_csv, as_latex, as_markdown, read_published, tabulate
from punchline.core import benchmark as benchmarks
from punchline.core import engine as engines
from punchline.core.benchmark import SCORERS, Benchmark
from punchline.core.engine import Engine, Verdicts
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
    canonical,
    digest_of,
    digest_of_all,
)
from punchline.core.storage import read_columns, read_records, read_table, sha256_file, write_bytes
from punchline.project import adapters
from punchline.project import hops as judging
from punchline.project.hops import CHAINED, JUDGE, RELEASED, by_journal
from punchline.project.selection import Selection, read_card, stems
from punchline.stages.prepare import Pictures, read_files, read_selected

FORMAT = 1


class File(Record, frozen=True, kw_only=True):
    """One file that a table rests on."""

    path: str  # relative to the project root
    role: str
    sha256: str
    content: str | None = None  # digest of what counts in it, where bytes may differ for the same content


class Asked(Record, frozen=True, kw_only=True):
    """Who answered one hop of a model's answers."""

    hop: str
    who: str  # the model itself, a card of config/judge/, or `released`
    card: ModelCard | None  # None: verdicts were released by somebody who has no card
    key: str
    versions: tuple[str, ...] = ()


class Model(Record, frozen=True, kw_only=True):
    """One model of a table."""

    card: ModelCard
    key: str
    kind: str
    versions: list[str]  # engine versions of its responses
    hops: tuple[Asked, ...] = ()  # what its answers led to


class Lineage(Record, frozen=True, kw_only=True):
    """The document beside a table."""

    format: int
    benchmark: str
    table: str
    selection: Selection
    models: list[Model]
    cells: list[Cell]
    files: list[File]
    root: str
    noted: dict[str, Any]
    sha256: str


def lineage_path(table_path: str | Path) -> Path:
    """results/table8.csv → results/table8.lineage.json."""
    return Path(table_path).with_suffix(".lineage.json")


def kind_of(card: ModelCard) -> str:
    """The column `kind` of a model's rows."""
    return "baseline" if card.engine in ("baselines", "lexical") else "measured"


def root_of(
    benchmark: str,
    table: str,
    selection: Selection,
    models: Iterable[Model],
    cells: Iterable[Cell],
    files: Iterable[File],
) -> str:
    """One digest of everything that must be equal wherever this table is made from the same bytes."""
    return digest_of(
        {
            "format": FORMAT,
            "benchmark": benchmark,
            "table": table,
            "selection": selection,
            "models": sorted(
                [model.card.name, model.key, *(part for hop in model.hops for part in (hop.hop, hop.who, hop.key))]
                for model in models
            ),
            "cells": [cell.digest for cell in cells],
            "files": sorted((file.path, file.role, file.content or file.sha256) for file in files),
        }
    )


def ledger_content(entries: Sequence[LedgerEntry]) -> str:
    """Digest of a ledger without when and from where: those differ from machine to machine."""
    return digest_of([(e.item_id, e.state, e.reason, e.path, e.sha256) for e in entries])


# ---------------------------------------------------------------------------------------------------------------------
# The chain: where everything lies, for one benchmark and one selection


@dataclass(frozen=True)
class Chain:
    """Paths of all that a benchmark's tables rest on, in one selection."""

    benchmark: str
    selection: Selection

    @property
    def raw(self) -> str:
        return self.selection.raw(self.benchmark)

    @property
    def selected(self) -> str:
        return f"{self.raw}/selected.csv"

    @property
    def ledger(self) -> str:
        return f"{self.raw}/ledger.jsonl"

    @property
    def index(self) -> str:
        return f"data/images/{self.benchmark}/index.jsonl"

    @property
    def items(self) -> str:
        return f"data/items/{self.benchmark}/items.jsonl"

    @property
    def gold(self) -> str:
        return f"data/items/{self.benchmark}/gold.jsonl"

    @property
    def requests(self) -> str:
        return f"data/requests/{self.benchmark}.parquet"

    def journal(self, model: str) -> str:
        return f"data/responses/{self.benchmark}/{model}.jsonl"

    def snapshot(self, model: str) -> str:
        return f"data/responses/{self.benchmark}/{model}.parquet"

    def hop_requests(self, hop: str, model: str) -> str:
        return judging.requests_path(self.benchmark, hop, model)

    def hop_snapshot(self, hop: str, model: str) -> str:
        return judging.snapshot_path(self.benchmark, hop, model)

    def hop_journal(self, hop: str, stem: str) -> str:
        return judging.journal_path(self.benchmark, hop, stem)

    def own(self, name: str) -> str:
        """A file that is the user's."""
        return f"config/{self.benchmark}/{name}"

    def grades(self, model: str) -> str:
        return f"results/{self.benchmark}/grades/{model}.parquet"

    @property
    def published(self) -> str:
        return f"config/published/{self.benchmark}.csv"

    @property
    def manifests(self) -> list[str]:
        if self.selection.corpus.drawn:
            return []
        return sorted(path.as_posix() for path in Path(f"data/manifests/{self.benchmark}").glob("*.csv"))


def images_needed(benchmark: Benchmark, cards: Iterable[ModelCard], seed: int) -> bool:
    """Whether any of the models looks at the benchmark's images."""
    return benchmark.IMAGES and any(engines.looks_at(engines.load(card, seed), benchmark.NAME) for card in cards)


@dataclass(frozen=True)
class Hop:
    """Who answers one hop of a model's answers: the engine, and its key."""

    name: str
    who: str  # the model itself, a card of config/judge/, or `released`
    card: ModelCard | None  # None: verdicts were released by somebody who has no card
    engine: Engine
    key: str


def hops_for(chain: Chain, card: ModelCard) -> list[Hop]:
    """What a model's answers lead to in this selection, in the order in which it is answered."""
    selection = chain.selection
    engine = engines.load(card, selection.seed)
    scorers = judging.scorers_of(read_card(name, "config/judge") for name in selection.scorers)
    hops = judging.hops_of(
        benchmarks.load(chain.benchmark),
        card,
        engine,
        conditions=selection.conditions,
        judge=selection.judge,
        scorers=scorers,
    )
    found = []
    for name, who in hops.items():
        if name == CHAINED or who == RELEASED:
            gives, answers = card if name == CHAINED else card_of_released(engine), engine
            key = engines.model_key(engine, card.sampling_for(chain.benchmark))
        else:
            gives = read_card(who, "config/judge")
            answers = engines.load(gives, selection.seed)
            key = engines.model_key(answers, gives.sampling_for(chain.benchmark))
        found.append(Hop(name, who, gives, answers, key))
    return found


def card_of_released(engine: Engine) -> ModelCard | None:
    """The card of the one judge who gave released verdicts, for its price; None where there is none."""
    judges = set(engine.judges().values()) if isinstance(engine, Verdicts) else set()
    name = next(iter(judges)) if len(judges) == 1 else ""
    return read_card(name, "config/judge") if name in stems("config/judge") else None


def files_of(chain: Chain, table: str, cards: Sequence[ModelCard], written: Mapping[str, str]) -> list[File]:
    """Every file that a table rests on. `written`: {path: role} of the table's own files."""
    benchmark = benchmarks.load(chain.benchmark)
    spec = benchmark.TABLES[table]
    found: dict[str, File] = {}

    def add(role: str, *paths: str | Path, content: Callable[[str], str] | None = None) -> None:
        for path in map(str, paths):
            digest = content(path) if content is not None else None
            found.setdefault(path, File(path=path, role=role, sha256=sha256_file(path), content=digest))

    raw = set(spec.files) | (set(benchmark.ITEM_FILES) | set(benchmark.GOLD_FILES) if spec.graded else set())
    add("raw annotation", *(f"{chain.raw}/{name}" for name in sorted(raw)))
    add("manifest", *chain.manifests)
    add("published values", chain.published)
    add("user's file", *(chain.own(name) for name in spec.own if Path(chain.own(name)).is_file()))
    if spec.graded:
        add("selected items", chain.selected)
        if chain.selection.subset is not None:
            add("subset", chain.selection.subset)
        if images_needed(benchmark, cards, chain.selection.seed):
            add("ledger", chain.ledger, content=lambda path: ledger_content(read_records(path, LedgerEntry)))
            add("picture index", chain.index)
            for made in read_records(chain.index, Pictures):
                found[made.source] = File(path=made.source, role="image", sha256=made.source_sha256)
                for image in made.images:
                    found[image.path] = File(path=image.path, role="picture", sha256=image.sha256)
        add("items", chain.items)
        add("gold", chain.gold)
        add("requests", chain.requests, content=content_of(Request))
        answered: dict[tuple[str, str], list[str]] = {}  # (hop, journal): digests of its answers that count here
        for card in cards:
            name = card.name
            add("model card", f"config/model/{name}.yaml")
            engine = engines.load(card, chain.selection.seed)
            add("adapter", *adapter_files(card))
            add("released answers", *(engine.files if isinstance(engine, engines.Released) else ()))
            snapshot = digests_in(chain.snapshot(name))
            add("journal", chain.journal(name), content=lambda _, found=snapshot: digest_of_all(found))  # type: ignore[misc]
            add("snapshot", chain.snapshot(name), content=content_of(Response))
            add("grades", chain.grades(name), content=content_of(Grade))
            for hop in hops_for(chain, card):
                called = role_of(hop.name)
                if hop.card is not None and hop.name != CHAINED:
                    add(f"{called} card", hop.card.file)
                add(f"{called} requests", chain.hop_requests(hop.name, name), content=content_of(Request))
                add(f"{called} snapshot", chain.hop_snapshot(hop.name, name), content=content_of(Response))
                asked = read_table(chain.hop_requests(hop.name, name), Request)
                digests = digests_in(chain.hop_snapshot(hop.name, name))
                given = dict(zip((r.request_id for r in asked), digests, strict=True))
                for stem, part in by_journal(hop.who, hop.engine, asked).items():
                    answered.setdefault((hop.name, stem), []).extend(given[request.request_id] for request in part)
        for (hop_name, stem), digests in answered.items():
            role = f"{role_of(hop_name)} journal"
            add(role, chain.hop_journal(hop_name, stem), content=lambda _, found=digests: digest_of_all(found))  # type: ignore[misc]
    for path, role in written.items():
        add(role, path)
    return [found[path] for path in sorted(found)]


def adapter_files(card: ModelCard) -> list[str]:
    """The files of a card's adapter: manifest, weights, settings; none for a card without one or one not trained."""
    name = card.options.get("adapter")
    found = adapters.trained(name) if isinstance(name, str) else None
    if found is None:
        return []
    folder = adapters.folder_of(found.name).as_posix()
    return [f"{folder}/{file}" for file in (adapters.MANIFEST, *found.files)]


def trained_on(card: ModelCard, chain: Chain, items: Collection[str]) -> list[str]:
    """A note on how many of the items at hand a card's adapter was trained on."""
    name = card.options.get("adapter")
    found = adapters.trained(name) if isinstance(name, str) else None
    if found is None or found.recipe.get("benchmark") != chain.benchmark or found.corpus != chain.selection.corpus.name:
        return []
    known = set(found.trained) & set(items)
    way_out = f"subset={adapters.folder_of(found.name)}/{adapters.HELD_OUT} leaves them out"
    return [f"{card.name} was trained on {len(known):,} of these {len(items):,} items; {way_out}."] if known else []


def digests_in(path: str | Path) -> list[str]:
    """The column `digest` of a table of records."""
    return [str(value) for value in read_columns(path, ["digest"])["digest"]]


class Answered(Protocol):
    """What `compute` reads of a response."""

    @property
    def engine(self) -> str: ...

    @property
    def engine_version(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def reason(self) -> str | None: ...


class Version(NamedTuple):
    """An engine that answered, its version, and how."""

    engine: str
    engine_version: str
    state: str
    reason: str | None


def versions_in(path: str | Path) -> list[Version]:
    """Which engines answered a table of responses, and how: each combination once."""
    names = Version._fields
    columns = read_columns(path, names)
    return list({Version(*one): None for one in zip(*(columns[name] for name in names), strict=True)})


def role_of(hop: str) -> str:
    """How a hop's files are called in a lineage: judge's, bertscore's, chained."""
    return hop if hop == CHAINED else f"{hop}'s"


def content_of(kind: type[Record]) -> Callable[[str], str]:
    """A function from a parquet file of such records to the digest of what counts in it."""
    return lambda path: table_content(path, kind)


def table_content(path: str, kind: type[Record]) -> str:
    """Digest of a parquet file's records in their order, whatever library wrote it."""
    return digest_of([kind.__name__, digests_in(path)])


# ---------------------------------------------------------------------------------------------------------------------
# Making a table with its lineage


def compute(
    chain: Chain,
    table: str,
    cards: Sequence[ModelCard],
    grades: Callable[[ModelCard], Sequence[Grade]],
    responses: Callable[[ModelCard], Iterable[Answered]],
    hop_responses: Callable[[ModelCard, str], Iterable[Answered]],
) -> tuple[Tabulated, list[Model]]:
    """A table, and its models, from items, gold, published values as they lie there and what the functions give."""
    benchmark = benchmarks.load(chain.benchmark)
    spec = benchmark.TABLES[table]
    selection = chain.selection
    graded, models, notes = [], [], []
    raw_items = [f"{chain.raw}/{name}" for name in benchmark.ITEM_FILES]
    for card in cards if spec.graded else ():
        hops = hops_for(chain, card)
        judge_card = next((hop.card for hop in hops if hop.name == JUDGE), None)
        graded.append(Graded(card.name, kind_of(card), card.engine, grades(card), card, judge_card))
        versions = sorted({f"{response.engine} {response.engine_version}" for response in responses(card)})
        if len(versions) > 1:
            notes.append(f"{card.name} was answered by several engine versions: {', '.join(versions)}.")
        asked = []
        for hop in hops:
            answers = list(hop_responses(card, hop.name))
            hop_versions = tuple(sorted({f"{answer.engine} {answer.engine_version}" for answer in answers}))
            if len(hop_versions) > 1:
                notes.append(f"{card.name}, {hop.name}: several engine versions answered: {', '.join(hop_versions)}.")
            if hop.name != CHAINED:
                failures = {answer.reason or "no reason given" for answer in answers if answer.state == "failed"}
                notes += [
                    f"INCOMPLETE: {hop.name} by {hop.who} failed for answers of {card.name}: {reason}. "
                    "`punchline retry` asks again."
                    for reason in sorted(failures)
                ]
            asked.append(Asked(hop=hop.name, who=hop.who, card=hop.card, key=hop.key, versions=hop_versions))
        notes += [f"{card.name}: {card.caveat}."] if card.caveat else []
        notes += trained_on(card, chain, read_selected(chain.selected))
        engine = engines.load(card, selection.seed)
        if isinstance(engine, engines.Released):
            known = {item_id for item_id, _, _ in benchmark.listing(read_files(raw_items))}
            if unknown := engine.unknown(known):
                some = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
                notes.append(f"{card.name}: {len(unknown):,} answered items do not exist in {chain.benchmark}: {some}.")
        models.append(
            Model(
                card=card,
                key=engines.model_key(engine, card.sampling_for(chain.benchmark)),
                kind=kind_of(card),
                versions=versions,
                hops=tuple(asked),
            )
        )
    judges = {hop.card.name: hop.card for model in models for hop in model.hops if hop.card and hop.hop != CHAINED}
    notes += [f"Judge {card.name}: {card.caveat}." for card in judges.values() if card.caveat]
    notes += unasked(chain, spec, models)
    if spec.graded and images_needed(benchmark, cards, selection.seed):
        notes += without_pictures(chain)
    whole = selection.corpus.name == "full" and selection.subset is None and selection.limit is None
    if not spec.graded:  # a table of the data itself takes the released files whole
        whole = not selection.corpus.drawn
    made = tabulate(
        spec,
        graded,
        {gold.item_id: gold for gold in read_records(chain.gold, Gold)} if spec.graded else {},
        {item.item_id: item for item in read_records(chain.items, Item)} if spec.graded else {},
        read_files(
            [f"{chain.raw}/{name}" for name in spec.files]
            + [chain.own(name) for name in spec.own if Path(chain.own(name)).is_file()]
        ),
        read_published(chain.published),
        scoring=selection.scoring,
        seed=selection.seed,
        complete=whole,
        printed_as={card.name: row for card in cards if (row := card.printed_as(chain.benchmark)) is not None},
    )
    made.notes.extend(notes)
    return made, models


def without_pictures(chain: Chain) -> list[str]:
    """A note on the items that models could not be shown, with the most frequent reasons."""
    items = read_records(chain.items, Item)
    reasons = Counter(item.missing for item in items if item.missing is not None)
    if not reasons:
        return []
    some = "; ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(3))
    return [f"{reasons.total():,} of {len(items):,} items have no picture to show: {some}."]


def unasked(chain: Chain, spec: Table, models: Sequence[Model]) -> list[str]:
    """Notes on what this selection asks nobody, where a table of models could show it."""
    benchmark, selection = benchmarks.load(chain.benchmark), chain.selection
    if not models:
        return []
    answered = {hop.hop for model in models for hop in model.hops}
    notes = [
        f"No {hop} values: choose a scorer of config/judge/ with scorers=[NAME] (docs/scorers.md)."
        for hop in SCORERS
        if hop in benchmark.JUDGES and hop not in answered
    ]
    # A table of several models (`across`) says itself whose answers have no verdict.
    if JUDGE in benchmark.JUDGES and spec.rows is not None and JUDGE not in answered:
        notes.append("No judge was asked: choose one of config/judge/ with judge=NAME.")
    left = [name for name in spec.conditions if name not in selection.conditions]
    return notes + ([f"Not asked: {', '.join(left)}; conditions=all, or a list, asks them."] if left else [])


def write(chain: Chain, table: str, cards: Sequence[ModelCard], noted: Mapping[str, Any]) -> Tabulated:
    """Write a table (CSV, Markdown, LaTeX) and its lineage."""
    spec = benchmarks.load(chain.benchmark).TABLES[table]
    read: dict[str, Collection[str]] = {
        "rule": {chain.selection.scoring or spec.rule},
        "task": set(spec.tasks),
        "condition": set(spec.conditions),
    }
    made, models = compute(
        chain,
        table,
        cards,
        lambda card: read_table(chain.grades(card.name), Grade, read),
        lambda card: versions_in(chain.snapshot(card.name)),
        lambda card, hop: versions_in(chain.hop_snapshot(hop, card.name)),
    )
    path = Path(spec.path)
    texts = rendered(chain, table, made)
    for name, text in texts.items():
        write_bytes(name, text.encode())
    files = files_of(chain, table, cards, dict.fromkeys(texts, "table"))
    lineage = Lineage(
        format=FORMAT,
        benchmark=chain.benchmark,
        table=table,
        selection=chain.selection,
        models=models,
        cells=made.cells,
        files=files,
        root=root_of(chain.benchmark, table, chain.selection, models, made.cells, files),
        noted=dict(noted),
        sha256="",
    )
    write_bytes(lineage_path(path), document(lineage))
    return made


def rendered(chain: Chain, table: str, made: Tabulated) -> dict[str, str]:
    """{path: text} of a table's own files."""
    spec = benchmarks.load(chain.benchmark).TABLES[table]
    path = Path(spec.path)
    return {
        path.as_posix(): as_csv(made),
        path.with_suffix(".md").as_posix(): as_markdown(made, spec),
        path.with_suffix(".tex").as_posix(): as_latex(made, spec),
    }


def document(lineage: Lineage) -> bytes:
    """The bytes of a lineage file: indented canonical JSON that holds its own digest."""
    body = msgspec.structs.replace(lineage, sha256="")
    return msgspec.json.format(canonical(msgspec.structs.replace(lineage, sha256=body.digest)), indent=1) + b"\n"


def circumstances(mirror: str | None) -> dict[str, Any]:
    """What is noted of a run and compared with nothing: commit, dirty flag, time, mirror, versions, platform."""

    def git(*arguments: str) -> str | None:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    dirty = git("status", "--porcelain", "--untracked-files=no")
    packages = ("snakemake", "opencv-python-headless", "jiwer", "numpy", "pyarrow", "rapidocr")
    return {
        "commit": git("rev-parse", "HEAD"),
        "dirty": None if dirty is None else bool(dirty),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "mirror": mirror,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": {"punchline": __version__} | {name: _version(name) for name in packages},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
