"""Prompts: files of a benchmark's folder, one a prompt, as they are asked."""

from __future__ import annotations

from importlib.resources import files


def prompts(package: str, folder: str = "") -> dict[str, str]:
    """{stem: text} of prompts/*.txt of a benchmark's package, or of a folder in there (`judge`).

    The last line break is the file's and not the prompt's. Called with `__package__` and a literal: what is asked
    rests on these files, which punchline.project.code reads off the call.
    """
    place = files(package).joinpath("prompts", *([folder] if folder else []))
    there = {file.name.removesuffix(".txt"): file for file in place.iterdir() if file.name.endswith(".txt")}
    return {stem: there[stem].read_bytes().decode().removesuffix("\n") for stem in sorted(there)}
