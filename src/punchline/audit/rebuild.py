"""Rebuild artifacts in an empty folder from raw files and journals, and compare them with those of a run."""

from __future__ import annotations

import contextlib
import csv
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from punchline import paths
from punchline.artifacts.lineage import lineage_path, read_lineage
from punchline.artifacts.passes import Round
from punchline.artifacts.project import Project
from punchline.artifacts.run import role_of
from punchline.audit.differences import Row, same, same_cells, same_text
from punchline.comics import number
from punchline.core.engine import Engine
from punchline.core.storage import open_parquet
from punchline.errors import PunchlineError
from punchline.files import sha256_file
from punchline.jobs import call
from punchline.requests import exchanges_in_pass
from punchline.respond import images_of
from punchline.schema import Request, Response
from punchline.tabulate.build import Tables, rendered
from punchline.workflow.provenance import Artifact

REBUILT = "it is not what a rebuild gives"
DERIVED = tuple(f"{paths.DATA}{name}" for name in ("raw", "items", "images", "requests", "responses", "runs"))
BUILT = ("data", "results", "logs", ".punchline", ".snakemake", *DERIVED)  # not linked as they are
# What lineages and messages call files, by rule.
NAMES = {"raw": "source", "select_items": "selected items", "images": "ledger", "pictures": "picture"}
NAMES |= {"score": "scores", "tables": "table"}


@dataclass(frozen=True)
class Finding:
    """One difference."""

    link: str  # kind of file, or what was checked
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.link}: {self.path}: {self.what}"


@contextlib.contextmanager
def scratch(project: Project, artifacts: Sequence[Artifact]) -> Iterator[Path]:
    """Work in an empty folder that has the project's sources, raw files and journals as links; gives the project's."""
    origin, corpus = Path.cwd(), project.selection.corpus
    names = {need.path for step in artifacts for need in step.inputs if need.artifact is None}
    for path in (path for place in (origin, origin / "data", origin / paths.RAW) for path in place.glob("*")):
        name = path.relative_to(origin).as_posix()
        if name not in BUILT and not (corpus.drawn and f"{corpus.raw}/".startswith(f"{name}/")):
            names.add(name)
    for benchmark, pass_, model in (step.wildcards for step in artifacts if step.rule == "respond"):
        journal = project.journal(project.respondent(benchmark, pass_, model), Round(benchmark, pass_, (model,)))
        names.update(paths.with_shards(journal))
    with tempfile.TemporaryDirectory(prefix="punchline-audit-") as folder, contextlib.chdir(folder):
        for name in sorted(names):
            _link(origin, name)
        yield origin


def _link(origin: Path, name: str) -> None:
    """Put a link to a project's file or folder into this folder; nothing where it is, or where there is none."""
    path = Path(name)
    if not path.is_absolute() and not path.exists() and (origin / name).exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(origin / name)


def rebuild(project: Project, artifact: Artifact, origin: Path, only: str = "") -> Iterator[Finding]:
    """Rebuild one artifact here, compare it, or the output `only`, with the project's, and put that one in its place.

    So each artifact is compared with what the project's own inputs give. Raises PunchlineError and OSError for inputs
    that cannot be read; the project's files are then in place all the same.
    """
    fetched = artifact.rule in ("raw", "images") and not project.selection.corpus.drawn
    try:
        if artifact.rule == "table":
            yield from _table(project, artifact, origin)
        elif not fetched and artifact.rule != "train":
            yield from _differences(project, artifact, origin, only)
    finally:
        _put(origin, artifact.outputs)
        with contextlib.suppress(OSError, PunchlineError):
            _put(origin, artifact.extra())


def _put(origin: Path, outputs: Iterable[str]) -> None:
    """Put links to the project's files in the place of the rebuilt ones; leave files of a linked folder as they are."""
    for path in outputs:
        if Path(path).parent.resolve().is_relative_to(Path.cwd()):
            Path(path).unlink(missing_ok=True)
            _link(origin, path)


def _table(project: Project, artifact: Artifact, origin: Path) -> Iterator[Finding]:
    """Differences between the rebuilt cells and the lineage's, and between the table's files and their text."""
    benchmark, table = artifact.wildcards
    lineage = read_lineage(origin / lineage_path(artifact.outputs[0]))
    tabulated, models, compared, _ = Tables(project, benchmark).compute(table)
    for pair in ((models, lineage.models), (compared, lineage.compared)):
        yield from (Finding("table", artifact.outputs[0], what) for what in same(*map(msgspec.to_builtins, pair)))
    cells = same_cells(*map(msgspec.to_builtins, (tabulated.cells, lineage.cells)))
    yield from (Finding("table", artifact.outputs[0], what) for what in cells)
    for file, text in rendered(project, benchmark, table, tabulated).items():
        if (origin / file).is_file() and (origin / file).read_bytes() != text.encode():
            yield from (Finding("table", file, what) for what in _text_differences(text.encode(), origin / file))


def _differences(project: Project, artifact: Artifact, origin: Path, only: str) -> Iterator[Finding]:
    if artifact.rule == "pictures" and (other := _other_opencv(origin / artifact.outputs[0])):
        yield Finding("picture", artifact.outputs[0], other)
        return
    call(project, artifact)
    for path in [only] if only else [*artifact.outputs, *artifact.extra()]:
        if (origin / path).is_file() and sha256_file(path) != sha256_file(origin / path):
            rebuilt, stored = _rows(artifact, Path(path)), _rows(artifact, origin / path)
            if rebuilt is not None and stored is not None:
                texts = same(rebuilt, stored)
            else:
                texts = _text_differences(Path(path).read_bytes(), origin / path)
            yield from (Finding("overview" if only else kind_of(artifact, path), path, what) for what in texts)
    if artifact.rule == "respond":
        yield from _recomputed(project, *artifact.wildcards)


def _text_differences(rebuilt: bytes, stored: Path) -> Iterator[str]:
    """Differences between a rebuilt and a stored file that is no list of records."""
    with contextlib.suppress(UnicodeDecodeError, csv.Error):
        differences = [*same_text(stored.name, rebuilt.decode(), stored.read_bytes().decode())]
        yield from differences or [REBUILT]
        return
    yield REBUILT


def _recomputed(project: Project, benchmark: str, pass_: str, model: str) -> Iterator[Finding]:
    """Differences between journalled answers and those that released files, or a repeatable engine now, give."""
    respondent = project.respondent(benchmark, pass_, model)
    engine = project.engine_of(respondent)
    if not _is_recomputed(engine):
        return
    images = {} if engine.files else images_of(project, engine, benchmark)
    pairs = list(exchanges_in_pass(project, benchmark, pass_, model))
    requests = [request for request, _ in pairs]
    now = {answer.request_id: answer for answer in engine.answer(requests, images, "")}
    given = [now[request.request_id] for request in requests], [answer for _, answer in pairs]
    rows = ([_answer(*pair) for pair in zip(requests, answers, strict=True)] for answers in given)
    file = project.journal(respondent, Round(benchmark, pass_, (model,)))
    link = f"{'released' if engine.files else 'computed'} answers"
    yield from (Finding(link, file, what) for what in same(*rows))


def _is_recomputed(engine: Engine) -> bool:
    """True if an audit takes the answers of an engine from released files, or computes them."""
    return bool(engine.files) or engine.repeatable


def as_recorded(project: Project, artifact: Artifact) -> list[str]:
    """The journal of answers that no audit takes from elsewhere: of models, scorers, `ocr`; none of other artifacts."""
    if artifact.rule != "respond":
        return []
    benchmark, pass_, model = artifact.wildcards
    respondent = project.respondent(benchmark, pass_, model)
    engine = project.engine_of(respondent)
    if _is_recomputed(engine):
        return []
    return [f"{project.journal(respondent, Round(benchmark, pass_, (model,)))}: answers of the engine {engine.name}"]


def _answer(request: Request, answer: Response) -> Row:
    fields = ("state", "text", "reason", "usage", "effective")
    return {"item_id": request.item_id, "task": request.task} | {name: getattr(answer, name) for name in fields}


def kind_of(artifact: Artifact, path: str) -> str:
    """Kind of a file, as lineages and messages name it."""
    if artifact.rule != "respond":
        return NAMES.get(artifact.rule, artifact.rule)
    pass_ = artifact.wildcards[1]
    what = "snapshot" if path == artifact.outputs[0] else "requests"
    return f"{role_of(pass_)} {what}" if pass_ else what


def _rows(artifact: Artifact, path: Path) -> list[Row] | None:
    """Records in a file; None of another file. Raises OSError, ValueError."""
    if path.suffix == ".parquet":
        return list(open_parquet(path).read(use_threads=False).to_pylist())
    if path.name.endswith(".lineage.json"):
        return list(msgspec.json.decode(path.read_bytes())["cells"])
    if path.suffix != ".jsonl" or artifact.rule == "raw":
        return None
    return [*map(msgspec.json.decode, path.read_bytes().splitlines())]


def _other_opencv(index: Path) -> str | None:
    """A message, where an index's pictures were drawn with another version of OpenCV, which gives other bytes."""
    here = str(number.derivation()["opencv"])
    lines = index.read_bytes().splitlines() if index.is_file() else []
    derivations = (one for line in lines for one in msgspec.json.decode(line)["derivations"])
    others = {str(one["opencv"]) for one in derivations if "opencv" in one} - {here}
    return f"drawn with OpenCV {', '.join(others)}, here is {here}: install that version" if others else None
