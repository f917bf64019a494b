"""Released summaries of runs, and other benchmarks' scores (figures 3, 5 and 7, table 2).

Files of data/manifests/humorbench_runs, by their path there: commit, path in the repository.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from punchline.benchmarks.annotations import typed
from punchline.benchmarks.humorbench import NAME
from punchline.tables.declare import PublishedRow

_NAMED = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, dict[str, str]])
EXPERIMENTS, SCORES, _SAME = (_NAMED[name] for name in ("experiments", "scores", "same"))
MAIN = "cc99276/analysis/runs/full benchmark/data.json"
LATER = {"claude-sonnet-4-20250514", "claude-opus-4-20250514", "grok-4-0709"}  # than the paper
PRINTED = {"deepseek-ai-deepseek-v3": 0.722}  # section 4.1: neither its run nor a summary of it was released
COLUMNS = {"figure5": ("output_tokens", "accuracy"), "figure7": ("output_tokens",)}
COLUMNS["leaderboard"] = ("accuracy", "accuracy_caption_all", "accuracy_caption_some", "output_tokens", "cost")


class Summary(msgspec.Struct, frozen=True):
    """A run in numbers; further fields are ignored."""

    display_name: str
    explainer_model: str
    accuracy: float = msgspec.field(name="pass_rate_per_row")
    accuracy_caption_all: float = msgspec.field(name="pass_rate_per_caption_all")
    accuracy_caption_some: float = msgspec.field(name="pass_rate_per_caption_some")
    cost: float = msgspec.field(name="total_cost")  # USD
    num_rows: int
    output_tokens: float | None = msgspec.field(name="mean_output_tokens", default=None)


class _Score(msgspec.Struct, frozen=True):
    score: float | None


def plain(model: str) -> str:
    """A model's name as it is compared: one file has dots and slashes, another hyphens."""
    name = re.sub("[ /.]", "-", model).lower()
    return _SAME.get(name, name)


def summaries(files: Mapping[str, bytes], file: str) -> list[Summary]:
    """The runs that a file summarizes; none without the file."""
    return [typed(run, Summary, file=file) for run in json.loads(files.get(file, b"[]"))]


def scores(files: Mapping[str, bytes]) -> dict[str, dict[str, float]]:
    """{benchmark: {model: its score}}, of those that have one."""
    result = {}
    for benchmark, file in SCORES.items():
        if file in files:
            rows = {plain(m): typed(row, _Score, file=file, record=m) for m, row in json.loads(files[file]).items()}
            known = {model: row.score for model, row in rows.items() if row.score is not None}
            left_out = r"o\d" if benchmark == "ARC-AGI (w/o o-series)" else "$"
            result[benchmark] = {model: score for model, score in known.items() if not re.match(left_out, model)}
    return result


def _effort(run: Summary) -> tuple[str, int]:
    *model, last = run.display_name.split()
    return " ".join(model), ("low", "medium", "high").index(last) if last.isalpha() else int(last)


def _runs(table: str, files: Mapping[str, bytes]) -> Iterator[tuple[str, Summary, str, str]]:
    """(file, run, row, key) of the runs that a table shows: figure 7 has those under a budget."""
    if table == "leaderboard":
        yield from ((MAIN, run, run.display_name, "") for run in summaries(files, MAIN))
        return
    for file, model in EXPERIMENTS.items():
        for run in sorted(summaries(files, file), key=_effort):
            first, *_, last = run.display_name.split()  # "Budget: 1024", "o3 low"
            if model:
                yield file, run, f"{model}, thinking budget {last}", f"thinking_budget={last}"
            elif table == "figure5":
                yield file, run, f"{first}, {last} effort", f"reasoning_effort={last}"


def stated(table: str, files: Mapping[str, bytes]) -> Iterator[PublishedRow]:
    """Values of a table in the authors' summaries of runs, some later than the paper."""
    for file, run, name, key in _runs(table, files):
        commit, _, path = file.partition("/")
        about = {"paper": NAME, "table": table, "row": f"{name} (released summary)", "key": key, "n": str(run.num_rows)}
        for column in COLUMNS[table]:
            if (value := getattr(run, column)) is not None:
                note = f"the authors' summary of a run: {path} at {commit}"
                yield about | {"column": column, "value": f"{value:.6g}", "note": note}
