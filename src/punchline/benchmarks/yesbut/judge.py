"""What YesBut's judge and BERTScore are asked about descriptions and contradictions."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.benchmarks.yesbut import NAME, PROMPTS, WRITTEN
from punchline.core.benchmark import DEFAULT, comparison, filled
from punchline.core.records import RULES, Gold, Item, Message, Request, Response, Rule, Sampling, Text
from punchline.read import thoughts

# Figure 9 and the released gpt_eval.py. They agree on contradictions but for quotation marks (here the code's); on
# descriptions they differ in wording and order, so that each rule asks its own.
JUDGE_SYSTEM = "You are a helpful assistant."  # gpt_eval.py
FORMAT = 'Please directly output a score by strictly following this format: "[[score]]", for example: "Rating: [[3]]".'
JUDGE_PROMPTS: dict[tuple[str, Rule], str] = {
    ("description", "released"): (
        "\nYou need to determine how accurately a candidate literal description matches a reference literal "
        "description of a comic narrative.\n\n- Candidate literal description:\n{gen}\n\n"
        "- Reference literal description:\n{ref}\n\nUsing a scale from 1 to 5, rate the accuracy with which the "
        "candidate description matches the reference description, with 1 being the least accurate and 5 being the "
        "most accurate.\n" + FORMAT + "\n"
    ),
    ("description", "paper"): (
        "- Candidate literal description: {gen}\n- Reference literal description: {ref}\n"
        "Task: You need to determine how accurately the above candidate literal description matches the given "
        "reference literal description of a comic narrative.\nUsing a scale from 1 to 5, rate the accuracy with which "
        "the candidate description matches the reference description, with 1 being the least accurate and 5 being the "
        "most accurate.\n"
        "Please directly output a score by strictly following this format: [[score]], for example: Rating: [[3]]."
    ),
    ("contradiction", "released"): (
        "\nBackground: You are an impartial judge. You will be given a literal description of a comic that presents "
        "the same situation from two opposing perspectives, highlighting contradictions. You will also be provided "
        "with a gold-standard illustration as reference that effectively demonstrates these narrative "
        "contradictions.\n\nYour task is to evaluate the quality of a generated illustration and determine whether it "
        "accurately depicts the narrative contradictions in the comic. Then, assign a score on a scale of 1 to 5, "
        "where 1 is the lowest and 5 is the highest, based on its quality.\n\n"
        "- The literal description of the comic:\n{caption}\n\n"
        "- The reference contradiction illustration:\n{ref}\n\n"
        "- The generated contradiction illustration:\n{gen}\n\n" + FORMAT + "\n"
    ),
}
JUDGE_PROMPTS["contradiction", "paper"] = JUDGE_PROMPTS["contradiction", "released"]
JUDGE_TEMPERATURE = 1.0  # gpt_eval.py
JUDGE_MAX_TOKENS = 2048  # gpt_eval.py


def scored_text(response: Response | None, rule: Rule) -> str | None:
    """The text that is scored; None for an answer that leaves the denominator.

    The released code drops what has no output, a refusal too; under rule `paper` a refusal counts as an empty text, as
    do thoughts without an answer, and thoughts before one are not scored.
    """
    if response is not None and response.state == "ok":
        text = response.text or ""
        return thoughts.without(text) if rule == "paper" else text
    return "" if response is not None and response.state == "refused" and rule == "paper" else None


def judge_request(item: Item, gold: Gold, kind: str, candidate: str, condition: str, rule: Rule) -> Request:
    values = {"gen": candidate, "ref": gold.values[kind], "caption": gold.values["description"]}
    return Request(
        benchmark=NAME,
        item_id=item.item_id,
        task="judge",
        condition=condition,
        messages=(
            Message(role="system", content=(Text(text=JUDGE_SYSTEM),)),
            Message(role="user", content=(Text(text=filled(JUDGE_PROMPTS[kind, rule], values)),)),
        ),
        sampling=Sampling(temperature=JUDGE_TEMPERATURE, max_tokens=JUDGE_MAX_TOKENS),
    )


def bertscore_request(item: Item, gold: Gold, kind: str, candidate: str, condition: str) -> Request:
    return comparison(NAME, item.item_id, "bertscore", condition, candidate, gold.values[kind])


def judge_requests(
    item: Item, gold: Gold, responses: Mapping[str, Response], condition: str = DEFAULT
) -> list[Request]:
    """What judge and BERTScore are asked about a model's descriptions and contradictions, each once."""
    asked: list[Request] = []
    for kind in WRITTEN:
        for k in PROMPTS:
            for rule in RULES:
                candidate = scored_text(responses.get(f"{kind}_{k}"), rule)
                if candidate is not None:
                    asked.append(judge_request(item, gold, kind, candidate, condition, rule))
                    asked.append(bertscore_request(item, gold, kind, candidate, condition))
    return list({request.request_id: request for request in asked}.values())
