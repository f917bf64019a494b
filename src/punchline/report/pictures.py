"""Pictures that a report holds: those that the project drew, those under a licence to pass them on, or all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from punchline import paths
from punchline.artifacts.run import Run
from punchline.errors import PunchlineError
from punchline.files import REBUILD, parse_csv, records_in
from punchline.schema import ImageRef, Item, sha256
from punchline.workflow.processes import MODES

# What models saw is split, numbered, shuffled: a licence that forbids derivatives (ND) does not allow it.
PINNED = ("comic_id", "licence", "credit", "page_url")
_OPEN = re.compile(r"CC[ -]?0|CC[ -]BY(?!.*\bND\b)|public domain", re.IGNORECASE)


class Right(NamedTuple):
    """Rights of one item's pictures: the first mode that includes them, and their credit."""

    mode: str
    licence: str = ""
    credit: str = ""
    url: str = ""  # the page that published the picture


OWN = Right("own", "Apache-2.0", "drawn by Punchline")


def holds(chosen: str, right: Right) -> bool:
    """True if a report in this mode holds such pictures."""
    return MODES.index(right.mode) <= MODES.index(chosen)


def rights(run: Run, benchmark: str) -> dict[str, Right]:
    """By item id, of pictures whose licence is known; an item that is not named has none: Right("all")."""
    pinned = Path(paths.manifest(benchmark, "images_pinned.csv"))
    if run.selection.corpus.drawn or not pinned.is_file():
        return {}
    rows = (itemgetter(*PINNED)(row) for _, row in parse_csv(pinned.read_bytes(), PINNED, file=pinned))
    return {name: Right("open" if _OPEN.match(licence) else "all", licence, *about) for name, licence, *about in rows}


def items_with_rights(run: Run, benchmark: str) -> Iterator[tuple[Item, Right]]:
    """A benchmark's items in their order, each with the right of its pictures; "all" where no licence is known."""
    known = rights(run, benchmark)
    for item in records_in(run.paths.items(benchmark), Item):
        unknown = Right("all", url=str(item.fields.get("page_url") or ""))
        yield item, OWN if run.selection.corpus.drawn else known.get(item.item_id, unknown)


def held(run: Run, benchmark: str, chosen: str) -> Iterator[ImageRef]:
    """The pictures of a benchmark's items that a report in this mode holds."""
    for item, right in items_with_rights(run, benchmark):
        if holds(chosen, right):
            yield from item.images


def file_of(image: ImageRef) -> str:
    """Path of a picture in a report, named by its content."""
    return f"pictures/{image.sha256}{Path(image.path).suffix}"


def content(image: ImageRef) -> bytes:
    """The bytes of a picture as models saw it. Raises PunchlineError for one that is another now."""
    image_bytes = Path(image.path).read_bytes()
    if sha256(image_bytes) != image.sha256:
        raise PunchlineError("not the picture that was made", file=image.path, hint=REBUILD)
    return image_bytes
