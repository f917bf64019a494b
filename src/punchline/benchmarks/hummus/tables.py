"""Hummus's tables and number-bearing figure, from grades of its pairs and from its released files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from punchline.bench.chart import Chart
from punchline.bench.column import Column, Make, Statistics, by_answer, complete, estimates, having, mean_sd
from punchline.bench.frame import Flags, Frame
from punchline.bench.table import Across, NamedRow, Row, Table, tables
from punchline.benchmarks.hummus import DATASET, JOINT_TASKS, NAME, PROMPT_TASKS, TEST_SET
from punchline.benchmarks.hummus.compared import CASED
from punchline.benchmarks.hummus.compared_rows import domain_rows, pair_rows
from punchline.benchmarks.hummus.dataset import F1, over_blocks, random_rows, split_rows, statistics_rows
from punchline.benchmarks.hummus.scope import ANNOTATION, in_scope
from punchline.benchmarks.hummus.split import held_out
from punchline.core.benchmark import DEFAULT
from punchline.core.stats import COEFFICIENT, EXACT, mean, percent

COUNTS = ("tp", "fp", "fn", "tn")
GOOD = {  # section 6.1: thresholds of a good answer
    "naming": {"cosine": 0.6},
    "naming_minilm": {"cosine_minilm": 0.6},
    "image_bbox": {"iou": 0.5},
    "image_label": {"cosine": 0.6},
    "image_label_minilm": {"cosine_minilm": 0.6},
    "explanation": {"rouge1": 0.35, "rouge2": 0.087},
}
SIX = ("classification", *ANNOTATION)
FIGURE5_TASKS = ("classification", "naming", "image_label", "caption_hl", "explanation")

# ------------------------------------------------------------------------------------------------------------ columns


def f1(names: Mapping[str, str], task: str = "classification") -> list[Column]:
    """F1 of the positive class, of the negative one, their mean: {column: which}, of the answers that could be read."""
    return [Column(name, (task,), having(task, *COUNTS), F1[which]) for name, which in names.items()]


def share(name: str, tasks: Sequence[str], least: Mapping[str, float]) -> Column:
    """Percentage of the answers with these values that reach what is needed of each."""

    def make(frame: Frame) -> Statistics:
        own = frame.of(tasks)
        found = np.stack([own.value(value) for value in least], axis=1)
        hits = (found >= list(least.values())).all(axis=1)
        return by_answer(own, np.stack([hits, np.ones(len(own), dtype=np.bool_)], axis=1), complete(*found.T))

    return Column(name, tuple(tasks), make, percent)


def success(*tasks: str) -> Column:
    """Percentage of the answers from which something could be read, refusals among the others."""
    name = "success" if len(tasks) > 1 else f"{tasks[0]}_success"
    return share(name, tasks, {"success": np.nextafter(0, 1)})


def cosine(task: str) -> list[Column]:
    """Similarity by LaBSE as `task`, by the stand-in as `task`_minilm, each with its SD."""
    own = mean_sd(task, task, "cosine", COEFFICIENT)
    return [*own, *mean_sd(f"{task}_minilm", task, "cosine_minilm", COEFFICIENT)]


def overlap(task: str, *values: str) -> list[Column]:
    return [column for value in values for column in mean_sd(f"{task}_{value}", task, value)]


def rouge(*kinds: str) -> list[Column]:
    return [column for kind in kinds for column in mean_sd(kind, "explanation", kind)]


def _over_prompts(which: str | None, *, spread: bool = False, tasks: Sequence[str] = PROMPT_TASKS) -> Make:
    """Of the prompts that have answers, a block of four sums each; `which` None: how many there are.

    Of other prompts than table 4's all must have some.
    """
    least = 1 if tasks == PROMPT_TASKS else len(tasks)

    def make(frame: Frame) -> Statistics | None:
        read = frame.of(tasks).take(~np.isnan(frame.of(tasks).value("tp")))
        prompts = [one for one in (read.of([task]) for task in tasks) if len(one)]
        if len(prompts) < least:
            return None
        units = np.unique(read.unit)
        sums = np.zeros((len(units), 4 * len(prompts)))
        for block, one in enumerate(prompts):
            rows = np.searchsorted(units, one.item * read.samples + one.sample)
            sums[rows, 4 * block : 4 * block + 4] = np.stack([one.value(count) for count in COUNTS], axis=1)
        item, value = units // read.samples, over_blocks(F1[which or "avg"], len(prompts), spread)
        if which is None:
            sums, value = np.full((len(units), 2), (len(prompts), 1.0)), mean
        return Statistics(sums, item, frame.scope.clusters[item], read.digest, read.item, value)

    return make


def _prompt_columns() -> list[Column]:
    columns = []
    for name, which in (("positive", "pos"), ("negative", "neg"), ("average", "avg")):
        columns.append(Column(name, PROMPT_TASKS, _over_prompts(which)))
        columns.append(Column(f"{name}_sd", PROMPT_TASKS, _over_prompts(which, spread=True), better="neither"))
    count = Column("prompts", PROMPT_TASKS, _over_prompts(None), kind=EXACT, better="neither")
    four = (*PROMPT_TASKS, "classification")
    for name, spread in (("average_of_four", False), ("average_of_four_sd", True)):
        make = _over_prompts("avg", spread=spread, tasks=four)
        columns.append(Column(name, four, make, better="neither" if spread else "higher"))
    return [*columns, count, success(*PROMPT_TASKS)]


def _over_all_prompts(frame: Frame) -> list[Row]:
    """Over table 4's prompts; its columns may look at table 1's, of the default condition, too."""
    return [replace(_row(frame, PROMPT_TASKS, "prompts"), frame=frame)]


# --------------------------------------------------------------------------------------------------------------- rows


def _scored_on(frame: Frame, task: str) -> Flags:
    return frame.scope.once((task, frame.rule), lambda: frame.scope.such(lambda gold: in_scope(task, gold, frame.rule)))


def _row(
    frame: Frame,
    tasks: Collection[str],
    condition: str = DEFAULT,
    keys: Mapping[str, str | int] | None = None,
    asked: Collection[tuple[str, str]] = (),
) -> Row:
    """A row over the items on which any of the tasks is scored. A task that was never attempted is not counted.

    `asked`: (task, condition) that the row rests on besides.
    Tasks that are not scored on an item have a grade that is `ok` there (grade_item), so that it counts as no state.
    """
    pairs = [*((task, condition) for task in tasks), *asked]
    scopes = {pair: _scored_on(frame, pair[0]) for pair in pairs}
    attempted = [pair for pair in pairs if frame.of([pair[0]], [pair[1]]).on(scopes[pair]).attempted] or pairs[:1]
    return Row(
        keys or {},
        items=functools.reduce(np.logical_or, (scopes[pair] for pair in attempted)),
        tasks=tuple(task for task in tasks if (task, condition) in attempted),
        condition=condition,
        asked=tuple(pair for pair in asked if pair in attempted),
        frame=frame.of(conditions=[condition]),
    )


def _one(*tasks: str, condition: str = DEFAULT) -> Callable[[Frame], list[Row]]:
    return lambda frame: [_row(frame, tasks, condition)]


def _by_input(frame: Frame) -> list[Row]:
    """The image, whose classification is that of table 4's `No or Yes`; the description in its place."""
    instead = ("classification_no_yes", "prompts")
    other = frame.task.are(instead[0]) & frame.condition.are(instead[1])
    kept = other | (frame.condition.are(DEFAULT) & ~frame.task.are("classification"))
    shown = frame.called("classification", other).take(kept)
    image = _row(frame, FIGURE5_TASKS[1:], DEFAULT, {"input": "image"}, [instead])
    return [
        replace(image, frame=shown),
        _row(frame, FIGURE5_TASKS, "description", {"input": "description"}),
    ]


TABLE7 = [
    *f1({"classification": "avg"}),
    success("classification"),
    *cosine("naming"),
    success("naming"),
    *cosine("image_label"),
    success("image_label"),
    *overlap("image_bbox", "iou"),
    success("image_bbox"),
    *overlap("caption_hl", "jaccard"),
    success("caption_hl"),
    *rouge("rouge1", "rouge2"),
    success("explanation"),
]


def _tuned(across: Across) -> list[NamedRow]:
    rows = []
    by_name = {model.name: model for model in across.models}
    held = np.array([held_out(across.scope.items[name].cluster) for name in across.scope.names], dtype=np.bool_)
    tuned = [model for model in across.models if model.card is not None and model.card.options.get("adapter")]
    for model in tuned:
        base = by_name.get(model.card.base or "") if model.card is not None else None
        settings = [*([("0-shot", base)] if base is not None else []), ("fine-tuned", model)]
        for setting, one in settings:
            row = _row(one.frame.on(held), SIX, keys={"setting": setting})
            assert row.items is not None
            items = row.items & held
            columns = estimates(TABLE7, one.frame, items)
            rows.append(NamedRow(one.name, replace(row, items=items, whole=False, columns=columns), one))
    if not tuned:
        across.notes.append("No selected model is fine-tuned: its card names an adapter and its base.")
    return rows


# ------------------------------------------------------------------------------------------------------------- tables

_SUCCESS = "*_success: percentage of the answers from which something could be read; the others have no score."
_COSINE = (
    "naming, image_label: cosine similarity by LaBSE, lower-cased, best match where gold has several; *_minilm: by the "
    "packaged all-MiniLM-L6-v2, which is another measure."
)
_SD = "*_sd: SD of the answers' values, the population's (divided by n)."
_SAMPLES = "With several samples of a request every answer counts: n counts answers, intervals are by contest."
_LABELS = (
    f"Rule released: labels of {TEST_SET}; rule paper: met_class of {DATASET}. Yes and WIDLII are positive; avg is the "
    "unweighted mean of both classes' F1."
)
_CELLS = "Which cells the paper's marks for success rates below 100 % belong to is lost with their colours."


def _pairs(name: str, task: str) -> Table:
    return Table(
        name,
        f"Hummus: printed pairs of {task}, and their similarity",
        ("cosine", CASED, "cosine_minilm"),
        keys=("output", "reference"),
        compared=pair_rows,
        notes=(
            "The only printed check of the scorer: the paper's pairs compared again. cosine: by LaBSE, in lower case "
            "as everywhere here; cosine_cased: in the case in which they are printed; cosine_minilm: by the packaged "
            "MiniLM, another measure.",
        ),
    )


_CLASSIFICATION = [
    *f1({f"classification_{which}": which for which in ("pos", "neg", "avg")}),
    success("classification"),
]
TABLES = tables(
    NAME,
    Table(
        "table2",
        "Hummus: classification, naming and explanation",
        [
            *_CLASSIFICATION,
            *cosine("naming"),
            success("naming"),
            *rouge("rouge1", "rouge2"),
            success("explanation"),
        ],
        rule="released",
        split=_one("classification", "naming", "explanation"),
        data_rows=random_rows,
        files=(DATASET, TEST_SET),
        n_from="classification_avg",
        kind="baseline",
        notes=(_LABELS, _COSINE, "rouge1, rouge2: F1, without stemming.", _SUCCESS, _SD, _SAMPLES),
    ),
    Table(
        "table3",
        "Hummus: image box, image label and caption highlight",
        [
            *overlap("image_bbox", "precision", "recall", "iou"),
            success("image_bbox"),
            *cosine("image_label"),
            success("image_label"),
            *overlap("caption_hl", "precision", "recall", "jaccard"),
            success("caption_hl"),
        ],
        rule="released",
        split=_one("image_bbox", "image_label", "caption_hl"),
        notes=(
            "image_bbox: areas of the unions of boxes, normalised [top, left, height, width]. caption_hl: sets of "
            "words, lower-cased.",
            *(_COSINE, _SUCCESS, _SD, _SAMPLES, _CELLS),
        ),
    ),
    Table(
        "table4",
        "Hummus: classification by three other prompts",
        _prompt_columns(),
        rule="released",
        whole=("prompts",),
        conditions=("prompts", DEFAULT),
        split=_over_all_prompts,
        n_from="average",
        notes=(
            "Mean and SD of F1 over the prompts that were answered (prompts: how many): Yes or No with glosses, No "
            "or Yes, A or B. Ask them with conditions=[prompts].",
            "average_of_four: table 2's prompt (default condition) is the fourth; not in the paper.",
            "The SD over prompts is the population's (divided by their number), not the sample's as in YesBut's "
            "tables.",
            *(_LABELS, _SAMPLES),
        ),
    ),
    Table(
        "table5",
        "Hummus: four tasks in one answer, after the annotation guidelines",
        [
            *_CLASSIFICATION,
            *cosine("naming"),
            success("naming"),
            *overlap("image_bbox", "iou"),
            success("image_bbox"),
            *overlap("caption_hl", "jaccard"),
            success("caption_hl"),
        ],
        rule="released",
        conditions=("joint",),
        split=_one(*JOINT_TASKS, condition="joint"),
        n_from="classification_avg",
        notes=(
            "The prompt is a reconstruction (section 6.3, appendix A): the paper prints its own as a picture. Ask "
            "it with conditions=[joint].",
            "An answer Discard counts as a refusal does, and as one without is_met: against "
            "classification_success, and in no other column.",
            "The tasks after classification: positives that the model, too, calls metaphorical. Human: two people "
            "on 300 pairs, not released.",
            *(_COSINE, _SUCCESS, _SD, _SAMPLES, _CELLS),
        ),
    ),
    Table(
        "table6",
        "Hummus: train and test parts for fine-tuning",
        ("train", "test"),
        keys=("subset",),
        whole=("train", "test"),
        data_rows=split_rows,
        files=(DATASET, TEST_SET),
        notes=(
            "The paper tests on the pairs that both people annotated, which is not released: ours is another "
            "split, by contest.",
        ),
    ),
    Table(
        "table7",
        "Hummus: a small model before and after fine-tuning",
        tuple(map(str, TABLE7)),
        ways={column.name: column.better for column in TABLE7},
        keys=("setting",),
        tasks=SIX,
        across=_tuned,
        n_from="classification",
        notes=(
            "Ours: pairs of the contests held out of fine-tuning (table 6), for models whose card has an adapter, "
            "and their bases if selected. Not the paper's split.",
            "The caption prints success rates of 99, 93 and 4 %; the text says that 4 % is Naming's, 0-shot.",
            *(_COSINE, _SUCCESS, _SD, _SAMPLES, _CELLS),
        ),
    ),
    Table(
        "figure5",
        "Hummus: the image, or its description in its place",
        [
            *f1({"classification": "avg"}),
            success("classification"),
            *cosine("naming"),
            success("naming"),
            *cosine("image_label"),
            success("image_label"),
            *overlap("caption_hl", "jaccard"),
            success("caption_hl"),
            *rouge("rouge1"),
            success("explanation"),
        ],
        rule="released",
        keys=("input",),
        chart=Chart(("classification", "naming", "image_label", "caption_hl", "explanation"), by="input"),
        tasks=(*FIGURE5_TASKS, "classification_no_yes"),
        conditions=(DEFAULT, "description", "prompts"),
        split=_by_input,
        notes=(
            "classification: average F1 with the prompt `No or Yes`, with the image that of condition prompts. Ask "
            "with conditions=[description, prompts]. The figure's bars have no printed numbers.",
            *(_COSINE, _SUCCESS, _SD, _SAMPLES),
        ),
    ),
    Table(
        "good_answers",
        "Hummus: answers that reach the paper's thresholds (section 6.1)",
        [share(name, [name.removesuffix("_minilm")], least) for name, least in GOOD.items()],
        rule="released",
        split=_one("naming", "image_bbox", "image_label", "explanation"),
        notes=(
            "Percentages of scored answers. naming, image_label: similarity of at least 0.6; image_bbox: IoU of at "
            "least 0.5; explanation: ROUGE-1 of at least 0.35 and ROUGE-2 of at least 0.087. The threshold 0.6 was "
            "chosen for LaBSE.",
        ),
    ),
    *(_pairs(*one) for one in (("table8", "naming"), ("table9", "image_label"))),
    Table(
        "statistics",
        "Hummus: what sections 4 and 5 count",
        ("value", "value_minilm"),
        keys=("statistic",),
        data_rows=statistics_rows,
        compared=domain_rows,
        files=(DATASET, TEST_SET),
        notes=(
            "Shares are percentages of the metaphorical pairs of hummus_dataset.json. Agreement needs the second "
            "person's annotations, which are not released; FrameBERT is another system: published values only.",
            "image_in_target_domain, caption_in_source_domain: pairs with some label of a box, or some highlighted "
            "part, that is nearest to a term of that domain; by LaBSE, value_minilm by the packaged MiniLM.",
        ),
    ),
)
