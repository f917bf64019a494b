"""Released explanations of HumorBench, and verdicts on them: one CSV of several models' runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from punchline.benchmarks.annotations import typed
from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.benchmarks.humorbench.data import row_in, rows_of
from punchline.benchmarks.released import JUDGE, Answer, Answers, Select
from punchline.errors import PunchlineError, nearest
from punchline.files import parse_csv
from punchline.schema import Usage

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
# The authors' own columns: an element by its texts, tokens as JSON.
RELEASED = ("caption", "element", "explainer_model", "explanation", "autograder_judgment", "explainer_usage")


class _Usage(msgspec.Struct, frozen=True):
    """Tokens of one call; {} without counts."""

    tokens_in: int | None = None
    tokens_out: int | None = None


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Explanations of HumorBench, and verdicts on them, from a CSV with one row per element (Run), or a released one.

    `select`: {column: value} that a row must have. Raises PunchlineError, naming file and line, for an invalid row, for
    an element with two explanations, for one that the annotations (the second file) do not have, and for a `select`
    that no row matches.
    """
    content, *annotations = files.values()
    released = b"explainer_usage" in content.partition(b"\n")[0]
    rows = rows_of(annotations[0]) if annotations else {}
    answers: dict[str, dict[str, str | Answer | None]] = {}
    models: dict[str, str] = {}
    for line, cells in _selected(content, path, select, RELEASED if released else COLUMNS):
        run = typed(_as_run(cells, rows, path, line) if released else cells, Run, file=path, line=line)
        row = str(int(run.annotation_row))
        if row in answers:
            other = f": {models[row]!r} and {run.model!r}" if models[row] != run.model else ""
            what, hint = f"the element is explained twice{other}", "Choose the rows of one run in the model's YAML"
            raise PunchlineError(what, file=path, line=line, record=row, hint=f"{hint}, as select: {{model: o1}}")
        models[row] = run.model
        usage = _usage(run.explainer_tokens_in, run.explainer_tokens_out)
        answers[row] = {"explain": Answer(run.explanation or None, usage)}
        if verdict := run.autograder_judgment.strip():
            # The verdict comes first: reasoning may quote a tag.
            text = f"<judgement>{verdict}</judgement>\n<reasoning>{run.autograder_reasoning.strip()}</reasoning>"
            usage = _usage(run.autograder_tokens_in, run.autograder_tokens_out)
            answers[row][JUDGE] = Answer(text, usage, run.autograder_model.strip() or "unnamed")
    return answers


def _as_run(cells: Mapping[str, str], rows: Mapping[tuple[str, str], str], path: str, line: int) -> dict[str, str]:
    """A row in the authors' columns with the columns of `Run`."""
    row = row_in(rows, cells)
    if row is None:
        what = f"no element of the annotations has this caption and element: {cells['caption'][:60]!r}"
        hint = f"Name {ANNOTATIONS} in the model's YAML, as annotations: data/raw/humorbench/{ANNOTATIONS}"
        raise PunchlineError(what, file=path, line=line, hint=hint)
    run_cells = {**cells, "annotation_row": row, "model": cells["explainer_model"]}
    for caller in ("explainer", "autograder"):
        try:
            usage = msgspec.json.decode(cells.get(f"{caller}_usage") or "{}", type=_Usage)
        except msgspec.DecodeError as error:
            raise PunchlineError(str(error), file=path, line=line, field=f"{caller}_usage") from error
        for name, count in msgspec.structs.asdict(usage).items():
            run_cells[f"{caller}_{name}"] = "" if count is None else str(count)
    return run_cells


def _usage(*tokens: str) -> Usage:
    """Token counts of one call; None for an empty cell."""
    prompt, completion = (int(float(cell)) if cell.strip() else None for cell in tokens)
    return Usage(prompt=prompt, completion=completion)


def _selected(content: bytes, file: str, select: Select, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Rows of a CSV that have the values of `select`. Raises PunchlineError for a column or value without rows."""
    rows = parse_csv(content, columns, file=file)
    for column, value in (select or {}).items():
        values = {cells[column] for _, cells in rows if column in cells}
        if not values:
            what, hint = f"there is no column {column!r} to select by", nearest(column, rows[0][1] if rows else columns)
            raise PunchlineError(what, file=file, field=column, hint=hint)
        rows = [(line, cells) for line, cells in rows if cells[column] == str(value)]
        if not rows:
            raise PunchlineError(f"no row has {value!r}", file=file, field=column, hint=nearest(str(value), values))
    return rows
