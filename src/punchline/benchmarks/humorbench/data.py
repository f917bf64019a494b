"""HumorBench's released files: what they hold, checked; items and gold made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES, NAME
from punchline.benchmarks.humorbench.texts import normal
from punchline.core.benchmark import Files
from punchline.core.errors import PunchlineError
from punchline.core.records import Gold, ImageRef, Item
from punchline.core.storage import parse_csv


def _rows(files: Files, name: str, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    if name not in files:
        raise PunchlineError("the file is not there", file=name, way_out="Fetch the benchmark's annotation files")
    return parse_csv(files[name], columns, file=name)


def _annotations(files: Files) -> Iterator[tuple[str, int, dict[str, str]]]:
    """(item id, line, cells) of every element. Raises PunchlineError for one without text."""
    columns = ("idx", "cartoonstock_id", "contest_number", "description", "caption", "element")
    for row, (line, cells) in enumerate(_rows(files, ANNOTATIONS, columns)):
        for column in ("idx", "description", "caption", "element"):
            if not cells[column].strip():
                raise PunchlineError("the cell is empty", file=ANNOTATIONS, line=line, record=str(row), field=column)
        yield str(row), line, cells


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, source, "") of every element, in released order. Sources: newyorker, cartoonstock."""
    return [(item_id, _source(cells), "") for item_id, _, cells in _annotations(files)]


def _source(cells: Mapping[str, str]) -> str:
    return "cartoonstock" if cells["cartoonstock_id"].strip() else "newyorker"


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, whose values do not matter: there are none. A cluster is a caption."""
    return [
        Item(
            benchmark=NAME,
            item_id=item_id,
            source=_source(cells),
            cluster=normal(cells["caption"]),
            fields={"description": cells["description"], "caption": cells["caption"], "idx": cells["idx"]},
        )
        for item_id, _, cells in _annotations(files)
        if item_id in images
    ]


def golds(files: Files) -> list[Gold]:
    """The element that an explanation has to cover, and its categories.

    Category files are joined by `idx`; where that repeats, by its first, second, … occurrence. Raises PunchlineError
    for an element without a category or a category that is neither True nor False.
    """
    flags: dict[str, dict[tuple[str, int], bool]] = {}
    for category, (name, column) in CATEGORIES.items():
        seen: Counter[str] = Counter()
        flags[category] = {}
        for line, cells in _rows(files, name, ("idx", column)):
            if cells[column] not in ("True", "False"):
                raise PunchlineError(
                    f"expected True or False, got {cells[column]!r}",
                    file=name,
                    line=line,
                    record=cells["idx"],
                    field=column,
                )
            flags[category][cells["idx"], seen[cells["idx"]]] = cells[column] == "True"
            seen[cells["idx"]] += 1
    made, seen = [], Counter()
    for item_id, line, cells in _annotations(files):
        values: dict[str, str | bool] = {"element": cells["element"]}
        for category, by_idx in flags.items():
            key = cells["idx"], seen[cells["idx"]]
            if key not in by_idx:
                raise PunchlineError(
                    f"no {category} for idx {cells['idx']}",
                    file=CATEGORIES[category][0],
                    record=item_id,
                    way_out=f"{ANNOTATIONS} has it in line {line}",
                )
            values[category] = by_idx[key]
        seen[cells["idx"]] += 1
        made.append(Gold(benchmark=NAME, item_id=item_id, values=values))
    return made


def oddities(files: Files) -> list[str]:
    """What is odd in the released files and is taken as it stands."""
    found = []
    seen: Counter[str] = Counter()
    for item_id, line, cells in _annotations(files):
        seen[cells["idx"]] += 1
        if seen[cells["idx"]] > 1:
            found.append(f"{ANNOTATIONS}, line {line}, record {item_id}: idx {cells['idx']} is there already")
        if any("\r" in text for text in cells.values()):
            found.append(f"{ANNOTATIONS}, line {line}, record {item_id}: CR LF inside a text")
    return found
