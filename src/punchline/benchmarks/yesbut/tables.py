"""YesBut's tables of models' answers: tables 2 and 3, figures 4 and 5.

A value is the unweighted mean over the prompts of a task that have answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from punchline.benchmarks.yesbut import CHOSEN, KINDS, METRICS, NAME, PROMPTS, WRITTEN, dataset, ratings
from punchline.core.benchmark import DEFAULT
from punchline.stats.estimate import PERCENT, REAL, Kind
from punchline.stats.functions import empty, items_of, mean, sd
from punchline.tables.chart import Chart
from punchline.tables.declare import Row, Table, collect, table

_OF_TEXT = {
    "bert": (REAL, 100.0),
    "r2": (PERCENT, 100.0),
    "gpt": (REAL, 1.0),  # the released code takes any number for a score, and -1 for none
    "bert_minilm": (REAL, 100.0),  # of the stand-in encoder
}
# Columns that are means: {column: (task without the number of its prompt, metric, kind, scale)}.
MEASURES: dict[str, tuple[str, str, Kind, float]] = {
    **{f"{task}_{name}": (task, name, *unit) for task in WRITTEN for name, unit in _OF_TEXT.items()},
    "philosophy_acc": ("moral_mcq", "correct", PERCENT, 100.0),
    "title_acc": ("title_mcq", "correct", PERCENT, 100.0),
}
SCORED = dict(zip(("n_description", "n_contradiction", "n_philosophy", "n_title"), KINDS, strict=True))

ACCURACIES = ("philosophy_acc", "title_acc")
ACCURACY_COUNTS = ("n_philosophy", "n_title", "prompts_least_n")
PUBLISHED = tuple(name for name in MEASURES if not name.endswith("_minilm"))
COUNTS = (*SCORED, *(f"n_{name}" for name in MEASURES if name.endswith(("_bert", "_gpt"))), "prompts_least_n")
SDS = (f"{name}_sd" for name in PUBLISHED)
COLUMNS = (*PUBLISHED, *COUNTS, *SDS, *(name for name in MEASURES if name not in PUBLISHED))  # of table 2

TEXT_ONLY = "text_llava_13b"
DESCRIBED_BY = ("text_oracle", "text_llava_13b", "text_llava_7b")  # figure 4

_MEANS = (
    "Means over the prompts that have answers; column prompts is their number (1-3: some tasks one, some three). "
    "Prompts have equal weight; prompts_least_n: comics of the prompt with the fewest."
)
_SPREAD = (
    "…_sd: standard deviation (n - 1) of the prompts' means. Its interval includes 0 where the prompts differ by no "
    "more than chance."
)
_NEVER = "n_missing includes comics that were not asked because a description is missing."
_DESCRIBED = "Prompts with a description are those of the released code; the paper does not print them."
_LENT = (
    "LLaVA-1.6's descriptions were not released: put some into descriptions_llava-1.6-7b.json and …-13b.json in "
    "data/manifests/yesbut/, and select their conditions (docs/yesbut.md)."
)
_Frame = pd.DataFrame


def _answers(part: _Frame) -> list[int]:
    """Number of answers to each prompt that has any."""
    answered = part[~part.state.isin(("missing", "failed"))]
    return [int(number) for number in answered.groupby("task", observed=True).size()]


def _prompts(parts: Iterable[_Frame]) -> int | str:
    """Number of prompts with an answer; "1-3" where the tasks that have any differ."""
    counts = sorted(len(numbers) for part in parts if (numbers := _answers(part))) or [0]
    return counts[0] if counts[0] == counts[-1] else f"{counts[0]}-{counts[-1]}"


def _is_complete(parts: Mapping[str, _Frame]) -> bool:
    """True if a task's prompts have equally many answers, and no scored answer lacks a metric that others have.

    A judge may have failed on some answers; where no answer has the metric, no judge was asked.
    """
    scored = {task: part[part.scored] for task, part in parts.items()}
    judged = all(scored[task][metric].notna().nunique() < 2 for task, metric, _, _ in MEASURES.values())
    return judged and all(len(set(_answers(part))) < 2 for part in parts.values())


def _row(scores: _Frame, condition: str, columns: Iterable[str]) -> Row:
    """Columns of the answers in one condition: means, SDs of the prompts' means, and numbers of comics."""
    asked = scores[scores.condition == condition]
    parts = {task: asked[asked.task.isin([f"{task}_{k}" for k in PROMPTS])] for task in KINDS}
    cells = {name: items_of(parts[task], parts[task].scored.to_numpy()) for name, task in SCORED.items()}
    by_prompt = []
    for name, (task, metric, kind, scale) in MEASURES.items():
        part = parts[task]
        has = part[metric].notna()
        cells[name] = mean(part, metric, kind, scale=scale, over="task")
        cells[f"{name}_sd"] = sd(part, metric, kind, scale=scale, over="task")
        cells[f"n_{name}"] = items_of(part, has.to_numpy())
        by_prompt += [items_of(part, (has & (part.task == f"{task}_{k}")).to_numpy()) for k in PROMPTS]
    numbers = [number for number in by_prompt if number.n]
    cells["prompts_least_n"] = min(numbers, key=lambda number: number.n, default=empty(asked))
    row = Row(condition=condition, prompts=_prompts(parts.values()), **{name: cells[name] for name in columns})
    return row.set(complete=_is_complete(parts))


@table(
    "table2",
    "YesBut, table 2: literal description, contradiction, philosophy and title",
    published_rule="released",
    conditions=(DEFAULT, TEXT_ONLY),
    counts=COUNTS,
    percents=tuple(name for name in MEASURES if not name.endswith("_gpt")),
    notes=(
        _MEANS,
        _SPREAD,
        "BERTScore recall, ROUGE-2 recall and accuracy in per cent; GPT: mean score of 1 to 5.",
        "ROUGE needs the package rouge-score; …_minilm: the stand-in encoder's BERTScore.",
        "n_…_gpt, n_…_bert: comics with a verdict; fewer answers than were scored: the row is not comparable.",
        "Condition text_llava_13b: no image, LLaVA-1.6-13B's description in its place (the paper's LLMs). " + _LENT,
        _NEVER,
    ),
)
def all_tasks(scores: _Frame, items: _Frame) -> Iterator[Row]:
    """The image row, then the text row; only the text row for a model that answered nothing about images."""
    image, text = (scores[scores.condition == name] for name in (DEFAULT, TEXT_ONLY))
    if text.empty or _answers(image):
        yield _row(scores, DEFAULT, COLUMNS)
    if not text.empty:
        yield _row(scores, TEXT_ONLY, COLUMNS)


def _choices(name: str, title: str, conditions: Sequence[str], *notes: str) -> Table:
    """A table of philosophy and title: a row per condition that was asked, or an empty one of the first."""

    def rows(scores: _Frame, items: _Frame) -> Iterator[Row]:
        asked = [condition for condition in conditions if (scores.condition == condition).any()]
        for condition in asked or conditions[:1]:
            yield _row(scores, condition, (*ACCURACIES, *(f"{name}_sd" for name in ACCURACIES), *ACCURACY_COUNTS))

    return Table(
        name,
        title,
        rows=rows,
        published_rule="released",
        tasks=tuple(f"{kind}_{k}" for kind in CHOSEN for k in PROMPTS),
        conditions=tuple(conditions),
        counts=ACCURACY_COUNTS,
        chart=Chart(ACCURACIES, by="condition"),
        notes=(_MEANS, _SPREAD, *notes),
    )


TABLES = collect(
    NAME,
    METRICS,
    {},
    dataset.TABLE1,
    all_tasks,
    _choices(
        "table3",
        "YesBut, table 3: with the model's own description beside the image",
        (DEFAULT, "chained"),
        _NEVER,
        "Select conditions=[chained] for the second row. " + _DESCRIBED,
    ),
    _choices(
        "figure4",
        "YesBut, figure 4: text only, with descriptions of three makers",
        DESCRIBED_BY,
        f"Select conditions=[{','.join(DESCRIBED_BY)}]. {_DESCRIBED}",
        _LENT,
        _NEVER,
    ),
    _choices(
        "figure5",
        "YesBut, figure 5: with the annotated description beside the image",
        (DEFAULT, "oracle"),
        "Select conditions=[oracle] for the second row. " + _DESCRIBED,
    ),
    ratings.FIGURE3,
    dataset.FIGURE8,
)
