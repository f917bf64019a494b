"""Released answers to PixelHumor: one file a model."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, UnsetType

from punchline.benchmarks.annotations import json_rows
from punchline.benchmarks.pixelhumor import NAME, TASKS
from punchline.benchmarks.released import Answer, Answers, Select, no_select

FILES: tuple[str, ...] = ()

_NAMES = {"Q7": "panel_sequence", "Q8": "text"}  # fields of other names than their task's
_FIELDS = [(t, str | None | UnsetType, msgspec.field(name=_NAMES.get(t, t), default=UNSET)) for t in TASKS]
Comic = msgspec.defstruct("Comic", _FIELDS, frozen=True, forbid_unknown_fields=True)  # answers about one comic, by task


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Answers in PixelHumor's released form: {comic_id: {"Q1": "Yes", …, "panel_sequence": "2, 1", "text": "1: …"}}.

    Raises PunchlineError, naming file and place, for content that is not such JSON, and for any `select`.
    """
    no_select(select, path, NAME)
    (content,) = files.values()
    rows = json_rows(content, Comic, file=path, hint='Expected {comic_id: {"Q1": "3", "text": "1: …"}}')
    return {
        comic_id: {task: Answer(text) for task, text in msgspec.structs.asdict(comic).items() if text is not UNSET}
        for comic_id, comic in rows.items()
    }
