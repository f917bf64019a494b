"""Every link of the way of the data, made again with the code at hand: from the corpus to a model's scores."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from punchline import paths
from punchline.audit import sources
from punchline.audit.again import Again
from punchline.comics import number
from punchline.config.cards import read_card
from punchline.core.storage import read_table
from punchline.core.threads import threads
from punchline.errors import PunchlineError
from punchline.files import read_records
from punchline.project.asking import role_of, shown
from punchline.project.hops import CHAINED, DATA, Hop
from punchline.project.lineage import Lineage
from punchline.project.needs import Project
from punchline.schema import (
    FetchEntry,
    Gold,
    Item,
    ModelCard,
    Pictures,
    Record,
    Request,
    Response,
    digest_of_all,
)
from punchline.scores import read_scores
from punchline.stages import prepare
from punchline.stages.pictures import make_pictures
from punchline.stages.prepare import raw_files, selected_text

R = TypeVar("R", bound=Record)

SHOWN = 3  # names of records that differ alike

# (link, path, what differs in it, what is said where nothing does)
Link = Callable[[str, str, Callable[[], Iterator[str]], str], None]


def source_links(link: Link, project: Project, benchmark: str, *, pictures: bool) -> None:
    """The corpus, and published bytes."""
    corpus, where = project.selection.corpus, project.paths
    link(
        "corpus",
        f"config/corpus/{corpus.name}.yaml",
        lambda: sources.corpus(project, benchmark),
        f"corpus {corpus.name}",
    )
    if corpus.drawn:
        link("source", where.raw(benchmark), lambda: sources.demo(project, benchmark), "copies of the demo files")
    else:
        good = "published files have the sha256 of their manifests"
        link("source", where.raw(benchmark), lambda: sources.published(project, benchmark, pictures), good)


def answered_links(link: Link, again: Again, lineage: Lineage | None, *, scored: bool = True) -> None:
    """From the selection of items to the answers of every model, and with `scored` to their scores.

    `lineage`: what cards and journals are compared with; None where there is none.
    """
    project, benchmark, where = again.project, again.name, again.project.paths
    good = "the selection, from the released list"
    link("selected items", where.selected(benchmark), lambda: _selected(project, benchmark), good)
    if project.illustrated(benchmark):
        good = "pictures that models see, made again"
        link("picture", where.index(benchmark), lambda: _images(project, benchmark), good)
    link("items", where.items(benchmark), lambda: _items(project, benchmark), "items, made again from raw files")
    link("gold", where.gold(benchmark), lambda: _gold(project, benchmark), "gold, made again from raw files")
    link("requests", where.requests(benchmark), lambda: _requests(again), "requests, rendered again from items")
    recorded = {file.path: file.content for file in lineage.files} if lineage is not None else None
    for model in again.models.values():
        _model_links(link, again, model.card, recorded)
        if scored:
            name, good = model.card.name, f"scores of {model.card.name}, scored again from its journal"
            link("scores", where.scores(benchmark, name), functools.partial(_scores, again, name), good)


def _model_links(link: Link, again: Again, card: ModelCard, recorded: Mapping[str, str | None] | None) -> None:
    name, where, benchmark = card.name, again.project.paths, again.name
    journal = paths.journal(benchmark, name)
    if recorded is not None:
        answers = recorded.get(journal)
        link("model card", card.file, lambda: _card(card, benchmark, again.priced), f"card of {name}")
        link("journal", journal, lambda: _journal(again, name, answers), f"answers of {name} in its journal")
    if sources.released(again.project.engines[name]):
        good = f"answers of {name}, read again from what was released"
        link("released answers", journal, lambda: sources.replayed(again, name), good)
    elif sources.repeatable(again.project.engines[name]):
        good = f"answers of {name}, computed again"
        link("computed answers", journal, lambda: sources.computed_again(again, name), good)
    snapshot = where.snapshot(benchmark, name)
    link("snapshot", snapshot, lambda: _snapshot(again, name), f"snapshot of {name}, from its journal")
    for hop in again.hops(name).values():
        hop_links(link, again, name, hop, recorded is not None)


def hop_links(link: Link, again: Again, name: str, hop: Hop, recorded: bool) -> None:
    """What a hop was asked about a model, or about the data itself, and said."""
    where, called = again.project.paths, role_of(hop.name)
    if recorded and hop.card is not None and hop.name != CHAINED:
        link(f"{called} card", hop.card.file, lambda: _hop_card(again, name, hop.name), f"card of {hop.card.name}")
    about = "of" if hop.name == CHAINED else "about"
    of = "the data" if name == DATA else "its answers"
    good = f"what {hop.who} was asked {about} {name} ({hop.name}), rendered again from {of}"
    stored = where.hop_requests(again.name, hop.name, name)
    link(f"{called} requests", stored, lambda: _hop_requests(again, name, hop.name), good)
    good = f"answers of {hop.who} on {name} ({hop.name}), from their journal"
    stored = where.hop_snapshot(again.name, hop.name, name)
    link(f"{called} snapshot", stored, lambda: _hop_answers(again, name, hop.name), good)


def same(made: Sequence[R], stored: Sequence[R], name: Callable[[R], str]) -> Iterator[str]:
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
    yield from same([now], [card], lambda c: c.name)


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

    def check(entry: FetchEntry) -> list[str]:
        if entry.item_id not in stored:
            return []
        try:
            made, contents = make_pictures(loaded, entry, files, folder)
        except PunchlineError as error:
            return [str(error)]
        differences = list(same([made], [stored[entry.item_id]], lambda m: m.item_id))
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
    yield from same(prepare.items(project, benchmark), stored, lambda item: item.item_id)


def _gold(project: Project, benchmark: str) -> Iterator[str]:
    stored = read_records(project.paths.gold(benchmark), Gold)
    yield from same(list(prepare.golds(project, benchmark)), stored, lambda gold: gold.item_id)


def _requests(again: Again) -> Iterator[str]:
    stored = read_table(again.project.paths.requests(again.name), Request)
    yield from same(again.requests, stored, lambda request: f"{request.item_id} {request.task}")


def _journal(again: Again, model: str, recorded: str | None) -> Iterator[str]:
    if digest_of_all(answer.digest for answer in again.answers(model)) != recorded:
        yield "its answers are not those that the lineage names"


def _snapshot(again: Again, model: str) -> Iterator[str]:
    stored = read_table(again.project.paths.snapshot(again.name, model), Response)
    yield from same(again.answers(model), stored, lambda r: f"request {r.request_id[:16]}")


def _hop_card(again: Again, model: str, name: str) -> Iterator[str]:
    recorded = again.recorded(model, name).card
    if recorded is not None:
        yield from _card(recorded, again.name, again.priced)


def _hop_requests(again: Again, model: str, name: str) -> Iterator[str]:
    stored = read_table(again.project.paths.hop_requests(again.name, name, model), Request)
    yield from same(again.hop(model, name)[0], stored, lambda r: f"{r.item_id} {r.task}")


def _hop_answers(again: Again, model: str, name: str) -> Iterator[str]:
    stored = read_table(again.project.paths.hop_snapshot(again.name, name, model), Response)
    yield from same(again.hop(model, name)[1], stored, lambda r: f"request {r.request_id[:16]}")


def _scores(again: Again, model: str) -> Iterator[str]:
    stored = list(read_scores(again.project.paths.scores(again.name, model)))
    yield from same(again.scores(model), stored, lambda score: f"{score.item_id} {score.task} {score.rule}")
