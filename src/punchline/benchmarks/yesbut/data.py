"""YesBut's released file read and checked: items, gold, and what is odd in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from punchline.benchmarks.annotations import Filled, json_rows
from punchline.benchmarks.annotations import items as items_of
from punchline.benchmarks.yesbut import ANNOTATIONS, CHOSEN, LENT, NAME
from punchline.benchmarks.yesbut.options import options
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError, did_you_mean
from punchline.schema import Gold, ImageRef, Item, Scalar

SOURCE = "twitter"  # all addresses are of its image host


class Comic(msgspec.Struct, frozen=True):
    """One comic of the annotations."""

    url: Filled
    caption: Filled
    contradiction: Filled
    moral: Filled
    moral_mcq: Filled
    moral_mcq_answer: Filled
    title: Filled
    title_mcq: Filled
    title_mcq_answer: Filled

    def __post_init__(self) -> None:
        for kind in CHOSEN:
            answer, right = getattr(self, f"{kind}_answer"), getattr(self, kind.removesuffix("_mcq"))
            if options(getattr(self, kind)).get(answer) != right.strip():
                raise ValueError(f"{kind}_answer: the options are without the answer: {answer!r} is not {right[:60]!r}")


class Lent(msgspec.Struct, frozen=True):
    """Another model's description of a comic."""

    output: Filled


def _comics(files: Files) -> dict[str, Comic]:
    return json_rows(files[ANNOTATIONS], Comic, file=ANNOTATIONS, key="image_file")


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(image_file, source, address of the image) of every comic, in released order. The one source: twitter."""
    return [(image_file, SOURCE, comic.url) for image_file, comic in _comics(files).items()]


def _lent(files: Files) -> dict[str, dict[str, str]]:
    """{condition: {image_file: description}} of another model's descriptions, as far as there are any.

    Raises PunchlineError for one of a comic that the annotations do not have.
    """
    comics, lent = _comics(files), {}
    for condition, name in LENT.items():
        rows = json_rows(files.get(name, b"[]"), Lent, file=name, key="image_file")
        lent[condition] = {image_file: row.output for image_file, row in rows.items()}
        for image_file in rows.keys() - comics.keys():
            hint = did_you_mean(image_file, comics).rstrip() or "An id is a comic's image_file, such as 00001.jpg"
            what = f"{ANNOTATIONS} has no such comic"
            raise PunchlineError(what, file=name, record=image_file, field="image_file", hint=hint)
    return lent


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the keys of `images`, in released order; a cluster is a comic.

    Fields: caption (the literal description), moral_mcq, title_mcq (options), and, where a file of LENT has one,
    another model's description by the name of its condition.
    """
    lent = _lent(files)

    def fields(image_file: str, comic: Comic) -> dict[str, Scalar]:
        texts = {name: getattr(comic, name) for name in ("caption", *CHOSEN)}
        return texts | {condition: by_id[image_file] for condition, by_id in lent.items() if image_file in by_id}

    rows = ((i, SOURCE, i, fields(i, comic)) for i, comic in _comics(files).items())
    return items_of(NAME, rows, images, ANNOTATIONS)


def golds(files: Files) -> Iterator[Gold]:
    """Reference texts, and the letter of the right option, for every comic."""
    for image_file, comic in _comics(files).items():
        letters = {kind: getattr(comic, f"{kind}_answer") for kind in CHOSEN}
        values = {"description": comic.caption, "contradiction": comic.contradiction, **letters}
        yield Gold(benchmark=NAME, item_id=image_file, values=values)
