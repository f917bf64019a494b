"""Texts of HumorBench's files and of answers, as they are joined."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.files import parse_csv


def normal(text: str) -> str:
    """Text with plain line ends, as texts are joined."""
    return text.replace("\r\n", "\n").strip()


def rows_of(annotations: bytes) -> dict[tuple[str, str], str]:
    """{(caption, element) and (caption, idx): row of the annotations}, the first of those that share it.

    By idx: released labels have one element without a slip of the pen that the annotations have.
    """
    rows: dict[tuple[str, str], str] = {}
    for row, (_, cells) in enumerate(parse_csv(annotations, ("caption", "element"), file=ANNOTATIONS)):
        for name in ("element", "idx"):
            rows.setdefault((normal(cells["caption"]), normal(cells.get(name, ""))), str(row))
    return rows


def row_in(rows: Mapping[tuple[str, str], str], cells: Mapping[str, str]) -> str | None:
    """The row of the annotations that a row of another released file is of; None where there is none."""
    caption = normal(cells.get("caption", ""))
    found = rows.get((caption, normal(cells.get("element", ""))))
    return found if found is not None or not cells.get("idx") else rows.get((caption, normal(cells["idx"])))
