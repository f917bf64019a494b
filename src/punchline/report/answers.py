"""A model's answers for pages: their text, where each was parsed, and its scores under both rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import groupby
from typing import Any

from punchline.artifacts.passes import CHAINED
from punchline.artifacts.run import Run
from punchline.core import benchmark as benchmarks
from punchline.core.engine import NOT_ATTEMPTED
from punchline.files import Keyed
from punchline.read import reasoning
from punchline.read.result import Reads, collect_readings, located
from punchline.report.items import pick_fields, prompt
from punchline.report.public import leave_out_private
from punchline.report.shards import CHUNK, code, write_parts
from punchline.requests import exchanges, exchanges_in_pass
from punchline.responses import Verdicts, by_item, read_verdicts
from punchline.schema import RULES, Gold, Item, Request, Response, Rule, Score
from punchline.scores import read_scores

MOST = 20_000  # characters of an answer that a page shows; `punchline show` has the rest
QUESTION = ("task", "condition", "sample")


def span(text: str | None, reads: Reads) -> list[int] | None:
    """Span of the answer that the paper's rule parsed: from, to."""
    places = ([found.start, found.end] for found in located(text or "", reads))
    return next((place for place in places if place[1] > place[0]), None)


def _answer(request: Request, response: Response, reads: Reads) -> dict[str, Any]:
    text, place, usage = response.text, span(response.text, reads), response.usage
    about = pick_fields(request, *QUESTION) | pick_fields(response, "digest", "state", "reason")
    about |= {"text": text and text[:MOST], "cut": max(0, len(text or "") - MOST)}
    # Characters before the answer.
    about["thoughts"] = reasoning.remove(text).offset if text and len(text) <= MOST else 0
    about["reasoning"] = response.reasoning[:MOST] if isinstance(response.reasoning, str) else ""
    about |= {"span": place if place and place[1] <= MOST else None, "finish": response.finish_reason}
    return about | {"tokens": [usage.prompt, usage.completion, usage.reasoning]}


def _score(score: Score, letter: str) -> dict[str, Any]:
    values = {name: round(value, 4) for name, value in score.metrics.items()}
    about = {"code": letter, "values": values, "answers": [digest[:16] for digest in score.responses]}
    return pick_fields(score, *QUESTION, "rule", "state", "scored", "parsed", "judge") | about


def _add_verdicts(run: Run, benchmark: str, model: str, add: Callable[..., None]) -> Verdicts | None:
    """Verdicts on a model's answers; `add` gets a row for pages of every request to a judge or scorer."""
    verdicts: Verdicts | None = None
    for pass_, judge in run.passes(benchmark, model).items():
        if pass_ != CHAINED:
            heard = list(exchanges_in_pass(run, benchmark, pass_, model))
            verdicts = (verdicts or {}) | read_verdicts(judge, heard)
            for request, response in heard:
                about = {"hop": pass_, "question": prompt(request)[:MOST], "request": response.request_id}
                add("heard", request.item_id, about | _answer(request, response, []))
    return verdicts


def _not_attempted(run: Run, benchmark: str, model: str) -> set[str]:
    """Digests of a baseline's responses to tasks that it does not attempt."""
    if run.engines[model].code(benchmark) is None:  # a model attempts all
        return set()
    every = exchanges(run, benchmark, model)
    return {response.digest for _, response in every if response.reason == NOT_ATTEMPTED}


def build_parts(run: Run, benchmark: str, model: str) -> dict[str, Any]:
    """Files for pages: chunks of CHUNK items with a model's answers and scores, and the index of its scores."""
    where, loaded = run.paths, run.benchmark(benchmark)
    items, golds = Keyed(where.items(benchmark), Item), Keyed(where.gold(benchmark), Gold)
    place = {item_id: number for number, item_id in enumerate(items)}
    states = {rule: defaultdict[str, list[str]](lambda: ["."] * len(place)) for rule in RULES}
    values = {rule: defaultdict[str, list[float | None]](lambda: [None] * len(place)) for rule in RULES}
    parts: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))

    def add(kind: str, item_id: str, row: dict[str, Any]) -> None:
        parts[str(place[item_id] // CHUNK)][item_id][kind].append(row)

    def note(rule: Rule, of: Score | Request, letter: str, value: float | None = None) -> None:
        """A first sample's state and value, by rule and question, in the order of items."""
        if of.sample == 0:
            question = f"{of.task}@{of.condition}"
            states[rule][question][place[of.item_id]] = letter
            values[rule][question][place[of.item_id]] = None if value is None else round(value, 6)

    scored, untried = set[str](), _not_attempted(run, benchmark, model)
    for score in (one for one in read_scores(where.scores(benchmark, model)) if one.responses):  # asked of this item
        scored.update(score.responses)
        value = benchmarks.right(benchmark, score, golds[score.item_id])
        letter = code(score, value, untried)
        add("grades", score.item_id, _score(score, letter))
        note(score.rule, score, letter, value)
    verdicts = _add_verdicts(run, benchmark, model, add)
    for item_id, group in groupby(exchanges(run, benchmark, model), key=lambda pair: pair[0].item_id):
        item, gold, pairs = items[item_id], golds[item_id], list(group)
        ((_, units),) = by_item(pairs)
        with collect_readings() as reads:
            for (_, condition, _), answers in units.items():
                list(loaded.score_item(answers, item, gold, "", "paper", verdicts, condition))
        for request, response in pairs:  # requests that all models share are named with the items, once
            letter = "-" if response.state == "ok" else "a" if response.digest in untried else response.state[0]
            for rule in RULES if response.digest not in scored else ():
                note(rule, request, letter)
            about = {"request": response.request_id} if request.condition in loaded.CHAINED else {}
            add("answers", item_id, about | _answer(request, response, reads))
    letters = {rule: {name: "".join(found) for name, found in of.items()} for rule, of in states.items()}
    return {**parts, "index": {"states": letters, "values": values}}


def write_answers(run: Run, benchmark: str, model: str) -> None:
    """Write a model's answers to a benchmark for pages."""
    parts = build_parts(run, benchmark, model)
    leave_out_private(run, benchmark, parts)
    write_parts(run.paths.report_answers(benchmark, model), f"answers/{benchmark}/{model}", parts)
