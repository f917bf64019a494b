"""What a table rests on, as it is written beside it.

A lineage is one canonical JSON document: the selection, the models, every cell, and every file with its sha256 and
role. `root` is a digest of all of that which must be equal wherever the same run is made; `noted` (commit, time,
mirror, machine) is recorded and enters nothing but `sha256`, the document's own digest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from punchline.core.errors import PunchlineError
from punchline.core.records import (
    Cell,
    Grade,
    ModelCard,
    Record,
    Request,
    Response,
    canonical,
    digest_of,
    digest_of_all,
    digest_of_texts,
)
from punchline.core.storage import digests_in
from punchline.project import adapters, digests
from punchline.project.hops import DATA
from punchline.project.needs import Project
from punchline.project.provenance import Need, Step, walk, way
from punchline.project.selection import Selection

FORMAT = 2


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
    compared: tuple[Asked, ...] = ()  # who was asked about texts of the data itself
    cells: list[Cell]
    files: list[File]
    # Digest of what each rule on the way ran. Not in the root, which holds what came out.
    code: dict[str, str] = msgspec.field(default_factory=dict)
    # {package that a signature on the way names: version}. Left out of a lineage that was made without it.
    libraries: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
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
    compared: Iterable[Asked] = (),
) -> str:
    """One digest of everything that must be equal wherever this table is made from the same bytes."""
    of_data = [(DATA, "", hops)] if (hops := tuple(compared)) else []
    return digest_of(
        {
            "format": FORMAT,
            "benchmark": benchmark,
            "table": table,
            "selection": selection,
            "models": sorted(
                [name, key, *(part for hop in hops for part in (hop.hop, hop.who, hop.key))]
                for name, key, hops in (*((m.card.name, m.key, m.hops) for m in models), *of_data)
            ),
            "cells": [cell.digest for cell in cells],
            "files": sorted((file.path, file.role, file.content or file.sha256) for file in files),
        }
    )


def code_of(step: Step) -> dict[str, str]:
    """{rule: digest of the code that it runs} of every step on the way to one."""
    found: dict[str, set[str]] = {}
    for made in way(step):
        if made.code:
            found.setdefault(made.rule, set()).add(made.code_digest)
    return {rule: digest_of_all(codes) for rule, codes in sorted(found.items())}


def libraries_of(step: Step) -> dict[str, str]:
    """{package: version} of what signatures on the way to a step name, as they are installed here."""
    return dict(sorted(item for made in way(step) for item in made.versions.items()))


def files_of(project: Project, benchmark: str, table: str, *, there: bool = True) -> list[File]:
    """Every file that a table rests on, as needs.py says, and its own. `there`: as in `files_behind`."""
    return files_behind(project.table(benchmark, table), there=there)


def files_behind(step: Step, *, there: bool = True) -> list[File]:
    """Every file that a step rests on, and what it makes.

    `there`: a file that is not there, or that cannot be read, is an OSError or PunchlineError; else it has no digest.
    """
    found: dict[str, File] = {}

    def add(role: str, path: str, content: Callable[[], str | None] = lambda: None) -> None:
        try:
            file = File(path=path, role=role, sha256=digests.of_file(path), content=content())
        except (OSError, PunchlineError):
            if there:
                raise
            file = File(path=path, role=role, sha256="")
        found.setdefault(path, file)

    for need, _ in walk(step):
        add(need.role, need.path, functools.partial(_content, need))
        if need.role == "adapter":
            for path in adapters.files_beside(Path(need.path).parent.name):
                add(need.role, path)
        if need.step is None:
            continue
        made = need.step()
        try:
            extra, journals = made.extra() if made.extra_role else [], made.journals()
        except (OSError, PunchlineError):
            if there:
                raise
            continue
        for path in extra:
            add(made.extra_role, path)
        for role, path, answers in journals:
            add(role, path, functools.partial(str, answers))
    for path in step.outputs:
        if not path.endswith(".lineage.json"):
            add("table", path)
    return [found[path] for path in sorted(found)]


def _content(need: Need) -> str | None:
    """Digest of what counts in a file, where bytes may differ for the same content."""
    if need.content is not None:
        return digest_of(need.content())
    if need.path.endswith(".parquet"):
        kind = Grade if need.role == "grades" else Request if need.role.endswith("requests") else Response
        return table_content(need.path, kind)
    return None


def table_content(path: str, kind: type[Record]) -> str:
    """Digest of a parquet file's records in their order, whatever library wrote it."""
    name = kind.__name__
    return str(digests.cached(name, path, lambda: digest_of_texts(name, digests_in(path))))


def document(lineage: Lineage) -> bytes:
    """The bytes of a lineage file: indented canonical JSON that holds its own digest."""
    body = msgspec.structs.replace(lineage, sha256="")
    return msgspec.json.format(canonical(msgspec.structs.replace(lineage, sha256=body.digest)), indent=1) + b"\n"
