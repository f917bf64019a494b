"""Released files as typed rows, and items made of them.

The struct of a row declares its constraints; an error names file, record, field and a fix.
"""

from __future__ import annotations

import ast
import codecs
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any, TypeVar, get_args

import msgspec

from punchline.core.benchmark import Files, Images
from punchline.errors import PunchlineError
from punchline.files import decoded, parse_csv
from punchline.schema import Item, Scalar

T = TypeVar("T", bound=msgspec.Struct)

Filled = Annotated[str, msgspec.Meta(pattern=r"\S", title="a text")]
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # ids name files
_CONVERTING = threading.Lock()  # two threads that meet a type for the first time crash msgspec 0.22


class Literals(msgspec.Struct, frozen=True):
    """A row whose cells, but for its id, are Python literals; an empty cell takes its field's default."""


def typed(value: Any, kind: type[T], *, strict: bool = True, hint: str | None = None, **where: Any) -> T:
    """A row of its kind; `strict` as msgspec has it. Raises PunchlineError naming the field and what it must be."""
    try:
        with _CONVERTING:
            return msgspec.convert(value, kind, strict=strict)
    except UnicodeEncodeError as error:
        raise PunchlineError("an escape is half a character", hint="Remove it", **where) from error
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        field = path.strip(".`")  # bboxes[0].top
        name = re.split(r"[.\[]", field)[0]
        if "matching regex" in what or "enum value" in what:
            declared = {known.encode_name: known.type for known in msgspec.structs.fields(kind)}
            what = f"expected {' or '.join(_expected(declared[name])) or what}"
        if name:
            what = f"{what}, got {value.get(name)!r}"[:160]
        raise PunchlineError(what, field=field or None, hint=hint, **where) from error


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
            values = {key: cells[key]} | {column: _literal(cells[column]) for column in filled}
        yield line, typed(values, kind, strict=literals, **where)


def csv_table(files: Files, name: str, kind: type[T], key: str) -> dict[Any, T]:
    """{id: row} of a CSV. Raises PunchlineError as `csv_rows` does, and for an id that is there twice."""
    rows: dict[Any, T] = {}
    for line, row in csv_rows(files, name, kind, key):
        row_id = getattr(row, key)
        if rows.setdefault(row_id, row) is not row:
            raise PunchlineError("the record is there twice", file=name, line=line, record=row_id, hint="Keep one")
    return rows


@lru_cache(maxsize=4096)  # the 170,000 cells of PixelHumor's votes hold a few hundred different texts
def _literal(cell: str) -> Any:
    """The value of a cell that holds a Python literal, which nobody may change; the text of any other cell."""
    # MemoryError, RecursionError: a literal that is nested too deeply.
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape is a label like any other
        return ast.literal_eval(cell.strip())
    return cell


def json_rows(
    content: bytes,
    kind: type[T] | Callable[[Mapping[str, Any]], type[T]],
    *,
    file: str,
    key: str | None = None,
    hint: str = "Fetch the benchmark's annotation files",
) -> dict[str, T]:
    """{id: row} of a JSON object of objects; with `key`, of a list of objects that have their id in that field.

    `kind` may depend on the row. Raises PunchlineError for other content, an id that is no plain file name, and one
    that occurs twice.
    """
    records: Any = dict[str, dict[str, Any]] if key is None else list[dict[str, Any]]
    value: Any = decoded(content.removeprefix(codecs.BOM_UTF8), records, "JSON records", file, hint=hint)
    named = value.items() if key is None else ((row.get(key), row) for row in value)
    rows: dict[str, T] = {}
    for number, (item_id, fields) in enumerate(named, start=1):
        known = isinstance(item_id, str) and FILE_NAME.fullmatch(item_id)
        where: dict[str, Any] = {"file": file, "record": item_id if known else f"number {number}", "hint": hint}
        if not known:
            raise PunchlineError(f"expected a plain file name for an id, got {item_id!a:.120}", field=key, **where)
        if item_id in rows:
            raise PunchlineError("the record is there twice", field=key, **where)
        rows[item_id] = typed(fields, kind if isinstance(kind, type) else kind(fields), **where)
    return rows


Row = tuple[str, str, str, Mapping[str, Scalar]]  # item id, source, cluster, fields


def items(benchmark: str, rows: Iterable[Row], images: Images, file: str) -> list[Item]:
    """Items of the keys of `images`, in the order of the rows; a string says why there is no picture.

    Raises PunchlineError for a key that `file`, whence the rows are, does not have.
    """
    records = []
    for item_id, source, cluster, fields in rows:
        if item_id in images:
            refs = images[item_id]
            about: dict[str, Any] = {"missing": refs} if isinstance(refs, str) else {"images": refs}
            about |= {"benchmark": benchmark, "item_id": item_id, "source": source, "cluster": cluster}
            records.append(Item(**about, fields=dict(fields)))
    if unknown := images.keys() - {item.item_id for item in records}:
        raise PunchlineError("no such item", file=file, record=min(unknown), hint="Check subset=")
    return records
