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

import numpy as np

from punchline.comics.split import Box, Pixels
from punchline.errors import PunchlineError

Order = tuple[int, ...]


def permutation(n: int, seed: int, key: str) -> Order:
    """A permutation of 0..n-1, uniform over seeds and keys.

    Fisher-Yates; the draw for place i is sha256("seed:i:key") as an integer, modulo i + 1 (the bias is below 2**-200).
    The identity is a permutation too. Raises PunchlineError for a negative n.
    """
    if n < 0:
        raise PunchlineError(f"{n} frames cannot be put in order", hint="Pass the number of frames, 0 or more")
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = int.from_bytes(hashlib.sha256(f"{seed}:{i}:{key}".encode()).digest()) % (i + 1)
        order[i], order[j] = order[j], order[i]
    return tuple(order)


def distinct_permutations(
    n: int, count: int, seed: int, key: str, excluding: Iterable[Sequence[int]] = ()
) -> list[Order]:
    """`count` permutations of 0..n-1, no two alike and none in `excluding`, in the order drawn.

    A longer list starts with the shorter one. Raises PunchlineError if there are not so many.
    """
    taken = {tuple(order) for order in excluding}
    there = math.factorial(max(n, 0)) - sum(sorted(order) == list(range(n)) for order in taken)
    if not 0 <= count <= there:
        hint = "Ask for fewer, or leave out comics with so few frames"
        raise PunchlineError(f"{count} distinct orders of {n} frames wanted, {there} are there", record=key, hint=hint)
    drawn = (permutation(n, seed, f"{key}#{draw}") for draw in itertools.count())
    fresh = (order for order in drawn if order not in taken)
    found: dict[Order, None] = {}
    while len(found) < count:
        found[next(fresh)] = None
    return list(found)


def inverse(order: Sequence[int]) -> Order:
    """The order that undoes `order`: where each frame went. For shuffled frames, the sequence that is to be found."""
    return tuple(sorted(range(len(order)), key=lambda place: order[place]))


def crop(image: Pixels, boxes: Sequence[Box]) -> list[Pixels]:
    """The panels as images of their own (copies), in the order of the boxes."""
    return [image[box.y1 : box.y2, box.x1 : box.x2].copy() for box in boxes]


def side_by_side(frames: Sequence[Pixels], margin: int = 20) -> Pixels:
    """One image: the frames from left to right, top-aligned and unscaled, `margin` white pixels around and between.

    frames: all BGR or all grey, uint8. For models that take a single image (StripCipher). Raises PunchlineError for
    no frames, or for BGR mixed with grey.
    """
    if not frames or len({frame.shape[2:] for frame in frames}) > 1 or margin < 0:
        what = f"{len(frames)} frames of shapes {[frame.shape for frame in frames]} do not make one image"
        hint = "Pass at least one frame, all of them BGR or all of them grey, and a margin of 0 or more"
        raise PunchlineError(what, hint=hint)
    height = max(frame.shape[0] for frame in frames) + 2 * margin
    width = sum(frame.shape[1] for frame in frames) + (len(frames) + 1) * margin
    strip = np.full((height, width, *frames[0].shape[2:]), 255, np.uint8)
    x = margin
    for frame in frames:
        strip[margin : margin + frame.shape[0], x : x + frame.shape[1]] = frame
        x += frame.shape[1] + margin
    return strip
