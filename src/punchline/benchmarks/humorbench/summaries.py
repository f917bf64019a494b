"""What was released beside answers: summaries of runs, and other benchmarks' scores (figures 3, 5 and 7, table 2).

Files of data/manifests/humorbench_runs, by their path there: commit, path in the repository.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from punchline.benchmarks.annotations import typed
from punchline.tables.declare import PublishedRow

_RUNS = "cc99276/analysis/runs"
MAIN = f"{_RUNS}/full benchmark/data.json"
EXPERIMENTS = {  # file: how the paper calls the model; the OpenAI ones are named in the file
    f"{_RUNS}/openai_effort_experiment/data.json": "",
    f"{_RUNS}/claude_experiment/data.json": "Claude 3.7 Sonnet",
    f"{_RUNS}/qwen_experiment/data.json": "Qwen Plus",
}
_SCORES = "cc99276/model_data"
SCORES = {  # row of table 2: the file
    "GPQA Diamond": f"{_SCORES}/models_gpqa.json",
    "ARC-AGI (with o-series)": f"{_SCORES}/models_ARC_AGI_with_o.json",
    "ARC-AGI (w/o o-series)": f"{_SCORES}/models_ARC_AGI.json",  # it has o3 all the same
    "LM Arena ELO": f"{_SCORES}/lmarena_elo_4_22_25.json",
}
_WITHOUT_O_SERIES = "ARC-AGI (w/o o-series)"
LATER = {"claude-sonnet-4-20250514", "claude-opus-4-20250514", "grok-4-0709"}  # than the paper
PRINTED = {"deepseek-ai-deepseek-v3": 0.722}  # section 4.1: neither its run nor a summary of it was released
_SAME = {  # as the files call a model: as the paper does
    "claude-3-7-sonnet-latest": "claude-3-7-sonnet",
    "meta-llama-llama-4-maverick-17b-128e-instruct-fp8": "meta-llama-llama-4-maverick-17b-128e",
    "meta-llama-llama-4-scout-17b-16e-instruct": "meta-llama-llama-4-scout-17b-16e",
}


class Summary(msgspec.Struct, frozen=True):
    """A run in numbers; further fields are ignored."""

    display_name: str
    explainer_model: str
    pass_rate_per_row: float
    pass_rate_per_caption_all: float
    pass_rate_per_caption_some: float
    total_cost: float  # USD
    num_rows: int
    mean_output_tokens: float | None = None


class _Score(msgspec.Struct, frozen=True):
    score: float | None


def plain(model: str) -> str:
    """A model's name as it is compared: one file has dots and slashes, another hyphens."""
    name = re.sub("[ /.]", "-", model).lower()
    return _SAME.get(name, name)


def summaries(files: Mapping[str, bytes], file: str) -> list[Summary]:
    """The runs that a file sums up; none where it is not there."""
    return typed(json.loads(files[file]), list[Summary], file=file) if file in files else []


def scores(files: Mapping[str, bytes]) -> dict[str, dict[str, float]]:
    """{benchmark: {model: its score}}, of those that have one."""
    found = {}
    for benchmark, file in SCORES.items():
        if file not in files:
            continue
        rows = typed(json.loads(files[file]), dict[str, _Score], file=file)
        by_model = {plain(model): row.score for model, row in rows.items() if row.score is not None}
        without = benchmark == _WITHOUT_O_SERIES
        found[benchmark] = {m: score for m, score in by_model.items() if not (without and re.match(r"o\d", m))}
    return found


def _rows(
    table: str, file: str, name: str, key: str, run: Summary, columns: Mapping[str, float | None]
) -> Iterator[PublishedRow]:
    note = f"the authors' summary of a run: {file.partition('/')[2]} at {file.partition('/')[0]}"
    for column, value in columns.items():
        if value is not None:
            yield {
                "paper": "humorbench",
                "table": table,
                "row": f"{name} (released summary)",
                "key": key,
                "column": column,
                "value": f"{value:.6g}",
                "n": str(run.num_rows),
                "note": note,
            }


def leaderboard(files: Mapping[str, bytes]) -> list[PublishedRow]:
    """Figure 3's runs, with those that came after the paper."""
    return [
        row
        for run in summaries(files, MAIN)
        for row in _rows(
            "leaderboard",
            MAIN,
            run.display_name,
            "",
            run,
            {
                "accuracy": run.pass_rate_per_row,
                "accuracy_caption_all": run.pass_rate_per_caption_all,
                "accuracy_caption_some": run.pass_rate_per_caption_some,
                "output_tokens": run.mean_output_tokens,
                "cost": run.total_cost,
            },
        )
    ]


def _effort(run: Summary) -> tuple[str, int]:
    *model, last = run.display_name.split()
    return " ".join(model), ("low", "medium", "high").index(last) if last.isalpha() else int(last)


def thinking(table: str) -> Callable[[Mapping[str, bytes]], list[PublishedRow]]:
    """Figure 5's runs, or figure 7's: those under a budget."""

    def rows(files: Mapping[str, bytes]) -> list[PublishedRow]:
        found: list[PublishedRow] = []
        for file, model in EXPERIMENTS.items():
            for run in sorted(summaries(files, file), key=_effort):
                last = run.display_name.split()[-1]  # "Budget: 1024", "o3 low"
                key = f"thinking_budget={last}" if model else f"reasoning_effort={last}"
                name = f"{model}, thinking budget {last}" if model else f"{run.display_name.split()[0]}, {last} effort"
                columns = {"output_tokens": run.mean_output_tokens}
                if table == "figure5":
                    columns["accuracy"] = run.pass_rate_per_row
                if model or table == "figure5":
                    found += _rows(table, file, name, key, run, columns)
        return found

    return rows
