"""What models are asked about a comic: the prompts, with and without a description of it."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.benchmarks.yesbut import CHAINED, CONDITIONS, DESCRIBED, KINDS, LENT, NAME, PROMPTS
from punchline.core.benchmark import DEFAULT, filled
from punchline.core.records import Image, Item, Message, Request, Response, Sampling, Text

# Figures 13-16, in the order in which they are printed there; line breaks, which print does not tell, and the blank
# lines around are those of the released instruction_generation_yesbut.py (descriptions: Prompts.sh).
PLAIN: dict[str, tuple[str, str, str]] = {
    "description": (
        "The given comic shows the same situation from two opposite sides with contradictions. Write a one-paragraph "
        "literal description to describe the narrative of the comic.",
        "Please literally describe the context of the image in detail.",
        "Give me a detailed literal description of the image.",
    ),
    "contradiction": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "Write a short explanation to illustrate the contradiction of the two sides.\n",
        "\nAnalyze the provided image, which is divided into two or more panels, each illustrating contrasting views "
        "of the same scenario. Describe the elements visible in each panel. Then concisely interpret how these "
        "elements convey contrasting perspectives in one or two sentences. Focus and only output the contradiction.\n",
        "\nGiven an image, the image is divided into two or more panels. There is the contrast relationship in the "
        "image through panels. Describe the elements visible in each panel. Give me the concise interpretation how "
        "these panels convey contrasting perspectives, which you only need to output the contradiction in one or two "
        "sentences.\n",
    ),
    "moral_mcq": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "Which of the following options best represents the underlying philosophy of the comic?\n"
        "{options}\n\nJust output the choice:\n",
        "\nYou are presented with an image, which is divided into two or more panels, each illustrating contrasting "
        "views of the same scenario. \nWhich of the following options best represents the philosophy of the image "
        "provided? \n{options} \nSelect the correct option by typing the corresponding letter (A, B, C, or D).\n",
        "\nGiven an image, which has two or more panels. There is contrast in these panels. \nTell me the best option "
        "in the following options who represents the deep semantic of the image? \n{options} \nJust tell me the "
        "correct option by outputing corresponding letter (A, B, C, or D), no more explanation.\n",
    ),
    "title_mcq": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "Which of the following titles are the most suitable for the comic?\n"
        "{options}\n\nJust output the choice:\n",
        "\nYou are presented with an image, which is divided into two or more panels, each illustrating contrasting "
        "views of the same scenario. \nWhich of the following title options best represents the image provided? \n"
        "{options} \nSelect the correct option by typing the corresponding letter (A, B, C, or D).\n",
        "\nGiven an image, the image is divided into two or more panels. There is the contrast relationship in the "
        "image through panels. \nTell me the best title in the following title options who represents the image? \n"
        "{options} \nJust tell me the correct option by outputing corresponding letter (A, B, C, or D), no more "
        "explanation.\n",
    ),
}
# The same with a description of the comic, from instruction_generation_yesbut.py; the paper does not print these.
WITH_DESCRIPTION: dict[str, tuple[str, str, str]] = {
    "contradiction": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "The literal caption of the comic is: {caption}\n"
        "Write a short explanation to illustrate the contradiction of the two sides.\n",
        "\nAnalyze the provided image with the following description: {caption}. Identify and concisely describe the "
        "contradiction depicted in the image in one or two sentences.\n",
        "\nBased on the following image's description: {caption}. Give me the concise contradiction depicted in the "
        "image in one or two sentences.\n",
    ),
    "moral_mcq": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "The literal caption of the comic is: {caption}\n"
        "Which of the following options best represents the underlying philosophy of the comic?\n"
        "{options}\n\nJust output the choice:\n",
        "\nYou are presented with an image with the following description: {caption}. \nWhich of the following options "
        "best represents the philosophy of the image provided? \n{options} \nSelect the correct option by typing the "
        "corresponding letter (A, B, C, or D).\n",
        "\nGiven an image with the following description: {caption}. \nTell me the best option in the following "
        "options who represents the deep semantic of the image? \n{options} \nJust tell me the correct option by "
        "outputing corresponding letter (A, B, C, or D), no more explanation.\n",
    ),
    "title_mcq": (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\n"
        "The literal caption of the comic is: {caption}\n"
        "Which of the following titles are the most suitable for the comic?\n"
        "{options}\n\nJust output the choice:\n",
        "\nYou are presented with an image with the following description: {caption}. \nWhich of the following title "
        "options best represents the image provided? \n{options} \nSelect the correct option by typing the "
        "corresponding letter (A, B, C, or D).\n",
        "\nGiven an image with the following description: {caption}. \nTell me the best title in the following title "
        "options who represents the image? \n{options} \n Just tell me the correct option by outputing corresponding "
        "letter (A, B, C, or D), no more explanation.\n",
    ),
}


TEMPERATURE = 0.0  # appendix B.2: default settings or greedy; the cards of the commercial models have the paper's 1.0
MAX_TOKENS = 1024  # ours: the released code gives GPT-4 2048 and Claude-3 1024


def _request(item: Item, kind: str, k: int, condition: str, description: str | None) -> Request:
    """Prompt k of a task. Image first, as all released scripts but GPT-4's; no image where `condition` is text."""
    prompt = (PLAIN if description is None else WITH_DESCRIPTION)[kind][k - 1]
    text = Text(text=filled(prompt, {"options": item.fields.get(kind, ""), "caption": description}))
    image = Image(sha256=item.images[0].sha256 if item.images else None)
    return Request(
        benchmark=NAME,
        item_id=item.item_id,
        task=f"{kind}_{k}",
        condition=condition,
        messages=(Message(role="user", content=(text,) if condition.startswith("text_") else (image, text)),),
        sampling=Sampling(temperature=TEMPERATURE, max_tokens=MAX_TOKENS),
    )


def requests(item: Item) -> list[Request]:
    """What a model is asked about a comic: 12 questions on the image; 9 with each description that there is.

    oracle: image and the annotated description; text_…: that, or another model's description, and no image.
    """
    asked = [_request(item, kind, k, DEFAULT, None) for kind in KINDS for k in PROMPTS]
    for condition in CONDITIONS:
        if condition in (DEFAULT, *CHAINED):
            continue
        description = item.fields.get(condition if condition in LENT else "caption")
        if description is not None:
            asked += [_request(item, kind, k, condition, str(description)) for kind in DESCRIBED for k in PROMPTS]
    return asked


def chained_requests(item: Item, responses: Mapping[str, Mapping[str, Response]]) -> list[Request]:
    """Image and the model's own description, in answer to prompt k, for prompt k of the three other tasks.

    The paper does not say which description goes where; the released scripts load one author's prompts, description and
    questions alike, for a run. An empty description is none.
    """
    asked = []
    for k in PROMPTS:
        answer = responses.get(DEFAULT, {}).get(f"description_{k}")
        description = (answer.text or "").strip() if answer is not None and answer.state == "ok" else ""
        if description:
            asked += [_request(item, kind, k, "chained", description) for kind in DESCRIBED]
    return asked
