"""Data for pages: scripts that hold gzipped JSON, which a page can read from a folder as well as from a host."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from punchline.files import write_changed
from punchline.schema import Score

CHUNK = 32  # items a file


def script(key: str, value: Any) -> bytes:
    """A file that hands a page `value` as the part `key`. The same value gives the same bytes."""
    packed = base64.b64encode(gzip.compress(msgspec.json.encode(value), 6, mtime=0)).decode()
    return f"punchline.put({msgspec.json.encode(key).decode()},\n{msgspec.json.encode(packed).decode()});\n".encode()


def write_parts(index: str, prefix: str, parts: Mapping[str, Any]) -> None:
    """Write parts as files next to the file `index`, and remove those of other parts."""
    folder = Path(index).parent
    for name, value in parts.items():
        write_changed(folder / f"{name}.js", script(f"{prefix}/{name}", value))
    for file in folder.glob("*.js"):
        if file.name.removesuffix(".js") not in parts:
            file.unlink()


def code(score: Score, value: float | None, untried: Collection[str] = ()) -> str:
    """An answer in one letter: its state, or y (right), n (wrong), p (partly right), - (not scored).

    `untried`: digests of responses to tasks that a baseline does not attempt: a.
    """
    if score.state == "missing" and untried and all(digest in untried for digest in score.responses):
        return "a"
    if score.state == "unparsable":
        return "t" if score.truncated else "u"
    if score.state != "ok":
        return score.state[0]
    return "-" if value is None else "y" if value >= 1 else "p" if value > 0 else "n"
