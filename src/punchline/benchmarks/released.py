"""Released answers: what a benchmark's reader makes of the files of its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from punchline.errors import PunchlineError
from punchline.schema import Scalar, Usage

JUDGE = "judge"  # the task that a released verdict answers


class Answer(NamedTuple):
    """A released answer with what the file says of it."""

    text: str | None  # None where the file has null
    usage: Usage = Usage()
    judge: str | None = None  # who gave this verdict


Select = Mapping[str, Scalar] | None
Answers = Mapping[str, Mapping[str, Answer]]  # item id: {task: answer}


def no_select(select: Select, path: str, name: str) -> None:
    """Raises PunchlineError where something is selected in a format whose file holds one model's answers."""
    if select is not None:
        what = f"there is nothing to select ({select!r}): the format {name} holds one model's answers"
        raise PunchlineError(what, file=path, field="select", hint="Take `select` out of the model's YAML")
