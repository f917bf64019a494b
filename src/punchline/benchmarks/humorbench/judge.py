"""What a judge is asked about an explanation: whether it covers the element."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.benchmarks.humorbench import CONDITION, JUDGE_TASK
from punchline.benchmarks.humorbench.answers import explained, judged_text
from punchline.benchmarks.humorbench.question import question
from punchline.core.benchmark import filled
from punchline.core.records import RULES, Gold, Item, Request, Response, Rule

# Appendix B, with the line breaks and the punctuation of the released prompts.py.
JUDGE_PROMPT = """
You will receive:
1. A short cartoon description
2. A winning funny caption
3. A student’s answer
4. A brief “anticipated answer point” that captures the crucial comedic device or element

Your job is to determine whether the student’s answer **explicitly covers** that “anticipated answer point.”\x20

- If the student’s answer captures or discusses the key comedic element (even if the wording is different), **PASS**.
- If the student’s answer **omits** or **contradicts** that key comedic element, **FAIL**.
- Do not penalize extra details or expansions. Synonyms or paraphrasing are acceptable if they convey the same comedic \
logic.
- Be mindful: if the anticipated answer point emphasizes something specific (e.g. a pun, wordplay, or ironic twist), \
check that the student’s answer includes it.

At the end of your evaluation, provide exactly two XML tags:
1. <reasoning>Short explanation of your thought process</reasoning>
2. <judgement>PASS or FAIL</judgement>

Do not include additional commentary or deviation from this format.

Cartoon description: {description}
Caption: {caption}
Student's answer: {explanation}
Anticipated answer point: {element}
"""

JUDGE_MAX_TOKENS = 1024  # as the released code has it where the API wants a limit


def judge_request(item: Item, gold: Gold, response: Response, rule: Rule) -> Request:
    """What the judge is asked about an answer under one rule."""
    values = {
        **item.fields,
        "explanation": judged_text(response.text or "", rule),
        "element": gold.values["element"],
    }
    return question(item, JUDGE_TASK, filled(JUDGE_PROMPT, values), JUDGE_MAX_TOKENS)


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = CONDITION
) -> list[Request]:
    """What a judge is asked about one model's answer on one element: once where both rules ask the same, and nothing
    under a rule that finds no explanation."""
    response = responses.get("explain")
    if response is None or response.state != "ok":
        return []
    text = response.text or ""
    asked = (judge_request(item, gold, response, rule) for rule in RULES if explained(text, rule) is not None)
    return list({request.request_id: request for request in asked}.values())
