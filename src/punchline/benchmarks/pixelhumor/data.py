"""PixelHumor's released files, read and checked: comics, their panel boxes, gold labels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from punchline.benchmarks.annotations import Literals
from punchline.benchmarks.annotations import items as items_of
from punchline.benchmarks.comic_panels import Comic, Metadata, ReadingOrder, Some, by_comic
from punchline.benchmarks.pixelhumor import COMICS, HARM, METADATA, NAME, OBJECTIVE, SUBJECTIVE, Modality, Sound, Style
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.schema import Gold, ImageRef, Item

BEYOND = 2  # pixels that a box may reach beyond its image: rounding when boxes were drawn

PanelLabel = Annotated[str, msgspec.Meta(pattern=r"^(NA|[0-9]{1,4})\Z", title="a panel number, or NA")]


class Page(Comic, frozen=True):
    """A comic in comic_url.csv."""

    comic_url: str


class Subjective(Comic, Literals, frozen=True):
    """A comic's labels in subjective_label.csv."""

    Q1: Annotated[list[Literal["Yes", "No"]], Some]
    Q2: Annotated[list[Sound], Some]
    Q3: Annotated[list[PanelLabel], Some]
    Q4: Annotated[list[Modality | Literal["NA"]], Some]
    Q5: Annotated[list[Style | Literal["NA"]], Some]


class Objective(ReadingOrder, frozen=True):
    """A comic's labels in objective_label.csv."""

    text: str
    number_of_panels: Annotated[int, msgspec.Meta(ge=1, le=9_999)]


class Harm(Comic, frozen=True):
    """A comic's label in harm_annotation.csv."""

    potentially_harmful: Literal["harm", "non-harm"]


def boxes_of(files: Files, comic_id: str) -> list[tuple[int, int, int, int, int]]:
    """The boxes of a comic's panels. Raises PunchlineError for a comic that has none."""
    metadata = by_comic(files, METADATA, Metadata)
    if comic_id not in metadata:
        raise PunchlineError("no panel boxes", file=METADATA, record=comic_id)
    return metadata[comic_id].boxes


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(comic id, source, page URL) in released order."""
    return [(comic, source_of(comic), row.comic_url.strip()) for comic, row in by_comic(files, COMICS, Page).items()]


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
    for item in records:
        for image, (*box, label) in itertools.product(item.images, boxes_of(files, item.item_id)):
            if box[2] > image.width + BEYOND or box[3] > image.height + BEYOND:
                size = f"{image.width} x {image.height} pixels"
                what = f"the box {box} of panel {label} reaches beyond the image, which is {size}"
                hint = f"{image.path} is not the annotated image: fetch it again, or leave it out with subset="
                raise PunchlineError(what, file=METADATA, record=item.item_id, field="metadata", hint=hint)
    return records


def golds(files: Files) -> Iterator[Gold]:
    """Gold labels, comic by comic, in the order of subjective_label.csv; the files are joined on comic_id.

    values: Q1 … Q5 lists of labels; panel_sequence, the labels in reading order as "2, 1, 3"; text, "N: text" of each
    panel; number_of_panels; potentially_harmful. Raises PunchlineError for a cell that cannot be read, and for a comic
    that one of the files does not have.
    """
    kinds: dict[str, type[msgspec.Struct]] = {SUBJECTIVE: Subjective, OBJECTIVE: Objective, HARM: Harm}
    by_file = {name: by_comic(files, name, kind) for name, kind in kinds.items()}
    for comic_id in dict.fromkeys(itertools.chain(*by_file.values())):
        values: dict[str, Any] = {}
        for name, comics in by_file.items():
            if comic_id not in comics:
                raise PunchlineError("no record of this comic", file=name, record=comic_id, field="comic_id")
            values |= msgspec.structs.asdict(comics[comic_id])
        values["panel_sequence"] = values["panel_sequence"].strip()
        del values["comic_id"]
        yield Gold(benchmark=NAME, item_id=comic_id, values=values)
