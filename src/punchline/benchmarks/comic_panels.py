"""PixelHumor's files about panels, which StripCipher reads too: boxes, reading orders."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, TypeVar

import msgspec

from punchline.benchmarks.annotations import Literals, csv_table
from punchline.core.benchmark import Files

Some = msgspec.Meta(min_length=1)
Number = Annotated[str, msgspec.Meta(pattern=r"^\s*0*[1-9][0-9]{0,3}\s*$", title="a number from 1")]
Order = Annotated[
    str, msgspec.Meta(pattern=r"^\s*[0-9]{1,4}(\s*,\s*[0-9]{1,4})*\s*$", title="labels in reading order, as 2, 1, 3")
]
ComicId = Annotated[str, msgspec.Meta(pattern=r"^\w[\w-]*_[\w-]+\Z", title="source_number, as xkcd_209")]


class Panel(msgspec.Struct, frozen=True):
    x1: int
    y1: int
    x2: int
    y2: int
    panel_number: Number


class Comic(msgspec.Struct, frozen=True):
    """A comic in a released file."""

    comic_id: ComicId


class Metadata(Comic, Literals, frozen=True):
    """A comic's boxes in metadata.csv."""

    metadata: Annotated[list[Panel], Some]

    @property
    def boxes(self) -> list[tuple[int, int, int, int, int]]:
        """(x1, y1, x2, y2, label) of each panel, in released order; pixels of the published image."""
        return [(p.x1, p.y1, p.x2, p.y2, int(p.panel_number)) for p in self.metadata]


class ReadingOrder(Comic, frozen=True):
    """The reading order of a comic's panels in objective_label.csv; StripCipher's demo file has no other column."""

    panel_sequence: Order


T = TypeVar("T", bound=msgspec.Struct)


def by_comic(files: Files, name: str, kind: type[T]) -> Mapping[str, T]:
    """The rows of a released file by comic id. Raises PunchlineError for an id or a cell that is none."""
    return _by_comic(files[name], name, kind)


@lru_cache(maxsize=4)  # of several tables
def _by_comic(content: bytes, name: str, kind: type[T]) -> Mapping[str, T]:
    return csv_table({name: content}, name, kind, "comic_id")
