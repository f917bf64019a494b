"""Rebuild artifacts in an empty folder from raw files and journals, and compare them with those of a run."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from punchline import paths
from punchline.artifacts.lineage import read_lineage
from punchline.artifacts.passes import Round
from punchline.artifacts.project import Project
from punchline.artifacts.respondents import role_of
from punchline.audit import sources
from punchline.comics import number
from punchline.core.storage import read_table
from punchline.errors import PunchlineError
from punchline.files import read_records, sha256_file
from punchline.jobs import call
from punchline.respond import index_answers
from punchline.schema import FetchEntry, Gold, Item, Pictures, Record, Request, Response
from punchline.scores import read_scores
from punchline.workflow.provenance import Artifact

R = TypeVar("R", bound=Record)
Difference = tuple[str, str, str]  # kind of file, path, what differs

SHOWN = 3  # names of records that differ alike
BUILT = ("data", "results", "logs", ".punchline", ".snakemake")  # folders of which derived files are not linked
DERIVED = ("raw", "items", "images", "requests", "responses", "runs")  # of data/
NAMES = {
    "raw": "source",
    "select_items": "selected items",
    "images": "ledger",
    "pictures": "picture",
    "score": "scores",
    "tables": "table",
}


def _counted(entry: FetchEntry) -> FetchEntry:
    """An entry of the fetch log without the origin and time of its bytes, which differ between machines."""
    return replace(entry, url=None, note=None, fetched_at=None)


# Records in the outputs of a kind of artifact: how they are read, and the name of one.
READ: dict[str, tuple[Callable[[Path], Iterable[Any]], Callable[[Any], str]]] = {
    "images": (lambda path: map(_counted, read_records(path, FetchEntry)), lambda entry: entry.item_id),
    "pictures": (lambda path: read_records(path, Pictures), lambda made: made.item_id),
    "items": (lambda path: read_records(path, Item), lambda item: item.item_id),
    "gold": (lambda path: read_records(path, Gold), lambda gold: gold.item_id),
    "requests": (lambda path: read_table(path, Request), lambda request: f"{request.item_id} {request.task}"),
    "respond": (lambda path: read_table(path, Response), lambda answer: f"request {answer.request_id[:16]}"),
    "score": (read_scores, lambda score: f"{score.item_id} {score.task} {score.rule}"),
    "tables": (lambda path: read_lineage(path).cells, lambda cell: f"{cell.row} {cell.column}"),
}


def in_order(target: Artifact) -> list[Artifact]:
    """An artifact with all that it depends on, each after its own dependencies."""
    found: dict[int, Artifact] = {}

    def visit(step: Artifact) -> None:
        for need in step.needs:
            if need.step is not None and need.decides and id(need.step()) not in found:
                visit(need.step())
        found[id(step)] = step

    visit(target)
    return list(found.values())


@contextlib.contextmanager
def scratch(project: Project, steps: Sequence[Artifact]) -> Iterator[Path]:
    """Work in an empty folder that has the project's sources, raw files and journals as links; gives the project's."""
    origin, corpus = Path.cwd(), project.selection.corpus
    names = {need.path for step in steps for need in step.needs if need.step is None}
    journals = (journal_of(project, *step.wildcards) for step in steps if step.rule == "respond")
    names |= {path for journal in journals for path in paths.with_shards(journal)}
    with tempfile.TemporaryDirectory(prefix="punchline-audit-") as folder, contextlib.chdir(folder):
        for path in origin.iterdir():
            if path.name not in BUILT:
                link(origin, path.name)
        for path in (origin / paths.DATA).iterdir() if (origin / paths.DATA).is_dir() else ():
            if path.name not in DERIVED:
                link(origin, f"{paths.DATA}{path.name}")
        for path in (origin / paths.RAW).iterdir() if (origin / paths.RAW).is_dir() else ():
            name = f"{paths.RAW}/{path.name}"
            if not (corpus.drawn and f"{corpus.raw}/".startswith(f"{name}/")):
                link(origin, name)
        for name in sorted(names):
            link(origin, name)
        yield origin


def journal_of(project: Project, benchmark: str, hop: str, model: str) -> str:
    """The journal of a model's responses, or of those about them in a later pass."""
    return project.journal(project.respondent(benchmark, hop, model), Round(benchmark, hop, (model,)))


def link(origin: Path, name: str) -> None:
    """Put a link to a project's file or folder into this folder; nothing where it is, or where there is none."""
    path = Path(name)
    if not path.is_absolute() and not path.exists() and (origin / name).exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(origin / name)


def rebuild(project: Project, step: Artifact, origin: Path) -> Iterator[Difference]:
    """Rebuild one artifact here, compare it with the project's, and put that one in its place.

    So each artifact is compared with what the project's own inputs give. Raises PunchlineError and OSError for inputs
    that cannot be read; the project's files are then in place all the same.
    """
    fetched = step.rule in ("raw", "images") and not project.selection.corpus.drawn
    try:
        if not fetched and step.rule != "train":
            yield from _rebuilt(project, step, origin)
    finally:
        for path in step.outputs:
            _put(origin, path)
        with contextlib.suppress(OSError, PunchlineError):
            for path in step.extra():
                _put(origin, path)


def _rebuilt(project: Project, step: Artifact, origin: Path) -> Iterator[Difference]:
    if step.rule == "pictures" and (other := _other_opencv(origin / step.outputs[0])):
        yield "picture", step.outputs[0], other
        return
    if step.rule == "respond":
        try:
            index_answers(project, *step.wildcards)
        except PunchlineError as error:
            yield "journal", journal_of(project, *step.wildcards), str(error)
            return
    else:
        call(project, step)
    for path in [*step.outputs, *step.extra()]:
        if (origin / path).is_file() and sha256_file(path) != sha256_file(origin / path):
            yield from ((kind_of(step, path), path, what) for what in _records(step, path, origin))
    if step.rule == "respond":
        benchmark, hop, model = step.wildcards
        yield from sources.answered_again(project, benchmark, hop, model)


def kind_of(step: Artifact, path: str) -> str:
    """Kind of a file, as lineages and messages name it."""
    if step.rule != "respond":
        return NAMES.get(step.rule, step.rule)
    hop = step.wildcards[1]
    what = "snapshot" if path == step.outputs[0] else "requests"
    return f"{role_of(hop)} {what}" if hop else what


def _records(step: Artifact, path: str, origin: Path) -> Iterator[str]:
    """Differences between the rebuilt file and the project's, whose bytes differ."""
    kind = "requests" if step.rule == "respond" and path != step.outputs[0] else step.rule
    lineage = path.endswith(".lineage.json")
    if kind not in READ or (kind == "tables") != lineage or (kind == "pictures" and path != step.outputs[0]):
        yield "it is not what a rebuild gives"
        return
    read, name = READ[kind]
    yield from same(list(read(Path(path))), list(read(origin / path)), name)


def _put(origin: Path, path: str) -> None:
    """Put a link to the project's file in the place of the rebuilt one; leave a file of the project as it is."""
    if Path(path).parent.resolve().is_relative_to(Path.cwd()):  # not in a linked folder
        Path(path).unlink(missing_ok=True)
        link(origin, path)


def _other_opencv(index: Path) -> str | None:
    """A message, where an index's pictures were drawn with another version of OpenCV, which gives other bytes."""
    here = str(number.derivation()["opencv"])
    made = read_records(index, Pictures) if index.is_file() else []
    others = {str(one["opencv"]) for each in made for one in each.derivations if "opencv" in one} - {here}
    return f"drawn with OpenCV {', '.join(others)}, here is {here}: install that version" if others else None


def same(made: Sequence[R], stored: Sequence[R], name: Callable[[R], str]) -> Iterator[str]:
    """Differences between rebuilt and stored records: records that differ in the same fields in one."""
    if len(made) != len(stored):
        yield f"{len(stored):,} records stored, {len(made):,} rebuilt"
    alike: dict[tuple[str, ...], list[int]] = {}
    for at, (ours, theirs) in enumerate(zip(made, stored, strict=False)):
        if ours != theirs:
            fields = tuple(f for f in ours.__struct_fields__ if getattr(ours, f) != getattr(theirs, f))
            alike.setdefault(fields, []).append(at)
    for fields, (first, *others) in alike.items():
        text = f"{name(stored[first])}: rebuilt {_brief(made[first], fields)}, stored {_brief(stored[first], fields)}"
        some = ", ".join(name(stored[at]) for at in others[:SHOWN]) + (", …" if len(others) > SHOWN else "")
        yield text + (f"; {len(others):,} more differ in {', '.join(fields)}: {some}" if others else "")


def _brief(record: Record, fields: Sequence[str]) -> str:
    text = repr({name: getattr(record, name) for name in fields})
    return text if len(text) <= 160 else text[:157] + "…"
