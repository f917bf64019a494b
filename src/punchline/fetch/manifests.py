"""Manifests, locks and lists of ids: lines of CSV as records, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from punchline.errors import PunchlineError
from punchline.files import parse_csv, stays_inside
from punchline.schema import Record

Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Annotation(Record, frozen=True, kw_only=True):
    """One line of annotations.csv: a released file and its digest."""

    path: str  # under the output folder
    url: str
    sha256: Sha256
    bytes: int
    licence: str
    mirror: str  # path under a mirror


class Pin(Record, frozen=True, kw_only=True):
    """One line of images_pinned.csv: an image whose bytes are known."""

    comic_id: str
    page_url: str
    image_url: str
    sha256: Sha256
    bytes: int
    width: int  # pixels
    height: int  # pixels
    licence: str
    mirror: str  # path under a mirror
    credit: str  # to be shown wherever the image is


class Lock(Record, frozen=True, kw_only=True):
    """One line of images.lock.csv: the result of a comic's first fetch."""

    comic_id: str
    url: str
    sha256: Sha256
    bytes: int
    width: int  # pixels
    height: int  # pixels
    mirror: str  # path under a mirror of the user's own


ANNOTATION_COLUMNS, PIN_COLUMNS, LOCK_COLUMNS = (kind.__struct_fields__ for kind in (Annotation, Pin, Lock))


def read_manifest(path: Path, kind: type[Annotation] | type[Pin] | type[Lock]) -> list[Any]:
    """Lines of a manifest or lock as records of `kind`. Raises PunchlineError with file, line and field."""
    columns = kind.__struct_fields__
    records = []
    for line, row in parse_csv(read_file(path), columns, file=path):
        try:
            record = msgspec.convert({column: row[column] for column in columns}, kind, strict=False)
        except msgspec.ValidationError as error:
            what, _, at = str(error).partition(" - at `$.")
            raise PunchlineError(what, file=path, line=line, field=at.rstrip("`")) from error
        for field in ("path", "mirror"):
            check_place(getattr(record, field, None), file=path, line=line, field=field)
        for field in ("url", "image_url"):  # without a scheme: a file of the project
            place = None if isinstance(record, Lock) else getattr(record, field, None)
            check_place(place if place and "://" not in place else None, file=path, line=line, field=field)
        records.append(record)
    return records


def _id_column(path: Path) -> str:
    header = read_file(path).split(b"\n", 1)[0]
    return "item_id" if b"item_id" in header and b"comic_id" not in header else "comic_id"


def _rows(path: Path, *columns: str) -> list[dict[str, str]]:
    return [row for _, row in parse_csv(read_file(path), columns, file=path)]


def read_pages(path: Path) -> dict[str, str]:
    """item id -> address of its page or image, from a selected.csv, or from PixelHumor's comic_url.csv."""
    key = _id_column(path)
    url = "url" if key == "item_id" else "comic_url"
    return {row[key]: row[url] for row in _rows(path, key, url) if row[url]}


def read_sources(path: Path) -> dict[str, str]:
    """item id -> source, from a selected.csv."""
    return {row["item_id"]: row["source"] for row in _rows(path, "item_id", "source")}


def read_ids(path: Path) -> list[str]:
    """Ids in the column comic_id (or item_id) of a CSV, in its order."""
    key = _id_column(path)
    return [row[key] for row in _rows(path, key)]


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise PunchlineError("no such file", file=path) from error


def check_place(place: str | None, **where: Any) -> None:
    """Raises PunchlineError for a path out of a file that leaves the folder it is relative to."""
    if place is not None and not stays_inside(place):
        raise PunchlineError(f"{place!r} leaves its folder", **where)
