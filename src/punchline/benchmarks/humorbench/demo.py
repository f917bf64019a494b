"""HumorBench's part of the demo corpus: cartoons in words, with captions and elements, all of the project's own making.

Written in the released file formats, quirks included: an `idx` that occurs twice, a line break inside a text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES
from punchline.core.files import write_text
from punchline.core.storage import csv_text
from punchline.demo.scripts import words


class Element(msgspec.Struct, frozen=True):
    text: str
    marks: str = ""  # initials of its categories


class Cartoon(msgspec.Struct, frozen=True):
    description: str
    caption: str
    elements: tuple[Element, ...]


class Labelled(msgspec.Struct, frozen=True):
    """An explanation with a verdict as people might give it."""

    cartoon: int
    element: int
    explanation: str
    label: Literal["PASS", "FAIL"]


class Words(msgspec.Struct, frozen=True):
    cartoons: tuple[Cartoon, ...]
    labelled: tuple[Labelled, ...]


def draw(folder: Path) -> None:
    """Write the annotations, the category files and the labelled explanations in the released formats."""
    annotations: list[dict[str, str | int | float]] = []
    flags: list[tuple[int, str]] = []
    row_of: dict[tuple[int, int], int] = {}
    corpus = words(__file__, Words)
    for number, cartoon in enumerate(corpus.cartoons):
        for at, element in enumerate(cartoon.elements):
            row_of[number, at] = len(annotations)
            idx = len(annotations) + 1 - (len(annotations) >= 5)  # one idx occurs twice, as in the released file
            annotations.append(
                {
                    "idx": idx,
                    "cartoonstock_id": f"DEMO{number:03d}" if number % 4 == 3 else "",
                    "contest_number": "" if number % 4 == 3 else float(number + 1),
                    "description": cartoon.description,
                    "caption": cartoon.caption,
                    "element": element.text.replace(", and", ",\r\nand") if len(annotations) == 2 else element.text,
                }
            )
            flags.append((idx, element.marks))
    columns = ("idx", "cartoonstock_id", "contest_number", "description", "caption", "element")
    write_text(folder / ANNOTATIONS, csv_text(columns, annotations))
    for name, column in CATEGORIES.values():
        rows = [{"idx": idx, column: column[0] in marks} for idx, marks in flags]
        write_text(folder / name, csv_text(("idx", column), rows))
    labelled = [
        {
            **{key: annotations[row_of[given.cartoon, given.element]][key] for key in ("idx", "caption", "element")},
            "explanation": given.explanation,
            "explainer_model": "demo",
            "label": given.label,
        }
        for given in corpus.labelled
    ]
    columns = ("idx", "caption", "element", "explanation", "explainer_model", "label")
    write_text(folder / "rubric" / "gpt_4o_rubric.csv", csv_text(columns, labelled))
