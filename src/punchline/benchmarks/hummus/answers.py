"""Parsers of answers to Hummus: labels, metaphors, boxes, names, marked words, explanations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from punchline.benchmarks.hummus import JOINT, JOINT_TASKS, LABELS, LIMITS, POSITIVE, PROMPT_TASKS
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, involves_is_a
from punchline.benchmarks.hummus.scope import plain
from punchline.read import boxes, highlight, metaphors, names, reasoning, structure, tags, yes_no
from punchline.schema import Gold, Item, Rule

ABOUT, AGAINST = ("metaphor",), ("literal",)  # beginnings of words that affirm and deny what classification asks
PROMPT = tuple(INSTRUCTIONS.values())
FIELDS = ("is_met", "conceptual_metaphor", "image_hl", "text_hl")  # of a joint answer, one for each of JOINT_TASKS
_PIXELS = re.compile(r"qwen2[._]5[-_]?vl", re.IGNORECASE)  # families whose corners are pixels, by a card's name
_PATCH = 28  # to multiples of which Qwen2.5-VL scales pictures (arXiv:2502.13923, section 2.1.1)
Size = tuple[int, int]


def box_list(answer: str, size: Size | None = None, model: str = "") -> tuple[boxes.Box, ...] | None:
    """Boxes of an answer as shares of the image, cut to it; None where it has none. `size`: the image's width and
    height, where pixels are to be read; corners in pixels are those of the picture as the `model` saw it."""
    if size is None or not _PIXELS.search(model):
        return boxes.boxes(answer, size).value
    wide, high = (max(_PATCH, round(side / _PATCH) * _PATCH) for side in size)
    return boxes.boxes(answer, (wide, high), "pixels").value


def parse_naming(answer: str, known: Sequence[str] = (), shown: Sequence[str] = ()) -> tuple[str, ...] | None:
    """The metaphors that an answer names; None for none, and for the prompt's example where it is not `known`."""
    found = metaphors.metaphors(answer, PROMPT, shown)
    if found is None or (metaphors.repeats_example(found) and not {*known} & {*map(str.lower, found)}):
        return None
    return found


def object_name(answer: str, shown: Sequence[str] = ()) -> str | None:
    """The object that an answer to ImageLabel names; None for none, a refusal, and what repeats the prompt."""
    own = metaphors.without_prompt(answer[:4000], PROMPT, shown)
    return names.object_name(own, (INSTRUCTIONS["image_label"],)).value


def parse_choice(answer: str, options: Mapping[str, str]) -> str | None:
    """ "Yes" where the answer chooses the option that involves metaphor, "No" where the other one."""
    letters = {letter: "Yes" if text == OPTIONS[0] else "No" for letter, text in options.items()}
    return yes_no.yes_no(answer, ABOUT, letters, options, AGAINST).value


def shown_options(item_id: str) -> dict[str, str]:
    """{letter: text} of the options of classification_a_b as an item's prompt shows them."""
    return dict(zip("AB", OPTIONS if involves_is_a(item_id) else reversed(OPTIONS), strict=True))


NEEDS = {"classification_a_b": "options"}


def parse(
    task: str,
    text: str,
    rule: Rule,
    *,
    options: Mapping[str, str],
    size: Size | None = None,
    known: Sequence[str] = (),
    shown: Sequence[str] = (),
    model: str = "",
    **_: Any,
) -> Any:
    """What an answer says, the same under both rules; None where nothing can be read (punchline.parse).

    Labels, a name and an explanation are text, metaphors and marked words tuples of text, boxes a tuple of shares; a
    joint answer gives {task: value}. `known`: gold metaphors, in lower case: one that is the prompt's example may be
    repeated. `shown`: the caption and the description that the prompt shows.
    """
    text = structure.without_markers(reasoning.without(text))
    about: dict[str, Any] = {"options": options, "size": size, "known": known, "shown": shown, "model": model}
    if task == JOINT:
        return _joint(text, rule, about)
    if task == "naming":
        return parse_naming(text, known, shown)
    if task == "image_bbox":
        return box_list(text, size, model)
    if task == "caption_hl":
        return tags.marked_words(text).value
    if task == "image_label":
        return object_name(text, shown)
    if task == "explanation":
        return metaphors.explanation(text, PROMPT, shown, INSTRUCTIONS["explanation"])
    if task == "classification_a_b":
        return parse_choice(text, options)
    return yes_no.yes_no(text, ABOUT, against=AGAINST).value


def _joint(text: str, rule: Rule, about: Mapping[str, Any]) -> dict[str, Any] | None:
    """{task: value} of a joint answer: all four tasks where it says Yes or WIDLII, as its guidelines end otherwise."""
    found = structure.fields(text, FIELDS)
    label = structure.leading(found.get("is_met", ""), LABELS)
    if label is None or label == "Discard":
        return None
    if label not in POSITIVE:
        return {"classification": "No"}
    others = zip(JOINT_TASKS[1:], FIELDS[1:], strict=True)
    return {"classification": "Yes"} | {
        task: parse(task, found.get(field, ""), rule, **about) for task, field in others
    }


def readings(task: str, text: str, gold: Gold, item: Item, model: str = "") -> dict[str, tuple[Any, ...] | None]:
    """{task: values} that are read out of one answer of a model; None where nothing is."""
    value = parse(
        task,
        text,
        "paper",
        options=shown_options(item.item_id),
        size=(item.images[0].width, item.images[0].height) if item.images else None,
        known=[one.lower() for one in gold.values.get("metaphors", ())],
        shown=(str(item.fields["caption"]), str(item.fields.get("description") or "")),
        model=model,
    )
    by_task = (value or {"classification": None}) if task == JOINT else {task: value}
    if marked := by_task.get("caption_hl"):  # annotations have the parts of hyphenated words
        by_task["caption_hl"] = highlight.words(" ".join(marked))
    return {task: one if one is None or isinstance(one, tuple) else (one,) for task, one in by_task.items()}


def text_pairs(task: str, found: Sequence[str], gold: Gold) -> list[list[tuple[str, str]]]:
    """(candidate, reference) for each text of an answer and each of gold; a list for each text of the answer."""
    references = gold.values["metaphors" if task == "naming" else "objects"]
    return [list(dict.fromkeys((plain(one), plain(reference)) for reference in references)) for one in found]


def graded_tasks(condition: str) -> dict[str, str]:
    """{task that is graded: task that is asked} of a condition."""
    if condition == JOINT:
        return dict.fromkeys(JOINT_TASKS, JOINT)
    if condition == "prompts":
        return {task: task for task in PROMPT_TASKS}
    return {task: task for task in LIMITS if (condition, task) != ("description", "image_bbox")}
