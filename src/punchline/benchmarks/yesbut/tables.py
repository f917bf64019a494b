"""YesBut's tables and number-bearing figures. Means are over the three prompts of a task, those that have answers."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from punchline.bench import rating_tables
from punchline.bench.chart import Chart
from punchline.bench.column import Column, Make, Statistics, counted, number
from punchline.bench.frame import Frame, Places
from punchline.bench.ratings import RATINGS, Rating
from punchline.bench.table import Row, Table, tables
from punchline.benchmarks.yesbut import ANNOTATIONS, KINDS, NAME, PROMPTS
from punchline.core.benchmark import DEFAULT
from punchline.core.stats import EXACT, PERCENT, POSITIVE, REAL, Array, Estimate, Spread, mean, total
from punchline.score.ngrams import word_tokens

# Column's beginning: task, {end of the column: (value of a grade, scale)}. All but the judge's score in per cent.
_WRITTEN = {"bert": ("bert", 100.0), "r2": ("r2", 100.0), "gpt": ("gpt", 1.0), "bert_minilm": ("bert_minilm", 100.0)}
MEASURES: dict[str, tuple[str, dict[str, tuple[str, float]]]] = {
    "description": ("description", _WRITTEN),
    "contradiction": ("contradiction", _WRITTEN),
    "philosophy": ("moral_mcq", {"acc": ("correct", 100.0)}),
    "title": ("title_mcq", {"acc": ("correct", 100.0)}),
}
KINDS_OF = {
    "correct": PERCENT,
    "r2": PERCENT,
    "gpt": REAL,  # rule released takes any number for a score, and -1 for none
    "bert": REAL,
    "bert_minilm": REAL,
}
CHOICES = ("philosophy", "title")
FIGURE4 = ("text_oracle", "text_llava_13b", "text_llava_7b")
STAND_IN = "bert_minilm"


def _by_prompt(columns: Array) -> Array:
    """Means of the prompts, [..., 3], of statistics [..., 6]: sums of prompts 1-3, then counts; NaN without a count."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(columns[..., :3] / columns[..., 3:], dtype=np.float64)


def over_prompts(columns: Array) -> Array:
    """Mean over the prompts that are there of their means over items; NaN where there is none."""
    means = _by_prompt(columns)
    there = ~np.isnan(means)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(there, means, 0.0).sum(axis=-1) / there.sum(axis=-1), dtype=np.float64)


spread = Spread(_by_prompt)  # of the prompts' means


def _tasks(*measures: str) -> tuple[str, ...]:
    return tuple(f"{MEASURES[name][0]}_{k}" for name in measures for k in PROMPTS)


def _scored(frame: Frame, kind: str, value: str | None = None) -> Frame:
    """The scored answers to a task, of those that have a value of that name."""
    own = frame.of([f"{kind}_{k}" for k in PROMPTS])
    return own.take(own.scored if value is None else own.scored & ~np.isnan(own.value(value)))


def _prompt(frame: Frame) -> Places:
    """Which prompt, counted from 0, each answer is to."""
    return np.array([int(task.rpartition("_")[2]) - 1 for task in frame.task.words] or [0])[frame.task.codes]


@functools.cache
def _by_item(kind: str, value: str, scale: float, *, several: bool = False) -> Make:
    """A row a comic and sample: sums of the prompts' values, how many there are. `several`: of two prompts at least."""

    def make(frame: Frame) -> Statistics | None:
        own = _scored(frame, kind, value)
        units, rows = np.unique(own.unit, return_inverse=True)
        items = units // own.samples
        sums, prompt = np.zeros((len(items), 6)), _prompt(own)
        np.add.at(sums, (rows, prompt), scale * own.value(value))
        np.add.at(sums, (rows, prompt + 3), 1.0)
        if several and len(np.unique(prompt)) < 2:
            return None
        return Statistics(sums, items, frame.scope.clusters[items], own.digest, own.item)

    return make


@functools.cache
def _comics(kind: str, value: str | None = None) -> Make:
    """Comics, each sample by itself, with a scored answer to a task, of those that have a value of that name."""

    def make(frame: Frame) -> Statistics:
        own = _scored(frame, kind, value)
        return counted(own)

    return make


def _of_prompts(frame: Frame, kind: str, value: str | None = None) -> list[Frame]:
    """Scored answers to a task that have the value, prompt by prompt; prompts without any are left out."""
    own = _scored(frame, kind, value)
    prompt = _prompt(own)
    return [own.take(prompt == k) for k in range(len(PROMPTS)) if (prompt == k).any()]


def _values(measures: Sequence[str]) -> list[tuple[str, str, str, float]]:
    """(column, task, value, scale) of everything measured."""
    return [(f"{name}_{end}", MEASURES[name][0], *one) for name in measures for end, one in MEASURES[name][1].items()]


def _least(measures: Sequence[str]) -> Make:
    """Of the prompt's mean that rests on the fewest answers."""

    def make(frame: Frame) -> Statistics | None:
        groups = [group for _, kind, value, _ in _values(measures) for group in _of_prompts(frame, kind, value)]
        least = min(groups, key=len, default=None)
        if least is None:
            return None
        return Statistics(np.ones((len(least), 1)), least.item, least.clusters, least.digest)

    return make


def _columns(*measures: str) -> list[Column]:
    """Everything measured: means, the prompts' deviations, counts."""
    made: list[Column] = []
    for measure in measures:
        made.append(number(f"n_{measure}", _tasks(measure), _comics(MEASURES[measure][0])))
        for name, kind, value, scale in _values([measure]):
            tasks, several = _tasks(measure), _by_item(kind, value, scale, several=True)
            made.append(Column(name, tasks, _by_item(kind, value, scale), over_prompts, KINDS_OF[value]))
            made.append(Column(f"{name}_sd", tasks, several, spread, KINDS_OF[value], better="neither"))
            if value in ("bert", "gpt"):  # it rests on somebody else's answers
                made.append(number(f"n_{name}", tasks, _comics(kind, value)))
    return [*made, number("prompts_least_n", (), _least(measures))]


def _answered(frame: Frame, kind: str) -> Places:
    """Answers to each prompt of a task."""
    own = frame.of([f"{kind}_{k}" for k in PROMPTS])
    return np.bincount(_prompt(own)[own.answered], minlength=len(PROMPTS))


def _prompts(frame: Frame) -> int | str:
    """How many of the three prompts have an answer; "1-3" where that differs between the tasks that have any."""
    counts = sorted(n for kind in KINDS if (n := int((_answered(frame, kind) > 0).sum()))) or [0]
    return counts[0] if counts[0] == counts[-1] else f"{counts[0]}-{counts[-1]}"


def _whole(frame: Frame, measures: Sequence[str]) -> bool:
    """Whether no answer lacks a value that others have, as where a judge failed; and prompts have as many answers.

    Where all lack it, it was not asked for. Prompts weigh the same, whatever they rest on.
    """
    for _, kind, value, _ in _values(measures):
        if len(_scored(frame, kind, value)) not in (0, len(_scored(frame, kind))):
            return False
    answers = (_answered(frame, MEASURES[name][0]) for name in measures)
    return all(len(set(counts[counts > 0].tolist())) < 2 for counts in answers)


def _row(frame: Frame, measures: Sequence[str], condition: str) -> Row:
    """One row of all the measures, of one condition's answers."""
    own = frame.of(conditions=[condition])
    asked = np.unique(own.of(_tasks(*measures)).item)
    never = len(frame.scope) - len(asked) if len(asked) else 0
    return Row(
        keys={"condition": condition, "prompts": _prompts(own)},
        tasks=_tasks(*measures),
        condition=condition,
        whole=_whole(own, measures) and not never,
        never_asked=never,
        frame=own,
    )


def _by_condition(measures: Sequence[str], conditions: Sequence[str]) -> Callable[[Frame], list[Row]]:
    """A row for each condition that was asked; an empty one of the first where none was."""

    def rows(frame: Frame) -> list[Row]:
        asked = [name for name in conditions if len(frame.of(conditions=[name]))] or conditions[:1]
        return [_row(frame, measures, condition) for condition in asked]

    return rows


def _image_or_text(frame: Frame) -> list[Row]:
    """The image; and, of a model that had them in its place, LLaVA-1.6-13B's descriptions, as the paper's LLMs had."""
    image, text = (frame.of(conditions=[condition]) for condition in TABLE2)
    rows = []
    if len(image) or not len(text):
        rows.append(_row(frame, tuple(MEASURES), DEFAULT))
    if len(text):  # no description is asked for where one is given
        rows.append(_row(frame, ("contradiction", *CHOICES), TABLE2[1]))
    answered = {name for name in TABLE2 if frame.of(conditions=[name]).answered.any()}
    if DEFAULT not in answered and len(rows) > 1:  # a model that reads text only
        rows = rows[1:]
    return rows


# ----------------------------------------------------------------------------------------- tables of the data itself


def _texts(files: Mapping[str, bytes]) -> list[tuple[str, list[tuple[str, str]]]]:
    """(component, its (comic, text)s) of the released file, which `golds` has checked."""
    comics = json.loads(files[ANNOTATIONS].decode("utf-8-sig"))

    def of(*fields: str) -> list[tuple[str, str]]:
        found = []
        for comic in comics:
            for field in fields:
                value = comic.get(field, ())
                texts = value if isinstance(value, list) else [value]
                found += [(str(comic["image_file"]), text) for text in texts if isinstance(text, str)]
        return found

    return [
        ("Image", [(str(comic["image_file"]), "") for comic in comics]),
        ("Literal Description", of("caption")),
        ("Contradiction", of("contradiction")),
        ("Philosophy", of("moral", "neg_moral")),
        ("Title", of("title", "neg_title")),
    ]


def _table1(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
    """How many of each component there are, and their mean length in words and marks."""
    rows = []
    for component, texts in _texts(files):
        names = [name for name, _ in texts]
        columns: dict[str, Estimate | None] = {"number": Estimate(np.ones((len(texts), 1)), total, names, kind=EXACT)}
        lengths = [word_tokens(text) for _, text in texts] if component != "Image" else []
        counted = [float(len(tokens)) for tokens in lengths if tokens is not None]
        if counted:
            sums = np.array([counted, [1.0] * len(counted)]).T
            columns["length"] = Estimate(sums, mean, names, kind=POSITIVE)
        rows.append((component, Row(keys={}, columns=columns)))
    return rows


# ----------------------------------------------------------------------------------------------------- declarations

_MEANS = (
    "Means over the prompts that have answers; column prompts says how many (1-3: some tasks one, some three). "
    "Each has the same weight: prompts_least_n is the number of comics of the one that rests on the fewest."
)
_SPREAD = (
    "…_sd: standard deviation (n - 1) of the prompts' means: how much hangs on the prompt. Its interval holds 0 where "
    "the prompts differ by no more than chance has them differ."
)
_NEVER = "n_missing counts, too, comics that were not asked, for want of a description."
_DESCRIBED = "Prompts with a description are those of the released code; the paper does not print them."
_LENT = (
    "LLaVA-1.6's descriptions were not released: put some into descriptions_llava-1.6-7b.json and …-13b.json in "
    "data/manifests/yesbut/, and select their conditions (docs/yesbut.md)."
)

SCALE = (1.0, 5.0)  # section 4.2: 1 (worst) to 5 (best)


def _ratings(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
    items = {str(comic["image_file"]) for comic in json.loads(files[ANNOTATIONS])}
    ratings = rating_tables.ratings_of(files, items, SCALE)
    made: list[tuple[str, Row]] = []
    for kind, group in rating_tables.grouped(
        ratings, lambda rating: f"{rating.about.get('task', '')}|{rating.about.get('aspect', '')}"
    ).items():
        task, _, aspect = kind.partition("|")
        made += rating_tables.rows(group, _rated, {"task": task, "aspect": aspect})
    return made


def _rated(ratings: Sequence[Rating]) -> dict[str, Estimate | None]:
    scores = rating_tables.score_columns(ratings, SCALE)
    agreement = rating_tables.reliability_columns(ratings)
    return {name: scores[name] for name in ("mean", "std")} | {
        name: agreement.get(name) for name in ("k_alpha", "k_alpha_ordinal")
    }


TABLE2 = (DEFAULT, "text_llava_13b")
_PUBLISHED = [name for name, _, value, _ in _values(tuple(MEASURES)) if value != STAND_IN]
_CHOSEN = tuple(f"{name}_acc" for name in CHOICES)
_COUNTS = (
    *(f"n_{name}" for name in MEASURES),
    *(f"n_{name}_{value}" for name in ("description", "contradiction") for value in ("bert", "gpt")),
    "prompts_least_n",
)
_CHOICE_COUNTS = ("n_philosophy", "n_title", "prompts_least_n")


def _sd(columns: Sequence[str]) -> list[str]:
    return [f"{name}_sd" for name in columns]


def _choices(name: str, title: str, conditions: tuple[str, ...], *notes: str) -> Table:
    return Table(
        name,
        title,
        _columns(*CHOICES),
        order=(*_CHOSEN, *_sd(_CHOSEN), *_CHOICE_COUNTS),
        rule="released",
        keys=("condition", "prompts"),
        whole=_CHOICE_COUNTS,
        conditions=conditions,
        split=_by_condition(CHOICES, conditions),
        chart=Chart(_CHOSEN, by="condition"),
        notes=(_MEANS, _SPREAD, *notes),
    )


TABLES = tables(
    NAME,
    Table(
        "table1",
        "YesBut, table 1: components of the data, and their mean lengths",
        ("number", "length"),
        rule="released",
        whole=("number",),
        data_rows=_table1,
        files=(ANNOTATIONS,),
        notes=(
            "Lengths are in words and marks as NLTK cuts them; without NLTK they stay empty.",
            "Philosophy and title: the right option and the three wrong ones.",
        ),
    ),
    Table(
        "table2",
        "YesBut, table 2: literal description, contradiction, philosophy and title",
        _columns(*MEASURES),
        order=(*_PUBLISHED, *_COUNTS, *_sd(_PUBLISHED), *(f"{name}_{STAND_IN}" for name in list(MEASURES)[:2])),
        rule="released",
        keys=("condition", "prompts"),
        whole=_COUNTS,
        conditions=TABLE2,
        split=_image_or_text,
        notes=(
            _MEANS,
            _SPREAD,
            "BERTScore recall, ROUGE-2 recall and accuracy in per cent; GPT: mean score of 1 to 5.",
            "ROUGE needs the package rouge-score; …_minilm: the stand-in encoder's BERTScore.",
            "n_…_gpt, n_…_bert: comics with a verdict; fewer answers than were scored: the row is not comparable.",
            "Condition text_llava_13b: no image, LLaVA-1.6-13B's description in its place (the paper's LLMs). " + _LENT,
            _NEVER,
        ),
    ),
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
        FIGURE4,
        f"Select conditions=[{','.join(FIGURE4)}]. {_DESCRIBED}",
        _LENT,
        _NEVER,
    ),
    _choices(
        "figure5",
        "YesBut, figure 5: with the annotated description beside the image",
        (DEFAULT, "oracle"),
        "Select conditions=[oracle] for the second row. " + _DESCRIBED,
    ),
    Table(
        "figure3",
        "YesBut, figure 3: descriptions and contradictions, rated by people",
        ("mean", "std", "k_alpha", "k_alpha_ordinal"),
        keys=("task", "aspect"),
        data_rows=_ratings,
        chart=Chart(("mean",), by="aspect", within=("task",)),
        files=(ANNOTATIONS,),
        own=(RATINGS,),
        kind="human",
        notes=(
            rating_tables.NOTE,
            "mean, std: of the mean of an output's raters; std of a sample (n - 1). Columns task (description, "
            "contradiction) and aspect (correctness, completeness, faithfulness) of the file tell rows apart.",
            "Published rows: completeness of descriptions only. Which of a model's other numbers is of which "
            "aspect cannot be told from the picture's text (docs/yesbut.md).",
        ),
    ),
    Table(
        "figure8",
        "YesBut, figure 8: topics of the comics, share in per cent",
        ("share",),
        rule="released",
        files=(ANNOTATIONS,),
        notes=(
            "The topics are clusters of keywords that ChatGPT made; which comic has which topic was not released "
            "(its field `category` is free text), so that there is no row of ours.",
        ),
    ),
)
