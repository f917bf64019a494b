"""A model's answers for pages: what it said, what was read of it and where, what both rules say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import Any

from punchline.core.benchmark import Benchmark
from punchline.files import Keyed, records_in
from punchline.project.hops import CHAINED
from punchline.project.needs import Project
from punchline.read import thoughts
from punchline.read.result import notes
from punchline.read.spans import Reads, located
from punchline.report.items import prompt
from punchline.report.shards import CHUNK, code, write_parts
from punchline.schema import RULES, Gold, Item, Request, Response, Score
from punchline.scores import read_scores
from punchline.stages.ask import asked, asked_of_hop
from punchline.stages.job import make
from punchline.stages.unit import Asked, Verdicts, by_item, read_verdicts

MOST = 20_000  # characters of an answer that a page shows; `punchline show` has the rest


def span(text: str | None, reads: Reads) -> list[int] | None:
    """Where the paper's rule read the answer: from, to."""
    places = ([found.start, found.end] for found in located(text or "", reads))
    return next((place for place in places if place[1] > place[0]), None)


def _answer(request: Request, response: Response, reads: Reads) -> dict[str, Any]:
    text = response.text
    marked = span(text, reads)
    own = thoughts.off(text).offset if text and len(text) <= MOST else 0
    shown = text if text is None or len(text) <= MOST else text[:MOST]
    usage = response.usage
    return {
        "task": request.task,
        "condition": request.condition,
        "sample": request.sample,
        "digest": response.digest,
        "state": response.state,
        "text": shown,
        "cut": 0 if text is None else max(0, len(text) - MOST),
        "thoughts": own,  # characters before the answer itself begins
        "reasoning": response.reasoning[:MOST] if isinstance(response.reasoning, str) else "",
        "span": marked if marked and marked[1] <= MOST else None,
        "reason": response.reason,
        "finish": response.finish_reason,
        "tokens": [usage.prompt, usage.completion, usage.reasoning],
    }


def _grade(benchmark: str, grade: Score, gold: Gold) -> dict[str, Any]:
    return {
        "task": grade.task,
        "condition": grade.condition,
        "sample": grade.sample,
        "rule": grade.rule,
        "state": grade.state,
        "scored": grade.scored,
        "code": code(benchmark, grade, gold),
        "parsed": grade.parsed,
        "values": {name: round(value, 4) for name, value in grade.metrics.items()},
        "judge": grade.judge,
        "answers": [digest[:16] for digest in grade.responses],
    }


class Shelf:
    """What is said of each item, gathered chunk by chunk in the items' order."""

    def __init__(self, ids: list[str]) -> None:
        self.place = {item_id: place for place, item_id in enumerate(ids)}
        self.parts: dict[str, dict[str, Any]] = {}
        self.codes: dict[str, dict[str, list[str]]] = {rule: {} for rule in RULES}

    def put(self, item_id: str, said: dict[str, list[Any]]) -> None:
        """What was answered about an item; what hangs on answers comes later, to what is there."""
        chunk = self.parts.setdefault(str(self.place[item_id] // CHUNK), {})
        own = chunk.setdefault(item_id, {})
        for name, values in said.items():
            own.setdefault(name, []).extend(values)

    def mark(self, item_id: str, grade: dict[str, Any]) -> None:
        """One character of the wall: of the first sample."""
        if grade["sample"] == 0:
            name = f"{grade['task']}@{grade['condition']}"
            marks = self.codes[grade["rule"]].setdefault(name, ["."] * len(self.place))
            marks[self.place[item_id]] = grade["code"]


def _reads(
    loaded: Benchmark, item: Item, gold: Gold, units: dict[Any, dict[str, Response]], verdicts: Verdicts | None
) -> Reads:
    with notes() as found:
        for (_, condition, _), answers in units.items():
            list(loaded.score_item(answers, item, gold, "", "paper", verdicts, condition))
    return found


def _heard(asked: Iterable[Asked], hop: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a hop was asked about an item, and said."""
    for request, response in asked:
        told = {"hop": hop, "question": prompt(request)[:MOST], "request": response.request_id}
        yield request.item_id, told | _answer(request, response, [])


def _own(project: Project, benchmark: str, model: str) -> Iterator[Iterator[tuple[Request, Response, dict[str, Any]]]]:
    """What a model itself was asked, and said. Requests that all models share are named with the items, once."""
    yield ((*pair, {}) for pair in asked(project, benchmark, model, chained=False))
    if CHAINED in project.hops(benchmark, model):
        hop = asked_of_hop(project, benchmark, CHAINED, model)
        yield ((request, response, {"request": response.request_id}) for request, response in hop)


def gather(project: Project, benchmark: str, model: str) -> Shelf:
    """All of a model's answers to a benchmark."""
    where, loaded = project.paths, project.benchmark(benchmark)
    shelf = Shelf([item.item_id for item in records_in(where.items(benchmark), Item)])
    items, golds = Keyed(where.items(benchmark), Item), Keyed(where.gold(benchmark), Gold)
    verdicts: Verdicts | None = None
    for hop, who in project.hops(benchmark, model).items():
        if hop != CHAINED:
            heard = list(asked_of_hop(project, benchmark, hop, model))
            verdicts = (verdicts or {}) | read_verdicts(who, heard)
            for item_id, said in _heard(heard, hop):
                shelf.put(item_id, {"heard": [said]})
    own = chain.from_iterable(_own(project, benchmark, model))
    for item_id, group in groupby(own, key=lambda told: told[0].item_id):
        answers = list(group)
        ((_, units),) = by_item((request, response) for request, response, _ in answers)
        reads = _reads(loaded, items[item_id], golds[item_id], units, verdicts)
        shelf.put(
            item_id, {"answers": [named | _answer(request, response, reads) for request, response, named in answers]}
        )
    for grade in read_scores(where.scores(benchmark, model)):
        if not grade.responses:
            continue  # not asked of this item
        shown = _grade(benchmark, grade, golds[grade.item_id])
        shelf.put(grade.item_id, {"grades": [shown]})
        shelf.mark(grade.item_id, shown)
    return shelf


def write_answers(project: Project, benchmark: str, model: str) -> None:
    """A model's answers to a benchmark, for pages."""
    step = project.report_answers(benchmark, model)

    def write() -> None:
        shelf = gather(project, benchmark, model)
        codes = {rule: {name: "".join(marks) for name, marks in own.items()} for rule, own in shelf.codes.items()}
        parts = {**shelf.parts, "index": {"codes": codes}}
        write_parts(step.outputs[0], f"answers/{benchmark}/{model}", parts)

    make(step, write)
