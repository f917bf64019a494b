"""Pinned files against what the code makes now: text equal, numbers with a point within 1e-9.

With PINS=write in the environment, tests that check pins write them anew. Such a change is a commit of its own.
"""

import difflib
import math
import os
import re
from itertools import islice
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
SHOWN = 40  # lines of a difference
FLOAT = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w.])")


def _same(pinned: str, made: str) -> bool:
    """Whether two lines are equal but for the last digits of floats."""
    if pinned == made:
        return True
    pieces = [FLOAT.split(line) for line in (pinned, made)]
    if len(pieces[0]) != len(pieces[1]):
        return False
    return all(a == b or (place % 2 and _close(a, b)) for place, (a, b) in enumerate(zip(*pieces, strict=True)))


def _close(a: str, b: str) -> bool:
    return {".", "e"} & set(a + b) != set() and math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-9)


def write(part: str, pins: dict[str, list[str]]) -> None:
    """Replace the files of a part."""
    folder = FOLDER / part
    for old in folder.rglob("*.*"):
        old.unlink()
    for name, lines in pins.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def difference(part: str, pins: dict[str, list[str]]) -> str:
    """The first lines that moved, as a unified diff; empty where none did."""
    folder = FOLDER / part
    pinned = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.*")}
    moved: list[str] = []
    for name in sorted(pinned.keys() | pins.keys()):
        old = pinned[name].read_text(encoding="utf-8").split("\n")[:-1] if name in pinned else []
        new = pins.get(name, [])
        if len(old) == len(new):
            new = [a if _same(a, b) else b for a, b in zip(old, new, strict=True)]
        diff = difflib.unified_diff(old, new, f"pinned {part}/{name}", "made now", n=0, lineterm="")
        if old != new:
            moved += islice(diff, SHOWN)
    return "\n".join(moved[:SHOWN])


def check(part: str, pins: dict[str, list[str]]) -> None:
    """Fail with the first lines of a part that moved."""
    if os.environ.get("PINS") == "write":
        write(part, pins)
    if moved := difference(part, pins):
        pytest.fail(moved, pytrace=False)
