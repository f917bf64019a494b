"""Frames of a comic strip: cut out, masked, shuffled, side by side. What StripCipher's questions are made of.

Images are (height, width, 3) uint8 arrays, BGR; boxes are pixels, x2 and y2 exclusive. Orders are seeded by a key (an
item's id) alone and are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import cv2
import numpy as np

from punchline.comics.shuffle import Order, distinct_permutations, inverse, permutation
from punchline.comics.split import Box, Pixels
from punchline.errors import PunchlineError

T = TypeVar("T")

SEED = 0  # of every order below; items differ by their key
BEYOND = 2  # pixels that an annotated box may reach beyond its image: rounding
MARGIN = 20  # white pixels around and between frames side by side
LINE = 2  # pixels of the line around a blank frame: white on white margins could not be seen


def derivation() -> dict[str, Any]:
    """Parameters of a frame or a row, besides the image and the boxes."""
    return {"opencv": cv2.__version__, "format": "png", "margin": MARGIN, "line": LINE, "seed": SEED, "v": 1}


def cut(image: Pixels, boxes: Sequence[Box], *, name: str | None = None) -> list[Pixels]:
    """The frames, in the order of the boxes.

    A box may reach BEYOND pixels out of the image and is cut off there. Raises PunchlineError, naming `name`, for one
    that reaches further or is empty: it was then drawn for another image.
    """
    height, width = image.shape[:2]
    for number, (x1, y1, x2, y2) in enumerate(boxes, start=1):
        if not (0 <= x1 < min(x2, width) and 0 <= y1 < min(y2, height)) or x2 > width + BEYOND or y2 > height + BEYOND:
            what = f"the box {(x1, y1, x2, y2)} of frame {number} is no part of the image of {width} x {height} pixels"
            raise PunchlineError(what, file=name, hint="Correct the box, or fetch the image that it was drawn for")
    return [image[box.y1 : box.y2, box.x1 : box.x2].copy() for box in boxes]


def masked(frames: Sequence[Pixels]) -> list[Pixels]:
    """At least three frames, the second-to-last blank: white, with a thin black line around it."""
    empty = np.full_like(frames[-2], 255)
    empty[:LINE], empty[-LINE:], empty[:, :LINE], empty[:, -LINE:] = 0, 0, 0, 0
    return [*frames[:-2], empty, frames[-1]]


def row(frames: Sequence[Pixels]) -> Pixels:
    """The frames from left to right in one image, top-aligned and unscaled, MARGIN white pixels around and between: for
    models that take one image."""
    height = max(len(frame) for frame in frames) + MARGIN
    tall = [((MARGIN, height - len(frame)), (MARGIN, 0), (0, 0)) for frame in frames]
    padded = [np.pad(frame, sides, constant_values=255) for frame, sides in zip(frames, tall, strict=True)]
    return np.pad(np.hstack(padded), ((0, 0), (0, MARGIN), (0, 0)), constant_values=255)


def shown_order(n: int, key: str) -> Order:
    """The order in which n frames are shown shuffled: any but the right one, uniform over keys; frames count from 0.

    Raises PunchlineError for fewer than two frames.
    """
    return distinct_permutations(n, 1, SEED, f"{key}:shown", excluding=[range(n)])[0]


def right_sequence(n: int, key: str) -> Order:
    """The places (from 0) of the frames as shown, in the order of the story: what reordering asks for."""
    return inverse(shown_order(n, key))


def sequences(n: int, key: str) -> list[Order]:
    """Four sequences to choose from, in seeded order: the right one and three distinct wrong ones.

    The sequence as shown (0, 1, 2, …) is none of them: the question says that it is wrong. Raises PunchlineError for
    fewer than three frames: there are not so many sequences.
    """
    right = right_sequence(n, key)
    wrong = distinct_permutations(n, 3, SEED, f"{key}:wrong", excluding=[right, range(n)])
    return in_order([right, *wrong], f"{key}:sequences")


def in_order(values: Sequence[T], key: str) -> list[T]:
    """The values in an order that depends on the key only."""
    return [values[place] for place in permutation(len(values), SEED, key)]
