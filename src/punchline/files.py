"""Files: written whole or not at all, locked, hashed; CSV and JSON lines, read with errors that name the record."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import io
import os
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar, get_args, get_type_hints

import msgspec

from punchline.errors import PunchlineError, did_you_mean, nearest
from punchline.schema import Record, canonical

R = TypeVar("R", bound=Record)
S = TypeVar("S", bound=msgspec.Struct)

MANIFEST = "punchline.json"  # in a model's folder: sha256 of every other file
PART = ".part"  # suffix of files that are being written, or that killed processes left
REBUILD = "Delete the file and run the same target again; the stage that makes it writes it anew"


def as_record(
    values: Mapping[str, Any],
    kind: type[S],
    where: Callable[[str], str],
    hint: str | None = None,
    noun: str = "key",
    elsewhere: Iterable[str] = (),
) -> S:
    """Plain data as a record. Raises PunchlineError, which repeats no value but a mistyped choice: it may be a secret.

    `where(key)`: the file that a key comes from. `elsewhere`: names that a mistyped one may be meant to be.
    """
    names = kind.__struct_fields__
    if unknown := [str(key) for key in values if key not in names]:
        valid = nearest(unknown[0], [*names, *elsewhere])
        raise PunchlineError(f"unknown {noun} {unknown[0]!r}", file=where(unknown[0]), hint=valid)
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        what, _, at = str(error).partition(" - at `$.")
        field = at.rstrip("`")
        if missing := re.fullmatch("Object missing required field `(.+)`", what):
            what, field = f"the {noun} is missing", f"{field}.{missing[1]}".lstrip(".")
        declared = get_type_hints(kind, include_extras=True).get(field)
        parts = (declared, *get_args(declared))  # a type, or a type and None
        metas = (meta for part in parts for meta in getattr(part, "__metadata__", ()))
        titles = [meta.title for meta in metas if meta.title and "regex" in what]
        what = f"expected {titles[0]}" if titles else what
        choices = [choice for part in parts for choice in get_args(part) if isinstance(choice, str)]
        hint = nearest(str(values.get(field)), choices) if choices else hint
        raise PunchlineError(what, file=where(re.split("[.[]", field)[0]), field=field or None, hint=hint) from None


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Yield a temporary file that replaces `path` when the block succeeds and is removed when it raises.

    Temporary file in the same folder, fsync, rename, fsync of the folder.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path.parent.resolve())
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}{PART}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync(path.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk: the error names no file
            error.filename = str(path)
        raise


def sync(path: Path) -> None:
    """Flush a file, or a folder's list of names, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@cache  # once a process and folder: a sweep reads the whole folder
def _sweep(folder: Path) -> None:
    """Remove temporary files that killed processes left: nothing was written to them for a day."""
    for leftover in folder.glob(f".*{PART}"):
        with suppress(OSError):  # its writer has just finished, or is another user
            if time.time() - leftover.stat().st_mtime > 86_400:
                leftover.unlink()


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: str | Path, content: str) -> None:
    """Write a UTF-8 file whole or not at all."""
    write_bytes(path, content.encode())


def write_changed(path: str | Path, content: bytes) -> None:
    """Write a file, unless it has these bytes."""
    if not Path(path).is_file() or Path(path).read_bytes() != content:
        write_bytes(path, content)


@contextmanager
def new_folder(path: Path, hint: str) -> Iterator[Path]:
    """Yield a temporary folder that becomes `path` when the block succeeds.

    Raises PunchlineError before the block if `path` exists and is not an empty folder.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise PunchlineError("exists and is not an empty folder", file=path, hint=hint)
    whole = path.resolve()
    whole.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{whole.name}.", dir=whole.parent) as parent:
        part = Path(parent) / whole.name
        yield part
        part.replace(whole)  # OSError for a folder that was filled meanwhile
    sync(whole.parent)


def sha256_file(path: str | Path) -> str:
    """Hexadecimal sha256 of a file's bytes, read in blocks."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(folder: str | Path) -> dict[str, str]:
    """{path: sha256} of every file in a model's folder, but the manifest and hidden ones."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(Path(folder).rglob("*")) if path.is_file()}
    visible = (name for name in paths if name != MANIFEST and not re.search(r"(^|/)\.", name))
    return {name: sha256_file(paths[name]) for name in visible}


@contextmanager
def exclusive_lock(folder: Path, busy: str) -> Iterator[None]:
    """Lock a folder against other processes, creating it if needed; the system releases the lock when a process ends.

    Raises PunchlineError with the message `busy` if another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise PunchlineError(busy, file=folder, hint="Wait for its end") from error
        yield
    finally:
        os.close(handle)


def text_of(content: bytes, file: str | Path) -> str:
    """UTF-8 bytes, with or without a mark, as text. Raises PunchlineError with file and line."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what, line = f"byte {error.start} is not UTF-8", content[: error.start].count(b"\n") + 1
        raise PunchlineError(what, file=file, line=line, hint="Save the file as UTF-8") from error


def write_records(path: str | Path, records: Iterable[Record]) -> None:
    """Write one record a line, as canonical JSON."""
    with replacing(path) as file:
        for record in records:
            file.write(canonical(record) + b"\n")


def decoded(
    content: bytes, kind: type[S], called: str, file: str | Path, line: int | None = None, hint: str = REBUILD
) -> S:
    """JSON as a record. Raises PunchlineError, `not <called>: <error>`, with file and line."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PunchlineError(f"not {called}: {error}", file=file, line=line, hint=hint) from error


def records_in(path: str | Path, kind: type[R]) -> Iterator[R]:
    """Records of a JSON lines file, one by one. Raises PunchlineError with file and line for an invalid record."""
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, start=1):
            yield decoded(line, kind, f"a {kind.__name__} record", path, number)


def read_records(path: str | Path, kind: type[R]) -> list[R]:
    """All records of a JSON lines file, as `records_in`."""
    return list(records_in(path, kind))


class Keyed(dict[str, R]):
    """Records of a JSON lines file by one of their fields. Raises as `records_in`."""

    def __init__(self, path: str | Path, kind: type[R], field: str = "item_id") -> None:
        super().__init__((getattr(record, field), record) for record in records_in(path, kind))


def is_inside(path: str, folder: str | Path | None = None) -> bool:
    """True for a relative path, written with `/` or `\\`, that does not climb out of its folder.

    `folder`: where it is taken from; its links may not lead out of it either.
    """
    names = path.replace("\\", "/").split("/")
    if ".." in names or names[0] == "" or names[0].startswith("~") or ":" in names[0] or "\0" in path:
        return False
    try:
        return folder is None or Path(folder, path).resolve().is_relative_to(Path(folder).resolve())
    except (OSError, RuntimeError):  # links in a circle
        return False


def parse_csv(content: bytes, columns: Sequence[str], *, file: str | Path) -> list[tuple[int, dict[str, str]]]:
    """Records of a CSV with header as (first physical line of the record, {column: cell}).

    Quoted cells may hold newlines. `columns` are required; others are kept. Raises PunchlineError with file, line and
    field for text that is not UTF-8, a missing or repeated column, or a record with too few or too many cells.
    """
    lines = csv_cells(text_of(content, file), file)
    _, header = next(lines)
    header = [cell.strip() for cell in header]
    _check_header(header, columns, file)
    records = []
    for line, cells in lines:
        if len(cells) != len(header):
            what = f"{len(cells)} cells where the header has {len(header)}"
            raise PunchlineError(what, file=file, line=line, record=cells[0])
        records.append((line, dict(zip(header, cells, strict=True))))
    return records


def csv_cells(text: str, file: str | Path) -> Iterator[tuple[int, list[str]]]:
    """(first physical line, cells) of the header and of every record that is not an empty line.

    Raises PunchlineError with file and line for no header and for malformed CSV.
    """
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise PunchlineError("the character NUL, as in UTF-16", file=file, line=line, hint="Save the file as UTF-8")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    start = 1
    try:
        for cells in reader:
            if cells or start == 1:
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise PunchlineError(f"malformed CSV: {error}", file=file, line=start) from error
    if start == 1:
        raise PunchlineError("empty file; expected a CSV with a header", file=file)


def _check_header(header: Sequence[str], columns: Sequence[str], file: str | Path) -> None:
    """Raises PunchlineError for a repeated or a missing column, with a similar one and all of both."""
    for column in header:
        if header.count(column) > 1:
            raise PunchlineError("the column appears twice", file=file, line=1, field=column)
    for column in columns:
        if column not in header:
            hint = f"{did_you_mean(column, header)}Expected: {', '.join(columns)}; found: {', '.join(header)}"
            raise PunchlineError("missing column", file=file, line=1, field=column, hint=hint)


def csv_text(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    """A CSV with header and \\n line ends; None is an empty cell."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, fieldnames=list(columns), lineterminator="\n", restval="", extrasaction="raise")
    writer.writeheader()
    writer.writerows({key: "" if value is None else value for key, value in row.items()} for row in rows)
    return out.getvalue()
