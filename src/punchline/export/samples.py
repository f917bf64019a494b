"""One sample of an export: what a model was asked about an item, what it answered, and what both rules say of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from punchline.config.runs import making
from punchline.errors import PunchlineError
from punchline.files import Keyed, records_in
from punchline.project.hops import CHAINED
from punchline.project.needs import Project
from punchline.report.pictures import Right, holds, right_of_item, rights
from punchline.schema import Gold, ImageRef, Item, Message, Request, Response, Score, Text
from punchline.scores import read_scores
from punchline.stages.ask import asked, asked_of_hop


@dataclass(frozen=True)
class Shown:
    """An item as an export may pass it on."""

    item: Item
    gold: Gold
    right: Right  # of its pictures
    held: bool  # whether the export holds them


@dataclass(frozen=True)
class Heard:
    """What a judge or a scorer was asked about a model's answer, and said."""

    hop: str
    who: str  # its card, or `released`
    request: Request
    response: Response


@dataclass(frozen=True)
class Sample:
    """One answer."""

    of: Shown
    request: Request
    response: Response
    grades: list[Score]  # those that read this answer
    heard: dict[str, Heard]  # by digest of the response: what those grades rest on beside the answer


def shown(project: Project, benchmark: str, pictures: str) -> Iterator[Shown]:
    """A benchmark's items, in their order."""
    where, known = project.paths, rights(project, benchmark)
    path = Path(where.items(benchmark))
    if not path.is_file():
        hint = f"Make it: {making(project.selection.run)}"
        raise PunchlineError("the run has not come so far", file=path, hint=hint)
    golds = Keyed(where.gold(benchmark), Gold)
    for item in records_in(path, Item):
        right = right_of_item(project, known, item)
        yield Shown(item, golds[item.item_id], right, holds(pictures, right))


def samples(project: Project, benchmark: str, model: str, items: Mapping[str, Shown]) -> Iterator[Sample]:
    """A model's answers to a benchmark, in the order of the requests. `items`: by id, of `shown`."""
    path = Path(project.paths.scores(benchmark, model))
    if not path.is_file():
        hint = f"Make them: {making(project.selection.run)}"
        raise PunchlineError("the model has no grades", file=path, hint=hint)
    read: dict[str, list[Score]] = {}
    for grade in read_scores(path):
        for digest in grade.responses:
            read.setdefault(digest, []).append(grade)
    said = {
        one.response.digest: one
        for hop, who in project.hops(benchmark, model).items()
        if hop != CHAINED
        for one in (Heard(hop, who, *pair) for pair in asked_of_hop(project, benchmark, hop, model))
        if one.response.digest in read
    }
    for request, response in asked(project, benchmark, model):
        grades = read.get(response.digest, [])
        heard = {digest: said[digest] for grade in grades for digest in grade.responses if digest in said}
        yield Sample(items[request.item_id], request, response, grades, heard)


def parts(sample: Sample, message: Message) -> Iterator[str | ImageRef | None]:
    """A message's texts and pictures in order; None for a picture that the export does not hold."""
    held = {image.sha256: image for image in sample.of.item.images} if sample.of.held else {}
    for part in message.content:
        yield part.text if isinstance(part, Text) else held.get(part.sha256 or "")
