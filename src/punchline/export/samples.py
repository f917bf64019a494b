"""One sample of an export: what a model was asked about an item, what it answered, and what both rules say of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from punchline.artifacts.passes import CHAINED
from punchline.artifacts.project import Project
from punchline.config.runs import making
from punchline.errors import PunchlineError
from punchline.files import Keyed
from punchline.report.pictures import Right, holds, items_with_rights
from punchline.requests import asked, asked_of_hop
from punchline.schema import Gold, Item, Request, Response, Score
from punchline.scores import read_scores


@dataclass(frozen=True)
class Shown:
    """An item as an export may pass it on."""

    item: Item
    gold: Gold
    right: Right  # of its pictures
    held: bool  # whether the export holds them

    @property
    def withheld(self) -> bool:
        """True if the item has pictures and the export does not hold them."""
        return not self.held and bool(self.item.images)


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


def shown(project: Project, benchmark: str, pictures: str) -> dict[str, Shown]:
    """A benchmark's items by id, in their order."""
    path = Path(project.paths.items(benchmark))
    if not path.is_file():
        hint = f"Make it: {making(project.selection.run)}"
        raise PunchlineError("the run has not come so far", file=path, hint=hint)
    golds = Keyed(project.paths.gold(benchmark), Gold)
    return {
        item.item_id: Shown(item, golds[item.item_id], right, holds(pictures, right))
        for item, right in items_with_rights(project, benchmark)
    }


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
    heard = {
        response.digest: Heard(hop, judge, request, response)
        for hop, judge in project.hops(benchmark, model).items()
        if hop != CHAINED
        for request, response in asked_of_hop(project, benchmark, hop, model)
        if response.digest in read
    }
    for request, response in asked(project, benchmark, model):
        scores = read.get(response.digest, [])
        about = {digest: heard[digest] for score in scores for digest in score.responses if digest in heard}
        yield Sample(items[request.item_id], request, response, scores, about)
