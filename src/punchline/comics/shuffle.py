"""Seeded shuffling of panels: the same order on every machine and with every version of every library.

An order names, position by position, the frame shown there: in order (2, 0, 1) the third frame comes first.
StripCipher's reordering tasks are made of these: shuffled frames, and for the choice among four the right order with
three distinct wrong ones.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Sequence

from punchline.errors import PunchlineError

Order = tuple[int, ...]


def permutation(n: int, seed: int, key: str) -> Order:
    """A permutation of 0..n-1, uniform over seeds and keys.

    Fisher-Yates; the draw for place i is sha256("seed:i:key") as an integer, modulo i + 1 (the bias is below 2**-200).
    The identity is a permutation too.
    """
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = int.from_bytes(hashlib.sha256(f"{seed}:{i}:{key}".encode()).digest()) % (i + 1)
        order[i], order[j] = order[j], order[i]
    return tuple(order)


def distinct_permutations(n: int, count: int, seed: int, key: str, excluding: Iterable[Sequence[int]]) -> list[Order]:
    """`count` permutations of 0..n-1, no two alike and none in `excluding`, in the order drawn.

    A longer list starts with the shorter one. Raises PunchlineError if there are not so many.
    """
    taken = {tuple(order) for order in excluding}
    there = math.factorial(max(n, 0)) - sum(sorted(order) == list(range(n)) for order in taken)
    if not 0 <= count <= there:
        raise PunchlineError(f"{count} distinct orders of {n} frames wanted, {there} are there", record=key)
    drawn = (permutation(n, seed, f"{key}#{draw}") for draw in itertools.count())
    fresh = (order for order in drawn if order not in taken)
    permutations: dict[Order, None] = {}
    while len(permutations) < count:
        permutations[next(fresh)] = None
    return list(permutations)


def inverse(order: Sequence[int]) -> Order:
    """The order that undoes `order`: where each frame went. For shuffled frames, the sequence that is to be found."""
    return tuple(sorted(range(len(order)), key=lambda place: order[place]))
