"""Imported by every Python that has this folder on its path: notes which files of the project scripts read."""

import os
import sys
from pathlib import Path

_log = os.environ.get("PUNCHLINE_OPENED")
_root = str(Path.cwd()) + os.sep


def _note(event: str, args: tuple[object, ...]) -> None:
    if event != "open" or not sys.argv or not sys.argv[0].startswith("scripts/"):
        return
    path, _, flags = args
    if not isinstance(path, str | os.PathLike) or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
        return
    name = str(Path.cwd() / os.fspath(path))
    if name.startswith(_root) and os.path.isfile(name):  # noqa: PTH113
        fields = [os.environ["PUNCHLINE_SELECTION"], *sys.argv[1:], name.removeprefix(_root)]
        os.write(_file, ("\t".join(fields).replace("\n", " ") + "\n").encode())


if _log:
    _file = os.open(_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    sys.addaudithook(_note)
