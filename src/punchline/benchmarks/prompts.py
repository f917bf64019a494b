"""Prompts: files of a benchmark's folder, one a prompt, as they are asked."""

from __future__ import annotations

from importlib.resources import files


def prompts(package: str, folder: str = "") -> dict[str, str]:
    """{stem: text} of prompts/*.txt of a benchmark's package, or of a folder in there (`judge`).

    The final newline is not sent. Call it with `__package__` and a literal: punchline.workflow.code finds the files by
    that call.
    """
    place = files(package).joinpath("prompts", *([folder] if folder else []))
    named = {file.name.removesuffix(".txt"): file for file in place.iterdir() if file.name.endswith(".txt")}
    return {stem: named[stem].read_bytes().decode().removesuffix("\n") for stem in sorted(named)}
