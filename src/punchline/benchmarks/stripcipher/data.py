"""StripCipher's items and gold, made of the records of strips.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from punchline.benchmarks.annotations import items as items_of
from punchline.benchmarks.stripcipher import LETTERS, NAME, STRIPS
from punchline.benchmarks.stripcipher.strips import Choice, Strip, choices, strips_of
from punchline.comics import frames
from punchline.core.benchmark import Files
from punchline.schema import Gold, ImageRef, Item, Scalar


def listing(files: Files) -> list[tuple[str, str, str]]:
    """(item id, source, URL) of every strip, in the file's order."""
    return [(strip.item_id, strip.source, strip.url) for strip in strips_of(files).values()]


def _options(strip: Strip, task: str, choice: Choice) -> list[str]:
    return frames.in_order(choice.options, f"{strip.item_id}:{task}")


def items(files: Files, images: Mapping[str, tuple[ImageRef, ...] | str]) -> list[Item]:
    """Items of the strips that are keys of `images`, in the file's order; a string says why there are no pictures.

    fields: frames; <task>_A … <task>_D (options as shown), <task>_weak_A … (the right one among weak distractors) and
    <task>_question of reviewed tasks; meaning, which a request of the condition `meaning` shows and no other: the paper
    gives away the comprehension answer there.
    Raises PunchlineError for a strip that is not in the file.
    """
    rows = ((item_id, strip.source, item_id, _fields(strip)) for item_id, strip in strips_of(files).items())
    return items_of(NAME, rows, images, STRIPS)


def _fields(strip: Strip) -> dict[str, Scalar]:
    fields: dict[str, Scalar] = {"frames": strip.frames}
    for task, choice in choices(strip).items():
        shown = dict(zip(LETTERS, _options(strip, task, choice), strict=True))
        fields |= {f"{task}_{letter}": option for letter, option in shown.items()}
        weak = iter(choice.weak or ())
        for letter, option in shown.items() if choice.weak else ():
            fields[f"{task}_weak_{letter}"] = option if option == choice.answer else next(weak)
        if choice.question:
            fields[f"{task}_question"] = choice.question
    comprehension = strip.reviewed.comprehension
    meaning = strip.reviewed.meaning or (comprehension and comprehension.answer)  # table 7
    return fields | ({"meaning": meaning} if meaning else {})


def golds(files: Files) -> Iterator[Gold]:
    """Gold of every strip.

    values: reordering_generation, the places of the frames as shown in the order of the story, from 1;
    reordering_choice and, where reviewed, prediction and comprehension: the letter of the right option; frames;
    category, where known.
    """
    for item_id, strip in strips_of(files).items():
        right = frames.right_sequence(strip.frames, item_id)
        offered = frames.sequences(strip.frames, item_id)
        values: dict[str, Any] = {"frames": strip.frames, "reordering_generation": [place + 1 for place in right]}
        values["reordering_choice"] = LETTERS[offered.index(right)]
        for task, choice in choices(strip).items():
            values[task] = LETTERS[_options(strip, task, choice).index(choice.answer)]
        if strip.reviewed.category is not None:
            values["category"] = strip.reviewed.category
        yield Gold(benchmark=NAME, item_id=item_id, values=values)
