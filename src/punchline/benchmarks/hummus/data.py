"""Hummus's released files: what they hold, checked; items and gold made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from punchline.benchmarks.annotations import Filled, csv_table, json_rows
from punchline.benchmarks.annotations import items as items_of
from punchline.benchmarks.contests import address
from punchline.benchmarks.hummus import DATASET, DESCRIPTIONS, NAME, POSITIVE, TEST_SET
from punchline.core.benchmark import Files
from punchline.read import highlight
from punchline.schema import Gold, ImageRef, Item, Scalar

_COPULA = re.compile(r"\w[^\n]{0,300}?\s(?:is|are|has|have)\s[^\n]{0,300}?\w", re.IGNORECASE)

Label = Literal["Yes", "WIDLII", "No", "Discard"]


Pixels = Annotated[float, msgspec.Meta(ge=1, le=1_000_000)]


class Size(msgspec.Struct, frozen=True):
    height: Pixels
    width: Pixels


class Box(msgspec.Struct, frozen=True):
    height: float  # pixels
    width: float
    top: float
    left: float


class Pair(msgspec.Struct, frozen=True):
    """One pair of hummus_dataset.json."""

    caption: Filled
    contest_number: int
    met_class: Label


class Metaphor(Pair, frozen=True):
    """One that is annotated."""

    conceptual_metaphor: Filled
    explanation: Filled
    caption_hl: Filled
    image_attributes: Size
    bboxes: list[Box]
    bbox_labels: Filled

    @property
    def boxes(self) -> list[list[float]]:
        """[top, left, height, width] as shares of the image."""
        high, wide = self.image_attributes.height, self.image_attributes.width
        return [[box.top / high, box.left / wide, box.height / high, box.width / wide] for box in self.bboxes]

    @property
    def objects(self) -> list[str]:
        """Labels of the boxes."""
        return [name.strip() for name in self.bbox_labels.split(";") if name.strip()]


class Tested(msgspec.Struct, frozen=True):
    """One pair of test_set.json."""

    is_met: Label


class Description(msgspec.Struct, frozen=True):
    """One row of image_descriptions.csv."""

    contest_number: int
    image_description: str


def pairs(files: Files) -> dict[str, Pair]:
    """{item id: pair} of hummus_dataset.json, in released order."""
    return json_rows(files[DATASET], lambda row: Metaphor if row.get("met_class") in POSITIVE else Pair, file=DATASET)


def _labelled(files: Files) -> Iterator[tuple[str, Pair, dict[str, str | None]]]:
    """(item id, pair, {rule: label}) of every pair; None: no label under the rule, or Discard."""
    tested = json_rows(files[TEST_SET], Tested, file=TEST_SET, key="combi_id")
    for item_id, pair in pairs(files).items():
        labels = {"released": tested[item_id].is_met if item_id in tested else None, "paper": pair.met_class}
        yield item_id, pair, {rule: None if label == "Discard" else label for rule, label in labels.items()}


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, "newyorker", address of the contest's image) of every pair, in released order."""
    return [(item_id, "newyorker", address(pair.contest_number)) for item_id, pair in pairs(files).items()]


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, in released order; a string says why there is no image.

    `task` says what is asked about the pair: "all" tasks where either table has it as positive, "classification" where
    either has a label, else "". No prompt shows it. Raises PunchlineError for a pair that is not in the released files.
    """
    table, rows = csv_table(files, DESCRIPTIONS, Description, "contest_number"), []
    described = {contest: row.image_description.strip() for contest, row in table.items()}
    for item_id, pair, labels in _labelled(files):
        task = "classification" if any(labels.values()) else ""
        task = "all" if any(label in POSITIVE for label in labels.values()) else task
        fields: dict[str, Scalar] = {"caption": pair.caption, "contest_number": pair.contest_number}
        fields |= {"description": described.get(pair.contest_number), "asked": task}
        rows.append((item_id, "newyorker", str(pair.contest_number), fields))
    return items_of(NAME, rows, images, DATASET)


def metaphors(text: str) -> tuple[str, ...]:
    """The metaphors of an annotation, "X is Y": split at ";", at "/" between blanks (two ways) and at parentheses."""
    pieces = (" ".join(piece.split()).strip(" .,") for piece in re.split(r";|\s/\s|[()\n]", text))
    return tuple(dict.fromkeys(piece for piece in pieces if _COPULA.search(piece)))


def golds(files: Files) -> Iterator[Gold]:
    """Gold of every pair, in released order.

    values: `labels` {rule: Yes, WIDLII, No, or None}; and where hummus_dataset.json has the pair as Yes or WIDLII
    `metaphors` (texts), `boxes` (shares [top, left, height, width] of the image), `objects` (the boxes' labels),
    `highlight` (words) and `explanation`; absent elsewhere.
    """
    for item_id, pair, labels in _labelled(files):
        values: dict[str, Any] = {"labels": labels}
        if isinstance(pair, Metaphor):
            values |= {"metaphors": list(metaphors(pair.conceptual_metaphor)), "boxes": pair.boxes}
            values |= {"objects": pair.objects, "highlight": list(highlight.highlighted(pair.caption_hl))}
            values["explanation"] = pair.explanation
        yield Gold(benchmark=NAME, item_id=item_id, values=values)
