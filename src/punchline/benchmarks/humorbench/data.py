"""HumorBench's released files: what they hold, checked; items and gold made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from punchline.benchmarks.annotations import Filled, content_of, csv_rows
from punchline.benchmarks.annotations import items as items_of
from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES, NAME
from punchline.benchmarks.humorbench.texts import normal
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.files import parse_csv
from punchline.schema import Gold, ImageRef, Item


class Element(msgspec.Struct, frozen=True):
    """One row of the annotations."""

    idx: Filled
    cartoonstock_id: str
    contest_number: str
    description: Filled
    caption: Filled
    element: Filled

    @property
    def source(self) -> str:
        return "cartoonstock" if self.cartoonstock_id.strip() else "newyorker"


def _elements(files: Files) -> Iterator[tuple[str, int, Element]]:
    """(item id, line, element) of every row. Raises PunchlineError for one without text."""
    for number, (line, row) in enumerate(csv_rows(files, ANNOTATIONS, Element)):
        yield str(number), line, row


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, source, "") of every element, in released order. Sources: newyorker, cartoonstock."""
    return [(item_id, row.source, "") for item_id, _, row in _elements(files)]


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, whose values do not matter: there are none. A cluster is a caption."""
    rows = (
        (i, row.source, normal(row.caption), {"description": row.description, "caption": row.caption, "idx": row.idx})
        for i, _, row in _elements(files)
    )
    return items_of(NAME, rows, dict.fromkeys(images, ()), ANNOTATIONS)


def category_flags(content: bytes, name: str, column: str) -> dict[tuple[str, int], bool]:
    """{(idx, its occurrence, from 1): whether an element is of the category}."""
    seen: Counter[str] = Counter()
    flags = {}
    for line, cells in parse_csv(content, ("idx", column), file=name):
        idx, cell = cells["idx"], cells[column]
        if cell not in ("True", "False"):
            what = f"expected True or False, got {cell!r}"
            raise PunchlineError(what, file=name, line=line, record=idx, field=column)
        seen[idx] += 1
        flags[idx, seen[idx]] = cell == "True"
    return flags


def golds(files: Files) -> list[Gold]:
    """The element that an explanation has to cover, and its categories.

    Category files are joined by `idx`; where that repeats, by its first, second, … occurrence. Raises PunchlineError
    for an element without a category or a category that is neither True nor False.
    """
    categories = {
        category: category_flags(content_of(files, name), name, column)
        for category, (name, column) in CATEGORIES.items()
    }
    made, seen = [], Counter[str]()
    for item_id, line, row in _elements(files):
        seen[row.idx] += 1
        values: dict[str, str | bool] = {"element": row.element}
        for category, flags in categories.items():
            if (row.idx, seen[row.idx]) not in flags:
                raise PunchlineError(
                    f"no {category} for idx {row.idx}",
                    file=CATEGORIES[category][0],
                    record=item_id,
                    hint=f"{ANNOTATIONS} has it in line {line}",
                )
            values[category] = flags[row.idx, seen[row.idx]]
        made.append(Gold(benchmark=NAME, item_id=item_id, values=values))
    return made
