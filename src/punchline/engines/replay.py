"""Released answers from a file. Nothing is asked: a model's published outputs go through the same grading as any other.

The text of an answer is what the file says; whether it is a refusal is not guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import punchline
from punchline.errors import PunchlineError, nearest
from punchline.records import ModelCard, Request, Response, State, sha256

OPTIONS = ("format", "path", "select")

# Field of the released files: task.
PIXELHUMOR_FIELDS = {f"Q{n}": f"Q{n}" for n in range(1, 7)} | {"panel_sequence": "Q7", "text": "Q8"}

Answers = dict[str, dict[str, str | None]]  # item id: {task: answer, None where the file has null}
Reader = Callable[[bytes, str, str | None], Answers]  # of a file's content, its name, and `select`


def read_pixelhumor(content: bytes, file: str, select: str | None = None) -> Answers:
    """Answers in PixelHumor's released form: {comic_id: {"Q1": "Yes", …, "panel_sequence": "2, 1", "text": "1: …"}}.

    panel_sequence answers Q7, text answers Q8. Raises PunchlineError, naming file and place, for content that is not
    such JSON (malformed, an id or a field twice, an unknown field, an answer that is no string), and for any `select`.
    """
    if select is not None:
        raise PunchlineError(
            f"there is nothing to select ({select!r}): the format pixelhumor holds one model's answers",
            file=file,
            field="select",
            way_out="Take `select` out of the model's YAML",
        )
    answers: Answers = {}
    for comic_id, values in _members(_parse(content, file), file, None):
        answers[comic_id] = {}
        for field, value in _members(values, file, comic_id):
            if field not in PIXELHUMOR_FIELDS:
                raise PunchlineError(
                    f"unknown question {field!r}", file=file, record=comic_id, way_out=nearest(field, PIXELHUMOR_FIELDS)
                )
            if value is not None and not isinstance(value, str):
                raise PunchlineError(
                    f"an answer must be a string or null, not {_kind(value)}",
                    file=file,
                    record=comic_id,
                    field=field,
                    way_out='Write what the model wrote, in quotation marks: "3", or "Pun, Surprise"',
                )
            if value is not None and _broken(value):
                raise PunchlineError("half a surrogate pair is no character", file=file, record=comic_id, field=field)
            answers[comic_id][PIXELHUMOR_FIELDS[field]] = value
    return answers


READERS: dict[str, Reader] = {"pixelhumor": read_pixelhumor}  # named as the benchmark whose requests they answer


class Replay:
    """The engine. The file is read once, at the first use."""

    name = "replay"
    version = punchline.__version__
    needs_images = False

    def __init__(self, card: ModelCard) -> None:
        file = f"config/model/{card.name}.yaml"
        for option in card.options:
            if option not in OPTIONS:
                raise PunchlineError(f"unknown option {option!r}", file=file, way_out=nearest(option, OPTIONS))
        for option in OPTIONS:
            value = card.options.get(option)
            if not (isinstance(value, str) and value) and not (option == "select" and value is None):
                raise PunchlineError(
                    "the option is missing" if value is None else f"expected a text, got {value!r}",
                    file=file,
                    field=option,
                    way_out=f"The engine replay needs `format` ({', '.join(sorted(READERS))}) and `path`",
                )
        self.format: str = card.options["format"]
        self.path: str = card.options["path"]
        self.select: str | None = card.options.get("select")
        if self.format not in READERS:
            raise PunchlineError(
                f"unknown format {self.format!r}", file=file, field="format", way_out=nearest(self.format, READERS)
            )
        self.files = [self.path]
        self._file = file

    @cached_property
    def _content(self) -> bytes:
        try:
            return Path(self.path).read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a path with a NUL
            raise PunchlineError(
                f"cannot read the answers in {self.path!r}: {getattr(error, 'strerror', None) or error}",
                file=self._file,
                field="path",
                way_out="Put the file there; the path is relative to the working directory (the project's root)",
            ) from error

    @cached_property
    def _answers(self) -> Answers:
        return READERS[self.format](self._content, self.path, self.select)

    def identity(self) -> dict[str, Any]:
        """Format, selection and the file's digest; its path does not matter."""
        return {"format": self.format, "sha256": sha256(self._content), "select": self.select, "v": 1}

    def unknown(self, item_ids: Collection[str]) -> list[str]:
        """Ids of items that the file answers and that are not among `item_ids`, sorted."""
        return sorted(self._answers.keys() - set(item_ids))

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """What the file holds for each request; `missing`, with the reason, where it holds nothing."""
        for request in requests:
            text, reason = self._look_up(request)
            state: State = "ok" if reason is None else "missing"
            yield Response(
                request_id=request.request_id,
                model_key=model_key,
                state=state,
                text=text,
                reason=reason,
                engine=self.name,
                engine_version=self.version,
            )

    def _look_up(self, request: Request) -> tuple[str | None, str | None]:
        """(text, why there is none)."""
        if request.benchmark != self.format:
            return None, f"the file answers {self.format} only"
        if request.condition != "default" or request.sample != 0:
            return None, "the file has one answer to each question as published"
        if request.item_id not in self._answers:
            return None, "comic not in the file"
        answers = self._answers[request.item_id]
        if request.task not in answers:
            return None, "question not in the file"
        text = answers[request.task]
        return text, "null in the file" if text is None else None


def engine(card: ModelCard, seed: int) -> Replay:
    """The engine of a model card with the options `format`, `path` and `select`; `seed` does not matter."""
    return Replay(card)


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object as they stand, so that a name that occurs twice can be seen."""


def _parse(content: bytes, file: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_Members)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PunchlineError(f"byte {error.start} is not UTF-8", file=file, line=line) from error
    except json.JSONDecodeError as error:
        raise PunchlineError(
            f"malformed JSON at column {error.colno}: {error.msg}",
            file=file,
            line=error.lineno,
            way_out="Expected one object {comic_id: {question: answer}}",
        ) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, nesting without end
        raise PunchlineError(f"JSON that cannot be read: {error}", file=file) from error


def _members(value: Any, file: str, record: str | None) -> _Members:
    """Checked members of an object: names that are text, each once."""
    if not isinstance(value, _Members):
        expected = "{comic_id: {question: answer}}" if record is None else '{"Q1": answer, "Q2": answer, …}'
        raise PunchlineError(
            f"expected an object, not {_kind(value)}", file=file, record=record, way_out=f"Expected {expected}"
        )
    seen = set()
    for name, _ in value:
        if _broken(name):
            raise PunchlineError(f"half a surrogate pair in the name {name!r}", file=file, record=record)
        if name in seen:
            what = "comic" if record is None else "question"
            raise PunchlineError(
                f"the {what} {name!r} is there twice", file=file, record=record, way_out="Keep one of them"
            )
        seen.add(name)
    return value


def _kind(value: Any) -> str:
    """JSON's word for a value."""
    if isinstance(value, _Members):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true or false"
    return {str: "a string", int: "a number", float: "a number"}.get(type(value), "null")


def _broken(text: str) -> bool:
    """Whether text cannot be written as UTF-8 (JSON's \\u escapes may hold half of a surrogate pair)."""
    return any("\ud800" <= character <= "\udfff" for character in text)
