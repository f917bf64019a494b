"""Requests to a judge: does an explanation cover the element?"""

from __future__ import annotations

from collections.abc import Mapping

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
) -> list[Request]:
    """Requests to a judge about one model's answer on one element: once where both rules ask the same, and nothing
    under a rule that finds no explanation."""
    response = responses.get(EXPLAIN.name)
    if response is None or response.state != "ok":
        return []
    text = response.text or ""
    requests = (judge_request(item, gold, response, rule) for rule in RULES if explained(text, rule) is not None)
    return list({request.request_id: request for request in requests}.values())
