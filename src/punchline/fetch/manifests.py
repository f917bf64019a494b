"""Manifests, locks and selections: lines of CSV as records, checked."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated, Any, TypeVar

import msgspec

from punchline.benchmarks.annotations import typed
from punchline.errors import PunchlineError
from punchline.files import parse_csv
from punchline.schema import Record

L = TypeVar("L", bound=Record)
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Annotation(Record, frozen=True, kw_only=True):
    """One line of annotations.csv: a released file and its digest."""

    path: str  # under the output folder
    url: str  # without a scheme: a file of the project
    sha256: Sha256
    bytes: int
    licence: str
    mirror: str  # path under a mirror


class Pin(Record, frozen=True, kw_only=True):
    """One line of images_pinned.csv: an image whose bytes are known."""

    comic_id: str
    page_url: str
    image_url: str  # without a scheme: a file of the project
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


class Selected(Record, frozen=True, kw_only=True):
    """One line of selected.csv: an item of the run."""

    item_id: str
    source: str
    url: str  # of its page or image; "": only the manifest knows it


ANNOTATION_COLUMNS, PIN_COLUMNS, LOCK_COLUMNS = (kind.__struct_fields__ for kind in (Annotation, Pin, Lock))
LOCAL = {Annotation: ("path", "mirror", "url"), Pin: ("mirror", "image_url"), Lock: ("mirror",)}  # fields with paths


def read_manifest(path: Path, kind: type[L]) -> list[L]:
    """Lines of a manifest, lock or selection as records of `kind`. Raises PunchlineError with file, line and field."""
    columns = kind.__struct_fields__
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise PunchlineError("no such file", file=path) from error
    records = []
    for line, row in parse_csv(content, columns, file=path):
        record = typed({column: row[column] for column in columns}, kind, file=str(path), line=line, strict=False)
        for field in LOCAL.get(kind, ()):
            place = getattr(record, field)
            if "://" not in place or not field.endswith("url"):
                check_place(place, file=path, line=line, field=field)
        records.append(record)
    return records


def check_place(place: str, **where: Any) -> None:
    """Raises PunchlineError for a path out of a file that leaves the folder it is relative to."""
    parts = PurePosixPath(place).parts
    if not parts or place.startswith("/") or ".." in parts or "\\" in place or "\0" in place:
        raise PunchlineError(f"{place!r} leaves its folder", **where)
