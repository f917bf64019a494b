"""What a table begins with: the corpus of config/, published files as pinned, demo files, released answers
read again from what was released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from punchline import paths
from punchline.audit.again import Again
from punchline.config.cards import stems
from punchline.config.selection import Corpus, read_corpus
from punchline.core.engine import Engine, Released, Repeatable
from punchline.errors import PunchlineError
from punchline.files import parse_csv, sha256_file
from punchline.project.hops import RELEASED
from punchline.project.lineage import Lineage
from punchline.project.needs import Project
from punchline.schema import Request, Response
from punchline.stages import prepare
from punchline.stages.respond import images_of


def corpus(project: Project, benchmark: str) -> Iterator[str]:
    """The corpus that a lineage names, against config/: it says where raw files lie and whether they are pinned."""
    chosen = project.selection.corpus
    now = read_corpus(chosen.name) if chosen.name in stems("config/corpus") else None
    if now is None or _selecting(project, benchmark, now) != _selecting(project, benchmark, chosen):
        yield f"the lineage has {_plain(chosen)}, config/corpus/ has {_plain(now)}"


def _selecting(project: Project, benchmark: str, corpus: Corpus) -> Corpus:
    """As much of a corpus as a lineage names: its own sources; none for a table of the data (asking.py)."""
    own = (corpus.sources or {}).get(benchmark)
    named = own is not None and project.selection.models
    return msgspec.structs.replace(corpus, sources={benchmark: own} if named else None)


def _plain(record: msgspec.Struct | None) -> str:
    return "no such corpus" if record is None else str(msgspec.to_builtins(record))


def published(project: Project, benchmark: str, has_images: bool) -> Iterator[str]:
    """Raw files against the manifests; images against the ledger and the pins."""
    for path, row in _released(project):
        if Path(path).is_file() and sha256_file(path) != row["sha256"]:
            yield f"{path} is not what {row['url']} had when its sha256 was pinned"
    if not has_images:
        return
    pinned = _pinned(benchmark)
    for entry in prepare.ledger(project, benchmark):
        if entry.state == "ok" and entry.sha256 not in pinned.get(entry.item_id, {entry.sha256}):
            yield f"{entry.path}: the ledger's sha256 is neither pinned nor locked for {entry.item_id}"


def _released(project: Project) -> Iterator[tuple[str, dict[str, str]]]:
    """(path, line of its manifest) of every file that was released."""
    for name in project.manifests:
        file = paths.manifest(name)
        for _, row in parse_csv(Path(file).read_bytes(), ("path", "url", "sha256"), file=file):
            yield project.paths.raw(name, row["path"]), row


def _pinned(benchmark: str) -> dict[str, set[str | None]]:
    """{item id: sha256 of its image}, as manifests pin them and as first fetches had them."""
    pinned: dict[str, set[str | None]] = {}
    for name in ("images_pinned.csv", "images.lock.csv"):
        file = Path(paths.manifest(benchmark, name))
        if file.is_file():
            for _, row in parse_csv(file.read_bytes(), ("comic_id", "sha256"), file=file):
                pinned.setdefault(row["comic_id"], set()).add(row["sha256"])
    return pinned


def demo(project: Project, benchmark: str) -> Iterator[str]:
    """Differences between the raw files of a demo corpus and data/demo/."""
    for name in project.demo_files(benchmark):
        source, own = Path(paths.demo(benchmark), name), Path(project.paths.raw(benchmark, name))
        if not own.is_file():
            yield f"{own} is gone"
        elif own.read_bytes() != source.read_bytes():
            yield f"{own} differs from {source}"


def released(engine: Engine) -> bool:
    """Whether a model's answers are those of files that someone released."""
    return isinstance(engine, Released)


def replayed(again: Again, model: str) -> Iterator[str]:
    """A model's answers, and released verdicts on them, in the journals against the released files."""
    engine = again.project.engines[model]
    asked = [(engine, again.requests, again.answers(model))]
    asked += [(hop.engine, *again.hop(model, name)) for name, hop in again.hops(model).items() if hop.who == RELEASED]
    for who, requests, journalled in asked:
        yield from _differences(zip(requests, who.answer(requests, {}, ""), journalled, strict=True), "released")


def repeatable(engine: Engine) -> bool:
    """Whether a model's answers are computed again."""
    return isinstance(engine, Repeatable) and engine.repeatable


def computed_again(again: Again, model: str) -> Iterator[str]:
    """A baseline's answers in its journal, against what it says of the same pictures now."""
    engine, requests = again.project.engines[model], again.requests
    images = images_of(again.project, engine, again.name)
    if absent := sorted(path.as_posix() for path in images.values() if not path.is_file()):
        raise PunchlineError("no picture to look at", file=absent[0])
    made = {answer.request_id: answer for answer in engine.answer(requests, images, "")}  # picture by picture
    journalled = zip(requests, again.answers(model), strict=True)
    yield from _differences(((one, made[one.request_id], theirs) for one, theirs in journalled), "computed")


def _differences(answers: Iterable[tuple[Request, Response, Response]], how: str) -> Iterator[str]:
    """Requests whose answer, made again, is not the journal's."""
    for request, ours, theirs in answers:
        for field in ("state", "text", "reason", "usage", "effective"):
            if getattr(ours, field) != getattr(theirs, field):
                now, then = (repr(getattr(one, field))[:60] for one in (ours, theirs))
                yield f"{request.item_id} {request.task}: {field} {how} {now}, journalled {then}"
                break


def sources(project: Project, lineage: Lineage) -> list[str]:
    """Where the published bytes come from, for people: the manifests' URLs and the ledger's."""
    name = lineage.benchmark
    if project.selection.corpus.drawn:
        return [f"made by the project: {paths.demo(name)}/"]
    used = {file.path for file in lineage.files}
    lines = [f"{row['url']} sha256 {row['sha256'][:16]}…" for path, row in _released(project) if path in used]
    if any(file.role == "ledger" for file in lineage.files):
        entries = [entry for entry in prepare.ledger(project, name) if entry.state == "ok"]
        places = Counter(urlsplit(entry.url or "").netloc or (entry.url or "").split(":")[0] for entry in entries)
        one_by_one, pinned = project.paths.ledger(name), _pinned(name)
        lines += [f"{count:,} images from {place}: one by one in {one_by_one}" for place, count in places.items()]
        if unpinned := [entry.item_id for entry in entries if entry.item_id not in pinned]:
            shown = ", ".join(unpinned[:3]) + (", …" if len(unpinned) > 3 else "")
            lines.append(
                f"{len(unpinned):,} images that no manifest or lock pins: their bytes are as fetched ({shown})"
            )
    return lines
