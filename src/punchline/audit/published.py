"""Contents of a published folder, and its audit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from punchline.audit.audit import Audit, audit
from punchline.audit.rebuild import Finding
from punchline.errors import PunchlineError, nearest
from punchline.files import sha256_file
from punchline.schema import Record

INDEX = "published.json"


class Published(Record, frozen=True, kw_only=True):
    """Everything that a published folder holds but its index, and what it leaves out. Paths begin at the folder."""

    run: str
    tables: dict[str, str]  # root by path of the CSV
    files: dict[str, str]  # sha256 by path
    withheld: dict[str, str]  # why a file that a table depends on is absent, by path


def read_published(folder: Path) -> Published:
    """The index of a published folder. Raises PunchlineError."""
    file = folder / INDEX
    try:
        return msgspec.json.decode(file.read_bytes(), type=Published)
    except FileNotFoundError:
        what = f"{folder} is no folder that `punchline publish` wrote"
        raise PunchlineError(what, file=file, hint="Name one: --published DIR") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PunchlineError(f"not an index of what was published: {error}", file=file) from error


def _tables(index: Published, name: str | None) -> list[str]:
    if name is None:
        return list(index.tables)
    found = [path for path in index.tables if name == path or f"/{path}".endswith(f"/{name}.csv")]
    if not found:
        raise PunchlineError(f"no table {name!r} was published", file=INDEX, hint=nearest(name, index.tables))
    return found


def differences(folder: Path, index: Published) -> Iterator[Finding]:
    """Files of a published folder that are not those of its index."""
    inside = folder.resolve()
    for path, digest in index.files.items():
        file = folder / path
        if not file.resolve().is_relative_to(inside) or not file.is_file():
            yield Finding("published file", path, "the file is gone")
        elif sha256_file(file) != digest:
            yield Finding("published file", path, f"its sha256 is not {digest[:16]}…, which its index has")
    for path in beside(folder, index):
        yield Finding("published file", path, "it is not in the index")


def beside(folder: Path, index: Published) -> list[str]:
    """Files in a published folder that nobody published: not a repository's own, nor what an audit puts there."""
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    found = there - {*index.files, *index.withheld, INDEX}  # withheld: put in its place
    return sorted(path for path in found if not path.startswith((".git/", ".punchline/")))


def audit_published(folder: Path, table: str | None = None, expect: str | None = None) -> list[Audit]:
    """Audit one table of a published folder, or all of them, each from what the folder holds.

    The first has the folder's own differences. Raises PunchlineError for a folder that was not published.
    """
    index = read_published(folder)
    chosen = _tables(index, table)
    wrong = list(differences(folder, index))
    found = []
    with contextlib.chdir(folder):
        for path in chosen:
            made = audit(path, expect=expect, withheld=index.withheld)
            if made.root:
                made.compare_root(path, index.tables[path], f"{INDEX} has")
            found.append(made)
    if found:
        found[0].findings[:0] = wrong
    return found
