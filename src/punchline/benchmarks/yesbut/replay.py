"""Released answers to YesBut: a folder a model, with a file a prompt."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import msgspec

from punchline.benchmarks.annotations import json_rows
from punchline.benchmarks.released import Answer, Answers, Select, no_select
from punchline.benchmarks.yesbut import KINDS, NAME, PROMPTS

TASK_OF = {f"{kind}_prompt{k}.json": f"{kind}_{k}" for kind in KINDS for k in PROMPTS}  # file: task
FILES = tuple(TASK_OF)


class ReleasedAnswer(msgspec.Struct, frozen=True):
    """An answer about one comic; the released runs copy the whole annotation into it, too."""

    output: str | None


class Description(msgspec.Struct, frozen=True):
    """A description as released for evaluate_caption, where there is no `output`."""

    output: str | None = msgspec.field(name="gen_des")


def _kind(file: str, fields: Mapping[str, Any]) -> type[ReleasedAnswer | Description]:
    renamed = file.startswith("description") and "gen_des" in fields and "output" not in fields
    return Description if renamed else ReleasedAnswer


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Answers to YesBut: {name of FILES: JSON list of {"image_file": …, "output": text or null}}.

    Raises PunchlineError, naming file and record, for content that is not such JSON, for a comic that a file answers
    twice, for a record without an output, and for any `select`.
    """
    no_select(select, path, NAME)
    answers: dict[str, dict[str, Answer]] = {}
    for name, content in files.items():
        file, hint = f"{path.rstrip('/')}/{name}", 'Expected a list of {"image_file": "00001.jpg", "output": "…"}'
        rows = json_rows(content, functools.partial(_kind, name), file=file, key="image_file", hint=hint)
        for image_file, row in rows.items():
            answers.setdefault(image_file, {})[TASK_OF[name]] = Answer(row.output)
    return answers
