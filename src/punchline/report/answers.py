"""A model's answers for pages: their text, where each was parsed, and its scores under both rules."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import Any

from punchline.artifacts.passes import CHAINED
from punchline.artifacts.project import Project
from punchline.files import Keyed
from punchline.read import reasoning
from punchline.read.result import notes
from punchline.read.spans import Reads, located
from punchline.report.items import pick_fields, prompt
from punchline.report.shards import CHUNK, code, write_parts
from punchline.requests import asked, asked_in_pass
from punchline.responses import Verdicts, by_item, read_verdicts
from punchline.schema import RULES, Gold, Item, Request, Response, Score
from punchline.scores import read_scores

MOST = 20_000  # characters of an answer that a page shows; `punchline show` has the rest
QUESTION = ("task", "condition", "sample")


def span(text: str | None, reads: Reads) -> list[int] | None:
    """Span of the answer that the paper's rule parsed: from, to."""
    places = ([found.start, found.end] for found in located(text or "", reads))
    return next((place for place in places if place[1] > place[0]), None)


def _answer(request: Request, response: Response, reads: Reads) -> dict[str, Any]:
    text = response.text
    found = span(text, reads)
    return {
        **pick_fields(request, *QUESTION),
        **pick_fields(response, "digest", "state"),
        "text": text and text[:MOST],
        "cut": max(0, len(text or "") - MOST),
        "thoughts": reasoning.remove(text).offset if text and len(text) <= MOST else 0,  # characters before the answer
        "reasoning": response.reasoning[:MOST] if isinstance(response.reasoning, str) else "",
        "span": found if found and found[1] <= MOST else None,
        "reason": response.reason,
        "finish": response.finish_reason,
        "tokens": [response.usage.prompt, response.usage.completion, response.usage.reasoning],
    }


def _score(benchmark: str, score: Score, gold: Gold) -> dict[str, Any]:
    return {
        **pick_fields(score, *QUESTION, "rule", "state", "scored"),
        "code": code(benchmark, score, gold),
        "parsed": score.parsed,
        "values": {name: round(value, 4) for name, value in score.metrics.items()},
        "judge": score.judge,
        "answers": [digest[:16] for digest in score.responses],
    }


def build_parts(project: Project, benchmark: str, model: str) -> dict[str, Any]:
    """Files for pages: chunks of CHUNK items with a model's answers and scores, and the index of its scores."""
    where, loaded = project.paths, project.benchmark(benchmark)
    items, golds = Keyed(where.items(benchmark), Item), Keyed(where.gold(benchmark), Gold)
    place = {item_id: number for number, item_id in enumerate(items)}
    parts: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))

    def add(kind: str, item_id: str, row: dict[str, Any]) -> None:
        parts[str(place[item_id] // CHUNK)][item_id][kind].append(row)

    verdicts: Verdicts | None = None
    for pass_, judge in project.passes(benchmark, model).items():
        if pass_ != CHAINED:
            heard = list(asked_in_pass(project, benchmark, pass_, model))
            verdicts = (verdicts or {}) | read_verdicts(judge, heard)
            for request, response in heard:
                about = {"hop": pass_, "question": prompt(request)[:MOST], "request": response.request_id}
                add("heard", request.item_id, about | _answer(request, response, []))
    for item_id, group in groupby(asked(project, benchmark, model), key=lambda pair: pair[0].item_id):
        item, gold, pairs = items[item_id], golds[item_id], list(group)
        ((_, units),) = by_item(pairs)
        with notes() as reads:
            for (_, condition, _), answers in units.items():
                list(loaded.score_item(answers, item, gold, "", "paper", verdicts, condition))
        for request, response in pairs:  # requests that all models share are named with the items, once
            about = {"request": response.request_id} if request.condition in loaded.CHAINED else {}
            add("answers", item_id, about | _answer(request, response, reads))
    codes: dict[str, dict[str, list[str]]] = {rule: {} for rule in RULES}
    for score in read_scores(where.scores(benchmark, model)):
        if score.responses:  # else not asked of this item
            row = _score(benchmark, score, golds[score.item_id])
            add("grades", score.item_id, row)
            if score.sample == 0:  # a wall shows one character of an answer: of the first sample
                marks = codes[score.rule].setdefault(f"{score.task}@{score.condition}", ["."] * len(place))
                marks[place[score.item_id]] = row["code"]
    index = {rule: {name: "".join(marks) for name, marks in made.items()} for rule, made in codes.items()}
    return {**parts, "index": {"codes": index}}


def write_answers(project: Project, benchmark: str, model: str) -> None:
    """Write a model's answers to a benchmark for pages."""
    index = project.paths.report_answers(benchmark, model)
    write_parts(index, f"answers/{benchmark}/{model}", build_parts(project, benchmark, model))
