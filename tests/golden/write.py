"""Write pins anew: `python -m tests.golden.write [PART ...]`. Without names, all parts whose data is here.

A pin changes in a commit of its own whose message says why. PUNCHLINE_MIRROR names the folder with the real data.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from tests.golden import runs
from tests.golden.compare import write
from tests.golden.offline import PARTS, ROOT, Pins
from tests.golden.upstream import UPSTREAM_PARTS

S = TypeVar("S")


def write_all(names: list[str], parts: dict[str, Callable[[S], Pins]], source: Callable[[], S]) -> None:
    """Write the named ones of some parts that are read from one source, which is made where one of them is named."""
    chosen = [name for name in parts if not names or name in names]
    if chosen:
        result = source()
        for name in chosen:
            write(name, parts[name](result))


def main(names: list[str]) -> None:
    """Write the named parts."""
    mirror = Path(os.environ.get("PUNCHLINE_MIRROR", ROOT.parent / "shared/upstream")).resolve()
    write_all(names, {name: lambda _, make=make: make() for name, make in PARTS.items()}, lambda: None)
    with TemporaryDirectory() as folder:
        result = Path(folder)
        write_all(names, runs.SMALL_PARTS, lambda: runs.small(result / "small"))
        write_all(names, runs.DEMO_PARTS, lambda: runs.demo(result / "demo"))
        if mirror.is_dir():
            write_all(names, UPSTREAM_PARTS, lambda: mirror)
            write_all(names, runs.RELEASED_PARTS, lambda: runs.released(result / "released", mirror))
            write_all(names, runs.HUNDRED_PARTS, lambda: runs.hundred(result / "hundred", mirror))


if __name__ == "__main__":
    main(sys.argv[1:])
