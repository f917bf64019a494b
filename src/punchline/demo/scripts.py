"""Scripts of comics that the project draws, and how a play is written:

- A line is a panel's scene: things, the farther ones first: `name.mark.mark<*zoom@x,y`. Names are those of things/;
  marks are a pose, a mood or a variant; `<` or `>` is the direction faced (by default the middle of the panel); `*1.2`
  makes it larger; x is per cent of the panel's width; y, per cent of its height, lifts a thing off the ground.
  `night`, `indoor`, `sea`, `water`, `swamp`, `snow`, `rain` and `blank` stand alone and set the background.
- Indented lines are its texts in reading order: `bob: HI` balloon, `bob~ HI` thought, `bob! HI` shout (`sheep2: HI`
  the second sheep), `= HI` caption at the top, `_ HI` caption at the bottom, `* BAM @x,y` sound effect, `sign= HI`
  words on a thing.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

T = TypeVar("T")


class Panel(NamedTuple):
    scene: str
    texts: tuple[str, ...]


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One comic. `peak` is the panel that matters most, counted in reading order from 1; None: not funny."""

    play: str
    layout: str = "strip"
    rows: str = "11"  # "/" between rows, one digit a panel: its relative width
    peak: int | None = None
    by: str = "NA"  # Text, Visual, Both; NA when not funny
    styles: str = "NA"  # a space between them
    sound: str = "Absent"
    why: str | None = None  # a human explanation, for some
    harm: bool = False

    @property
    def panels(self) -> tuple[Panel, ...]:
        return _panels(self.play)


@cache
def _panels(play: str) -> tuple[Panel, ...]:
    panels: list[tuple[str, list[str]]] = []
    for line in play.splitlines():
        if line.startswith("  "):
            panels[-1][1].append(line.strip())
        else:
            panels.append((line, []))
    return tuple(Panel(scene, tuple(texts)) for scene, texts in panels)


def words(module: str, kind: type[T]) -> T:
    """What a benchmark's demo.yaml says; `module`: the file of the module beside it. Raises msgspec.ValidationError."""
    return msgspec.yaml.decode(Path(module).with_suffix(".yaml").read_bytes(), type=kind)
