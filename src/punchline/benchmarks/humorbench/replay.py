"""Released explanations of HumorBench, and verdicts on them: one CSV of several models' runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from punchline.bench.released import JUDGE, Answer, Answers, Select
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import Usage
from punchline.core.storage import parse_csv

FILES: tuple[str, ...] = ()

COLUMNS = ("annotation_row", "model", "explanation", "autograder_judgment")


def read(files: Mapping[str, bytes], path: str, select: Select = None) -> Answers:
    """Explanations of HumorBench, and verdicts on them, from a CSV in the form of its released runs.

    Columns: COLUMNS, and, where they are there, autograder_model, autograder_reasoning,
    explainer_tokens_in, explainer_tokens_out, autograder_tokens_in, autograder_tokens_out (an empty cell is unknown);
    others are ignored. `select`: {column: value} that a row must have. Raises PunchlineError, naming file and line, for
    a row that cannot be read, for an element that is explained twice, and for a `select` that no row fits.
    """
    (content,) = files.values()
    answers: dict[str, dict[str, str | Answer | None]] = {}
    models: dict[str, str] = {}
    for line, cells in _selected(content, path, select, COLUMNS):
        row = cells["annotation_row"].strip()
        if not re.fullmatch("[0-9]{1,6}", row):
            raise PunchlineError(
                f"expected a row number of the annotations, got {row!r}", file=path, line=line, field="annotation_row"
            )
        row = str(int(row))
        if row in answers:
            other = f": {models[row]!r} and {cells['model']!r}" if models[row] != cells["model"] else ""
            raise PunchlineError(
                f"the element is explained twice{other}",
                file=path,
                line=line,
                record=row,
                way_out="Choose the rows of one run in the model's YAML, as select: {model: o1}",
            )
        models[row] = cells["model"]
        by_task: dict[str, str | Answer | None] = {
            "explain": Answer(cells["explanation"] or None, _tokens(cells, "explainer", path, line))
        }
        verdict = cells["autograder_judgment"].strip()
        if verdict:
            reasoning = cells.get("autograder_reasoning", "").strip()
            by_task[JUDGE] = Answer(  # the verdict first: reasoning may quote a tag
                f"<judgement>{verdict}</judgement>\n<reasoning>{reasoning}</reasoning>",
                _tokens(cells, "autograder", path, line),
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
