"""Released explanations of HumorBench, and verdicts on them: one CSV of several models' runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from punchline.bench.data import typed
from punchline.bench.released import JUDGE, Answer, Answers, Select
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import Usage
from punchline.core.storage import parse_csv

FILES: tuple[str, ...] = ()

Place = Annotated[str, msgspec.Meta(pattern=r"^\s*[0-9]{1,6}\s*$", title="a row number of the annotations")]
# The released files write 191 as 191.0.
Tokens = Annotated[str, msgspec.Meta(pattern=r"^\s*([0-9]{1,9}(\.0*)?)?\s*$", title="a number of tokens")]


class Run(msgspec.Struct, frozen=True):
    """An explanation of one element, and a verdict on it; further columns are ignored."""

    annotation_row: Place
    model: str
    explanation: str
    autograder_judgment: str
    autograder_model: str = ""
    autograder_reasoning: str = ""
    explainer_tokens_in: Tokens = ""
    explainer_tokens_out: Tokens = ""
    autograder_tokens_in: Tokens = ""
    autograder_tokens_out: Tokens = ""


COLUMNS = tuple(field.name for field in msgspec.structs.fields(Run) if field.required)


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Explanations of HumorBench, and verdicts on them, from a CSV in the form of its released runs (Run).

    `select`: {column: value} that a row must have. Raises PunchlineError, naming file and line, for a row that cannot
    be read, for an element that is explained twice, and for a `select` that no row fits.
    """
    (content,) = files.values()
    answers: dict[str, dict[str, str | Answer | None]] = {}
    models: dict[str, str] = {}
    for line, cells in _selected(content, path, select, COLUMNS):
        run = typed(cells, Run, file=path, line=line)
        row = str(int(run.annotation_row))
        if row in answers:
            other = f": {models[row]!r} and {run.model!r}" if models[row] != run.model else ""
            raise PunchlineError(
                f"the element is explained twice{other}",
                file=path,
                line=line,
                record=row,
                way_out="Choose the rows of one run in the model's YAML, as select: {model: o1}",
            )
        models[row] = run.model
        usage = _usage(run.explainer_tokens_in, run.explainer_tokens_out)
        answers[row] = {"explain": Answer(run.explanation or None, usage)}
        if verdict := run.autograder_judgment.strip():  # the verdict first: reasoning may quote a tag
            answers[row][JUDGE] = Answer(
                f"<judgement>{verdict}</judgement>\n<reasoning>{run.autograder_reasoning.strip()}</reasoning>",
                _usage(run.autograder_tokens_in, run.autograder_tokens_out),
                run.autograder_model.strip() or "unnamed",
            )
    return answers


def _usage(*tokens: str) -> Usage:
    """Counted tokens of one call; None for an empty cell."""
    read, written = (int(float(cell)) if cell.strip() else None for cell in tokens)
    return Usage(prompt=read, completion=written)


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
