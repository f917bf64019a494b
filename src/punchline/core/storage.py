"""Records as Parquet: written whole or not at all, read with errors that name the record."""

from __future__ import annotations

import bisect
import itertools
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from punchline.errors import PunchlineError
from punchline.files import REBUILD, replacing
from punchline.schema import Record, canonical

R = TypeVar("R", bound=Record)

_NATIVE: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def _arrow_type(annotation: Any) -> pa.DataType | None:
    """The arrow type of a scalar field; None for a nested one, which is kept as canonical JSON."""
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    kinds = [kind for kind in kinds if kind not in (type(None), msgspec.UnsetType)]
    if all(get_origin(kind) is Literal for kind in kinds):
        return pa.string()
    return _NATIVE.get(kinds[0]) if len(kinds) == 1 else None


ROW_GROUP = 10_000  # records
BUFFER = 2**16  # bytes of a column that are read at a time; else what is read of each group stays in memory


def write_table(path: str | Path, records: Iterable[R], kind: type[R]) -> None:
    """Records as parquet: one column a field, nested fields as canonical JSON, and the column `digest`."""
    hints = get_type_hints(kind)
    arrows = [_arrow_type(hints[name]) for name in kind.__struct_fields__]
    names = (*kind.__struct_encode_fields__, "digest")
    schema = pa.schema(zip(names, (*(arrow or pa.string() for arrow in arrows), pa.string()), strict=True))

    def table(group: Sequence[R]) -> pa.Table:
        columns = []
        for name, arrow in zip(kind.__struct_fields__, arrows, strict=True):
            values = [None if (value := getattr(record, name)) is msgspec.UNSET else value for record in group]
            columns.append(values if arrow else [canonical(value).decode() for value in values])
        columns.append([record.digest for record in group])
        return pa.table(dict(zip(names, columns, strict=True)), schema=schema)

    write_groups(path, records, table)


def write_groups(path: str | Path, records: Iterable[R], table: Callable[[list[R]], pa.Table]) -> None:
    """Write tables of ROW_GROUP records each as parquet, so that an iterator of many records needs little memory."""
    rest = iter(records)
    with replacing(path) as file, pq.ParquetWriter(file, table([]).schema, compression="zstd") as writer:
        while group := list(itertools.islice(rest, ROW_GROUP)):
            writer.write_table(table(group))


def open_parquet(source: Any) -> pq.ParquetFile:
    """A parquet file (a path or a binary file), to be read with `use_threads=False`.

    Arrow starts no thread then: one that lives on can abort a process that ends. pq.read_table imports pandas, too.
    """
    return pq.ParquetFile(source, buffer_size=BUFFER, pre_buffer=False)


class Stored(Sequence[R]):
    """The records of a table that `write_table` wrote, a row group of them in memory at a time.

    Every record is checked against its digest when it is read. Raises PunchlineError with file and row for a file that
    is anything else.
    """

    def __init__(self, path: str | Path, kind: type[R]) -> None:
        self.path, self.kind = path, kind
        with naming(path):
            file = Path(path).open("rb")  # noqa: SIM115
            weakref.finalize(self, file.close)
            self._file = open_parquet(file)
        groups = map(self._file.metadata.row_group, range(self._file.num_row_groups))
        self._starts: list[int] = list(itertools.accumulate((group.num_rows for group in groups), initial=0))
        self._read: tuple[int, list[R]] = (-1, [])

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, place: Any) -> Any:
        at = range(len(self))[place]
        if isinstance(at, range):
            return Part(self, at)
        group = bisect.bisect_right(self._starts, at) - 1
        return self._group(group)[at - self._starts[group]]

    def _group(self, group: int) -> list[R]:
        if self._read[0] != group:
            self._read = group, list(self._read_group(group))
        return self._read[1]

    def _read_group(self, group: int, only_intact: bool = False) -> Iterator[R]:
        hints = dict(zip(self.kind.__struct_encode_fields__, get_type_hints(self.kind).values(), strict=True))
        nested = {name: msgspec.json.Decoder(hint).decode for name, hint in hints.items() if _arrow_type(hint) is None}
        unset = {name for name, hint in hints.items() if msgspec.UnsetType in get_args(hint)}  # null, or no column
        with naming(self.path):
            rows = self._file.read_row_group(group, use_threads=False).to_pylist()
        for number, cells in enumerate(rows, start=self._starts[group]):
            try:
                digest = cells.pop("digest")
                cells = {name: cell for name, cell in cells.items() if not (cell is None and name in unset)}
                values = {name: nested[name](cell) if name in nested else cell for name, cell in cells.items()}
                record = msgspec.convert(values, self.kind)
                if record.digest != digest:
                    raise ValueError(f"row {number} differs from its digest")
                yield record
            except (msgspec.DecodeError, LookupError, TypeError, ValueError) as error:
                if not only_intact:
                    what = f"not a table of {self.kind.__name__} records: {error}"
                    raise PunchlineError(what, file=self.path, hint=REBUILD) from error


class Part(Sequence[R]):
    """Some records of many, by their places."""

    def __init__(self, records: Sequence[R], places: Iterable[int]) -> None:
        self._records, self._places = records, array("Q", places)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, place: Any) -> Any:
        at = self._places[place]
        return Part(self._records, at) if isinstance(place, slice) else self._records[at]


def digests_of(records: Sequence[R]) -> Iterator[str]:
    """Digests of records; of stored ones, as they stand there."""
    return digests_in(records.path) if isinstance(records, Stored) else (record.digest for record in records)


def read_table(path: str | Path, kind: type[R]) -> list[R]:
    """All of `Stored`."""
    return list(Stored(path, kind))


def intact(path: str | Path, kind: type[R]) -> Iterator[R]:
    """The records of a table that are as they were written; those of a file that is not there, or damaged, are none."""
    with suppress(FileNotFoundError, PunchlineError):
        stored = Stored(path, kind)
        for group in range(len(stored._starts) - 1):
            with suppress(PunchlineError):
                yield from stored._read_group(group, only_intact=True)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """What is wrong with a parquet file becomes a PunchlineError; one that is not there stays FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        raise PunchlineError(f"unreadable parquet: {error}", file=path, hint=REBUILD) from error


def rows_in(path: str | Path, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Some columns of a table of records, unchecked, row by row. Raises PunchlineError for a file that is not one."""
    with naming(path), Path(path).open("rb") as stream:
        file = open_parquet(stream)  # its own iter_batches keeps what it read of each group
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, list(columns), use_threads=False)
            yield from zip(*(table[column].to_pylist() for column in columns), strict=True)


def values_in(path: str | Path, column: str) -> Iterator[Any]:
    """One column of a table of records, unchecked."""
    return (value for (value,) in rows_in(path, [column]))


def digests_in(path: str | Path) -> Iterator[str]:
    """The digests of a table's records, unchecked."""
    return values_in(path, "digest")
