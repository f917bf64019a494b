"""Overviews: what is said over all tables (costs, discrepancies, ranks, unread answers, images there are), made again.

They have no lineage of their own: the selection is the one that the run was last made with, and what they rest on is
what the records beside the artefacts say.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from punchline.audit.again import Again
from punchline.audit.audit import Audit, check_idle, linker
from punchline.audit.links import answered_links, source_links
from punchline.config.runs import making
from punchline.core.engine import model_key
from punchline.errors import PunchlineError
from punchline.files import read_records
from punchline.project.hops import DATA
from punchline.project.lineage import Asked, Model, kind_of
from punchline.project.needs import Project
from punchline.schema import Cell, FetchEntry, Response, digest_of
from punchline.stages.cost import cost_text
from punchline.stages.discrepancies import discrepancies_text
from punchline.stages.fetch.ledger import availability_text
from punchline.stages.ranks import ranks_text
from punchline.stages.tabulate import compute
from punchline.stages.unread import unread_text
from punchline.workflow import digests
from punchline.workflow.lineage import files_behind
from punchline.workflow.provenance import Artifact, differences, read_provenance, with_dependencies


def overviews(project: Project) -> dict[str, Artifact]:
    """{path: step} of every overview of a selection."""
    names = project.selection.benchmarks
    steps = [project.cost(), project.discrepancies(), *map(project.unread, names), *map(project.ranks, names)]
    steps += [project.availability(name) for name in names if project.illustrated(name)]
    return {step.outputs[0]: step for step in steps}


@digests.afresh()
def audit(path: str, project: Project, expect: str | None = None) -> Audit:
    """Audit one overview: every step is as recorded; every link of its benchmarks, and itself, made again.

    Raises PunchlineError for one that the selection has not or that was never made, and while a run is at work.
    """
    check_idle()
    known = overviews(project)
    if path not in known or not Path(path).is_file():
        raise PunchlineError(
            "no such overview", file=path, hint=f"Make it first: {making(project.selection.run, path)}"
        )
    found, step = Audit(path), known[path]
    found.files = files_behind(step, required=False)
    content = [(file.path, file.role, file.content or file.sha256) for file in found.files]
    found.root = digest_of({"overview": path, "selection": project.selection, "files": content})
    if expect is not None and expect != found.root:
        found.differs("root", path, f"computed {found.root}, expected {expect}")
    link = linker(found)
    link(
        "record",
        step.record,
        lambda: _otherwise(step),
        "files and parameters of every step on the way are those of its record",
    )
    found.code = [
        made.name for made in with_dependencies(step) if (was := read_provenance(made)) and was.code != made.code_digest
    ]
    again: dict[str, Again] = {}
    for name in [*step.wildcards] or project.selection.benchmarks:
        source_links(link, project, name, pictures=project.illustrated(name))
        if step.rule != "availability":
            tables, compared = project.benchmark(name).TABLES, _asked(project, name, DATA)
            again[name] = Again(project, name, _models(project, name), *tables, compared=compared)
            answered_links(link, again[name], None, scored=step.rule != "cost")
    link("overview", path, functools.partial(_differs, path, _text(step, project, again)), "the overview, made again")
    return found


def _otherwise(step: Artifact) -> Iterator[str]:
    for made in with_dependencies(step):
        yield from (f"{made.name}: {what}" for what in differences(made))


def _models(project: Project, benchmark: str) -> dict[str, Model]:
    """The selected models, and who answers what their answers led to."""
    found = {}
    for name, card in project.cards.items():
        key = model_key(project.engines[name], card, benchmark)
        hops = _asked(project, benchmark, name)
        found[name] = Model(card=card, key=key, kind=kind_of(card), versions=[], hops=hops)
    return found


def _asked(project: Project, benchmark: str, name: str) -> tuple[Asked, ...]:
    hops = project.answerers(benchmark, name)
    return tuple(Asked(hop=hop.name, who=hop.who, card=hop.card, key=hop.key) for hop in hops)


def _text(step: Artifact, project: Project, again: dict[str, Again]) -> Callable[[], str]:
    """What makes the text of an overview from journals, gold and the ledger."""

    def answers(benchmark: str, model: str, hop: str) -> Iterable[Response]:
        own = again[benchmark]
        return own.answers(model) if hop == "answer" else own.hop(model, hop)[1]

    def cells(benchmark: str) -> Iterator[Cell]:
        tables = [name for name, table in project.benchmark(benchmark).TABLES.items() if table.rows is not None]
        for made, _, _ in compute(project, benchmark, tables, again[benchmark]).values():
            yield from made.cells

    if step.rule == "cost":
        return lambda: cost_text(project, answers)
    if step.rule == "discrepancies":
        return lambda: discrepancies_text(project, cells)
    (benchmark,) = step.wildcards
    if step.rule == "ranks":  # of scores and gold, which were made again before
        return lambda: ranks_text(project, benchmark)
    if step.rule == "unread":  # of scores and snapshots, which were made again before
        return lambda: unread_text(project, benchmark)
    return lambda: availability_text(read_records(project.paths.ledger(benchmark), FetchEntry))


def _differs(path: str, text: Callable[[], str]) -> Iterator[str]:
    if Path(path).read_bytes() != text().encode():
        yield "it is not what making it again gives"
