"""PixelHumor's released files, read and checked: comics, their panel boxes, gold labels."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

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
)
from punchline.benchmarks.pixelhumor.released_text import RELEASED_PANEL
from punchline.core.benchmark import Files
from punchline.core.errors import PunchlineError
from punchline.core.records import Gold, ImageRef, Item
from punchline.core.storage import parse_csv

BEYOND = 2  # pixels that a box may reach beyond its image: rounding when boxes were drawn

Box = tuple[int, int, int, int, int]  # x1, y1, x2, y2 in pixels, label

VOCABULARY: dict[str, tuple[str, ...] | None] = {
    "Q1": ("Yes", "No"),
    "Q2": SOUND_EFFECTS,
    "Q3": None,  # a panel number or NA
    "Q4": (*MODALITIES, "NA"),
    "Q5": (*STYLES, "NA"),
}


def released_records(files: Files, name: str, columns: Sequence[str]) -> dict[str, tuple[int, dict[str, str]]]:
    """Records of a released file by comic_id, in its order: (line, cells)."""
    if name not in files:
        raise PunchlineError("the file is not there", file=name, way_out="Fetch the benchmark's annotation files")
    records: dict[str, tuple[int, dict[str, str]]] = {}
    for line, cells in parse_csv(files[name], ["comic_id", *columns], file=name):
        comic_id = cells["comic_id"]
        if not re.fullmatch(r"\w[\w-]*_[\w-]+", comic_id):
            raise PunchlineError(
                f"{comic_id!r} is no comic id",
                file=name,
                line=line,
                field="comic_id",
                way_out="Expected source_number, as xkcd_209",
            )
        if comic_id in records:
            raise PunchlineError(
                f"the id is there already, in line {records[comic_id][0]}",
                file=name,
                line=line,
                record=comic_id,
                field="comic_id",
                way_out="Every comic may occur once",
            )
        records[comic_id] = line, cells
    return records


def _literal(cell: str, *, file: str, line: int, record: str, field: str, expected: str) -> list[Any]:
    """A cell that holds a Python list literal."""
    try:
        value = ast.literal_eval(cell.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list) or not value:
        raise PunchlineError(
            f"{cell[:80]!r} is not a Python list literal with at least one element",
            file=file,
            line=line,
            record=record,
            field=field,
            way_out=f"Expected {expected}",
        )
    return value


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(comic id, source, page URL) in released order."""
    records = released_records(files, COMICS, ["comic_url"])
    return [(comic_id, source_of(comic_id), cells["comic_url"].strip()) for comic_id, (_, cells) in records.items()]


def source_of(comic_id: str) -> str:
    """The comic's source: explosm of explosm_127."""
    return comic_id.rsplit("_", 1)[0]


def _boxes(files: Files) -> dict[str, tuple[int, list[Box]]]:
    """(line, boxes) by comic id."""
    name, field = METADATA, "metadata"
    expected = (
        "Expected a list of {'x1': int, 'y1': int, 'x2': int, 'y2': int, 'panel_number': '1'} "
        "with 0 <= x1 < x2 and 0 <= y1 < y2"
    )
    found: dict[str, tuple[int, list[Box]]] = {}
    for comic_id, (line, cells) in released_records(files, name, [field]).items():
        panels = _literal(
            cells[field], file=name, line=line, record=comic_id, field=field, expected="a list of panel boxes"
        )
        boxes = []
        for panel in panels:
            try:
                x1, y1, x2, y2 = (panel[key] for key in ("x1", "y1", "x2", "y2"))
                label = str(panel["panel_number"]).strip()
                if any(type(value) is not int for value in (x1, y1, x2, y2)) or not re.fullmatch("[0-9]{1,4}", label):
                    raise ValueError
                if not (0 <= x1 < x2 and 0 <= y1 < y2 and int(label) >= 1):
                    raise ValueError
            except (KeyError, TypeError, ValueError) as error:
                raise PunchlineError(
                    f"{str(panel)[:120]} is no panel box",
                    file=name,
                    line=line,
                    record=comic_id,
                    field=field,
                    way_out=expected,
                ) from error
            boxes.append((x1, y1, x2, y2, int(label)))
        found[comic_id] = line, boxes
    return found


def boxes(files: Files) -> dict[str, list[Box]]:
    """Panel boxes (x1, y1, x2, y2, label) of every comic, in released order; pixels of the published image."""
    return {comic_id: found for comic_id, (_, found) in _boxes(files).items()}


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the comics that are keys of `images`, in released order; a string says why there is no image.

    Raises PunchlineError for a comic that is not in the released files, and for a box that reaches more than BEYOND
    pixels beyond its image: the image is then not the one that was annotated.
    """
    listed = listing(files)
    known = {comic_id for comic_id, _, _ in listed}
    for comic_id in images:
        if comic_id not in known:
            raise PunchlineError("no such comic", file=COMICS, record=comic_id, field="comic_id")
    panels = _boxes(files)
    result = []
    for comic_id, source, url in listed:
        if comic_id not in images:
            continue
        shown = images[comic_id]
        image = shown if isinstance(shown, str) else shown[0]
        if comic_id not in panels:
            raise PunchlineError("no panel boxes", file=METADATA, record=comic_id, field="metadata")
        line, found = panels[comic_id]
        if isinstance(image, ImageRef):
            for box in found:
                if box[2] > image.width + BEYOND or box[3] > image.height + BEYOND:
                    raise PunchlineError(
                        f"the box {box[:4]} of panel {box[4]} reaches beyond the image, which is "
                        f"{image.width} x {image.height} pixels",
                        file=METADATA,
                        line=line,
                        record=comic_id,
                        field="metadata",
                        way_out=f"The image {image.path} is not the one that was annotated: fetch it again, "
                        "or leave the comic out with subset=",
                    )
        result.append(
            Item(
                benchmark=NAME,
                item_id=comic_id,
                source=source,
                cluster=comic_id,
                fields={"page_url": url},
                images=(image,) if isinstance(image, ImageRef) else (),
                missing=None if isinstance(image, ImageRef) else image,
            )
        )
    return result


def subjective_labels(cells: Mapping[str, str], line: int, comic_id: str) -> dict[str, Any]:
    """Labels of Q1 … Q5 out of a record of subjective_label.csv."""
    file = SUBJECTIVE
    values: dict[str, Any] = {}
    for task, vocabulary in VOCABULARY.items():
        expected = "a list of one panel number, or ['NA']" if vocabulary is None else f"a list of {vocabulary}"
        found = _literal(cells[task], file=file, line=line, record=comic_id, field=task, expected=expected)
        for label in found:
            if vocabulary is None:
                valid = isinstance(label, str) and re.fullmatch("NA|[0-9]{1,4}", label) is not None
            else:
                valid = label in vocabulary
            if not valid:
                raise PunchlineError(
                    f"{label!r} is no answer to {task}",
                    file=file,
                    line=line,
                    record=comic_id,
                    field=task,
                    way_out=f"Expected {expected}",
                )
        values[task] = found
    return values


def golds(files: Files) -> list[Gold]:
    """What is right, for every comic, in the order of subjective_label.csv; the files are joined on comic_id.

    values: Q1 … Q5 lists of labels; panel_sequence, the labels in reading order as "2, 1, 3"; text, "N: text" of each
    panel; number_of_panels; potentially_harmful. Raises PunchlineError for a cell that cannot be read, and for a comic
    that is in one file only.
    """
    subjective = released_records(files, SUBJECTIVE, ["Q1", "Q2", "Q3", "Q4", "Q5"])
    objective = released_records(files, OBJECTIVE, ["panel_sequence", "text", "number_of_panels"])
    harm = released_records(files, HARM, ["potentially_harmful"])
    for name, records in ((OBJECTIVE, objective), (HARM, harm)):
        for comic_id in subjective.keys() ^ records.keys():
            has, lacks = (SUBJECTIVE, name) if comic_id in subjective else (name, SUBJECTIVE)
            raise PunchlineError(f"the comic is in {has} only", file=lacks, record=comic_id, field="comic_id")
    result = []
    for comic_id, (line, cells) in subjective.items():
        values = subjective_labels(cells, line, comic_id)
        line, cells = objective[comic_id]
        sequence, panels = cells["panel_sequence"].strip(), cells["number_of_panels"].strip()
        for field, text, pattern, expected in (
            ("panel_sequence", sequence, r"[0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*", "labels in reading order, as 2, 1, 3"),
            ("number_of_panels", panels, "0*[1-9][0-9]{0,3}", "a whole number from 1"),
        ):
            if not re.fullmatch(pattern, text):
                raise PunchlineError(
                    f"{text[:80]!r} cannot be read",
                    file=OBJECTIVE,
                    line=line,
                    record=comic_id,
                    field=field,
                    way_out=f"Expected {expected}",
                )
        values |= {"panel_sequence": sequence, "text": cells["text"], "number_of_panels": int(panels)}
        line, cells = harm[comic_id]
        if cells["potentially_harmful"] not in ("harm", "non-harm"):
            raise PunchlineError(
                f"{cells['potentially_harmful'][:80]!r} cannot be read",
                file=HARM,
                line=line,
                record=comic_id,
                field="potentially_harmful",
                way_out="Expected harm or non-harm",
            )
        values["potentially_harmful"] = cells["potentially_harmful"]
        result.append(Gold(benchmark=NAME, item_id=comic_id, values=values))
    return result


def oddities(files: Files) -> list[str]:
    """What is odd in the released files and is tolerated, one line each: `file line N comic field: what`."""
    found = []
    sequences: dict[str, list[int]] = {}
    panels: dict[str, int] = {}
    if all(name in files for name in GOLD_FILES):
        subjective = released_records(files, SUBJECTIVE, ["Q1"])
        objective = released_records(files, OBJECTIVE, ["text"])
        for gold in golds(files):
            comic_id, values = gold.item_id, gold.values
            sequence, n = [int(label) for label in values["panel_sequence"].split(",")], values["number_of_panels"]
            sequences[comic_id], panels[comic_id] = sequence, n
            at = f"{SUBJECTIVE} line {subjective[comic_id][0]} {comic_id}"
            for label in values["Q3"]:
                if label != "NA" and not 1 <= int(label) <= n:
                    found.append(f"{at} Q3: panel {label} of a comic of {n}")
            if values["Q1"] == ["No"]:
                for task, expected in (("Q2", "Absent"), ("Q3", "NA"), ("Q4", "NA"), ("Q5", "NA")):
                    if values[task] != [expected]:
                        found.append(f"{at} {task}: {values[task]} though Q1 is No")
            at = f"{OBJECTIVE} line {objective[comic_id][0]} {comic_id}"
            if sorted(sequence) != list(range(1, n + 1)):
                found.append(f"{at} panel_sequence: {values['panel_sequence']} is no permutation of 1 to {n}")
            keys = {key for key, _ in RELEASED_PANEL.findall(values["text"])}
            if keys != {str(label) for label in range(1, n + 1)}:
                found.append(f"{at} text: the keys {', '.join(sorted(keys)) or '(none)'} are not 1 to {n}")
    if METADATA in files:
        for comic_id, (line, boxes_) in _boxes(files).items():
            at, labels = f"{METADATA} line {line} {comic_id} metadata", [box[4] for box in boxes_]
            if len(set(labels)) < len(labels):
                found.append(f"{at}: the labels {', '.join(map(str, labels))} are not all different")
            elif comic_id in panels and sorted(labels) != list(range(1, panels[comic_id] + 1)):
                found.append(f"{at}: the labels {', '.join(map(str, labels))} are not 1 to {panels[comic_id]}")
    return found
