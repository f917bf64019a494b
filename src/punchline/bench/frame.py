"""A model's grades as columns: read once, only what is needed, never an object a grade."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from punchline.core.errors import PunchlineError
from punchline.core.records import STATES, Gold, Grade, Item, Rule, canonical
from punchline.core.stats import Array, Kept
from punchline.core.storage import AGAIN, BUFFER, arrow_column, batches

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.integer[Any]]
Digests = npt.NDArray[np.void]  # 32 bytes each
T = TypeVar("T")

BATCH = 10_000  # grades
DIGEST = np.dtype("V32")
TRUNCATED = 1 << len(STATES)


def packed(digests: Iterable[str]) -> Digests:
    """Digests as their bytes: [n]. Raises ValueError for what is none."""
    return np.frombuffer(bytes.fromhex("".join(digests)), DIGEST)


class Scope(Kept):
    """Items and gold of a selection; whatever is said of items here is in the order of `names`."""

    def __init__(self, items: Mapping[str, Item], golds: Mapping[str, Gold]) -> None:
        super().__init__()
        self.items = items
        self.golds = golds
        self.names = list(items)
        self.place = {name: place for place, name in enumerate(self.names)}
        _, ranks = np.unique([item.cluster for item in items.values()], return_inverse=True)
        self.clusters: Places = ranks.astype(np.int32)  # each item's, ranked by name

    def __len__(self) -> int:
        return len(self.names)

    @functools.cached_property
    def everything(self) -> Flags:
        return np.ones(len(self), dtype=np.bool_)

    def such(self, holds: Callable[[Gold], object]) -> Flags:
        """The items whose gold is there and such."""
        golds = (self.golds.get(name) for name in self.names)
        return np.fromiter((gold is not None and bool(holds(gold)) for gold in golds), np.bool_, len(self))


class Texts(NamedTuple):
    """A column of texts or the like: row i holds `words[codes[i]]`."""

    codes: Places
    words: list[Any]

    def at(self, rows: Places) -> Texts:
        return self._replace(codes=self.codes[rows])

    def are(self, *wanted: Any) -> Flags:
        """Which rows hold one of these."""
        return np.isin(self.codes, [code for code, word in enumerate(self.words) if word in wanted])

    def each(self) -> list[Any]:
        """What every row holds."""
        return [self.words[code] for code in self.codes]

    def used(self) -> list[Any]:
        """The words that some row holds."""
        return [self.words[code] for code in np.unique(self.codes)]


class Values(NamedTuple):
    """A value of those grades that have it."""

    rows: Places  # ascending, among all grades that were read
    values: Array


@dataclass(frozen=True, eq=False)
class Frame:
    """Grades of one model under one rule: row i of every column is a grade.

    Some of the grades are places among all that were read; their columns are made when they are asked for.
    """

    scope: Scope
    rule: Rule
    read: Mapping[str, Any]  # columns of all grades that were read
    data: Mapping[str, Values]  # values of them by name
    task: Texts
    rows: Places | None = None  # which of them; None: all
    kept: Kept = field(default_factory=Kept)

    def __len__(self) -> int:
        return len(self.task.codes)

    def _column(self, name: str) -> Any:
        return self.read[name] if self.rows is None else self.read[name][self.rows]

    def _texts(self, name: str) -> Texts:
        found: Texts = self.read[name]
        return found if self.rows is None else found.at(self.rows)

    @property
    def item(self) -> Places:
        """Its place in the scope."""
        return np.asarray(self._column("item"), dtype=np.int64)

    @property
    def sample(self) -> Places:
        """From 0."""
        return np.asarray(self._column("sample"), dtype=np.int64)

    @property
    def condition(self) -> Texts:
        """In which it was asked."""
        return self._texts("condition")

    @property
    def judge(self) -> Texts:
        """Who judged it; None: nobody."""
        return self._texts("judge")

    @property
    def signature(self) -> Texts:
        """How it was scored."""
        return self._texts("signature")

    @property
    def gold(self) -> Texts:
        """Digests of what it was scored against."""
        return self._texts("gold")

    @property
    def parsed(self) -> Texts:
        """What was read of the answer, where that matters."""
        return self._texts("parsed")

    @property
    def state(self) -> Places:
        """Its place among STATES."""
        return np.asarray(self._column("state"), dtype=np.int64)

    @property
    def scored(self) -> Flags:
        """Whether it counts."""
        return np.asarray(self._column("scored"))

    @property
    def truncated(self) -> Flags:
        """Whether a limit of tokens cut the answer off."""
        return np.asarray(self._column("truncated"))

    @property
    def digest(self) -> Digests:
        """The digest of every grade."""
        return np.asarray(self._column("digest"))

    def value(self, name: str) -> Array:
        """A value of every grade; NaN where it has none of that name."""
        made = np.full(len(self), np.nan)
        rows, values = self.data.get(name, _NONE)
        if self.rows is None:
            made[rows] = values
        elif len(rows):
            at = np.minimum(np.searchsorted(rows, self.rows), len(rows) - 1)
            there = rows[at] == self.rows
            made[there] = values[at[there]]
        return made

    def having(self, values: Mapping[str, Array]) -> Frame:
        """The same grades with other values, [grades] each."""
        own = np.arange(len(self)) if self.rows is None else self.rows
        order = np.argsort(own)
        there = {name: order[~np.isnan(found[order])] for name, found in values.items()}
        data = {name: Values(own[which], values[name][which]) for name, which in there.items()}
        return replace(self, data=data, kept=Kept())

    @property
    def clusters(self) -> Places:
        return self.scope.clusters[self.item]

    @property
    def attempted(self) -> bool:
        """Whether there is anything but missing answers."""
        return bool((self.state != STATES.index("missing")).any())

    @property
    def answered(self) -> Flags:
        """Answers that are there: neither missing nor failed."""
        return ~np.isin(self.state, [STATES.index("missing"), STATES.index("failed")])

    def take(self, rows: Places | Flags) -> Frame:
        """Some of the grades."""
        chosen: Places = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, dtype=np.int64)
        own = (chosen if self.rows is None else self.rows[chosen]).astype(np.int32)
        return replace(self, rows=own, task=self.task.at(chosen), kept=Kept())

    def of(self, tasks: Collection[str] | None = None, conditions: Collection[str] | None = None) -> Frame:
        """The grades of some tasks, or conditions, or both."""
        wanted = tuple(None if names is None else tuple(sorted(names)) for names in (tasks, conditions))

        def make() -> Frame:
            chosen = np.ones(len(self), dtype=np.bool_)
            for column, names in zip((self.task, self.condition), wanted, strict=True):
                chosen &= True if names is None else column.are(*names)
            return self if chosen.all() else self.take(chosen)

        return self.kept.once(wanted, make)

    def on(self, items: Flags) -> Frame:
        """The grades of some of the scope's items."""
        return self if items.all() else self.take(items[self.item])

    def called(self, task: str, rows: Flags) -> Frame:
        """The same grades, some of them as those of a task of that name."""
        codes = self.task.codes.astype(np.int32)
        codes[rows] = len(self.task.words)
        return replace(self, task=Texts(codes, [*self.task.words, task]), kept=Kept())

    @property
    def samples(self) -> int:
        """Of each request."""
        return int(self.sample.max(initial=0)) + 1

    @property
    def unit(self) -> Places:
        """Whose each grade is: an item's, each sample by itself; item * samples + sample."""
        return np.asarray(self.item * self.samples + self.sample)

    def states(self, task: str, condition: str) -> npt.NDArray[np.uint8]:
        """[items, samples]: the state of each answer to a task, a bit each in the order of STATES; then TRUNCATED."""

        def make() -> npt.NDArray[np.uint8]:
            own = self.of([task], [condition])
            bits = np.zeros((len(self.scope), self.samples), dtype=np.uint8)
            found = 1 << own.state | TRUNCATED * own.truncated
            np.bitwise_or.at(bits, (own.item, own.sample), found.astype(np.uint8))
            return bits

        return self.kept.once(("states", task, condition), make)


# ---------------------------------------------------------------------------------------------------------- reading

_NONE = Values(np.empty(0, np.int32), np.empty(0))
_FIELDS = (
    *("item_id", "task", "condition", "sample", "judge", "rule", "signature", "gold"),
    *("state", "scored", "truncated", "parsed", "values", "digest"),
)
_TEXTS = ("task", "condition", "judge", "signature", "gold", "state")
_VALUES = msgspec.json.Decoder(dict[str, float])
_PARSED = msgspec.json.Decoder(tuple[str, ...] | None)


def _numbers(column: pa.Array) -> npt.NDArray[Any]:
    """As its to_numpy() gives them, which imports pandas."""
    return np.from_dlpack(column)


class _Growing:
    """A column batch by batch, in one piece of memory and, of integers, in as few bytes as hold them."""

    def __init__(self, kind: Any) -> None:
        self.values, self.count = np.empty(0, dtype=kind), 0

    def add(self, values: npt.NDArray[Any]) -> None:
        end = self.count + len(values)
        if values.dtype.itemsize > self.values.dtype.itemsize:
            self.values = self.values.astype(values.dtype)
        if end > len(self.values):
            self.values.resize(max(end, len(self.values) * 5 // 4), refcheck=False)
        self.values[self.count : end] = values
        self.count = end

    def whole(self) -> Any:
        self.values.resize(self.count, refcheck=False)
        return self.values


class _Words:
    """Texts batch by batch, each different one read once."""

    def __init__(self, read: Callable[[str], Any] = lambda text: text) -> None:
        self.read = read
        self.codes: dict[str, int] = {}
        self.words: list[Any] = []
        self.rows = _Growing(np.uint8)

    def add(self, column: pa.Array) -> None:
        found = column.dictionary_encode(null_encoding="encode")
        codes = []
        for text in found.dictionary.to_pylist():
            if text not in self.codes:
                self.codes[text] = len(self.words)
                self.words.append(None if text is None else self.read(text))
            codes.append(self.codes[text])
        self.rows.add(np.array(codes, dtype=np.min_scalar_type(len(self.words)))[_numbers(found.indices)])

    def texts(self) -> Texts:
        return Texts(self.rows.whole(), self.words)


class _Reader:
    """A frame, batch by batch."""

    def __init__(self, scope: Scope, rule: Rule, parsed: Collection[str]) -> None:
        self.scope, self.rule, self.parsed_of = scope, rule, arrow_column(sorted(parsed), pa.string())
        self.of_rule = arrow_column([rule], pa.string())[0]  # a str would do, and import pandas
        self.words = {name: _Words() for name in _TEXTS}
        self.words["parsed"] = _Words(_PARSED.decode)
        kinds = {"item": np.int32, "sample": np.uint8, "scored": np.bool_, "truncated": np.bool_, "digest": DIGEST}
        self.columns = {name: _Growing(kind) for name, kind in kinds.items()}
        self.values: dict[str, tuple[_Growing, _Growing]] = {}  # rows and values

    def add(self, batch: pa.RecordBatch) -> None:
        batch = batch.filter(pc.equal(batch["rule"], self.of_rule))
        items = batch["item_id"].dictionary_encode()
        places = [self.scope.place.get(name, -1) for name in items.dictionary.to_pylist()]
        item = np.array(places, dtype=np.int32)[_numbers(items.indices)]
        if (item < 0).any():
            batch, item = batch.filter(pa.array(item >= 0)), item[item >= 0]
        if not len(batch):
            return
        for name in _TEXTS:
            self.words[name].add(batch[name])
        none = pa.nulls(len(batch), pa.string())
        self.words["parsed"].add(pc.if_else(pc.is_in(batch["task"], self.parsed_of), batch["parsed"], none))
        found = batch["values"].dictionary_encode()
        read = [_VALUES.decode(text) for text in found.dictionary.to_pylist()]
        for name in {name for values in read for name in values}:
            column = np.array([values.get(name, np.nan) for values in read])[_numbers(found.indices)]
            there = np.flatnonzero(~np.isnan(column))
            rows, values = self.values.setdefault(name, (_Growing(np.int32), _Growing(np.float64)))
            rows.add((there + self.columns["item"].count).astype(np.int32))
            values.add(column[there])
        self.columns["item"].add(item)
        sample = _numbers(batch["sample"])
        self.columns["sample"].add(sample.astype(np.min_scalar_type(int(sample.max()))))
        for name in ("scored", "truncated"):
            self.columns[name].add(_numbers(batch[name].cast(pa.uint8())).astype(np.bool_))
        self.columns["digest"].add(packed(batch["digest"].to_pylist()))

    def frame(self) -> Frame:
        columns: dict[str, Any] = {name: words.texts() for name, words in self.words.items()}
        columns |= {name: column.whole() for name, column in self.columns.items()}
        state = columns["state"]
        columns["state"] = np.array([STATES.index(word) for word in state.words] or [0], np.uint8)[state.codes]
        data = {name: Values(rows.whole(), values.whole()) for name, (rows, values) in sorted(self.values.items())}
        return Frame(self.scope, self.rule, columns, data, columns.pop("task"))


def read_frame(path: str | Path, scope: Scope, rule: Rule, parsed: Collection[str] = ()) -> Frame:
    """A file of grades, those under one rule. `parsed`: tasks of which it matters what was read.

    Items that are not in the scope are left out. Raises PunchlineError for a file that is not one.
    """
    reader = _Reader(scope, rule, parsed)
    try:
        with pq.ParquetFile(path, buffer_size=BUFFER) as file:
            for batch in batches(file, _FIELDS):
                reader.add(batch)
        return reader.frame()
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, LookupError, ValueError, TypeError) as error:
        raise PunchlineError(f"not a table of grades: {error}", file=path, way_out=AGAIN) from error


def frame_of(grades: Iterable[Grade], scope: Scope, rule: Rule) -> Frame:
    """Grades as a frame, those under one rule."""
    reader = _Reader(scope, rule, ())
    rest = iter(grades)
    while group := list(itertools.islice(rest, BATCH)):
        reader.parsed_of = pa.array({grade.task for grade in group}, pa.string())
        columns: dict[str, list[Any]] = {name: [getattr(g, name) for g in group] for name in _FIELDS}
        for name in ("parsed", "values"):
            columns[name] = [canonical(value).decode() for value in columns[name]]
        columns["judge"] = pa.array(columns["judge"], pa.string())
        reader.add(pa.RecordBatch.from_pydict(columns))
    return reader.frame()
