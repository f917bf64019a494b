"""Reading of answers: options, and sequences of frames."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sized
from typing import Any

from punchline.benchmarks.stripcipher import CHOICES
from punchline.benchmarks.stripcipher.options import options as options_of
from punchline.read import choice, sequence
from punchline.schema import Item, Rule


def parse_sequence(answer: str, n: int) -> tuple[int, ...] | None:
    """The sequence that an answer gives: the numbers of the frames as shown, from 1, in the order of the story.

    Written in any way that gives all of them, or for every frame its place (`Frame 1: 2`). None where there is no
    permutation of 1 … n that the answer commits itself to.
    """
    labels = sequence.sequence(answer, tuple(map(str, range(1, n + 1)))).value
    return None if labels is None else tuple(map(int, labels))


NEEDS = {**dict.fromkeys(CHOICES, "options"), "reordering_generation": "labels"}


def parse(task: str, text: str, rule: Rule, *, options: Mapping[str, str], labels: Sized, **_: Any) -> Any:
    """The letter, or the frames in order, of an answer (punchline.parse)."""
    if task == "reordering_generation":
        return parse_sequence(text, len(labels))
    if task != "reordering_choice":
        return choice.choice(text, options, options).value
    letter = choice.choice(text, options).value  # without texts: "1, 3, 1, 2" has that of the option 3, 1, 2 in it
    if letter is not None:
        return letter
    orders = {tuple(re.findall(r"\d+", option)): letter for letter, option in options.items()}
    order = parse_sequence(text, len(next(iter(orders))))  # the sequence itself in place of its letter
    return orders.get(tuple(map(str, order or ())))


def read(task: str, answer: str, item: Item, condition: str) -> tuple[str, ...] | None:
    """The letter, or the numbers of a sequence, in an answer."""
    labels = range(int(str(item.fields["frames"])))
    parsed = parse(task, answer, "paper", options=options_of(item, task, condition), labels=labels)
    return None if parsed is None else tuple(map(str, parsed))
