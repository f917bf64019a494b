"""Hummus's released files: what they hold, checked; items and gold made of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from punchline.benchmarks.hummus import (
    DATASET,
    DESCRIPTIONS,
    GOLD_FILES,
    LABELS,
    NAME,
    POSITIVE,
    TEST_SET,
)
from punchline.core.benchmark import Files
from punchline.core.errors import PunchlineError
from punchline.core.records import Gold, ImageRef, Item
from punchline.core.storage import parse_csv
from punchline.score import highlight
from punchline.score.boxes import Box

FIRST_CONTEST_ONLINE = 510  # the first that the site of the contest's data has
IMAGE_ADDRESS = "https://nextml.github.io/caption-contest-data/cartoons/{contest}.jpg"
# Where CapCon's README says that all images are, as <contest>.jpeg; nothing here takes one out of the archive.
ARCHIVE = "https://storage.googleapis.com/ai2-jack-public/caption_contest_data_public/all_contest_images.zip"
CONTEST = re.compile(r"[1-9][0-9]{0,4}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # ids name files
_COPULA = re.compile(r"\w[^\n]{0,300}?\s(?:is|are|has|have)\s[^\n]{0,300}?\w", re.IGNORECASE)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(next(key for key in keys if keys.count(key) > 1))
    return made


class _Twice(Exception):
    """A key that an object of a JSON file has twice."""


def _json(files: Files, name: str) -> Any:
    if name not in files:
        raise PunchlineError("the file is not there", file=name, way_out="Fetch the benchmark's annotation files")
    try:
        return json.loads(files[name], object_pairs_hook=_unique)
    except _Twice as twice:
        raise PunchlineError("it is there twice", file=name, record=_printable(str(twice))) from twice
    except json.JSONDecodeError as error:
        raise PunchlineError(f"not JSON: {error.msg}", file=name, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise PunchlineError(f"not JSON: {error}", file=name) from error


def _printable(text: str) -> str:
    """At most 100 characters that every terminal and file can hold."""
    return text[:100].encode("unicode_escape").decode() if _halved(text) else text[:100]


def _halved(text: str) -> bool:
    """Whether it has half a surrogate pair, which no file can hold."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _item_id(item_id: str, file: str) -> str:
    if not _FILE_NAME.fullmatch(item_id):
        raise PunchlineError("the id is not a plain file name", file=file, record=_printable(item_id))
    return item_id


def _check_texts(record: Mapping[str, Any], file: str, item_id: str) -> None:
    """Raises PunchlineError where any text of a record has half a surrogate pair."""
    left: list[tuple[str, Any]] = [(field, one) for field, value in record.items() for one in (field, value)]
    while left:
        field, value = left.pop()
        if isinstance(value, dict):
            left += [(field, one) for pair in value.items() for one in pair]
        elif isinstance(value, list):
            left += [(field, one) for one in value]
        elif isinstance(value, str) and _halved(value):
            what = "half a surrogate pair is no character"
            raise PunchlineError(what, file=file, record=item_id, field=_printable(field))


def _cell(record: Mapping[str, Any], field: str, kind: type, file: str, item_id: str) -> Any:
    value = record.get(field)
    if not isinstance(value, kind) or isinstance(value, bool) or (kind is str and not str(value).strip()):
        expected = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}[kind]
        raise PunchlineError(f"expected {expected}, got {value!r}"[:200], file=file, record=item_id, field=field)
    return value


def _one_of(record: Mapping[str, Any], field: str, allowed: Sequence[str], file: str, item_id: str) -> str:
    value = _cell(record, field, str, file, item_id)
    if value not in allowed:
        expected = ", ".join(allowed)
        raise PunchlineError(f"{value[:80]!r} is none of {expected}", file=file, record=item_id, field=field)
    return str(value)


def _dataset(files: Files) -> dict[str, dict[str, Any]]:
    """{item id: record} of hummus_dataset.json, in released order; caption, contest_number and met_class are there."""
    found = _json(files, DATASET)
    if not isinstance(found, dict):
        raise PunchlineError("expected an object of items", file=DATASET)
    for item_id, record in found.items():
        if not isinstance(record, dict):
            raise PunchlineError("expected an object", file=DATASET, record=_printable(item_id))
        _item_id(item_id, DATASET)
        _check_texts(record, DATASET, item_id)
        _cell(record, "caption", str, DATASET, item_id)
        number = _cell(record, "contest_number", int, DATASET, item_id)
        if not CONTEST.fullmatch(str(number)):
            what = f"expected a contest's number, got {str(number)[:80]}"
            raise PunchlineError(what, file=DATASET, record=item_id, field="contest_number")
        _one_of(record, "met_class", LABELS, DATASET, item_id)
    return found


def _test_set(files: Files) -> dict[str, str]:
    """{item id: label} of test_set.json."""
    found = _json(files, TEST_SET)
    if not isinstance(found, list):
        raise PunchlineError("expected a list of items", file=TEST_SET)
    labels: dict[str, str] = {}
    for place, record in enumerate(found):
        if not isinstance(record, dict):
            raise PunchlineError("expected an object", file=TEST_SET, record=str(place))
        _check_texts(record, TEST_SET, str(place))
        item_id = _item_id(_cell(record, "combi_id", str, TEST_SET, str(place)), TEST_SET)
        if item_id in labels:
            raise PunchlineError("it is there twice", file=TEST_SET, record=item_id)
        labels[item_id] = _one_of(record, "is_met", LABELS, TEST_SET, item_id)
    return labels


def _labels(files: Files) -> dict[str, dict[str, str | None]]:
    """{item id: {rule: label}}; None: the item has no label under the rule, or is to be left out."""
    dataset, test_set = _dataset(files), _test_set(files)
    for item_id in test_set:
        if item_id not in dataset:
            raise PunchlineError(f"the item is not in {DATASET}", file=TEST_SET, record=item_id)
    return {
        item_id: {
            rule: None if label == "Discard" else label
            for rule, label in (("released", test_set.get(item_id)), ("paper", record["met_class"]))
        }
        for item_id, record in dataset.items()
    }


def _descriptions(files: Files) -> dict[int, str]:
    if DESCRIPTIONS not in files:
        raise PunchlineError("the file is not there", file=DESCRIPTIONS, way_out="Fetch the annotation files")
    found: dict[int, str] = {}
    for line, cells in parse_csv(files[DESCRIPTIONS], ("contest_number", "image_description"), file=DESCRIPTIONS):
        if not CONTEST.fullmatch(cells["contest_number"].strip()):
            what = f"expected a contest's number, got {cells['contest_number'][:80]!r}"
            raise PunchlineError(what, file=DESCRIPTIONS, line=line, field="contest_number")
        contest = int(cells["contest_number"])
        if contest in found:
            raise PunchlineError(f"contest {contest} is there twice", file=DESCRIPTIONS, line=line)
        found[contest] = cells["image_description"].strip()
    return found


def address(contest: int) -> str:
    """Where the image of a contest is: its own address, or the archive's with the file's name after "#".

    Contests before 510 have no address of their own: the fetch records them as missing, with this one as the reason.
    """
    if contest >= FIRST_CONTEST_ONLINE:
        return IMAGE_ADDRESS.format(contest=contest)
    return f"{ARCHIVE}#{contest}.jpeg"


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, "newyorker", address of the contest's image) of every pair, in released order."""
    return [(item_id, "newyorker", address(record["contest_number"])) for item_id, record in _dataset(files).items()]


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, in released order; a string says why there is no image.

    `asked` says what is asked about the pair: "all" tasks where either table has it as positive, "classification" where
    either has a label, else "". No prompt shows it. Raises PunchlineError for a pair that is not in the released files.
    """
    dataset, labels, descriptions = _dataset(files), _labels(files), _descriptions(files)
    for item_id in images:
        if item_id not in dataset:
            raise PunchlineError("no such item", file=DATASET, record=item_id)
    made = []
    for item_id, record in dataset.items():
        if item_id not in images:
            continue
        shown, found = images[item_id], labels[item_id].values()
        asked = "all" if any(label in POSITIVE for label in found) else "classification" if any(found) else ""
        number = record["contest_number"]
        made.append(
            Item(
                benchmark=NAME,
                item_id=item_id,
                source="newyorker",
                cluster=str(number),
                fields={
                    "caption": record["caption"],
                    "contest_number": number,
                    "description": descriptions.get(number),
                    "asked": asked,
                },
                images=() if isinstance(shown, str) else shown,
                missing=shown if isinstance(shown, str) else None,
            )
        )
    return made


def metaphors(text: str) -> tuple[str, ...]:
    """The metaphors of an annotation, "X is Y": split at ";", at "/" between blanks (two ways) and at parentheses."""
    pieces = (" ".join(piece.split()).strip(" .,") for piece in re.split(r";|\s/\s|[()\n]", text))
    return tuple(dict.fromkeys(piece for piece in pieces if _COPULA.search(piece)))


def _boxes_of(record: Mapping[str, Any], item_id: str) -> list[Box]:
    """Boxes of an annotated item as shares of its image. Raises PunchlineError for one that is not inside."""

    def sides(of: Mapping[str, Any], field: str, names: Sequence[str]) -> list[float]:
        found = [of.get(name) for name in names]
        if not all(isinstance(side, int | float) and not isinstance(side, bool) for side in found):
            what = f"expected numbers for {', '.join(names)}"
            raise PunchlineError(what, file=DATASET, record=item_id, field=field)
        numbers = [float(side) if abs(side) < 1e9 else math.inf for side in found if side is not None]  # of NaN: inf
        if not all(map(math.isfinite, numbers)):
            what = f"expected numbers of pixels for {', '.join(names)}"
            raise PunchlineError(what, file=DATASET, record=item_id, field=field)
        return numbers

    attributes = _cell(record, "image_attributes", dict, DATASET, item_id)
    high, wide = sides(attributes, "image_attributes", ("height", "width"))
    made = []
    for box in _cell(record, "bboxes", list, DATASET, item_id):
        if not isinstance(box, dict):
            raise PunchlineError("expected objects", file=DATASET, record=item_id, field="bboxes")
        top, left, height, width = sides(box, "bboxes", ("top", "left", "height", "width"))
        inside = min(top, left) >= 0 and min(height, width) > 0 and top + height <= high and left + width <= wide
        if not inside:
            raise PunchlineError(
                f"the box top {top:g}, left {left:g}, height {height:g}, width {width:g} is not inside the image, "
                f"which is {wide:g} x {high:g} pixels",
                file=DATASET,
                record=item_id,
                field="bboxes",
            )
        made.append((top / high, left / wide, height / high, width / wide))
    return made


def golds(files: Files) -> list[Gold]:
    """What is right, for every pair, in released order.

    values: `labels` {rule: Yes, WIDLII, No, or None}; and where hummus_dataset.json has the pair as Yes or WIDLII
    `metaphors` (texts), `boxes` (shares [top, left, height, width] of the image), `objects` (the boxes' labels),
    `highlight` (words) and `explanation`; absent elsewhere. Raises PunchlineError for an annotation that cannot be
    read.
    """
    labels = _labels(files)
    made = []
    for item_id, record in _dataset(files).items():
        values: dict[str, Any] = {"labels": labels[item_id]}
        if record["met_class"] in POSITIVE:
            objects = _cell(record, "bbox_labels", str, DATASET, item_id).split(";")
            found = _boxes_of(record, item_id)
            if len(objects) != len(found):
                what = f"{len(found)} boxes have {len(objects)} labels"
                raise PunchlineError(what, file=DATASET, record=item_id, field="bbox_labels")
            marked = _cell(record, "caption_hl", str, DATASET, item_id)
            if not highlight.balanced(marked):
                raise PunchlineError("<i> and </i> are not in pairs", file=DATASET, record=item_id, field="caption_hl")
            named = metaphors(_cell(record, "conceptual_metaphor", str, DATASET, item_id))
            if not named:
                what = "no metaphor of the form X is Y"
                raise PunchlineError(what, file=DATASET, record=item_id, field="conceptual_metaphor")
            values |= {
                "metaphors": list(named),
                "boxes": [list(box) for box in found],
                "objects": [name.strip() for name in objects if name.strip()],
                "highlight": list(highlight.highlighted(marked)),
                "explanation": _cell(record, "explanation", str, DATASET, item_id),
            }
        made.append(Gold(benchmark=NAME, item_id=item_id, values=values))
    return made


def oddities(files: Files) -> list[str]:
    """What is odd in the released files and is taken as it stands."""
    if not all(name in files for name in GOLD_FILES):
        return []
    found = []
    dataset, test_set = _dataset(files), _test_set(files)
    for item_id, record in dataset.items():
        at, label = f"{DATASET}, record {item_id}", record["met_class"]
        if item_id in test_set and test_set[item_id] != label:
            found.append(f"{at}: met_class is {label}, is_met of {TEST_SET} is {test_set[item_id]}")
        if item_id not in test_set and label != "Discard":
            found.append(f"{at}: met_class is {label}, and it is not in {TEST_SET}")
        marked = record.get("caption_hl")
        if label in POSITIVE and isinstance(marked, str):
            if re.sub(r"</?i>", "", marked) != record["caption"]:
                found.append(f"{at}: caption_hl differs from caption in more than <i></i>")
            if not highlight.highlighted(marked):
                found.append(f"{at}: caption_hl has nothing between <i></i>: no gold for caption_hl")
        if test_set.get(item_id) in POSITIVE and label not in POSITIVE:
            found.append(f"{at}: positive in {TEST_SET}, but without annotation: only its classification is scored")
    return found
