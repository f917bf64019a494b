"""What models are asked about a strip: the prompts, and options as lines."""

from __future__ import annotations

from collections.abc import Sequence

from punchline.benchmarks.stripcipher import CONDITIONS, LETTERS, MEANING, NAME, REVIEWED
from punchline.benchmarks.stripcipher.questions import asked
from punchline.benchmarks.stripcipher.words import sequence_text
from punchline.comics import frames
from punchline.core.records import Image, Item, Message, Request, Sampling, Text

# Table 2; its left edge is cut off in the text at hand: "[predi]ction", "[strip]", "[under]standing" are completed.
INSTRUCTIONS = {
    "prediction": "Based on the overall story, what is happening in the blank frame (second-to-last)?",
    "comprehension": (
        "What is happening in this comic strip? What is the implicit meaning? Based on your understanding, answer the "
        "question."
    ),
    "reordering": (
        "The sequence of the comic strips provided below is incorrect. Your task is to find out the correct order of "
        "the comic strips based on the storyline and temporal logical relationship. Number each comic strip in the "
        "order they should appear, starting from 1."
    ),
}
# Figure 10, before and after the implicit meaning, which stands between single quotes.
MEANING_INSTRUCTION = (
    "The sequence of the comic strips provided below is incorrect. Your task is to determine the correct order based "
    "on the storyline, temporal relationships, and common-sense logic. Here is the depiction of the comic strips: '",
    "' Number each comic strip in the order they should appear, starting from 1.",
)
CHOOSE = "Please output the correct option ID without any additional text or explanation"  # figure 10
TEMPERATURE = 0.0  # ours, where a card has none: the paper takes each model's default (appendix C)
MAX_TOKENS = 512  # ours: the paper prints none


def _listed(options: Sequence[str]) -> str:
    """Options as lines `A. …`, and what is to be answered."""
    lines = [f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=True)]
    return "\n".join((*lines, CHOOSE))


def _texts(item: Item, task: str, condition: str) -> tuple[str, str]:
    """What stands above the pictures and below them."""
    if task in REVIEWED:
        return "", _reviewed(item, task)
    # The reordering instruction speaks of strips "provided below", and so stands above them.
    above = INSTRUCTIONS["reordering"]
    if condition == MEANING:
        before, after = MEANING_INSTRUCTION
        above = f"{before}{item.fields['meaning']}{after}"
    if task != "reordering_choice":
        return above, ""
    n = int(str(item.fields["frames"]))
    return above, _listed([sequence_text(places) for places in frames.sequences(n, item.item_id)])


def _reviewed(item: Item, task: str) -> str:
    """Instruction, question if there is one, options."""
    question = item.fields.get(f"{task}_question")
    options = [str(item.fields[f"{task}_{letter}"]) for letter in LETTERS]
    return "\n".join((INSTRUCTIONS[task], *([str(question)] if question else []), _listed(options)))


def requests(item: Item) -> list[Request]:
    """What is asked about a strip, in every condition; prediction and comprehension of reviewed strips only."""
    digests = {ref.name: ref.sha256 for ref in item.images}
    made = []
    for condition in CONDITIONS:
        for task, names in asked(item, condition).items():
            before, after = _texts(item, task, condition)
            images = tuple(Image(sha256=digests.get(name)) for name in names)
            content = (
                *((Text(text=before),) if before else ()),
                *images,
                *((Text(text=after),) if after else ()),
            )
            made.append(
                Request(
                    benchmark=NAME,
                    item_id=item.item_id,
                    task=task,
                    condition=condition,
                    messages=(Message(role="user", content=content),),
                    sampling=Sampling(temperature=TEMPERATURE, max_tokens=MAX_TOKENS),
                )
            )
    return made
