"""Hummus: items and gold, what is asked in each condition, grades in every state, tables, and the released data."""

import itertools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.records import read_golds, read_items, refused, response, text_of, texts_of
from tests.tabulated import Scored, tabulate

from punchline.benchmarks import hummus
from punchline.benchmarks.hummus import answers, data
from punchline.benchmarks.hummus.compared import data_requests
from punchline.benchmarks.hummus.compared_rows import domain_rows, pair_rows
from punchline.benchmarks.hummus.instructions import involves_is_a
from punchline.benchmarks.hummus.scope import in_scope
from punchline.benchmarks.hummus.split import held_out
from punchline.core.benchmark import Verdict
from punchline.errors import PunchlineError
from punchline.fetch.resolvers import SITES
from punchline.files import parse_csv
from punchline.metrics import ngrams
from punchline.schema import RULES, Gold, Item, ModelCard, Request, Response, Rule, Score, State, sha256
from punchline.tables.render import read_published
from punchline.tables.tabulate import Tabulated

Files = dict[str, bytes]
DEMO = Path(__file__).parent.parent / "data/demo/hummus"


@pytest.fixture(scope="module")
def demo() -> Files:
    return {name: (DEMO / name).read_bytes() for name in hummus.ITEM_FILES}


@pytest.fixture(scope="module")
def real(mirror: Path) -> Files:
    folder = mirror / "hummus"
    if not folder.is_dir():
        pytest.skip(f"REAL DATA ABSENT: no hummus/ in {mirror}; set PUNCHLINE_MIRROR to run this test")
    return {name: (folder / name).read_bytes() for name in hummus.ITEM_FILES}


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
    naming, marked = "; ".join(values["metaphors"]), f"<i>{' '.join(values['highlight'])}</i>"
    said = {"naming": naming, "image_bbox": boxes, "image_label": values["objects"][0], "caption_hl": marked}
    said["explanation"] = values["explanation"]
    said["joint"] = f"is_met: {label}\nconceptual_metaphor: {naming}\nimage_hl: {boxes}\ntext_hl: {marked}"
    return str(said[request.task])


Answer = Callable[[Request, Gold], tuple[str | None, State]]


def rightly(request: Request, gold: Gold) -> tuple[str | None, State]:
    return right(request, gold), "ok"


def but(text: str | None, state: State = "ok", **of: str) -> Answer:
    """The right answer, but this one to requests with these fields."""

    def answer(request: Request, gold: Gold) -> tuple[str | None, State]:
        meant = all(getattr(request, field) == value for field, value in of.items())
        return (text, state) if meant else rightly(request, gold)

    return answer


def graded(files: Files, answer: Answer = rightly, scorer: str | None = "labse") -> list[Score]:
    """Grades under both rules, in all conditions; the scorer says 1 for equal texts, else 0.25."""
    items, golds = read_items(hummus, files), read_golds(hummus, files)
    grades: list[Score] = []
    for item_id, item in items.items():
        asked: dict[str, dict[str, Response]] = {condition: {} for condition in hummus.CONDITIONS}
        for request in hummus.requests(item):
            asked[request.condition][request.task] = response(request, *answer(request, golds[item_id]))
        for condition, responses in asked.items():
            verdicts = {
                one.request_id: Verdict(scorer, response(one, "1.0" if len({*texts_of(one)}) == 1 else "0.25"))
                for one in hummus.judge_requests(item, golds[item_id], responses, condition)
                if scorer is not None
            }
            for rule in RULES:
                grades += hummus.score_item(responses, item, golds[item_id], "model", rule, verdicts, condition)
    return grades


def table(name: str, grades: list[Score], files: Files, scoring: Rule | None = None) -> Tabulated:
    model, of = Scored("model", "measured", "test", grades), hummus.TABLES[name]
    return tabulate(of, [model], read_golds(hummus, files), read_items(hummus, files), files, scoring=scoring)


def only(made: Tabulated, model: str = "model", **keys: str) -> dict[str, Any]:
    found = [row for row in made.rows if row["model"] == model and all(row[key] == keys[key] for key in keys)]
    assert len(found) == 1
    return found[0]


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


def one_of(files: Files, task: str, item_id: str = ANNOTATED) -> tuple[Item, Gold, Request]:
    """An item, its gold, and its first request of a task."""
    item = read_items(hummus, files)[item_id]
    return item, read_golds(hummus, files)[item_id], next(r for r in hummus.requests(item) if r.task == task)


@pytest.mark.parametrize(("field", "value", "expected"), [*refused("hummus"), (None, "x", "expected an object")])
def test_bad_dataset(demo: Files, field: str | None, value: Any, expected: str) -> None:
    def change(content: dict[str, Any]) -> None:
        content[ANNOTATED] = value if field is None else content[ANNOTATED] | {field: value}

    with pytest.raises(PunchlineError, match=expected) as raised:
        list(hummus.golds(changed(demo, hummus.DATASET, change)))
    assert hummus.DATASET in str(raised.value) and ANNOTATED in str(raised.value)


def in_test_set(change: Callable[[Any], None]) -> Callable[[Files], Files]:
    return lambda files: changed(files, hummus.TEST_SET, change)


TWICE = re.compile(b'"nyc-combi-9002"')
BROKEN = [(b"", "not JSON"), (b'{"a": {', "not JSON"), (b"1", "expected"), (b"\xff\xfe{", "JSON")]


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (in_test_set(lambda content: content.append(content[0])), "twice"),
        (in_test_set(lambda content: content[0].__setitem__("combi_id", "nyc-combi-1")), f"not in {hummus.DATASET}"),
        (in_test_set(lambda content: content[0].__setitem__("is_met", "yes")), "is_met"),
        (in_test_set(lambda content: content.__setitem__(0, 1)), "expected an object"),
        *(
            (lambda files, name=name, content=content: files | {name: content}, expected)
            for name in hummus.GOLD_FILES
            for content, expected in BROKEN
        ),
        (lambda files: files | {hummus.DATASET: b"[" * 100_000}, "not JSON"),
        (lambda files: {hummus.DATASET: files[hummus.DATASET]}, "not there"),
        (lambda files: files | {hummus.DATASET: TWICE.sub(b'"nyc-combi-9001"', files[hummus.DATASET])}, "9001.*twice"),
    ],
)
def test_bad_gold_files(demo: Files, spoil: Callable[[Files], Files], expected: str) -> None:
    with pytest.raises(PunchlineError, match=expected):
        list(hummus.golds(spoil(demo)))


@pytest.mark.parametrize("item_id", ["../../etc", "a/b", "", ".", "..", ".hidden", "a b", "é", "a\ud800", "x" * 101])
def test_ids_are_plain_file_names(demo: Files, item_id: str) -> None:
    def rename(content: Any) -> None:
        content[item_id] = content.pop(ANNOTATED)

    def rename_label(content: Any) -> None:
        content[0]["combi_id"] = item_id

    for name, change in ((hummus.DATASET, rename), (hummus.TEST_SET, rename_label)):
        with pytest.raises(PunchlineError, match=r"file name|surrogate|expected a text") as raised:
            list(hummus.golds(changed(demo, name, change)))
        assert name in str(raised.value)
        str(raised.value).encode()  # can be printed
        with pytest.raises(PunchlineError):
            read_items(hummus, changed(demo, name, change))


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
        read_items(hummus, demo | {hummus.DESCRIPTIONS: text.encode()})
    with pytest.raises(PunchlineError, match="no such item"):
        hummus.items(demo, {"nyc-combi-1": ""})


def test_right_answers(demo: Files) -> None:
    grades = graded(demo)
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
    good = only(table("good_answers", grades, demo))
    assert good["image_bbox"] == 100
    for shown in ("image", "description"):
        assert only(table("figure5", grades, demo), input=shown)["classification"] == 1
    if ngrams.library() is None:
        pytest.skip("rouge-score is not installed")
    row = only(table("table2", grades, demo))
    assert row["rouge1"] == row["rouge2"] == pytest.approx(1) and good["explanation"] == 100


def test_two_embedders_never_share_a_column(demo: Files) -> None:
    for scorer, value in (("minilm", 1), (None, None)):
        row = only(table("table2", graded(demo, scorer=scorer), demo))
        assert (row.get("naming"), row.get("naming_minilm"), row["naming_success"]) == (None, value, 100)
    other = graded(demo, scorer="someone else")
    assert all("cosine" not in name for grade in other for name in grade.metrics)


def score_of(
    task: str, responses: dict[str, Response], item: Item, gold: Gold, verdicts: Mapping[str, Verdict] | None = None
) -> Score:
    return next(one for one in hummus.score_item(responses, item, gold, "m", "paper", verdicts) if one.task == task)


@pytest.mark.parametrize("verdict", ["", "high", "nan", "1e9", "[0.5]"])
def test_a_scorer_that_answers_prose_leaves_the_value_out(demo: Files, verdict: str) -> None:
    item, gold, request = one_of(demo, "naming")
    responses = {"naming": response(request, "WORK IS WAR")}
    (asked,) = hummus.judge_requests(item, gold, responses, "default")
    assert asked.task == "cosine" and texts_of(asked) == ["work is war", "objects are people"]
    naming = score_of("naming", responses, item, gold, {asked.request_id: Verdict("labse", response(asked, verdict))})
    assert naming.state == "ok" and naming.metrics == {"success": 1.0}


def test_best_match_among_gold(demo: Files) -> None:
    item, gold, request = one_of(demo, "naming", "nyc-combi-9003")
    responses = {"naming": response(request, "HUMANS ARE ANIMALS; WORK IS WAR")}
    asked = hummus.judge_requests(item, gold, responses, "default")
    assert len(asked) == 4  # each of the answer's with both directions
    verdicts = {
        one.request_id: Verdict("labse", response(one, "1.0" if len({*texts_of(one)}) == 1 else "0.5")) for one in asked
    }
    naming = score_of("naming", responses, item, gold, verdicts)
    assert naming.metrics["cosine"] == pytest.approx((1.0 + 0.5) / 2)
    assert naming.judge == "labse" and len(naming.responses) >= 2
    del verdicts[asked[0].request_id]  # one verdict less: no value
    assert "cosine" not in score_of("naming", responses, item, gold, verdicts).metrics


def test_only_classification_was_asked(demo: Files) -> None:
    def answer(request: Request, gold: Gold) -> tuple[str | None, State]:
        return (right(request, gold), "ok") if request.task == "classification" else (None, "missing")

    row = only(table("table2", graded(demo, answer), demo))
    assert row["n_missing"] == 0 and row["comparable"] == "yes" and row.get("naming") is None
    row = only(table("table3", graded(demo, answer), demo))
    assert row["n_missing"] == 6 and row["n"] == 0  # annotated positives of the demo's test set


@pytest.mark.parametrize("answer", [rightly, but(None, "missing")])
def test_a_task_has_scores_only_of_the_pairs_in_its_scope(demo: Files, answer: Answer) -> None:
    golds, found = read_golds(hummus, demo), graded(demo, answer)
    tasks = {"default": tuple(hummus.LIMITS), "joint": hummus.JOINT_TASKS}
    for condition, own in tasks.items():
        scored = [(one.item_id, one.task, one.rule) for one in found if one.condition == condition]
        every = itertools.product(golds, own, RULES)
        assert sorted(scored) == sorted(one for one in every if in_scope(one[1], golds[one[0]], one[2]))


def test_joint_ends_where_the_model_says_no(demo: Files) -> None:
    item, gold, request = one_of(demo, "joint")

    def by_task(text: str) -> Mapping[str, Score]:
        grades = hummus.score_item({"joint": response(request, text)}, item, gold, "m", "released", {}, "joint")
        return {grade.task: grade for grade in grades}

    said_no = by_task("is_met: No")
    assert said_no.pop("classification").metrics["fn"] == 1
    assert len(said_no) == 3 and not any(grade.scored or grade.metrics for grade in said_no.values())
    lazy = by_task("is_met: Yes\nconceptual_metaphor: objects are people")
    assert lazy["naming"].metrics["success"] == 1
    assert lazy["caption_hl"].state == "unparsable" and lazy["caption_hl"].metrics == {"success": 0.0}
    for text in ("is_met: Discard", "something else", '{"is_met": "Discard", "text_hl": "<i>a</i>"}'):
        found = by_task(text)
        assert (found["classification"].state, found["classification"].metrics) == ("unparsable", {"success": 0.0})
        assert not found["naming"].metrics
    fields = {"is_met": "Yes", "conceptual_metaphor": "X AXIS IS A ROAD", "text_hl": "<i>a</i>"}
    whole = by_task(json.dumps(fields | {"image_hl": {"left": 0.1, "top": 0.2, "width": 0.3, "height": 0.4}}))
    assert all(grade.state == "ok" and grade.metrics.get("success", 1) == 1 for grade in whole.values())
    assert whole["image_bbox"].parsed == ("[0.2, 0.1, 0.4, 0.3]",)


@pytest.mark.parametrize(("text", "state"), [("is_met: Discard", "ok"), (None, "refused"), ("?", "ok")])
def test_joint_answers_that_classify_nothing_count_against_success(demo: Files, text: str | None, state: State) -> None:
    row = only(table("table5", graded(demo, but(text, state, task="joint")), demo))
    assert row["n"] == 0 and row["classification_success"] == 0 and row["comparable"] == "yes"
    filled = {name for name in hummus.TABLES["table5"].columns if row.get(name) is not None}
    assert filled == {"classification_success"}
    assert (row["n_refused"], row["n_unparsable"]) == ((9, 0) if state == "refused" else (0, 9))


def test_boxes_without_area_are_no_answer(demo: Files) -> None:
    item, gold, request = one_of(demo, "image_bbox")
    for text in ("cat: [0.5, 0.2, 0.00000000000000000001, 0.4]", "cat: [0.5, 0.2, 0, 0.4]"):
        box = score_of("image_bbox", {"image_bbox": response(request, text)}, item, gold)
        assert box.state == "unparsable" and box.metrics == {"success": 0.0}


def test_captions_are_no_metaphors(demo: Files) -> None:
    item, gold, _ = one_of(demo, "naming")
    item = msgspec.structs.replace(item, fields={**item.fields, "caption": "Time is a sofa."})
    request = next(one for one in hummus.requests(item) if one.task == "naming")
    for text, parsed in (
        ("Time is a sofa.", None),
        ('"Time is a sofa" relies on OBJECTS ARE PEOPLE', ("OBJECTS ARE PEOPLE",)),
        (text_of(request), None),
    ):
        said = {"naming": response(request, text)}
        assert score_of("naming", said, item, gold).parsed == parsed
        asked = hummus.judge_requests(item, gold, said)
        assert bool(asked) == (parsed is not None)


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
    good = graded(demo)
    bad = graded(demo, lambda request, gold: ("No" if request.task != "classification_a_b" else "?", "ok"))

    def second(grades: list[Score]) -> list[Score]:
        return [msgspec.structs.replace(grade, sample=1) for grade in grades]

    for name in ("table2", "table4"):
        once, twice = only(table(name, good, demo)), only(table(name, good + second(good), demo))
        column = "classification_avg" if name == "table2" else "average"
        assert twice[column] == once[column] == 1 and twice["n"] == 2 * once["n"] == 18
        mixed = [only(table(name, grades, demo)) for grades in (good + second(bad), second(bad) + good)]
        assert mixed[0] == mixed[1] and mixed[0][column] < 1
    assert mixed[0]["success"] == pytest.approx(100 * 5 / 6) and mixed[0]["prompts"] == 3


def test_figure5_counts_the_states_of_what_it_takes_from_prompts(demo: Files) -> None:
    grades = graded(demo, but(None, "failed", task="classification_no_yes", item_id="nyc-combi-9006"))  # no metaphor
    made = table("figure5", grades, demo)
    row = only(made, input="image")
    assert row["n_failed"] == 1 and row["comparable"] == "no"
    assert any("INCOMPLETE" in note and "1 of 9 items (input=image)" in note for note in made.notes)
    assert only(made, input="description")["n_failed"] == 0
    asked: dict[str, set[str]] = {"image": set(), "description": set()}
    for cell in made.cells:
        condition, others = cell.filter.get("condition", "default"), str(cell.filter.get("asked", "")).split(",")
        own = {f"{task}@{condition}" for task in str(cell.filter["tasks"]).split(",")}
        asked[str(cell.filter["input"])] |= own.union(others) - {""}
    texts = ("naming", "image_label", "caption_hl", "explanation")
    assert asked["image"] == {"classification_no_yes@prompts", *(f"{task}@default" for task in texts)}
    assert asked["description"] == {f"{task}@description" for task in ("classification", *texts)}

    row = only(table("figure5", graded(demo, but(None, "missing", condition="prompts")), demo), input="image")
    assert row["n_missing"] == 0 and row.get("classification") is None

    def table1(request: Request, gold: Gold) -> tuple[str | None, State]:  # its prompt is not the figure's
        return (right(request, gold), "ok") if request.task == "classification" else (None, "missing")

    assert only(table("figure5", graded(demo, table1), demo), input="image")["n_missing"] == 6


def test_notes_say_which_deviation() -> None:
    spread = [one for one in hummus.TABLES.values() if any(column.endswith("_sd") for column in one.columns)]
    assert spread and all(any("population's" in note for note in one.notes) for one in spread)


def test_published_as_printed(root: Path, paper: Callable[[str], str]) -> None:
    lines = paper("hummus").splitlines()
    printed: dict[tuple[str, str], list[str]] = {}
    for row in read_published(root / "config" / "published" / "hummus.csv"):
        table_of_numbers = row["table"] in ("table2", "table3", "table4", "table5")
        if table_of_numbers and not row["column"].endswith("success") and row["column"] != "prompts":
            printed.setdefault((row["table"], row["row"]), []).append(row["value"])
    ends = {
        name: next(i for i, line in enumerate(lines) if line.startswith(f"T{name[1:-1]} {name[-1]}:"))
        for name in hummus.TABLES
        if name in {one for one, _ in printed}
    }
    assert len(printed) == 10 + 9 + 3 + 10
    for (name, row), values in printed.items():
        block = lines[ends[name] - 13 : ends[name]]
        (line,) = [line for line in block if re.match(re.escape(row) + r" \d", line)]
        assert re.findall(r"\d\.\d\d", line.removeprefix(row)) == values, (name, row)


@pytest.mark.real
def test_released_counts(real: Files) -> None:
    made = table("statistics", [], real).rows
    statistics = {(row["model"], row["statistic"]): row.get("value") for row in made}
    assert [statistics[hummus.DATASET, one] for one in ("yes", "widlii", "no", "discard")] == [332, 236, 372, 60]
    assert [statistics[hummus.TEST_SET, one] for one in ("yes", "widlii", "no", "discard")] == [329, 229, 382, 0]
    assert statistics[hummus.TEST_SET, "labels_that_differ"] == 13
    assert statistics[hummus.DATASET, "conceptual_metaphors"] == 402


@pytest.mark.real
def test_released_metaphors_come_back_in_every_form(real: Files) -> None:
    items = read_items(hummus, real)
    for gold in read_golds(hummus, real).values():
        metaphors = [str(one) for one in gold.values.get("metaphors", ())][: answers.metaphors.PIECES]
        fields = items[gold.item_id].fields
        shown = (str(fields["caption"]), str(fields["description"] or ""))
        quoted, lines = ", ".join(f'"{one}"' for one in metaphors), "\n".join(f"{one.upper()}." for one in metaphors)
        plain = "; ".join(metaphors)
        for text in (plain, plain.upper(), plain.lower(), quoted, lines):
            if metaphors:
                found = answers.metaphors.metaphors(text, answers.PROMPT, shown)
                assert found is not None and [one.lower() for one in found] == [one.lower() for one in metaphors]


@pytest.mark.real
def test_manifest_is_of_these_bytes(root: Path, mirror: Path, real: Files) -> None:
    path = root / "data" / "manifests" / "hummus" / "annotations.csv"
    rows = [row for _, row in parse_csv(path.read_bytes(), ("path", "url", "sha256", "bytes", "mirror"), file=path)]
    assert {row["path"] for row in rows} == set(hummus.ITEM_FILES)
    for row in rows:
        assert sha256(real[row["path"]]) == row["sha256"] and len(real[row["path"]]) == int(row["bytes"])
        assert (mirror / row["mirror"]).is_file()


def test_fine_tuned_models_are_shown_beside_their_base(demo: Files) -> None:
    grades = graded(demo, lambda request, gold: (right(request, gold, "paper"), "ok"))
    base = Scored("base", "measured", "test", grades, ModelCard(name="base", engine="vllm"))
    card = ModelCard(name="tuned", engine="transformers", options={"adapter": "somewhere"}, base="base")
    tuned = Scored("tuned", "measured", "test", grades, card)
    items, golds = read_items(hummus, demo), read_golds(hummus, demo)
    made = tabulate(hummus.TABLES["table7"], [base, tuned], golds, items, demo)
    assert [(row["model"], row["setting"]) for row in made.rows] == [("base", "0-shot"), ("tuned", "fine-tuned")]
    held = sum(held_out(item.cluster) and bool(golds[name].values["labels"]["paper"]) for name, item in items.items())
    assert {row["n"] for row in made.rows} == {held} and {row["comparable"] for row in made.rows} == {"no"}
    made = tabulate(hummus.TABLES["table7"], [base], golds, items, demo)
    assert made.rows == [] and any("adapter" in note for note in made.notes)


def test_the_average_of_four_prompts_is_there_where_all_four_were_answered(demo: Files) -> None:
    """Table 1's prompt is the fourth: right in all is 1 and no spread; wrong in one of four is the mean of their F1."""
    grades = graded(demo)
    row = only(table("table4", grades, demo))
    assert (row["average"], row["average_of_four"], row["average_of_four_sd"]) == (1, 1, 0)

    def flipped(request: Request, gold: Gold) -> tuple[str | None, State]:
        said = right(request, gold)
        return ({"Yes": "No", "No": "Yes"}[said] if request.task == "classification" else said), "ok"

    wrong = graded(demo, flipped)
    row = only(table("table4", wrong, demo))
    assert (row["average"], row["average_of_four"], row["average_of_four_sd"]) == (1, 0.75, pytest.approx(0.4330127))
    three = [grade for grade in wrong if grade.condition == "prompts"]
    assert only(table("table4", three, demo)).get("average_of_four") is None
    default = [grade for grade in wrong if grade.condition == "default"]
    assert all(row.get("average_of_four") is None for row in table("table4", default, demo).rows)


@pytest.mark.parametrize(("scorer", "columns"), [("labse", {"cosine", "cosine_cased"}), ("minilm", {"cosine_minilm"})])
def test_printed_pairs_are_compared(demo: Files, root: Path, scorer: str, columns: set[str]) -> None:
    """In lower case, and as they are printed."""
    printed = [row for row in read_published(root / "config/published/hummus.csv") if row["table"] == "table9"]
    asked = [request for request in data_requests(demo, printed) if request.item_id == "table9"]
    assert len(asked) == 2 * len(printed) == 20
    assert sorted(texts_of(asked[0])) == ["gun", "pistol"] and sorted(texts_of(asked[1])) == ["Gun", "Pistol"]
    verdicts = {one.request_id: Verdict(scorer, response(one, str(at / 100))) for at, one in enumerate(asked)}
    rows = list(pair_rows(demo, printed, verdicts))
    assert rows[0].keys == {"output": "Gun", "reference": "Pistol"}
    values = [{name: found.point() for name, found in row.estimates.items()} for row in rows]
    assert all(set(one) == columns for one in values) and {row.model for row in rows} == {scorer}
    assert values[3] == ({"cosine": 0.06, "cosine_cased": 0.07} if scorer == "labse" else {"cosine_minilm": 0.06})
    assert not list(pair_rows(demo, printed, {}))
    failed = {one.request_id: Verdict(scorer, response(one, None, "failed")) for one in asked}
    assert not list(pair_rows(demo, printed, failed))


def test_domains_of_image_and_caption(demo: Files) -> None:
    """By the nearest term: of the target domain, of the source, or neither where both are as near."""
    asked = data_requests(demo, [])
    by_item = {item: [one for one in asked if one.item_id == item] for item in dict.fromkeys(r.item_id for r in asked)}
    golds = read_golds(hummus, demo)

    def shares(nearest: str) -> list[float | None]:
        verdicts = {}
        for item, requests in by_item.items():
            metaphors, side = golds[item].values["metaphors"], nearest == "source"
            terms = [re.split(r" (?:is|are|has|have) ", one.lower())[side] for one in metaphors]
            for one in requests:
                near = nearest != "neither" and texts_of(one)[1] in terms
                verdicts[one.request_id] = Verdict("minilm", response(one, "0.9" if near else "0.1"))
        rows = list(domain_rows(demo, [], verdicts))
        assert [row.keys["statistic"] for row in rows] == ["image_in_target_domain", "caption_in_source_domain"]
        assert {column for row in rows for column in row.columns} == {"value_minilm"}
        return [found.point() for row in rows for found in row.estimates.values()]

    assert shares("neither") == [0, 0]
    most = pytest.approx(100 * 6 / 7)  # one pair's metaphor is annotated both ways: each term is in both domains
    assert (shares("target"), shares("source")) == ([most, 0], [0, most])
