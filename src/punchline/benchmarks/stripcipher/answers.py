"""Reading of answers: options, and sequences of frames."""

from __future__ import annotations

from collections.abc import Sequence

from punchline.benchmarks.stripcipher import LETTERS
from punchline.benchmarks.stripcipher.words import sequence_text
from punchline.comics import frames
from punchline.read import choice, sequence
from punchline.schema import Item


def parse_option(answer: str, options: Sequence[str]) -> str | None:
    """The letter of the option that an answer commits itself to, by letter or by text; None for none, for several, and
    for a letter that is not there. An option that is "" has no text to be named by."""
    texts = dict(zip(LETTERS, options, strict=False))
    return choice.choice(answer, texts, texts).value


def parse_sequence(answer: str, n: int) -> tuple[int, ...] | None:
    """The sequence that an answer gives: the numbers of the frames as shown, from 1, in the order of the story.

    Written in any way that gives all of them, or for every frame its place (`Frame 1: 2`). None where there is no
    permutation of 1 … n that the answer commits itself to.
    """
    found = sequence.sequence(answer, map(str, range(1, n + 1))).value
    return None if found is None else tuple(map(int, found))


def read(task: str, answer: str, item: Item) -> tuple[str, ...] | None:
    """What an answer says: a letter, or the numbers of a sequence."""
    n = int(str(item.fields["frames"]))
    if task == "reordering_generation":
        return sequence.sequence(answer, map(str, range(1, n + 1))).value
    if task != "reordering_choice":
        letter = parse_option(answer, [str(item.fields[f"{task}_{letter}"]) for letter in LETTERS])
        return None if letter is None else (letter,)
    letter = parse_option(answer, [""] * len(LETTERS))  # "1, 3, 1, 2" has the text of the option 3, 1, 2 in it
    if letter is None:  # the sequence itself in place of its letter
        options = [sequence_text(places) for places in frames.sequences(n, item.item_id)]
        found = parse_sequence(answer, n)
        written = sequence_text(number - 1 for number in found) if found is not None else None
        letter = LETTERS[options.index(written)] if written in options else None
    return None if letter is None else (letter,)
