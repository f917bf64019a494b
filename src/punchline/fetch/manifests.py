"""Manifests, locks and selections: lines of CSV as records, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from punchline.benchmarks.annotations import csv_rows
from punchline.schema import PLACE, Place, Sha256

L = TypeVar("L", bound=msgspec.Struct)
Address = Annotated[str, msgspec.Meta(pattern=rf"^(\w+://|{PLACE})", title="an address, or a path in the project")]
FileName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z", title="a plain file name")]


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """One line of annotations.csv: a released file and its digest."""

    path: Place  # under the output folder
    url: Address  # without a scheme: a file of the project
    sha256: Sha256
    bytes: int
    licence: str
    mirror: Place  # path under a mirror


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """One line of images_pinned.csv: an image whose bytes are known."""

    comic_id: str
    page_url: str
    image_url: Address  # without a scheme: a file of the project
    sha256: Sha256
    bytes: int
    width: int  # pixels
    height: int  # pixels
    licence: str
    mirror: Place  # path under a mirror
    credit: str  # to be shown wherever the image is


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """One line of images.lock.csv: the result of a comic's first fetch."""

    comic_id: str
    url: str
    sha256: Sha256
    bytes: int
    width: int  # pixels
    height: int  # pixels
    mirror: Place  # path under a mirror of the user's own
    page: str = ""  # the listed address when it was fetched; "": not recorded


class Selected(msgspec.Struct, frozen=True, kw_only=True):
    """One line of selected.csv: an item of the run."""

    item_id: FileName
    source: str
    url: str  # of its page or image; "": only the manifest knows it


ANNOTATION_COLUMNS, PIN_COLUMNS, LOCK_COLUMNS = (kind.__struct_fields__ for kind in (Annotation, Pin, Lock))


def read_manifest(path: Path, kind: type[L]) -> list[L]:
    """Lines of a manifest, lock or selection as records of `kind`, without other columns.

    Raises PunchlineError with file, line, record and field.
    """
    key, *_ = kind.__struct_fields__
    return [row for _, row in csv_rows({str(path): path.read_bytes()}, str(path), kind, key)]
