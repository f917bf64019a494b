"""A data set as the package datasets reads it: Parquet files, pictures inside, and a card that names them.

https://huggingface.co/docs/datasets/repository_structure, https://huggingface.co/docs/hub/datasets-cards
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from punchline.artifacts.project import Project
from punchline.config.runs import selection_text
from punchline.core.benchmark import load
from punchline.export.samples import Sample, Shown, samples, shown
from punchline.files import replacing, write_text
from punchline.report.items import pick_fields, prompt
from punchline.report.pictures import content
from punchline.schema import Request, Response, canonical

ROWS = 200  # written at a time: pictures are large

_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())
_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_SCORE = pa.struct(
    [
        *((name, _TEXT) for name in ("rule", "task", "state")),
        ("scored", pa.bool_()),
        ("parsed", _TEXTS),
        *((name, _TEXT) for name in ("values", "judge", "signature")),
    ]
)
_HEARD = pa.struct(
    [(name, _TEXT) for name in ("hop", "who", "question", "answer", "state", "request_id", "response_digest")]
)
ITEMS = {
    **dict.fromkeys(("item_id", "source", "cluster"), _TEXT),
    "images": pa.list_(_IMAGE),
    "image_sha256": _TEXTS,
    **dict.fromkeys(("licence", "credit", "url", "fields", "gold"), _TEXT),
}
ANSWERS = {
    **dict.fromkeys(("model", "item_id", "task", "condition"), _TEXT),
    "sample": pa.int64(),
    **dict.fromkeys(("question", "answer", "state", "finish_reason"), _TEXT),
    **dict.fromkeys(("prompt_tokens", "completion_tokens"), pa.int64()),
    **dict.fromkeys(("engine", "request_id", "response_digest"), _TEXT),
    "grades": pa.list_(_SCORE),
    "heard": pa.list_(_HEARD),
}


def item_row(one: Shown) -> dict[str, Any]:
    """An item as a row of `ITEMS`."""
    item = one.item
    return {
        **pick_fields(item, "item_id", "source", "cluster"),
        "images": [{"bytes": content(i), "path": Path(i.path).name} for i in item.images if one.held],
        "image_sha256": [image.sha256 for image in item.images],
        **pick_fields(one.right, "licence", "credit", "url"),
        "fields": canonical(item.fields).decode(),
        "gold": canonical(one.gold.values).decode(),
    }


def _asked(request: Request, response: Response) -> dict[str, Any]:
    """The columns that answers and judge verdicts share."""
    return {
        "question": prompt(request),
        "answer": response.text,
        "response_digest": response.digest,
        **pick_fields(response, "state", "request_id"),
    }


def _answer(model: str, sample: Sample) -> dict[str, Any]:
    """An answer as a row of `ANSWERS`."""
    response = sample.response
    return {
        "model": model,
        **pick_fields(sample.request, "item_id", "task", "condition", "sample"),
        **_asked(sample.request, response),
        "finish_reason": response.finish_reason,
        "prompt_tokens": response.usage.prompt,
        "completion_tokens": response.usage.completion,
        "engine": f"{response.engine} {response.engine_version}",
        "grades": [
            pick_fields(score, "rule", "task", "state", "scored", "parsed", "judge", "signature")
            | {"values": canonical(score.metrics).decode()}
            for score in sample.grades
        ],
        "heard": [pick_fields(one, "hop", "who") | _asked(one.request, one.response) for one in sample.heard.values()],
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
    about = json.dumps({"info": {"features": {name: _feature(kind) for name, kind in columns.items()}}})
    schema = pa.schema(list(columns.items()), metadata={"huggingface": about})
    with replacing(path) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        rest = iter(rows)
        while group := list(islice(rest, ROWS)):
            writer.write_table(pa.Table.from_pylist(group, schema))


def write(project: Project, folder: Path, pictures: str) -> list[str]:
    """The data set: of each benchmark its items, and all models' answers to it."""
    configs, left_out = [], 0
    for benchmark in project.selection.benchmarks:
        items = shown(project, benchmark, pictures)
        left_out += sum(one.withheld for one in items.values())
        answers = (
            _answer(model, sample)
            for model in project.selection.models
            for sample in samples(project, benchmark, model, items)
        )
        kinds = {"items": (ITEMS, map(item_row, items.values())), "answers": (ANSWERS, answers)}
        for kind, (columns, rows) in kinds.items():
            file = f"{benchmark}/{kind}.parquet"
            write_rows(folder / file, columns, rows)
            configs.append({"config_name": f"{benchmark}-{kind}", "data_files": [{"split": "test", "path": file}]})
    write_text(folder / "README.md", card(project, configs))
    without = f"{left_out:,} items without their pictures, which may not be passed on: --pictures all"
    return [without] if left_out else []


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
