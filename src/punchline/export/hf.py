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
from punchline.export.samples import ExportItem, Sample, export_items, samples
from punchline.files import replacing, write_text
from punchline.report.items import pick_fields, prompt
from punchline.report.pictures import content
from punchline.schema import Request, Response, canonical

ROWS = 200  # written at a time: pictures are large

_TEXT, _TEXTS, _WHOLE = pa.string(), pa.list_(pa.string()), pa.int64()
_IMAGES = pa.list_(pa.struct([("bytes", pa.binary()), ("path", _TEXT)]))
_FEATURES = {"images": {"feature": {"_type": "Image"}, "_type": "List"}}  # other types are as Parquet has them


def _texts(names: str) -> dict[str, pa.DataType]:
    return dict.fromkeys(names.split(), _TEXT)


_SCORE = {**_texts("rule task state"), "scored": pa.bool_(), "parsed": _TEXTS, **_texts("values judge signature")}
_HEARD = _texts("hop who question answer state request_id response_digest")
ITEMS = {**_texts("item_id source cluster"), "images": _IMAGES, "image_sha256": _TEXTS}
ITEMS |= _texts("licence credit url fields gold")
ANSWERS = {**_texts("model item_id task condition"), "sample": _WHOLE, **_texts("question answer state finish_reason")}
ANSWERS |= {"prompt_tokens": _WHOLE, "completion_tokens": _WHOLE, **_texts("engine request_id response_digest")}
ANSWERS |= {"grades": pa.list_(pa.struct(_SCORE)), "heard": pa.list_(pa.struct(_HEARD))}


def item_row(shown_item: ExportItem) -> dict[str, Any]:
    """An item as a row of `ITEMS`."""
    item, gold = shown_item.item, shown_item.gold
    row = pick_fields(item, "item_id", "source", "cluster") | pick_fields(shown_item.right, "licence", "credit", "url")
    row["images"] = [{"bytes": content(i), "path": Path(i.path).name} for i in item.images if shown_item.held]
    row["image_sha256"] = [image.sha256 for image in item.images]
    return row | {"fields": canonical(item.fields).decode(), "gold": canonical(gold.values).decode()}


def _columns_of(request: Request, response: Response) -> dict[str, Any]:
    """The columns that answers and judge verdicts share."""
    columns = {"question": prompt(request), "answer": response.text, "response_digest": response.digest}
    return columns | pick_fields(response, "state", "request_id")


def _answer(model: str, sample: Sample) -> dict[str, Any]:
    """An answer as a row of `ANSWERS`."""
    response, usage, verdicts = sample.response, sample.response.usage, sample.verdicts.values()
    scored = ("rule", "task", "state", "scored", "parsed", "judge", "signature")
    row = {"model": model} | pick_fields(sample.request, "item_id", "task", "condition", "sample")
    row |= _columns_of(sample.request, response) | {"engine": f"{response.engine} {response.engine_version}"}
    row |= {"finish_reason": response.finish_reason}
    row |= {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion}
    row["grades"] = [pick_fields(s, *scored) | {"values": canonical(s.metrics).decode()} for s in sample.scores]
    row["heard"] = [{"hop": v.pass_, "who": v.who} | _columns_of(v.request, v.response) for v in verdicts]
    return row


def write_rows(path: Path, columns: Mapping[str, pa.DataType], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a Parquet file that datasets takes its columns' types from."""
    about = {"info": {"features": {name: kind for name, kind in _FEATURES.items() if name in columns}}}
    schema = pa.schema(list(columns.items()), metadata={"huggingface": json.dumps(about)})
    with replacing(path) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        rest = iter(rows)
        while group := list(islice(rest, ROWS)):
            writer.write_table(pa.Table.from_pylist(group, schema))


def write(project: Project, folder: Path, pictures: str) -> None:
    """The data set: of each benchmark its items, and all models' answers to it."""
    configs, left_out = [], 0
    for benchmark in project.selection.benchmarks:
        items = export_items(project, benchmark, pictures)
        left_out += sum(bool(one.item.images) and not one.held for one in items.values())
        answers = (_answer(m, one) for m in project.selection.models for one in samples(project, benchmark, m, items))
        kinds = {"items": (ITEMS, map(item_row, items.values())), "answers": (ANSWERS, answers)}
        for kind, (columns, rows) in kinds.items():
            file = f"{benchmark}/{kind}.parquet"
            write_rows(folder / file, columns, rows)
            configs.append({"config_name": f"{benchmark}-{kind}", "data_files": [{"split": "test", "path": file}]})
    write_text(folder / "README.md", card(project, configs))
    if left_out:
        print(f"{left_out:,} items without their pictures, which may not be passed on: --pictures all")


def card(project: Project, configs: list[dict[str, Any]]) -> str:
    """The dataset card."""
    head = {"pretty_name": "Punchline", "license": "other", "tags": ["humor", "comics"], "configs": configs}
    first_lines = {name: str(load(name).__doc__).strip().splitlines()[0] for name in project.selection.benchmarks}
    cited = "\n".join(f"- {name}: {line}" for name, line in first_lines.items())
    text = Path(__file__).with_name("card.txt").read_text(encoding="utf-8")
    header = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    return text.format(head=header, selection=selection_text(project.selection), cited=cited)
