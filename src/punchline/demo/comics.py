"""Small comics that the project draws itself, from scripts: pages, panels, balloons, words."""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np

from punchline.demo.pen import INK, SUPERSAMPLE, WHITE, Box, Colour, Pen, Point, letter, rgb, text_width, wrap
from punchline.demo.scripts import Panel, Script
from punchline.demo.things import THINGS, nameable

MARGIN = 12  # around the page, pixels
GUTTER = 12  # between panels, pixels
GAP = 36  # between panels without frames
CELL = 250  # width of a panel of relative width 1 where its row is the longest, pixels
HEIGHTS = {"single": 300}
HEIGHT = 236  # of the other layouts' panels, pixels
LETTERS = 11.0  # height of capitals, pixels
LABEL_CORNER: Box = (0, 0, 66, 40)  # kept free of text, relative to the panel: the label is written there later
TONES = tuple(rgb(c) for c in ("ffffff", "fdf6e3", "eef6fb", "f3f8ea", "fbf0f3", "f4f1fb"))
BACKGROUNDS = ("night", "indoor", "sea", "snow", "rain", "blank", "water", "swamp")

_ITEM = re.compile(r"([a-z]+)((?:\.[a-z]+)*)([<>]?)(?:\*([\d.]+))?([<>]?)@(\d+)(?:,(\d+))?")
_TEXT = re.compile(r"(?:([a-z]+\d?)([:~!=])|([=_*]))\s+(\S.*?)(?:\s+@(\d+),(\d+))?")


@dataclass
class Drawn:
    """What a panel holds, for the gold and for the checks; boxes in pixels of the page."""

    box: tuple[int, int, int, int]
    texts: list[str] = field(default_factory=list)
    lettering: list[Box] = field(default_factory=list)  # one box a line of text
    balloons: list[Box] = field(default_factory=list)
    bodies: list[tuple[str, Box]] = field(default_factory=list)


@dataclass(frozen=True)
class _Item:
    name: str
    marks: tuple[str, ...]
    left: bool  # faces left
    zoom: float
    x: float  # share of the panel's width
    y: float | None  # share of the panel's height; None: on the ground


@dataclass(frozen=True)
class _Block:
    """Words in a frame, placed."""

    kind: str  # ":" "~" "!" "=" "_"
    lines: list[str]
    box: Box
    speaker: str | None


def generator(seed: int, name: str) -> random.Random:
    """Random numbers that hang on the seed and the name only."""
    return random.Random(int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8], "big"))


def page(script: Script) -> tuple[tuple[int, int], list[tuple[int, int, int, int]]]:
    """Size of the page (width, height) and the panels' frames (x1, y1, x2, y2) in reading order, in pixels."""
    rows = script.rows.split("/")
    longest = max(len(row) for row in rows)
    cell = 400 if script.layout == "single" else 300 if script.layout in ("column", "borderless") else CELL
    gutter = GAP if script.layout == "borderless" else GUTTER
    inner = longest * cell + (longest - 1) * gutter
    height = HEIGHTS.get(script.layout, HEIGHT)
    frames = []
    y = MARGIN
    for row in rows:
        weights = [int(c) for c in row]
        room = inner - gutter * (len(weights) - 1)
        x = float(MARGIN)
        for weight in weights:
            width = room * weight / sum(weights)
            frames.append((round(x), y, round(x + width), y + height))
            x += width + gutter
        y += height + gutter
    return (inner + 2 * MARGIN, y - gutter + MARGIN), frames


def _items(scene: str) -> tuple[set[str], list[_Item]]:
    """What a scene says: its background words and its things."""
    backdrop, items = set(), []
    for word in scene.split():
        if word in BACKGROUNDS:
            backdrop.add(word)
            continue
        match = _ITEM.fullmatch(word)
        if match is None or not nameable(match[1]):
            raise ValueError(f"demo script: cannot read {word!r} in {scene!r}")
        name, marks, turn1, zoom, turn2, x, y = match.groups()
        share = int(x) / 100
        turn = turn1 or turn2
        left = turn == "<" or (not turn and share > 0.5)
        items.append(
            _Item(
                name,
                tuple(m for m in marks.split(".") if m),
                left,
                float(zoom or 1),
                share,
                int(y) / 100 if y else None,
            )
        )
    return backdrop, items


def _read(text: str) -> re.Match[str]:
    """One text of a script: groups speaker, kind, kind without speaker, words, x, y."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"demo script: cannot read the text {text!r}")
    return match


def _named(items: Sequence[_Item], speaker: str) -> int | None:
    """Index of the speaking thing; `sheep2` is the second sheep, and `sheep` speaks first."""
    name, nth = (speaker[:-1], int(speaker[-1])) if speaker[-1].isdigit() else (speaker, 1)
    found = [i for i, item in enumerate(items) if item.name == name]
    return found[nth - 1] if len(found) >= nth else None


def _place_text(frame: tuple[int, int, int, int], panel: Panel, items: Sequence[_Item]) -> list[_Block]:
    """Captions and balloons from the top of the panel down, each near its speaker and clear of the label's corner."""
    x1, y1, x2, y2 = frame
    width = x2 - x1
    step = LETTERS + 6
    blocks: list[_Block] = []
    cursor = y1 + 8.0
    previous: tuple[float, int] | None = None
    for text in panel.texts:
        match = _read(text)
        speaker, kind = (match[1], match[2]) if match[1] else (None, match[3])
        if kind == "*" or (kind == "=" and speaker):
            continue
        words = match[4]
        pad_x, pad_y = {"=": (9, 7), "_": (9, 7), ":": (13, 10), "~": (16, 12), "!": (22, 16)}[kind]
        top_row = cursor - y1 < LABEL_CORNER[3] and kind != "_"
        left = x1 + (LABEL_CORNER[2] if top_row else 8)
        right = x2 - 8
        room = right - left - 2 * pad_x
        lines = wrap(words, min(room, 250), LETTERS)
        w = max(text_width(line, LETTERS) for line in lines) + 2 * pad_x
        h = len(lines) * step - 6 + 2 * pad_y
        if kind == "_":
            box = ((x1 + x2 - w) / 2, y2 - 8 - h, (x1 + x2 + w) / 2, y2 - 8)
            blocks.append(_Block(kind, lines, box, None))
            continue
        index = _named(items, speaker) if speaker else None
        at = x1 + width * items[index].x if index is not None else float(left + w / 2) if kind == "=" else float(x2)
        bx = min(max(at - w / 2, left), right - w)
        if kind == "=" and not speaker:
            bx = left if top_row else x1 + 8
        if previous is not None and index is not None:
            # the earlier speaker's tail must get past this balloon
            px, before = previous
            if before != index and bx - 12 < px < bx + w + 12:
                room = (right - px - 12 if at > px else px - 12 - (x1 + 8)) - 2 * pad_x
                if w - 2 * pad_x > room:
                    lines = wrap(words, room, LETTERS)
                    w = max(text_width(line, LETTERS) for line in lines) + 2 * pad_x
                    h = len(lines) * step - 6 + 2 * pad_y
                bx = min(max(px + 12, at - w / 2), right - w) if at > px else max(min(px - 12 - w, at - w / 2), left)
        blocks.append(_Block(kind, lines, (bx, cursor, bx + w, cursor + h), speaker))
        if index is not None:
            previous = (x1 + width * items[index].x, index)
        cursor += h + 6
    return blocks


def _backdrop(
    pen: Pen, frame: tuple[int, int, int, int], ground: float, words: set[str], tone: Colour, framed: bool
) -> None:
    x1, y1, x2, y2 = frame
    flat = Pen(pen.image, pen.rng)
    if framed or words & {"night"}:
        fill = rgb("ccd3ee") if "night" in words else rgb("e4ebf0") if "rain" in words else tone
        flat.box(x1, y1, x2, y2, fill=fill, w=0)
    line = [(x1 + 3, ground), ((x1 + x2) / 2, ground + 1), (x2 - 3, ground)]
    if "blank" in words:
        return
    if "water" in words:
        flat.box(x1, y1 + 84, x2, y2, fill=rgb("sea"), w=0)
        _waves(flat, x1, x2, y1 + 84)
    elif "sea" in words:
        level = y1 + (y2 - y1) * 0.72
        flat.box(x1, level, x2, y2, fill=rgb("sea"), w=0)
        _waves(flat, x1, x2, level)
    elif "swamp" in words:
        flat.box(x1, ground - 10, x2, y2, fill=rgb("cfdcb0"), w=0)
        _waves(flat, x1, x2, ground - 10)
        for share in (0.42, 0.93):
            x = x1 + (x2 - x1) * share
            for lean in (-5, 0, 6):
                flat.line((x, ground - 2), (x + lean, ground - 26), w=2, c=rgb("leaf"))
    elif "indoor" in words:
        if framed:
            flat.box(x1, ground, x2, y2, fill=rgb("e9dcc6"), w=0)
        flat.line(*line, w=1.8)
    else:
        if framed:
            flat.box(x1, ground, x2, y2, fill=WHITE if "snow" in words else rgb("d3e6bf"), w=0)
        flat.line(*line, w=1.8)
    if "rain" in words:
        for _ in range((x2 - x1) // 9):
            x, y = pen.rng.uniform(x1 + 8, x2 - 6), pen.rng.uniform(y1 + 6, ground - 14)
            flat.line((x, y), (x - 4, y + 10), w=1.2, c=rgb("8fb8d8"))
    if "snow" in words:
        for _ in range((x2 - x1) // 14):
            flat.dot(pen.rng.uniform(x1 + 8, x2 - 8), pen.rng.uniform(y1 + 8, ground - 8), 1.6, rgb("grey"))


def _waves(pen: Pen, x1: float, x2: float, y: float) -> None:
    points = [(x1 + i * (x2 - x1) / 24, y + (3 if i % 2 else -2)) for i in range(25)]
    pen.line(*points, w=2, c=rgb("5a8fb8"))


def _tail(pen: Pen, box: Box, target: Point, spread: float = 7) -> list[Point]:
    """The three points of a tail from the balloon's edge towards the speaker's mouth."""
    bx1, _, bx2, by2 = box
    root = min(max(target[0], bx1 + 16), bx2 - 16)
    reach = min(max(target[1] - by2 - 5, 8.0), 46.0)
    share = reach / max(target[1] - by2, reach)
    tip = (root + (target[0] - root) * share, by2 + reach)
    return [(root - spread, by2 - 2), tip, (root + spread, by2 - 2)]


def _balloon(pen: Pen, block: _Block, target: Point | None) -> None:
    """The frame of one block of words, and its tail."""
    x1, y1, x2, y2 = block.box
    if block.kind in ("=", "_"):
        pen.box(x1, y1, x2, y2, fill=rgb("fff0b8"), w=1.8)
        return
    tail = _tail(pen, block.box, target) if target else []
    cx, cy, rx, ry = (x1 + x2) / 2, (y1 + y2) / 2, (x2 - x1) / 2, (y2 - y1) / 2
    if block.kind == "!":
        points = _jagged(cx, cy, rx - 9, ry - 9, 9)
        if tail:
            tail = [(tail[0][0], y2 - 14), tail[1], (tail[2][0], y2 - 14)]
            pen.poly(*tail, fill=WHITE, w=2)
        pen.poly(*points, fill=WHITE, w=2)
        if tail:
            inset = [(tail[0][0] + 2, y2 - 16), (tail[1][0], tail[1][1] - 7), (tail[2][0] - 2, y2 - 16)]
            pen.poly(*inset, fill=WHITE, w=0)
        return
    corner = min(ry, 15.0)
    outline: list[Point] = []
    for mx, my, start in (
        (x2 - corner, y1 + corner, -90),
        (x2 - corner, y2 - corner, 0),
        (x1 + corner, y2 - corner, 90),
        (x1 + corner, y1 + corner, 180),
    ):
        for step in range(7):
            angle = math.radians(start + step * 15)
            outline.append((mx + corner * math.cos(angle), my + corner * math.sin(angle)))
        if start == 0 and tail and block.kind == ":":
            outline.extend(reversed(tail))
            outline[-3:] = [(tail[2][0], y2), tail[1], (tail[0][0], y2)]
    if block.kind == "~":
        bumps = 4 + int((x2 - x1) / 34)
        ring = [(x1 + 12 + (x2 - x1 - 24) * i / bumps, y) for y in (y1 + 8, y2 - 8) for i in range(bumps + 1)]
        ring += [(x, cy) for x in (x1 + 9, x2 - 9)]
        for x, y in ring:
            pen.oval(x, y, 14 if y1 + 8 < y < y2 - 8 else 12, 8 if y != cy else ry * 0.7, w=2)
        pen.box(x1 + 10, y1 + 6, x2 - 10, y2 - 6, fill=WHITE, w=0)
        for x, y in ring:
            pen.oval(x, y, 12.6 if y1 + 8 < y < y2 - 8 else 10.6, 6.6 if y != cy else ry * 0.7 - 1.4, w=0)
        if tail:
            (ax, ay), (tx, ty) = ((tail[0][0] + tail[2][0]) / 2, y2 + 3), tail[1]
            for share, r in ((0.35, 4.5), (0.85, 2.8)):
                pen.oval(ax + (tx - ax) * share, ay + 3 + (ty - ay) * share, r, r, w=1.8)
        return
    pen.poly(*outline, fill=WHITE, w=2)


def _jagged(x: float, y: float, rx: float, ry: float, spike: float) -> list[Point]:
    """A star around a box of half width rx and half height ry; its points reach `spike` pixels further."""
    points = []
    count = 2 * max(round((rx + ry) / 8), 11)
    for i in range(count):
        angle = (i + 0.5) * math.tau / count
        c, s = math.cos(angle), math.sin(angle)
        square = max(abs(c), abs(s)) ** 0.85
        reach = spike if i % 2 else 0.0
        points.append((x + rx * c / square + reach * c, y + ry * s / square + reach * s))
    return points


def _write(pen: Pen, lines: Sequence[str], box: Box, size: float, drawn: Drawn) -> None:
    """Lines centred in a box."""
    step = size + 6 * size / LETTERS
    top = (box[1] + box[3]) / 2 - (len(lines) * step - 6 * size / LETTERS) / 2
    for i, line in enumerate(lines):
        at = letter(pen.image, line, (box[0] + box[2]) / 2, top + i * step + size, size)
        drawn.lettering.append(at)


def _effect(pen: Pen, words: str, x: float, y: float, drawn: Drawn) -> None:
    """A sound effect: big letters in a jagged star."""
    size = 17.0
    rx, ry, spike = text_width(words, size) / 2 + 10, size / 2 + 9, 13.0
    points = _jagged(x, y, rx, ry, spike)
    pen.poly(*points, fill=rgb("yellow"), w=2.2)
    drawn.lettering.append(letter(pen.image, words, x, y + size / 2, size, weight=2.6))
    drawn.balloons.append((x - rx - spike, y - ry - spike, x + rx + spike, y + ry + spike))


def _moved(box: Box, x: float, y: float) -> Box:
    return box[0] + x, box[1] + y, box[2] + x, box[3] + y


def _draw_panel(
    canvas: np.ndarray[Any, Any],
    frame: tuple[int, int, int, int],
    panel: Panel,
    tone: Colour,
    framed: bool,
    rng: random.Random,
) -> Drawn:
    """Draw one panel on the oversized canvas."""
    x1, y1, x2, y2 = frame
    drawn = Drawn(frame)
    # Things may not leave their panel: draw on a view of it.
    s = SUPERSAMPLE
    view = canvas[y1 * s : y2 * s, x1 * s : x2 * s]
    local = (0, 0, x2 - x1, y2 - y1)
    pen = Pen(view, rng)
    backdrop, items = _items(panel.scene)
    blocks = _place_text(local, panel, items)
    width, height = local[2], local[3]
    ground = min((b.box[1] for b in blocks if b.kind == "_"), default=height - 8.0) - 5
    _backdrop(pen, local, ground - 3, backdrop, tone, framed)
    text_bottom = max((b.box[3] for b in blocks if b.kind != "_"), default=26.0)
    standing = [THINGS[i.name].room[1] * i.zoom for i in items if i.y is None and not THINGS[i.name].crosses]
    fit = (ground - text_bottom - 12) / max(standing, default=100.0)
    zoom = min(max(fit, 0.55), 1.45 if height > 260 else 1.2)
    spare = ground - text_bottom - max(standing, default=height) * zoom - 20
    floating = any(i.y is not None and not THINGS[i.name].crosses for i in items)
    if spare > 0 and standing and not floating and not any(t[0] in "=*" for t in panel.texts):
        # little ones: their words come down to them
        down = min(spare * 0.5, 56.0)
        blocks = [
            b if b.kind == "_" else replace(b, box=(b.box[0], b.box[1] + down, b.box[2], b.box[3] + down))
            for b in blocks
        ]
    mouths: list[Point | None] = []
    signs: list[tuple[str, Box]] = []
    for item in items:
        kind = THINGS[item.name]
        origin = (width * item.x, ground if item.y is None else height * item.y)
        own = Pen(view, rng, origin, zoom * item.zoom, item.left)
        mouths.append(kind.draw(own, item.marks))
        z = zoom * item.zoom
        half, tall = kind.room
        body = (origin[0] - half * z, origin[1] - tall * z, origin[0] + half * z, origin[1])
        if not kind.crosses:
            drawn.bodies.append((item.name, body))
        if kind.text:
            tx1, ty1, tx2, ty2 = kind.text
            signs.append(
                (item.name, (origin[0] + tx1 * z, origin[1] + ty1 * z, origin[0] + tx2 * z, origin[1] + ty2 * z))
            )
    drawn.balloons.extend(b.box for b in blocks)
    placed = iter(blocks)
    for text in panel.texts:
        match = _read(text)
        speaker, kind_of, words = match[1], match[2] or match[3], match[4]
        drawn.texts.append(words)
        if kind_of == "*":
            _effect(pen, words, width * int(match[5]) / 100, height * int(match[6]) / 100, drawn)
        elif kind_of == "=" and speaker:
            box = next(b for name, b in signs if name == speaker)
            size = LETTERS
            while max(text_width(line, size) for line in wrap(words, box[2] - box[0], size)) > box[2] - box[0]:
                size -= 0.5
            _write(pen, wrap(words, box[2] - box[0], size), box, size, drawn)
        else:
            block = next(placed)
            index = _named(items, speaker) if speaker else None
            if speaker and index is None:
                raise ValueError(f"demo script: nobody is called {speaker!r} in {panel.scene!r}")
            target = mouths[index] if index is not None else None
            _balloon(pen, block, target)
            _write(pen, block.lines, block.box, LETTERS, drawn)
    if framed:
        thick = round(2.5 * s)
        cv2.rectangle(
            view,
            (thick // 2, thick // 2),
            (view.shape[1] - thick // 2 - 1, view.shape[0] - thick // 2 - 1),
            INK,
            thick,
        )
    drawn.lettering = [_moved(b, x1, y1) for b in drawn.lettering]
    drawn.balloons = [_moved(b, x1, y1) for b in drawn.balloons]
    drawn.bodies = [(name, _moved(b, x1, y1)) for name, b in drawn.bodies]
    return drawn


def picture(script: Script, name: str, seed: int = 0) -> tuple[np.ndarray[Any, Any], list[Drawn]]:
    """The comic as an image (uint8, height x width x 3, BGR) and what its panels hold, in reading order."""
    (width, height), frames = page(script)
    s = SUPERSAMPLE
    canvas = np.full((height * s, width * s, 3), 255, np.uint8)
    rng = generator(seed, name)
    framed = script.layout != "borderless"
    tone = TONES[int(hashlib.sha256(f"tone:{name}".encode()).hexdigest(), 16) % len(TONES)]
    drawn = [_draw_panel(canvas, f, p, tone, framed, rng) for f, p in zip(frames, script.panels, strict=True)]
    return cv2.resize(canvas, (width, height), interpolation=cv2.INTER_AREA), drawn


def panel_texts(panel: Panel) -> list[str]:
    """The words of a panel in reading order: one string a balloon, caption, sound effect or sign."""
    return [_read(text)[4] for text in panel.texts]
