"""Scripts of comics that the project draws, and how a panel is written:

- The scene lists things, the farther ones first: `name.mark.mark<*zoom@x,y`. Names are those of art.THINGS; marks
  are a pose, a mood or a variant; `<` or `>` is the direction faced (by default the middle of the panel); `*1.2` makes
  it larger; x is per cent of the panel's width; y, per cent of its height, lifts a thing off the ground. `night`,
  `indoor`, `sea`, `water`, `swamp`, `snow`, `rain` and `blank` stand alone and set the background.
- Texts come in reading order: `bob: HI` balloon, `bob~ HI` thought, `bob! HI` shout (`sheep2: HI` the second sheep),
  `= HI` caption at the top, `_ HI` caption at the bottom, `* BAM @x,y` sound effect, `sign= HI` words on a thing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Panel:
    scene: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Script:
    """One comic. `peak` is the panel that matters most, counted in reading order from 1; None: not funny."""

    layout: str
    rows: tuple[str, ...]  # one string a row, one digit a panel: its relative width
    panels: tuple[Panel, ...]
    peak: int | None
    modality: str  # Text, Visual, Both; NA when not funny
    styles: tuple[str, ...]
    sound: str
    why: str | None  # a human explanation, for some
    harm: bool
