"""StripCipher's tables and number-bearing figures. Scores are percentages, as published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from punchline.bench.table import Across, NamedRow, Row, Table
from punchline.benchmarks.stripcipher import FEWEST, MEANING, MOST, ROW, SEQUENCE, SHUFFLED, STRIPS, TASKS
from punchline.benchmarks.stripcipher.holdout import held_out
from punchline.benchmarks.stripcipher.strips import CATEGORIES, Strip, choices, strips_of
from punchline.core.benchmark import DEFAULT
from punchline.core.records import Gold, Grade, Item
from punchline.core.stats import Array, Estimate, mean, total

Golds = Mapping[str, Gold]
Items = Mapping[str, Item]

PRINTED = {"prediction": 600, "comprehension": 680, "reordering_choice": 890}  # strips, table 3


def _percent(columns: Array) -> Array:
    return 100 * mean(columns)


def _share(grades: Iterable[Grade], items: Items, flag: str = "correct") -> Estimate | None:
    """100 x right / scored. None where nothing was scored."""
    scored = [grade for grade in grades if grade.scored]
    if not scored:
        return None
    return Estimate(
        sums=np.array([[grade.values[flag], 1.0] for grade in scored]),
        value=_percent,
        clusters=[items[grade.item_id].cluster for grade in scored],
        grades=[grade.digest for grade in scored],
    )


def _of(grades: Iterable[Grade], task: str, condition: str) -> list[Grade]:
    return [grade for grade in grades if grade.task == task and grade.condition == condition]


def _asked_of(golds: Golds, task: str) -> frozenset[str]:
    """Strips that a task is asked of."""
    return frozenset(name for name, gold in golds.items() if task in gold.values)


def _papers(golds: Golds) -> bool:
    """Whether these may be the paper's strips: as many of each task as its table 3 has. No others compare with it."""
    return all(len(_asked_of(golds, task)) == count for task, count in PRINTED.items())


# ------------------------------------------------------------------------------------------------- table 4, figure 4


def _by_task(grades: Sequence[Grade], tasks: Sequence[str] = TASKS) -> tuple[dict[str, list[Grade]], tuple[str, ...]]:
    """Each task's grades, and the tasks whose are of `row`: those of which no answer on separate frames is scored."""
    chosen, in_row = {}, []
    for task in tasks:
        own = _of(grades, task, DEFAULT)
        instead = _of(grades, task, ROW)
        if not any(grade.scored for grade in own) and any(grade.scored for grade in instead):
            own = instead
            in_row.append(task)
        chosen[task] = own
    return chosen, tuple(in_row)


def _of_tasks(
    keys: Mapping[str, str],
    columns: Mapping[str, Estimate | None],
    chosen: Mapping[str, Sequence[Grade]],
    in_row: tuple[str, ...],
    golds: Golds,
    items: Items,
) -> Row:
    """A row of several tasks, each of whose states counts in the condition that its value comes from."""
    separate = [task for task, own in chosen.items() if task not in in_row]
    answered = [task for task in separate if task != "comprehension" and any(grade.scored for grade in chosen[task])]
    shown = "side by side" if in_row else "separate"
    return Row(
        {**keys, "frames": f"{shown}: {', '.join(in_row)}" if in_row and answered else shown},
        columns,
        frozenset(items),
        tuple(separate),
        _papers(golds),
        asked=tuple((task, ROW) for task in in_row),
    )


def _mean_share(groups: Sequence[Sequence[Grade]], of: int, items: Items) -> Estimate | None:
    """The sum of the groups' percentages over `of`. None where nothing was scored; a group without answers adds 0."""
    scored = [[grade for grade in grades if grade.scored] for grades in groups]
    done = [grades for grades in scored if grades]
    if not done:
        return None
    sums: dict[str, list[float]] = {}
    for place, grades in enumerate(done):
        for grade in grades:
            columns = sums.setdefault(grade.item_id, [0.0] * (2 * len(done)))
            columns[2 * place] += grade.values["correct"]
            columns[2 * place + 1] += 1.0

    def value(columns: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = columns[..., 0::2] / columns[..., 1::2]
        return np.asarray(100 * shares.sum(axis=-1) / of, dtype=np.float64)

    return Estimate(
        sums=np.array(list(sums.values())),
        value=value,
        clusters=[items[name].cluster for name in sums],
        grades=[grade.digest for grades in done for grade in grades],
    )


def _average(chosen: Mapping[str, Sequence[Grade]], golds: Golds, items: Items) -> Estimate | None:
    """The mean of the four tasks, 0 for one without an answer. None where the strips at hand do not have all four."""
    if not all(_asked_of(golds, task) for task in TASKS):
        return None
    return _mean_share(list(chosen.values()), len(TASKS), items)


def _table4(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    chosen, in_row = _by_task(grades)
    columns = {task: _share(own, items) for task, own in chosen.items()}
    columns["avg"] = _average(chosen, golds, items)
    columns["reordering_generation_as_places"] = _share(chosen["reordering_generation"], items, "correct_as_places")
    return [_of_tasks({}, columns, chosen, in_row, golds, items)]


def _figure4(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    chosen, in_row = _by_task(grades)
    columns = {task: _share(own, items) for task, own in chosen.items()}
    return [_of_tasks({}, columns, chosen, in_row, golds, items)]


# ------------------------------------------------------------------------------------------------------ tables 5 to 8


def _table5(across: Across) -> list[NamedRow]:
    """Each tuned model and its base; reordering on held-out strips only."""
    models = {model.name: model for model in across.models}
    pairs = [(m, models[m.card.base]) for m in across.models if m.card is not None and m.card.base in models]
    if not pairs:
        across.notes.append("No tuned model is selected together with its base: a card names it with `base: STEM`.")
    rows = []
    for tuned, base in pairs:
        for training, model in (("none", base), ("reordering", tuned)):
            chosen, in_row = _by_task(model.grades, TASKS[1:])
            columns = {"comprehension": _share(chosen["comprehension"], across.items)}
            for task in TASKS[2:]:
                columns[task] = _share((g for g in chosen[task] if held_out(g.item_id)), across.items)
            row = _of_tasks({"training": training}, columns, chosen, in_row, across.golds, across.items)
            rows.append(NamedRow(model.name, row, model))
    return rows


def _table6(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    strips = _asked_of(golds, "comprehension")
    return [
        Row(
            {"input": name},
            {"comprehension": _share(_of(grades, "comprehension", condition), items)},
            strips,
            ("comprehension",),
            _papers(golds),
            condition,
        )
        for name, condition in (("whole", DEFAULT), ("sequence", SEQUENCE), ("shuffled", SHUFFLED))
    ]


def _table7(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    """Reordering by choice; where some strips have no meaning, also without it on those that have one."""
    told = frozenset(name for name, item in items.items() if "meaning" in item.fields)
    task = "reordering_choice"
    whole = _papers(golds)
    shuffled, with_meaning = (_of(grades, task, condition) for condition in (DEFAULT, MEANING))
    rows = [
        Row({"input": "shuffled"}, {task: _share(shuffled, items)}, frozenset(items), (task,), whole),
        Row({"input": "meaning"}, {task: _share(with_meaning, items)}, told, (task,), whole, MEANING),
    ]
    if told and len(told) < len(items):
        same = {task: _share((grade for grade in shuffled if grade.item_id in told), items)}
        rows.insert(1, Row({"subset": "with meaning", "input": "shuffled"}, same, told, (task,), whole=False))
    return rows


def _split(
    key: str, names: Mapping[str | int, frozenset[str]], grades: Sequence[Grade], golds: Golds, items: Items
) -> list[Row]:
    """Comprehension by a property of the strips."""
    asked = _of(grades, "comprehension", DEFAULT)
    return [
        Row(
            {key: name},
            {"comprehension": _share((grade for grade in asked if grade.item_id in strips), items)},
            strips,
            ("comprehension",),
            _papers(golds),
        )
        for name, strips in names.items()
        if strips
    ]


def _by_frames(golds: Golds) -> dict[str | int, frozenset[str]]:
    asked = _asked_of(golds, "comprehension")
    return {n: frozenset(name for name in asked if golds[name].values["frames"] == n) for n in range(FEWEST, MOST + 1)}


def _table8(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    return _split("frames", _by_frames(golds), grades, golds, items)


def _table8_average(across: Across) -> list[NamedRow]:
    """The mean of the selected models that answer; baselines are none."""
    asked = [_of(model.grades, "comprehension", DEFAULT) for model in across.models if model.kind != "baseline"]
    rows = []
    for frames, strips in _by_frames(across.golds).items():
        groups = [[grade for grade in grades if grade.item_id in strips and grade.scored] for grades in asked]
        done = [grades for grades in groups if grades]
        if len(done) > 1:
            columns = {"comprehension": _mean_share(done, len(done), across.items)}
            rows.append(NamedRow("AVG", Row({"frames": frames}, columns, whole=False)))
    return rows


def _figure6(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    asked = _asked_of(golds, "comprehension")
    kinds: dict[str | int, frozenset[str]] = {
        category: frozenset(name for name in asked if golds[name].values.get("category") == category)
        for category in CATEGORIES
    }
    return _split("category", kinds, grades, golds, items)


# -------------------------------------------------------------------------------------------- data: table 3, figure 5


def _sum(strips: Sequence[Strip], values: Sequence[Sequence[float]], value: Callable[[Array], Array]) -> Estimate:
    return Estimate(
        sums=np.array(values, dtype=np.float64), value=value, clusters=[strip.item_id for strip in strips], grades=()
    )


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


def _table3(files: Mapping[str, bytes]) -> list[tuple[str, Row]]:
    every = list(strips_of(files).values())
    rows = []
    for task in ("prediction", "comprehension", "reordering"):
        strips = [strip for strip in every if task == "reordering" or task in choices(strip)]
        if not strips:
            continue
        columns = {
            "examples": _sum(strips, [[1.0]] * len(strips), total),
            "length": _sum(strips, [_lengths(strip, task) for strip in strips], mean),
            "frames": _sum(strips, [[strip.frames] for strip in strips], total),
            "types": _sum(strips, [[_category(strip) == c for c in CATEGORIES] for strip in strips], _kinds),
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
            "percent": _sum(strips, flags, _percent),
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


def _table(name: str, title: str, keys: tuple[str, ...], columns: tuple[str, ...], **more: object) -> Table:
    return Table(
        name=name,
        title=f"StripCipher {title}",
        file=f"stripcipher/{name}.csv",
        rule="paper",
        keys=keys,
        columns=columns,
        **more,  # type: ignore[arg-type]
    )


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        _table(
            "table3",
            "table 3: the strips",
            ("task",),
            ("examples", "length", "frames", "types"),
            whole=("examples", "frames", "types"),
            data_rows=_table3,
            files=(STRIPS,),
            n_from="examples",
            notes=("length: words of an option; frames of a strip for reordering.", _MADE),
        ),
        _table(
            "table4",
            "table 4: accuracy, %",
            ("frames",),
            (*TASKS, "avg", "reordering_generation_as_places"),
            tasks=TASKS,
            conditions=(DEFAULT, ROW),
            rows=_table4,
            notes=(_STAR, _FRAMES, _PLACES, _MADE),
        ),
        _table(
            "table5",
            "table 5: fine-tuning on reordering, accuracy, %",
            ("training", "frames"),
            TASKS[1:],
            tasks=TASKS[1:],
            conditions=(DEFAULT, ROW),
            across=_table5,
            notes=("Reordering is scored on strips that fine-tuning holds out, comprehension on all.", _FRAMES, _MADE),
        ),
        _table(
            "table6",
            "table 6: comprehension by input, accuracy, %",
            ("input",),
            ("comprehension",),
            tasks=("comprehension",),
            conditions=(DEFAULT, SEQUENCE, SHUFFLED),
            rows=_table6,
            notes=("Inputs sequence and shuffled need conditions=[sequence,shuffled].", _MADE),
        ),
        _table(
            "table7",
            "table 7: reordering by choice, with and without the implicit meaning, accuracy, %",
            ("input",),
            ("reordering_choice",),
            tasks=("reordering_choice",),
            conditions=(DEFAULT, MEANING),
            rows=_table7,
            notes=("Input meaning needs conditions=[meaning], and strips with reviewed texts.", _MADE),
        ),
        _table(
            "table8",
            "table 8: comprehension by number of frames, accuracy, %",
            ("frames",),
            ("comprehension",),
            tasks=("comprehension",),
            rows=_table8,
            across=_table8_average,
            notes=("AVG: the mean of the selected models, at least two, without baselines.", _MADE),
        ),
        _table(
            "figure4",
            "figure 4: accuracy by size of the model, %",
            ("frames",),
            TASKS,
            tasks=TASKS,
            conditions=(DEFAULT, ROW),
            rows=_figure4,
            notes=("Of the figure's values the text prints three.", _FRAMES, _MADE),
        ),
        _table(
            "figure5",
            "figure 5: categories of the strips",
            ("category",),
            ("strips", "percent"),
            whole=("strips",),
            data_rows=_figure5,
            files=(STRIPS,),
            notes=("The paper prints no number of this figure. Strips without a category are left out.",),
        ),
        _table(
            "figure6",
            "figure 6: comprehension by category, accuracy, %",
            ("category",),
            ("comprehension",),
            tasks=("comprehension",),
            rows=_figure6,
            notes=("The paper prints no number of this figure.",),
        ),
    )
}
