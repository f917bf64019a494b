"""Leaves in a lock what is installed at all, and not by another before it: python packaging/added.py BASE LOCK..."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def packages(lock: Path) -> dict[str, str]:
    """{requirement, with its version and marker: its lines in the lock}."""
    parts = re.split(r"^(?=\S)", lock.read_text(), flags=re.MULTILINE)
    return {part.split("\n")[0].rstrip("\\ "): part for part in parts if part}


if __name__ == "__main__":
    base, *locks = map(Path, sys.argv[1:])
    there = {
        name.partition(" ;")[0] for name in packages(base)
    }  # on which machines does not matter: on all that we know
    for lock in locks:
        own = {name: lines for name, lines in packages(lock).items() if name.partition(" ;")[0] not in there}
        lock.write_text("".join(lines for name, lines in own.items() if "sys_platform == 'never'" not in name))
