"""Released answers to PixelHumor: one file a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from punchline.bench.released import Answer, Answers, Members, Select, broken, kind_of, parse_json
from punchline.core.errors import PunchlineError, nearest

FILES: tuple[str, ...] = ()

# Field of the released files: task.
FIELDS = {f"Q{n}": f"Q{n}" for n in range(1, 7)} | {"panel_sequence": "Q7", "text": "Q8"}


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Answers in PixelHumor's released form: {comic_id: {"Q1": "Yes", …, "panel_sequence": "2, 1", "text": "1: …"}}.

    panel_sequence answers Q7, text answers Q8. Raises PunchlineError, naming file and place, for content that is not
    such JSON (malformed, an id or a field twice, an unknown field, an answer that is no string), and for any `select`.
    """
    if select is not None:
        raise PunchlineError(
            f"there is nothing to select ({select!r}): the format pixelhumor holds one model's answers",
            file=path,
            field="select",
            way_out="Take `select` out of the model's YAML",
        )
    (content,) = files.values()
    answers: dict[str, dict[str, str | Answer | None]] = {}
    way_out = "Expected one object {comic_id: {question: answer}}"
    for comic_id, values in _members(parse_json(content, path, way_out), path, None):
        answers[comic_id] = {}
        for field, value in _members(values, path, comic_id):
            if field not in FIELDS:
                raise PunchlineError(
                    f"unknown question {field!r}", file=path, record=comic_id, way_out=nearest(field, FIELDS)
                )
            if value is not None and not isinstance(value, str):
                raise PunchlineError(
                    f"an answer must be a string or null, not {kind_of(value)}",
                    file=path,
                    record=comic_id,
                    field=field,
                    way_out='Write what the model wrote, in quotation marks: "3", or "Pun, Surprise"',
                )
            if value is not None and broken(value):
                raise PunchlineError("half a surrogate pair is no character", file=path, record=comic_id, field=field)
            answers[comic_id][FIELDS[field]] = value
    return answers


def _members(value: Any, file: str, record: str | None) -> Members:
    """Checked members of an object: names that are text, each once."""
    if not isinstance(value, Members):
        expected = "{comic_id: {question: answer}}" if record is None else '{"Q1": answer, "Q2": answer, …}'
        raise PunchlineError(
            f"expected an object, not {kind_of(value)}", file=file, record=record, way_out=f"Expected {expected}"
        )
    seen = set()
    for name, _ in value:
        if broken(name):
            raise PunchlineError(f"half a surrogate pair in the name {name!r}", file=file, record=record)
        if name in seen:
            what = "comic" if record is None else "question"
            raise PunchlineError(
                f"the {what} {name!r} is there twice", file=file, record=record, way_out="Keep one of them"
            )
        seen.add(name)
    return value
