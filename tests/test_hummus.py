"""Hummus: items and gold, what is asked in each condition, grades in every state, tables, and the released data."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.tabulated import Graded, rows_of, tabulate

from punchline.bench.render import read_published
from punchline.bench.table import Tabulated
from punchline.benchmarks import hummus
from punchline.benchmarks.hummus import (
    CONDITIONS,
    DATASET,
    DESCRIPTIONS,
    GOLD_FILES,
    ITEM_FILES,
    METAPHOR_TASKS,
    PROMPT_TASKS,
    TABLES,
    TASKS,
    TEST_SET,
    answers,
    baselines,
    data,
    grade_item,
    judge_requests,
)
from punchline.benchmarks.hummus import demo as hummus_demo
from punchline.benchmarks.hummus import pictures as hummus_pictures
from punchline.benchmarks.hummus.compared import data_requests
from punchline.benchmarks.hummus.compared_rows import domain_rows, pair_rows
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, PROMPTS, involves_is_a
from punchline.benchmarks.hummus.scope import in_scope
from punchline.benchmarks.hummus.split import held_out
from punchline.core.benchmark import Verdict
from punchline.core.errors import PunchlineError
from punchline.core.records import (
    RULES,
    Gold,
    Grade,
    Image,
    ImageRef,
    Item,
    ModelCard,
    Request,
    Response,
    Rule,
    State,
    Text,
)
from punchline.core.storage import parse_csv
from punchline.score import highlight, ngrams
from punchline.stages.fetch.resolvers import SITES

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hummus")
    hummus_demo.draw(folder)
    return folder


@pytest.fixture(scope="module")
def demo(drawn: Path) -> Files:
    return {name: (drawn / name).read_bytes() for name in ITEM_FILES}


@pytest.fixture(scope="module")
def real(mirror: Path) -> Files:
    folder = mirror / "hummus"
    if not folder.is_dir():
        pytest.skip(f"REAL DATA ABSENT: no hummus/ in {mirror}; set PUNCHLINE_MIRROR to run this test")
    return {name: (folder / name).read_bytes() for name in ITEM_FILES}


def items_of(files: Files) -> dict[str, Item]:
    made = hummus.items(files, {item_id: "no image" for item_id, _, _ in hummus.listing(files)})
    return {item.item_id: item for item in made}


def golds_of(files: Files) -> dict[str, Gold]:
    return {gold.item_id: gold for gold in hummus.golds(files)}


def response(request: Request, text: str | None, state: State = "ok") -> Response:
    return Response(
        request_id=request.request_id, model_key="m", state=state, text=text, engine="test", engine_version="1"
    )


def words(request: Request) -> str:
    return "".join(part.text for part in request.messages[-1].content if isinstance(part, Text))


def right(request: Request, gold: Gold, rule: Rule = "released") -> str:
    """The answer that is right under the rule."""
    label = gold.values["labels"][rule]
    positive = label in ("Yes", "WIDLII")
    if request.task == "classification_a_b":
        return "A" if positive == involves_is_a(request.item_id) else "B"
    if request.task.startswith("classification"):
        return "Yes" if positive else "No"
    if "metaphors" not in gold.values:
        return f"is_met: {label}" if request.task == "joint" else "not annotated"
    values = gold.values
    boxes = "; ".join(f"{name}: {box!r}" for name, box in zip(values["objects"], values["boxes"], strict=True))
    said = {
        "naming": "; ".join(values["metaphors"]),
        "image_bbox": boxes,
        "image_label": values["objects"][0],
        "caption_hl": f"<i>{' '.join(values['highlight'])}</i>",
        "explanation": values["explanation"],
    }
    said["joint"] = (
        f"is_met: {label}\nconceptual_metaphor: {said['naming']}\nimage_hl: {boxes}\ntext_hl: {said['caption_hl']}"
    )
    return str(said[request.task])


Answer = Callable[[Request, Gold], tuple[str | None, State]]


def graded(files: Files, answer: Answer, scorer: str | None = "labse") -> list[Grade]:
    """Grades under both rules, in all conditions; the scorer says 1 for equal texts, else 0.25."""
    items, golds = items_of(files), golds_of(files)
    grades: list[Grade] = []
    for item_id, item in items.items():
        asked: dict[str, dict[str, Response]] = {condition: {} for condition in CONDITIONS}
        for request in hummus.requests(item):
            asked[request.condition][request.task] = response(request, *answer(request, golds[item_id]))
        for condition, responses in asked.items():
            verdicts = {
                one.request_id: Verdict(scorer, response(one, "1.0" if len({*said(one)}) == 1 else "0.25"))
                for one in judge_requests(item, golds[item_id], responses, condition)
                if scorer is not None
            }
            for rule in RULES:
                grades += grade_item(responses, item, golds[item_id], "model", rule, verdicts, condition)
    return grades


def said(request: Request) -> list[str]:
    return [part.text for message in request.messages for part in message.content if isinstance(part, Text)]


def table(name: str, grades: list[Grade], files: Files, scoring: Rule | None = None) -> Tabulated:
    return tabulate(
        TABLES[name],
        [Graded("model", "measured", "test", grades)],
        golds_of(files),
        items_of(files),
        files,
        [],
        scoring=scoring,
        complete=True,
    )


def only(made: Tabulated, model: str = "model", **keys: str) -> dict[str, Any]:
    found = [row for row in made.rows if row["model"] == model and all(row[key] == keys[key] for key in keys)]
    assert len(found) == 1
    return found[0]


# ---------------------------------------------------------------------------------------------------- items and gold


def test_demo_has_every_quirk(demo: Files) -> None:
    items, golds = items_of(demo), golds_of(demo)
    assert set(items) == set(golds) and len(items) == len(hummus_demo.PAIRS)
    assert {item.fields["asked"] for item in items.values()} == {"all", "classification", ""}
    assert len({item.cluster for item in items.values()}) < len(items)
    found = "\n".join(hummus.oddities(demo))
    for what in ("is_met of test_set.json is", "not in test_set.json", "more than <i></i>", "without annotation"):
        assert what in found


def test_demo_is_drawn_alike(drawn: Path, tmp_path: Path) -> None:
    hummus_demo.draw(tmp_path)
    files = sorted(path.relative_to(drawn) for path in drawn.rglob("*") if path.is_file())
    assert all((drawn / name).read_bytes() == (tmp_path / name).read_bytes() for name in files)
    images = {path.stem for path in (drawn / "images").iterdir()}
    assert images == {f"nyc-combi-{pair.number}" for pair in hummus_demo.PAIRS}


def test_pictures_are_the_published_images(drawn: Path, demo: Files) -> None:
    item_id = next(iter(items_of(demo)))
    content = (drawn / "images" / f"{item_id}.png").read_bytes()
    (picture,) = hummus_pictures.pictures(item_id, content, demo)
    assert picture.content == content and picture.suffix == ".png" and picture.width > picture.height > 100


def test_boxes_are_shares_of_the_image(demo: Files) -> None:
    for gold in golds_of(demo).values():
        for top, left, height, width in gold.values.get("boxes", ()):
            assert 0 <= top < 1 and 0 <= left < 1 and top + height <= 1 and left + width <= 1


def test_items_hold_no_label(demo: Files) -> None:
    for item in items_of(demo).values():
        assert set(item.fields) == {"caption", "contest_number", "description", "asked"}
        for request in hummus.requests(item):
            assert "asked" not in words(request)


def test_addresses(demo: Files) -> None:
    assert data.address(521) == "https://nextml.github.io/caption-contest-data/cartoons/521.jpg"
    assert SITES["nextml.github.io"].resolve is None  # the address is the image's own
    assert data.address(184).endswith("all_contest_images.zip#184.jpeg")
    assert "storage.googleapis.com" not in SITES  # recorded as missing
    assert all(url.startswith("https://") for _, _, url in hummus.listing(demo))


def changed(files: Files, name: str, change: Callable[[Any], None]) -> Files:
    content = json.loads(files[name])
    change(content)
    return files | {name: json.dumps(content).encode()}


ANNOTATED = "nyc-combi-9001"


def _set(field: str, value: Any) -> Callable[[Any], None]:
    return lambda content: content[ANNOTATED].__setitem__(field, value)


BOX = {"top": 1.0, "left": 1.0, "height": 5.0, "width": 5.0}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_set("met_class", "Maybe"), "met_class"),
        (_set("caption", " "), "caption"),
        (_set("contest_number", "901"), "contest_number"),
        (_set("contest_number", -901), "contest_number: Expected"),
        (_set("contest_number", 0), "contest_number: Expected"),
        (_set("contest_number", 10**9), "contest_number: Expected"),
        (_set("caption", "half \ud83d a face"), "surrogate"),
        (_set("explanation", "half \ud83d a face"), "surrogate"),
        (_set("figures", ["pun", "\udc00"]), "surrogate"),
        (
            _set("image_attributes", {"height": float("inf"), "width": 9.0}),
            "image_attributes.height: ",
        ),
        (
            _set("image_attributes", {"height": float("nan"), "width": 9.0}),
            "image_attributes.height: ",
        ),
        (
            _set("image_attributes", {"height": 10**400, "width": 9.0}),
            "image_attributes.height: ",
        ),
        (_set("bboxes", [BOX | {"top": float("nan")}]), r"bboxes\[0\].top: Expected"),
        (_set("bboxes", []), "0 boxes have 1 labels"),
        (_set("bboxes", [BOX | {"left": 10_000.0}]), "not inside the image"),
        (_set("bboxes", [BOX | {"height": -1.0}]), r"bboxes\[0\].height: Expected"),
        (_set("bboxes", [BOX | {"top": "1"}]), r"bboxes\[0\].top: Expected"),
        (_set("bboxes", [[1, 2, 3, 4]]), "bboxes"),
        (_set("bbox_labels", "clock; couch"), "1 boxes have 2 labels"),
        (_set("image_attributes", None), "image_attributes"),
        (_set("caption_hl", "one <i>tag"), "not in pairs"),
        (_set("caption_hl", "one</i> tag<i>"), "not in pairs"),
        (_set("conceptual_metaphor", "clock"), "X is Y"),
        (_set("explanation", None), "explanation"),
        (lambda content: content.__setitem__(ANNOTATED, "x"), "expected an object"),
    ],
)
def test_bad_dataset(demo: Files, change: Callable[[Any], None], expected: str) -> None:
    with pytest.raises(PunchlineError, match=expected) as raised:
        hummus.golds(changed(demo, DATASET, change))
    assert DATASET in str(raised.value) and ANNOTATED in str(raised.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda content: content.append(content[0]), "twice"),
        (lambda content: content[0].__setitem__("combi_id", "nyc-combi-1"), f"not in {DATASET}"),
        (lambda content: content[0].__setitem__("is_met", "yes"), "is_met"),
        (lambda content: content.__setitem__(0, 1), "expected an object"),
    ],
)
def test_bad_test_set(demo: Files, change: Callable[[Any], None], expected: str) -> None:
    with pytest.raises(PunchlineError, match=expected):
        hummus.golds(changed(demo, TEST_SET, change))


@pytest.mark.parametrize("item_id", ["../../etc", "a/b", "", ".", "..", ".hidden", "a b", "é", "a\ud800", "x" * 101])
def test_ids_are_plain_file_names(demo: Files, item_id: str) -> None:
    def rename(content: Any) -> None:
        content[item_id] = content.pop(ANNOTATED)

    def rename_label(content: Any) -> None:
        content[0]["combi_id"] = item_id

    for name, change in ((DATASET, rename), (TEST_SET, rename_label)):
        with pytest.raises(PunchlineError, match=r"file name|surrogate|expected a text") as raised:
            hummus.golds(changed(demo, name, change))
        assert name in str(raised.value)
        str(raised.value).encode()  # can be printed
        with pytest.raises(PunchlineError):
            hummus.listing(changed(demo, name, change)) if name == DATASET else items_of(changed(demo, name, change))


@pytest.mark.parametrize("name", GOLD_FILES)
@pytest.mark.parametrize(
    ("content", "expected"), [(b"", "not JSON"), (b'{"a": {', "not JSON"), (b"1", "expected"), (b"\xff\xfe{", "JSON")]
)
def test_truncated_json(demo: Files, name: str, content: bytes, expected: str) -> None:
    with pytest.raises(PunchlineError, match=expected):
        hummus.golds(demo | {name: content})


def test_duplicate_ids_and_deep_nests(demo: Files) -> None:
    twice = demo[DATASET].replace(b'"nyc-combi-9002"', b'"nyc-combi-9001"')
    with pytest.raises(PunchlineError, match="twice") as raised:
        hummus.golds(demo | {DATASET: twice})
    assert "nyc-combi-9001" in str(raised.value)
    with pytest.raises(PunchlineError, match="not JSON"):
        hummus.golds(demo | {DATASET: b"[" * 100_000})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("contest_number,image_description\n901,a\n901,b\n", "twice"),
        ("contest_number,image_description\nx,a\n", "contest_number: Expected"),
        ("contest,image_description\n901,a\n", "contest_number"),
    ],
)
def test_bad_descriptions(demo: Files, text: str, expected: str) -> None:
    with pytest.raises(PunchlineError, match=expected):
        items_of(demo | {DESCRIPTIONS: text.encode()})


def test_absent_file_and_unknown_item(demo: Files) -> None:
    with pytest.raises(PunchlineError, match="not there"):
        hummus.golds({DATASET: demo[DATASET]})
    with pytest.raises(PunchlineError, match="no such item"):
        hummus.items(demo, {"nyc-combi-1": ""})


# ------------------------------------------------------------------------------------------------------------ requests


def test_requests_of_a_positive_pair(demo: Files) -> None:
    image = ImageRef(path="x.png", sha256="0" * 64, width=2, height=1)
    (item,) = hummus.items(demo, {ANNOTATED: (image,)})
    asked = {(one.condition, one.task): one for one in hummus.requests(item)}
    six = ("classification", *METAPHOR_TASKS)
    assert {task for condition, task in asked if condition == "default"} == set(six)
    assert {task for condition, task in asked if condition == "description"} == set(six) - {"image_bbox"}
    assert {task for condition, task in asked if condition == "prompts"} == set(PROMPT_TASKS)
    assert [task for condition, task in asked if condition == "joint"] == ["joint"]
    assert {task for _, task in asked} == set(TASKS) and {condition for condition, _ in asked} == set(CONDITIONS)
    for (condition, task), request in asked.items():
        parts = request.messages[0].content
        if condition == "description":
            assert len(parts) == 1 and "\n\nImage: A therapist" in words(request)
            assert words(request).endswith(f"\nCaption: {item.fields['caption']}")
        else:
            assert parts[0] == Image(sha256="0" * 64)
            assert words(request).startswith(f"Caption: {item.fields['caption']}\n\n")
        if condition == "default":
            assert words(request).endswith(f"\n\n{INSTRUCTIONS[task]}")
    assert "No or Yes" in words(asked["description", "classification"])
    assert words(asked["joint", "joint"]).endswith(PROMPTS["joint"])


def test_options_are_in_seeded_order(demo: Files) -> None:
    letters = set()
    for item in items_of(demo).values():
        for request in hummus.requests(item):
            if request.task == "classification_a_b":
                letter = "A" if involves_is_a(item.item_id) else "B"
                letters.add(letter)
                assert f"\n{letter}. {OPTIONS[0]}\n" in words(request)
                assert words(request).count(OPTIONS[1]) == 1
    assert letters == {"A", "B"}


def test_others_are_asked_less(demo: Files) -> None:
    items = items_of(demo)
    assert {one.task for one in hummus.requests(items["nyc-combi-9006"])} == {"classification", *PROMPT_TASKS, "joint"}
    assert hummus.requests(items["nyc-combi-9011"]) == []  # Discard
    assert all(one.messages[0].content[0] == Image(sha256=None) for one in hummus.requests(items[ANNOTATED])[:6])


def test_random_baseline(demo: Files) -> None:
    draw = random.Random(0)
    for request in hummus.requests(items_of(demo)[ANNOTATED]):
        said = {baselines.baseline("random", request, draw) for _ in range(50)}
        if request.task == "classification_a_b":
            assert said == {"A", "B"}
        elif request.task.startswith("classification"):
            assert said == {"Yes", "No"}
        else:
            assert said == {None}
        assert baselines.baseline("prior", request, draw) is None


# -------------------------------------------------------------------------------------------------------------- grades


def test_right_answers(demo: Files) -> None:
    grades = graded(demo, lambda request, gold: (right(request, gold), "ok"))
    assert {grade.state for grade in grades if grade.rule == "released"} == {"ok"}
    for made, columns in (
        ("table2", ("classification_pos", "classification_neg", "classification_avg", "naming")),
        ("table3", ("image_bbox_iou", "image_label", "caption_hl_jaccard", "image_bbox_precision")),
        ("table4", ("positive", "negative", "average")),
        ("table5", ("classification_avg", "naming", "image_bbox_iou", "caption_hl_jaccard")),
    ):
        row = only(table(made, grades, demo))
        assert [row[column] for column in columns] == pytest.approx([1.0] * len(columns))
        assert all(value == 100 for name, value in row.items() if name.endswith("success"))
        assert row["comparable"] == "yes" and not any(row[f"n_{state}"] for state in ("missing", "unparsable"))
        assert row.get("naming_minilm") is None
    assert only(table("good_answers", grades, demo))["image_bbox"] == 100
    for shown in ("image", "description"):
        assert only(table("figure5", grades, demo), input=shown)["classification"] == 1


def test_two_embedders_never_share_a_column(demo: Files) -> None:
    grades = graded(demo, lambda request, gold: (right(request, gold), "ok"), "minilm")
    row = only(table("table2", grades, demo))
    assert row.get("naming") is None and row["naming_minilm"] == 1 and row["naming_success"] == 100
    nobody = graded(demo, lambda request, gold: (right(request, gold), "ok"), None)
    row = only(table("table2", nobody, demo))
    assert row.get("naming") is None and row.get("naming_minilm") is None and row["naming_success"] == 100
    other = graded(demo, lambda request, gold: (right(request, gold), "ok"), "someone else")
    assert all("cosine" not in name for grade in other for name in grade.values)


@pytest.mark.parametrize("verdict", ["", "high", "nan", "1e9", "[0.5]"])
def test_a_scorer_that_answers_prose_leaves_the_value_out(demo: Files, verdict: str) -> None:
    item, gold = items_of(demo)[ANNOTATED], golds_of(demo)[ANNOTATED]
    request = next(one for one in hummus.requests(item) if one.task == "naming")
    responses = {"naming": response(request, "WORK IS WAR")}
    (asked,) = judge_requests(item, gold, responses, "default")
    assert asked.task == "cosine" and said(asked) == ["work is war", "objects are people"]
    grades = grade_item(
        responses, item, gold, "m", "paper", {asked.request_id: Verdict("labse", response(asked, verdict))}
    )
    (naming,) = [grade for grade in grades if grade.task == "naming"]
    assert naming.state == "ok" and naming.values == {"success": 1.0}


def test_best_match_among_gold(demo: Files) -> None:
    item, gold = items_of(demo)["nyc-combi-9003"], golds_of(demo)["nyc-combi-9003"]
    request = next(one for one in hummus.requests(item) if one.task == "naming")
    responses = {"naming": response(request, "HUMANS ARE ANIMALS; WORK IS WAR")}
    asked = judge_requests(item, gold, responses, "default")
    assert len(asked) == 4  # each of the answer's with both directions
    verdicts = {
        one.request_id: Verdict("labse", response(one, "1.0" if len({*said(one)}) == 1 else "0.5")) for one in asked
    }
    (naming,) = [g for g in grade_item(responses, item, gold, "m", "paper", verdicts) if g.task == "naming"]
    assert naming.values["cosine"] == pytest.approx((1.0 + 0.5) / 2)
    assert naming.judge == "labse" and len(naming.responses) >= 2
    del verdicts[asked[0].request_id]  # one verdict less: no value
    (naming,) = [g for g in grade_item(responses, item, gold, "m", "paper", verdicts) if g.task == "naming"]
    assert "cosine" not in naming.values


@pytest.mark.parametrize("text", ["", "Yes or No", "I cannot tell"])
def test_unreadable_answers_leave_the_mean_and_count_against_success(demo: Files, text: str) -> None:
    def answer(request: Request, gold: Gold) -> tuple[str | None, State]:
        return (text if request.item_id == ANNOTATED else right(request, gold)), "ok"

    grades = graded(demo, answer)
    row = only(table("table2", grades, demo))
    assert row["classification_avg"] == 1 and row["n"] == 8  # of nine pairs of the demo's test set
    assert row["classification_success"] == pytest.approx(100 * 8 / 9)
    assert row["n_unparsable"] == 1 and row["comparable"] == "yes"


def test_refusals_and_failures(demo: Files) -> None:
    def refuses(request: Request, gold: Gold) -> tuple[str | None, State]:
        return (None, "refused") if request.item_id == ANNOTATED else (right(request, gold), "ok")

    row = only(table("table2", graded(demo, refuses), demo))
    assert row["n_refused"] == 1 and row["n"] == 8 and row["classification_success"] < 100

    def fails(request: Request, gold: Gold) -> tuple[str | None, State]:
        return (None, "failed") if request.item_id == ANNOTATED else (right(request, gold), "ok")

    row = only(table("table2", graded(demo, fails), demo))
    assert row["n_failed"] == 1 and row["classification_success"] == 100 and row["comparable"] == "no"


def test_rules_take_their_own_labels(demo: Files) -> None:
    golds = golds_of(demo)
    assert golds["nyc-combi-9004"].values["labels"] == {"released": "WIDLII", "paper": "No"}
    assert golds["nyc-combi-9009"].values["labels"] == {"released": None, "paper": "Yes"}
    grades = graded(demo, lambda request, gold: (right(request, gold, "released"), "ok"))
    released, paper = (only(table("table2", grades, demo, rule)) for rule in RULES)
    assert released["classification_avg"] == 1 and paper["classification_avg"] < 1
    assert (released["n"], paper["n"]) == (9, 10)


def test_only_classification_was_asked(demo: Files) -> None:
    def answer(request: Request, gold: Gold) -> tuple[str | None, State]:
        return (right(request, gold), "ok") if request.task == "classification" else (None, "missing")

    row = only(table("table2", graded(demo, answer), demo))
    assert row["n_missing"] == 0 and row["comparable"] == "yes" and row.get("naming") is None
    row = only(table("table3", graded(demo, answer), demo))
    assert row["n_missing"] == 6 and row["n"] == 0  # annotated positives of the demo's test set


def test_joint_ends_where_the_model_says_no(demo: Files) -> None:
    item, gold = items_of(demo)[ANNOTATED], golds_of(demo)[ANNOTATED]
    request = next(one for one in hummus.requests(item) if one.task == "joint")

    def by_task(text: str) -> Mapping[str, Grade]:
        grades = grade_item({"joint": response(request, text)}, item, gold, "m", "released", {}, "joint")
        return {grade.task: grade for grade in grades}

    said_no = by_task("is_met: No")
    assert said_no["classification"].values["fn"] == 1
    assert all(not said_no[task].scored and not said_no[task].values for task in ("naming", "image_bbox", "caption_hl"))
    lazy = by_task("is_met: Yes\nconceptual_metaphor: objects are people")
    assert lazy["naming"].values["success"] == 1
    assert lazy["caption_hl"].state == "unparsable" and lazy["caption_hl"].values == {"success": 0.0}
    for text in ("is_met: Discard", "something else", '{"is_met": "Discard", "text_hl": "<i>a</i>"}'):
        assert by_task(text)["classification"].state == "unparsable"
        assert by_task(text)["classification"].values == {"success": 0.0}
        assert not by_task(text)["naming"].values
    box = {"left": 0.1, "top": 0.2, "width": 0.3, "height": 0.4}
    whole = by_task(
        json.dumps({"is_met": "Yes", "conceptual_metaphor": "X AXIS IS A ROAD", "image_hl": box, "text_hl": "<i>a</i>"})
    )
    assert all(grade.state == "ok" and grade.values.get("success", 1) == 1 for grade in whole.values())
    assert whole["image_bbox"].parsed == ("[0.2, 0.1, 0.4, 0.3]",)


@pytest.mark.parametrize(("text", "state"), [("is_met: Discard", "ok"), (None, "refused"), ("?", "ok")])
def test_joint_answers_that_classify_nothing_count_against_success(demo: Files, text: str | None, state: State) -> None:
    def answer(request: Request, gold: Gold) -> tuple[str | None, State]:
        return (text, state) if request.task == "joint" else (right(request, gold), "ok")

    row = only(table("table5", graded(demo, answer), demo))
    assert row["n"] == 0 and row["classification_success"] == 0 and row["comparable"] == "yes"
    filled = {name for name in TABLES["table5"].names if row.get(name) is not None}
    assert filled == {"classification_success"}
    assert (row["n_refused"], row["n_unparsable"]) == ((9, 0) if state == "refused" else (0, 9))


def test_boxes_without_area_are_no_answer(demo: Files) -> None:
    item, gold = items_of(demo)[ANNOTATED], golds_of(demo)[ANNOTATED]
    request = next(one for one in hummus.requests(item) if one.task == "image_bbox")
    for text in ("cat: [0.5, 0.2, 0.00000000000000000001, 0.4]", "cat: [0.5, 0.2, 0, 0.4]"):
        grades = grade_item({"image_bbox": response(request, text)}, item, gold, "m", "released")
        (box,) = [grade for grade in grades if grade.task == "image_bbox"]
        assert box.state == "unparsable" and box.values == {"success": 0.0}


def test_captions_are_no_metaphors(demo: Files) -> None:
    item, gold = items_of(demo)[ANNOTATED], golds_of(demo)[ANNOTATED]
    item = msgspec.structs.replace(item, fields={**item.fields, "caption": "Time is a sofa."})
    request = next(one for one in hummus.requests(item) if one.task == "naming")
    for text, parsed in (
        ("Time is a sofa.", None),
        ('"Time is a sofa" relies on OBJECTS ARE PEOPLE', ("OBJECTS ARE PEOPLE",)),
        (words(request), None),
    ):
        grades = grade_item({"naming": response(request, text)}, item, gold, "m", "released")
        assert next(grade for grade in grades if grade.task == "naming").parsed == parsed
        asked = judge_requests(item, gold, {"naming": response(request, text)})
        assert bool(asked) == (parsed is not None)


def test_rouge(demo: Files) -> None:
    if ngrams.library() is None:
        pytest.skip("rouge-score is not installed")
    grades = graded(demo, lambda request, gold: (right(request, gold), "ok"))
    row = only(table("table2", grades, demo))
    assert row["rouge1"] == row["rouge2"] == pytest.approx(1)
    assert only(table("good_answers", grades, demo))["explanation"] == 100


def test_prompts_spread(demo: Files) -> None:
    def answer(request: Request, gold: Gold) -> tuple[str | None, State]:
        if request.task == "classification_glossed":
            return "Yes", "ok"
        return (None, "missing") if request.task == "classification_a_b" else (right(request, gold), "ok")

    row = only(table("table4", graded(demo, answer), demo))
    assert row["prompts"] == 2 and row["positive"] == pytest.approx((14 / 16 + 1) / 2)  # 7 of 9 are positive
    assert row["positive_sd"] == pytest.approx((1 - 14 / 16) / 2) and row["negative"] == pytest.approx(0.5)


def test_every_sample_counts(demo: Files) -> None:
    """The same answers twice leave every value; a second sample that is wrong changes it, in every table alike."""
    good = graded(demo, lambda request, gold: (right(request, gold), "ok"))
    bad = graded(demo, lambda request, gold: ("No" if request.task != "classification_a_b" else "?", "ok"))

    def second(grades: list[Grade]) -> list[Grade]:
        return [msgspec.structs.replace(grade, sample=1) for grade in grades]

    for name in ("table2", "table4"):
        once, twice = only(table(name, good, demo)), only(table(name, good + second(good), demo))
        column = "classification_avg" if name == "table2" else "average"
        assert twice[column] == once[column] == 1 and twice["n"] == 2 * once["n"] == 18
        mixed = [only(table(name, grades, demo)) for grades in (good + second(bad), second(bad) + good)]
        assert mixed[0] == mixed[1] and mixed[0][column] < 1
    assert mixed[0]["success"] == pytest.approx(100 * 5 / 6) and mixed[0]["prompts"] == 3


def test_figure5_counts_the_states_of_what_it_takes_from_prompts(demo: Files) -> None:
    def answer(request: Request, gold: Gold) -> tuple[str | None, State]:
        missing = request.task == "classification_no_yes" and request.item_id == "nyc-combi-9006"  # no metaphor
        return (None, "failed") if missing else (right(request, gold), "ok")

    made = table("figure5", graded(demo, answer), demo)
    row = only(made, input="image")
    assert row["n_failed"] == 1 and row["comparable"] == "no" and any("INCOMPLETE" in note for note in made.notes)
    assert only(made, input="description")["n_failed"] == 0
    released = [grade for grade in graded(demo, answer) if grade.rule == "released"]
    (image, described) = rows_of(TABLES["figure5"], released, golds_of(demo), items_of(demo))
    assert image.asked == (("classification_no_yes", "prompts"),) and described.asked == ()
    assert image.items is not None and image.items.sum() == 9

    def unasked(request: Request, gold: Gold) -> tuple[str | None, State]:
        return (None, "missing") if request.condition == "prompts" else (right(request, gold), "ok")

    row = only(table("figure5", graded(demo, unasked), demo), input="image")
    assert row["n_missing"] == 0 and row.get("classification") is None


def test_random_rows_are_baselines(demo: Files) -> None:
    made = table("table2", graded(demo, lambda request, gold: (right(request, gold), "ok")), demo)
    kinds = {str(row["model"]): row["kind"] for row in made.rows}
    assert kinds == {"random (closed form)": "baseline", "random (100 draws)": "baseline", "model": "measured"}


def test_notes_say_which_deviation() -> None:
    for name, one in TABLES.items():
        if any(column.endswith("_sd") for column in one.names):
            assert any("population's" in note for note in one.notes), name


# ---------------------------------------------------------------------------------------------------- published values


def test_published_denominators(root: Path) -> None:
    """940 pairs, 945 or 286 are those of classification: the other tasks are asked about positives."""
    for row in read_published(root / "config" / "published" / "hummus.csv"):
        if row["table"] in ("table2", "table3", "table5", "figure5"):
            about_all = row["column"].startswith("classification") and row["table"] != "figure5"
            assert (row["n"] in ("940", "300")) == about_all and (row["n"] == "") != about_all, row
        if row["table"] == "table7":
            assert row["n"] == ("286" if row["column"] == "classification" else "178")


def test_published(root: Path) -> None:
    rows = read_published(root / "config" / "published" / "hummus.csv")
    for row in rows:
        assert row["paper"] == "hummus" and row["table"] in TABLES
        keys = dict(part.split("=", 1) for part in row["key"].split(";") if part)
        assert set(keys) == set(TABLES[row["table"]].keys) and row["column"] in TABLES[row["table"]].names
    values = {(row["table"], row["row"], row["key"], row["column"]): row["value"] for row in rows}
    assert len(values) == len(rows)
    for name, row, column, value in (
        ("table2", "GPT-4 Turbo", "naming_success", "96"),
        ("table2", "Qwen3-VL-2B", "naming_success", "5"),
        ("table3", "Qwen3-VL-32B", "image_bbox_iou", "0.51"),
        ("table4", "Qwen2-VL-7B", "negative_sd", "0.11"),
        ("table5", "Human", "caption_hl_jaccard_sd", "0.41"),
    ):
        assert values[name, row, "", column] == value
    assert {row["row"] for row in rows if row["table"] == "table2"} >= {"Random"}


def test_published_as_printed(root: Path, mirror: Path) -> None:
    paper = mirror.parent / "papers" / "hummus.txt"
    if not paper.is_file():
        pytest.skip(f"the paper's text is not in {paper.parent}")
    lines = paper.read_text(encoding="utf-8").splitlines()
    printed: dict[tuple[str, str], list[str]] = {}
    for row in read_published(root / "config" / "published" / "hummus.csv"):
        table_of_numbers = row["table"] in ("table2", "table3", "table4", "table5")
        if table_of_numbers and not row["column"].endswith("success") and row["column"] != "prompts":
            printed.setdefault((row["table"], row["row"]), []).append(row["value"])
    ends = {
        name: next(i for i, line in enumerate(lines) if line.startswith(f"T{name[1:-1]} {name[-1]}:"))
        for name in TABLES
        if name in {one for one, _ in printed}
    }
    assert len(printed) == 10 + 9 + 3 + 10
    for (name, row), values in printed.items():
        block = lines[ends[name] - 13 : ends[name]]
        (line,) = [line for line in block if re.match(re.escape(row) + r" \d", line)]
        assert re.findall(r"\d\.\d\d", line.removeprefix(row)) == values, (name, row)


# --------------------------------------------------------------------------------------------------- the released data


@pytest.mark.real
def test_released_counts(real: Files) -> None:
    items, golds = items_of(real), golds_of(real)
    assert len(items) == 1000 and len({item.cluster for item in items.values()}) == 251
    scope = {
        rule: {task: sum(in_scope(task, gold, rule) for gold in golds.values()) for task in METAPHOR_TASKS}
        for rule in RULES
    }
    assert set(scope["released"].values()) == {557, 556} and scope["released"]["caption_hl"] == 556
    assert set(scope["paper"].values()) == {568, 567} and scope["paper"]["caption_hl"] == 567
    assert sum(gold.values["labels"]["released"] is not None for gold in golds.values()) == 940
    assert sum(gold.values["labels"]["paper"] is not None for gold in golds.values()) == 940
    found = hummus.oddities(real)
    assert sum("is_met of" in one for one in found) == 13
    assert sum("more than <i></i>" in one for one in found) == 16
    statistics = {
        (str(row["model"]), str(row["statistic"])): row.get("value") for row in table("statistics", [], real).rows
    }
    assert [statistics[DATASET, one] for one in ("yes", "widlii", "no", "discard")] == [332, 236, 372, 60]
    assert [statistics[TEST_SET, one] for one in ("yes", "widlii", "no", "discard")] == [329, 229, 382, 0]
    assert statistics[TEST_SET, "labels_that_differ"] == 13
    assert statistics[DATASET, "conceptual_metaphors"] == 402


@pytest.mark.real
def test_released_gold_comes_back(real: Files) -> None:
    grades = graded(real, lambda request, gold: (right(request, gold), "ok"))
    row = only(table("table2", grades, real))
    assert row["classification_avg"] == 1 and row["naming"] == 1 and row["n"] == 940
    assert {row[f"{task}_success"] for task in ("classification", "naming", "explanation")} == {100}
    assert row["n_unparsable"] == 0
    row = only(table("table3", grades, real))
    assert {row[f"{task}_success"] for task in ("image_bbox", "image_label", "caption_hl")} == {100}
    assert [row[one] for one in ("image_bbox_iou", "image_label", "caption_hl_jaccard")] == pytest.approx([1, 1, 1])


@pytest.mark.real
def test_released_metaphors_come_back_in_every_form(real: Files) -> None:
    items = items_of(real)
    for gold in golds_of(real).values():
        metaphors = [str(one) for one in gold.values.get("metaphors", ())][: answers.PIECES]
        fields = items[gold.item_id].fields
        shown = (str(fields["caption"]), str(fields["description"] or ""))
        for text in (
            "; ".join(metaphors),
            "; ".join(metaphors).upper(),
            "; ".join(metaphors).lower(),
            ", ".join(f'"{one}"' for one in metaphors),
            "\n".join(f"{one.upper()}." for one in metaphors),
        ):
            if metaphors:
                found = answers.named(text, shown)
                assert found is not None and [one.lower() for one in found] == [one.lower() for one in metaphors]


@pytest.mark.real
def test_random_baseline_is_the_printed_one(real: Files) -> None:
    made = table("table2", [], real)
    columns = ("classification_pos", "classification_neg", "classification_avg")
    closed = [only(made, "random (closed form)")[column] for column in columns]
    assert [f"{value:.2f}" for value in closed] == ["0.54", "0.45", "0.50"]
    drawn = [only(made, "random (100 draws)")[column] for column in columns]
    assert drawn == pytest.approx(closed, abs=0.01)


@pytest.mark.real
def test_all_yes_and_whole_caption_are_near_printed_rows(real: Files) -> None:
    """LLaVA-NeXT-8B says Yes throughout (.74, .00, .37); Qwen3-VL-2B marks nearly the whole caption (.31, .98, .30)."""

    def answer(request: Request, gold: Gold) -> tuple[str | None, State]:
        if request.task == "caption_hl":
            caption = next(line for line in words(request).split("\n") if line.startswith("Caption: "))
            return f"<i>{caption.removeprefix('Caption: ')}</i>", "ok"
        return "Yes", "ok"

    grades = graded(real, answer)
    row = only(table("table2", grades, real))
    assert row["classification_pos"] == pytest.approx(0.745, abs=0.001) and row["classification_neg"] == 0
    row = only(table("table3", grades, real))
    found = [row[f"caption_hl_{one}"] for one in ("precision", "recall", "jaccard")]
    assert found == pytest.approx([0.31, 0.98, 0.30], abs=0.015)


@pytest.mark.real
def test_split_holds_out_about_a_third(real: Files) -> None:
    items = [item for item in items_of(real).values() if item.fields["asked"]]
    assert 0.25 < np.mean([held_out(item.cluster) for item in items]) < 0.35
    made = table("table6", [], real)
    both = {row["subset"]: (row["train"], row["test"]) for row in made.rows}
    assert sum(both["all"]) == 940 and sum(both["met"]) == 568


@pytest.mark.real
def test_manifest_is_of_these_bytes(root: Path, mirror: Path, real: Files) -> None:
    from punchline.core.records import sha256

    path = root / "data" / "manifests" / "hummus" / "annotations.csv"
    rows = [row for _, row in parse_csv(path.read_bytes(), ("path", "url", "sha256", "bytes", "mirror"), file=path)]
    assert {row["path"] for row in rows} == set(ITEM_FILES)
    for row in rows:
        assert sha256(real[row["path"]]) == row["sha256"] and len(real[row["path"]]) == int(row["bytes"])
        assert (mirror / row["mirror"]).is_file()


@pytest.mark.real
def test_gold_words_are_the_captions(real: Files) -> None:
    captions = {item_id: str(item.fields["caption"]) for item_id, item in items_of(real).items()}
    outside = [
        item_id
        for item_id, gold in golds_of(real).items()
        if not set(gold.values.get("highlight", ())) <= set(highlight.words(captions[item_id]))
    ]
    assert len(outside) < 60  # parts of words, and captions that differ


def test_fine_tuned_models_are_shown_beside_their_base(demo: Files) -> None:
    grades = graded(demo, lambda request, gold: (right(request, gold, "paper"), "ok"))
    base = Graded("base", "measured", "test", grades, ModelCard(name="base", engine="vllm"))
    card = ModelCard(name="tuned", engine="transformers", options={"adapter": "somewhere"}, base="base")
    tuned = Graded("tuned", "measured", "test", grades, card)
    items, golds = items_of(demo), golds_of(demo)
    made = tabulate(TABLES["table7"], [base, tuned], golds, items, demo, [], scoring=None, complete=True)
    assert [(row["model"], row["setting"]) for row in made.rows] == [("base", "0-shot"), ("tuned", "fine-tuned")]
    held = sum(held_out(item.cluster) and bool(golds[name].values["labels"]["paper"]) for name, item in items.items())
    assert {row["n"] for row in made.rows} == {held} and {row["comparable"] for row in made.rows} == {"no"}
    made = tabulate(TABLES["table7"], [base], golds, items, demo, [], scoring=None, complete=True)
    assert made.rows == [] and any("adapter" in note for note in made.notes)


def test_the_average_of_four_prompts_is_there_where_all_four_were_answered(demo: Files) -> None:
    """Table 1's prompt is the fourth: right in all is 1 and no spread; wrong in one of four is the mean of their F1."""
    grades = graded(demo, lambda request, gold: (right(request, gold), "ok"))
    row = only(table("table4", grades, demo))
    assert (row["average"], row["average_of_four"], row["average_of_four_sd"]) == (1, 1, 0)
    flipped = {"Yes": "No", "No": "Yes"}
    wrong = graded(
        demo,
        lambda request, gold: (
            flipped[right(request, gold)] if request.task == "classification" else right(request, gold),
            "ok",
        ),
    )
    row = only(table("table4", wrong, demo))
    assert (row["average"], row["average_of_four"], row["average_of_four_sd"]) == (1, 0.75, pytest.approx(0.4330127))
    three = [grade for grade in wrong if grade.condition == "prompts"]
    assert only(table("table4", three, demo)).get("average_of_four") is None
    default = [grade for grade in wrong if grade.condition == "default"]
    assert all(row.get("average_of_four") is None for row in table("table4", default, demo).rows)


@pytest.mark.parametrize(("scorer", "columns"), [("labse", {"cosine", "cosine_cased"}), ("minilm", {"cosine_minilm"})])
def test_printed_pairs_are_compared_in_lower_case_and_as_they_are_printed(
    demo: Files, root: Path, scorer: str, columns: set[str]
) -> None:
    printed = [row for row in read_published(root / "config/published/hummus.csv") if row["table"] == "table9"]
    asked = [request for request in data_requests(demo, printed) if request.item_id == "table9"]
    assert len(asked) == 2 * len(printed) == 20
    assert sorted(said(asked[0])) == ["gun", "pistol"] and sorted(said(asked[1])) == ["Gun", "Pistol"]
    verdicts = {one.request_id: Verdict(scorer, response(one, str(at / 100))) for at, one in enumerate(asked)}
    rows = pair_rows(demo, printed, verdicts)
    assert rows[0][1].keys == {"output": "Gun", "reference": "Pistol"}
    values = [{name: found.point() for name, found in row.columns.items() if found} for _, row in rows]
    assert all(set(one) == columns for one in values) and {name for name, _ in rows} == {scorer}
    assert values[3] == ({"cosine": 0.06, "cosine_cased": 0.07} if scorer == "labse" else {"cosine_minilm": 0.06})
    assert pair_rows(demo, printed, {}) == []
    failed = {one.request_id: Verdict(scorer, response(one, None, "failed")) for one in asked}
    assert pair_rows(demo, printed, failed) == []


def test_domains_of_image_and_caption(demo: Files) -> None:
    """By the nearest term: of the target domain, of the source, or neither where both are as near."""
    asked = data_requests(demo, [])
    by_item = {item: [one for one in asked if one.item_id == item] for item in dict.fromkeys(r.item_id for r in asked)}
    golds = golds_of(demo)

    def shares(nearest: str) -> list[float | None]:
        verdicts = {}
        for item, requests in by_item.items():
            metaphors, side = golds[item].values["metaphors"], nearest == "source"
            terms = [re.split(r" (?:is|are|has|have) ", one.lower())[side] for one in metaphors]
            for one in requests:
                near = nearest != "neither" and said(one)[1] in terms
                verdicts[one.request_id] = Verdict("minilm", response(one, "0.9" if near else "0.1"))
        rows = domain_rows(demo, [], verdicts)
        assert [row.keys["statistic"] for _, row in rows] == ["image_in_target_domain", "caption_in_source_domain"]
        assert {column for _, row in rows for column in row.columns} == {"value_minilm"}
        return [found.point() for _, row in rows for found in row.columns.values() if found]

    assert shares("neither") == [0, 0]
    most = pytest.approx(100 * 6 / 7)  # one pair's metaphor is annotated both ways: each term is in both domains
    assert (shares("target"), shares("source")) == ([most, 0], [0, most])
