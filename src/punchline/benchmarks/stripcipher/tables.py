"""StripCipher's tables and number-bearing figures. Scores are percentages, as published."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from punchline.bench.chart import Chart
from punchline.bench.column import Column, Statistics, estimates, having, mean_of
from punchline.bench.frame import Flags, Frame, Scope
from punchline.bench.table import Across, NamedRow, Row, Table, tables
from punchline.benchmarks.stripcipher import FEWEST, MEANING, MOST, NAME, ROW, SEQUENCE, SHUFFLED, STRIPS, TASKS
from punchline.benchmarks.stripcipher.holdout import held_out
from punchline.benchmarks.stripcipher.strips import CATEGORIES, Strip, choices, strips_of
from punchline.core.benchmark import DEFAULT
from punchline.core.stats import EXACT, PERCENT, POSITIVE, Array, Estimate, Kind, Value, mean, percent, total

COMPREHENSION = "comprehension"
PRINTED = {"prediction": 600, COMPREHENSION: 680, "reordering_choice": 890}  # strips, table 3

# ------------------------------------------------------------------------------------------------------------ columns


def _accuracy(task: str, name: str = "", value: str = "correct") -> Column:
    """100 x right / scored."""
    return mean_of(name or task, task, value, percent)


def _held_out(task: str) -> Column:
    """The same, on strips that fine-tuning holds out."""
    every = having(task, "correct")

    def make(frame: Frame) -> Statistics | None:
        found, scope = every(frame), frame.scope
        held = scope.once("held out", lambda: np.array([held_out(name) for name in scope.names], dtype=np.bool_))
        return None if found is None else found.on(held)

    return Column(task, (task,), make, percent)


def _mean_of_shares(parts: Sequence[Statistics | None], of: int) -> Statistics | None:
    """The sum of the parts' percentages over `of`; a part without answers adds 0. None where nothing was scored."""
    done = [part for part in parts if part is not None and len(part.sums)]
    if not done:
        return None
    items = np.unique(np.concatenate([part.item for part in done]))
    sums = np.zeros((len(items), 2 * len(done)))
    clusters = np.zeros(len(items), dtype=np.int64)
    for place, part in enumerate(done):
        rows = np.searchsorted(items, part.item)
        np.add.at(sums[:, 2 * place : 2 * place + 2], rows, part.sums)
        clusters[rows] = part.clusters

    def value(columns: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = columns[..., 0::2] / columns[..., 1::2]
        return np.asarray(100 * shares.sum(axis=-1) / of, dtype=np.float64)

    digests, members = (np.concatenate([getattr(part, name) for part in done]) for name in ("digests", "item"))
    return Statistics(sums, items, clusters, digests, members, value)


def _average(frame: Frame) -> Statistics | None:
    """The mean of the four tasks, 0 for one without an answer. None where the strips at hand do not have all four."""
    if not all(_asked_of(frame.scope, task).any() for task in TASKS):
        return None
    return _mean_of_shares([having(task, "correct")(frame) for task in TASKS], len(TASKS))


# --------------------------------------------------------------------------------------------------------------- rows


def _asked_of(scope: Scope, task: str) -> Flags:
    """Strips that a task is asked of."""
    return scope.once(("asked of", task), lambda: scope.such(lambda gold: task in gold.values))


def _papers(scope: Scope) -> bool:
    """Whether these may be the paper's strips: as many of each task as its table 3 has. No others compare with it."""
    return all(int(_asked_of(scope, task).sum()) == count for task, count in PRINTED.items())


def _of_tasks(frame: Frame, tasks: Sequence[str] = TASKS) -> Row:
    """A row of several tasks, each of whose states counts in the condition that its value comes from.

    That is `row` for a task of which no answer on separate frames is scored.
    """
    scored = {
        (task, condition): bool(frame.of([task], [condition]).scored.any())
        for task in tasks
        for condition in (DEFAULT, ROW)
    }
    in_row = tuple(task for task in tasks if scored[task, ROW] and not scored[task, DEFAULT])
    separate = tuple(task for task in tasks if task not in in_row)
    answered = [task for task in separate if task != COMPREHENSION and scored[task, DEFAULT]]
    shown = "side by side" if in_row else "separate"
    instead = frame.task.are(*in_row) & frame.condition.are(ROW)
    return Row(
        {"frames": f"{shown}: {', '.join(in_row)}" if in_row and answered else shown},
        tasks=separate,
        whole=_papers(frame.scope),
        asked=tuple((task, ROW) for task in in_row),
        frame=frame.take(instead | (frame.task.are(*separate) & frame.condition.are(DEFAULT))),
    )


TUNED = [_accuracy(COMPREHENSION), *(_held_out(task) for task in TASKS[2:])]


def _before_and_after(across: Across) -> list[NamedRow]:
    """Each tuned model and its base; reordering on held-out strips only."""
    models = {model.name: model for model in across.models}
    pairs = [(m, models[m.card.base]) for m in across.models if m.card is not None and m.card.base in models]
    if not pairs:
        across.notes.append("No tuned model is selected together with its base: a card names it with `base: STEM`.")
    rows = []
    for tuned, base in pairs:
        for training, model in (("none", base), ("reordering", tuned)):
            row = _of_tasks(model.frame, TASKS[1:])
            assert row.frame is not None
            columns = estimates(TUNED, row.frame, across.scope.everything)
            row = replace(row, keys={"training": training, **row.keys}, columns=columns, items=across.scope.everything)
            rows.append(NamedRow(model.name, row, model))
    return rows


def _by_input(frame: Frame) -> list[Row]:
    return [
        Row(
            {"input": name},
            items=_asked_of(frame.scope, COMPREHENSION),
            whole=_papers(frame.scope),
            condition=condition,
            frame=frame.of(conditions=[condition]),
        )
        for name, condition in (("whole", DEFAULT), ("sequence", SEQUENCE), ("shuffled", SHUFFLED))
    ]


def _with_meaning(frame: Frame) -> list[Row]:
    """Reordering by choice; where some strips have no meaning, also without it on those that have one."""
    scope, whole = frame.scope, _papers(frame.scope)
    told = np.array(["meaning" in scope.items[name].fields for name in scope.names], dtype=np.bool_)
    shuffled, given = (frame.of(conditions=[condition]) for condition in (DEFAULT, MEANING))
    rows = [
        Row({"input": "shuffled"}, whole=whole, frame=shuffled),
        Row({"input": "meaning"}, items=told, whole=whole, condition=MEANING, frame=given),
    ]
    if told.any() and not told.all():
        rows.insert(1, Row({"subset": "with meaning", "input": "shuffled"}, items=told, whole=False, frame=shuffled))
    return rows


def _split(key: str, kinds: Sequence[str | int], value: str) -> Callable[[Frame], list[Row]]:
    """Comprehension by a property of the strips."""

    def rows(frame: Frame) -> list[Row]:
        whole = _papers(frame.scope)
        found = ((kind, _such(frame.scope, value, kind)) for kind in kinds)
        return [Row({key: kind}, items=strips, whole=whole) for kind, strips in found if strips.any()]

    return rows


def _such(scope: Scope, value: str, wanted: Hashable) -> Flags:
    return _asked_of(scope, COMPREHENSION) & scope.such(lambda gold: gold.values.get(value) == wanted)


def _mean_of_models(across: Across) -> list[NamedRow]:
    """The mean of the selected models that answer; baselines are none."""
    answers = [having(COMPREHENSION, "correct")(model.frame) for model in across.models if model.kind != "baseline"]
    rows = []
    for frames in range(FEWEST, MOST + 1):
        strips = _such(across.scope, "frames", frames)
        parts = [found.on(strips) for found in answers if found is not None]
        several = sum(len(part.sums) > 0 for part in parts)
        if several > 1:
            average = _mean_of_shares(parts, several)
            columns = {COMPREHENSION: None if average is None else average.estimate(kind=PERCENT)}
            rows.append(NamedRow("AVG", Row({"frames": frames}, columns, whole=False)))
    return rows


# ----------------------------------------------------------------------------------- data: tables 1 and 3, figure 5


def _sum(
    strips: Sequence[Strip], values: Sequence[Sequence[float]], value: Value, kind: Kind | None = None
) -> Estimate:
    return Estimate(np.array(values, dtype=np.float64), value, [strip.item_id for strip in strips], kind=kind)


def _kinds(columns: Array) -> Array:
    return np.asarray((columns > 0).sum(axis=-1), dtype=np.float64)


def _lengths(strip: Strip, task: str) -> tuple[float, float]:
    """(words in all options, options); for reordering (frames, 1): its options are sequences."""
    if task == "reordering":
        return float(strip.frames), 1.0
    options = choices(strip)[task].options
    return float(sum(len(option.split()) for option in options)), float(len(options))


def _category(strip: Strip) -> str | None:
    return strip.texts.category if strip.texts is not None else None


def _table1(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
    strips = list(strips_of(files).values())
    columns = {
        "frames": _sum(strips, [[strip.frames] for strip in strips], total),
        "sequences": _sum(strips, [[1.0]] * len(strips), total),
        "categories": _sum(strips, [[_category(strip) == c for c in CATEGORIES] for strip in strips], _kinds),
    }
    return [("strips", Row({}, columns, whole=False))] if strips else []


def _table3(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
    every = list(strips_of(files).values())
    rows = []
    for task in ("prediction", "comprehension", "reordering"):
        strips = [strip for strip in every if task == "reordering" or task in choices(strip)]
        if not strips:
            continue
        columns = {
            "examples": _sum(strips, [[1.0]] * len(strips), total, EXACT),
            "length": _sum(strips, [_lengths(strip, task) for strip in strips], mean, POSITIVE),
            "frames": _sum(strips, [[strip.frames] for strip in strips], total, EXACT),
            "types": _sum(strips, [[_category(strip) == c for c in CATEGORIES] for strip in strips], _kinds, EXACT),
        }
        rows.append(("strips", Row({"task": task}, columns, whole=False)))
    return rows


def _figure5(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
    strips = [strip for strip in strips_of(files).values() if _category(strip) is not None]
    rows = []
    for category in CATEGORIES if strips else ():
        flags = [[float(_category(strip) == category), 1.0] for strip in strips]
        columns = {
            "strips": _sum(strips, [flag[:1] for flag in flags], total),
            "percent": _sum(strips, flags, percent),
        }
        rows.append(("strips", Row({"category": category}, columns, whole=False)))
    return rows


# ------------------------------------------------------------------------------------------------------------- tables

_MADE = "Strips and reviewed texts are not the authors', who released none: ours do not compare with the paper's."
_STAR = (
    "A task without an answer is empty (the paper's *) and counts 0 in avg; avg is empty where the strips at hand do "
    "not have all four tasks."
)
_FRAMES = (
    "frames: separate, or side by side in one image (condition row), which a task's answers are taken of where it has "
    "none on separate frames; where that holds for some tasks only, they are named. Comprehension has the whole strip."
)
_PLACES = (
    "reordering_generation takes an answer for the frames in the order of the story; reordering_generation_as_places "
    "takes the same answer for the places of the frames as shown. The instruction can be read both ways."
)


TABLES = tables(
    NAME,
    Table(
        "table1",
        "StripCipher table 1: its own row",
        ("frames", "sequences", "categories"),
        whole=("frames", "sequences", "categories"),
        data_rows=_table1,
        files=(STRIPS,),
        n_from="sequences",
        notes=("The other rows are other datasets.", _MADE),
    ),
    Table(
        "table3",
        "StripCipher table 3: the strips",
        ("examples", "length", "frames", "types"),
        keys=("task",),
        whole=("examples", "frames", "types"),
        data_rows=_table3,
        files=(STRIPS,),
        n_from="examples",
        notes=("length: words of an option; frames of a strip for reordering.", _MADE),
    ),
    Table(
        "table4",
        "StripCipher table 4: accuracy, %",
        [
            *(_accuracy(task) for task in TASKS),
            Column("avg", TASKS, _average, kind=PERCENT),
            _accuracy("reordering_generation", "reordering_generation_as_places", "correct_as_places"),
        ],
        keys=("frames",),
        conditions=(DEFAULT, ROW),
        split=lambda frame: [_of_tasks(frame)],
        notes=(_STAR, _FRAMES, _PLACES, _MADE),
    ),
    Table(
        "table5",
        "StripCipher table 5: fine-tuning on reordering, accuracy, %",
        TASKS[1:],
        keys=("training", "frames"),
        tasks=TASKS[1:],
        conditions=(DEFAULT, ROW),
        across=_before_and_after,
        notes=("Reordering is scored on strips that fine-tuning holds out, comprehension on all.", _FRAMES, _MADE),
    ),
    Table(
        "table6",
        "StripCipher table 6: comprehension by input, accuracy, %",
        [_accuracy(COMPREHENSION)],
        keys=("input",),
        conditions=(DEFAULT, SEQUENCE, SHUFFLED),
        split=_by_input,
        notes=("Inputs sequence and shuffled need conditions=[sequence,shuffled].", _MADE),
    ),
    Table(
        "table7",
        "StripCipher table 7: reordering by choice, with and without the implicit meaning, accuracy, %",
        [_accuracy("reordering_choice")],
        keys=("input",),
        conditions=(DEFAULT, MEANING),
        split=_with_meaning,
        notes=("Input meaning needs conditions=[meaning], and strips with reviewed texts.", _MADE),
    ),
    Table(
        "table8",
        "StripCipher table 8: comprehension by number of frames, accuracy, %",
        [_accuracy(COMPREHENSION)],
        keys=("frames",),
        split=_split("frames", range(FEWEST, MOST + 1), "frames"),
        across=_mean_of_models,
        notes=("AVG: the mean of the selected models, at least two, without baselines.", _MADE),
    ),
    Table(
        "figure4",
        "StripCipher figure 4: accuracy by size of the model, %",
        [_accuracy(task) for task in TASKS],
        keys=("frames",),
        chart=Chart(TASKS, within=("frames",)),
        conditions=(DEFAULT, ROW),
        split=lambda frame: [_of_tasks(frame)],
        notes=("Of the figure's values the text prints three and table 4 two more.", _FRAMES, _MADE),
    ),
    Table(
        "figure5",
        "StripCipher figure 5: categories of the strips",
        ("strips", "percent"),
        keys=("category",),
        whole=("strips",),
        data_rows=_figure5,
        chart=Chart(("percent",), by="category"),
        files=(STRIPS,),
        notes=("The paper prints no number of this figure. Strips without a category are left out.",),
    ),
    Table(
        "figure6",
        "StripCipher figure 6: comprehension by category, accuracy, %",
        [_accuracy(COMPREHENSION)],
        keys=("category",),
        split=_split("category", CATEGORIES, "category"),
        chart=Chart((COMPREHENSION,), by="category"),
        notes=("The paper prints no number of this figure.",),
    ),
)
