"""YesBut's tables and number-bearing figures. Means are over the three prompts of a task, those that have answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from punchline.bench import rating_tables
from punchline.bench.ratings import RATINGS, Rating
from punchline.bench.table import Row, Table
from punchline.benchmarks.yesbut import ANNOTATIONS, PROMPTS
from punchline.core.records import Gold, Grade, Item
from punchline.core.stats import Array, Estimate, mean, total
from punchline.score.ngrams import word_tokens

PERCENT = 100.0
# Column's beginning: task, {end of the column: (value of a grade, scale)}. All but the judge's score in per cent.
_WRITTEN = {"bert": ("bert", PERCENT), "r2": ("r2", PERCENT), "gpt": ("gpt", 1.0)}
MEASURES: dict[str, tuple[str, dict[str, tuple[str, float]]]] = {
    "description": ("description", _WRITTEN),
    "contradiction": ("contradiction", _WRITTEN),
    "philosophy": ("moral_mcq", {"acc": ("correct", PERCENT)}),
    "title": ("title_mcq", {"acc": ("correct", PERCENT)}),
}
# Columns that rest on somebody else's answers, so that each has a count of its own.
_MEASURED = ("description_bert", "description_gpt", "contradiction_bert", "contradiction_gpt")


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


def spread(columns: Array) -> Array:
    """Standard deviation (n - 1) of the prompts' means; NaN for fewer than two prompts."""
    means = _by_prompt(columns)
    there = ~np.isnan(means)
    apart = np.where(there, means - over_prompts(columns)[..., None], 0.0)
    count = there.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt((apart**2).sum(axis=-1) / np.where(count > 1, count - 1, np.nan)), dtype=np.float64)


def _groups(grades: Sequence[Grade], task: str, value: str | None) -> dict[str, list[tuple[int, Grade]]]:
    """{item id: its (prompt, grade)s} of the grades of a task that are scored and have a value of that name."""
    found: dict[str, list[tuple[int, Grade]]] = {}
    for grade in grades:
        kind, _, k = grade.task.rpartition("_")
        if kind == task and grade.scored and (value is None or value in grade.values):
            found.setdefault(grade.item_id, []).append((int(k), grade))
    return found


def _estimates(
    grades: Sequence[Grade], items: Mapping[str, Item], task: str, value: str, scale: float
) -> tuple[Estimate | None, Estimate | None]:
    """(mean over prompts, spread over prompts); a row of statistics is a comic. None where nothing has the value.

    The spread has no interval: resampled comics add their own spread to the prompts', and the interval would lie above
    the value.
    """
    groups = _groups(grades, task, value)
    if not groups:
        return None, None
    sums = np.zeros((len(groups), 6))
    for row, group in zip(sums, groups.values(), strict=True):
        for k, grade in group:
            row[k - 1] += scale * grade.values[value]
            row[k + 2] += 1.0
    clusters = [items[item_id].cluster for item_id in groups]
    digests = [grade.digest for group in groups.values() for _, grade in group]
    point = Estimate(sums=sums, value=over_prompts, clusters=clusters, grades=digests)
    several = int((sums[:, 3:].sum(axis=0) > 0).sum()) > 1
    one = [""] * len(groups)
    return point, Estimate(sums=sums, value=spread, clusters=one, grades=digests) if several else None


def _number(count: int, grades: Sequence[Grade]) -> Estimate | None:
    """A count of comics, which has no interval; None for 0."""
    if not count:
        return None
    digests = [grade.digest for grade in grades]
    return Estimate(sums=np.ones((count, 1)), value=total, clusters=[""] * count, grades=digests)


def _count(grades: Sequence[Grade], task: str, value: str | None = None) -> Estimate | None:
    """Comics with a scored answer to a task, of those that have a value of that name."""
    groups = _groups(grades, task, value)
    return _number(len(groups), [grade for group in groups.values() for _, grade in group])


def _of_prompts(grades: Sequence[Grade], task: str, value: str | None) -> list[list[Grade]]:
    """Scored grades of a task that have a value of that name, prompt by prompt; prompts without any are left out."""
    found: dict[int, list[Grade]] = {}
    for group in _groups(grades, task, value).values():
        for k, grade in group:
            found.setdefault(k, []).append(grade)
    return list(found.values())


def prompts(grades: Sequence[Grade]) -> int | str:
    """How many of the three prompts have an answer; "1-3" where that differs between the tasks that have any."""
    answered = {grade.task.rpartition("_")[::2] for grade in grades if grade.state not in ("missing", "failed")}
    counts = sorted(Counter(kind for kind, _ in answered).values()) or [0]
    return counts[0] if counts[0] == counts[-1] else f"{counts[0]}-{counts[-1]}"


def _row(grades: Sequence[Grade], items: Mapping[str, Item], measures: Sequence[str], condition: str) -> Row:
    """One row of all the measures, of one condition's grades."""
    own = [grade for grade in grades if grade.condition == condition]
    columns: dict[str, Estimate | None] = {}
    least: list[Grade] = []  # of the prompt's mean that rests on the fewest comics
    whole = True
    for name in measures:
        task, values = MEASURES[name]
        columns[f"n_{name}"] = _count(own, task)
        scored = sum(map(len, _of_prompts(own, task, None)))
        measured = {f"{name}_{end}": one for end, one in values.items()}
        if "bert" in values:
            measured[f"{name}_bert_minilm"] = ("bert_minilm", PERCENT)
        for column, (value, scale) in measured.items():
            columns[column], columns[f"{column}_sd"] = _estimates(own, items, task, value, scale)
            if column in _MEASURED:
                columns[f"n_{column}"] = _count(own, task, value)
            of_prompts = _of_prompts(own, task, value)
            least = min((*([least] if least else ()), *of_prompts), key=len, default=[])
            # An answer that lacks the value, as where a judge failed; where all lack it, it was not asked for.
            whole = whole and sum(map(len, of_prompts)) in (0, scored)
        answered = _answered(own, task)
        whole = whole and len(set(answered.values())) < 2  # prompts weigh the same, whatever they rest on
    columns["prompts_least_n"] = _number(len(least), least)
    asked = {grade.item_id for grade in own if grade.task in _tasks(measures)}
    never = len(items.keys() - asked) if asked else 0
    return Row(
        keys={"condition": condition, "prompts": prompts(own)},
        columns=columns,
        items=frozenset(items),
        tasks=_tasks(measures),
        condition=condition,
        whole=whole and not never,
        never_asked=never,
    )


def _answered(grades: Sequence[Grade], task: str) -> Counter[str]:
    """{prompt's task: answers to it}; prompts without any are left out."""
    there = (grade.task for grade in grades if grade.state not in ("missing", "failed"))
    return Counter(name for name in there if name.rpartition("_")[0] == task)


def _tasks(measures: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{MEASURES[name][0]}_{k}" for name in measures for k in PROMPTS)


def _there(grades: Sequence[Grade], condition: str) -> bool:
    return any(grade.condition == condition for grade in grades)


def _rows(
    grades: Sequence[Grade], items: Mapping[str, Item], measures: Sequence[str], conditions: Sequence[str]
) -> list[Row]:
    """A row for each condition that was asked; an empty one of the first where none was."""
    asked = [condition for condition in conditions if _there(grades, condition)] or conditions[:1]
    return [_row(grades, items, measures, condition) for condition in asked]


def _table2(grades: Sequence[Grade], golds: Mapping[str, Gold], items: Mapping[str, Item]) -> list[Row]:
    """The image; and, of a model that had them in its place, LLaVA-1.6-13B's descriptions, as the paper's LLMs had."""
    rows = []
    for row in _rows(grades, items, tuple(MEASURES), ("default", "text_llava_13b")):
        if row.condition != "default":  # no description is asked for where one is given
            row = _row(grades, items, ("contradiction", "philosophy", "title"), row.condition)
        rows.append(row)
    answered = {grade.condition for grade in grades if grade.state not in ("missing", "failed")}
    if "default" not in answered and len(rows) > 1:  # a model that reads text only
        rows = [row for row in rows if row.condition != "default"]
    return rows


def _table3(grades: Sequence[Grade], golds: Mapping[str, Gold], items: Mapping[str, Item]) -> list[Row]:
    return _rows(grades, items, CHOICES, ("default", "chained"))


def _figure4(grades: Sequence[Grade], golds: Mapping[str, Gold], items: Mapping[str, Item]) -> list[Row]:
    return _rows(grades, items, CHOICES, FIGURE4)


def _figure5(grades: Sequence[Grade], golds: Mapping[str, Gold], items: Mapping[str, Item]) -> list[Row]:
    return _rows(grades, items, CHOICES, ("default", "oracle"))


CHOICES = ("philosophy", "title")
FIGURE4 = ("text_oracle", "text_llava_13b", "text_llava_7b")
CHOICE_COUNTS = ("n_philosophy", "n_title", "prompts_least_n")
CHOICE_COLUMNS = ("philosophy_acc", "title_acc", "philosophy_acc_sd", "title_acc_sd", *CHOICE_COUNTS)


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
        columns: dict[str, Estimate | None] = {
            "number": Estimate(sums=np.ones((len(texts), 1)), value=total, clusters=[""] * len(texts), grades=())
        }
        lengths = [word_tokens(text) for _, text in texts] if component != "Image" else []
        counted = [float(len(tokens)) for tokens in lengths if tokens is not None]
        if counted:
            sums = np.array([counted, [1.0] * len(counted)]).T
            columns["length"] = Estimate(sums=sums, value=mean, clusters=names, grades=())
        rows.append((component, Row(keys={}, columns=columns)))
    return rows


def _nothing(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
    """No row of ours."""
    return []


# ----------------------------------------------------------------------------------------------------- declarations

_PUBLISHED = tuple(f"{name}_{end}" for name, (_, values) in MEASURES.items() for end in values)
_COUNTS = (*(f"n_{name}" for name in MEASURES), *(f"n_{column}" for column in _MEASURED), "prompts_least_n")
_STAND_IN = tuple(f"{name}_bert_minilm" for name in ("description", "contradiction"))
_MEANS = (
    "Means over the prompts that have answers; column prompts says how many (1-3: some tasks one, some three). "
    "Each has the same weight: prompts_least_n is the number of comics of the one that rests on the fewest."
)
_SPREAD = "…_sd: standard deviation (n - 1) of the prompts' means; without an interval."
_NEVER = "n_missing counts, too, comics that were not asked, for want of a description."
_DESCRIBED = "Prompts with a description are those of the released code; the paper does not print them."
_LENT = (
    "LLaVA-1.6's descriptions were not released: put some into descriptions_llava-1.6-7b.json and …-13b.json in "
    "data/manifests/yesbut/, and select their conditions (docs/yesbut.md)."
)

SCALE = (1.0, 5.0)  # section 4.2: 1 (worst) to 5 (best)


def _figure3(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
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
    scores = rating_tables.score_columns(ratings)
    agreement = rating_tables.reliability_columns(ratings)
    return {name: scores[name] for name in ("mean", "std")} | {
        name: agreement.get(name) for name in ("k_alpha", "k_alpha_ordinal")
    }


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            name="table1",
            title="YesBut, table 1: components of the data, and their mean lengths",
            file="yesbut/table1.csv",
            rule="released",
            keys=(),
            columns=("number", "length"),
            whole=("number",),
            data_rows=_table1,
            files=(ANNOTATIONS,),
            notes=(
                "Lengths are in words and marks as NLTK cuts them; without NLTK they stay empty.",
                "Philosophy and title: the right option and the three wrong ones.",
            ),
        ),
        Table(
            name="table2",
            title="YesBut, table 2: literal description, contradiction, philosophy and title",
            file="yesbut/table2.csv",
            rule="released",
            keys=("condition", "prompts"),
            columns=(*_PUBLISHED, *_COUNTS, *(f"{column}_sd" for column in _PUBLISHED), *_STAND_IN),
            whole=_COUNTS,
            tasks=_tasks(tuple(MEASURES)),
            conditions=("default", "text_llava_13b"),
            rows=_table2,
            notes=(
                _MEANS,
                _SPREAD,
                "BERTScore recall, ROUGE-2 recall and accuracy in per cent; GPT: mean score of 1 to 5.",
                "ROUGE needs the package rouge-score; …_minilm: the stand-in encoder's BERTScore.",
                "n_…_gpt, n_…_bert: comics with a verdict; fewer answers than were scored: the row is not comparable.",
                "Condition text_llava_13b: no image, LLaVA-1.6-13B's description in its place (the paper's LLMs). "
                + _LENT,
                _NEVER,
            ),
        ),
        Table(
            name="table3",
            title="YesBut, table 3: with the model's own description beside the image",
            file="yesbut/table3.csv",
            rule="released",
            keys=("condition", "prompts"),
            columns=CHOICE_COLUMNS,
            whole=CHOICE_COUNTS,
            tasks=_tasks(CHOICES),
            conditions=("default", "chained"),
            rows=_table3,
            notes=(_MEANS, _SPREAD, _NEVER, "Select conditions=[chained] for the second row. " + _DESCRIBED),
        ),
        Table(
            name="figure4",
            title="YesBut, figure 4: text only, with descriptions of three makers",
            file="yesbut/figure4.csv",
            rule="released",
            keys=("condition", "prompts"),
            columns=CHOICE_COLUMNS,
            whole=CHOICE_COUNTS,
            tasks=_tasks(CHOICES),
            conditions=FIGURE4,
            rows=_figure4,
            notes=(_MEANS, _SPREAD, f"Select conditions=[{','.join(FIGURE4)}]. {_DESCRIBED}", _LENT, _NEVER),
        ),
        Table(
            name="figure5",
            title="YesBut, figure 5: with the annotated description beside the image",
            file="yesbut/figure5.csv",
            rule="released",
            keys=("condition", "prompts"),
            columns=CHOICE_COLUMNS,
            whole=CHOICE_COUNTS,
            tasks=_tasks(CHOICES),
            conditions=("default", "oracle"),
            rows=_figure5,
            notes=(_MEANS, _SPREAD, "Select conditions=[oracle] for the second row. " + _DESCRIBED),
        ),
        Table(
            name="figure3",
            title="YesBut, figure 3: descriptions and contradictions, rated by people",
            file="yesbut/figure3.csv",
            rule="paper",
            keys=("task", "aspect"),
            columns=("mean", "std", "k_alpha", "k_alpha_ordinal"),
            data_rows=_figure3,
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
            name="figure8",
            title="YesBut, figure 8: topics of the comics, share in per cent",
            file="yesbut/figure8.csv",
            rule="released",
            keys=(),
            columns=("share",),
            data_rows=_nothing,
            files=(ANNOTATIONS,),
            notes=(
                "The topics are clusters of keywords that ChatGPT made; which comic has which topic was not released "
                "(its field `category` is free text), so that there is no row of ours.",
            ),
        ),
    )
}
