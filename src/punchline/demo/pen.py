"""A pen with a steady-enough hand, and lettering.

Everything is drawn with OpenCV on a canvas SUPERSAMPLE times too large and reduced by averaging whole blocks: smooth
lines, one library, the same bytes wherever OpenCV is the same. Lettering is OpenCV's own Hershey simplex font (part of
the library, no font file). No colour comes near pure red: panel labels, which another module draws, are red.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

SUPERSAMPLE = 4
Colour = tuple[int, int, int]
Point = tuple[float, float]
Box = tuple[float, float, float, float]  # x1, y1, x2, y2
NAMED = {
    "ink": "202020",
    "white": "ffffff",
    "grey": "b9bec4",
    "dark": "5c636b",
    "brown": "a67c52",
    "wood": "d9b483",
    "yellow": "ffe08a",
    "orange": "f2b263",
    "pink": "f5bcc4",
    "rose": "d98a8a",
    "green": "9fcf8b",
    "leaf": "6aa860",
    "blue": "9cc9ee",
    "sea": "b9dcf2",
    "violet": "b7a5dc",
    "cream": "fff4d6",
    "hair": "5c636b",
    "beard": "5c636b",
    "skin": "ffffff",
}


def rgb(name: str) -> Colour:
    """A named colour, or an RGB code like "ffd94d", as OpenCV's blue, green, red."""
    code = NAMED.get(name, name)
    return int(code[4:6], 16), int(code[2:4], 16), int(code[:2], 16)


INK, WHITE = rgb("ink"), rgb("white")


def _at_scale(value: float) -> int:
    return round(value * SUPERSAMPLE)


@dataclass
class Pen:
    """Where and how to draw: `origin` in pixels of the finished image, `zoom` pixels per unit, `flip` to face left."""

    image: np.ndarray[Any, Any]  # the oversized canvas, uint8, height x width x 3
    rng: random.Random
    origin: Point = (0.0, 0.0)
    zoom: float = 1.0
    flip: bool = False
    turn: float = 0.0  # degrees, clockwise

    def place(self, x: float, y: float) -> Point:
        """Own coordinates to pixels of the finished image."""
        if self.turn:
            cos, sin = math.cos(math.radians(self.turn)), math.sin(math.radians(self.turn))
            x, y = x * cos - y * sin, x * sin + y * cos
        return self.origin[0] + (-x if self.flip else x) * self.zoom, self.origin[1] + y * self.zoom

    def _path(self, points: Sequence[Point], close: bool) -> np.ndarray[Any, Any]:
        """Pixels of a path; long straight pieces get a small bend in the middle, as a hand makes it."""
        placed = [self.place(*p) for p in points]
        if close:
            placed.append(placed[0])
        path: list[Point] = []
        for (x1, y1), (x2, y2) in itertools.pairwise(placed):
            length = math.hypot(x2 - x1, y2 - y1)
            path.append((x1, y1))
            if length > 12:
                bend = self.rng.uniform(-0.022, 0.022) * min(length, 60)
                path.append(((x1 + x2) / 2 - (y2 - y1) / length * bend, (y1 + y2) / 2 + (x2 - x1) / length * bend))
        path.append(placed[-1])
        return np.array([[_at_scale(x), _at_scale(y)] for x, y in path], np.int32)

    def line(self, *points: Point, w: float = 2.4, c: Colour = INK) -> None:
        """A stroke through the points, `w` units wide."""
        thick = max(_at_scale(w * max(self.zoom, 0.7)), 3)
        cv2.polylines(self.image, [self._path(points, False)], False, c, thick, cv2.LINE_8)

    def poly(self, *points: Point, fill: Colour | None = WHITE, w: float = 2.0, c: Colour = INK) -> None:
        """A closed shape; w = 0 leaves the outline away."""
        path = self._path(points, True)
        if fill is not None:
            cv2.fillPoly(self.image, [path], fill)
        if w:
            cv2.polylines(self.image, [path], True, c, max(_at_scale(w * max(self.zoom, 0.7)), 3), cv2.LINE_8)

    def box(self, x1: float, y1: float, x2: float, y2: float, fill: Colour | None = WHITE, w: float = 2.0) -> None:
        """A rectangle."""
        self.poly((x1, y1), (x2, y1), (x2, y2), (x1, y2), fill=fill, w=w)

    def oval(
        self, x: float, y: float, rx: float, ry: float, fill: Colour | None = WHITE, w: float = 2.0, c: Colour = INK
    ) -> None:
        """An ellipse that is not quite even."""
        phase = self.rng.uniform(0, math.tau)
        uneven = 0.02 if rx > 4 else 0.0
        points = []
        for step in range(28):
            angle = step * math.tau / 28
            radius = 1 + uneven * math.sin(2 * angle + phase)
            points.append((x + rx * radius * math.cos(angle), y + ry * radius * math.sin(angle)))
        self.poly(*points, fill=fill, w=w, c=c)

    def arc(
        self, x: float, y: float, rx: float, ry: float, start: float, end: float, w: float = 2.2, c: Colour = INK
    ) -> None:
        """A piece of an ellipse from `start` to `end` degrees, clockwise from the right."""
        end = end + 360 if end < start else end
        angles = [math.radians(start + (end - start) * step / 14) for step in range(15)]
        self.line(*((x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles), w=w, c=c)

    def dot(self, x: float, y: float, r: float = 1.8, c: Colour = INK) -> None:
        """A filled disc."""
        px, py = self.place(x, y)
        radius = max(_at_scale(r * self.zoom), SUPERSAMPLE)
        cv2.circle(self.image, (_at_scale(px), _at_scale(py)), radius, c, -1, cv2.LINE_8)


def text_width(text: str, size: float) -> float:
    """Width in pixels of one line whose capitals are `size` pixels high."""
    scale = size * SUPERSAMPLE / 21
    (width, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 1)
    return float(width) / SUPERSAMPLE


def wrap(text: str, width: float, size: float) -> list[str]:
    """Lines of at most `width` pixels, as even as possible with the fewest lines; words are never broken."""
    words = text.split()

    def fill(limit: float) -> list[str]:
        lines = [words[0]]
        for word in words[1:]:
            if text_width(f"{lines[-1]} {word}", size) <= limit:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        return lines

    best = fill(width)
    limit = width
    while limit > 30:
        limit -= 6
        narrower = fill(limit)
        if len(narrower) > len(best) or max(text_width(line, size) for line in narrower) > width:
            break
        best = narrower
    return best


def letter(
    image: np.ndarray[Any, Any],
    text: str,
    x: float,
    y: float,
    size: float,
    colour: Colour = INK,
    weight: float = 1.45,
) -> Box:
    """Write one line centred on x with its baseline at y; returns the box of the capitals in pixels."""
    width = text_width(text, size)
    cv2.putText(
        image,
        text,
        (_at_scale(x - width / 2), _at_scale(y)),
        cv2.FONT_HERSHEY_SIMPLEX,
        size * SUPERSAMPLE / 21,
        colour,
        _at_scale(weight),
        cv2.LINE_8,
    )
    return x - width / 2, y - size, x + width / 2, y
