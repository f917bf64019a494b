"""Requests to YesBut's judge and BERTScore about descriptions and contradictions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from punchline.benchmarks.prompts import prompts
from punchline.benchmarks.request import question
from punchline.benchmarks.yesbut import JUDGED, NAME, PROMPTS, WRITTEN
from punchline.benchmarks.yesbut.answers import written_text
from punchline.core.benchmark import DEFAULT, comparison, filled
from punchline.schema import RULES, Gold, Item, Request, Response, Rule

TEXTS = prompts(__package__, "judge")


def judge_prompt(kind: str, rule: Rule) -> str:
    """Paper and code agree on contradictions but for quotation marks (here the code's); on descriptions they differ in
    wording and order, so that each rule asks its own."""
    return TEXTS.get(f"{kind}_{rule}") or TEXTS[kind]


def scored_text(response: Response | None, rule: Rule) -> str | None:
    """The text that is scored; None for an answer that leaves the denominator.

    The released code drops what has no output, a refusal too; under rule `paper` a refusal counts as an empty text, as
    do thoughts without an answer, and thoughts before one are not scored.
    """
    if response is not None and response.state == "ok":
        return written_text(response.text or "", rule)
    return "" if response is not None and response.state == "refused" and rule == "paper" else None


def judge_request(item: Item, gold: Gold, kind: str, candidate: str, condition: str, rule: Rule) -> Request:
    values = {"gen": candidate, "ref": gold.values[kind], "caption": gold.values["description"]}
    text = filled(judge_prompt(kind, rule), values)
    return question(item, JUDGED._replace(condition=condition), text, system=TEXTS["system"])


def bertscore_request(item: Item, gold: Gold, kind: str, candidate: str, condition: str) -> Request:
    return comparison(NAME, item.item_id, "bertscore", condition, candidate, gold.values[kind])


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
) -> Iterator[Request]:
    """Requests to judge and BERTScore about a model's descriptions and contradictions, under each rule."""
    for kind, k, rule in itertools.product(WRITTEN, PROMPTS, RULES):
        candidate = scored_text(responses.get(f"{kind}_{k}"), rule)
        if candidate is not None:
            yield judge_request(item, gold, kind, candidate, condition, rule)
            yield bertscore_request(item, gold, kind, candidate, condition)
