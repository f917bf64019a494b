"""Parsers of answers to Hummus: labels, metaphors, boxes, names, marked words, explanations."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from punchline.benchmarks.hummus import ASKED, JOINT, JOINT_TASKS, LABELS, NAME, POSITIVE
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, involves_is_a
from punchline.benchmarks.hummus.scope import ANNOTATION, plain
from punchline.core.benchmark import comparison
from punchline.read import boxes, highlight, json_tables, metaphors, reasoning, yes_no
from punchline.read.marked_words import marked_words
from punchline.read.object_name import object_name as read_name
from punchline.schema import Gold, Item, Request, Rule

ABOUT, AGAINST = ("metaphor",), ("literal",)  # beginnings of words that affirm and deny what classification asks
PROMPT = tuple(INSTRUCTIONS.values())
FIELDS = ("is_met", "conceptual_metaphor", "image_hl", "text_hl")  # of a joint answer, one for each of JOINT_TASKS
_PIXELS = re.compile(r"qwen2[._]5[-_]?vl", re.IGNORECASE)  # families whose corners are pixels, by a card's name
_PATCH = 28  # to multiples of which Qwen2.5-VL scales pictures (arXiv:2502.13923, section 2.1.1)


def box_list(answer: str, size: tuple[int, int] | None = None, model: str = "") -> tuple[boxes.Box, ...] | None:
    """Boxes of an answer as shares of the image, cut to it; None where it has none. `size`: the image's width and
    height, where pixels are to be read; corners in pixels are those of the picture as the `model` saw it."""
    if size is None or not _PIXELS.search(model):
        return boxes.boxes(answer, size).value
    wide, high = (max(_PATCH, round(side / _PATCH) * _PATCH) for side in size)
    return boxes.boxes(answer, (wide, high), "pixels").value


def parse_naming(answer: str, known: Sequence[str] = (), context: Sequence[str] = ()) -> tuple[str, ...] | None:
    """The metaphors that an answer names; None for none, and for the prompt's example where it is not `known`."""
    parsed = metaphors.metaphors(answer, PROMPT, context)
    if parsed is None or (metaphors.repeats_example(parsed) and not {*known} & {*map(str.lower, parsed)}):
        return None
    return parsed


def object_name(answer: str, context: Sequence[str] = ()) -> str | None:
    """The object that an answer to ImageLabel names; None for none, a refusal, and what repeats the prompt."""
    text = metaphors.without_prompt(answer[:4000], PROMPT, context)
    return read_name(text, (INSTRUCTIONS["image_label"],)).value


NEEDS = {"classification_a_b": "options"}


def parse(task: str, text: str, rule: Rule, **about: Any) -> Any:
    """Parsed value of an answer, the same under both rules; None where nothing can be read (punchline.parse).

    Labels, a name and an explanation are text, metaphors and marked words tuples of text, boxes a tuple of shares; a
    joint answer gives {task: value}. `about`: options by letter; size of the image; known, the gold metaphors in lower
    case: one that is the prompt's example may be repeated; shown, the caption and the description that the prompt
    shows; model, its card's name.
    """
    text = reasoning.without(text)
    options, context = about["options"], about.get("context", ())
    letters = {letter: "Yes" if option == OPTIONS[0] else "No" for letter, option in options.items()}
    readers: dict[str, Callable[[], Any]] = {
        "naming": lambda: parse_naming(text, about.get("known", ()), context),
        "image_bbox": lambda: box_list(text, about.get("size"), about.get("model", "")),
        "image_label": lambda: object_name(text, context),
        "caption_hl": lambda: marked_words(text).value,
        "explanation": lambda: metaphors.explanation(text, PROMPT, context, INSTRUCTIONS["explanation"]),
        "classification_a_b": lambda: yes_no.yes_no(text, ABOUT, letters, options, AGAINST).value,
        JOINT: lambda: _joint(text, rule, about),
    }
    return readers.get(task, lambda: yes_no.yes_no(text, ABOUT, against=AGAINST).value)()


def _leading(field: str) -> str | None:
    """The label that field is_met begins with, "true" for Yes; None for anything else, and for a list of labels."""
    by_name = {label.lower(): label for label in LABELS} | {"true": "Yes", "false": "No"}
    pattern = rf"[\s*_`\"']{{0,8}}({'|'.join(by_name)})\b(?!\s{{0,2}}(?:,|/|or\b)\s{{0,2}}\w)"
    match = re.match(pattern, field, re.IGNORECASE)
    return by_name[match[1].lower()] if match else None


def _joint(text: str, rule: Rule, about: Mapping[str, Any]) -> dict[str, Any] | None:
    """{task: value} of a joint answer: all four tasks where it says Yes or WIDLII; else "No" or "Discard" alone, as its
    guidelines end there."""
    fields = json_tables.fields(text, FIELDS)
    label = _leading(fields.get("is_met", ""))
    if label is None:
        return None
    if label not in POSITIVE:
        return {"classification": label}
    others = zip(JOINT_TASKS[1:], FIELDS[1:], strict=True)
    parsed = {task: parse(task, fields.get(field, ""), rule, **about) for task, field in others}
    return {"classification": "Yes", **parsed}


def readings(task: str, text: str, gold: Gold, item: Item, model: str = "") -> dict[str, tuple[Any, ...] | None]:
    """{task: values} that are read out of one answer of a model; None where nothing is."""
    options = dict(zip("AB", OPTIONS if involves_is_a(item.item_id) else OPTIONS[::-1], strict=True))
    size = next(((image.width, image.height) for image in item.images), None)
    known = [metaphor.lower() for metaphor in gold.values.get("metaphors", ())]
    context = (str(item.fields["caption"]), str(item.fields.get("description") or ""))
    value = parse(task, text, "paper", options=options, size=size, known=known, context=context, model=model)
    discards = value == {"classification": "Discard"}  # allowed, and scored as no answer
    by_task: dict[str, Any] = {task: value}
    if task == JOINT:
        by_task = value if value and not discards else {"classification": None}
    if marked := by_task.get("caption_hl"):  # annotations have the parts of hyphenated words
        by_task["caption_hl"] = highlight.words(" ".join(marked))
    return {task: v if v is None or isinstance(v, tuple) else (v,) for task, v in by_task.items()}


def comparisons(task: str, texts: Sequence[str], item: Item, gold: Gold, condition: str) -> list[list[Request]]:
    """For each text of an answer to Naming or ImageLabel, requests to compare it with each text of gold."""
    references = dict.fromkeys(plain(reference) for reference in gold.values[ANNOTATION[task]])
    compare = functools.partial(comparison, NAME, item.item_id, "cosine", condition)
    return [[compare(plain(text), reference) for reference in references] for text in texts]


def graded_tasks(condition: str) -> dict[str, str]:
    """{task that is graded: task that is asked} of a condition."""
    if condition == JOINT:
        return dict.fromkeys(JOINT_TASKS, JOINT)
    return {task.name: task.name for task in ASKED if task.condition == condition}
