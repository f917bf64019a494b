"""Boxes of objects, as shares of the image."""

from __future__ import annotations

import re
from typing import Literal

from punchline.read import normalize
from punchline.read.resolve import affirmed
from punchline.read.result import NOTHING, Read, reader
from punchline.read.sentences import Mention
from punchline.read.words import listed, pattern

Box = tuple[float, float, float, float]  # top, left, height, width: shares of the image

SIDES = ("top", "left", "height", "width")
# Lists of words.yaml: other names of a side, and of the opposite one.
_SIDE = {name: side for side in (*SIDES, "bottom", "right") for name in (side, *listed(side))}
SMALLEST = 1e-6  # side of a box: less is no area
MOST = 50  # different boxes of one answer: more are no answer to what was asked
_EDGE = 30_000  # characters of an answer's beginning and end that are read

_GROUP = pattern("{box}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,9}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:\s?(?P<unit>%|px))?", re.ASCII)
_NAMES = "|".join(sorted(_SIDE, key=len, reverse=True))
_LOOSE = pattern(r"(?:\b(?:" + _NAMES + r")\b{side_value}){4}", re.ASCII | re.IGNORECASE)  # without brackets
_LABEL = re.compile(rf"^\W*(?!(?:{_NAMES}):)[\w ]{{1,40}}: (?=[\d.])")
_PART = re.compile(rf"\b({_NAMES})\W{{1,8}}?([0-9.]{{1,12}})(\s?(?:%|px))?", re.ASCII | re.IGNORECASE)
_NAMED = re.compile(r"[\"']?([A-Za-z_][A-Za-z0-9_]{0,30})[\"']?\s{0,3}[:=]\s{0,3}(.{1,200})", re.DOTALL)


def _four(group: str) -> tuple[list[float], str] | None:
    """(top, left, height, width or as they stand, unit) of what stands between brackets: by name, else by place."""
    parts = group.rstrip(" \n\t,").split(",")
    numbers: list[tuple[str, float]] = []
    units: set[str] = set()
    for part in parts:
        named = _NAMED.fullmatch(part.strip())
        name, value = (named[1].lower(), named[2].strip(" \n\t\"'")) if named else ("", part.strip())
        name = _SIDE.get(name, name)
        if number := _NUMBER.fullmatch(value):
            units.add(number["unit"] or "")
            numbers.append((name, float(value.rstrip("%px "))))
    names = [name for name, _ in numbers]
    sides = {name: number for name, number in numbers if name}
    if len(units) != 1 or len(sides) < sum(map(bool, names)):
        return None
    if {"top", "left", "bottom", "right"} <= sides.keys() and not {"height", "width"} & sides.keys():
        sides |= {"height": sides["bottom"] - sides["top"], "width": sides["right"] - sides["left"]}
    if {*SIDES} <= sides.keys():
        return [sides[name] for name in SIDES], units.pop()
    in_place = all(name in ("", side) for name, side in zip(names, SIDES, strict=False))
    return ([number for _, number in numbers], units.pop()) if len(numbers) == len(parts) == 4 and in_place else None


def _clipped(top: float, left: float, height: float, width: float) -> Box | None:
    """A box cut to the image; None for one outside, or without area."""
    height = height if top + height <= 1 else 1 - top  # without rounding what lies inside
    width = width if left + width <= 1 else 1 - left
    return (top, left, height, width) if min(height, width) >= SMALLEST and min(top, left) >= 0 else None


def _from_corners(numbers: list[float], key: str, corners: str, size: tuple[int, int] | None) -> Box | None:
    """A box of two corners: thousandths, or pixels of an image of `size` (width, height)."""
    x1, y1, x2, y2 = numbers if key != "box_2d" else (numbers[1], numbers[0], numbers[3], numbers[2])
    wide, high = (1, 1) if max(numbers) <= 1 else (1000, 1000)
    if (corners == "pixels" and key != "box_2d") or max(numbers) > 1000:
        wide, high = size or (0, 0)
    if not (0 <= x1 < x2 <= wide * 1.01 and 0 <= y1 < y2 <= high * 1.01):
        return None
    return _clipped(y1 / high, x1 / wide, (y2 - y1) / high, (x2 - x1) / wide)


def _box(match: re.Match[str], size: tuple[int, int] | None, corners: str) -> Box | None:
    key = (match["key"] or "").lower()
    four = _four(f"{match['d']}, {match['e']}" if match["d"] else match["a"] or match["b"] or match["c"])
    if four is None or (match["d"] and not key):
        return None
    numbers, unit = four
    if key:
        return None if unit == "%" else _from_corners(numbers, key, corners, size)
    if unit == "%":
        return _clipped(*(number / 100 for number in numbers)) if max(numbers) <= 100 else None
    if not unit and all(0 <= number <= 1 for number in numbers):
        return _clipped(*numbers)
    wide, high = size or (0, 0)
    top, left, height, width = numbers
    if not (0 <= top < high and 0 <= left < wide) or top + height > high * 1.05 or left + width > wide * 1.05:
        return None
    return _clipped(top / high, left / wide, height / high, width / wide)


@reader
def boxes(
    answer: str, size: tuple[int, int] | None = None, corners: Literal["thousandths", "pixels"] = "thousandths"
) -> Read[tuple[Box, ...]]:
    """The boxes of an answer as shares [top, left, height, width], cut to the image.

    Sides that have names are read by name, others in that order: shares, per cent, or pixels. `bbox_2d` and `<box>`
    hold two corners [x1, y1, x2, y2], `box_2d` [y1, x1, y2, x2], of thousandths. Other numbers are not guessed at.

    Args:
        answer: The whole answer of a model.
        size: Width and height of the image; without it no pixels are read.
        corners: The unit of corners, where the model does not write thousandths.

    Returns:
        The boxes and the span of all of them.

    >>> boxes("[60, 80, 120, 160]", size=(400, 300)).value
    ((0.2, 0.2, 0.4, 0.4),)
    """
    pieces = normalize.ends(answer, _EDGE, _EDGE)
    spans: dict[Box, tuple[int, int]] = {}
    for at, piece in pieces:
        for match in _GROUP.finditer(normalize.same_length(piece)):
            if len(spans) <= MOST and (box := _box(match, size, corners)):
                spans.setdefault(box, (at + match.start(), at + match.end()))
    for at, piece in pieces if not spans else ():
        for match in list(_LOOSE.finditer(piece))[: MOST + 1]:
            parts = ", ".join(f"{name}: {share}{unit.strip()}" for name, share, unit in _PART.findall(match[0]))
            written = _GROUP.fullmatch(f"[{parts}]")
            if box := _box(written, size, corners) if written else None:
                spans.setdefault(box, (at + match.start(), at + match.end()))
    if not spans and len(answer) < 100 and (bare := _GROUP.fullmatch(f"[{_LABEL.sub('', answer).strip(' .')}]")):
        spans = {box: (0, len(answer)) for box in [_box(bare, size, corners)] if box}
    if not 0 < len(spans) <= MOST:
        return NOTHING
    if len(spans) > 1:
        low = normalize.lower(normalize.same_length(answer))
        first = {end: start + len(low[start:end]) - len(low[start:end].lstrip()) for start, end in spans.values()}
        mentions = sorted(Mention(start, end, "") for end, start in first.items())
        affirmed_ends = {one.end for one in affirmed(low, mentions)}
        spans = {box: span for box, span in spans.items() if span[1] in affirmed_ends} or spans
    return Read(tuple(spans), min(start for start, _ in spans.values()), max(end for _, end in spans.values()))
