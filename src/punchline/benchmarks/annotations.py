"""Released files as typed rows, and items made of them.

The struct of a row declares its constraints; an error names file, record, field and a fix.
"""

from __future__ import annotations

import ast
import json
import re
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any, TypeVar, get_args

import msgspec

from punchline.core.benchmark import Files
from punchline.errors import PunchlineError, nearest
from punchline.files import parse_csv
from punchline.schema import ImageRef, Item, Scalar

T = TypeVar("T", bound=msgspec.Struct)

Filled = Annotated[str, msgspec.Meta(pattern=r"\S", title="a text")]
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # ids name files
FETCH = "Fetch the benchmark's annotation files"
_HALVED = re.compile(r"[\ud800-\udfff]")  # half a surrogate pair, which no file can hold; JSON's escapes may
_CONVERTING = threading.Lock()  # two threads that meet a type for the first time crash msgspec 0.22


class Literals(msgspec.Struct, frozen=True):
    """A row whose cells, but for its id, are Python literals; an empty cell takes its field's default."""


def typed(value: Any, kind: type[T], *, strict: bool = True, hint: str | None = None, **where: Any) -> T:
    """A row of its kind; `strict` as msgspec has it. Raises PunchlineError naming the field and what it must be."""
    try:
        with _CONVERTING:
            row = msgspec.convert(value, kind, strict=strict)
        msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError, TypeError) as error:  # half a surrogate pair, a number of 65 bits
        raise PunchlineError(f"cannot be written: {error}", hint=hint, **where) from error
    except msgspec.ValidationError as error:
        declared = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
        what, _, path = str(error).partition(" - at `$")
        field = path.strip(".`")  # bboxes[0].top
        name = re.split(r"[.\[]", field)[0]
        if "matching regex" in what or "enum value" in what:
            what = f"expected {' or '.join(_expected(declared[name])) or what}"
        if unknown := re.search("unknown field `(.*)`", what):
            hint = nearest(unknown[1], declared)
        if name:
            what = f"{what}, got {value.get(name)!r}"[:160]
        raise PunchlineError(what, field=field or None, hint=hint, **where) from error
    return row


def _expected(declared: Any) -> Iterator[str]:
    """Values that a field takes: titles of constraints, and literals."""
    if isinstance(declared, str):
        yield declared
    elif isinstance(declared, msgspec.Meta):
        yield from filter(None, [declared.title])
    for part in get_args(declared):
        yield from _expected(part)


def csv_rows(files: Files, name: str, kind: type[T], key: str = "") -> Iterator[tuple[int, T]]:
    """(line, row) of a CSV. `key`: the column that names a record; by default its number does, from 0.

    Raises PunchlineError for a column that is not there and for a cell that its field does not take.
    """
    fields, literals = msgspec.structs.fields(kind), issubclass(kind, Literals)
    columns = [field.encode_name for field in fields if field.required or literals]
    for number, (line, cells) in enumerate(parse_csv(files[name], columns, file=name)):
        where: dict[str, Any] = {"file": name, "line": line, "record": cells.get(key, str(number))}
        values: dict[str, Any] = cells
        if literals:
            filled = [column for column in columns if column != key and cells[column].strip()]
            values = {key: cells[key]} | {column: _list_in(cells[column]) for column in filled}
            for column in filled:
                if values[column] is None:
                    what = f"{cells[column][:80]!r} is not a Python list literal"
                    raise PunchlineError(what, field=column, **where)
        yield line, typed(values, kind, strict=literals, **where)


def csv_table(files: Files, name: str, kind: type[T], key: str) -> dict[Any, T]:
    """{id: row} of a CSV. Raises PunchlineError as `csv_rows` does, and for an id that is there twice."""
    rows: dict[Any, T] = {}
    for line, row in csv_rows(files, name, kind, key):
        row_id = getattr(row, key)
        if row_id in rows:
            raise PunchlineError("the record is there twice", file=name, line=line, record=row_id, hint="Keep one")
        rows[row_id] = row
    return rows


@lru_cache(maxsize=4096)  # the 170,000 cells of PixelHumor's votes hold a few hundred different texts
def _list_in(cell: str) -> list[Any] | None:
    """The list that a cell holds as a Python literal, which nobody may change; None for anything else."""
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape is a label like any other
        value = ast.literal_eval(cell.strip())
        return value if isinstance(value, list) else None
    return None


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

    `kind` may depend on the row; `ids`: a pattern of ids, None: any text. Raises PunchlineError for other
    content, another id, an id or a field that occurs twice, and half a surrogate pair.
    """
    try:
        value = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise PunchlineError(f"not JSON that can be read: {error}", file=file, hint=hint) from error
    if not isinstance(value, dict if key is None else list):
        raise PunchlineError(f"expected {'an object' if key is None else 'a list'} of records", file=file, hint=hint)
    in_list = ((row.get(key) if isinstance(row, dict) else None, row) for row in value)
    named: Any = value.items() if isinstance(value, dict) else in_list
    rows: dict[str, T] = {}
    for number, (item_id, fields) in enumerate(named, start=1):
        known = isinstance(item_id, str) and bool(ids.fullmatch(item_id) if ids else not _HALVED.search(item_id))
        where: dict[str, Any] = {"file": file, "record": item_id[:100] if known else f"number {number}", "hint": hint}
        if not isinstance(fields, dict):
            raise PunchlineError("expected an object", **where)
        if not known:
            raise PunchlineError(f"expected a plain file name for an id, got {item_id!a:.120}", field=key, **where)
        if item_id in rows:
            raise PunchlineError("the record is there twice", field=key, **where)
        rows[item_id] = typed(fields, kind if isinstance(kind, type) else kind(fields), **where)
    return rows


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Raises ValueError for a name that occurs twice in it."""
    counts = Counter(name for name, _ in pairs)
    if twice := next((name for name, count in counts.items() if count > 1), None):
        raise ValueError(f"{twice!a} is there twice in {dict(pairs)!a:.120}")
    return dict(pairs)


Row = tuple[str, str, str, Mapping[str, Scalar]]  # item id, source, cluster, fields


def items(
    benchmark: str, rows: Iterable[Row], images: Mapping[str, tuple[ImageRef, ...] | str], file: str
) -> list[Item]:
    """Items of the keys of `images`, in the order of the rows; a string says why there is no picture.

    Raises PunchlineError for a key that `file`, whence the rows are, does not have.
    """
    records = []
    for item_id, source, cluster, fields in rows:
        if item_id in images:
            refs, missing = images[item_id], None
            if isinstance(refs, str):
                refs, missing = (), refs
            about = Item(benchmark=benchmark, item_id=item_id, source=source, cluster=cluster, fields=dict(fields))
            records.append(msgspec.structs.replace(about, images=refs, missing=missing))
    if unknown := images.keys() - {item.item_id for item in records}:
        raise PunchlineError("no such item", file=file, record=min(unknown), hint="Check subset=")
    return records
