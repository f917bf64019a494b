"""Released explanations of HumorBench, and verdicts on them: one CSV of several models' runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from punchline.benchmarks.annotations import typed
from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.benchmarks.humorbench.data import row_in, rows_of
from punchline.benchmarks.released import JUDGE, Answer, Answers, Select
from punchline.errors import PunchlineError, check_known
from punchline.files import decoded, parse_csv
from punchline.schema import Usage

FILES: tuple[str, ...] = ()

Place = Annotated[str, msgspec.Meta(pattern=r"^\s*[0-9]{1,6}\s*$", title="a row number of the annotations")]
Count = Annotated[int, msgspec.Meta(ge=0, lt=10**9)]


class Run(msgspec.Struct, frozen=True):
    """An explanation of one element, and a verdict on it; further columns are ignored."""

    annotation_row: Place
    explanation: str
    autograder_judgment: str
    autograder_model: str = ""
    autograder_reasoning: str = ""


COLUMNS = tuple(field.name for field in msgspec.structs.fields(Run) if field.required)
# The authors' own columns: an element by its texts, tokens as JSON.
RELEASED = ("caption", "element", "explainer_model", "explanation", "autograder_judgment", "explainer_usage")


class _Usage(msgspec.Struct, frozen=True):
    """Tokens of one call."""

    tokens_in: Count | None = None
    tokens_out: Count | None = None


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Explanations of HumorBench, and verdicts on them, from a CSV with one row per element (Run), or a released one.

    `select`: {column: value} that a row must have. Raises PunchlineError, naming file and line, for an invalid row, for
    an element with two explanations, for one that the annotations (the second file) do not have, and for a `select`
    that no row matches.
    """
    content, *annotations = files.values()
    released = b"explainer_usage" in content.partition(b"\n")[0]
    rows = rows_of(annotations[0]) if annotations else {}
    answers: dict[str, dict[str, Answer]] = {}
    for line, cells in _selected(content, path, select, RELEASED if released else COLUMNS):
        where: dict[str, Any] = {"file": path, "line": line}
        if released:
            place = row_in(rows, cells)
            if place is None:
                what = f"no element of the annotations has this caption and element: {cells['caption'][:60]!r}"
                hint = f"Name {ANNOTATIONS} in the model's YAML, as annotations: data/raw/humorbench/{ANNOTATIONS}"
                raise PunchlineError(what, hint=hint, **where)
            cells["annotation_row"] = place
        run = typed(cells, Run, **where)
        row = str(int(run.annotation_row))
        if row in answers:
            hint = "Choose the rows of one run in the model's YAML, as select: {model: o1}"
            raise PunchlineError("the element is explained twice", record=row, hint=hint, **where)
        answers[row] = {"explain": Answer(run.explanation or None, _usage(cells, "explainer", **where))}
        if verdict := run.autograder_judgment.strip():
            # The verdict comes first: reasoning may quote a tag.
            text = f"<judgement>{verdict}</judgement>\n<reasoning>{run.autograder_reasoning.strip()}</reasoning>"
            judge = run.autograder_model.strip() or "unnamed"
            answers[row][JUDGE] = Answer(text, _usage(cells, "autograder", **where), judge)
    return answers


def _usage(cells: Mapping[str, str], caller: str, **where: Any) -> Usage:
    """Tokens of one call: of its JSON, or of a column each, in which 191 may be written 191.0."""
    columns = {name: cells.get(f"{caller}_{name}", "").strip() for name in ("tokens_in", "tokens_out")}
    counts: Any = {name: re.sub(r"\.0*$", "", cell) for name, cell in columns.items() if cell}
    if stated := cells.get(f"{caller}_usage"):
        tokens = decoded(stated.encode(), _Usage, f"tokens of the {caller}", hint="", **where)
    else:
        tokens = typed(counts, _Usage, strict=False, **where)
    return Usage(prompt=tokens.tokens_in, completion=tokens.tokens_out)


def _selected(content: bytes, file: str, select: Select, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Rows of a CSV that have the values of `select`. Raises PunchlineError for a column or value without rows."""
    rows = parse_csv(content, columns, file=file)
    for column, value in (select or {}).items():
        values = {cells[column] for _, cells in rows if column in cells}
        check_known(str(value), values, f"no row has {column} {value!r}", file=file, field="select")
        rows = [(line, cells) for line, cells in rows if cells[column] == str(value)]
    return rows
