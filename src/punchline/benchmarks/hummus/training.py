"""Training on Hummus (section 6.4): gold answers in the form that its parser reads.

The paper says neither how it writes answers with several metaphors or boxes nor which label it trains ImageLabel on:
all of one, the first object of the other, are ours. Labels are those of the rule `paper`, as in table 7.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from punchline.benchmarks.hummus import JOINT, POSITIVE, scope
from punchline.benchmarks.hummus.answers import object_name, parse_naming
from punchline.benchmarks.hummus.instructions import involves_is_a
from punchline.read import highlight
from punchline.schema import Gold, Item, Request, Rule

CLUSTER = "contest"  # what a cluster is called in recipes
RULE: Rule = "paper"
# As punchline.read.highlight has them; then parts of words: <i>they</i>'re
_WORDS = (re.compile(r"\w+(?:['’]\w+)*"), re.compile(r"\w+"))


def held_out(item: Item) -> bool:
    """True if tables 6 and 7 test on the item, so that it is never trained on."""
    return scope.held_out(item.cluster)


def target(request: Request, item: Item, gold: Gold) -> str | None:
    """The answer to train on; None where the gold has none, or none that can be written in the form asked for."""
    task, values = request.task, gold.values
    if task == JOINT or not scope.in_scope(task, gold, RULE):
        return None
    if task.startswith("classification"):
        positive = values["labels"][RULE] in POSITIVE
        if task == "classification_a_b":
            return "A" if involves_is_a(item.item_id) == positive else "B"
        return "Yes" if positive else "No"
    targets: dict[str, Callable[[], str | None]] = {
        "naming": lambda: naming(values["metaphors"]),
        "image_bbox": lambda: boxes(values["objects"], values["boxes"]),
        "image_label": lambda: next(filter(object_name, values["objects"]), None),
        "caption_hl": lambda: marked(str(item.fields["caption"]), values["highlight"]),
        "explanation": lambda: str(values["explanation"]).strip(),
    }
    return targets[task]()


def naming(metaphors: Sequence[str]) -> str | None:
    """All metaphors, in capitals as the prompt's example is, "; " between them."""
    text, known = "; ".join(metaphors).upper(), [one.lower() for one in metaphors]
    return text if parse_naming(text, known) == tuple(metaphor.upper() for metaphor in metaphors) else None


def boxes(objects: Sequence[str], coordinates: Sequence[Sequence[float]]) -> str | None:
    """One line a box, its sides to three decimals; None where boxes have no names of their own."""
    if len(objects) != len(coordinates):
        return None
    names = (" ".join(name.replace("[", " ").replace("]", " ").split()) for name in objects)
    places = (", ".join(f"{side:.3f}" for side in sides) for sides in coordinates)
    return "\n".join(f"{name}: [{place}]" for name, place in zip(names, places, strict=True))


def marked(caption: str, words: Sequence[str]) -> str | None:
    """The caption with <i></i> around the words, which gold has in order; None where it does not have them all.

    From the last word back, each is marked at its last place before the next one: neighbours are marked together.
    """
    marked_captions = (_marked(caption, words, pattern) for pattern in _WORDS)
    return next((text for text in marked_captions if text and highlight.highlighted(text) == tuple(words)), None)


def _marked(caption: str, words: Sequence[str], pattern: re.Pattern[str]) -> str | None:
    """The caption with the words in tags; None where it does not have them all in this order."""
    spelt = [highlight.words(word) for word in pattern.findall(caption)]
    chosen, place = set[int](), len(spelt)
    for word in reversed(words):
        place = next((before for before in reversed(range(place)) if spelt[before] == (word,)), -1)
        chosen.add(place)
    if not words or -1 in chosen:
        return None
    places = itertools.count()
    text = pattern.sub(lambda word: f"<i>{word[0]}</i>" if next(places) in chosen else word[0], caption)
    return re.sub(r"</i>(\W*)<i>", r"\1", text)
