"""Prompts: files of a benchmark's folder, one a prompt, as they are asked."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

from punchline.errors import PunchlineError

FIX = "Save it with \\n alone. If git wrote the \\r: git config core.autocrlf input, delete the file, git checkout it"


def prompts(package: str, folder: str = "") -> dict[str, str]:
    """{stem: text} of prompts/*.txt of a benchmark's package, or of a folder in there (`judge`).

    The final newline is not sent. Raises PunchlineError for a file with \\r.
    """
    place = files(package).joinpath("prompts", *([folder] if folder else []))
    named = {file.name.removesuffix(".txt"): file for file in place.iterdir() if file.name.endswith(".txt")}
    return {stem: _text(named[stem]) for stem in sorted(named)}


def _text(file: Traversable) -> str:
    """A prompt. Raises PunchlineError for one with \\r, which would make other requests of it."""
    content = file.read_bytes()
    if b"\r" in content:
        line = content[: content.index(b"\r")].count(b"\n") + 1
        raise PunchlineError("the prompt has \\r at the end of a line", file=str(file), line=line, hint=FIX)
    return content.decode().removesuffix("\n")
