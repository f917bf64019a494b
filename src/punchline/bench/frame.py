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
from punchline.core.storage import AGAIN, BUFFER

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
T = TypeVar("T")

BATCH = 10_000  # grades
TRUNCATED = 1 << len(STATES)


class Scope(Kept):
    """Items and gold of a selection; whatever is said of items here is in the order of `names`."""

    def __init__(self, items: Mapping[str, Item], golds: Mapping[str, Gold]) -> None:
        super().__init__()
        self.items = items
        self.golds = golds
        self.names = list(items)
        self.place = {name: place for place, name in enumerate(self.names)}
        _, ranks = np.unique([item.cluster for item in items.values()], return_inverse=True)
        self.clusters: Places = ranks.astype(np.int64)  # each item's, ranked by name

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


@dataclass(frozen=True, eq=False)
class Frame:
    """Grades of one model under one rule: row i of every column is a grade."""

    scope: Scope
    rule: Rule
    item: Places  # its place in the scope
    task: Texts
    condition: Texts
    sample: Places
    judge: Texts
    signature: Texts  # how it was scored
    gold: Texts  # and against what: digests
    state: Places  # its place among STATES
    scored: Flags
    truncated: Flags
    parsed: Texts
    grade: Places  # its place among the digests
    digests: npt.NDArray[np.bytes_]  # of all grades that were read
    data: Mapping[str, Array]  # values by name; NaN where a grade has none of that name
    kept: Kept = field(default_factory=Kept)

    def __len__(self) -> int:
        return len(self.item)

    def value(self, name: str) -> Array:
        """A value of every grade; NaN where it has none of that name."""
        return self.data[name] if name in self.data else np.full(len(self), np.nan)

    @property
    def digest(self) -> npt.NDArray[np.bytes_]:
        """The digest of every grade."""
        return self.digests[self.grade]

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
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        own = {name: getattr(self, name)[rows] for name in ("item", "sample", "state", "scored", "truncated", "grade")}
        texts = {
            name: getattr(self, name).at(rows) for name in ("task", "condition", "judge", "signature", "gold", "parsed")
        }
        values = {name: found[rows] for name, found in self.data.items()}
        return Frame(scope=self.scope, rule=self.rule, digests=self.digests, data=values, **own, **texts)

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
        codes = np.where(rows, len(self.task.words), self.task.codes)
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

_FIELDS = (
    *("item_id", "task", "condition", "sample", "judge", "rule", "signature", "gold"),
    *("state", "scored", "truncated", "parsed", "values", "digest"),
)
_TEXTS = ("task", "condition", "judge", "signature", "gold", "state")
_VALUES = msgspec.json.Decoder(dict[str, float])
_PARSED = msgspec.json.Decoder(tuple[str, ...] | None)


class _Growing:
    """A column batch by batch, in one piece of memory."""

    def __init__(self, kind: Any) -> None:
        self.values, self.count = np.empty(0, dtype=kind), 0

    def add(self, values: npt.NDArray[Any]) -> None:
        end = self.count + len(values)
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
        self.rows = _Growing(np.int32)

    def add(self, column: pa.Array) -> None:
        found = column.dictionary_encode(null_encoding="encode")
        codes = []
        for text in found.dictionary.to_pylist():
            if text not in self.codes:
                self.codes[text] = len(self.words)
                self.words.append(None if text is None else self.read(text))
            codes.append(self.codes[text])
        self.rows.add(np.array(codes, dtype=np.int32)[found.indices.to_numpy()])

    def texts(self) -> Texts:
        return Texts(self.rows.whole(), self.words)


class _Reader:
    """A frame, batch by batch."""

    def __init__(self, scope: Scope, rule: Rule, parsed: Collection[str]) -> None:
        self.scope, self.rule, self.parsed_of = scope, rule, pa.array(sorted(parsed), pa.string())
        self.words = {name: _Words() for name in _TEXTS}
        self.words["parsed"] = _Words(_PARSED.decode)
        kinds = {"item": np.int64, "sample": np.int64, "scored": np.bool_, "truncated": np.bool_, "digests": "S64"}
        self.columns = {name: _Growing(kind) for name, kind in kinds.items()}
        self.values: dict[str, _Growing] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        batch = batch.filter(pc.equal(batch["rule"], self.rule))
        items = batch["item_id"].dictionary_encode()
        places = [self.scope.place.get(name, -1) for name in items.dictionary.to_pylist()]
        item = np.array(places, dtype=np.int64)[items.indices.to_numpy()]
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
        for name in {name for values in read for name in values} - self.values.keys():
            self.values[name] = _Growing(np.float64)
            self.values[name].add(np.full(self.columns["item"].count, np.nan))  # the grades before have none
        for name, column in self.values.items():
            column.add(np.array([values.get(name, np.nan) for values in read])[found.indices.to_numpy()])
        self.columns["item"].add(item)
        self.columns["sample"].add(batch["sample"].to_numpy())
        for name in ("scored", "truncated"):
            self.columns[name].add(batch[name].to_numpy(zero_copy_only=False))
        self.columns["digests"].add(np.array(batch["digest"].to_pylist(), dtype="S64"))

    def frame(self) -> Frame:
        columns: dict[str, Any] = {name: words.texts() for name, words in self.words.items()}
        columns |= {name: column.whole() for name, column in self.columns.items()}
        states, data = columns.pop("state"), {name: self.values[name].whole() for name in sorted(self.values)}
        columns["state"] = np.array([STATES.index(word) for word in states.words] or [0])[states.codes]
        return Frame(scope=self.scope, rule=self.rule, grade=np.arange(len(states.codes)), data=data, **columns)


def read_frame(path: str | Path, scope: Scope, rule: Rule, parsed: Collection[str] = ()) -> Frame:
    """A file of grades, those under one rule. `parsed`: tasks of which it matters what was read.

    Items that are not in the scope are left out. Raises PunchlineError for a file that is not one.
    """
    reader = _Reader(scope, rule, parsed)
    try:
        with pq.ParquetFile(path, buffer_size=BUFFER) as file:
            for batch in file.iter_batches(BATCH, columns=list(_FIELDS), use_threads=False):
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
