"""Prompts: files of a benchmark's folder, one a prompt, as they are asked."""

from __future__ import annotations

from importlib.resources import files

from punchline.errors import PunchlineError, nearest


class Prompts(dict[str, str]):
    """Texts by stem. Raises PunchlineError for one that is not there."""

    folder = ""

    def __missing__(self, stem: str) -> str:
        raise PunchlineError("no such prompt", file=f"{self.folder}/{stem}.txt", hint=nearest(stem, self))


def prompts(package: str, folder: str = "") -> dict[str, str]:
    """{stem: text} of prompts/*.txt of a benchmark's package, or of a folder in there (`judge`).

    The final newline is not sent. Call it with `__package__` and a literal: punchline.workflow.code finds the files by
    that call. Raises PunchlineError for a file that is not UTF-8.
    """
    place = files(package).joinpath("prompts", *([folder] if folder else []))
    there = {file.name.removesuffix(".txt"): file for file in place.iterdir() if file.name.endswith(".txt")}
    texts = Prompts()
    texts.folder = str(place)
    for stem in sorted(there):
        try:
            texts[stem] = there[stem].read_bytes().decode().removesuffix("\n")
        except UnicodeDecodeError as error:
            what = f"byte {error.start} is not UTF-8"
            raise PunchlineError(what, file=str(there[stem]), hint="Save the file as UTF-8") from error
    return texts
