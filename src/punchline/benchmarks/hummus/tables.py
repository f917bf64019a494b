"""Hummus's tables and number-bearing figure, from grades of its pairs and from its released files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from punchline.bench.table import Across, Graded, NamedRow, Row, Table
from punchline.benchmarks.hummus import DATASET, JOINT_TASKS, PROMPT_TASKS, TEST_SET
from punchline.benchmarks.hummus.dataset import random_rows, split_rows, statistics_rows
from punchline.benchmarks.hummus.estimates import (
    COUNTS,
    F1,
    GOOD,
    Golds,
    Items,
    Value,
    answers_to,
    cosine,
    f1,
    good,
    over_blocks,
    score,
    share,
    success,
)
from punchline.benchmarks.hummus.scope import ANNOTATION, in_scope
from punchline.benchmarks.hummus.split import held_out
from punchline.core.records import Grade, Rule
from punchline.core.stats import Estimate, mean


def _rule(grades: Sequence[Grade]) -> Rule:
    return grades[0].rule if grades else "released"


def _row(
    grades: Sequence[Grade],
    golds: Golds,
    items: Items,
    tasks: Sequence[str],
    columns: Mapping[str, Estimate | None],
    condition: str,
    keys: Mapping[str, str | int] | None = None,
    asked: Sequence[tuple[str, str]] = (),
) -> Row:
    """A row over the items on which any of the tasks is scored. A task that was never attempted is not counted.

    `asked`: (task, condition) that the row rests on besides.
    Tasks that are not scored on an item have a grade that is `ok` there (grade_item), so that it counts as no state.
    """
    rule = _rule(grades)
    pairs = [*((task, condition) for task in tasks), *asked]
    scope = {pair: {name for name in items if name in golds and in_scope(pair[0], golds[name], rule)} for pair in pairs}
    attempted = [
        pair
        for pair in pairs
        if any(grade.state != "missing" and grade.item_id in scope[pair] for grade in answers_to(grades, *pair))
    ] or pairs[:1]
    return Row(
        keys=dict(keys or {}),
        columns=dict(columns),
        items=frozenset[str]().union(*(scope[pair] for pair in attempted)),
        tasks=tuple(task for task in tasks if (task, condition) in attempted),
        condition=condition,
        asked=tuple(pair for pair in asked if pair in attempted),
    )


def _prefixed(prefix: str, estimates: Mapping[str, Estimate | None]) -> dict[str, Estimate | None]:
    return {f"{prefix}_{name}": estimate for name, estimate in estimates.items()}


def _classification(grades: Sequence[Grade], items: Items, condition: str) -> dict[str, Estimate | None]:
    found = _prefixed("classification", f1(grades, items, "classification", condition))
    return found | success(grades, items, "classification", condition)


def _table2(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    columns = _classification(grades, items, "default")
    columns |= cosine(grades, items, "naming", "default") | success(grades, items, "naming", "default")
    for kind in ("rouge1", "rouge2"):
        columns |= score(grades, items, "explanation", "default", kind, kind)
    columns |= success(grades, items, "explanation", "default")
    return [_row(grades, golds, items, ("classification", "naming", "explanation"), columns, "default")]


def _table3(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    columns: dict[str, Estimate | None] = {}
    for value in ("precision", "recall", "iou"):
        columns |= score(grades, items, "image_bbox", "default", value, f"image_bbox_{value}")
    columns |= cosine(grades, items, "image_label", "default")
    for value in ("precision", "recall", "jaccard"):
        columns |= score(grades, items, "caption_hl", "default", value, f"caption_hl_{value}")
    tasks = ("image_bbox", "image_label", "caption_hl")
    for task in tasks:
        columns |= success(grades, items, task, "default")
    return [_row(grades, golds, items, tasks, columns, "default")]


def _table4(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    readable: dict[str, dict[tuple[str, int], Grade]] = {}  # by task, then item and sample
    for task in PROMPT_TASKS:
        found = {
            (grade.item_id, grade.sample): grade
            for grade in answers_to(grades, task, "prompts")
            if "tp" in grade.values
        }
        if found:
            readable[task] = found
    asked = [
        grade for task in PROMPT_TASKS for grade in answers_to(grades, task, "prompts") if "success" in grade.values
    ]
    columns: dict[str, Estimate | None] = {}
    if readable:
        blocks = len(readable)
        samples = sorted({sample for found in readable.values() for _, sample in found})
        units = [
            unit
            for name in items
            for unit in ((name, sample) for sample in samples)
            if any(unit in found for found in readable.values())
        ]
        clusters = [items[name].cluster for name, _ in units]
        sums = np.zeros((len(units), 4 * blocks))
        members: list[str] = []
        for block, found in enumerate(readable.values()):
            for at, unit in enumerate(units):
                if unit in found:
                    sums[at, 4 * block : 4 * block + 4] = [found[unit].values[count] for count in COUNTS]
                    members.append(found[unit].digest)

        def over(value: Value, spread: bool) -> Estimate:
            return Estimate(sums=sums, value=over_blocks(value, blocks, spread), clusters=clusters, grades=members)

        for name, value in (("positive", F1["pos"]), ("negative", F1["neg"]), ("average", F1["avg"])):
            columns |= {name: over(value, spread=False), f"{name}_sd": over(value, spread=True)}
        ones = np.full((len(units), 2), (blocks, 1))
        columns["prompts"] = Estimate(
            sums=ones.astype(np.float64), value=mean, clusters=["all"] * len(units), grades=members
        )
    columns["success"] = share(asked, items, [grade.values["success"] > 0 for grade in asked])
    return [_row(grades, golds, items, PROMPT_TASKS, columns, "prompts")]


def _table5(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    columns = _classification(grades, items, "joint") | cosine(grades, items, "naming", "joint")
    columns |= score(grades, items, "image_bbox", "joint", "iou", "image_bbox_iou")
    columns |= score(grades, items, "caption_hl", "joint", "jaccard", "caption_hl_jaccard")
    for task in JOINT_TASKS[1:]:
        columns |= success(grades, items, task, "joint")
    return [_row(grades, golds, items, JOINT_TASKS, columns, "joint")]


def _six(grades: Sequence[Grade], items: Items, condition: str) -> dict[str, Estimate | None]:
    """One value for each task, as table 7 and figure 5 have them; figure 5 has no ImageBbox."""
    columns = {"classification": f1(grades, items, "classification", condition)["avg"]}
    columns |= cosine(grades, items, "naming", condition) | cosine(grades, items, "image_label", condition)
    columns |= score(grades, items, "image_bbox", condition, "iou", "image_bbox_iou")
    columns |= score(grades, items, "caption_hl", condition, "jaccard", "caption_hl_jaccard")
    for kind in ("rouge1", "rouge2"):
        columns |= score(grades, items, "explanation", condition, kind, kind)
    for task in ("classification", *ANNOTATION):
        columns |= success(grades, items, task, condition)
    return columns


FIGURE5_TASKS = ("classification", "naming", "image_label", "caption_hl", "explanation")


def _figure5(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    rows = []
    for shown, condition in (("image", "default"), ("description", "description")):
        columns = _six(grades, items, condition)
        tasks, others = list(FIGURE5_TASKS), list[tuple[str, str]]()
        if shown == "image":  # "No or Yes", which table 4 asks
            columns["classification"] = f1(grades, items, "classification_no_yes", "prompts")["avg"]
            asked = success(grades, items, "classification_no_yes", "prompts")
            columns["classification_success"] = asked["classification_no_yes_success"]
            tasks.remove("classification")
            others.append(("classification_no_yes", "prompts"))
        rows.append(_row(grades, golds, items, tasks, columns, condition, {"input": shown}, others))
    return rows


def _good_answers(grades: Sequence[Grade], golds: Golds, items: Items) -> list[Row]:
    columns: dict[str, Estimate | None] = {task: good(grades, items, task, "default") for task in GOOD}
    for task in ("naming", "image_label"):
        columns[f"{task}_minilm"] = good(grades, items, task, "default", "_minilm")
    return [_row(grades, golds, items, tuple(GOOD), columns, "default")]


def _table7(across: Across) -> list[NamedRow]:
    rows = []
    by_name = {model.name: model for model in across.models}
    tuned = [model for model in across.models if model.card is not None and model.card.options.get("adapter")]
    items = {name: item for name, item in across.items.items() if held_out(item.cluster)}
    for model in tuned:
        base = by_name.get(model.card.base or "") if model.card is not None else None
        settings: list[tuple[str, Graded]] = [("fine-tuned", model)]
        if base is not None:
            settings.insert(0, ("0-shot", base))
        for setting, one in settings:
            grades = [grade for grade in one.grades if grade.item_id in items]
            tasks = ("classification", *ANNOTATION)
            row = _row(grades, across.golds, items, tasks, _six(grades, items, "default"), "default")
            row = Row({"setting": setting}, row.columns, row.items, row.tasks, whole=False, condition="default")
            rows.append(NamedRow(one.name, row, one))
    if not tuned:
        across.notes.append("No selected model is fine-tuned: its card names an adapter and its base.")
    return rows


# ------------------------------------------------------------------------------------------------------------- tables


def _with_sd(*columns: str) -> tuple[str, ...]:
    return tuple(name for column in columns for name in (column, f"{column}_sd"))


_CLASSIFICATION = ("classification_pos", "classification_neg", "classification_avg")
_SUCCESS = "*_success: percentage of the answers from which something could be read; the others have no score."
_COSINE = (
    "naming, image_label: cosine similarity by LaBSE, lower-cased, best match where gold has several; *_minilm: by the "
    "packaged all-MiniLM-L6-v2, which is another measure."
)
_SD = "*_sd: SD of the answers' values, the population's (divided by n)."
_SAMPLES = "With several samples of a request every answer counts: n counts answers, intervals resample contests."
_LABELS = (
    f"Rule released: labels of {TEST_SET}; rule paper: met_class of {DATASET}. Yes and WIDLII are positive; avg is the "
    "unweighted mean of both classes' F1."
)
_CELLS = "Which cells the paper's marks for success rates below 100 % belong to is lost with their colours."
TABLES = {
    table.name: table
    for table in (
        Table(
            name="table2",
            title="Hummus: classification, naming and explanation",
            file="hummus/table2.csv",
            rule="released",
            keys=(),
            columns=(
                *_CLASSIFICATION,
                "classification_success",
                *_with_sd("naming", "naming_minilm"),
                "naming_success",
                *_with_sd("rouge1", "rouge2"),
                "explanation_success",
            ),
            tasks=("classification", "naming", "explanation"),
            rows=_table2,
            data_rows=random_rows,
            files=(DATASET, TEST_SET),
            n_from="classification_avg",
            kind="baseline",
            notes=(_LABELS, _COSINE, "rouge1, rouge2: F1, without stemming.", _SUCCESS, _SD, _SAMPLES),
        ),
        Table(
            name="table3",
            title="Hummus: image box, image label and caption highlight",
            file="hummus/table3.csv",
            rule="released",
            keys=(),
            columns=(
                *_with_sd("image_bbox_precision", "image_bbox_recall", "image_bbox_iou"),
                "image_bbox_success",
                *_with_sd("image_label", "image_label_minilm"),
                "image_label_success",
                *_with_sd("caption_hl_precision", "caption_hl_recall", "caption_hl_jaccard"),
                "caption_hl_success",
            ),
            tasks=("image_bbox", "image_label", "caption_hl"),
            rows=_table3,
            notes=(
                "image_bbox: areas of the unions of boxes, normalised [top, left, height, width]. caption_hl: sets of "
                "words, lower-cased.",
                _COSINE,
                _SUCCESS,
                _SD,
                _SAMPLES,
                _CELLS,
            ),
        ),
        Table(
            name="table4",
            title="Hummus: classification by three other prompts",
            file="hummus/table4.csv",
            rule="released",
            keys=(),
            columns=(*_with_sd("positive", "negative", "average"), "prompts", "success"),
            whole=("prompts",),
            tasks=PROMPT_TASKS,
            conditions=("prompts",),
            rows=_table4,
            n_from="average",
            notes=(
                "Mean and SD of F1 over the prompts that were answered (prompts: how many): Yes or No with glosses, No "
                "or Yes, A or B. Ask them with conditions=[prompts].",
                "The SD over prompts is the population's (divided by their number), not the sample's as in YesBut's "
                "tables.",
                _LABELS,
                _SAMPLES,
            ),
        ),
        Table(
            name="table5",
            title="Hummus: four tasks in one answer, after the annotation guidelines",
            file="hummus/table5.csv",
            rule="released",
            keys=(),
            columns=(
                *_CLASSIFICATION,
                "classification_success",
                *_with_sd("naming", "naming_minilm"),
                "naming_success",
                *_with_sd("image_bbox_iou"),
                "image_bbox_success",
                *_with_sd("caption_hl_jaccard"),
                "caption_hl_success",
            ),
            tasks=JOINT_TASKS,
            conditions=("joint",),
            rows=_table5,
            n_from="classification_avg",
            notes=(
                "The prompt is a reconstruction (section 6.3, appendix A): the paper prints its own as a picture. Ask "
                "it with conditions=[joint].",
                "An answer Discard counts as a refusal does, and as one without is_met: against "
                "classification_success, and in no other column.",
                "The tasks after classification: positives that the model, too, calls metaphorical. Human: two people "
                "on 300 pairs, not released.",
                _COSINE,
                _SUCCESS,
                _SD,
                _SAMPLES,
                _CELLS,
            ),
        ),
        Table(
            name="table6",
            title="Hummus: train and test parts for fine-tuning",
            file="hummus/table6.csv",
            rule="paper",
            keys=("subset",),
            columns=("train", "test"),
            whole=("train", "test"),
            data_rows=split_rows,
            files=(DATASET, TEST_SET),
            notes=(
                "The paper tests on the pairs that both people annotated, which is not released: ours is another "
                "split, by contest.",
            ),
        ),
        Table(
            name="table7",
            title="Hummus: a small model before and after fine-tuning",
            file="hummus/table7.csv",
            rule="paper",
            keys=("setting",),
            columns=(
                "classification",
                "classification_success",
                *_with_sd("naming", "naming_minilm"),
                "naming_success",
                *_with_sd("image_label", "image_label_minilm"),
                "image_label_success",
                *_with_sd("image_bbox_iou"),
                "image_bbox_success",
                *_with_sd("caption_hl_jaccard"),
                "caption_hl_success",
                *_with_sd("rouge1", "rouge2"),
                "explanation_success",
            ),
            tasks=("classification", *ANNOTATION),
            across=_table7,
            n_from="classification",
            notes=(
                "Ours: pairs of the contests held out of fine-tuning (table 6), for models whose card has an adapter, "
                "and their bases if selected. Not the paper's split.",
                _COSINE,
                _SUCCESS,
                _SD,
                _SAMPLES,
                _CELLS,
            ),
        ),
        Table(
            name="figure5",
            title="Hummus: the image, or its description in its place",
            file="hummus/figure5.csv",
            rule="released",
            keys=("input",),
            columns=(
                "classification",
                "classification_success",
                *_with_sd("naming", "naming_minilm"),
                "naming_success",
                *_with_sd("image_label", "image_label_minilm"),
                "image_label_success",
                *_with_sd("caption_hl_jaccard"),
                "caption_hl_success",
                *_with_sd("rouge1"),
                "explanation_success",
            ),
            tasks=(*FIGURE5_TASKS, "classification_no_yes"),
            conditions=("default", "description", "prompts"),
            rows=_figure5,
            notes=(
                "classification: average F1 with the prompt `No or Yes`, with the image that of condition prompts. Ask "
                "with conditions=[description, prompts]. The figure's bars have no printed numbers.",
                _COSINE,
                _SUCCESS,
                _SD,
                _SAMPLES,
            ),
        ),
        Table(
            name="good_answers",
            title="Hummus: answers that reach the paper's thresholds (section 6.1)",
            file="hummus/good_answers.csv",
            rule="released",
            keys=(),
            columns=("naming", "naming_minilm", "image_bbox", "image_label", "image_label_minilm", "explanation"),
            tasks=tuple(GOOD),
            rows=_good_answers,
            notes=(
                "Percentages of scored answers. naming, image_label: similarity of at least 0.6; image_bbox: IoU of at "
                "least 0.5; explanation: ROUGE-1 of at least 0.35 and ROUGE-2 of at least 0.087. The threshold 0.6 was "
                "chosen for LaBSE.",
            ),
        ),
        Table(
            name="statistics",
            title="Hummus: what sections 4 and 5 count",
            file="hummus/statistics.csv",
            rule="paper",
            keys=("statistic",),
            columns=("value",),
            data_rows=statistics_rows,
            files=(DATASET, TEST_SET),
            notes=(
                "Shares are percentages of the metaphorical pairs of hummus_dataset.json. Agreement needs the second "
                "person's annotations, which are not released; domains of image and caption need an embedder; "
                "FrameBERT is another system: published values only.",
            ),
        ),
    )
}
