"""Content of an export: items, lineages, and samples: a request, its answer, and its scores under both rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from punchline.artifacts.lineage import Lineage
from punchline.artifacts.passes import CHAINED
from punchline.artifacts.project import Project
from punchline.audit.state import check_table
from punchline.config.runs import making
from punchline.errors import PunchlineError, check_file
from punchline.files import Keyed
from punchline.report.pictures import Right, holds, items_with_rights
from punchline.requests import exchanges, exchanges_in_pass
from punchline.schema import Gold, Item, Request, Response, Score
from punchline.scores import read_scores


class ExportItem(NamedTuple):
    """An item as an export may pass it on."""

    item: Item
    gold: Gold
    right: Right  # of its pictures
    held: bool  # whether the export holds them


class Verdict(NamedTuple):
    """A request to a judge or scorer about a model's answer, and its response."""

    pass_: str
    who: str  # its card, or `released`
    request: Request
    response: Response


class Sample(NamedTuple):
    """One answer."""

    of: ExportItem
    request: Request
    response: Response
    scores: list[Score]  # those that read this answer
    verdicts: dict[str, Verdict]  # by digest of the response: verdicts that those scores depend on


def export_items(project: Project, benchmark: str, pictures: str) -> dict[str, ExportItem]:
    """A benchmark's items by id, in their order."""
    scores = (project.paths.scores(benchmark, model) for model in project.selection.models)
    for file in (project.paths.items(benchmark), *scores):
        check_file(file, "not made yet", hint=f"Make it: {making(project.selection.run)}")
    golds = Keyed(project.paths.gold(benchmark), Gold)
    pairs = items_with_rights(project, benchmark)
    return {i.item_id: ExportItem(i, golds[i.item_id], right, holds(pictures, right)) for i, right in pairs}


def samples(project: Project, benchmark: str, model: str, items: Mapping[str, ExportItem]) -> Iterator[Sample]:
    """A model's answers to a benchmark, in the order of the requests. `items`: by id, of `shown`."""
    read: dict[str, list[Score]] = {}
    for score in read_scores(project.paths.scores(benchmark, model)):
        for digest in score.responses:
            read.setdefault(digest, []).append(score)
    verdicts: dict[str, Verdict] = {}
    for pass_, judge in project.passes(benchmark, model).items():
        pairs = exchanges_in_pass(project, benchmark, pass_, model) if pass_ != CHAINED else ()
        verdicts |= {reply.digest: Verdict(pass_, judge, r, reply) for r, reply in pairs if reply.digest in read}
    for request, response in exchanges(project, benchmark, model):
        scores = read.get(response.digest, [])
        about = {digest: verdicts[digest] for score in scores for digest in score.responses if digest in verdicts}
        yield Sample(items[request.item_id], request, response, scores, about)


def lineages(project: Project, benchmark: str) -> list[Lineage]:
    """The lineages of a benchmark's tables that were made. Raises PunchlineError for none or a changed one."""
    paths = [project.paths.table(table.file) for table in project.benchmark(benchmark).TABLES.values()]
    result = [check_table(path) for path in paths if Path(path).is_file()]
    if not result:
        hint = f"Make them: {making(project.selection.run, 'all_tables')}"
        raise PunchlineError(f"the run has no table of {benchmark}", hint=hint)
    return result
