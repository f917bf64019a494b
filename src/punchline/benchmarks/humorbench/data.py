"""HumorBench's released files: rows, items and gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from punchline.benchmarks.annotations import Filled, csv_rows
from punchline.benchmarks.annotations import items as items_of
from punchline.benchmarks.contests import address
from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES, NAME
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.files import parse_csv
from punchline.schema import Gold, ImageRef, Item


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
    row = rows.get((caption, normal(cells.get("element", ""))))
    return row if row is not None or not cells.get("idx") else rows.get((caption, normal(cells["idx"])))


class Element(msgspec.Struct, frozen=True):
    """One row of the annotations."""

    idx: Filled
    cartoonstock_id: str
    contest_number: Annotated[str, msgspec.Meta(pattern=r"^([0-9]{1,5}(\.0)?)?$", title="a number")]
    description: Filled
    caption: Filled
    element: Filled

    @property
    def source(self) -> str:
        return "cartoonstock" if self.cartoonstock_id.strip() else "newyorker"

    @property
    def page(self) -> str:
        """Address of the cartoon; CartoonStock's is a page, no image is taken from it."""
        if self.contest_number:
            return address(int(self.contest_number.partition(".")[0]))
        return f"https://www.cartoonstock.com/cartoon?searchID={self.cartoonstock_id.strip()}"


def _elements(files: Files) -> Iterator[tuple[str, Element]]:
    """(item id, element) of every row. Raises PunchlineError for an empty text."""
    for number, (_, row) in enumerate(csv_rows(files, ANNOTATIONS, Element)):
        yield str(number), row


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, source, "") of every element, in released order. Sources: newyorker, cartoonstock."""
    return [(item_id, row.source, "") for item_id, row in _elements(files)]


def pages(files: Files) -> dict[str, str]:
    """{item id: address of its cartoon}, for condition with-image."""
    return {item_id: row.page for item_id, row in _elements(files)}


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, whose values are ignored: no question needs a cartoon. A cluster is a caption."""
    rows = (
        (i, row.source, normal(row.caption), {"description": row.description, "caption": row.caption, "idx": row.idx})
        for i, row in _elements(files)
    )
    return items_of(NAME, rows, dict.fromkeys(images, ()), ANNOTATIONS)


def category_flags(content: bytes, name: str, column: str) -> list[tuple[str, bool]]:
    """(idx, whether it is in the category) of every element, in released order."""
    has: Any = msgspec.field(name=column)
    kind: Any = msgspec.defstruct("Category", [("idx", str), ("has", Literal["True", "False"], has)])
    return [(row.idx, row.has == "True") for _, row in csv_rows({name: content}, name, kind, key="idx")]


def golds(files: Files) -> Iterator[Gold]:
    """The element that an explanation has to cover, and its categories.

    Raises PunchlineError for category files with other rows and a category that is neither True nor False.
    """
    elements, flags = list(_elements(files)), {}
    for category, (name, column) in CATEGORIES.items():
        flags[category] = category_flags(files[name], name, column)
        if [idx for idx, _ in flags[category]] != [row.idx for _, row in elements]:
            raise PunchlineError(f"the column idx is not that of {ANNOTATIONS}", file=name, field="idx")
    for place, (item_id, row) in enumerate(elements):
        categories = {category: of_category[place][1] for category, of_category in flags.items()}
        yield Gold(benchmark=NAME, item_id=item_id, values={"element": row.element, **categories})
