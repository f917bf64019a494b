"""The lineage of a table: a file next to it that names everything it depends on.

A lineage is one canonical JSON document: the selection, the models, every cell, and every file with its sha256 and
role. `root` is a digest of everything that is equal wherever the same run is made; `noted` (commit, time, mirror,
machine) is recorded only, and counts in `sha256`, the document's own digest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from punchline.artifacts.passes import DATA
from punchline.config.selection import Selection
from punchline.files import decoded
from punchline.schema import Cell, ModelCard, Record, canonical, digest_of
from punchline.workflow.lineage import File

FORMAT = 2


class Respondent(Record, frozen=True, kw_only=True):
    """Respondent of one pass about a model's answers."""

    pass_: str = msgspec.field(name="hop")  # in lineages of all versions
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
    passes: tuple[Respondent, ...] = msgspec.field(name="hops", default=())  # of later passes, which read its answers


class Lineage(Record, frozen=True, kw_only=True):
    """The document next to a table."""

    format: int
    benchmark: str
    table: str
    selection: Selection
    models: list[Model]
    compared: tuple[Respondent, ...] = ()  # who was asked about texts of the data itself
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


def shown_cells(lineage: Lineage) -> list[Cell]:
    """Cells of the rows that a table shows, of one rule and of the data; those of the other rule come after them."""
    rule = next((cell.filter["rule"] for cell in lineage.cells if "rule" in cell.filter), None)
    return [cell for cell in lineage.cells if cell.filter.get("rule", rule) == rule]


def read_lineage(path: str | Path) -> Lineage:
    """A lineage file. Raises PunchlineError for one that cannot be read."""
    return decoded(Path(path).read_bytes(), Lineage, "a lineage", path)


def digests_of_cells(path: str) -> list[str]:
    """Digests of a lineage's cells, without what it names besides."""
    return [cell.digest for cell in read_lineage(path).cells]


def kind_of(card: ModelCard) -> str:
    """The column `kind` of a model's rows."""
    return "baseline" if card.engine in ("baselines", "lexical") else "measured"


def root_of(lineage: Lineage) -> str:
    """One digest of everything that must be equal wherever this table is made from the same bytes."""
    asked = [(model.card.name, model.key, model.passes) for model in lineage.models]
    asked += [(DATA, "", lineage.compared)] if lineage.compared else []
    models = [[name, key, *(part for p in passes for part in (p.pass_, p.who, p.key))] for name, key, passes in asked]
    files = [(file.path, file.role, file.content or file.sha256) for file in lineage.files]
    content = {name: getattr(lineage, name) for name in ("benchmark", "table", "selection")}
    content |= {"format": FORMAT, "models": sorted(models), "files": sorted(files)}
    return digest_of(content | {"cells": [cell.digest for cell in lineage.cells]})


def document(lineage: Lineage) -> bytes:
    """The bytes of a lineage file: indented canonical JSON that holds its own digest."""
    body = msgspec.structs.replace(lineage, sha256="")
    return msgspec.json.format(canonical(msgspec.structs.replace(lineage, sha256=body.digest)), indent=1) + b"\n"
