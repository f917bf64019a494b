"""Released answers: what a benchmark's reader makes of the files of its format, and the JSON that such files hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from punchline.core.errors import PunchlineError
from punchline.core.records import Scalar, Usage

JUDGE = "judge"  # the task that a released verdict answers


class Answer(NamedTuple):
    """A released answer with what the file says of it."""

    text: str | None  # None where the file has null
    usage: Usage = Usage()
    judge: str | None = None  # who gave this verdict


Select = Mapping[str, Scalar] | None
Answers = Mapping[str, Mapping[str, str | Answer | None]]  # item id: {task: answer}


class Format(Protocol):
    """What the module `replay` of a benchmark defines."""

    FILES: tuple[str, ...]  # that may lie in the folder `path`; none: `path` is one file

    def read(self, files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
        """Answers in files (by name) that lie at `path`, as messages call it.

        `select` chooses among several models' answers. Raises PunchlineError for what cannot be read.
        """
        ...


class Members(list[tuple[str, Any]]):
    """The members of a JSON object as they stand, so that a name that occurs twice can be seen."""


def parse_json(content: bytes, file: str, way_out: str) -> Any:
    """JSON with Members for objects. Raises PunchlineError, with `way_out` for what is malformed."""
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=Members)
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


def kind_of(value: Any) -> str:
    """JSON's word for a value."""
    if isinstance(value, Members):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true or false"
    return {str: "a string", int: "a number", float: "a number"}.get(type(value), "null")


def broken(text: str) -> bool:
    """Whether text cannot be written as UTF-8 (JSON's \\u escapes may hold half of a surrogate pair)."""
    return any("\ud800" <= character <= "\udfff" for character in text)
