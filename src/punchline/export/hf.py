"""A data set as the package datasets reads it: Parquet files, pictures inside, and a card that names them.

https://huggingface.co/docs/datasets/repository_structure, https://huggingface.co/docs/hub/datasets-cards
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from punchline.config.runs import selection_text
from punchline.core.benchmark import load
from punchline.export.samples import Sample, Shown, samples, shown
from punchline.files import replacing, write_text
from punchline.project.needs import Project
from punchline.report.items import prompt
from punchline.report.pictures import content
from punchline.schema import canonical

ROWS = 200  # written at a time: pictures are large

_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_GRADE = pa.struct(
    [
        ("rule", _TEXT),
        ("task", _TEXT),
        ("state", _TEXT),
        ("scored", pa.bool_()),
        ("parsed", _TEXTS),
        ("values", _TEXT),
        ("judge", _TEXT),
        ("signature", _TEXT),
    ]
)
_HEARD = pa.struct(
    [(name, _TEXT) for name in ("hop", "who", "question", "answer", "state", "request_id", "response_digest")]
)
ITEMS = {
    "item_id": _TEXT,
    "source": _TEXT,
    "cluster": _TEXT,
    "images": pa.list_(_IMAGE),
    "image_sha256": _TEXTS,
    "licence": _TEXT,
    "credit": _TEXT,
    "url": _TEXT,
    "fields": _TEXT,
    "gold": _TEXT,
}
ANSWERS = {
    "model": _TEXT,
    "item_id": _TEXT,
    "task": _TEXT,
    "condition": _TEXT,
    "sample": pa.int64(),
    "question": _TEXT,
    "answer": _TEXT,
    "state": _TEXT,
    "finish_reason": _TEXT,
    "prompt_tokens": pa.int64(),
    "completion_tokens": pa.int64(),
    "engine": _TEXT,
    "request_id": _TEXT,
    "response_digest": _TEXT,
    "grades": pa.list_(_GRADE),
    "heard": pa.list_(_HEARD),
}


def _plain(value: Any) -> str:
    return canonical(value).decode()


def item_row(one: Shown) -> dict[str, Any]:
    """An item as a row of `ITEMS`."""
    item = one.item
    held = [{"bytes": content(image), "path": Path(image.path).name} for image in item.images] if one.held else []
    return {
        "item_id": item.item_id,
        "source": item.source,
        "cluster": item.cluster,
        "images": held,
        "image_sha256": [image.sha256 for image in item.images],
        "licence": one.right.licence,
        "credit": one.right.credit,
        "url": one.right.url,
        "fields": _plain(item.fields),
        "gold": _plain(one.gold.values),
    }


def _answer(model: str, sample: Sample) -> dict[str, Any]:
    request, response = sample.request, sample.response
    return {
        "model": model,
        "item_id": request.item_id,
        "task": request.task,
        "condition": request.condition,
        "sample": request.sample,
        "question": prompt(request),
        "answer": response.text,
        "state": response.state,
        "finish_reason": response.finish_reason,
        "prompt_tokens": response.usage.prompt,
        "completion_tokens": response.usage.completion,
        "engine": f"{response.engine} {response.engine_version}",
        "request_id": request.request_id,
        "response_digest": response.digest,
        "grades": [
            {
                **{name: getattr(grade, name) for name in ("rule", "task", "state", "scored", "judge", "signature")},
                "parsed": None if grade.parsed is None else list(grade.parsed),
                "values": _plain(grade.metrics),
            }
            for grade in sample.grades
        ],
        "heard": [
            {
                "hop": one.hop,
                "who": one.who,
                "question": prompt(one.request),
                "answer": one.response.text,
                "state": one.response.state,
                "request_id": one.response.request_id,
                "response_digest": digest,
            }
            for digest, one in sample.heard.items()
        ],
    }


def _feature(kind: pa.DataType) -> Any:
    """A column's type in the words of datasets."""
    if kind == _IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    return {"dtype": str(kind), "_type": "Value"}


def write_rows(path: Path, columns: Mapping[str, pa.DataType], rows: Iterable[Mapping[str, Any]]) -> None:
    """A Parquet file that datasets takes its columns' types from."""
    features = {name: _feature(kind) for name, kind in columns.items()}
    about = json.dumps({"info": {"features": features}})
    schema = pa.schema(list(columns.items()), metadata={"huggingface": about})
    with replacing(path) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for some in iter(partial(lambda left: list(islice(left, ROWS)), iter(rows)), []):
            writer.write_table(pa.Table.from_pylist(some, schema))


def _answers(project: Project, benchmark: str, items: Mapping[str, Shown]) -> Iterator[dict[str, Any]]:
    for model in project.selection.models:
        for sample in samples(project, benchmark, model, items):
            yield _answer(model, sample)


def write(project: Project, folder: Path, pictures: str) -> list[str]:
    """The data set: of each benchmark its items, and all models' answers to it."""
    configs, left_out = [], 0
    for benchmark in project.selection.benchmarks:
        items = {one.item.item_id: one for one in shown(project, benchmark, pictures)}
        left_out += sum(not one.held and bool(one.item.images) for one in items.values())
        kinds = {
            "items": (ITEMS, map(item_row, items.values())),
            "answers": (ANSWERS, _answers(project, benchmark, items)),
        }
        for kind, (columns, rows) in kinds.items():
            file = f"{benchmark}/{kind}.parquet"
            write_rows(folder / file, columns, rows)
            configs.append({"config_name": f"{benchmark}-{kind}", "data_files": [{"split": "test", "path": file}]})
    write_text(folder / "README.md", card(project, configs))
    return (
        [f"{left_out:,} items without their pictures, which may not be passed on: --pictures all"] if left_out else []
    )


def card(project: Project, configs: list[dict[str, Any]]) -> str:
    """The dataset card."""
    head = {"pretty_name": "Punchline", "license": "other", "tags": ["humor", "comics"], "configs": configs}
    cited = "\n".join(
        f"- {name}: {(load(name).__doc__ or '').strip().splitlines()[0]}" for name in project.selection.benchmarks
    )
    return f"""---
{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---

# Answers to questions about comics

Made by Punchline of: {selection_text(project.selection)}.

{cited}

Each benchmark has `items` and `answers`. Where a picture is missing its licence forbids to pass it on, or is not known:
`url` is where it was published. `licence` and `credit` are those of the picture. What benchmarks published, questions
and labels, is under their own licences. `fields`, `gold` and the `values` of grades are JSON; a grade is one rule's
(`released`: the benchmark's code as it was published, `paper`: what its paper describes). `heard` is what judges and
scorers were asked about an answer, and said. `state` is ok, missing,
failed, refused or, in grades, unparsable. `image_sha256` is of the pictures as models saw them.
"""
