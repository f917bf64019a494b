"""Training on StripCipher (section 6, table 5): reordering, four shuffles of every strip.

The paper shuffles each of 790 strips four times; a shuffle here is the strip under another key, for every order of its
questions depends on the item's id. Its first one is that of the benchmark's own question.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from punchline.benchmarks.stripcipher import LETTERS, REVIEWED, holdout
from punchline.benchmarks.stripcipher.words import sequence_text
from punchline.comics import frames
from punchline.errors import PunchlineError
from punchline.schema import Gold, Item, Request

CLUSTER = "strip"  # what a cluster is called in recipes


def held_out(item: Item) -> bool:
    """True if table 5 tests on the strip, so that it is never trained on."""
    return holdout.held_out(item.item_id)


def variants(item: Item, count: int) -> list[tuple[Item, dict[str, tuple[int, ...]]]]:
    """The strip in `count` different orders, none of them the right one: (item whose id names the shuffle, {picture
    with frames side by side: their order, from 0}).

    Raises PunchlineError where it has too few frames for so many.
    """
    n = int(str(item.fields["frames"]))
    if count > math.factorial(n) - 1:
        what = f"{n} frames have {math.factorial(n) - 1} wrong orders, {count} are wanted"
        raise PunchlineError(what, record=item.item_id, hint="Lower `shuffles` in the recipe")
    orders: dict[tuple[int, ...], tuple[Item, dict[str, tuple[int, ...]]]] = {}
    draw = 0
    while len(orders) < count:
        key = f"{item.item_id}#{draw}" if draw else item.item_id  # no strip's id has a #
        order = frames.shown_order(n, key)
        orders.setdefault(order, (replace(item, item_id=key), {"row_shuffled": order}))
        draw += 1
    return list(orders.values())


def target(request: Request, item: Item, gold: Gold) -> str | None:
    """The answer to train on; `item` may be a variant's. None for a task without reviewed texts, and for a variant of
    what is not shuffled."""
    task = request.task
    if task in REVIEWED:
        return None if "#" in item.item_id else gold.values.get(task)
    n = int(str(item.fields["frames"]))
    right = frames.right_sequence(n, item.item_id)
    if task == "reordering_generation":
        return sequence_text(right)
    return LETTERS[frames.sequences(n, item.item_id).index(right)]
