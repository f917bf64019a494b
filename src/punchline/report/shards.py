"""Data for pages: scripts that hold gzipped JSON, which a page can read from a folder as well as from a host."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from punchline.core import benchmark as benchmarks
from punchline.files import write_bytes
from punchline.schema import STATES, Gold, Score

CHUNK = 32  # items a file


def script(key: str, value: Any) -> bytes:
    """A file that hands a page `value` as the part `key`. The same value gives the same bytes."""
    packed = base64.b64encode(gzip.compress(msgspec.json.encode(value), 6, mtime=0)).decode()
    return f"punchline.put({msgspec.json.encode(key).decode()},\n{msgspec.json.encode(packed).decode()});\n".encode()


def unscripted(content: bytes) -> tuple[str, Any]:
    """(key, value) of a file that `script` wrote."""
    called, packed = content.decode().removeprefix("punchline.put(").removesuffix(");\n").split(",\n")
    return json.loads(called), json.loads(gzip.decompress(base64.b64decode(json.loads(packed))))


def write_changed(file: Path, content: bytes) -> None:
    """Write a file, unless it has this content already."""
    if not file.is_file() or file.read_bytes() != content:
        write_bytes(file, content)


def write_parts(index: str, prefix: str, parts: Mapping[str, Any]) -> None:
    """Write parts as files next to the file `index`, and remove those of other parts."""
    folder = Path(index).parent
    for name, value in parts.items():
        write_changed(folder / f"{name}.js", script(f"{prefix}/{name}", value))
    for file in folder.glob("*.js"):
        if file.name.removesuffix(".js") not in parts:
            file.unlink()


def code(benchmark: str, grade: Score, gold: Gold) -> str:
    """An answer in one character: 0 (wrong) to 9 (right); m, f, r, u for a state; `-` where that cannot be said."""
    if grade.state != "ok" and grade.state in STATES:
        return grade.state[0]
    value = benchmarks.right(benchmark, grade, gold)
    return "-" if value is None else str(round(9 * min(max(value, 0.0), 1.0)))
