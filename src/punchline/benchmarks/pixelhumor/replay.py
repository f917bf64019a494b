"""Released answers to PixelHumor: one file a model."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, UnsetType

from punchline.benchmarks.annotations import json_rows
from punchline.benchmarks.pixelhumor import NAME
from punchline.benchmarks.released import Answers, Select, no_select

FILES: tuple[str, ...] = ()

Text = str | None | UnsetType


class Comic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answers about one comic, by task."""

    Q1: Text = UNSET
    Q2: Text = UNSET
    Q3: Text = UNSET
    Q4: Text = UNSET
    Q5: Text = UNSET
    Q6: Text = UNSET
    Q7: Text = msgspec.field(name="panel_sequence", default=UNSET)
    Q8: Text = msgspec.field(name="text", default=UNSET)


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Answers in PixelHumor's released form: {comic_id: {"Q1": "Yes", …, "panel_sequence": "2, 1", "text": "1: …"}}.

    Raises PunchlineError, naming file and place, for content that is not such JSON, and for any `select`.
    """
    no_select(select, path, NAME)
    (content,) = files.values()
    rows = json_rows(content, Comic, file=path, ids=None, hint='Expected {comic_id: {"Q1": "3", "text": "1: …"}}')
    answers = {comic_id: msgspec.structs.asdict(comic) for comic_id, comic in rows.items()}
    return {
        comic_id: {task: text for task, text in own.items() if text is not UNSET} for comic_id, own in answers.items()
    }
