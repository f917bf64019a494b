"""Requests to a judge: does an explanation cover the element?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from punchline.benchmarks.humorbench import EXPLAIN, JUDGED
from punchline.benchmarks.humorbench.answers import explained, judged_text
from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.core.benchmark import DEFAULT, filled
from punchline.schema import RULES, Gold, Item, Request, Response, Rule

PROMPTS = prompts(__package__, "judge")


def judge_request(item: Item, gold: Gold, response: Response, rule: Rule) -> Request:
    """The judge's request about an answer under one rule."""
    values = {**item.fields, "explanation": judged_text(response.text or "", rule), "element": gold.values["element"]}
    return question(item, JUDGED, filled(PROMPTS["element"], values))


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
) -> Iterator[Request]:
    """Requests to a judge about one model's answer on one element, one a rule that finds an explanation."""
    response = responses.get(EXPLAIN.name)
    for rule in RULES:
        if response is not None and response.state == "ok" and explained(response.text or "", rule) is not None:
            yield judge_request(item, gold, response, rule)
