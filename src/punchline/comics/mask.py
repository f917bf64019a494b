"""Masking one panel: white on the page, or out of the list of frames (StripCipher masks the second-to-last)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from punchline.comics.split import Box, Pixels
from punchline.core.errors import PunchlineError

T = TypeVar("T")


def white_out(image: Pixels, box: Box) -> Pixels:
    """A copy of the image with the box white. Raises PunchlineError for a box that is empty or not in the image."""
    height, width = image.shape[:2]
    if not (0 <= box.x1 < box.x2 <= width and 0 <= box.y1 < box.y2 <= height):
        raise PunchlineError(
            f"{box} is no part of an image {width} pixels wide and {height} high",
            way_out="Check that box and image belong to the same file",
        )
    masked = image.copy()
    masked[box.y1 : box.y2, box.x1 : box.x2] = 255
    return masked


def second_to_last(n: int) -> int:
    """The index of the frame that StripCipher masks in a strip of n frames.

    Raises PunchlineError for fewer than three: nothing would stand before the gap.
    """
    if n < 3:
        raise PunchlineError(
            f"a strip of {n} frames has none to mask", way_out="Use strips of at least three frames for this task"
        )
    return n - 2


def without(frames: Sequence[T], index: int) -> list[T]:
    """The frames but the one at `index` (from 0). Raises PunchlineError if there is none."""
    if not 0 <= index < len(frames):
        raise PunchlineError(f"no frame {index} among {len(frames)}", way_out="Frames count from 0")
    return [*frames[:index], *frames[index + 1 :]]
