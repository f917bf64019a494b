"""Released answers to PixelHumor: one file a model."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, UnsetType

from punchline.benchmarks.annotations import json_rows
from punchline.benchmarks.pixelhumor import NAME
from punchline.benchmarks.released import Answers, Select, no_select

FILES: tuple[str, ...] = ()

Said = str | None | UnsetType
TASK_OF = {"panel_sequence": "Q7", "text": "Q8"}  # fields of other names than their task's


class Comic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answers about one comic."""

    Q1: Said = UNSET
    Q2: Said = UNSET
    Q3: Said = UNSET
    Q4: Said = UNSET
    Q5: Said = UNSET
    Q6: Said = UNSET
    panel_sequence: Said = UNSET
    text: Said = UNSET


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Answers in PixelHumor's released form: {comic_id: {"Q1": "Yes", …, "panel_sequence": "2, 1", "text": "1: …"}}.

    Raises PunchlineError, naming file and place, for content that is not such JSON, and for any `select`.
    """
    no_select(select, path, NAME)
    (content,) = files.values()
    rows = json_rows(content, Comic, file=path, ids=None, hint='Expected {comic_id: {"Q1": "3", "text": "1: …"}}')
    return {
        comic_id: {
            TASK_OF.get(field, field): value
            for field, value in msgspec.structs.asdict(comic).items()
            if not isinstance(value, UnsetType)
        }
        for comic_id, comic in rows.items()
    }
