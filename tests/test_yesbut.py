"""YesBut: bad input, items and gold, what is asked in every condition, grades in every state, tables, replay."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.tabulated import Graded, tabulate

from punchline.bench.render import read_published
from punchline.bench.table import Tabulated
from punchline.benchmarks import yesbut
from punchline.benchmarks.yesbut import (
    ANNOTATIONS,
    CONDITIONS,
    LENT,
    TABLES,
    TASKS,
    baselines,
    chained_requests,
    grade_item,
    judge_requests,
    requests,
)
from punchline.benchmarks.yesbut import demo as yesbut_demo
from punchline.benchmarks.yesbut import pictures as yesbut_pictures
from punchline.benchmarks.yesbut.answers import drawn_option, read_paper
from punchline.benchmarks.yesbut.options import options
from punchline.core.benchmark import Verdict, released_format
from punchline.core.engine import check_files
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
from punchline.engines import replay
from punchline.score import ngrams

needed = pytest.mark.skipif(ngrams.library() is None, reason="rouge-score is not installed")


def comic(number: int = 1, **fields: Any) -> dict[str, Any]:
    """A record of the annotations; A is right in both questions."""
    made = {
        "image_file": f"{number:05d}.jpg",
        "caption": f"Caption {number}.",
        "contradiction": f"Contradiction {number}.",
        "moral": "Right moral.",
        "title": "Right",
        "neg_moral": ["Wrong one.", "Wrong two.", "Wrong three."],
        "neg_title": ["One", "Two", "Three"],
        "moral_mcq": "A. Right moral.\nB. Wrong one.\nC. Wrong two.\nD. Wrong three.",
        "moral_mcq_answer": "A",
        "title_mcq": "A. Right\nB. One\nC. Two\nD. Three",
        "title_mcq_answer": "A",
        "url": f"https://pbs.twimg.com/media/{number}?format=jpg&name=medium",
        "bounding_box": [],
    }
    return made | fields


def corpus(*comics: Any, lent: Mapping[str, list[Any]] | None = None) -> dict[str, bytes]:
    files = {ANNOTATIONS: json.dumps(comics or [comic()]).encode()}
    return files | {name: json.dumps((lent or {}).get(name, [])).encode() for name in LENT.values()}


def items(files: dict[str, bytes]) -> list[Item]:
    return yesbut.items(files, {item_id: "not fetched" for item_id, _, _ in yesbut.listing(files)})


def all_of(files: dict[str, bytes]) -> None:
    yesbut.listing(files), items(files), yesbut.golds(files), yesbut.oddities(files)


# ------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps([comic()])[:200], f"{ANNOTATIONS}, line 1: not JSON"),
        ("", "not JSON"),
        ("{}", "expected a list"),
        ("3", "expected a list"),
        ("[3]", "record number 1: expected an object"),
        ("[" * 100_000, "not JSON that can be read"),
        (json.dumps([comic(1), comic(1)]), "record 00001.jpg, field image_file: the record is there twice"),
        (
            '[{"image_file": "1.jpg", "title": "a", "title": "b"}]',
            "record 1.jpg, field title: the field is there twice",
        ),
        (json.dumps([comic(image_file=None)]), "record number 1, field image_file"),
        (json.dumps([comic(image_file="../1.jpg")]), "expected a plain file name"),
        (json.dumps([comic(image_file="")]), "expected a plain file name"),
        (json.dumps([comic(caption="")]), "record 00001.jpg, field caption: expected a text"),
        (json.dumps([comic(contradiction=3)]), "field contradiction: Expected `str`, got `int`"),
        (json.dumps([comic(contradiction="\ud800")]), "half a surrogate pair"),
        (json.dumps([comic(url=None)]), "field url"),
        (json.dumps([comic(moral_mcq="A. Right moral.")]), "field moral_mcq: expected options"),
        (json.dumps([comic(moral_mcq="Right moral.\nWrong.")]), "field moral_mcq: expected options"),
        (json.dumps([comic(title_mcq="A. One\nB. Two")]), "field title_mcq_answer: the options are without the answer"),
        (json.dumps([comic(title_mcq_answer="E")]), "the options are without the answer: 'E'"),
        (json.dumps([comic(title_mcq_answer="B")]), "the options are without the answer: 'B' is not 'Right'"),
        (json.dumps([comic(moral_mcq_answer="")]), "field moral_mcq_answer"),
    ],
)
def test_bad_annotations(content: str, message: str) -> None:
    with pytest.raises(PunchlineError, match=ANNOTATIONS) as error:
        all_of(corpus() | {ANNOTATIONS: content.encode()})
    assert message in str(error.value)


def test_what_is_no_text_file_at_all() -> None:
    for content in (b"\xff\xfe[", b"\x00"):
        with pytest.raises(PunchlineError, match=ANNOTATIONS):
            all_of({ANNOTATIONS: content})
    with pytest.raises(PunchlineError, match="not there"):
        all_of({})


def test_a_description_that_is_lent_twice() -> None:
    name = LENT["text_llava_7b"]
    lent = {name: [{"image_file": "00001.jpg", "output": "x"}] * 2}
    with pytest.raises(PunchlineError, match=rf"{name}, record 00001.jpg, field image_file: the record is there twice"):
        items(corpus(lent=lent))


@pytest.mark.parametrize(
    ("name", "way_out"), [("00011.jpg", "Did you mean '00001.jpg'"), ("x", "An id is a comic's image_file")]
)
def test_a_description_that_is_lent_to_no_comic(name: str, way_out: str) -> None:
    file = LENT["text_llava_13b"]
    lent = {file: [{"image_file": "00001.jpg", "output": "x"}, {"image_file": name, "output": "x"}]}
    with pytest.raises(
        PunchlineError, match=f"{file}, record {name}, field image_file: {ANNOTATIONS} has no such"
    ) as e:
        items(corpus(lent=lent))
    assert way_out in str(e.value)


def test_oddities() -> None:
    assert yesbut.oddities(corpus()) == []
    twice = comic(title_mcq="A. Right\nB. One\nC. One\nD. Three")
    assert yesbut.oddities(corpus(twice)) == [f"{ANNOTATIONS}, record 00001.jpg: title_mcq has one text as B and C"]


# ------------------------------------------------------------------------------------------------- items, requests


def text_of(request: Request) -> str:
    return "".join(part.text for message in request.messages for part in message.content if isinstance(part, Text))


def test_items_hold_no_label() -> None:
    (item,) = items(corpus(comic(contradiction="The secret.", moral_mcq_answer="A")))
    assert (item.item_id, item.cluster, item.source) == ("00001.jpg", "00001.jpg", "twitter")
    assert set(item.fields) == {"caption", "moral_mcq", "title_mcq"}
    assert item.missing == "not fetched" and item.images == ()


def test_default_requests() -> None:
    files = corpus()
    image = ImageRef(path="data/images/yesbut/00001.jpg/page.jpg", sha256="0" * 64, width=1, height=1, name="page")
    (item,) = yesbut.items(files, {"00001.jpg": (image,)})
    asked = [request for request in requests(item) if request.condition == "default"]
    assert tuple(request.task for request in asked) == TASKS
    assert len({text_of(request) for request in asked}) == 12
    for request in asked:
        assert request.messages[0].content[0] == Image(sha256="0" * 64)
        assert ("Right moral." in text_of(request)) == request.task.startswith("moral")
        assert "{" not in text_of(request)
    by_task = {request.task: text_of(request) for request in asked}
    assert by_task["moral_mcq_1"] == (
        "\nThe given comic shows the same situation from two opposite sides with contradictions.\nWhich of the "
        "following options best represents the underlying philosophy of the comic?\nA. Right moral.\nB. Wrong one.\n"
        "C. Wrong two.\nD. Wrong three.\n\nJust output the choice:\n"
    )


def test_conditions() -> None:
    lent = {LENT["text_llava_13b"]: [{"image_file": "00001.jpg", "output": "A lent one."}]}
    first, second = items(corpus(comic(1), comic(2), lent=lent))
    count = Counter(request.condition for request in requests(first))
    assert count == {"default": 12, "oracle": 9, "text_oracle": 9, "text_llava_13b": 9}
    assert set(count) <= set(CONDITIONS)
    assert "text_llava_13b" not in {request.condition for request in requests(second)}
    for request in requests(first):
        shown = any(isinstance(part, Image) for part in request.messages[0].content)
        assert shown == (request.condition in ("default", "oracle"))
        assert ("Caption 1." in text_of(request)) == request.condition.endswith("oracle")
        assert ("A lent one." in text_of(request)) == (request.condition == "text_llava_13b")


def test_what_stands_in_a_text_is_not_filled() -> None:
    (item,) = items(corpus(comic(caption="{options} {caption} {0}")))
    asked = {r.task: text_of(r) for r in requests(item) if r.condition == "oracle"}
    assert "following description: {options} {caption} {0}. \nWhich" in asked["moral_mcq_2"]


def test_chained_requests() -> None:
    (item,) = items(corpus())
    asked = {r.task: r for r in requests(item) if r.condition == "default"}
    own = {
        "description_1": answer(asked["description_1"], "<think>Yours?</think> Mine. "),
        "description_2": answer(asked["description_2"], "  "),
        "description_3": answer(asked["description_3"], None, "failed"),
    }
    chained = chained_requests(item, {"default": own})
    assert [r.task for r in chained] == ["contradiction_1", "moral_mcq_1", "title_mcq_1"]
    assert {r.condition for r in chained} == {"chained"}
    assert all("comic is: Mine.\n" in text_of(r) and isinstance(r.messages[0].content[0], Image) for r in chained)
    assert chained_requests(item, {}) == []


@pytest.mark.parametrize("caption", ["Caption.", "A. x\nB. x\nC. x\nD. x\nE. x"])
def test_baseline(caption: str) -> None:
    (item,) = items(corpus(comic(caption=caption)))
    for request in requests(item):
        drawn = {baselines.baseline("random", request, random.Random(seed)) for seed in range(40)}
        assert drawn == (set("ABCD") if "mcq" in request.task else {None})
        assert baselines.baseline("prior", request, random.Random(0)) is None


def test_pictures(tmp_path: Path) -> None:
    yesbut_demo.draw(tmp_path)
    content = (tmp_path / "images" / "00001.jpg.png").read_bytes()
    (picture,) = yesbut_pictures.pictures("00001.jpg", content, {})
    assert (picture.content, picture.suffix) == (content, ".png")


# ------------------------------------------------------------------------------------------------------------ grades


def answer(request: Request, text: str | None, state: State = "ok") -> Response:
    return Response(
        request_id=request.request_id,
        model_key="m",
        state=state,
        text=text,
        reason=None if state == "ok" else "because",
        engine="test",
        engine_version="1",
    )


def unit(text: str | None = None, state: State = "ok", **by_task: str) -> tuple[dict[str, Response], Item, Gold]:
    """One comic's answers in the default condition: `text` to all tasks, or those of `by_task`."""
    files = corpus()
    (item,), (gold,) = items(files), yesbut.golds(files)
    asked = {r.task: r for r in requests(item) if r.condition == "default"}
    if by_task:
        return {task: answer(asked[task], said) for task, said in by_task.items()}, item, gold
    return {task: answer(request, text, state) for task, request in asked.items()}, item, gold


def graded(
    answers: tuple[dict[str, Response], Item, Gold], rule: Rule, verdicts: Mapping[str, Verdict] | None = None
) -> dict[str, Grade]:
    return {grade.task: grade for grade in grade_item(*answers, "m", rule, verdicts)}


@needed
def test_gold_in_is_right_under_both_rules() -> None:
    said = {
        task: {"description": "Caption 1.", "contradiction": "Contradiction 1."}.get(task[:-2], "A") for task in TASKS
    }
    for rule in RULES:
        grades = graded(unit(**said), rule)
        assert tuple(grades) == TASKS
        for task, grade in grades.items():
            assert grade.state == "ok" and grade.scored
            assert grade.values == ({"correct": 1.0} if "mcq" in task else {"r2": 1.0})


def test_choices_in_every_state() -> None:
    answers = unit(moral_mcq_1="Answer: B", moral_mcq_2="no letter", moral_mcq_3="B")
    released, paper = (graded(answers, rule) for rule in RULES)
    assert [released[f"moral_mcq_{k}"].parsed for k in (1, 2, 3)] == [("A",), None, ("B",)]
    assert [released[f"moral_mcq_{k}"].values for k in (1, 2, 3)] == [
        {"correct": 1.0},
        {"correct": 0.0},
        {"correct": 0.0},
    ]
    assert [paper[f"moral_mcq_{k}"].parsed for k in (1, 2, 3)] == [("B",), None, ("B",)]
    assert released["moral_mcq_2"].state == paper["moral_mcq_2"].state == "unparsable"
    right = drawn_option("00001.jpg", "moral_mcq_2", "ABCD") == "A"
    assert paper["moral_mcq_2"].values == {"correct": float(right)}
    assert released["title_mcq_1"].state == "missing" and not released["title_mcq_1"].scored


@pytest.mark.parametrize("state", ["missing", "failed", "refused"])
def test_no_answer(state: State) -> None:
    for rule in RULES:
        for task, grade in graded(unit(None, state), rule).items():
            chosen = "mcq" in task
            assert grade.scored == (state == "refused" and (chosen or rule == "paper"))
            assert grade.state == state
            assert "correct" not in grade.values or chosen


def verdicts_of(answers: tuple[dict[str, Response], Item, Gold], score: str, **recall: str) -> dict[str, Verdict]:
    responses, item, gold = answers
    found = {}
    for request in judge_requests(item, gold, responses):
        if request.task == "judge":
            found[request.request_id] = Verdict("gpt-3.5-turbo", answer(request, score))
        for scorer, text in recall.items():
            if request.task == "bertscore":
                found[request.request_id] = Verdict(scorer.replace("_", "-"), answer(request, text))
    return found


def test_what_judges_are_asked() -> None:
    responses, item, gold = unit(description_1="Mine.", description_2="Mine.", contradiction_3="Other {ref}.")
    asked = judge_requests(item, gold, responses)
    assert len({request.request_id for request in asked}) == len(asked)
    # Descriptions: two wordings; the same answer to two prompts is judged once. Contradictions: one wording.
    assert Counter(request.task for request in asked) == {"judge": 3, "bertscore": 2}
    judged = [text_of(request) for request in asked if request.task == "judge"]
    assert sum("Mine." in text and "Caption 1." in text for text in judged) == 2
    assert sum("Other {ref}." in text and "Contradiction 1." in text and "Caption 1." in text for text in judged) == 1
    compared = {tuple(m.content[0].text for m in r.messages) for r in asked if r.task == "bertscore"}  # type: ignore
    assert compared == {("Mine.", "Caption 1."), ("Other {ref}.", "Contradiction 1.")}
    assert judge_requests(item, gold, {}) == []


def test_verdicts() -> None:
    answers = unit("Text.")
    for rule in RULES:
        grades = graded(answers, rule, verdicts_of(answers, "Rating: [[4]]", bertscore="0.875"))
        for task in ("description_1", "contradiction_3"):
            grade = grades[task]
            assert grade.judge == "gpt-3.5-turbo" and "bertscore:bertscore|" in grade.signature
            assert (grade.values["gpt"], grade.values["bert"], grade.parsed) == (4.0, 0.875, ("4",))
            assert "bert_minilm" not in grade.values
            assert len(grade.responses) == 3


def test_two_encoders_never_share_a_value() -> None:
    answers = unit("Text.")
    stand_in = graded(answers, "released", verdicts_of(answers, "", bertscore_minilm="0.5"))["description_1"]
    assert stand_in.values["bert_minilm"] == 0.5 and "bert" not in stand_in.values
    other = graded(answers, "released", verdicts_of(answers, "", mine="0.5"))["description_1"]
    assert not {"bert", "bert_minilm"} & set(other.values)


def test_a_judge_that_answers_prose() -> None:
    answers = unit("Text.")
    verdicts = verdicts_of(answers, "The candidate is rather good.")
    released, paper = (graded(answers, rule, verdicts)["description_1"] for rule in RULES)
    assert (released.values["gpt"], released.state) == (-1.0, "unparsable")
    assert ("gpt" in paper.values, paper.state) == (False, "unparsable")


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "", "high", "1e999"])
def test_a_scorer_that_gives_no_number(text: str) -> None:
    answers = unit("Text.")
    assert "bert" not in graded(answers, "paper", verdicts_of(answers, "", bertscore=text))["description_1"].values


def test_empty_answers() -> None:
    responses, item, gold = unit("")
    asked = judge_requests(item, gold, responses)
    assert Counter(request.task for request in asked) == {"judge": 3, "bertscore": 2}  # asked all the same
    for rule in RULES:
        grade = graded((responses, item, gold), rule)["description_1"]
        assert grade.scored and grade.values in ({"r2": 0.0}, {})


def test_thoughts_are_neither_compared_nor_judged_under_rule_paper() -> None:
    thought, bare = unit("<think>A dog?</think>\nCaption 1."), unit("Caption 1.")
    assert graded(thought, "paper")["description_1"].values == graded(bare, "paper")["description_1"].values
    assert graded(thought, "released")["description_1"].values["r2"] == 1.0  # of the reference, all is in it
    asked = [{request.request_id for request in judge_requests(one[1], one[2], one[0])} for one in (thought, bare)]
    assert len(asked[0] & asked[1]) == len(asked[1]) - 1  # all but the released judge of descriptions
    unclosed = unit("<think>Caption 1.")
    grade = graded(unclosed, "paper")["description_1"]
    assert (grade.state, grade.scored, grade.values["r2"]) == ("unparsable", True, 0.0)
    assert graded(unclosed, "released")["description_1"].state == "ok"
    assert graded(unclosed, "paper")["moral_mcq_1"].state == "unparsable"


def test_versions_of_the_rules() -> None:
    for rule, version in (("released", 1), ("paper", 3)):
        assert {one.signature.rpartition("|")[2] for one in graded(unit("A"), rule).values()} == {f"v:{version}"}


def test_a_refusal_is_an_empty_text_under_rule_paper_only() -> None:
    answers = unit(None, "refused")
    verdicts = verdicts_of(answers, "[[1]]", bertscore="0.0")
    assert graded(answers, "released", verdicts)["description_1"].values == {}
    assert graded(answers, "paper", verdicts)["description_1"].values.items() >= {"gpt": 1.0, "bert": 0.0}.items()


# ------------------------------------------------------------------------------------------------------------ tables


def table(
    name: str, said: Mapping[str, Mapping[str, str]], number: int = 4, rule: Rule = "released", **lent: str
) -> Tabulated:
    """A table of one model that says said[condition][task] to every comic."""
    own = {
        LENT[c]: [{"image_file": f"{n:05d}.jpg", "output": t} for n in range(1, number + 1)] for c, t in lent.items()
    }
    files = corpus(*(comic(n) for n in range(1, number + 1)), lent=own)
    golds = {gold.item_id: gold for gold in yesbut.golds(files)}
    by_id = {item.item_id: item for item in items(files)}
    grades = []
    for item_id, item in by_id.items():
        for condition, by_task in said.items():
            asked = {r.task: r for r in requests(item) if r.condition == condition}
            if condition == "chained":
                asked = {r.task: r for r in requests(item) if r.condition == "oracle"}
            responses = {task: answer(asked[task], text) for task, text in by_task.items()}
            for each in RULES:
                grades += grade_item(responses, item, golds[item_id], "m", each, None, condition)
    model = Graded("m", "measured", "test", grades)
    published = read_published(Path(__file__).parent.parent / "config" / "published" / "yesbut.csv")
    return tabulate(TABLES[name], [model], golds, by_id, files, published, scoring=rule, complete=True)


def ours(made: Tabulated) -> list[dict[str, Any]]:
    return [row for row in made.rows if row["kind"] == "measured"]


def test_table2_is_a_mean_over_the_prompts_that_are_there() -> None:
    made = table("table2", {"default": {"moral_mcq_1": "A", "moral_mcq_3": "B", "title_mcq_2": "A"}})
    (row,) = ours(made)
    assert (row["condition"], row["prompts"], row["n"]) == ("default", "1-2", 4)
    assert (row["philosophy_acc"], row["title_acc"]) == (50.0, 100.0)
    assert row["philosophy_acc_sd"] == pytest.approx(70.7107, abs=1e-3)
    assert row.get("title_acc_sd") is None and row.get("description_gpt") is None
    assert (row["n_philosophy"], row["n_title"], row.get("n_description")) == (4, 4, None)
    assert row.get("n_title_lo") is None
    one = ours(table("table2", {"default": {"moral_mcq_1": "A"}}))[0]
    assert (one["prompts"], one["philosophy_acc"]) == (1, 100.0)


def test_table2_columns(root: Path) -> None:
    made = table("table2", {})
    asked = ("model", "kind", "scoring", "prompts", "description_bert", "description_r2", "description_gpt")
    asked += ("contradiction_bert", "contradiction_r2", "contradiction_gpt", "philosophy_acc", "title_acc")
    assert [column for column in made.columns if column in asked] == list(asked)
    (row,) = ours(made)
    assert row["n"] == 0 and row["prompts"] == 0 and "nothing to score" in str(row["note"])


def test_table2_of_a_model_that_reads_text_only() -> None:
    said = {"text_llava_13b": dict.fromkeys(("moral_mcq_1", "title_mcq_1"), "A")}
    (row,) = ours(table("table2", said, text_llava_13b="Lent."))
    assert (row["condition"], row["philosophy_acc"], row["n_missing"]) == ("text_llava_13b", 100.0, 0)


@pytest.mark.parametrize(
    ("name", "condition"), [("table3", "chained"), ("figure5", "oracle"), ("figure4", "text_oracle")]
)
def test_tables_by_condition(name: str, condition: str) -> None:
    said = {"default": {"moral_mcq_1": "B"}, condition: {"moral_mcq_1": "A", "title_mcq_1": "B"}}
    rows = {row["condition"]: row for row in ours(table(name, said))}
    assert list(rows) == ([condition] if name == "figure4" else ["default", condition])
    assert (rows[condition]["philosophy_acc"], rows[condition]["title_acc"]) == (100.0, 0.0)
    if name != "figure4":
        assert rows["default"]["philosophy_acc"] == 0.0 and rows["default"].get("title_acc") is None


def test_every_table_is_built_without_answers() -> None:
    for name in TABLES:
        made = table(name, {})
        assert any(row["kind"] == "published" for row in made.rows)


def rows_of(
    answers: Mapping[tuple[str, str, int], str],
    name: str = "table2",
    number: int = 4,
    scores: int = 0,
    states: Mapping[tuple[str, str, int], State] | None = None,
    verdict: str = "[[4]]",
    samples: Sequence[tuple[Mapping[tuple[str, str, int], str], Mapping[tuple[str, str, int], State]]] = (),
) -> list[dict[str, Any]]:
    """Rows of one model that gave answers[condition, task, comic's number]; the first `scores` comics are judged.

    `samples`: (answers, states) of further samples.
    """
    files = corpus(*(comic(n) for n in range(1, number + 1)))
    golds = {gold.item_id: gold for gold in yesbut.golds(files)}
    by_id = {item.item_id: item for item in items(files)}
    grades = []
    for sample, (given, in_state) in enumerate([(answers, states or {}), *samples]):
        for n, (item_id, item) in enumerate(by_id.items(), start=1):
            asked = {(r.condition, r.task): r for r in requests(item)}
            for condition in sorted({condition for condition, _, m in given if m == n}):
                responses = {
                    task: answer(asked["oracle" if condition == "chained" else condition, task], text, state)
                    for (own, task, m), text in given.items()
                    if (own, m) == (condition, n)
                    for state in [in_state.get((own, task, m), "ok")]
                }
                verdicts = {}
                for request in judge_requests(item, golds[item_id], responses, condition):
                    state: State = "ok" if n <= scores else "failed"
                    verdicts[request.request_id] = Verdict("gpt-3.5-turbo", answer(request, verdict, state))
                for rule in RULES:
                    made = grade_item(responses, item, golds[item_id], "m", rule, verdicts, condition)
                    grades += [replace(one, sample=sample) for one in made]
    model = Graded("m", "measured", "test", grades)
    return ours(tabulate(TABLES[name], [model], golds, by_id, files, [], scoring=None, complete=True))


def test_with_samples_n_and_states_add_up_and_values_stay() -> None:
    """Each sample of a comic counts by itself: n, its counts and its states; the mean and its interval are by comic."""
    first = {("default", f"moral_mcq_{k}", n): "A" if n < 3 else "B" for n in range(1, 5) for k in (1, 2)}
    second = dict.fromkeys(first, "A")
    failed = {("default", "moral_mcq_1", 4): "failed"}
    (row,) = rows_of(first, samples=[(second, failed)])
    assert (row["n"], row["n_failed"], row["n_missing"]) == (7, 1, 0)
    assert (row["n_philosophy"], row["philosophy_acc"]) == (8, pytest.approx((100 * 5 / 7 + 100 * 6 / 8) / 2))
    (once,), (twice,) = rows_of(first), rows_of(first, samples=[(first, {})])
    assert (twice["n"], once["n"]) == (8, 4)
    for end in ("", "_lo", "_hi"):
        assert twice[f"philosophy_acc{end}"] == pytest.approx(once[f"philosophy_acc{end}"])


def test_comics_that_were_never_asked_are_missing() -> None:
    said = {("default", "moral_mcq_1", n): "A" for n in range(1, 5)}
    said |= {("chained", "moral_mcq_1", n): "A" for n in (1, 2, 3)}  # no description of the fourth
    default, chained = rows_of(said, "table3")
    assert (default["n_missing"], default["comparable"]) == (0, "yes")
    assert (chained["n"], chained["n_missing"], chained["comparable"]) == (3, 1, "no")
    whole = said | {("chained", "moral_mcq_1", 4): "A"}
    assert [(row["n_missing"], row["comparable"]) for row in rows_of(whole, "table3")] == [(0, "yes")] * 2


@pytest.mark.parametrize(("judged", "comparable"), [(4, "yes"), (1, "no"), (0, "yes")])
def test_failed_verdicts_show(judged: int, comparable: str) -> None:
    said = {("default", task, n): "Text." for task in ("description_1", "contradiction_1") for n in range(1, 5)}
    (row,) = rows_of(said, scores=judged)
    assert (row["n_description"], row.get("n_description_gpt")) == (4, judged or None)
    assert (row.get("n_contradiction_gpt"), row.get("n_description_bert")) == (judged or None, None)
    assert row["comparable"] == comparable  # no verdict at all: nobody was asked
    if judged == 1:
        assert "description_gpt n=1" in str(row["note"]) and row["prompts_least_n"] == 1


@pytest.mark.parametrize(("verdict", "score"), [("[[4]]", 4.0), ("[[99]]", 99.0), ("no number", -1.0)])
def test_any_released_score_has_an_interval(verdict: str, score: float) -> None:
    said = {("default", "description_1", n): "Text." for n in range(1, 5)}
    (row,) = rows_of(said, scores=4, verdict=verdict)
    assert row["description_gpt_lo"] < row["description_gpt"] == score < row["description_gpt_hi"]


def test_verdicts_of_two_prompts() -> None:
    said = {("default", f"contradiction_{k}", n): f"Text {k}." for k in (1, 2) for n in (1, 2)}
    gone: dict[tuple[str, str, int], State] = {("default", "contradiction_2", n): "refused" for n in (1, 2)}
    (row,) = rows_of(said, number=2, scores=2)
    assert (row["contradiction_gpt"], row["comparable"]) == (4.0, "yes")
    (row,) = rows_of(said, number=2, scores=1)
    assert (row["n_contradiction_gpt"], row["comparable"]) == (1, "no")
    (row,) = rows_of(said, number=2, scores=2, states=gone)  # a refused text leaves both denominators
    assert (row["prompts"], row["comparable"]) == (2, "yes")


def test_a_prompt_with_few_answers_shows() -> None:
    said = {("default", "title_mcq_1", n): "A" for n in range(1, 5)} | {("default", "title_mcq_2", 1): "B"}
    (row,) = rows_of(said)
    assert (row["title_acc"], row["n_title"], row["prompts_least_n"], row["comparable"]) == (50.0, 4, 1, "no")
    assert (row["n"], row["n_missing"]) == (1, 3) and "title_acc n=4" in str(row["note"])
    (row,) = rows_of({key: "A" for key in said if key[1] == "title_mcq_1"})
    assert (row["prompts_least_n"], row["comparable"]) == (4, "yes")


def test_a_spread_over_prompts_has_an_interval() -> None:
    said = {("default", f"title_mcq_{k}", n): "AB"[(k * n) % 2] for k in (1, 2, 3) for n in range(1, 5)}
    (row,) = rows_of(said)
    low, value, high = (float(str(row[f"title_acc_sd{end}"])) for end in ("_lo", "", "_hi"))
    assert row["title_acc_lo"] is not None and 0 <= low < value < high


def test_published_values_fit_their_tables(root: Path) -> None:
    path = root / "config" / "published" / "yesbut.csv"
    rows = [cells for _, cells in parse_csv(path.read_bytes(), ("paper", "table", "row", "key", "column"), file=path)]
    assert {row["table"] for row in rows} <= set(TABLES)
    for row in rows:
        made = TABLES[row["table"]]
        assert row["paper"] == "yesbut" and row["column"] in made.names
        keys = dict(part.split("=") for part in row["key"].split(";") if part)
        assert tuple(keys) == made.keys and keys.get("condition", "default") in ("default", *made.conditions)
    values = {(r["table"], r["row"], r["key"].split(";")[0], r["column"]): float(r["value"]) for r in rows}
    assert len(values) == len(rows)
    for (name, row, key, column), value in values.items():  # what is printed in two places agrees
        if name in ("table3", "figure4", "figure5") and ("table2", row, key, column) in values:
            assert value == pytest.approx(values["table2", row, key, column], abs=0.051)


def test_cards_name_the_published_rows(root: Path) -> None:
    published = (root / "config" / "published" / "yesbut.csv").read_text(encoding="utf-8")
    cards = "".join(path.read_text(encoding="utf-8") for path in (root / "config" / "model").glob("*.yaml"))
    for line in published.splitlines():
        if ",table2," in line:
            assert f"row: {line.split(',')[2]}" in cards


# ------------------------------------------------------------------------------------------------------------ replay


def card(path: Path, **options: Any) -> ModelCard:
    return ModelCard(name="m", engine="replay", options={"format": "yesbut", "path": str(path)} | options)


def folder(path: Path, **files: Any) -> Path:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (path / f"{name}.json").write_text(text, encoding="utf-8")
    return path


def outputs(**by_id: Any) -> list[dict[str, Any]]:
    return [
        {"image_file": f"{i.removeprefix('c')}.jpg", "output": text, "title": "ignored"} for i, text in by_id.items()
    ]


def test_replay(tmp_path: Path) -> None:
    folder(tmp_path, moral_mcq_prompt2=outputs(c00001="B", c00009=None), description_prompt1=outputs(c00001="x"))
    engine = replay.engine(card(tmp_path), 0)
    check_files(card(tmp_path), engine)
    assert [Path(file).name for file in engine.files] == ["description_prompt1.json", "moral_mcq_prompt2.json"]
    assert engine.unknown(["00001.jpg"]) == ["00009.jpg"]
    (item,) = items(corpus())
    asked = requests(item)
    said = {(r.condition, r.task): a for r, a in zip(asked, engine.answer(asked, {}, "k"), strict=True)}
    assert said["default", "moral_mcq_2"].text == "B" and said["default", "description_1"].text == "x"
    assert said["default", "moral_mcq_1"].reason == "question not in the file"
    assert said["oracle", "moral_mcq_2"].state == "missing"
    assert sum(response.state == "ok" for response in said.values()) == 2


def test_replay_key_hangs_on_names_and_contents(tmp_path: Path) -> None:
    keys = set()
    for number, (name, text) in enumerate(
        (("title_mcq_prompt1", "A"), ("title_mcq_prompt2", "A"), ("title_mcq_prompt2", "B"))
    ):
        path = tmp_path / str(number)
        path.mkdir()
        keys.add(str(replay.engine(card(folder(path, **{name: outputs(c1=text)})), 0).identity()["sha256"]))
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"image_file": "1.jpg", "output": "A"', "not JSON"),
        ("{}", "expected a list of records"),
        ("[null]", "record number 1: expected an object"),
        ([{"output": "A"}], "record number 1, field image_file"),
        ([{"image_file": 3, "output": "A"}], "field image_file"),
        ([{"image_file": "1.jpg"}], "record 1.jpg: Object missing required field `output`"),
        ('[{"image_file": "1.jpg", "output": "A", "output": "B"}]', "field output: the field is there twice"),
        ([{"image_file": "1.jpg", "output": 3}], "Expected `str | null`, got `int`"),
        ([{"image_file": "1.jpg", "output": "\ud800"}], "half a surrogate pair"),
        (outputs(c1="A") * 2, "record 1.jpg, field image_file: the record is there twice"),
        ([{"image_file": "1.jpg", "gen_des": "A"}], "record 1.jpg: Object missing required field `output`"),
    ],
)
def test_bad_replay(tmp_path: Path, content: Any, message: str) -> None:
    folder(tmp_path, title_mcq_prompt3=content)
    with pytest.raises(PunchlineError, match=r"title_mcq_prompt3\.json") as error:
        replay.engine(card(tmp_path), 0).unknown([])
    assert message in str(error.value)


def test_replay_of_descriptions_under_their_other_name(tmp_path: Path) -> None:
    records = [
        {"image_file": "1.jpg", "gen_des": "other"},
        {"image_file": "2.jpg", "gen_des": "other", "output": "own"},
        {"image_file": "3.jpg", "gen_des": None},
    ]
    files = {"description_prompt2.json": json.dumps(records).encode()}
    assert released_format("yesbut").read(files, "f") == {
        "1.jpg": {"description_2": "other"},
        "2.jpg": {"description_2": "own"},
        "3.jpg": {"description_2": None},
    }
    for bad, message in ((3, "field gen_des: Expected `str | null`"), ("\ud800", "field gen_des: half a surrogate")):
        content = json.dumps([{"image_file": "1.jpg", "gen_des": bad}]).encode()
        with pytest.raises(PunchlineError, match=message):
            released_format("yesbut").read({"description_prompt2.json": content}, "f")


@pytest.mark.parametrize("name", ["title_prompt1.json", "title_mcq_prompt1.json", "a.json"])
def test_replay_of_a_file_in_the_folders_place(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[]", encoding="utf-8")
    with pytest.raises(PunchlineError, match=r"m\.yaml, field path: .* is no folder"):
        replay.engine(card(tmp_path / name), 0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("description_promt1.json", "Did you mean 'description_prompt1.json'"),
        ("title_prompt1.json", "title_mcq_prompt1.json"),
        ("moral_mcq_prompt3.JSON", "Did you mean 'moral_mcq_prompt3.json'"),
        ("notes.json", "Valid: contradiction_prompt1.json"),
    ],
)
def test_replay_of_a_misspelt_file(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / name).write_text("[]", encoding="utf-8")
    for _ in range(2):  # alone, and beside one that is well named
        with pytest.raises(PunchlineError, match=f"unknown file '{name}'") as error:
            replay.engine(card(tmp_path), 0)
        assert str(error.value).startswith(str(tmp_path)) and expected in str(error.value)
        folder(tmp_path, title_mcq_prompt3=[])
    (tmp_path / name).unlink()
    for other in ("README.md", "._title_mcq_prompt1.json"):
        (tmp_path / other).write_text("", encoding="utf-8")
    assert [Path(file).name for file in replay.engine(card(tmp_path), 0).files] == ["title_mcq_prompt3.json"]


def test_replay_of_a_folder_without_answers(tmp_path: Path) -> None:
    with pytest.raises(PunchlineError, match=r"description_prompt1\.json.*Expected any of: .*title_mcq_prompt3\.json"):
        replay.engine(card(tmp_path), 0)


def test_replay_of_nothing(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(PunchlineError, match="no such file"):
            check_files(card(path), replay.engine(card(path), 0))
    with pytest.raises(PunchlineError, match="nothing to select"):
        replay.engine(card(folder(tmp_path, title_mcq_prompt3=[]), select={"a": 1}), 0).unknown([])


# ---------------------------------------------------------------------------------------------------- demo, real data


def test_demo(tmp_path: Path, root: Path) -> None:
    yesbut_demo.draw(tmp_path)
    listed = (root / "data" / "manifests" / "yesbut" / "annotations.csv").read_bytes()
    names = {cells["path"] for _, cells in parse_csv(listed, ("path",), file="annotations.csv")}
    assert names == set(yesbut.ITEM_FILES)
    files = {name: (tmp_path / name).read_bytes() for name in names}
    made = items(files)
    assert 6 <= len(made) <= 12
    assert [gold.item_id for gold in yesbut.golds(files)] == [item.item_id for item in made]
    assert sorted(path.name for path in (tmp_path / "images").iterdir()) == [f"{item.item_id}.png" for item in made]
    assert len(yesbut.oddities(files)) == 1
    assert {r.condition for r in requests(made[0])} == set(CONDITIONS) - {"chained"}
    again = tmp_path / "again"
    yesbut_demo.draw(again)
    for path in again.rglob("*.*"):
        assert path.read_bytes() == (tmp_path / path.relative_to(again)).read_bytes()


@pytest.fixture(scope="module")
def released(mirror: Path) -> dict[str, bytes]:
    path = mirror / "yesbut" / ANNOTATIONS
    if not path.is_file():
        pytest.skip(f"REAL DATA ABSENT: no yesbut/{ANNOTATIONS} in {mirror}; set PUNCHLINE_MIRROR to run this test")
    return {ANNOTATIONS: path.read_bytes()}


@pytest.mark.real
def test_released_annotations(released: dict[str, bytes]) -> None:
    listed = yesbut.listing(released)
    assert len(listed) == 348 and {url.split("/media/")[0] for _, _, url in listed} == {"https://pbs.twimg.com"}
    made = {item.item_id: item for item in items(released)}
    golds = {gold.item_id: gold for gold in yesbut.golds(released)}
    assert list(made) == list(golds) == [item_id for item_id, _, _ in listed]
    assert Counter(gold.values["moral_mcq"] for gold in golds.values()) == {"B": 109, "C": 92, "A": 82, "D": 65}
    assert Counter(gold.values["title_mcq"] for gold in golds.values()) == {"B": 110, "D": 86, "A": 80, "C": 72}
    assert [line.split()[2].rstrip(":") for line in yesbut.oddities(released)] == ["00110.jpg", "00125.jpg"]
    forms = (
        "{l}",
        "({l})",
        "{l}. {t}",
        "The answer is {l}.",
        "**{l}**",
        "{t}",
        "I choose {l}: {t}",
        "{l}\n\nA man is seen.",
    )
    for item_id, gold in golds.items():
        for kind in yesbut.CHOSEN:
            choices, letter = options(str(made[item_id].fields[kind])), gold.values[kind]
            for form in forms:
                assert read_paper(form.format(l=letter, t=choices[letter]), choices) == letter


@pytest.mark.real
@needed
def test_table1_on_the_released_annotations(released: dict[str, bytes], root: Path) -> None:
    published = read_published(root / "config" / "published" / "yesbut.csv")
    made = tabulate(TABLES["table1"], [], {}, {}, released, published, scoring=None, complete=True)
    printed = {row["model"]: row for row in made.rows if row["kind"] == "published"}
    for row in ours(made):
        for column in ("number", "length"):
            value = row.get(column)
            assert printed[row["model"]].get(column) == (None if value is None else f"{value:.0f}")
