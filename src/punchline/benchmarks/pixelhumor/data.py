"""PixelHumor's released files, read and checked: comics, their panel boxes, gold labels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from punchline.benchmarks.annotations import content_of, typed
from punchline.benchmarks.annotations import items as items_of
from punchline.benchmarks.pixelhumor import (
    COMICS,
    GOLD_FILES,
    HARM,
    METADATA,
    MODALITIES,
    NAME,
    OBJECTIVE,
    SOUND_EFFECTS,
    STYLES,
    SUBJECTIVE,
    Modality,
    Sound,
    Style,
)
from punchline.benchmarks.pixelhumor.released_text import RELEASED_PANEL
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.files import csv_records
from punchline.schema import Gold, ImageRef, Item

BEYOND = 2  # pixels that a box may reach beyond its image: rounding when boxes were drawn

Box = tuple[int, int, int, int, int]  # x1, y1, x2, y2 in pixels, label

VOCABULARY: dict[str, tuple[str, ...] | None] = {
    "Q1": ("Yes", "No"),
    "Q2": SOUND_EFFECTS,
    "Q3": None,  # a panel number or NA
    "Q4": (*MODALITIES, "NA"),
    "Q5": (*STYLES, "NA"),
}
Some = msgspec.Meta(min_length=1)
Side = Annotated[int, msgspec.Meta(ge=0)]
Number = Annotated[str, msgspec.Meta(pattern=r"^\s*[0-9]{1,4}\s*$", title="a number from 1")]
Order = Annotated[
    str, msgspec.Meta(pattern=r"^\s*[0-9]{1,4}(\s*,\s*[0-9]{1,4})*\s*$", title="labels in reading order, as 2, 1, 3")
]
PanelLabel = Annotated[str, msgspec.Meta(pattern=r"^(NA|[0-9]{1,4})\Z", title="a panel number, or NA")]


class Panel(msgspec.Struct, frozen=True):
    x1: Side
    y1: Side
    x2: int
    y2: int
    panel_number: Number

    def __post_init__(self) -> None:
        if not (self.x1 < self.x2 and self.y1 < self.y2 and int(self.panel_number) >= 1):
            raise ValueError("no panel box")


class Metadata(msgspec.Struct, frozen=True):
    """A comic's boxes in metadata.csv."""

    metadata: Annotated[list[Panel], Some]


class Subjective(msgspec.Struct, frozen=True):
    """A comic's labels in subjective_label.csv."""

    Q1: Annotated[list[Literal["Yes", "No"]], Some]
    Q2: Annotated[list[Sound], Some]
    Q3: Annotated[list[PanelLabel], Some]
    Q4: Annotated[list[Modality | Literal["NA"]], Some]
    Q5: Annotated[list[Style | Literal["NA"]], Some]


class Objective(msgspec.Struct, frozen=True):
    """A comic's labels in objective_label.csv."""

    panel_sequence: Order
    text: str
    number_of_panels: Annotated[int, msgspec.Meta(ge=1, le=9_999)]


class Harm(msgspec.Struct, frozen=True):
    """A comic's label in harm_annotation.csv."""

    potentially_harmful: Literal["harm", "non-harm"]


def records(files: Files, name: str, columns: Sequence[str]) -> Iterator[tuple[str, int, dict[str, str]]]:
    """(comic id, line, cells of these columns) of every record of a released file, in its order."""
    lines: dict[str, int] = {}
    for line, cells in csv_records(content_of(files, name), ["comic_id", *columns], file=name):
        comic_id = cells["comic_id"]
        at: dict[str, Any] = {"file": name, "line": line, "field": "comic_id"}
        if not re.fullmatch(r"\w[\w-]*_[\w-]+", comic_id):
            raise PunchlineError(f"{comic_id!r} is no comic id", hint="Expected source_number, as xkcd_209", **at)
        if comic_id in lines:
            what = f"the id is there already, in line {lines[comic_id]}"
            raise PunchlineError(what, record=comic_id, hint="Every comic may occur once", **at)
        lines[comic_id] = line
        yield comic_id, line, {column: cells[column] for column in columns}


def released_records(files: Files, name: str, columns: Sequence[str]) -> dict[str, tuple[int, dict[str, str]]]:
    """Those records by comic id: (line, cells)."""
    return {comic_id: (line, cells) for comic_id, line, cells in records(files, name, columns)}


def released_lines(files: Files, name: str) -> dict[str, int]:
    """The lines they are in."""
    return {comic_id: line for comic_id, line, _ in records(files, name, [])}


def _literals(cells: Mapping[str, str], kind: type, file: str, line: int, comic_id: str) -> dict[str, Any]:
    """Cells that hold Python literals."""
    values = {}
    for field in kind.__struct_fields__:  # type: ignore[attr-defined]
        try:
            values[field] = ast.literal_eval(cells[field].strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            what = f"{cells[field][:80]!r} is not a Python list literal"
            raise PunchlineError(what, file=file, line=line, record=comic_id, field=field) from error
    return values


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(comic id, source, page URL) in released order."""
    found = records(files, COMICS, ["comic_url"])
    return [(comic_id, source_of(comic_id), cells["comic_url"].strip()) for comic_id, _, cells in found]


def source_of(comic_id: str) -> str:
    """The comic's source: explosm of explosm_127."""
    return comic_id.rsplit("_", 1)[0]


def _boxes(files: Files) -> Iterator[tuple[str, int, list[Box]]]:
    """(comic id, line, boxes) of every comic."""
    hint = (
        "Expected a list of {'x1': int, 'y1': int, 'x2': int, 'y2': int, 'panel_number': '1'} "
        "with 0 <= x1 < x2 and 0 <= y1 < y2"
    )
    for comic_id, line, cells in records(files, METADATA, ["metadata"]):
        values = _literals(cells, Metadata, METADATA, line, comic_id)
        panels = typed(values, Metadata, file=METADATA, line=line, record=comic_id, hint=hint).metadata
        yield comic_id, line, [(p.x1, p.y1, p.x2, p.y2, int(p.panel_number)) for p in panels]


def boxes(files: Files) -> dict[str, list[Box]]:
    """Panel boxes (x1, y1, x2, y2, label) of every comic, in released order; pixels of the published image."""
    return {comic_id: found for comic_id, _, found in _boxes(files)}


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the comics that are keys of `images`, in released order; a string says why there is no image.

    Raises PunchlineError for a comic that is not in the released files, and for a box that reaches more than BEYOND
    pixels beyond its image: the image is then not the one that was annotated.
    """
    rows = [(comic_id, source, comic_id, {"page_url": url}) for comic_id, source, url in listing(files)]
    made = items_of(NAME, rows, images, COMICS)
    unboxed = {item.item_id: item.images for item in made}
    for comic_id, line, found in _boxes(files):
        for image in unboxed.pop(comic_id, ()):
            for box in found:
                if box[2] > image.width + BEYOND or box[3] > image.height + BEYOND:
                    raise PunchlineError(
                        f"the box {box[:4]} of panel {box[4]} reaches beyond the image, which is "
                        f"{image.width} x {image.height} pixels",
                        file=METADATA,
                        line=line,
                        record=comic_id,
                        field="metadata",
                        hint=f"The image {image.path} is not the one that was annotated: fetch it again, "
                        "or leave the comic out with subset=",
                    )
    for comic_id in unboxed:
        raise PunchlineError("no panel boxes", file=METADATA, record=comic_id, field="metadata")
    return made


def subjective_labels(cells: Mapping[str, str], line: int, comic_id: str) -> dict[str, Any]:
    """Labels of Q1 … Q5 out of a record of subjective_label.csv."""
    values = _literals(cells, Subjective, SUBJECTIVE, line, comic_id)
    return msgspec.structs.asdict(typed(values, Subjective, file=SUBJECTIVE, line=line, record=comic_id))


def golds(files: Files) -> Iterator[Gold]:
    """What is right, comic by comic, in the order of subjective_label.csv; the files are joined on comic_id.

    values: Q1 … Q5 lists of labels; panel_sequence, the labels in reading order as "2, 1, 3"; text, "N: text" of each
    panel; number_of_panels; potentially_harmful. Raises PunchlineError for a cell that cannot be read, and for a comic
    that is in one file only.
    """
    subjective = released_lines(files, SUBJECTIVE)
    objective = released_records(files, OBJECTIVE, Objective.__struct_fields__)
    harm = released_records(files, HARM, Harm.__struct_fields__)
    for name, found in ((OBJECTIVE, objective), (HARM, harm)):
        for comic_id in subjective.keys() ^ found.keys():
            has, lacks = (SUBJECTIVE, name) if comic_id in subjective else (name, SUBJECTIVE)
            raise PunchlineError(f"the comic is in {has} only", file=lacks, record=comic_id, field="comic_id")
    for comic_id, line, cells in records(files, SUBJECTIVE, Subjective.__struct_fields__):
        values = subjective_labels(cells, line, comic_id)
        line, cells = objective.pop(comic_id)
        labels = typed(cells, Objective, file=OBJECTIVE, line=line, record=comic_id, strict=False)
        values |= msgspec.structs.asdict(labels) | {"panel_sequence": labels.panel_sequence.strip()}
        line, cells = harm.pop(comic_id)
        values |= msgspec.structs.asdict(typed(cells, Harm, file=HARM, line=line, record=comic_id))
        yield Gold(benchmark=NAME, item_id=comic_id, values=values)


def oddities(files: Files) -> list[str]:
    """What is odd in the released files and is tolerated, one line each: `file line N comic field: what`."""
    found = []
    panels: dict[str, int] = {}
    if all(name in files for name in GOLD_FILES):
        subjective, objective = released_lines(files, SUBJECTIVE), released_lines(files, OBJECTIVE)
        for gold in golds(files):
            comic_id, values = gold.item_id, gold.values
            sequence, n = [int(label) for label in values["panel_sequence"].split(",")], values["number_of_panels"]
            panels[comic_id] = n
            at = f"{SUBJECTIVE} line {subjective[comic_id]} {comic_id}"
            for label in values["Q3"]:
                if label != "NA" and not 1 <= int(label) <= n:
                    found.append(f"{at} Q3: panel {label} of a comic of {n}")
            if values["Q1"] == ["No"]:
                for task, expected in (("Q2", "Absent"), ("Q3", "NA"), ("Q4", "NA"), ("Q5", "NA")):
                    if values[task] != [expected]:
                        found.append(f"{at} {task}: {values[task]} though Q1 is No")
            at = f"{OBJECTIVE} line {objective[comic_id]} {comic_id}"
            if sorted(sequence) != list(range(1, n + 1)):
                found.append(f"{at} panel_sequence: {values['panel_sequence']} is no permutation of 1 to {n}")
            keys = {key for key, _ in RELEASED_PANEL.findall(values["text"])}
            if keys != {str(label) for label in range(1, n + 1)}:
                found.append(f"{at} text: the keys {', '.join(sorted(keys)) or '(none)'} are not 1 to {n}")
    if METADATA in files:
        for comic_id, line, boxes_ in _boxes(files):
            at, labels = f"{METADATA} line {line} {comic_id} metadata", [box[4] for box in boxes_]
            if len(set(labels)) < len(labels):
                found.append(f"{at}: the labels {', '.join(map(str, labels))} are not all different")
            elif comic_id in panels and sorted(labels) != list(range(1, panels[comic_id] + 1)):
                found.append(f"{at}: the labels {', '.join(map(str, labels))} are not 1 to {panels[comic_id]}")
    return found
