"""Scores: one Parquet file per benchmark and model, one row per answer and rule, one column per metric.

docs/notebooks.md lists the columns. pandas.read_parquet and a group-by give the numbers of the papers' tables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from punchline.core.storage import naming, open_parquet, write_groups
from punchline.errors import PunchlineError, check_known
from punchline.files import REBUILD
from punchline.schema import STATES, Gold, Item, Rule, Score, canonical

Digests = npt.NDArray[np.void]  # 32 bytes each
DIGEST = np.dtype("V32")
EXTRACTED = "|extractor:"  # in the signature of a score whose answer an extractor has read
ItemColumn = Callable[[Item, Gold], Any]

_TEXT = pa.string()
_FIELDS: dict[str, pa.DataType] = {
    **dict.fromkeys(("benchmark", "model", "item_id", "cluster", "task", "condition"), _TEXT),
    "sample": pa.int32(),
    **dict.fromkeys(("rule", "state"), _TEXT),
    **dict.fromkeys(("scored", "truncated"), pa.bool_()),
    **dict.fromkeys(("parsed", "gold"), _TEXT),  # JSON lists of labels
    **dict.fromkeys(("judge", "signature", "gold_digest"), _TEXT),
    "responses": pa.list_(_TEXT),
}
_WORDS = ("task", "condition", "parsed", "gold", "judge", "signature", "gold_digest")
FRAME = ("item_id", "sample", "state", "scored", "truncated", *_WORDS, "digest")


def write_scores(path: str | Path, scores: Iterable[Score], metrics: Sequence[str]) -> None:
    """Write scores, a row group at a time; null where a score does not have one of the benchmark's `metrics`.

    Raises PunchlineError for a metric that the benchmark does not declare.
    """
    write_groups(path, scores, functools.partial(_table, metrics=metrics))


def _table(scores: Sequence[Score], metrics: Sequence[str]) -> pa.Table:
    for name in dict.fromkeys(name for score in scores for name in score.metrics):
        file = f"src/punchline/benchmarks/{scores[0].benchmark}/__init__.py"
        check_known(name, metrics, f"{name!r} is not among the benchmark's metrics", file=file, field="METRICS")
    columns: dict[str, list[Any]] = {name: [getattr(score, name) for score in scores] for name in _FIELDS}
    for name in ("parsed", "gold"):
        columns[name] = [None if labels is None else canonical(labels).decode() for labels in columns[name]]
    columns |= {name: [score.metrics.get(name) for score in scores] for name in metrics}
    columns["digest"] = [score.digest for score in scores]
    return pa.table(columns, pa.schema({**_FIELDS, **dict.fromkeys(metrics, pa.float64()), "digest": _TEXT}))


def read_scores(path: str | Path, *, verify: bool = True) -> Iterator[Score]:
    """Scores of a file. `verify`: each against its digest. Raises PunchlineError naming the row that differs."""
    with naming(path), open_parquet(path) as file:
        metrics, labels = _metrics_in(file, path), functools.cache(msgspec.json.Decoder(tuple[str, ...]).decode)
        groups = (file.read_row_group(group, use_threads=False) for group in range(file.num_row_groups))
        for row, cells in enumerate(cells for group in groups for cells in group.to_pylist()):
            digest, responses = cells.pop("digest"), tuple(cells.pop("responses"))
            cells |= {name: labels(cells[name]) for name in ("parsed", "gold") if cells[name] is not None}
            values = {name: value for name in metrics if (value := cells.pop(name)) is not None}
            score = Score(**cells, responses=responses, metrics=values)
            if verify and score.digest != digest:
                record = f"row {row}"
                raise PunchlineError("the score differs from its digest", file=path, record=record, hint=REBUILD)
            yield score


def _metrics_in(file: pq.ParquetFile, path: str | Path) -> list[str]:
    """The metrics that a file has. Raises PunchlineError for one that is not a file of scores."""
    kinds = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
    if wrong := [name for name, kind in {**_FIELDS, "digest": _TEXT}.items() if kinds.get(name) != kind]:
        raise PunchlineError("not a file of scores", file=path, field=wrong[0], hint=REBUILD)
    return [name for name in kinds if name not in _FIELDS and name != "digest"]


def items_frame(
    items: Mapping[str, Item], golds: Mapping[str, Gold], columns: Mapping[str, ItemColumn] = {}
) -> pd.DataFrame:
    """Items by item_id in released order: their cluster, and what a benchmark's tables need of each (`columns`)."""
    rows = [(item.cluster, *(make(item, golds[name]) for make in columns.values())) for name, item in items.items()]
    index = pd.Index(list(items), name="item_id", dtype=object)
    frame = pd.DataFrame(rows, index=index, columns=["cluster", *columns])
    clusters = sorted(set(frame["cluster"]))
    frame["cluster"] = pd.Categorical(frame["cluster"], categories=pd.Index(clusters, dtype=object))
    return frame


def scores_frame(
    source: str | Path | Iterable[Score], items: pd.DataFrame, rule: Rule, metrics: Sequence[str] = ()
) -> tuple[pd.DataFrame, Digests]:
    """(scores under one rule, their digests by row): a row per answer, NaN where it does not have a metric.

    Columns: item_id and cluster (categories shared by all models of a benchmark), task, condition, sample, state,
    scored, truncated, extracted (by an extractor), parsed and gold (JSON lists of labels), judge, signature,
    gold_digest, one per metric, and `row`, the row's number. Answers to items that `items` does not have are left out.
    `source`: a file, or scores with `metrics`, all that their benchmark declares.
    """
    if isinstance(source, str | Path):
        with naming(source), open_parquet(source) as file:
            metrics = _metrics_in(file, source)
            return _frame(file.read([*FRAME, "rule", *metrics], use_threads=False), items, rule, metrics)
    return _frame(_table(list(source), metrics), items, rule, metrics)


def metrics_of(scores: pd.DataFrame) -> list[str]:
    """Names of the metrics that a frame of scores has."""
    return [name for name in scores.columns if name not in (*FRAME, "cluster", "extracted", "row")]


def _frame(table: pa.Table, items: pd.DataFrame, rule: Rule, metrics: Sequence[str]) -> tuple[pd.DataFrame, Digests]:
    table = table.filter(pc.equal(table["rule"], rule))
    place = items.index.get_indexer(pd.Index(table["item_id"].to_pylist(), dtype=object))
    table, place = table.filter(pa.array(place >= 0)), place[place >= 0]
    columns: dict[str, Any] = {"item_id": pd.Categorical.from_codes(place, categories=items.index)}
    columns["cluster"] = items["cluster"].array.take(place)
    for name in _WORDS:
        encoded = table[name].combine_chunks().dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)  # null is no category
        words = pd.Index(encoded.dictionary.to_pylist(), dtype=object)
        columns[name] = pd.Categorical.from_codes(codes, categories=words)
    states = [*map(STATES.index, table["state"].to_pylist())]
    columns["state"] = pd.Categorical.from_codes(states, categories=pd.Index(STATES, dtype=object))
    columns["sample"] = table["sample"].to_numpy()
    for name, kind in {"scored": bool, "truncated": bool, **dict.fromkeys(metrics, float)}.items():
        columns[name] = table[name].to_numpy(zero_copy_only=False).astype(kind)
    signatures = [EXTRACTED in text for text in columns["signature"].categories]
    columns["extracted"] = np.isin(columns["signature"].codes, np.flatnonzero(signatures))
    columns["row"] = np.arange(len(table), dtype=np.int32)
    digests = np.frombuffer(bytes.fromhex("".join(table["digest"].to_pylist())), DIGEST)
    return pd.DataFrame(columns), digests
