"""Released files as typed rows, and items made of them.

The struct of a row declares its constraints; an error names file, record, field and a fix.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec

from punchline.core.benchmark import Files
from punchline.errors import PunchlineError, nearest
from punchline.files import parse_csv
from punchline.schema import ImageRef, Item, Scalar

T = TypeVar("T")

Filled = Annotated[str, msgspec.Meta(pattern=r"\S", title="a text")]
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # ids name files
FETCH = "Fetch the benchmark's annotation files"
_AT = re.compile(r" - at `\$\.?([^`]*)`$")
_CONVERTING = threading.Lock()  # two threads that meet a type for the first time crash msgspec 0.22


class Object(dict[str, Any]):
    """A JSON object that knows the first name that occurs twice in it."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen = Counter(name for name, _ in pairs if len(self) < len(pairs))
        self.twice = next((name for name, count in seen.items() if count > 1), None)


def content_of(files: Files, name: str) -> bytes:
    """Bytes of a released file. Raises PunchlineError where it is not there."""
    if name not in files:
        raise PunchlineError("the file is not there", file=name, hint=FETCH)
    return files[name]


def typed(
    value: Any,
    kind: type[T],
    *,
    file: str,
    line: int | None = None,
    record: str | None = None,
    hint: str | None = None,
    strict: bool = True,
) -> T:
    """A row of its kind; `strict` as msgspec has it. Raises PunchlineError naming the field and what it must be."""
    try:
        with _CONVERTING:
            return msgspec.convert(value, kind, strict=strict)
    except UnicodeEncodeError as error:  # an escape in a literal
        what = f"{error.object[error.start : error.end]!r} is half a character"
        raise PunchlineError(what, file=file, line=line, record=record, hint=hint) from error
    except msgspec.ValidationError as error:
        at = _AT.search(str(error))
        what, field = (str(error)[: at.start()], at[1] or None) if at else (str(error), None)
        if at is None and (message := re.match(r"(\w+): ", what)):  # as __post_init__ says it
            what, field = what[message.end() :], message[1]
        path = re.findall(r"[^.\[\]]+", field or "")  # of "bboxes[0].top"
        if path and ("matching regex" in what or "enum value" in what):
            declared = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}  # type: ignore[arg-type]
            what = f"expected {_expected(declared.get(path[0])) or what}"
        got: Any = value
        for part in path:
            got = got[int(part)] if isinstance(got, list) else got.get(part) if isinstance(got, dict) else None
        if unknown := re.search("unknown field `(.*)`", what):
            hint = nearest(unknown[1], (one.encode_name for one in msgspec.structs.fields(kind)))  # type: ignore[arg-type]
        if at is not None and path:
            what = f"{what}, got {got!r}"[:160]
        what = what.encode("utf-8", "backslashreplace").decode()
        raise PunchlineError(what, file=file, line=line, record=record, field=field, hint=hint) from error


def _expected(declared: Any) -> str | None:
    """Values that a field takes: the title of its constraint, or its literals."""
    titles = (meta.title for meta in getattr(declared, "__metadata__", ()) if isinstance(meta, msgspec.Meta))
    if title := next(filter(None, titles), None):
        return title
    if get_origin(declared) is Literal:
        return " or ".join(map(str, get_args(declared)))
    inner = [expected for part in get_args(declared) if (expected := _expected(part))]
    return " or ".join(inner) or None


def csv_rows(files: Files, name: str, kind: type[T], key: str = "") -> list[tuple[int, T]]:
    """(line, row) of a CSV. `key`: the column that names a record; by default its number does, from 0.

    Raises PunchlineError for a column that is not there and for a cell that its field does not take.
    """
    fields = msgspec.structs.fields(kind)  # type: ignore[arg-type]
    columns = [field.encode_name for field in fields if field.required]
    return [
        (line, typed(cells, kind, file=name, line=line, record=cells.get(key, str(number)), strict=False))
        for number, (line, cells) in enumerate(parse_csv(content_of(files, name), columns, file=name))
    ]


def json_rows(
    content: bytes,
    kind: type[T] | Callable[[Mapping[str, Any]], type[T]],
    *,
    file: str,
    key: str | None = None,
    ids: re.Pattern[str] | None = FILE_NAME,
    hint: str = FETCH,
) -> dict[str, T]:
    """{id: row} of a JSON object of objects; with `key`, of a list of objects that have their id in that field.

    `kind` may depend on the row; `ids`: a pattern of ids, None: any text. Raises PunchlineError for other content,
    another id, an id or a field that occurs twice, and half a surrogate pair.
    """
    try:
        value = json.loads(content.decode("utf-8-sig"), object_pairs_hook=Object)
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg} at column {error.colno}"
        raise PunchlineError(what, file=file, line=error.lineno, hint=hint) from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PunchlineError(f"not JSON: byte {error.start} is not UTF-8", file=file, line=line) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, nesting without end
        raise PunchlineError(f"not JSON that can be read: {error}", file=file) from error
    named: list[tuple[Any, Any]]
    twice: str | None = None
    if key is None and isinstance(value, Object):
        named, twice = [*value.items()], value.twice
    elif key is not None and isinstance(value, list):
        named = [(row.get(key) if isinstance(row, Object) else None, row) for row in value]
    else:
        what = f"expected {'an object' if key is None else 'a list'} of records"
        raise PunchlineError(what, file=file, hint=hint)
    rows: dict[str, T] = {}
    for number, (item_id, fields) in enumerate(named, start=1):
        known = isinstance(item_id, str) and not _halved(item_id) and (ids is None or bool(ids.fullmatch(item_id)))
        record = str(item_id)[:100] if known else f"number {number}"
        if not isinstance(fields, Object):
            raise PunchlineError("expected an object", file=file, record=record, hint=hint)
        _check(fields, file, record)
        if not known:
            what = f"expected a plain file name for an id, got {ascii(item_id)[:120]}"
            raise PunchlineError(what, file=file, record=record, field=key, hint=hint)
        if item_id in rows or item_id == twice:
            raise PunchlineError("the record is there twice", file=file, record=record, field=key, hint="Keep one")
        row_kind = kind if isinstance(kind, type) else kind(fields)
        rows[item_id] = typed(fields, row_kind, file=file, record=record, hint=hint)
    return rows


_SURROGATE = re.compile(r"[\ud800-\udfff]")


def _halved(text: str) -> bool:
    """True if it has half a surrogate pair, which no file can hold; JSON's \\u escapes may."""
    return _SURROGATE.search(text) is not None


def _check(value: Any, file: str, record: str, at: str = "") -> None:
    """Raises PunchlineError for a field that occurs twice, and for half a surrogate pair."""
    if isinstance(value, Object):
        if value.twice is not None:
            field = ascii(at + value.twice)[1:-1]
            raise PunchlineError("the field is there twice", file=file, record=record, field=field)
        for name, inner in value.items():
            _check(inner, file, record, f"{at}{name}.")
    elif isinstance(value, list):
        for inner in value:
            _check(inner, file, record, at)
    elif isinstance(value, str) and _halved(value):
        what = "half a surrogate pair is no character"
        raise PunchlineError(what, file=file, record=record, field=ascii(at[:-1])[1:-1])


Row = tuple[str, str, str, Mapping[str, Scalar]]  # item id, source, cluster, fields


def items(
    benchmark: str, rows: Iterable[Row], images: Mapping[str, tuple[ImageRef, ...] | str], file: str
) -> list[Item]:
    """Items of the keys of `images`, in the order of the rows; a string says why there is no picture.

    Raises PunchlineError for a key that `file`, whence the rows are, does not have.
    """
    records, unknown = [], dict.fromkeys(images)
    for item_id, source, cluster, fields in rows:
        if item_id in images:
            unknown.pop(item_id, None)
            of_item = images[item_id]
            refs, missing = ((), of_item) if isinstance(of_item, str) else (of_item, None)
            item = Item(benchmark=benchmark, item_id=item_id, source=source, cluster=cluster, fields=dict(fields))
            records.append(msgspec.structs.replace(item, images=refs, missing=missing))
    if unknown:
        raise PunchlineError("no such item", file=file, record=next(iter(unknown)), hint="Check subset=")
    return records
