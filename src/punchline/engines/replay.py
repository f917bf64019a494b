"""Released answers from a file. Nothing is asked: a model's published outputs go through the same grading as any other.

The text of an answer is what the file says; whether it is a refusal is not guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import punchline
from punchline.core.engine import check_options
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import ModelCard, Request, Response, Scalar, State, Usage, digest_of, sha256
from punchline.core.storage import parse_csv

OPTIONS = ("format", "path", "select")

# Field of the released files: task.
PIXELHUMOR_FIELDS = {f"Q{n}": f"Q{n}" for n in range(1, 7)} | {"panel_sequence": "Q7", "text": "Q8"}

JUDGE = "judge"  # the task that a released verdict answers


class Answer(NamedTuple):
    """A released answer with what the file says of it."""

    text: str | None  # None where the file has null
    usage: Usage = Usage()
    judge: str | None = None  # who gave this verdict


Select = Mapping[str, Scalar] | None
Answers = Mapping[str, Mapping[str, str | Answer | None]]  # item id: {task: answer}
Reader = Callable[[bytes, str, Select], Answers]  # of a file's content, its name, and `select`


def read_pixelhumor(content: bytes, file: str, select: Select = None) -> Answers:
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
    answers: dict[str, dict[str, str | Answer | None]] = {}
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


HUMORBENCH_COLUMNS = ("annotation_row", "model", "explanation", "autograder_judgment")


def read_humorbench(content: bytes, file: str, select: Select = None) -> Answers:
    """Explanations of HumorBench, and verdicts on them, from a CSV in the form of its released runs.

    Columns: HUMORBENCH_COLUMNS, and, where they are there, autograder_model, autograder_reasoning,
    explainer_tokens_in, explainer_tokens_out, autograder_tokens_in, autograder_tokens_out (an empty cell is unknown);
    others are ignored. `select`: {column: value} that a row must have. Raises PunchlineError, naming file and line, for
    a row that cannot be read, for an element that is explained twice, and for a `select` that no row fits.
    """
    answers: dict[str, dict[str, str | Answer | None]] = {}
    models: dict[str, str] = {}
    for line, cells in _selected(content, file, select, HUMORBENCH_COLUMNS):
        row = cells["annotation_row"].strip()
        if not re.fullmatch("[0-9]{1,6}", row):
            raise PunchlineError(
                f"expected a row number of the annotations, got {row!r}", file=file, line=line, field="annotation_row"
            )
        row = str(int(row))
        if row in answers:
            other = f": {models[row]!r} and {cells['model']!r}" if models[row] != cells["model"] else ""
            raise PunchlineError(
                f"the element is explained twice{other}",
                file=file,
                line=line,
                record=row,
                way_out="Choose the rows of one run in the model's YAML, as select: {model: o1}",
            )
        models[row] = cells["model"]
        by_task: dict[str, str | Answer | None] = {
            "explain": Answer(cells["explanation"] or None, _tokens(cells, "explainer", file, line))
        }
        verdict = cells["autograder_judgment"].strip()
        if verdict:
            reasoning = cells.get("autograder_reasoning", "").strip()
            by_task[JUDGE] = Answer(  # the verdict first: reasoning may quote a tag
                f"<judgement>{verdict}</judgement>\n<reasoning>{reasoning}</reasoning>",
                _tokens(cells, "autograder", file, line),
                cells.get("autograder_model", "").strip() or "unnamed",
            )
        answers[row] = by_task
    return answers


def _selected(content: bytes, file: str, select: Select, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Rows of a CSV that have the values of `select`. Raises PunchlineError when there is no such column or row."""
    rows = parse_csv(content, columns, file=file)
    for column, value in (select or {}).items():
        there = [cells[column] for _, cells in rows if column in cells]
        if not there:
            raise PunchlineError(
                f"there is no column {column!r} to select by",
                file=file,
                field=column,
                way_out=nearest(column, rows[0][1] if rows else columns),
            )
        rows = [(line, cells) for line, cells in rows if cells[column] == str(value)]
        if not rows:
            raise PunchlineError(
                f"no row has {value!r}", file=file, field=column, way_out=nearest(str(value), sorted(set(there)))
            )
    return rows


def _tokens(cells: Mapping[str, str], who: str, file: str, line: int) -> Usage:
    """Counted tokens of one call; None for an empty cell. The released files write 191 as 191.0."""
    counts: list[int | None] = []
    for direction in ("in", "out"):
        column = f"{who}_tokens_{direction}"
        cell = cells.get(column, "").strip()
        if cell and not re.fullmatch(r"[0-9]{1,9}(\.0*)?", cell):
            raise PunchlineError(f"expected a number of tokens, got {cell!r}", file=file, line=line, field=column)
        counts.append(int(cell.split(".")[0]) if cell else None)
    return Usage(prompt=counts[0], completion=counts[1])


YESBUT_FILES = {  # in the folder of a model's answers: task
    f"{kind}_prompt{k}.json": f"{kind}_{k}"
    for kind in ("description", "contradiction", "moral_mcq", "title_mcq")
    for k in (1, 2, 3)
}


def read_yesbut(files: Mapping[str, bytes], folder: str, select: Select = None) -> Answers:
    """Answers to YesBut: {name of YESBUT_FILES: JSON list of {"image_file": …, "output": text or null}}.

    A description may stand in `gen_des` where there is no `output`, as for the released evaluate_caption. Other
    fields of a record are ignored, as the released runs copy the whole annotation into it. Raises PunchlineError,
    naming file and record, for content that is not such JSON, for a comic that a file answers twice, for a record
    without an output, and for any `select`.
    """
    if select is not None:
        raise PunchlineError(
            f"there is nothing to select ({select!r}): the format yesbut holds one model's answers",
            file=folder,
            field="select",
            way_out="Take `select` out of the model's YAML",
        )
    answers: dict[str, dict[str, str | Answer | None]] = {}
    for name, content in files.items():
        file = f"{folder.rstrip('/')}/{name}"
        expected = 'Expected a list of {"image_file": "00001.jpg", "output": "…"}'
        records = _parse(content, file, expected)
        if isinstance(records, _Members) or not isinstance(records, list):
            raise PunchlineError(f"expected a list, not {_kind(records)}", file=file, way_out=expected)
        seen: set[str] = set()
        for number, record in enumerate(records):
            place = f"number {number}"
            if not isinstance(record, _Members):
                raise PunchlineError(
                    f"expected an object, not {_kind(record)}", file=file, record=place, way_out=expected
                )
            fields = dict(record)
            said = "gen_des" if YESBUT_FILES[name].startswith("description") else "output"
            said = "output" if "output" in fields or said not in fields else said
            image_file, output = fields.get("image_file"), fields.get(said)
            if not isinstance(image_file, str) or not image_file or _broken(image_file):
                raise PunchlineError("expected a file name", file=file, record=place, field="image_file")
            for field in ("image_file", said):
                if sum(field == one for one, _ in record) != 1:
                    what = "the field is there twice" if field in fields else "the field is missing"
                    raise PunchlineError(what, file=file, record=image_file, field=field, way_out=expected)
            if output is not None and not isinstance(output, str):
                raise PunchlineError(
                    f"an answer must be a string or null, not {_kind(output)}",
                    file=file,
                    record=image_file,
                    field=said,
                    way_out='Write what the model wrote, in quotation marks: "B"',
                )
            if output is not None and _broken(output):
                raise PunchlineError("half a surrogate pair is no character", file=file, record=image_file, field=said)
            if image_file in seen:
                raise PunchlineError(
                    "the comic is answered twice", file=file, record=image_file, way_out="Keep one of them"
                )
            seen.add(image_file)
            answers.setdefault(image_file, {})[YESBUT_FILES[name]] = output
    return answers


FolderReader = Callable[[Mapping[str, bytes], str, Select], Answers]  # of {file: content}, its folder, and `select`

READERS: dict[str, Reader] = {  # named as the benchmark whose requests they answer
    "pixelhumor": read_pixelhumor,
    "humorbench": read_humorbench,
}
FOLDERS: dict[str, tuple[FolderReader, Sequence[str]]] = {  # formats whose `path` is a folder, and files in it
    "yesbut": (read_yesbut, tuple(YESBUT_FILES)),
}
FORMATS = (*READERS, *FOLDERS)


class Replay:
    """The engine. The file is read once, at the first use."""

    name = "replay"
    version = punchline.__version__
    needs_images = False

    def __init__(self, card: ModelCard) -> None:
        file = card.file
        check_options(card, OPTIONS)
        for option in OPTIONS:
            value = card.options.get(option)
            if option == "select" and (value is None or (isinstance(value, dict) and value)):
                continue
            if not (isinstance(value, str) and value) or option == "select":
                expected = "{column: value}" if option == "select" else "a text"
                raise PunchlineError(
                    "the option is missing" if value is None else f"expected {expected}, got {value!r}",
                    file=file,
                    field=option,
                    way_out=f"The engine replay needs `format` ({', '.join(sorted(FORMATS))}) and `path`",
                )
        self.format: str = card.options["format"]
        self.path: str = card.options["path"]
        self.select: Select = card.options.get("select")
        if self.format not in FORMATS:
            raise PunchlineError(
                f"unknown format {self.format!r}", file=file, field="format", way_out=nearest(self.format, FORMATS)
            )
        self.files = [self.path]
        self._file = file
        if self.format in FOLDERS:
            self.files = self._in_folder(FOLDERS[self.format][1]) or self.files

    def _in_folder(self, names: Sequence[str]) -> list[str]:
        """Paths of those of the files that are in the folder, in their order; [] where there is no folder.

        Raises PunchlineError for a path that is a file, for a .json file of another name, and for a folder without any.
        """
        folder = Path(self.path)
        try:
            there = sorted(path.name for path in folder.iterdir())
        except NotADirectoryError as error:
            raise PunchlineError(
                f"{self.path!r} is no folder",
                file=self._file,
                field="path",
                way_out=f"Name the folder that holds {names[0]} and the like",
            ) from error
        except (OSError, ValueError):  # not there, as `check_files` says; a NUL in the path
            return []
        for name in there:
            if name.lower().endswith(".json") and not name.startswith(".") and name not in names:
                raise PunchlineError(
                    f"unknown file {name!r} beside the answers",
                    file=self.path,
                    way_out=nearest(name.lower(), names),
                )
        found = [str(folder / name) for name in names if name in there]
        if not found:
            raise PunchlineError(
                f"no such file in {self.path!r} as {names[0]}",
                file=self._file,
                field="path",
                way_out=f"Expected any of: {', '.join(names)}",
            )
        return found

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        """{name: content} of the files that are read."""
        return {Path(file).name: self._read(file) for file in self.files}

    def _read(self, file: str) -> bytes:
        try:
            return Path(file).read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a path with a NUL
            raise PunchlineError(
                f"cannot read the answers in {file!r}: {getattr(error, 'strerror', None) or error}",
                file=self._file,
                field="path",
                way_out="Put the file there; the path is relative to the working directory (the project's root)",
            ) from error

    @cached_property
    def _answers(self) -> Answers:
        if self.format in FOLDERS:
            return FOLDERS[self.format][0](self._contents, self.path, self.select)
        (content,) = self._contents.values()
        return READERS[self.format](content, self.path, self.select)

    def identity(self) -> dict[str, Any]:
        """Format, selection and the file's digest; its path does not matter."""
        digests = {name: sha256(content) for name, content in self._contents.items()}
        digest = digest_of(digests) if self.format in FOLDERS else "".join(digests.values())
        return {"format": self.format, "sha256": digest, "select": self.select, "v": 1}

    def unavailable(self) -> str | None:
        """Never: `check_files` says which file is not there."""
        return None

    def close(self) -> None:
        """Nothing is open."""

    def unknown(self, item_ids: Collection[str]) -> list[str]:
        """Ids of items that the file answers and that are not among `item_ids`, sorted."""
        return sorted(self._answers.keys() - set(item_ids))

    def judges(self) -> dict[str, str]:
        """{item id: who judged the released answer}, of the items that have a verdict."""
        found = {item_id: by_task.get(JUDGE) for item_id, by_task in self._answers.items()}
        return {i: a.judge for i, a in found.items() if isinstance(a, Answer) and a.judge is not None}

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """What the file holds for each request; `missing`, with the reason, where it holds nothing."""
        for request in requests:
            answer, reason = self._look_up(request)
            state: State = "ok" if reason is None else "missing"
            yield Response(
                request_id=request.request_id,
                model_key=model_key,
                state=state,
                text=answer.text,
                reason=reason,
                usage=answer.usage,
                engine=self.name,
                engine_version=self.version,
                effective={} if answer.judge is None else {"judge": answer.judge},
            )

    def _look_up(self, request: Request) -> tuple[Answer, str | None]:
        """(answer, why there is none)."""
        none = Answer(None)
        if request.benchmark != self.format:
            return none, f"the file answers {self.format} only"
        if request.condition != "default" or request.sample != 0:
            return none, "the file has one answer to each question as published"
        if request.item_id not in self._answers:
            return none, "item not in the file"
        answers = self._answers[request.item_id]
        if request.task not in answers:
            return none, "question not in the file"
        found = answers[request.task]
        answer = found if isinstance(found, Answer) else Answer(found)
        return answer, "null in the file" if answer.text is None else None


def engine(card: ModelCard, seed: int) -> Replay:
    """The engine of a model card with the options `format`, `path` and `select`; `seed` does not matter."""
    return Replay(card)


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object as they stand, so that a name that occurs twice can be seen."""


def _parse(content: bytes, file: str, way_out: str = "Expected one object {comic_id: {question: answer}}") -> Any:
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
            way_out=way_out,
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
