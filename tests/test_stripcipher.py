"""StripCipher: the item format, pictures, requests, grades, tables, published values, reviewing; the real strips."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.tabulated import Graded, tabulate

from punchline.bench.render import read_published
from punchline.benchmarks import stripcipher
from punchline.benchmarks.stripcipher import LETTERS, STRIPS, TASKS, grade_item, review
from punchline.benchmarks.stripcipher import demo as stripcipher_demo
from punchline.benchmarks.stripcipher.ask import PROMPTS
from punchline.benchmarks.stripcipher.baselines import baseline
from punchline.benchmarks.stripcipher.holdout import held_out
from punchline.benchmarks.stripcipher.pictures import panels, pictures
from punchline.benchmarks.stripcipher.strips import CATEGORIES, read_strips, schema, strips_of
from punchline.benchmarks.stripcipher.tables import TABLES
from punchline.comics import frames
from punchline.comics.number import encode
from punchline.comics.split import read_image
from punchline.core.benchmark import NoPicture, Picture
from punchline.core.errors import PunchlineError
from punchline.core.records import (
    RULES,
    Gold,
    Grade,
    Image,
    ImageRef,
    Item,
    ModelCard,
    Paper,
    Request,
    Response,
    State,
    Text,
    sha256,
)
from punchline.core.storage import parse_csv

OPTIONS = ["one thing", "another thing", "a third thing", "a fourth thing"]


def choice(answer: str = "one thing", **more: Any) -> dict[str, Any]:
    return {"options": OPTIONS, "answer": answer, **more}


def record(item_id: str = "s_1", **more: Any) -> dict[str, Any]:
    return {"item_id": item_id, "source": "s", "frames": 4, "credit": "c", "licence": "l", **more}


def corpus(*records: dict[str, Any]) -> dict[str, bytes]:
    return {STRIPS: json.dumps(records or [record()]).encode()}


def shown(files: Mapping[str, bytes]) -> dict[str, tuple[ImageRef, ...] | str]:
    """Every strip with pictures of made-up digests: their names."""
    made: dict[str, tuple[ImageRef, ...] | str] = {}
    for item_id, strip in strips_of(files).items():
        names = ["page", *(f"frame{n}" for n in range(1, strip.frames + 1)), "masked", "row_shuffled", "row_masked"]
        made[item_id] = tuple(ImageRef(path="x", sha256=name, width=1, height=1, name=name) for name in names)
    return made


def items(files: Mapping[str, bytes]) -> list[Item]:
    return stripcipher.items(files, shown(files))


def images_of(request: Request) -> list[str | None]:
    return [part.sha256 for message in request.messages for part in message.content if isinstance(part, Image)]


def text_of(request: Request) -> str:
    return "\n".join(part.text for m in request.messages for part in m.content if isinstance(part, Text))


def answer(request: Request, text: str | None, state: State = "ok") -> Response:
    return Response(
        request_id=request.request_id, model_key="m", state=state, text=text, engine="e", engine_version="1"
    )


REVIEWED = record(texts={"prediction": choice(), "comprehension": choice("another thing"), "category": "Critical"})


# -------------------------------------------------------------------------------------------------------- item format


def test_the_schema_in_docs_is_the_format(root: Path) -> None:
    assert json.loads((root / "docs" / "stripcipher.schema.json").read_text()) == schema()


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([record(frames=2)], ("s_1", "field frames", ">= 3")),
        ([record(frames=9)], ("s_1", "field frames", "<= 8")),
        ([record(frames="4")], ("s_1", "field frames")),
        ([record(item_id="../x")], ("../x", "field item_id")),
        ([record(item_id="x\n")], ("field item_id",)),
        ([record(), record()], ("s_1", "field item_id", "twice")),
        ([record(colour="red")], ("s_1", "colour")),
        ([{"item_id": "s_1"}], ("s_1", "missing")),
        ([{}], ("number 1", "field item_id", "file name")),
        ([record(boxes=[[0, 0, 1, 1]])], ("s_1", "field boxes", "1 boxes for 4 frames")),
        ([record(boxes=[[0, 0, 0, 1]] * 4)], ("s_1", "field boxes[0]", "no box")),
        ([record(boxes=[[0, -1, 1, 1]] * 4)], ("s_1", "field boxes")),
        ([record(boxes="elsewhere")], ("s_1", "field boxes")),
        ([record(texts={"prediction": choice("something else")})], ("s_1", "texts.prediction.answer", "none of")),
        ([record(texts={"comprehension": {"options": OPTIONS}})], ("s_1", "field texts.comprehension", "answer")),
        ([record(texts={"comprehension": choice(options=OPTIONS[:3])})], ("s_1", "texts.comprehension.options")),
        (
            [record(texts={"comprehension": choice(options=["one thing", "One thing!", "b", "c"])})],
            ("s_1", "texts.comprehension.options", "the same"),
        ),
        ([record(texts={"comprehension": choice(options=["one thing", " ", "b", "c"])})], ("s_1", "empty")),
        ([record(texts={"category": "Funny"})], ("s_1", "texts.category")),
        (
            [record(texts={"comprehension": choice(options=["a\nB. b", "c", "d", "e"])})],
            ("s_1", "options", "line break"),
        ),
        (
            [record(texts={"prediction": choice(options=["one thing", "c\r", "d", "e"])})],
            ("s_1", "options", "line break"),
        ),
        ([record(texts={"meaning": "  "})], ("s_1", "texts.meaning", "empty")),
        ([record(boxes=[[0, 0, 9, 9], [9, 0, 18, 9], [0, 0, 9, 9], [18, 0, 27, 9]])], ("s_1", "boxes[2]", "another")),
    ],
)
def test_errors_name_record_and_field(records: list[dict[str, Any]], words: tuple[str, ...]) -> None:
    with pytest.raises(PunchlineError) as error:
        read_strips(json.dumps(records).encode())
    assert str(error.value).startswith(f"{STRIPS}, record ")
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "content", [b"", b"[", b'[{"item_id": "s_1"', b"{}", b"[1]", b"\xff\xfe", b"null", b"[" * 100_000]
)
def test_what_is_no_list_of_records(content: bytes) -> None:
    with pytest.raises(PunchlineError, match=rf"^{STRIPS}\b.*(not JSON|expected a list|expected an object)"):
        read_strips(content)


@pytest.mark.parametrize(
    ("once", "twice", "field"),
    [
        ('"frames": 4', '"frames": 3, "frames": 4', "frames"),
        ('"texts": {', '"texts": {"meaning": "m", "meaning": "n", ', "texts.meaning"),
        ('"answer": "one thing"', '"answer": "a third thing", "answer": "one thing"', "texts.prediction.answer"),
    ],
)
def test_a_field_that_is_there_twice(once: str, twice: str, field: str) -> None:
    text = json.dumps([record("s_0"), REVIEWED])
    assert once in text
    before, after = text.rsplit(once, 1)
    with pytest.raises(PunchlineError, match=rf"record s_1, field {field}: the field is there twice"):
        read_strips(f"{before}{twice}{after}".encode())


def test_a_byte_order_mark_is_taken() -> None:
    content = corpus(REVIEWED)[STRIPS]
    assert read_strips(b"\xef\xbb\xbf" + content) == read_strips(content)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(PunchlineError, match=STRIPS):
        stripcipher.listing({})


# ------------------------------------------------------------------------------------------------------- items, gold


def test_items_hold_no_label() -> None:
    (item,) = items(corpus(REVIEWED))
    assert item.cluster == "s_1" and item.missing is None
    assert item.fields["frames"] == 4
    for task in ("prediction", "comprehension"):
        offered = [item.fields[f"{task}_{letter}"] for letter in LETTERS]
        assert sorted(map(str, offered)) == sorted(OPTIONS)
    assert set(item.fields) - {f"{t}_{x}" for t in TASKS for x in LETTERS} == {"frames", "meaning"}
    changed = {**REVIEWED, "texts": {**REVIEWED["texts"], "prediction": choice("a third thing")}}
    assert items(corpus(changed)) == [item]  # a corrected label asks nobody again


def test_which_corrected_label_asks_again() -> None:
    """Where a strip has no meaning of its own, the right comprehension option is what condition meaning shows."""
    corrected = {"comprehension": choice("a third thing")}
    for own, asked_again in (({}, {"meaning"}), ({"meaning": "All is vain."}, set())):
        texts = {**REVIEWED["texts"], **own}
        before, after = (
            {(r.condition, r.task): r.request_id for r in stripcipher.requests(items(corpus(record(texts=t)))[0])}
            for t in (texts, {**texts, **corrected})
        )
        assert {condition for condition, task in before if before[condition, task] != after[condition, task]} == (
            asked_again
        )


def test_gold_is_what_the_options_say() -> None:
    files = corpus(*(record(f"s_{n}", texts=REVIEWED["texts"], frames=3 + n % 6) for n in range(40)))
    letters: Counter[str] = Counter()
    for item, gold in zip(items(files), stripcipher.golds(files), strict=True):
        n = gold.values["frames"]
        assert item.fields[f"prediction_{gold.values['prediction']}"] == "one thing"
        assert item.fields[f"comprehension_{gold.values['comprehension']}"] == "another thing"
        assert gold.values["category"] == "Critical"
        order = frames.shown_order(n, item.item_id)
        assert [order[place - 1] for place in gold.values["reordering_generation"]] == list(range(n))
        letters[gold.values["reordering_choice"]] += 1
    assert set(letters) == set(LETTERS)


def test_unknown_strips_and_missing_pictures() -> None:
    with pytest.raises(PunchlineError, match="no such item"):
        stripcipher.items(corpus(), {"other": "why"})
    (item,) = stripcipher.items(corpus(), {"s_1": "2 panels by splitting, 4 stated"})
    assert item.missing is not None and item.images == ()
    for request in stripcipher.requests(item):
        assert set(images_of(request)) == {None}


def test_oddities_count_what_is_not_reviewed() -> None:
    assert stripcipher.oddities(corpus(REVIEWED)) == []
    assert len(stripcipher.oddities(corpus(REVIEWED, record("s_2")))) == 2


# ----------------------------------------------------------------------------------------------------------- requests


def test_what_is_asked_in_each_condition() -> None:
    (item,) = items(corpus(REVIEWED))
    asked = {(r.condition, r.task): r for r in stripcipher.requests(item)}
    order = [f"frame{place + 1}" for place in frames.shown_order(4, "s_1")]
    straight = ["frame1", "frame2", "frame3", "frame4"]
    assert {key: images_of(request) for key, request in asked.items()} == {
        ("default", "prediction"): ["frame1", "frame2", "masked", "frame4"],
        ("default", "comprehension"): ["page"],
        ("default", "reordering_choice"): order,
        ("default", "reordering_generation"): order,
        ("sequence", "comprehension"): straight,
        ("shuffled", "comprehension"): order,
        ("meaning", "reordering_choice"): order,
        ("row", "prediction"): ["row_masked"],
        ("row", "reordering_choice"): ["row_shuffled"],
        ("row", "reordering_generation"): ["row_shuffled"],
    }
    assert "'another thing'" in text_of(asked["meaning", "reordering_choice"])
    assert all("another thing" not in text_of(r) for (_, task), r in asked.items() if task == "reordering_generation")
    for (_, task), request in asked.items():
        if task == "reordering_generation":
            assert text_of(request) == PROMPTS["reordering"]
        else:
            assert text_of(request).endswith(
                "Please output the correct option ID without any additional text or explanation"
            )


def test_without_texts_only_reordering_is_asked() -> None:
    (item,) = items(corpus())
    assert {(r.condition, r.task) for r in stripcipher.requests(item)} == {
        (condition, task) for condition in ("default", "row") for task in ("reordering_choice", "reordering_generation")
    }


def test_a_question_and_a_meaning_of_their_own() -> None:
    texts = {"comprehension": choice(question="Who wins?"), "meaning": "Nobody {wins}."}
    (item,) = items(corpus(record(texts=texts)))
    asked = {(r.condition, r.task): text_of(r) for r in stripcipher.requests(item)}
    assert asked["default", "comprehension"].startswith(f"{PROMPTS['comprehension']}\nWho wins?\nA. ")
    assert "strips: 'Nobody {wins}.' Number" in asked["meaning", "reordering_choice"]


def test_prompts_are_the_papers(root: Path) -> None:
    paper = root.parent / "shared" / "papers" / "stripcipher.txt"
    if not paper.is_file():
        pytest.skip("REAL DATA ABSENT: no text of the paper")
    text = " ".join(paper.read_text().replace("**", "").split())
    for prompt in (
        *PROMPTS["meaning"].split("{meaning}"),
        PROMPTS["choose"],
        review.PROMPTS["answer_prediction"],
        review.PROMPTS["answer_comprehension"],
    ):
        assert " ".join(prompt.split()) in text, prompt
    both = " ".join(review.PROMPTS["both"].split())
    assert both in text
    for prompt in (review.PROMPTS["distractor_prediction"], review.PROMPTS["distractor_comprehension"]):
        assert " ".join(prompt.split("\n")[0].split()) in text
    # Table 2 comes in pieces: its left edge is cut off.
    for piece in (
        "Based on the overall story, what is hap-",
        "g in the blank frame (second-to-last)?",
        "What is happening in this comic",
        "What is the implicit meaning? Based on your",
        "standing, answer the question.",
        "vided below is incorrect. Your task is to find out the correct order of the comic strips based on the "
        "storyline and temporal logical relationship. Number each comic strip in the order they should appear, "
        "starting from 1.",
    ):
        assert piece in text, piece


# ------------------------------------------------------------------------------------------------------------- grades


def graded(text: str | None, task: str, state: State = "ok", condition: str = "default") -> tuple[Grade, Gold]:
    files = corpus(REVIEWED)
    (item,), (gold,) = items(files), stripcipher.golds(files)
    (request,) = [r for r in stripcipher.requests(item) if (r.task, r.condition) == (task, condition)]
    grades = grade_item({task: answer(request, text, state)}, item, gold, "m", "paper", None, condition)
    return next(grade for grade in grades if grade.task == task), gold


def test_gold_in_gives_right_out() -> None:
    _, gold = graded("", "prediction")
    for task in TASKS:
        value = gold.values[task]
        text = ", ".join(map(str, value)) if isinstance(value, list) else value
        grade, _ = graded(text, task)
        assert (grade.state, grade.scored, grade.values["correct"]) == ("ok", True, 1.0)
        for condition in ("row", "meaning", "sequence", "shuffled"):
            asked = {r.task for r in stripcipher.requests(items(corpus(REVIEWED))[0]) if r.condition == condition}
            if task in asked:
                assert graded(text, task, condition=condition)[0].values["correct"] == 1.0


def test_the_sequence_itself_chooses_its_option() -> None:
    _, gold = graded("", "prediction")
    grade, _ = graded(", ".join(map(str, gold.values["reordering_generation"])), "reordering_choice")
    assert grade.parsed == (gold.values["reordering_choice"],)
    right = ", ".join(map(str, gold.values["reordering_generation"]))
    for no_option in ("1, 2, 3, 4", f"4, {right}", f"{right}, 1", f"not {right}", f"It isn't {right}."):
        assert graded(no_option, "reordering_choice")[0].state == "unparsable", no_option
    assert graded(f"{gold.values['reordering_choice']}. {right}", "reordering_choice")[0].values["correct"] == 1.0


def test_the_other_reading_of_the_instruction() -> None:
    _, gold = graded("", "prediction")
    right = gold.values["reordering_generation"]
    places = [right.index(number) + 1 for number in range(1, 5)]
    grade, _ = graded(", ".join(map(str, places)), "reordering_generation")
    assert grade.values == {"correct": float(places == right), "correct_as_places": 1.0}


@pytest.mark.parametrize(
    ("text", "state", "expected", "scored"),
    [
        ("", "ok", "unparsable", True),
        ("no idea", "ok", "unparsable", True),
        (None, "refused", "refused", True),
        (None, "failed", "failed", False),
        (None, "missing", "missing", False),
    ],
)
def test_states(text: str | None, state: State, expected: State, scored: bool) -> None:
    for task in TASKS:
        grade, _ = graded(text, task, state)
        assert (grade.state, grade.scored) == (expected, scored)
        assert grade.values.get("correct", 0.0) == 0.0
        assert bool(grade.values) == scored


def test_both_rules_agree_and_nothing_else_is_graded() -> None:
    files = corpus(REVIEWED)
    (item,), (gold,) = items(files), stripcipher.golds(files)
    released, paper = (grade_item({}, item, gold, "m", rule) for rule in RULES)
    assert [grade.task for grade in released] == list(TASKS)
    assert [g.values for g in released] == [g.values for g in paper]
    assert {grade.state for grade in paper} == {"missing"}
    assert [g.task for g in grade_item({}, item, gold, "m", "paper", None, "sequence")] == ["comprehension"]


def test_baselines() -> None:
    (item,) = items(corpus(REVIEWED))
    for request in stripcipher.requests(item):
        draw = random.Random(0)
        said = baseline("random", request, draw)
        if request.task == "reordering_generation":
            assert (said is None) == (request.condition == "row")
            if said is not None:
                assert sorted(said.split(", ")) == ["1", "2", "3", "4"]
                assert baseline("label-order", request, draw) == "1, 2, 3, 4"
        else:
            assert said is not None and said in LETTERS
            assert baseline("label-order", request, draw) is None
        assert baseline("ocr", request, draw) is None
    (request,) = [r for r in stripcipher.requests(item) if r.condition == "meaning"]
    assert len({baseline("random", request, random.Random(seed)) for seed in range(50)}) == 4


# ----------------------------------------------------------------------------------------------------------- pictures


def strip_image(n: int = 4) -> bytes:
    """A row of n framed panels, 100 pixels wide, with gutters of 10."""
    page = np.full((140, 10 + 110 * n, 3), 255, np.uint8)
    for place in range(n):
        x = 10 + 110 * place
        page[20:120, x : x + 100] = 0
        page[23:117, x + 3 : x + 97] = 60 + 20 * place
    return encode(page)


def opened(picture: Picture) -> Any:
    return read_image(io.BytesIO(picture.content))


def test_pictures_of_a_strip() -> None:
    files = corpus()
    made = {picture.name: picture for picture in pictures("s_1", strip_image(), files)}
    assert list(made) == ["page", "frame1", "frame2", "frame3", "frame4", "masked", "row_shuffled", "row_masked"]
    assert made["page"].content == strip_image()
    parts = [opened(made[f"frame{n}"]) for n in range(1, 5)]
    assert [int(part[50, 50, 0]) for part in parts] == [60, 80, 100, 120]
    assert (opened(made["masked"])[10:90, 10:90] == 255).all()
    assert opened(made["masked"]).shape == parts[2].shape
    order = frames.shown_order(4, "s_1")
    assert np.array_equal(opened(made["row_shuffled"]), frames.row([parts[place] for place in order]))
    assert pictures("s_1", strip_image(), files) == list(made.values())
    assert len(made["frame1"].derivation["boxes"]) == 4
    for picture in made.values():
        assert opened(picture).shape[:2] == (picture.height, picture.width)


def test_why_there_is_no_picture() -> None:
    with pytest.raises(NoPicture, match="5 panels by splitting, 4 stated"):
        pictures("s_1", strip_image(5), corpus())
    empty = {"metadata.csv": b"comic_id,metadata\n", "objective_label.csv": b"comic_id,panel_sequence\n"}
    with pytest.raises(NoPicture, match=r"0 panels by PixelHumor's metadata\.csv, 4 stated"):
        pictures("s_1", strip_image(), corpus(record(boxes="pixelhumor")) | empty)


@pytest.mark.parametrize("cell", ["[{'x1': 1}]", "[[[[", "7", "", "[None]", "__import__('os')"])
def test_hostile_boxes_of_pixelhumor(cell: str) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([("comic_id", "metadata"), ("s_1", cell)])
    files = corpus(record(boxes="pixelhumor"))
    files |= {"metadata.csv": out.getvalue().encode(), "objective_label.csv": b"comic_id,panel_sequence\ns_1,1\n"}
    with pytest.raises(PunchlineError, match=r"metadata\.csv, line 2, record s_1"):
        pictures("s_1", strip_image(), files)


def test_boxes_outside_the_image_and_images_that_are_none() -> None:
    outside = record(boxes=[*([x, 0, x + 10, 10] for x in (0, 10, 20)), [0, 0, 9999, 10]])
    with pytest.raises(PunchlineError, match=r"the published image.*frame 4"):
        pictures("s_1", strip_image(), corpus(outside))
    for content in (b"", b"<html>", strip_image()[:200]):
        with pytest.raises(PunchlineError, match="the published image"):
            pictures("s_1", content, corpus())
    with pytest.raises(PunchlineError, match="no such strip"):
        pictures("s_2", strip_image(), corpus())


# --------------------------------------------------------------------------------------------------------------- demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    stripcipher_demo.draw(folder)
    return folder


@pytest.fixture(scope="module")
def demo_files(demo: Path) -> dict[str, bytes]:
    return {name: (demo / name).read_bytes() for name in stripcipher.ITEM_FILES}


def test_every_demo_strip_has_its_pictures(demo: Path, demo_files: dict[str, bytes]) -> None:
    strips = strips_of(demo_files)
    assert len(strips) == 8
    assert {strip.texts.category for strip in strips.values() if strip.texts} == set(CATEGORIES)
    for item_id, strip in strips.items():
        made = pictures(item_id, (demo / "images" / f"{item_id}.png").read_bytes(), demo_files)
        assert len(made) == strip.frames + 4
    assert {type(strip.boxes) for strip in strips.values()} == {list, str, type(None)}


def test_pixelhumor_boxes_come_in_reading_order(demo: Path, demo_files: dict[str, bytes]) -> None:
    image = read_image(demo / "images" / "demo_7.png")
    boxes = panels(strips_of(demo_files)["demo_7"], image, demo_files)
    assert [box.x1 for box in boxes] == sorted(box.x1 for box in boxes)


# ------------------------------------------------------------------------------------------------------------- tables


def answered(
    files: Mapping[str, bytes], right: Mapping[str, set[str]], conditions: tuple[str, ...] = ("default",)
) -> list[Grade]:
    """Grades of a model that answers the tasks in `right`, correctly on the strips named there, else with nonsense."""
    golds = {gold.item_id: gold for gold in stripcipher.golds(files)}
    grades = []
    for item in items(files):
        for condition in conditions:
            said = {}
            for request in stripcipher.requests(item):
                if request.condition == condition and request.task in right:
                    value = golds[item.item_id].values[request.task]
                    text = ", ".join(map(str, value)) if isinstance(value, list) else value
                    said[request.task] = answer(request, text if item.item_id in right[request.task] else "?")
            grades += grade_item(said, item, golds[item.item_id], "m", "paper", None, condition)
    return grades


def made(name: str, files: Mapping[str, bytes], *models: Graded, **more: Any) -> list[dict[str, Any]]:
    published = more.pop("published", ())
    golds = {gold.item_id: gold for gold in stripcipher.golds(files)}
    every = {item.item_id: item for item in items(files)}
    table = tabulate(TABLES[name], models, golds, every, files, published, scoring=None, complete=True, **more)
    return table.rows


def model(grades: list[Grade], name: str = "m", base: str | None = None) -> Graded:
    return Graded(name, "measured", "e", grades, ModelCard(name=name, engine="e", base=base))


def eight() -> dict[str, bytes]:
    kinds = ["Critical", "Humorous"]
    return corpus(
        *(record(f"s_{n}", frames=3 + n % 2, texts={**REVIEWED["texts"], "category": kinds[n % 2]}) for n in range(8))
    )


def test_table4_counts_a_task_that_fails_as_nothing() -> None:
    right = {"prediction": {"s_0", "s_1"}, "comprehension": {"s_0"}, "reordering_choice": {f"s_{n}" for n in range(8)}}
    (row,) = made("table4", eight(), model(answered(eight(), right)))
    assert (row["prediction"], row["comprehension"], row["reordering_choice"]) == (25.0, 12.5, 100.0)
    assert "reordering_generation" not in row
    assert row["avg"] == (25.0 + 12.5 + 100.0) / 4
    (row,) = made("table4", eight(), model(answered(eight(), {})))
    assert "avg" not in row


def test_table4_takes_rows_of_frames_where_separate_frames_have_no_answer() -> None:
    right = {task: {"s_0"} for task in TASKS}
    grades = answered(eight(), {"comprehension": {"s_0", "s_1"}}) + answered(eight(), right, ("row",))
    (row,) = made("table4", eight(), model(grades))
    assert (row["prediction"], row["comprehension"], row["avg"]) == (12.5, 25.0, (3 * 12.5 + 25.0) / 4)
    (row,) = made("table4", eight(), model(answered(eight(), right, ("default", "row"))))
    assert row["avg"] == 12.5 and row["n_missing"] == 0


def test_the_states_of_a_task_are_those_of_the_answers_shown() -> None:
    right = {task: {"s_0"} for task in TASKS}
    failed = [
        msgspec.structs.replace(grade, state="failed", scored=False, values={})
        if grade.task == "comprehension" and grade.item_id in ("s_1", "s_2")
        else grade
        for grade in answered(eight(), {"comprehension": {"s_0"}})
    ]
    for name in ("table4", "figure4"):
        (row,) = made(name, eight(), model(failed + answered(eight(), right, ("row",))))
        assert (row["n_failed"], row["n_missing"], row["comparable"]) == (2, 0, "no")
        assert (row["frames"], row["comprehension"]) == ("side by side", pytest.approx(100 / 6))
        (row,) = made(name, eight(), model(answered(eight(), right) + answered(eight(), right, ("row",))))
        assert (row["frames"], row["n_failed"]) == ("separate", 0)
    own = answered(eight(), {"comprehension": {"s_0"}, "prediction": {"s_0"}})
    (row,) = made("table4", eight(), model(own + answered(eight(), right, ("row",))))
    assert row["frames"] == "side by side: reordering_choice, reordering_generation"
    assert row["n_unparsable"] == 7 and row["n_missing"] == 0
    base, tuned = model(own, "base"), model(failed + answered(eight(), right, ("row",)), "tuned", base="base")
    rows = {row["model"]: row for row in made("table5", eight(), base, tuned)}
    assert (rows["tuned"]["n_failed"], rows["tuned"]["frames"], rows["base"]["n_failed"]) == (2, "side by side", 0)


def test_table4_has_no_average_where_texts_are_not_reviewed() -> None:
    files = corpus(record())
    (row,) = made("table4", files, model(answered(files, {"reordering_choice": {"s_1"}})))
    assert row["reordering_choice"] == 100.0 and "avg" not in row


def test_table5_pairs_a_tuned_model_with_its_base() -> None:
    every = {f"s_{n}" for n in range(8)}
    files = corpus(*(record(f"s_{n}", frames=3, texts=REVIEWED["texts"]) for n in range(60)))
    held = {item_id for item_id in (f"s_{n}" for n in range(60)) if held_out(item_id)}
    assert held
    base = model(answered(files, {task: set() for task in TASKS}), "base")
    tuned = model(answered(files, dict.fromkeys(TASKS, held | every)), "tuned", base="base")
    rows = {row["model"]: row for row in made("table5", files, base, tuned)}
    assert (rows["base"]["training"], rows["tuned"]["training"]) == ("none", "reordering")
    assert rows["tuned"]["reordering_choice"] == 100.0 and rows["base"]["reordering_choice"] == 0.0
    assert rows["tuned"]["comprehension"] == 100 * len(held | every) / 60
    assert made("table5", files, base) == []


def test_a_ninth_of_the_strips_is_held_out() -> None:
    share = sum(held_out(f"strip_{n}") for n in range(20_000)) / 20_000
    assert abs(share - 100 / 890) < 0.01


def test_tables_6_to_8_and_figure_6() -> None:
    files = eight()
    right = {task: {"s_0", "s_2"} for task in TASKS}
    grades = answered(files, right) + answered(files, {t: {"s_1"} for t in TASKS}, ("shuffled", "meaning"))
    assert [(row["input"], row.get("comprehension")) for row in made("table6", files, model(grades))] == [
        ("whole", 25.0),
        ("sequence", None),
        ("shuffled", 12.5),
    ]
    assert [(row["input"], row.get("reordering_choice")) for row in made("table7", files, model(grades))] == [
        ("shuffled", 25.0),
        ("meaning", 12.5),
    ]
    assert [(row["frames"], row["comprehension"]) for row in made("table8", files, model(grades))] == [
        (3, 50.0),
        (4, 0.0),
    ]
    assert {row["category"]: row["comprehension"] for row in made("figure6", files, model(grades))} == {
        "Critical": 50.0,
        "Humorous": 0.0,
    }


def test_table8_averages_models() -> None:
    files = eight()
    one, two, none = (answered(files, {"comprehension": right}) for right in ({"s_0"}, {"s_0", "s_1"}, set()))
    rows = made("table8", files, model(one), model(two, "n"), model(none, "o"), Graded("b", "baseline", "e", two))
    means = {row["frames"]: row["comprehension"] for row in rows if row["model"] == "AVG"}
    assert means == {3: 50 / 3, 4: 25 / 3}
    assert not [row for row in made("table8", files, model(one)) if row["model"] == "AVG"]


def test_table7_compares_the_same_strips_too() -> None:
    files = corpus(REVIEWED, record("s_2"))
    rows = made("table7", files, model(answered(files, {"reordering_choice": {"s_1"}}, ("default", "meaning"))))
    assert [(r["subset"], r["input"], r["reordering_choice"], r["n"]) for r in rows] == [
        ("all", "shuffled", 50.0, 2),
        ("with meaning", "shuffled", 100.0, 1),
        ("all", "meaning", 100.0, 1),
    ]


def test_tables_of_the_strips() -> None:
    files = corpus(REVIEWED, record("s_2", frames=8))
    rows = {row["task"]: row for row in made("table3", files)}
    assert (rows["reordering"]["examples"], rows["reordering"]["length"], rows["reordering"]["frames"]) == (2, 6, 12)
    assert (rows["prediction"]["examples"], rows["prediction"]["length"], rows["prediction"]["types"]) == (1, 2.5, 1)
    shares = {row["category"]: row["percent"] for row in made("figure5", files)}
    assert shares["Critical"] == 100.0 and shares["Touching"] == 0.0
    assert made("figure5", corpus()) == []


# --------------------------------------------------------------------------------------------------- published values


@pytest.fixture(scope="module")
def published(root: Path) -> list[dict[str, str]]:
    return read_published(root / "config" / "published" / "stripcipher.csv")


def test_published_rows_belong_to_tables_and_cards(root: Path, published: list[dict[str, str]]) -> None:
    assert Counter(cell["table"] for cell in published) == {
        "table1": 3,
        "table3": 12,
        "table4": 82,
        "table5": 12,
        "table6": 6,
        "table7": 4,
        "table8": 28,
        "figure4": 5,
    }
    rows = set()
    for path in (root / "config" / "model").glob("*.yaml"):
        card = msgspec.yaml.decode(path.read_bytes())
        paper = msgspec.convert((card.get("papers") or {}).get("stripcipher") or {}, Paper)
        rows |= {paper.row or card.get("published_as"), *paper.rows.values()}
    for cell in published:
        assert cell["column"] in TABLES[cell["table"]].names
        assert {part.split("=")[0] for part in cell["key"].split(";") if part} <= set(TABLES[cell["table"]].keys)
        assert cell["row"] in rows | {"Human", "AVG", "StripCipher"}
    assert len({(c["table"], c["row"], c["key"], c["column"]) for c in published}) == len(published)


def test_published_averages_add_up(published: list[dict[str, str]]) -> None:
    by_model: dict[str, dict[str, float]] = {}
    for cell in published:
        if cell["table"] == "table4":
            by_model.setdefault(cell["row"], {})[cell["column"]] = float(cell["value"])
    assert len(by_model) == 17
    for values in by_model.values():
        assert abs(sum(values.get(task, 0.0) for task in TASKS) / 4 - values["avg"]) < 0.0051
    lines = [cell for cell in published if cell["table"] == "table8"]
    for key in {cell["key"] for cell in lines}:
        own = [float(cell["value"]) for cell in lines if cell["key"] == key and cell["row"] != "AVG"]
        (mean,) = (float(cell["value"]) for cell in lines if cell["key"] == key and cell["row"] == "AVG")
        assert len(own) == 6 and abs(sum(own) / 6 - mean) < 0.0051


def test_every_published_value_is_printed(root: Path, published: list[dict[str, str]]) -> None:
    paper = root.parent / "shared" / "papers" / "stripcipher.txt"
    if not paper.is_file():
        pytest.skip("REAL DATA ABSENT: no text of the paper")
    text = paper.read_text()
    for cell in published:
        assert cell["value"] in text or f"{int(cell['value']):,}" in text, cell


def test_published_rows_stand_beside_ours(published: list[dict[str, str]]) -> None:
    for name in TABLES:
        rows = made(name, eight(), model(answered(eight(), {t: {"s_0"} for t in TASKS})), published=published)
        kinds = Counter(row["kind"] for row in rows)
        assert (kinds["published"] > 0) == (name not in ("figure5", "figure6"))
        assert all(row["comparable"] == "no" for row in rows)  # other strips than the paper's
    rows = made("table4", eight(), published=published)
    (star,) = [row for row in rows if row["model"] == "Janus-Pro"]
    assert "reordering_generation" not in star and "*" in star["note"] and star["avg"] == "20.27"


# ------------------------------------------------------------------------------------------------------------- review


def drafted(item: Item) -> list[review.Draft]:
    asked = review.draft_requests(item)
    said = []
    for number, request in enumerate(asked):
        text = (
            f"draft {number}" if request.task != "both" else "Options in Q1:\nA. x\nB. y\nC. z\nD. w\nRight Answer 1: D"
        )
        said.append(answer(request, f"<think>A draft?</think>\n{text}"))
    return review.drafts(asked, said, "gpt-4o")


def test_drafts_are_asked_as_published() -> None:
    (item,) = items(corpus())
    asked = {(r.task, r.sample): r for r in review.draft_requests(item)}
    assert len(asked) == 9
    assert images_of(asked["answer_prediction", 0]) == ["frame1", "frame2", "masked", "frame4"]
    assert images_of(asked["answer_comprehension", 0]) == ["page"]
    assert images_of(asked["both", 0]) == ["page", "frame3"]
    assert review.draft_requests(stripcipher.items(corpus(), {"s_1": "gone"})[0]) == []


def used(sheet: str, wanted: Mapping[tuple[str, str], str]) -> bytes:
    """The sheet with x for texts, {(task, text): reviewer}."""
    out = io.StringIO()
    rows = [cells for _, cells in parse_csv(sheet.encode(), review.SHEET, file="s")]
    for row in rows:
        if (row["task"], row["text"]) in wanted:
            row |= {"use": "x", "reviewer": wanted[row["task"], row["text"]]}
    writer = csv.DictWriter(out, review.SHEET)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def test_only_what_people_used_becomes_an_item() -> None:
    files = corpus(record(), record("s_2"))
    pool = drafted(items(files)[0])
    sheet = review.sheet(pool)
    nothing = review.reviewed(files[STRIPS], used(sheet, {}))
    assert [strip.texts for strip in read_strips(nothing.encode())] == [None, None]
    chosen = {("prediction", text): "ann" for text in ("w", "x", "y", "z")}
    first, second = read_strips(review.reviewed(files[STRIPS], used(sheet, chosen)).encode())
    assert second.texts is None
    assert first.texts is not None and first.texts.prediction is not None and first.texts.comprehension is None
    assert first.texts.prediction.answer == "w" and sorted(first.texts.prediction.options) == ["w", "x", "y", "z"]


SHEET_HEAD = ",".join(review.SHEET) + "\n"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("s_1,prediction,answer,a,m,x,ann,\n", ("line 2", "s_1", "1 answers and 0 distractors")),
        ("s_1,prediction,answer,a,m,x,,\n", ("line 2", "field reviewer")),
        ("s_9,prediction,answer,a,m,x,ann,\n", ("line 2", "s_9", "no such strip")),
        ("s_1,guess,answer,a,m,x,ann,\n", ("line 2", "unknown task")),
        ("s_1,prediction,maybe,a,m,x,ann,\n", ("line 2", "unknown kind")),
        ("s_1,prediction,answer,,m,x,ann,\n", ("line 2", "field text")),
        ("s_1,prediction,answer,a,m,perhaps,ann,\n", ("line 2", "field use")),
        ("s_1,category,category,Funny,,x,ann,\n", ("line 2", "unknown category")),
        ("s_1,category,category,Critical,,x,ann,\ns_1,category,category,Touching,,x,ann,\n", ("line 3", "two")),
        (
            "s_1,prediction,answer,a,m,x,ann,\n" + "s_1,prediction,distractor,A!,m,x,ann,\n" * 3,
            ("line 2", "all different"),
        ),
    ],
)
def test_a_sheet_that_cannot_be_used(lines: str, words: tuple[str, ...]) -> None:
    with pytest.raises(PunchlineError) as error:
        review.reviewed(corpus()[STRIPS], (SHEET_HEAD + lines).encode())
    for word in ("review.csv", *words):
        assert word in str(error.value)


def test_a_text_of_several_lines_becomes_one() -> None:
    lines = 's_1,prediction,answer,"one\nB. two ",m,x,ann,\n'
    lines += "".join(f"s_1,prediction,distractor,d {n},m,x,ann,\n" for n in range(3))
    (strip,) = read_strips(review.reviewed(corpus()[STRIPS], (SHEET_HEAD + lines).encode()).encode())
    assert strip.texts is not None and strip.texts.prediction is not None
    assert strip.texts.prediction.answer == "one B. two"


def test_a_category_and_a_text_like_a_formula() -> None:
    pool = [review.Draft("s_1", "prediction", "answer", "=1+1 is on the board", "m")]
    assert "'=1+1" in review.sheet(pool)
    lines = "s_1,category,category,Critical,,x,ann,\ns_1,prediction,answer,'=1+1,m,x,ann,\n"
    lines += "".join(f"s_1,prediction,distractor,d {n},m,x,ann,\n" for n in range(3))
    (strip,) = read_strips(review.reviewed(corpus()[STRIPS], (SHEET_HEAD + lines).encode()).encode())
    assert strip.texts is not None and strip.texts.category == "Critical"
    assert strip.texts.prediction is not None and strip.texts.prediction.answer == "=1+1"


# --------------------------------------------------------------------------------------------------- the real strips


@pytest.fixture(scope="module")
def real(root: Path, mirror: Path) -> dict[str, bytes]:
    strips = root / "data" / "manifests" / "stripcipher" / STRIPS
    own = {name: (mirror / "pixelhumor" / name).read_bytes() for name in ("metadata.csv", "objective_label.csv")}
    return {STRIPS: strips.read_bytes(), **own}


def pins(root: Path) -> dict[str, dict[str, str]]:
    path = root / "data" / "manifests" / "stripcipher" / "images_pinned.csv"
    return {row["comic_id"]: row for _, row in parse_csv(path.read_bytes(), ["comic_id", "mirror"], file=path)}


def test_manifests_fit_each_other(root: Path) -> None:
    folder = root / "data" / "manifests" / "stripcipher"
    strips = read_strips((folder / STRIPS).read_bytes())
    assert Counter(strip.source for strip in strips) == {"xkcd": 107, "mimi_eunice": 32, "peppercarrot": 5}
    assert [strip.item_id for strip in strips] == list(pins(root))
    assert all((strip.boxes == "pixelhumor") == (strip.source == "xkcd") for strip in strips)
    path = folder / "annotations.csv"
    listed = {row["path"]: row for _, row in parse_csv(path.read_bytes(), ["path", "sha256"], file=path)}
    assert set(listed) == set(stripcipher.ITEM_FILES)
    assert listed[STRIPS]["sha256"] == sha256((folder / STRIPS).read_bytes())


@pytest.mark.real
def test_every_real_strip_has_its_frames(root: Path, mirror: Path, real: dict[str, bytes]) -> None:
    for item_id, pin in pins(root).items():
        strip = strips_of(real)[item_id]
        image = read_image(mirror / pin["mirror"])
        parts = frames.cut(image, panels(strip, image, real))
        assert len(parts) == strip.frames
        assert min(min(part.shape[:2]) for part in parts) >= 40, item_id


@pytest.mark.real
def test_pictures_of_real_strips(root: Path, mirror: Path, real: dict[str, bytes]) -> None:
    pinned = pins(root)
    for item_id in ("mimi_eunice_270", "mimi_eunice_083", "xkcd_502"):
        content = (mirror / pinned[item_id]["mirror"]).read_bytes()
        assert len(pictures(item_id, content, real)) == strips_of(real)[item_id].frames + 4


@pytest.mark.real
def test_reordering_of_the_real_strips_by_chance(real: dict[str, bytes]) -> None:
    golds = {gold.item_id: gold for gold in stripcipher.golds(real)}
    right: Counter[str] = Counter()
    for item in items(real):
        said = {}
        for request in stripcipher.requests(item):
            if request.condition == "default":
                text = baseline("random", request, random.Random(request.request_id))
                said[request.task] = answer(request, text)
        for grade in grade_item(said, item, golds[item.item_id], "random", "paper"):
            assert grade.state == "ok"
            right[grade.task] += int(grade.values["correct"])
    assert 15 <= right["reordering_choice"] <= 60  # of 144: a quarter, more or less
    assert 2 <= right["reordering_generation"] <= 30
