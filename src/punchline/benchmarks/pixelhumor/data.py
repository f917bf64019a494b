"""PixelHumor's released files, read and checked: comics, their panel boxes, gold labels."""

from __future__ import annotations

import ast
import itertools
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from punchline.benchmarks.annotations import content_of, typed
from punchline.benchmarks.annotations import items as items_of
from punchline.benchmarks.pixelhumor import COMICS, HARM, METADATA, NAME, OBJECTIVE, SUBJECTIVE, Modality, Sound, Style
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.files import parse_csv
from punchline.schema import Gold, ImageRef, Item

BEYOND = 2  # pixels that a box may reach beyond its image: rounding when boxes were drawn

Some = msgspec.Meta(min_length=1)
Side = Annotated[int, msgspec.Meta(ge=0)]
Number = Annotated[str, msgspec.Meta(pattern=r"^\s*[0-9]{1,4}\s*$", title="a number from 1")]
Order = Annotated[
    str, msgspec.Meta(pattern=r"^\s*[0-9]{1,4}(\s*,\s*[0-9]{1,4})*\s*$", title="labels in reading order, as 2, 1, 3")
]
PanelLabel = Annotated[str, msgspec.Meta(pattern=r"^(NA|[0-9]{1,4})\Z", title="a panel number, or NA")]
HINTS = {
    METADATA: "Expected a list of {'x1': int, 'y1': int, 'x2': int, 'y2': int, 'panel_number': '1'} "
    "with 0 <= x1 < x2 and 0 <= y1 < y2"
}


class Literals(msgspec.Struct, frozen=True):
    """A row whose cells are Python literals; an empty cell takes its field's default, where it has one."""


class Panel(msgspec.Struct, frozen=True):
    x1: Side
    y1: Side
    x2: int
    y2: int
    panel_number: Number

    def __post_init__(self) -> None:
        if not (self.x1 < self.x2 and self.y1 < self.y2 and int(self.panel_number) >= 1):
            raise ValueError("no panel box")


class Page(msgspec.Struct, frozen=True):
    """A comic in comic_url.csv."""

    comic_url: str


class Metadata(Literals, frozen=True):
    """A comic's boxes in metadata.csv."""

    metadata: Annotated[list[Panel], Some]

    @property
    def boxes(self) -> list[tuple[int, int, int, int, int]]:
        """(x1, y1, x2, y2, label) of each panel, in released order; pixels of the published image."""
        return [(p.x1, p.y1, p.x2, p.y2, int(p.panel_number)) for p in self.metadata]


class Subjective(Literals, frozen=True):
    """A comic's labels in subjective_label.csv."""

    Q1: Annotated[list[Literal["Yes", "No"]], Some]
    Q2: Annotated[list[Sound], Some]
    Q3: Annotated[list[PanelLabel], Some]
    Q4: Annotated[list[Modality | Literal["NA"]], Some]
    Q5: Annotated[list[Style | Literal["NA"]], Some]


class ReadingOrder(msgspec.Struct, frozen=True):
    """The reading order of a comic's panels in objective_label.csv."""

    panel_sequence: Order


class Objective(ReadingOrder, frozen=True):
    """A comic's labels in objective_label.csv."""

    text: str
    number_of_panels: Annotated[int, msgspec.Meta(ge=1, le=9_999)]


class Harm(msgspec.Struct, frozen=True):
    """A comic's label in harm_annotation.csv."""

    potentially_harmful: Literal["harm", "non-harm"]


T = TypeVar("T", bound=msgspec.Struct)


def rows(files: Files, name: str, kind: type[T]) -> Iterator[tuple[str, int, T]]:
    """(comic id, line, row) of every record of a released file, in its order.

    Raises PunchlineError for a bad or repeated id and for a cell that its field does not take.
    """
    lines: dict[str, int] = {}
    fields, is_literal = msgspec.structs.fields(kind), issubclass(kind, Literals)
    for line, cells in parse_csv(content_of(files, name), ["comic_id", *kind.__struct_fields__], file=name):
        comic_id = cells["comic_id"]
        at: dict[str, Any] = {"file": name, "line": line}
        if not re.fullmatch(r"\w[\w-]*_[\w-]+", comic_id):
            expected = "Expected source_number, as xkcd_209"
            raise PunchlineError(f"{comic_id!r} is no comic id", field="comic_id", hint=expected, **at)
        at["record"] = comic_id
        if comic_id in lines:
            what = f"the id is there already, in line {lines[comic_id]}"
            raise PunchlineError(what, field="comic_id", hint="Every comic may occur once", **at)
        lines[comic_id] = line
        values: dict[str, Any] = {
            one.name: cells[one.name] for one in fields if one.required or cells[one.name].strip()
        }
        if is_literal:
            values = {field: _literal_of(cell, field=field, **at) for field, cell in values.items()}
        yield comic_id, line, typed(values, kind, hint=HINTS.get(name), strict=is_literal, **at)


def _literal_of(cell: str, **at: Any) -> Any:
    try:
        if isinstance(value := _literal(cell.strip()), list):
            return value
        raise TypeError(type(value))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise PunchlineError(f"{cell[:80]!r} is not a Python list literal", **at) from error


@lru_cache(maxsize=4096)  # the 170,000 cells of annotation.csv hold a few hundred different texts
def _literal(text: str) -> Any:
    """The value of a Python literal, which nobody may change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape is a label like any other
        return ast.literal_eval(text)


def by_comic(files: Files, name: str, kind: type[T]) -> Mapping[str, T]:
    """The rows of a released file by comic id."""
    return _by_comic(content_of(files, name), name, kind)


@lru_cache(maxsize=4)  # of several tables
def _by_comic(content: bytes, name: str, kind: type[T]) -> Mapping[str, T]:
    return {comic_id: row for comic_id, _, row in rows({name: content}, name, kind)}


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(comic id, source, page URL) in released order."""
    return [(comic_id, source_of(comic_id), row.comic_url.strip()) for comic_id, _, row in rows(files, COMICS, Page)]


def source_of(comic_id: str) -> str:
    """The comic's source: explosm of explosm_127."""
    return comic_id.rsplit("_", 1)[0]


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the comics that are keys of `images`, in released order; a string says why there is no image.

    Raises PunchlineError for a comic that is not in the released files, and for a box that reaches more than BEYOND
    pixels beyond its image: the image is then not the one that was annotated.
    """
    listed = [(comic_id, source, comic_id, {"page_url": url}) for comic_id, source, url in listing(files)]
    records = items_of(NAME, listed, images, COMICS)
    unboxed = {item.item_id: item.images for item in records}
    for comic_id, line, row in rows(files, METADATA, Metadata):
        for image in unboxed.pop(comic_id, ()):
            for x1, y1, x2, y2, label in row.boxes:
                if x2 > image.width + BEYOND or y2 > image.height + BEYOND:
                    size = f"{image.width} x {image.height} pixels"
                    what = f"the box {(x1, y1, x2, y2)} of panel {label} reaches beyond the image, which is {size}"
                    hint = f"{image.path} is not the annotated image: fetch it again, or leave it out with subset="
                    raise PunchlineError(what, file=METADATA, line=line, record=comic_id, field="metadata", hint=hint)
    for comic_id in unboxed:
        raise PunchlineError("no panel boxes", file=METADATA, record=comic_id, field="metadata")
    return records


def golds(files: Files) -> Iterator[Gold]:
    """Gold labels, comic by comic, in the order of subjective_label.csv; the files are joined on comic_id.

    values: Q1 … Q5 lists of labels; panel_sequence, the labels in reading order as "2, 1, 3"; text, "N: text" of each
    panel; number_of_panels; potentially_harmful. Raises PunchlineError for a cell that cannot be read, and for a comic
    that is in one file only.
    """
    kinds: dict[str, type[msgspec.Struct]] = {SUBJECTIVE: Subjective, OBJECTIVE: Objective, HARM: Harm}
    by_file = {name: by_comic(files, name, kind) for name, kind in kinds.items()}
    for comic_id in dict.fromkeys(itertools.chain(*by_file.values())):
        values: dict[str, Any] = {}
        for name, comics in by_file.items():
            if comic_id not in comics:
                has = next(name for name, comics in by_file.items() if comic_id in comics)
                raise PunchlineError(f"the comic is in {has} only", file=name, record=comic_id, field="comic_id")
            values |= msgspec.structs.asdict(comics[comic_id])
        values["panel_sequence"] = values["panel_sequence"].strip()
        yield Gold(benchmark=NAME, item_id=comic_id, values=values)
