"""Hummus's tables of models' answers, and the figure with numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from punchline.benchmarks.hummus import (
    DATASET,
    JOINT_TASKS,
    METRICS,
    NAME,
    PROMPT_TASKS,
    TEST_SET,
    compared_rows,
    dataset,
)
from punchline.benchmarks.hummus.columns import (
    THREE_F1,
    Columns,
    classification,
    cosine,
    number_of_prompts,
    over_prompts,
    overlap,
    rouge,
    success,
)
from punchline.benchmarks.hummus.dataset import F1, over_blocks, random_rows
from punchline.benchmarks.hummus.scope import ANNOTATION
from punchline.benchmarks.hummus.split import held_out
from punchline.core.benchmark import DEFAULT
from punchline.stats.estimate import EXACT, PERCENT
from punchline.stats.functions import attempted, mean
from punchline.tables.chart import Chart
from punchline.tables.declare import Across, Row, Table, collect, no_scores, table

GOOD: Mapping[str, tuple[str, Mapping[str, float]]] = {  # column: (task, thresholds of a good answer, section 6.1)
    "naming": ("naming", {"cosine": 0.6}),
    "naming_minilm": ("naming", {"cosine_minilm": 0.6}),
    "image_bbox": ("image_bbox", {"iou": 0.5}),
    "image_label": ("image_label", {"cosine": 0.6}),
    "image_label_minilm": ("image_label", {"cosine_minilm": 0.6}),
    "explanation": ("explanation", {"rouge1": 0.35, "rouge2": 0.087}),
}
SIX = ("classification", *ANNOTATION)
FIGURE5_TASKS = ("classification", "naming", "image_label", "caption_hl", "explanation")
ITEMS = {"held_out": lambda item, gold: held_out(item.cluster)}

_Frame = pd.DataFrame

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


@table(
    "table2",
    "Hummus: classification, naming and explanation",
    published_rule="released",
    tasks=("classification", "naming", "explanation"),
    data=random_rows,
    files=(DATASET, TEST_SET),
    n_from="classification_avg",
    kind="baseline",
    notes=(_LABELS, _COSINE, "rouge1, rouge2: F1, without stemming.", _SUCCESS, _SD, _SAMPLES),
)
def understanding(scores: _Frame, items: _Frame) -> Iterator[Row]:
    classified = classification(scores[scores.task == "classification"], **THREE_F1)
    yield Row(**classified, **cosine(scores, "naming"), **rouge(scores, "rouge1", "rouge2"))


@table(
    "table3",
    "Hummus: image box, image label and caption highlight",
    published_rule="released",
    tasks=("image_bbox", "image_label", "caption_hl"),
    notes=(
        "image_bbox: areas of the unions of boxes, normalised [top, left, height, width]. caption_hl: sets of "
        "words, lower-cased.",
        *(_COSINE, _SUCCESS, _SD, _SAMPLES, _CELLS),
    ),
)
def localisation(scores: _Frame, items: _Frame) -> Iterator[Row]:
    boxes = overlap(scores, "image_bbox", "precision", "recall", "iou")
    words = overlap(scores, "caption_hl", "precision", "recall", "jaccard")
    yield Row(**boxes, **cosine(scores, "image_label"), **words)


@table(
    "table4",
    "Hummus: classification by three other prompts",
    published_rule="released",
    tasks=(*PROMPT_TASKS, "classification"),
    conditions=("prompts", DEFAULT),
    counts=("prompts",),
    n_from="average",
    notes=(
        "Mean and SD of F1 over the prompts that were answered (prompts: how many): Yes or No with glosses, No "
        "or Yes, A or B. Ask them with conditions=[prompts].",
        "average_of_four: table 2's prompt (default condition) is the fourth; not in the paper.",
        "The SD over prompts is the population's (divided by their number), not the sample's as in YesBut's tables.",
        *(_LABELS, _SAMPLES),
    ),
)
def prompts(scores: _Frame, items: _Frame) -> Iterator[Row]:
    three = scores[scores.condition == "prompts"]
    columns: Columns = {}
    for name, which in (("positive", "pos"), ("negative", "neg"), ("average", "avg")):
        columns[name] = over_prompts(three, over_blocks(F1[which]))
        columns[f"{name}_sd"] = over_prompts(three, over_blocks(F1[which], spread=True))
    for name, spread in (("average_of_four", False), ("average_of_four_sd", True)):
        found = over_prompts(scores, over_blocks(F1["avg"], spread), least=4)
        columns[name] = replace(found, given=three["row"].to_numpy())  # states are those of the three prompts
    yield Row(**columns, prompts=over_prompts(three, number_of_prompts, EXACT), success=success(three))


@table(
    "table5",
    "Hummus: four tasks in one answer, after the annotation guidelines",
    published_rule="released",
    tasks=JOINT_TASKS,
    conditions=("joint",),
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
)
def joint(scores: _Frame, items: _Frame) -> Iterator[Row]:
    classified = classification(scores[scores.task == "classification"], **THREE_F1)
    boxes, words = overlap(scores, "image_bbox", "iou"), overlap(scores, "caption_hl", "jaccard")
    yield Row(**classified, **cosine(scores, "naming"), **boxes, **words)


def _six(part: _Frame) -> Columns:
    """Columns of table 7."""
    classified = classification(part[part.task == "classification"], classification="avg")
    texts = cosine(part, "naming") | cosine(part, "image_label")
    boxes, words = overlap(part, "image_bbox", "iou"), overlap(part, "caption_hl", "jaccard")
    return classified | texts | boxes | words | rouge(part, "rouge1", "rouge2")


def fine_tuned(across: Across) -> Iterator[Row]:
    by_name = {model.name: model for model in across.models}
    held = across.items.index[across.items.held_out]
    tuned = {name: model.card for name, model in by_name.items() if model.card and model.card.options.get("adapter")}
    for name, card in tuned.items():
        for setting, shown in (("0-shot", card.base), ("fine-tuned", name)):
            if (model := by_name.get(shown or "")) is not None:
                columns = _six(model.scores[model.scores.item_id.isin(held)])
                yield Row(setting=setting, **columns).set(of=model, complete=False)
    if not tuned:
        across.notes.append("No selected model is fine-tuned: its card names an adapter and its base.")


TABLE7 = Table(
    "table7",
    "Hummus: a small model before and after fine-tuning",
    columns=tuple(_six(no_scores(METRICS))),
    keys=("setting",),
    tasks=SIX,
    across=fine_tuned,
    n_from="classification",
    notes=(
        "Ours: pairs of the contests held out of fine-tuning (table 6), for models whose card has an adapter, "
        "and their bases if selected. Not the paper's split.",
        "The caption prints success rates of 99, 93 and 4 %; the text says that 4 % is Naming's, 0-shot.",
        *(_COSINE, _SUCCESS, _SD, _SAMPLES, _CELLS),
    ),
)


@table(
    "figure5",
    "Hummus: the image, or its description in its place",
    published_rule="released",
    tasks=(*FIGURE5_TASKS, "classification_no_yes"),
    conditions=(DEFAULT, "description", "prompts"),
    chart=Chart(FIGURE5_TASKS, by="input"),
    notes=(
        "classification: average F1 with the prompt `No or Yes`, with the image that of condition prompts. Ask "
        "with conditions=[description, prompts]. The figure's bars have no printed numbers.",
        *(_COSINE, _SUCCESS, _SD, _SAMPLES),
    ),
)
def image_or_description(scores: _Frame, items: _Frame) -> Iterator[Row]:
    described = scores[scores.condition == "description"]
    texts_of_image = scores[(scores.condition == DEFAULT) & (scores.task != "classification")]
    parts = {
        "image": (texts_of_image, scores[scores.task == "classification_no_yes"]),
        "description": (described, described[described.task == "classification"]),
    }
    for shown, (part, asked) in parts.items():
        if shown == "image" and not (attempted(part) or attempted(asked)):
            part, asked = part[part.task == "naming"], asked[:0]  # its pairs are those of the first task
        texts = cosine(part, "naming") | cosine(part, "image_label") | overlap(part, "caption_hl", "jaccard")
        classified = classification(asked, classification="avg")
        yield Row(input=shown, **classified, **texts, **rouge(part, "rouge1"))


@table(
    "good_answers",
    "Hummus: answers that reach the paper's thresholds (section 6.1)",
    published_rule="released",
    tasks=("naming", "image_bbox", "image_label", "explanation"),
    notes=(
        "Percentages of scored answers. naming, image_label: similarity of at least 0.6; image_bbox: IoU of at "
        "least 0.5; explanation: ROUGE-1 of at least 0.35 and ROUGE-2 of at least 0.087. The threshold 0.6 was "
        "chosen for LaBSE.",
    ),
)
def good_answers(scores: _Frame, items: _Frame) -> Iterator[Row]:
    columns = {}
    for name, (task, least) in GOOD.items():
        part = scores[scores.task == task]
        found = part[list(least)]
        good = (found >= list(least.values())).all(axis=1).astype(float).where(found.notna().all(axis=1))
        columns[name] = mean(part.assign(good=good), "good", PERCENT, scale=100)
    yield Row(**columns)


TABLES = collect(
    NAME,
    METRICS,
    ITEMS,
    *(understanding, localisation, prompts, joint, dataset.TABLE6, TABLE7),
    *(image_or_description, good_answers, *compared_rows.TABLES),
)
