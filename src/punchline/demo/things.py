"""The things of the demo corpus: people, animals, props as lists of shapes, in things/*.yaml.

A thing is drawn in its own coordinates: x grows in the direction in which it faces, y grows downwards, the origin lies
between its feet, and an adult is about 100 units tall. A line of its `shapes` is one of

    CONDITIONS line|poly X,Y X,Y ... [w=WIDTH] [c=COLOUR] [fill=COLOUR|none]
    CONDITIONS box X,Y X,Y | oval X,Y RX,RY | arc X,Y RX,RY FROM,TO | dot X,Y [r=RADIUS]    (w, c, fill as above)
    CONDITIONS face X,Y RADIUS [MOOD where the marks name none]
    CONDITIONS mouth X,Y                                   where the tail of a balloon points
    CONDITIONS use THING X,Y [ZOOM] [turn=DEGREES]         another thing, drawn there

`;` parts several shapes of one line. Conditions are `cat|dog?` (one of these marks) and `!cat|dog?` (none), all of
which must hold; the mark `mood` is there when any mood is. A colour is a name, a code, `grey,dark:ink` (ink where the
mark `dark` is), and the mark `hair=grey` says what `hair` is. A line that begins with a point goes on with the shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from punchline.demo.pen import Box, Colour, Pen, Point, rgb

FOLDER = Path(__file__).parent / "things"
FACES = ("smile", "flat", "sad", "open", "angry", "shock", "smirk", "sleep", "happy")
Marks = frozenset[str]

_CONDITION = re.compile(r"(!?)([\w|]+)\?")
_POINT = re.compile(r"(-?[\d.]+),(-?[\d.]+)")


class Thing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a named thing is drawn, and the room it takes in units."""

    shapes: str
    room: tuple[float, float] = (0, 0)  # half its width, its height; (0, 0): a part, which no scene names
    text: Box | None = None  # where words may be written on it
    crosses: bool = False  # background: words may lie over it
    marks: str = ""  # that it always has

    def draw(self, pen: Pen, marks: Marks | tuple[str, ...]) -> Point | None:
        """Draw it; returns where the tail of a balloon should point, in pixels of the image, if it can speak."""
        marks = frozenset((*marks, *self.marks.split()))
        marks |= {"mood"} if marks & set(FACES) else set()
        mouth = None
        for shape in _shapes(self.shapes):
            if all(bool(names & marks) == wanted for wanted, names in shape.conditions):
                mouth = shape.draw(pen, marks) or mouth
        return mouth


class Shape(NamedTuple):
    """One line of a thing."""

    conditions: tuple[tuple[bool, frozenset[str]], ...]  # whether one of the marks must be there, or none may
    kind: str
    points: tuple[Point, ...]
    words: tuple[str, ...]
    style: dict[str, str]

    def draw(self, pen: Pen, marks: Marks) -> Point | None:
        x, y = self.points[0]
        match self.kind:
            case "mouth":
                return pen.place(x, y)
            case "use":
                name, zoom = (*self.words, "1")[:2]
                turn = float(self.style.get("turn", pen.turn))
                inner = replace(pen, origin=pen.place(x, y), zoom=pen.zoom * float(zoom), turn=turn)
                return THINGS[name].draw(inner, marks)
            case "face":
                radius, mood = (*self.words, "smile")[:2]
                face(pen, x, y, float(radius), next((name for name in FACES if name in marks), mood))
                return None
        style: dict[str, Any] = {
            key: float(value) if key in "wr" else _colour(value, marks) for key, value in self.style.items()
        }
        flat = (value for point in self.points for value in point)
        draw: Callable[..., None] = getattr(pen, self.kind)
        draw(*(self.points if self.kind in ("line", "poly") else flat), **style)
        return None


def _colour(text: str, marks: Marks) -> Colour | None:
    name, *others = text.split(",")
    for other in others:
        mark, _, its = other.partition(":")
        name = its if mark in marks else name
    name = next((mark.partition("=")[2] for mark in marks if mark.startswith(f"{name}=")), name)
    return None if name == "none" else rgb(name)


@cache
def _shapes(text: str) -> tuple[Shape, ...]:
    return tuple(shape for line in re.split(r"\n(?![-\d])", text.strip()) for shape in _read(line))


def _read(line: str) -> Iterator[Shape]:
    """The shapes of one line. Raises ValueError for one that cannot be read."""
    words = line.replace(";", " ; ").split()
    conditions, plain, style = [], [], {}
    groups: list[list[Point]] = [[]]
    for word in words:
        if match := _CONDITION.fullmatch(word):
            conditions.append((not match[1], frozenset(match[2].split("|"))))
        elif match := _POINT.fullmatch(word):
            groups[-1].append((float(match[1]), float(match[2])))
        elif word == ";":
            groups.append([])
        elif "=" in word:
            key, _, value = word.partition("=")
            style[key] = value
        else:
            plain.append(word)
    if not plain or not all(groups):
        raise ValueError(f"demo things: cannot read {line!r}")
    for points in groups:
        yield Shape(tuple(conditions), plain[0], tuple(points), tuple(plain[1:]), style)


def face(pen: Pen, x: float, y: float, r: float, mood: str) -> None:
    """Eyes and mouth within a head of radius r; the face looks along x."""
    eyes = [(x + r * 0.05, y - r * 0.12), (x + r * 0.6, y - r * 0.12)]
    for ex, ey in eyes:
        _eye(pen, ex, ey, mood)
    if mood == "angry":
        pen.line((eyes[0][0] - 3, y - r * 0.5), (eyes[0][0] + 3, y - r * 0.3), w=1.7)
        pen.line((eyes[1][0] + 3, y - r * 0.5), (eyes[1][0] - 2, y - r * 0.3), w=1.7)
    mid, low = x + r * 0.33, y + r * 0.48
    if mood in ("smile", "happy"):
        pen.arc(mid, low - r * 0.2, r * 0.38, r * 0.3, 15, 165, w=1.7)
    elif mood in ("sad", "angry"):
        pen.arc(mid, low + r * 0.2, r * 0.32, r * 0.26, 200, 340, w=1.7)
    elif mood == "open":
        pen.oval(mid, low, r * 0.24, r * 0.2, fill=rgb("dark"), w=1.4)
    elif mood == "shock":
        pen.oval(mid, low + 1, r * 0.2, r * 0.28, fill=rgb("dark"), w=1.4)
    elif mood == "smirk":
        pen.line((mid - r * 0.3, low), (mid + r * 0.1, low), (mid + r * 0.38, low - r * 0.2), w=1.7)
    else:
        pen.line((mid - r * 0.28, low), (mid + r * 0.28, low), w=1.7)


def _eye(pen: Pen, x: float, y: float, mood: str) -> None:
    if mood in ("sleep", "happy"):
        pen.arc(x, y, 2.8, 2.4, *((0, 180) if mood == "sleep" else (180, 360)), w=1.6)
    elif mood == "shock":
        pen.oval(x, y, 3.0, 3.6, w=1.3)
        pen.dot(x, y, 1.2)
    else:
        pen.dot(x, y, 1.8)


THINGS: dict[str, Thing] = {
    name: thing
    for file in sorted(FOLDER.glob("*.yaml"))
    for name, thing in msgspec.yaml.decode(file.read_bytes(), type=dict[str, Thing]).items()
}


def nameable(name: str) -> bool:
    """Whether a scene may name it."""
    return name in THINGS and THINGS[name].room != (0, 0)
