"""Ink for the demo corpus: a pen with a steady-enough hand, stick figures, animals, props, lettering.

Everything is drawn with OpenCV on a canvas SUPERSAMPLE times too large and reduced by averaging whole blocks: smooth
lines, one library, the same bytes wherever OpenCV is the same. Lettering is OpenCV's own Hershey simplex font (part of
the library, no font file). No colour comes near pure red: panel labels, which another module draws, are red.

A thing is drawn in its own coordinates: x grows in the direction in which it faces, y grows downwards, the origin lies
between its feet, and an adult is about 100 units tall.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

SUPERSAMPLE = 4
Colour = tuple[int, int, int]
Point = tuple[float, float]
Box = tuple[float, float, float, float]  # x1, y1, x2, y2


def rgb(code: str) -> Colour:
    """An RGB code like "ffd94d" as OpenCV's blue, green, red."""
    return int(code[4:6], 16), int(code[2:4], 16), int(code[:2], 16)


INK = rgb("202020")
WHITE = rgb("ffffff")
GREY = rgb("b9bec4")
DARK = rgb("5c636b")
BROWN = rgb("a67c52")
WOOD = rgb("d9b483")
YELLOW = rgb("ffe08a")
ORANGE = rgb("f2b263")
PINK = rgb("f5bcc4")
ROSE = rgb("d98a8a")
GREEN = rgb("9fcf8b")
LEAF = rgb("6aa860")
BLUE = rgb("9cc9ee")
SEA = rgb("b9dcf2")
VIOLET = rgb("b7a5dc")
CREAM = rgb("fff4d6")


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

    def place(self, x: float, y: float) -> Point:
        """Own coordinates to pixels of the finished image."""
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


# ---------------------------------------------------------------------------------------------- lettering


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


# ---------------------------------------------------------------------------------------------- faces and figures

FACES = ("smile", "flat", "sad", "open", "angry", "shock", "smirk", "dead", "sleep", "happy")


def face(pen: Pen, x: float, y: float, r: float, mood: str) -> None:
    """Eyes and mouth within a head of radius r; the face looks along x."""
    eyes = [(x + r * 0.05, y - r * 0.12), (x + r * 0.6, y - r * 0.12)]
    mid = x + r * 0.33
    for ex, ey in eyes:
        if mood == "dead":
            pen.line((ex - 2.2, ey - 2.2), (ex + 2.2, ey + 2.2), w=1.6)
            pen.line((ex - 2.2, ey + 2.2), (ex + 2.2, ey - 2.2), w=1.6)
        elif mood in ("sleep", "happy"):
            pen.arc(ex, ey, 2.8, 2.4, *((0, 180) if mood == "sleep" else (180, 360)), w=1.6)
        elif mood == "shock":
            pen.oval(ex, ey, 3.0, 3.6, w=1.3)
            pen.dot(ex, ey, 1.2)
        else:
            pen.dot(ex, ey, 1.8)
    if mood == "angry":
        pen.line((eyes[0][0] - 3, y - r * 0.5), (eyes[0][0] + 3, y - r * 0.3), w=1.7)
        pen.line((eyes[1][0] + 3, y - r * 0.5), (eyes[1][0] - 2, y - r * 0.3), w=1.7)
    low = y + r * 0.48
    if mood in ("smile", "happy"):
        pen.arc(mid, low - r * 0.2, r * 0.38, r * 0.3, 15, 165, w=1.7)
    elif mood in ("sad", "angry"):
        pen.arc(mid, low + r * 0.2, r * 0.32, r * 0.26, 200, 340, w=1.7)
    elif mood == "open":
        pen.oval(mid, low, r * 0.24, r * 0.2, fill=DARK, w=1.4)
    elif mood == "shock":
        pen.oval(mid, low + 1, r * 0.2, r * 0.28, fill=DARK, w=1.4)
    elif mood == "smirk":
        pen.line((mid - r * 0.3, low), (mid + r * 0.1, low), (mid + r * 0.38, low - r * 0.2), w=1.7)
    else:
        pen.line((mid - r * 0.28, low), (mid + r * 0.28, low), w=1.7)


# A pose: height of the hips, two legs from the hips, two arms from the shoulder (offsets to knee, foot / elbow, hand).
Limb = tuple[Point, Point]
POSES: dict[str, tuple[float, Limb, Limb, Limb, Limb]] = {
    "stand": (-38, ((-5, 19), (-8, 38)), ((5, 19), (8, 38)), ((-10, 13), (-12, 28)), ((10, 13), (13, 27))),
    "wave": (-38, ((-5, 19), (-8, 38)), ((5, 19), (8, 38)), ((-10, 13), (-12, 28)), ((15, -2), (23, -20))),
    "point": (-38, ((-5, 19), (-8, 38)), ((5, 19), (8, 38)), ((-10, 13), (-12, 28)), ((15, 2), (31, -3))),
    "hold": (-38, ((-5, 19), (-8, 38)), ((5, 19), (8, 38)), ((4, 13), (22, 12)), ((9, 11), (26, 8))),
    "shrug": (-38, ((-5, 19), (-8, 38)), ((5, 19), (8, 38)), ((-14, 10), (-24, 0)), ((14, 10), (24, 0))),
    "cheer": (-38, ((-5, 19), (-10, 38)), ((5, 19), (10, 38)), ((-19, -3), (-27, -24)), ((19, -3), (27, -24))),
    "hips": (-38, ((-5, 19), (-8, 38)), ((5, 19), (8, 38)), ((-16, 12), (-4, 26)), ((16, 12), (4, 26))),
    "think": (-38, ((-5, 19), (-8, 38)), ((5, 19), (8, 38)), ((-10, 13), (-12, 28)), ((15, 12), (10, -3))),
    "run": (-36, ((-12, 16), (-27, 22)), ((14, 13), (20, 35)), ((-13, 9), (-20, 22)), ((14, 10), (24, 0))),
    "jump": (-46, ((-12, 10), (-16, 26)), ((12, 10), (16, 26)), ((-19, -4), (-28, -20)), ((19, -4), (28, -20))),
    "sit": (-24, ((18, -1), (20, 24)), ((22, 1), (26, 24)), ((-3, 15), (12, 24)), ((10, 13), (20, 22))),
    "work": (-24, ((18, -1), (20, 24)), ((22, 1), (26, 24)), ((7, 14), (24, 12)), ((9, 14), (27, 10))),
    "fall": (-38, ((-10, 16), (-20, 30)), ((10, 18), (22, 30)), ((-16, -10), (-26, -22)), ((16, -8), (26, -22))),
}
LYING = ("lie", "tumble")


def _limb(pen: Pen, start: Point, limb: Limb, turn: Callable[[float, float], Point], w: float = 2.8) -> None:
    (ax, ay), (bx, by) = limb
    points = (start, (start[0] + ax, start[1] + ay), (start[0] + bx, start[1] + by))
    pen.line(*(turn(*p) for p in points), w=w)


def figure(pen: Pen, marks: Sequence[str], extras: Sequence[str], shirt: Colour) -> Point:
    """A stick figure; `marks` hold its pose and mood, `extras` its hair, hat and so on.

    Returns where the tail of a balloon should point.
    """
    pose = next((m for m in marks if m in POSES or m in LYING), "stand")
    mood = next((m for m in marks if m in FACES), "smile")
    angle = {"lie": -90.0, "tumble": 140.0, "fall": 25.0}.get(pose, 0.0)
    hip, leg1, leg2, arm1, arm2 = POSES.get(pose, POSES["fall" if pose == "tumble" else "stand"])
    if pose == "lie":
        leg1, leg2, arm1, arm2 = ((-3, 19), (-4, 38)), ((3, 19), (4, 38)), ((-8, 12), (-6, 26)), ((8, 12), (6, 26))
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    pivot = hip if pose != "lie" else -6.0

    def turn(x: float, y: float) -> Point:
        if not angle:
            return x, y
        y0 = y - hip
        return x * cos - y0 * sin, pivot + x * sin + y0 * cos

    shoulder = hip - 28
    head = hip - 49
    r = 16.0
    if "cape" in extras:
        pen.poly(turn(-3, shoulder - 4), turn(-24, hip + 26), turn(4, hip + 24), turn(4, shoulder), fill=DARK)
    _limb(pen, (0, hip), leg1, turn)
    _limb(pen, (0, hip), leg2, turn)
    _limb(pen, (0, shoulder), arm1, turn)
    if "dress" in extras:
        pen.poly(turn(0, shoulder - 4), turn(-15, hip + 12), turn(15, hip + 12), fill=shirt)
    elif "coat" in extras:
        pen.poly(
            turn(-6, shoulder - 4), turn(6, shoulder - 4), turn(12, hip + 16), turn(-12, hip + 16), fill=shirt, w=2.0
        )
        pen.line(turn(0, shoulder), turn(0, hip + 14), w=1.3)
    else:
        pen.poly(turn(-6, shoulder - 4), turn(6, shoulder - 4), turn(6, hip + 2), turn(-6, hip + 2), fill=shirt, w=2.0)
    _limb(pen, (0, shoulder), arm2, turn)
    if "tie" in extras:
        pen.poly(
            turn(1, shoulder - 2), turn(5, shoulder + 12), turn(2, shoulder + 18), turn(-1, shoulder + 12), fill=DARK
        )
    if "cape" in extras:
        pen.line(turn(-7, shoulder - 5), turn(7, shoulder - 5), w=3.2, c=DARK)

    hx, hy = turn(0, head)
    skin = GREEN if "green" in extras else WHITE
    # The head is not turned: a face stays readable, whatever the body does.
    _head(Pen(pen.image, pen.rng, pen.place(hx, hy), pen.zoom, pen.flip), r, mood, extras, skin)
    return hx + 3, hy - r - (22 if {"wizard", "chef"} & set(extras) else 9 if len(extras) else 3)


def _head(pen: Pen, r: float, mood: str, extras: Sequence[str], skin: Colour) -> None:
    """Head, hair, hat and face around the centre of the head."""
    hair = rgb("6b4a32") if "brown" in extras else rgb("e0b860") if "blond" in extras else DARK
    if "grey" in extras:
        hair = GREY
    if "long" in extras:
        pen.poly((-16, -8), (-8, -19), (8, -19), (15, -8), (13, -2), (0, 4), (-6, 22), (-20, 20), fill=hair)
    if "ponytail" in extras:
        pen.poly((-10, -12), (-24, -10), (-30, 8), (-24, 10), (-20, -2), (-12, 0), fill=hair)
    if "bun" in extras:
        pen.oval(-9, -20, 8, 8, fill=hair)
    if "bubble" in extras:
        pen.oval(1, 0, 24, 24, fill=rgb("e4f3fb"))
    pen.oval(0, 0, r, r, fill=skin, w=2.4)
    if "long" in extras or "bun" in extras or "ponytail" in extras:
        pen.poly((-15.5, -3), (-13, -11), (-4, -16.5), (6, -15.5), (12, -11), (2, -9), (-8, -6), fill=hair, w=1.6)
    if "spiky" in extras:
        pen.poly(
            (-15, -6), (-19, -16), (-10, -14), (-8, -24), (0, -16), (6, -24), (9, -14), (17, -17), (13, -8), (0, -11),
            fill=hair, w=1.6,
        )  # fmt: skip
    if "short" in extras:
        pen.poly((-16, 0), (-15, -10), (-6, -18), (7, -17), (14, -9), (6, -11), (-6, -9), (-11, -4), fill=hair, w=1.6)
    if "peak" in extras:
        pen.poly(
            (-16, 1), (-15, -10), (-6, -18), (7, -17), (15, -7), (11, -8), (6, -3), (2, -10), (-8, -8), fill=INK, w=1.6
        )
    if "mask" in extras:
        pen.poly((-15, -6), (15, -6), (15, 3), (-15, 3), fill=GREY, w=1.6)
    face(pen, 0, 0, r, mood)
    if "glasses" in extras:
        pen.oval(1, -2, 5.2, 5.2, fill=None, w=1.5)
        pen.oval(10.6, -2, 4.6, 5.2, fill=None, w=1.5)
        pen.line((-4, -3), (-15, -4), w=1.5)
    if "patch" in extras:
        pen.oval(10, -2, 4.4, 4.4, fill=INK, w=1)
        pen.line((-14, -8), (14, -5), w=1.5)
    if "moustache" in extras:
        pen.poly((5, 3), (-4, 7), (5, 6.5), (14, 7), fill=hair, w=1.4)
    if "beard" in extras:
        pen.poly((-9, 9), (0, 6), (12, 8), (12, 22), (4, 38), (-5, 24), fill=WHITE if "grey" in extras else hair, w=1.8)
        pen.line((2, 9), (9, 9), w=1.6)
    if "fangs" in extras:
        pen.poly((2, 6), (5, 6), (3.5, 11), w=1.0)
        pen.poly((7, 6), (10, 6), (8.5, 11), w=1.0)
    if "cap" in extras:
        pen.poly((-16, -5), (-14, -14), (-5, -20), (7, -18), (13, -9), (26, -6), (13, -4), fill=BLUE, w=2)
    if "chef" in extras:
        pen.poly((-12, -11), (-13, -20), (-19, -28), (-9, -36), (0, -33), (9, -36), (18, -28), (12, -20), (12, -11))
        pen.line((-12, -18), (12, -18), w=1.5)
    if "wizard" in extras:
        pen.poly((-22, -8), (22, -10), (10, -14), (-3, -48), (-12, -13), fill=VIOLET)
        pen.dot(-2, -24, 2.2, YELLOW)
        pen.dot(4, -17, 2.0, YELLOW)
    if "crown" in extras:
        pen.poly((-13, -9), (-15, -26), (-6, -17), (0, -28), (6, -17), (15, -26), (13, -9), fill=YELLOW)
    if "helmet" in extras:
        pen.poly(
            (-17, 2), (-16, -10), (-6, -20), (6, -20), (16, -10), (17, -3), (-2, -4), (-6, 12), (-15, 12), fill=GREY
        )
        pen.poly((-2, -20), (-18, -32), (-22, -22), (-8, -18), fill=ROSE)
    if "tricorn" in extras:
        pen.poly((-22, -6), (-16, -20), (0, -26), (16, -20), (22, -6), (0, -12), fill=DARK)
        pen.dot(0, -18, 3, WHITE)
    if "beret" in extras:
        pen.poly((-16, -8), (-22, -16), (-8, -22), (10, -19), (15, -10), fill=ROSE)
    if "antenna" in extras:
        for x in (-6, 6):
            pen.line((x, -14), (x * 1.8, -28), w=2)
            pen.dot(x * 1.8, -29, 3, LEAF)


# ---------------------------------------------------------------------------------------------- the register

Draw = Callable[[Pen, Sequence[str]], Point | None]


@dataclass(frozen=True)
class Thing:
    """How a named thing is drawn, and the room it takes in units."""

    draw: Draw  # returns where the tail of a balloon should point, if it can speak
    half: float  # half its width
    height: float
    text: Box | None = None  # where words may be written on it
    crosses: bool = False  # background: words may lie over it


THINGS: dict[str, Thing] = {}


def thing(
    name: str, half: float, height: float, text: Box | None = None, crosses: bool = False
) -> Callable[[Draw], Draw]:
    """Register how `name` is drawn."""

    def register(draw: Draw) -> Draw:
        THINGS[name] = Thing(draw, half, height, text, crosses)
        return draw

    return register


def _person(name: str, shirt: Colour, *extras: str, half: float = 22, height: float = 105, small: float = 1.0) -> None:
    def draw(pen: Pen, marks: Sequence[str]) -> Point:
        smaller = Pen(pen.image, pen.rng, pen.origin, pen.zoom * small, pen.flip)
        x, y = figure(smaller, marks, extras, shirt)
        return x * small, y * small

    THINGS[name] = Thing(draw, half * small, height * small)


_person("bob", BLUE)
_person("ann", ROSE, "long", "brown", "dress")
_person("kim", VIOLET, "bun", "glasses")
_person("max", GREEN, "cap", height=108)
_person("kid", YELLOW, "spiky", small=0.72, height=110)
_person("girl", PINK, "ponytail", "blond", "dress", small=0.72)
_person("gran", VIOLET, "bun", "grey", "glasses", "dress", small=0.92, height=112)
_person("boss", DARK, "moustache", "short", "tie", half=24)
_person("doc", WHITE, "glasses", "short", "coat", "grey")
_person("chef", WHITE, "chef", "moustache", height=126)
_person("wiz", VIOLET, "wizard", "beard", "grey", "coat", height=136, half=26)
_person("knight", GREY, "helmet", height=114)
_person("pirate", WOOD, "tricorn", "patch", "beard", height=114, half=24)
_person("thief", GREY, "mask", "beret", height=110)
_person("vamp", DARK, "cape", "peak", "fangs", half=26)
_person("astro", WHITE, "bubble", half=26, height=112)
_person("zombie", GREY, "green", "spiky", height=112)
_person("princess", PINK, "long", "blond", "crown", "dress", height=116)
_person("guru", ORANGE, "beard", "grey", "coat")
_person("alien", GREEN, "green", "antenna", small=0.85, height=118)
_person("oldboss", DARK, "moustache", "beard", "grey", "tie")
_person("oldbob", BLUE, "beard", "grey")
_person("oldann", ROSE, "long", "grey", "dress")


def _mood(marks: Sequence[str], otherwise: str = "smile") -> str:
    return next((m for m in marks if m in FACES), otherwise)


@thing("bones", 22, 105)
def _bones(pen: Pen, marks: Sequence[str]) -> Point:
    hip = -24.0 if "sit" in marks else -38.0
    legs = (
        [((18, hip - 1), (20, 0)), ((22, hip + 1), (26, 0))]
        if "sit" in marks
        else [((-5, -19), (-8, 0)), ((5, -19), (8, 0))]
    )
    for knee, foot in legs:
        pen.line((0, hip), knee, foot, w=2.2)
    pen.line((0, hip), (0, hip - 34), w=2.6)
    for y in (-14, -20, -26):
        pen.arc(0, hip + y, 10, 4, 0, 360, w=1.5)
    pen.line((0, hip - 28), (9, hip - 15), (25, hip - 18), w=2.2)
    pen.line((0, hip - 28), (-9, hip - 15), (-11, hip - 2), w=2.2)
    pen.oval(0, hip - 49, 15, 15)
    pen.box(-3, hip - 39, 12, hip - 31)
    pen.dot(1, hip - 51, 3.6)
    pen.dot(10, hip - 51, 3.6)
    pen.line((2, hip - 38), (2, hip - 32), w=1.2)
    pen.line((7, hip - 38), (7, hip - 32), w=1.2)
    return 8, hip - 40


@thing("cat", 26, 56)
def _cat(pen: Pen, marks: Sequence[str]) -> Point:
    fur = ORANGE if "orange" in marks else GREY
    if "lie" in marks:
        pen.oval(-4, -12, 27, 12, fill=fur)
        pen.arc(-26, -10, 10, 10, 90, 250, w=3.4)
        hx, hy = 16.0, -18.0
    else:
        pen.line((-14, -6), (-27, -10), (-30, -26), (-24, -34), w=4, c=INK)
        pen.poly((-17, 0), (-16, -18), (-2, -32), (10, -30), (12, 0), fill=fur)
        pen.line((2, 0), (2, -12), w=1.6)
        hx, hy = 4.0, -40.0
    pen.poly((hx - 13, hy - 6), (hx - 11, hy - 21), (hx - 2, hy - 12), fill=fur)
    pen.poly((hx + 13, hy - 6), (hx + 13, hy - 21), (hx + 3, hy - 12), fill=fur)
    pen.oval(hx, hy, 15, 13, fill=fur)
    face(pen, hx - 1, hy, 13, _mood(marks, "flat"))
    for y in (2, 5):
        pen.line((hx + 11, hy + y), (hx + 21, hy + y + (y - 4) * 1.2), w=1.0)
        pen.line((hx - 7, hy + y), (hx - 17, hy + y + (y - 4) * 1.2), w=1.0)
    return hx + 4, hy + 6


@thing("dog", 30, 58)
def _dog(pen: Pen, marks: Sequence[str]) -> Point:
    fur = WOOD
    if "up" in marks:  # on its hind legs
        pen.poly((-10, 0), (-12, -30), (-4, -42), (8, -42), (10, -28), (9, 0), fill=fur)
        pen.line((6, -34), (24, -32), w=3)
        pen.line((-11, -10), (-22, -18), w=3.4)
        hx, hy = 3.0, -50.0
    else:
        pen.line((-24, -24), (-33, -38), w=3.6)
        for x in (-20, -13, 9, 15):
            pen.line((x, -14), (x, 0), w=3.2)
        pen.oval(-3, -21, 24, 11, fill=fur)
        hx, hy = 18.0, -38.0
    pen.oval(hx, hy, 13, 12, fill=fur)
    pen.oval(hx + 12, hy + 4, 8, 6, fill=fur)
    pen.dot(hx + 19, hy + 1, 2.6)
    if "sleep" in marks:
        pen.arc(hx + 5, hy - 3, 3, 2.5, 0, 180, w=1.6)
    else:
        pen.dot(hx + 5, hy - 3, 1.9)
    if _mood(marks) == "open":
        pen.oval(hx + 11, hy + 9, 4, 3, fill=DARK, w=1.2)
    else:
        pen.arc(hx + 11, hy + 5, 5, 4, 20, 150, w=1.4)
    pen.poly((hx - 8, hy - 10), (hx - 15, hy + 4), (hx - 8, hy + 10), (hx - 3, hy - 6), fill=BROWN)
    return hx + 12, hy + 8


@thing("duck", 24, 52)
def _duck(pen: Pen, marks: Sequence[str]) -> Point:
    body = WHITE if "white" in marks else YELLOW
    for x in (-6, 4):
        pen.line((x, -8), (x, 0), (x + 6, 0), w=2.4, c=rgb("c98a3a"))
    pen.poly((-26, -26), (-14, -24), (6, -26), (14, -18), (8, -7), (-10, -6), (-20, -14), fill=body)
    pen.arc(-4, -18, 9, 5, 0, 180, w=1.6)
    pen.oval(8, -36, 12, 12, fill=body)
    pen.poly((18, -38), (32, -35), (31, -31), (18, -30), fill=ORANGE)
    pen.line((19, -34), (30, -33), w=1.2)
    pen.dot(12, -39, 2)
    if _mood(marks) == "angry":
        pen.line((7, -46), (15, -42), w=1.7)
    return 26, -32


@thing("chicken", 24, 56)
def _chicken(pen: Pen, marks: Sequence[str]) -> Point:
    for x in (-5, 4):
        pen.line((x, -10), (x, 0), (x + 5, 0), w=2, c=rgb("c98a3a"))
    pen.poly((-28, -34), (-16, -26), (2, -28), (14, -22), (8, -9), (-10, -8), (-20, -16))
    pen.arc(-5, -20, 8, 5, 0, 180, w=1.6)
    pen.poly((2, -52), (4, -58), (8, -53), (11, -58), (14, -51), fill=ROSE, w=1.6)
    pen.oval(8, -42, 10, 11)
    pen.poly((17, -44), (26, -40), (17, -38), fill=ORANGE)
    pen.oval(16, -34, 2.6, 4, fill=ROSE, w=1.2)
    pen.dot(11, -44, 1.9)
    return 22, -38


@thing("fish", 24, 30)
def _fish(pen: Pen, marks: Sequence[str]) -> Point:
    colour = BLUE if "blue" in marks else ORANGE
    pen.poly((-12, -15), (-26, -26), (-24, -15), (-26, -4), fill=colour)
    pen.oval(2, -15, 18, 11, fill=colour)
    pen.arc(-2, -14, 6, 4, 300, 60, w=1.4)
    pen.dot(11, -18, 2)
    mood = _mood(marks)
    if mood in ("sad", "flat", "angry"):
        pen.arc(16, -8, 5, 4, 190, 300, w=1.5)
    elif mood in ("open", "shock"):
        pen.oval(17, -12, 2.4, 3, fill=DARK, w=1.2)
    else:
        pen.arc(14, -14, 5, 4, 30, 130, w=1.5)
    return 20, -12


@thing("snail", 30, 42)
def _snail(pen: Pen, marks: Sequence[str]) -> Point:
    pen.poly((-30, 0), (-22, -7), (12, -8), (18, -26), (28, -27), (30, -16), (24, 0), fill=CREAM)
    pen.line((21, -26), (17, -40), w=1.8)
    pen.line((26, -26), (30, -40), w=1.8)
    pen.dot(17, -40, 2.6)
    pen.dot(30, -40, 2.6)
    pen.arc(25, -18, 4, 3, 20, 160, w=1.4)
    if "bare" in marks:
        return 28, -18
    if "cup" in marks:
        pen.poly((-22, -4), (-24, -34), (8, -36), (5, -6), fill=BLUE)
        pen.arc(-24, -20, 9, 9, 90, 270, w=3)
    else:
        pen.oval(-6, -20, 18, 17, fill=WOOD)
        pen.arc(-6, -20, 11, 10, 60, 360, w=1.8)
        pen.arc(-5, -19, 5, 4.5, 90, 360, w=1.6)
    return 28, -18


@thing("mouse", 18, 34)
def _mouse(pen: Pen, marks: Sequence[str]) -> Point:
    pen.arc(-22, -4, 10, 8, 0, 150, w=2)
    pen.oval(-3, -11, 15, 11, fill=GREY)
    pen.oval(3, -27, 7, 7, fill=PINK)
    pen.oval(14, -26, 6, 6, fill=PINK)
    pen.poly((0, -22), (8, -27), (16, -22), (24, -13), (14, -8), (2, -10), fill=GREY)
    pen.dot(13, -18, 1.9)
    pen.dot(24, -13, 2.2)
    return 20, -9


@thing("sheep", 30, 52)
def _sheep(pen: Pen, marks: Sequence[str]) -> Point:
    for x in (-14, -7, 7, 13):
        pen.line((x, -12), (x, 0), w=3)
    for step in range(11):
        angle = step * math.tau / 11
        pen.oval(-2 + 18 * math.cos(angle), -23 + 10 * math.sin(angle), 8, 7, w=2)
    pen.oval(-2, -23, 20, 12, w=0)
    pen.oval(21, -36, 10, 12, fill=GREY)
    pen.oval(14, -46, 7, 5)
    pen.oval(22, -48, 6, 5)
    pen.poly((12, -38), (4, -33), (10, -31), fill=GREY, w=1.6)
    face(pen, 20, -35, 9, _mood(marks, "flat"))
    return 25, -30


@thing("bear", 34, 96)
def _bear(pen: Pen, marks: Sequence[str]) -> Point:
    fur = BROWN
    pen.oval(-14, -4, 11, 6, fill=fur)
    pen.oval(14, -4, 11, 6, fill=fur)
    pen.oval(0, -32, 27, 30, fill=fur)
    pen.oval(2, -28, 16, 19, fill=WOOD, w=0)
    for x in (-15, 15):
        pen.oval(x, -88, 8, 8, fill=fur)
    pen.oval(0, -72, 23, 21, fill=fur)
    pen.oval(6, -65, 11, 9, fill=WOOD, w=1.4)
    pen.dot(7, -69, 3)
    face(pen, 0, -72, 17, _mood(marks))
    pen.line((-24, -42), (-34, -22), w=6, c=rgb("8a6238"))
    if "wave" in marks or "point" in marks:
        pen.line((23, -42), (38, -58), w=6, c=rgb("8a6238"))
    else:
        pen.line((24, -42), (33, -22), w=6, c=rgb("8a6238"))
    return 10, -62


@thing("penguin", 22, 66)
def _penguin(pen: Pen, marks: Sequence[str]) -> Point:
    pen.oval(-8, -2, 8, 3.5, fill=ORANGE)
    pen.oval(9, -2, 8, 3.5, fill=ORANGE)
    pen.oval(0, -30, 20, 29, fill=DARK)
    pen.oval(4, -24, 13, 21, w=1.4)
    pen.oval(1, -54, 14, 13, fill=DARK)
    pen.oval(4, -53, 9, 8, w=0)
    pen.dot(3, -55, 1.9)
    pen.dot(10, -55, 1.9)
    pen.poly((8, -52), (22, -49), (8, -46), fill=ORANGE, w=1.6)
    pen.poly((-17, -42), (-27, -20), (-15, -26), fill=DARK)
    pen.poly((17, -42), (27, -22), (16, -26), fill=DARK)
    return 16, -48


@thing("bird", 16, 26)
def _bird(pen: Pen, marks: Sequence[str]) -> Point:
    pen.poly((-12, -12), (-26, -18), (-24, -8), fill=BLUE)
    pen.oval(0, -12, 14, 11, fill=BLUE)
    pen.poly((12, -16), (21, -12), (12, -9), fill=ORANGE, w=1.5)
    pen.dot(6, -15, 1.9)
    pen.arc(-4, -10, 6, 4, 0, 180, w=1.5)
    for x in (-3, 3):
        pen.line((x, -2), (x, 2), w=1.6)
    return 18, -11


@thing("snake", 34, 52)
def _snake(pen: Pen, marks: Sequence[str]) -> Point:
    path = [(-34, -3), (-24, -10), (-14, -3), (-4, -10), (6, -4), (10, -16), (6, -30), (12, -42)]
    pen.line(*path, w=12)
    pen.line(*path, w=8.4, c=GREEN)
    pen.oval(15, -44, 13, 9, fill=GREEN)
    pen.dot(15, -47, 1.9)
    pen.dot(21, -46, 1.9)
    pen.line((27, -42), (36, -41), w=1.5, c=rgb("a05a5a"))
    if "tie" in marks:
        pen.poly((6, -30), (14, -30), (16, -14), (10, -8), (6, -16), fill=BLUE, w=1.6)
    return 24, -40


@thing("bee", 20, 34)
def _bee(pen: Pen, marks: Sequence[str]) -> Point:
    pen.oval(-6, -28, 8, 11, fill=rgb("e8f4fb"), w=1.6)
    pen.oval(5, -29, 8, 11, fill=rgb("e8f4fb"), w=1.6)
    pen.oval(0, -14, 18, 11, fill=YELLOW)
    for x in (-8, 0):
        pen.line((x, -23), (x, -5), w=4)
    pen.line((-18, -14), (-25, -14), w=2)
    face(pen, 10, -13, 6, _mood(marks, "flat"))
    return 14, -10


@thing("frog", 24, 42)
def _frog(pen: Pen, marks: Sequence[str]) -> Point:
    pen.poly((-24, 0), (-22, -14), (-8, -20), (8, -20), (22, -14), (24, 0), fill=LEAF)
    pen.oval(0, -22, 20, 13, fill=GREEN)
    for x in (-9, 11):
        pen.oval(x, -36, 6.5, 6.5, w=1.8)
        pen.dot(x + 1.5, -36, 2.4)
    pen.arc(2, -22, 12, 6, 15, 165, w=1.8)
    if "hat" in marks:
        pen.poly((-16, -40), (18, -42), (6, -46), (-2, -70), (-6, -46), fill=VIOLET)
        pen.dot(0, -54, 2.2, YELLOW)
    if "crown" in marks:
        pen.poly((-10, -40), (-12, -54), (-4, -47), (1, -56), (6, -47), (14, -54), (12, -40), fill=YELLOW)
    return 8, -17


@thing("worm", 10, 34)
def _worm(pen: Pen, marks: Sequence[str]) -> Point:
    path = [(-6, 0), (4, -6), (-4, -14), (3, -22), (0, -28)]
    pen.line(*path, w=10)
    pen.line(*path, w=6.6, c=PINK)
    pen.oval(1, -29, 8, 7, fill=PINK)
    face(pen, 0, -28.5, 6.5, _mood(marks))
    return 6, -26


@thing("rabbit", 18, 70)
def _rabbit(pen: Pen, marks: Sequence[str]) -> Point:
    pen.oval(-15, -8, 6, 6)
    pen.oval(0, -16, 16, 16)
    pen.oval(8, -2, 10, 4)
    pen.oval(-1, -56, 4.5, 14, fill=PINK)
    pen.oval(10, -56, 4.5, 14, fill=PINK)
    pen.oval(4, -36, 13, 12)
    face(pen, 4, -36, 11, _mood(marks))
    if "carrot" in marks:
        pen.poly((18, -28), (36, -22), (18, -21), fill=ORANGE)
    return 10, -30


@thing("dino", 46, 112)
def _dino(pen: Pen, marks: Sequence[str]) -> Point:
    pen.poly(
        (-46, -8), (-26, -34), (-14, -58), (0, -74), (4, -98), (18, -108), (42, -100), (44, -86), (24, -80), (20, -60),
        (20, -30), (16, -14), (-14, -14), fill=GREEN,
    )  # fmt: skip
    for x in (-6, 10):
        pen.poly((x - 6, -18), (x + 7, -18), (x + 13, 0), (x - 6, 0), fill=GREEN)
    for x, y in ((-22, -44), (-14, -60), (-3, -78)):
        pen.poly((x - 2, y + 6), (x - 12, y - 6), (x + 4, y - 6), fill=YELLOW, w=1.5)
    pen.line((20, -56), (32, -52), (34, -58), w=2.4)
    pen.dot(20, -100, 2.4)
    pen.line((26, -89), (43, -91), w=1.8)
    if "apron" in marks:
        pen.poly((2, -58), (21, -58), (22, -20), (-2, -20), fill=WHITE)
    return 38, -88


@thing("monster", 30, 86)
def _monster(pen: Pen, marks: Sequence[str]) -> Point:
    pen.poly((-28, 0), (-26, -50), (-14, -70), (14, -70), (26, -50), (28, 0), (14, -7), (0, 0), (-14, -7), fill=VIOLET)
    pen.poly((-16, -66), (-22, -86), (-6, -70), fill=YELLOW)
    pen.poly((16, -66), (22, -86), (6, -70), fill=YELLOW)
    for x in (-6, 13):
        pen.oval(x, -52, 7, 8)
        pen.dot(x + 2, -51, 2.6)
    pen.oval(5, -36, 11, 7, fill=ORANGE)
    pen.arc(4, -26, 12, 7, 10, 170) if _mood(marks) != "sad" else pen.arc(4, -16, 12, 7, 190, 350)
    return 14, -24


@thing("robot", 24, 98)
def _robot(pen: Pen, marks: Sequence[str]) -> Point:
    pen.oval(-10, -5, 6, 5, fill=DARK)
    pen.oval(10, -5, 6, 5, fill=DARK)
    pen.box(-20, -54, 20, -10, fill=GREY)
    pen.box(-12, -46, 12, -32, fill=SEA, w=1.6)
    pen.dot(-6, -22, 2.6, LEAF)
    pen.dot(4, -22, 2.6, ORANGE)
    pen.line((-20, -46), (-30, -30), w=3.4)
    pen.line((20, -46), *(((36, -58),) if "cheer" in marks else ((31, -30),)), w=3.4)
    pen.line((0, -60), (0, -54), w=4)
    pen.box(-17, -86, 17, -60, fill=GREY)
    face(pen, -3, -73, 14, _mood(marks, "flat"))
    pen.line((0, -86), (0, -95), w=2)
    pen.dot(0, -96, 3.2, YELLOW)
    return 8, -66


@thing("ghost", 24, 78)
def _ghost(pen: Pen, marks: Sequence[str]) -> Point:
    points = [(-22, -6), (-22, -50), (-14, -70), (0, -77), (14, -70), (22, -50), (22, -6)]
    pen.poly(*points, (14, -12), (7, -4), (0, -12), (-8, -4), (-14, -12), fill=WHITE)
    face(pen, 0, -52, 15, _mood(marks, "open"))
    pen.line((20, -42), (30, -46), w=2.4)
    return 8, -44


@thing("snowman", 30, 100)
def _snowman(pen: Pen, marks: Sequence[str]) -> Point:
    pen.oval(0, -23, 27, 24)
    pen.oval(0, -60, 19, 18)
    pen.oval(0, -86, 14, 13)
    pen.dot(2, -89, 2)
    pen.dot(9, -89, 2)
    if "noseless" not in marks:
        pen.poly((5, -86), (26, -82), (6, -81), fill=ORANGE, w=1.6)
    if _mood(marks) == "sad" or "noseless" in marks:
        pen.arc(5, -74, 6, 4, 200, 340, w=1.6)
    else:
        pen.arc(5, -80, 7, 4, 20, 160, w=1.6)
    for y in (-66, -58, -50):
        pen.dot(3, y, 1.8)
    pen.line((-18, -64), (-34, -78), w=2.2, c=BROWN)
    pen.line((18, -62), (34, -72), w=2.2, c=BROWN)
    return 10, -76


@thing("egg", 18, 48)
def _egg(pen: Pen, marks: Sequence[str]) -> Point:
    pen.poly(
        *(
            (
                17 * math.cos(t / 12 * math.pi) * (1 - 0.16 * math.sin(-t / 12 * math.pi)),
                -24 + 23 * math.sin(t / 12 * math.pi),
            )
            for t in range(24)
        ),
        fill=CREAM,
    )
    face(pen, 0, -24, 14, _mood(marks))
    if "cracked" in marks:
        pen.line((-15, -32), (-8, -38), (-4, -32), (3, -39), (8, -33), (14, -37), w=1.6)
    return 6, -18


@thing("phone", 18, 66)
def _phone(pen: Pen, marks: Sequence[str]) -> Point:
    pen.poly((-17, 0), (-17, -64), (17, -64), (17, 0), fill=DARK)
    pen.box(-13, -57, 13, -9, fill=rgb("e6f2fa"), w=1.4)
    if "blank" not in marks:
        face(pen, -3, -34, 13, _mood(marks))
    return 6, -28


@thing("cactus", 24, 70)
def _cactus(pen: Pen, marks: Sequence[str]) -> Point:
    for path in (((-8, -34), (-22, -34), (-22, -50)), ((8, -40), (22, -40), (22, -56))):
        pen.line(*path, w=11)
        pen.line(*path, w=7.4, c=GREEN)
    pen.poly((-12, -18), (-12, -60), (-6, -68), (6, -68), (12, -60), (12, -18), fill=GREEN)
    for x, y in ((-7, -60), (6, -62), (-7, -26), (7, -28), (-21, -44), (22, -50)):
        pen.line((x - 2, y - 2), (x + 2, y + 2), w=1.1)
    face(pen, -3, -44, 11, _mood(marks))
    pen.poly((-17, -20), (17, -20), (12, 0), (-12, 0), fill=ORANGE)
    return 5, -38


@thing("fern", 26, 66)
def _fern(pen: Pen, marks: Sequence[str]) -> Point:
    if "dry" in marks:
        pen.line((1, -22), (3, -48), (16, -42), (20, -32), w=2.4, c=BROWN)
        pen.line((-1, -22), (-6, -42), (-18, -38), (-22, -28), w=2.4, c=BROWN)
    else:
        droop = 16.0 if "droop" in marks else 0.0
        for dx, top in ((-26, -52), (-13, -64), (0, -68), (13, -64), (26, -52)):
            tip = (dx, top + droop * (1 + abs(dx) / 14))
            pen.poly(
                (0, -18), (dx * 0.55 - 6, (top - 6) * 0.72), tip, (dx * 0.55 + 6, (top + 6) * 0.66), fill=LEAF, w=1.6
            )
    pen.poly((-19, -26), (19, -26), (13, 0), (-13, 0), fill=WOOD)
    if "dry" not in marks:
        face(pen, -3, -14, 10, _mood(marks))
    return 6, -10


@thing("plant", 16, 40)
def _plant(pen: Pen, marks: Sequence[str]) -> Point:
    """A sprout in a pot; `tall` and `giant` for the rest of its life."""
    top = -150.0 if "giant" in marks else -92.0 if "tall" in marks else -58.0 if "mid" in marks else -32.0
    pen.line((0, -14), (2, top), w=5, c=INK)
    pen.line((0, -14), (2, top), w=2.6, c=LEAF)
    y, side = -26.0, 1
    while y > top:
        pen.poly((1, y), (side * 9, y - 9), (side * 20, y - 8), (side * 12, y), fill=GREEN, w=1.6)
        y, side = y - 13, -side
    if "giant" in marks or "tall" in marks:
        pen.oval(2, top - 10, 14, 13, fill=YELLOW)
        face(pen, 0, top - 10, 11, _mood(marks))
    else:
        pen.oval(2, top - 2, 5, 5, fill=GREEN)
    pen.poly((-15, -18), (15, -18), (11, 0), (-11, 0), fill=ORANGE)
    return 8, top - 4


@thing("clock", 24, 52)
def _clock(pen: Pen, marks: Sequence[str]) -> Point:
    pen.line((-12, -6), (-18, 0), w=3)
    pen.line((12, -6), (18, 0), w=3)
    pen.oval(-14, -46, 7, 5, fill=YELLOW)
    pen.oval(14, -46, 7, 5, fill=YELLOW)
    pen.oval(0, -25, 22, 22)
    for step in range(12):
        a = step * math.tau / 12
        pen.dot(18 * math.cos(a), -25 + 18 * math.sin(a), 1.2)
    if any(m in FACES for m in marks):
        face(pen, -3, -25, 14, _mood(marks))
    else:
        pen.line((0, -25), (0, -38), w=2.2)
        pen.line((0, -25), (9, -20), w=2.2)
        pen.dot(0, -25, 2.2)
    return 6, -18


@thing("lamp", 20, 74)
def _lamp(pen: Pen, marks: Sequence[str]) -> Point:
    pen.oval(0, -3, 15, 4, fill=DARK)
    pen.line((0, -4), (0, -40), w=3.4)
    pen.poly((-20, -38), (-11, -70), (11, -70), (20, -38), fill=YELLOW)
    if any(m in FACES for m in marks):
        face(pen, -3, -52, 12, _mood(marks))
    return 6, -46


@thing("toaster", 28, 48)
def _toaster(pen: Pen, marks: Sequence[str]) -> Point:
    if "toast" in marks:
        pen.poly((-12, -36), (-13, -56), (-4, -60), (8, -60), (15, -56), (14, -36), fill=WOOD)
    pen.poly((-27, -2), (-27, -34), (-20, -42), (20, -42), (27, -34), (27, -2), fill=GREY)
    pen.line((-14, -42), (14, -42), w=3.4)
    pen.line((27, -28), (33, -28), w=3.4)
    face(pen, -4, -22, 14, _mood(marks))
    return 6, -14


@thing("cloud", 40, 44)
def _cloud(pen: Pen, marks: Sequence[str]) -> Point:
    fill = GREY if "dark" in marks else WHITE
    spots = ((-24, -14, 16, 12), (-6, -26, 20, 16), (18, -18, 20, 14), (0, -10, 30, 10))
    for x, y, rx, ry in spots:
        pen.oval(x, y, rx, ry, fill=fill)
    for x, y, rx, ry in spots:
        pen.oval(x, y, rx - 1.5, ry - 1.5, fill=fill, w=0)
    if any(m in FACES for m in marks):
        face(pen, -3, -18, 14, _mood(marks))
    if "rain" in marks:
        for x in (-26, -14, -2, 10, 22):
            pen.line((x, 4), (x - 4, 16), w=2, c=rgb("5a9bd0"))
            pen.line((x - 2, 24), (x - 6, 36), w=2, c=rgb("5a9bd0"))
    return 6, -12


@thing("sun", 30, 60)
def _sun(pen: Pen, marks: Sequence[str]) -> Point:
    for step in range(10):
        a = step * math.tau / 10 + 0.2
        pen.line(
            (24 * math.cos(a), -30 + 24 * math.sin(a)),
            (33 * math.cos(a), -30 + 33 * math.sin(a)),
            w=2.4,
            c=rgb("d9a92e"),
        )
    pen.oval(0, -30, 19, 19, fill=YELLOW)
    if any(m in FACES for m in marks):
        face(pen, -3, -30, 14, _mood(marks))
    return 6, -22


# ---------------------------------------------------------------------------------------------- props


@thing("table", 38, 36)
def _table(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((-32, -34), (-32, 0), w=3.4, c=BROWN)
    pen.line((32, -34), (32, 0), w=3.4, c=BROWN)
    pen.box(-38, -38, 38, -32, fill=WOOD)


@thing("desk", 38, 72)
def _desk(pen: Pen, marks: Sequence[str]) -> None:
    """A desk with a computer; faces the one who works at it from the left."""
    pen.line((-24, -34), (-24, 0), w=3.4, c=BROWN)
    pen.line((34, -34), (34, 0), w=3.4, c=BROWN)
    pen.box(-30, -38, 38, -32, fill=WOOD)
    pen.poly((6, -38), (26, -38), (20, -44), (12, -44), fill=DARK)
    pen.poly((10, -44), (16, -74), (22, -74), (20, -44), fill=DARK)
    pen.line((-20, -39), (2, -39), w=3.4, c=DARK)


@thing("monitor", 24, 46)
def _monitor(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-8, 0), (8, 0), (4, -8), (-4, -8), fill=DARK)
    pen.box(-24, -44, 24, -8, fill=DARK)
    pen.box(-20, -40, 20, -12, fill=rgb("e6f2fa"), w=1)
    if "lines" in marks:
        for y in (-34, -28, -22):
            pen.line((-15, y), (12, y), w=1.6)


@thing("chair", 16, 56)
def _chair(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((-14, 0), (-14, -52), w=3, c=BROWN)
    pen.line((14, 0), (14, -22), w=3, c=BROWN)
    pen.box(-16, -25, 16, -20, fill=WOOD)


@thing("couch", 48, 46)
def _couch(pen: Pen, marks: Sequence[str]) -> None:
    pen.box(-46, -46, 46, -8, fill=GREEN)
    pen.box(-50, -30, -36, -4, fill=LEAF)
    pen.box(36, -30, 50, -4, fill=LEAF)
    pen.box(-36, -24, 36, -6, fill=GREEN)
    pen.line((-42, -4), (-42, 0), w=3)
    pen.line((42, -4), (42, 0), w=3)


@thing("bed", 62, 48)
def _bed(pen: Pen, marks: Sequence[str]) -> Point | None:
    """A bed; a mark names who lies in it: bob, sheep, kid, oldbob, phone."""
    pen.line((-60, 0), (-60, -46), w=4, c=BROWN)
    pen.line((60, 0), (60, -28), w=4, c=BROWN)
    pen.box(-60, -22, 60, -8, fill=WHITE)
    pen.oval(-42, -28, 16, 8, fill=CREAM)
    mouth: Point | None = None
    who = next((m for m in marks if m in ("bob", "sheep", "kid", "oldbob")), None)
    if who:
        head = Pen(pen.image, pen.rng, pen.place(-38, -36), pen.zoom * 0.9, pen.flip)
        if who == "sheep":
            head.oval(0, 0, 13, 14, fill=GREY)
            for x, y in ((-10, -9), (0, -13), (9, -9)):
                head.oval(x, y, 7, 6)
            face(head, -3, 2, 11, _mood(marks, "flat"))
        else:
            extras = {"bob": (), "kid": ("spiky",), "oldbob": ("beard", "grey")}[who]
            _head(head, 15, _mood(marks, "flat"), extras, WHITE)
        mouth = (-32, -30)
    pen.poly((-24, -26), (0, -31), (40, -28), (60, -24), (60, -6), (-24, -6), fill=BLUE)
    return mouth


@thing("tree", 36, 124)
def _tree(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-7, 0), (-5, -50), (5, -50), (8, 0), fill=BROWN)
    if "bare" in marks:
        for x, y in ((-24, -96), (-10, -112), (10, -114), (26, -94)):
            pen.line((0, -48), (x * 0.5, y * 0.7), (x, y), w=3, c=BROWN)
        return
    leaves = ORANGE if "autumn" in marks else GREEN
    spots = ((-18, -66, 20, 18), (18, -66, 20, 18), (0, -90, 26, 26))
    for x, y, rx, ry in spots:
        pen.oval(x, y, rx, ry, fill=leaves)
    for x, y, rx, ry in spots:
        pen.oval(x, y, rx - 2, ry - 2, fill=leaves, w=0)


@thing("flower", 10, 34)
def _flower(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((0, 0), (1, -22), w=2.4, c=LEAF)
    for step in range(6):
        a = step * math.tau / 6
        pen.oval(1 + 6 * math.cos(a), -27 + 6 * math.sin(a), 4, 4, fill=PINK, w=1.3)
    pen.oval(1, -27, 4, 4, fill=YELLOW, w=1.3)


@thing("bouquet", 14, 36)
def _bouquet(pen: Pen, marks: Sequence[str]) -> None:
    for x, y in ((-8, -30), (8, -30), (0, -36)):
        pen.line((0, 0), (x, y), w=2, c=LEAF)
    for x, y, colour in ((-8, -30, PINK), (8, -30, YELLOW), (0, -36, VIOLET)):
        pen.oval(x, y, 6, 6, fill=colour, w=1.5)
    pen.poly((-7, -18), (7, -18), (0, 2), fill=WHITE, w=1.6)


@thing("door", 26, 112)
def _door(pen: Pen, marks: Sequence[str]) -> None:
    pen.box(-28, -112, 28, 0, fill=BROWN)
    if "open" in marks:
        pen.box(-23, -107, 23, 0, fill=DARK, w=1.6)
        pen.poly((23, -107), (38, -100), (38, 6), (23, 0), fill=WOOD)
    else:
        pen.box(-23, -107, 23, 0, fill=WOOD, w=1.6)
        pen.dot(16, -52, 3)


@thing("window", 24, 50, crosses=True)
def _window(pen: Pen, marks: Sequence[str]) -> None:
    pen.box(-24, -50, 24, 0, fill=DARK if "night" in marks else SEA)
    pen.line((0, -50), (0, 0), w=2)
    pen.line((-24, -25), (24, -25), w=2)


@thing("sign", 40, 86, text=(-36, -80, 36, -42))
def _sign(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((0, -42), (0, 0), w=4, c=BROWN)
    pen.box(-40, -84, 40, -40, fill=CREAM)


@thing("board", 60, 104, text=(-54, -96, 54, -44))
def _board(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((-40, -40), (-46, 0), w=3, c=BROWN)
    pen.line((40, -40), (46, 0), w=3, c=BROWN)
    pen.box(-60, -102, 60, -38, fill=WHITE)


@thing("tomb", 38, 78, text=(-32, -62, 32, -14))
def _tomb(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-38, 0), (-38, -52), (-28, -70), (-10, -78), (10, -78), (28, -70), (38, -52), (38, 0), fill=GREY)
    for x in (-44, 42):
        pen.line((x, 0), (x - 3, -9), w=1.8, c=LEAF)
        pen.line((x, 0), (x + 4, -7), w=1.8, c=LEAF)


@thing("house", 56, 112)
def _house(pen: Pen, marks: Sequence[str]) -> None:
    lean = 24.0 if "lean" in marks else 0.0

    def p(x: float, y: float) -> Point:
        return x - y / 112 * lean, y + (x / 56 * 7 if lean else 0)

    pen.poly(p(-46, 0), p(-46, -62), p(46, -62), p(46, 0), fill=CREAM)
    pen.poly(p(-56, -60), p(0, -112), p(56, -60), fill=ROSE)
    pen.poly(p(-10, 0), p(-10, -36), p(10, -36), p(10, 0), fill=WOOD)
    for x in (-36, 18):
        pen.poly(p(x, -50), p(x + 18, -50), p(x + 18, -32), p(x, -32), fill=SEA, w=1.8)


@thing("rocket", 26, 122)
def _rocket(pen: Pen, marks: Sequence[str]) -> None:
    if "fire" in marks:
        pen.poly((-13, -14), (-16, 8), (-7, 0), (0, 22), (7, 0), (16, 8), (13, -14), fill=YELLOW)
    pen.poly((-16, -34), (-28, -8), (-15, -14), fill=ROSE)
    pen.poly((16, -34), (28, -8), (15, -14), fill=ROSE)
    pen.poly((-16, -14), (-18, -70), (-10, -100), (0, -118), (10, -100), (18, -70), (16, -14), fill=WHITE)
    pen.poly((-11, -96), (0, -118), (11, -96), fill=ROSE)
    pen.oval(0, -68, 8, 8, fill=SEA)


@thing("ufo", 52, 44)
def _ufo(pen: Pen, marks: Sequence[str]) -> None:
    pen.oval(0, -28, 22, 18, fill=SEA)
    pen.oval(0, -14, 50, 13, fill=GREY)
    for x in (-30, -10, 10, 30):
        pen.dot(x, -12, 3, YELLOW)


@thing("bowl", 34, 52)
def _bowl(pen: Pen, marks: Sequence[str]) -> Point:
    """A fishbowl with a fish in it; `rod` gives the fish a fishing rod."""
    pen.oval(0, -26, 33, 27, fill=rgb("f2fafe"))
    pen.poly(
        *((33 * math.cos(t / 10 * math.pi) * 0.95, -25 + 25 * math.sin(t / 10 * math.pi)) for t in range(11)),
        fill=SEA,
        w=0,
    )
    pen.line((-31, -26), (31, -26), w=1.4, c=rgb("6fa8d0"))
    inner = Pen(pen.image, pen.rng, pen.place(-1, -8), pen.zoom * 0.8, pen.flip)
    _fish(inner, marks)
    pen.line((-20, -50), (20, -50), w=3)
    if "rod" in marks:
        pen.line((10, -24), (62, -74), w=2.4, c=BROWN)
        pen.line((62, -74), (62, 26), w=1.2)
    return 16, -18


@thing("tv", 34, 60)
def _tv(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((-18, 0), (-14, -10), w=3)
    pen.line((18, 0), (14, -10), w=3)
    pen.box(-34, -56, 34, -8, fill=DARK)
    pen.box(-28, -51, 28, -13, fill=SEA, w=1.5)
    if "bird" in marks:
        pen.arc(-8, -34, 6, 5, 200, 350, w=2)
        pen.arc(4, -34, 6, 5, 190, 340, w=2)


@thing("chart", 50, 110)
def _chart(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((-36, -40), (-44, 0), w=3, c=BROWN)
    pen.line((36, -40), (44, 0), w=3, c=BROWN)
    pen.box(-50, -110, 50, -36, fill=WHITE)
    pen.line((-40, -102), (-40, -44), (42, -44), w=2)
    if "up" in marks:
        pen.line((-38, -50), (-16, -66), (4, -62), (40, -100), w=3, c=LEAF)
    else:
        pen.line((-38, -96), (-20, -86), (-6, -92), (14, -62), (26, -56), (38, -36), (42, -2), w=3.2, c=rgb("6a6ab8"))


@thing("car", 58, 52)
def _car(pen: Pen, marks: Sequence[str]) -> Point:
    pen.poly((-56, -12), (-56, -30), (-34, -34), (-22, -52), (16, -52), (30, -34), (56, -28), (56, -12), fill=BLUE)
    pen.poly((-28, -34), (-19, -47), (-4, -47), (-4, -34), fill=rgb("e8f4fb"), w=1.6)
    pen.poly((1, -34), (1, -47), (13, -47), (23, -34), fill=rgb("e8f4fb"), w=1.6)
    for x in (-32, 32):
        pen.oval(x, -11, 11, 11, fill=DARK)
        pen.oval(x, -11, 4, 4, fill=WHITE, w=1)
    if "smoke" in marks:
        for x, y, r in ((48, -40, 8), (56, -54, 10), (46, -66, 12)):
            pen.oval(x, y, r, r, fill=GREY, w=1.4)
    return 10, -44


@thing("boat", 50, 40)
def _boat(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-50, -22), (50, -22), (36, 0), (-36, 0), fill=WOOD)


@thing("umbrella", 36, 64)
def _umbrella(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((0, -4), (0, -50), w=2.6)
    pen.arc(5, -5, 5, 6, 0, 180, w=2.6)
    pen.poly(
        (-38, -40), (-32, -54), (-16, -64), (0, -67), (16, -64), (32, -54), (38, -40), (25, -45), (13, -40), (0, -45),
        (-13, -40), (-25, -45), fill=VIOLET,
    )  # fmt: skip


@thing("picture", 22, 34, crosses=True)
def _picture(pen: Pen, marks: Sequence[str]) -> None:
    tilt = 7 if "tilted" in marks else 0
    pen.poly((-22, -34 - tilt), (22, -34 + tilt), (22, tilt), (-22, -tilt), fill=WOOD)
    pen.poly((-17, -29 - tilt), (17, -29 + tilt), (17, -5 + tilt), (-17, -5 - tilt), fill=SEA, w=1.5)
    pen.poly((-15, -8 - tilt), (-4, -22 - tilt * 0.3), (6, -8 + tilt * 0.4), fill=LEAF, w=1.4)


@thing("hammer", 12, 30)
def _hammer(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((0, 0), (10, -24), w=3.4, c=BROWN)
    pen.poly((0, -30), (20, -22), (17, -15), (-3, -23), fill=GREY)


@thing("ball", 9, 18)
def _ball(pen: Pen, marks: Sequence[str]) -> None:
    pen.oval(0, -9, 9, 9, fill=GREEN)
    pen.arc(-7, -9, 8, 8, 300, 60, w=1.4)


@thing("cup", 10, 20)
def _cup(pen: Pen, marks: Sequence[str]) -> None:
    pen.arc(11, -10, 5, 5, 270, 90, w=2)
    pen.poly((-9, -19), (10, -19), (8, 0), (-7, 0), fill=WHITE)
    if "steam" in marks:
        for x in (-3, 4):
            pen.line((x, -23), (x + 3, -28), (x, -33), w=1.4, c=DARK)


@thing("mug", 26, 38)
def _mug(pen: Pen, marks: Sequence[str]) -> None:
    """A big cup lying on its side."""
    pen.poly((-22, -2), (-20, -34), (18, -36), (16, 0), fill=BLUE)
    pen.oval(17, -18, 5, 18, fill=DARK)
    pen.arc(-22, -18, 9, 9, 90, 270, w=3)


@thing("mirror", 26, 108)
def _mirror(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((-16, -8), (-22, 0), w=3)
    pen.line((16, -8), (22, 0), w=3)
    pen.oval(0, -56, 26, 50, fill=WOOD)
    pen.oval(0, -56, 21, 45, fill=DARK if "dark" in marks else rgb("e8f4fb"), w=1.5)
    if "dark" not in marks:
        pen.line((-10, -70), (2, -84), w=1.6)
        pen.line((-10, -58), (8, -78), w=1.6)


@thing("stairs", 56, 84)
def _stairs(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly(
        (-54, 0), (-54, -20), (-28, -20), (-28, -40), (-2, -40), (-2, -60), (26, -60), (26, -80), (56, -80), (56, 0),
        fill=GREY,
    )  # fmt: skip


@thing("mountain", 90, 120)
def _mountain(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-92, 0), (-50, -58), (-28, -88), (26, -88), (48, -52), (92, 0), fill=GREY)
    pen.poly((-40, -72), (-28, -88), (26, -88), (36, -72), (18, -78), (4, -68), (-14, -78), fill=WHITE, w=1.6)


@thing("cake", 24, 44)
def _cake(pen: Pen, marks: Sequence[str]) -> None:
    pen.box(-24, -24, 24, 0, fill=PINK)
    pen.line((-24, -13), (24, -13), w=2, c=WHITE)
    for x in (-12, 0, 12):
        pen.line((x, -24), (x, -34), w=2.4, c=rgb("7aa8d8"))
        pen.dot(x, -37, 2.4, rgb("e8b83a"))


@thing("hook", 8, 60)
def _hook(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((0, -200), (0, -10), w=1.4)
    pen.arc(-5, -10, 5, 8, 0, 180, w=2.2)


@thing("bread", 22, 20)
def _bread(pen: Pen, marks: Sequence[str]) -> None:
    """A slice; `butter`, `cheese`, `bitten` for the next steps."""
    if "bitten" in marks:
        pen.poly((-22, -2), (-24, -12), (-16, -18), (2, -18), (7, -13), (2, -9), (6, -2), fill=WOOD)
        pen.poly((-17, -22), (1, -22), (4, -19), (1, -17), (-17, -17), fill=YELLOW, w=1.5)
        pen.poly((-22, -22), (3, -22), (-1, -26), (3, -30), (-16, -30), fill=ORANGE, w=1.6)
        return
    pen.poly((-22, -2), (-24, -12), (-16, -18), (16, -18), (24, -12), (22, -2), fill=WOOD)
    if "butter" in marks or "cheese" in marks:
        pen.box(-17, -22, 17, -17, fill=YELLOW, w=1.5)
    if "cheese" in marks:
        pen.poly((-22, -22), (22, -22), (14, -30), (-16, -30), fill=ORANGE, w=1.6)


@thing("plate", 34, 8)
def _plate(pen: Pen, marks: Sequence[str]) -> None:
    pen.oval(0, -4, 34, 5)


@thing("fence", 40, 34)
def _fence(pen: Pen, marks: Sequence[str]) -> None:
    for y in (-12, -25):
        pen.box(-40, y - 4, 40, y + 2, fill=WOOD, w=1.5)
    for x in (-30, 0, 30):
        pen.poly((x - 5, 0), (x - 5, -31), (x, -37), (x + 5, -31), (x + 5, 0), fill=WOOD, w=1.6)


@thing("cushion", 36, 24)
def _cushion(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-36, -3), (-38, -19), (0, -23), (38, -19), (36, -3), (0, 0), fill=VIOLET)
    for x in (-38, 38):
        pen.dot(x, -11, 3.4, YELLOW)


@thing("balloon", 20, 70)
def _balloon(pen: Pen, marks: Sequence[str]) -> None:
    """A toy balloon; the string hangs from it."""
    pen.line((0, -26), (-4, -12), (2, 0), w=1.4)
    pen.oval(0, -48, 18, 22, fill=PINK)
    pen.poly((0, -27), (-4, -21), (4, -21), fill=PINK, w=1.5)


@thing("burst", 40, 60)
def _burst(pen: Pen, marks: Sequence[str]) -> None:
    spikes = [
        (r * math.cos(a), -30 + r * 0.8 * math.sin(a))
        for a, r in ((i * math.tau / 18, 38.0 if i % 2 else 20.0) for i in range(18))
    ]
    pen.poly(*spikes, fill=YELLOW)


@thing("poof", 40, 60)
def _poof(pen: Pen, marks: Sequence[str]) -> None:
    for x, y, r in ((-24, -12, 14), (22, -14, 15), (-14, -36, 16), (16, -38, 15), (0, -22, 18)):
        pen.oval(x, y, r, r * 0.9, fill=rgb("ece6f6"), w=1.8)


@thing("book", 18, 22)
def _book(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((0, -4), (-20, -9), (-20, -24), (0, -19), fill=WHITE)
    pen.poly((0, -4), (20, -9), (20, -24), (0, -19), fill=WHITE)
    for y in (-20, -15):
        pen.line((-16, y), (-5, y + 3), w=1.1)
        pen.line((5, y + 3), (16, y), w=1.1)


@thing("map", 22, 30)
def _map(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-22, -28), (22, -30), (24, 0), (-20, 2), fill=CREAM)
    pen.line((-14, -20), (-6, -14), (2, -18), w=1.4)
    pen.line((6, -16), (14, -8), w=2.4)
    pen.line((14, -16), (6, -8), w=2.4)


@thing("hole", 40, 10)
def _hole(pen: Pen, marks: Sequence[str]) -> None:
    pen.oval(0, 2, 38, 8, fill=BROWN)
    pen.oval(0, 2, 28, 5, fill=DARK, w=1)


@thing("spade", 8, 60)
def _spade(pen: Pen, marks: Sequence[str]) -> None:
    pen.line((0, -14), (0, -58), w=3, c=BROWN)
    pen.line((-6, -58), (6, -58), w=3, c=BROWN)
    pen.poly((-8, -16), (8, -16), (6, -2), (0, 4), (-6, -2), fill=GREY)


@thing("bag", 18, 36)
def _bag(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-18, -2), (-16, -30), (16, -30), (18, -2), fill=LEAF)
    pen.line((-8, -30), (-6, -40), (6, -40), (8, -30), w=2.4)
    pen.line((-16, -18), (16, -18), w=1.6)


@thing("telescope", 26, 70)
def _telescope(pen: Pen, marks: Sequence[str]) -> None:
    for x in (-14, 0, 14):
        pen.line((0, -44), (x, 0), w=2.6)
    pen.poly((-26, -38), (22, -68), (28, -58), (-22, -32), fill=GREY)


@thing("planet", 40, 70, crosses=True)
def _planet(pen: Pen, marks: Sequence[str]) -> None:
    pen.oval(0, -26, 24, 24, fill=BLUE)
    pen.poly((-12, -40), (2, -42), (6, -30), (-6, -24), fill=GREEN, w=1.4)
    pen.poly((6, -18), (16, -22), (14, -10), fill=GREEN, w=1.4)


@thing("moon", 18, 36, crosses=True)
def _moon(pen: Pen, marks: Sequence[str]) -> None:
    outer = [math.radians(51 + 258 * step / 14) for step in range(15)]
    inner = [math.radians(275 - 190 * step / 10) for step in range(11)]
    pen.poly(
        *((16 * math.cos(a), -18 + 16 * math.sin(a)) for a in outer),
        *((9 + 12.5 * math.cos(a), -18 + 12.5 * math.sin(a)) for a in inner),
        fill=YELLOW,
    )


@thing("stars", 60, 40, crosses=True)
def _stars(pen: Pen, marks: Sequence[str]) -> None:
    for x, y in ((-54, -14), (-28, -34), (2, -8), (30, -30), (56, -12)):
        pen.line((x - 3, y), (x + 3, y), w=1.5, c=YELLOW if "night" in marks else INK)
        pen.line((x, y - 3), (x, y + 3), w=1.5, c=YELLOW if "night" in marks else INK)


@thing("line", 60, 70)
def _line(pen: Pen, marks: Sequence[str]) -> None:
    """An arrow from A to B: straight, or `knot`."""
    if "knot" in marks:
        points = []
        for step in range(90):
            t = step / 89
            points.append((-56 + 112 * t + 26 * math.sin(19 * t), -34 + 26 * math.sin(31 * t) * math.sin(math.pi * t)))
        pen.line(*points, w=2.6)
        end = points[-1]
    else:
        pen.line((-56, -14), (54, -56), w=2.8)
        end = (54, -56)
    pen.line((end[0] - 11, end[1] - 3), end, (end[0] - 5, end[1] + 10), w=2.6)
    pen.dot(-56, -14 if "knot" not in marks else -34, 4)


@thing("print", 20, 14)
def _print(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-14, 0), (-10, -9), (-3, -7), (0, -15), (5, -8), (12, -8), (15, 0), fill=BROWN)


@thing("zebra", 60, 6, crosses=True)
def _zebra(pen: Pen, marks: Sequence[str]) -> None:
    pen.poly((-100, 0), (100, 0), (100, 16), (-100, 16), fill=GREY, w=0)
    for x in (-80, -40, 0, 40, 80):
        pen.poly((x - 12, 5), (x + 10, 5), (x + 12, 11), (x - 10, 11), fill=WHITE, w=0)
