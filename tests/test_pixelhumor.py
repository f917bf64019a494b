"""PixelHumor: released files in, items, gold and requests out; how answers are read and scored; the released data."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.cases import cases
from tests.records import read_golds, read_items, response
from tests.tabulated import rows_of

from punchline.benchmarks import pixelhumor
from punchline.benchmarks.comic_panels import Metadata, by_comic
from punchline.benchmarks.pixelhumor.answers import RELEASED_PANEL
from punchline.benchmarks.pixelhumor.scoring import GRADED, LONGEST, score_item
from punchline.errors import PunchlineError
from punchline.schema import RULES, Gold, Image, ImageRef, Item, Rule, Score, State

FILES = cases(__file__, "files")
IMAGE = ImageRef(path="data/images/pixelhumor/a_b_1.png", sha256="ab" * 32, width=100, height=40)


def files(**changed: str) -> dict[str, bytes]:
    return {name: changed.get(name.split(".")[0], text).encode() for name, text in FILES.items()}


def boxes(files: dict[str, bytes]) -> Any:
    return {comic: row.boxes for comic, row in by_comic(files, "metadata.csv", Metadata).items()}


def test_items_of_the_given_images_only_and_a_missing_one_with_its_reason() -> None:
    assert pixelhumor.listing(files()) == [("a_b_1", "a_b", "https://x.test/1"), ("c_2", "c", "https://x.test/2")]
    assert boxes(files()) == {"a_b_1": [(0, 0, 50, 40, 2), (50, 0, 100, 40, 1)], "c_2": [(0, 0, 10, 10, 1)]}
    (item,) = pixelhumor.items(files(), {"a_b_1": (IMAGE,)})
    assert (item.item_id, item.source, item.cluster) == ("a_b_1", "a_b", "a_b_1")
    assert (item.images, item.missing) == ((IMAGE,), None)
    assert "HELLO" not in str(item) and "Pun" not in str(item)
    first, second = pixelhumor.items(files(), {"c_2": "HTTP 404", "a_b_1": (IMAGE,)})
    assert (first.item_id, second.item_id) == ("a_b_1", "c_2")  # released order
    assert (second.images, second.missing) == ((), "HTTP 404")
    assert all(request.messages[1].content[0] == Image(sha256=None) for request in pixelhumor.requests(second))


def replaced(name: str, old: str, new: str) -> dict[str, bytes]:
    assert old in FILES[f"{name}.csv"]
    return files(**{name: FILES[f"{name}.csv"].replace(old, new, 1)})


CHANGED = yaml.safe_load((Path(__file__).parent / "pixelhumor_files.yaml").read_text(encoding="utf-8"))
READING: dict[str, Callable[[dict[str, bytes]], Any]] = {
    "listing": pixelhumor.listing,
    "boxes": boxes,
    "golds": pixelhumor.golds,
    "read_items": lambda given: pixelhumor.items(given, {"a_b_1": (IMAGE,)}),
}


@pytest.mark.parametrize(
    ("read", "name", "old", "new", "expected"),
    [*CHANGED["refused"], ("golds", "subjective_label", "['Yes']", "[" * 5000, ["line 2", "a_b_1", "Q1"])],
)
def test_bad_input_is_named(read: str, name: str, old: str, new: str, expected: list[str]) -> None:
    list(READING[read](files()))
    with pytest.raises(PunchlineError) as error:
        list(READING[read](replaced(name, old, new)))
    for part in expected:
        assert part in str(error.value)


def test_a_comic_that_is_not_there() -> None:
    with pytest.raises(PunchlineError, match=r"comic_url\.csv, record c_9.*no such item"):
        pixelhumor.items(files(), {"c_9": (IMAGE,)})
    assert pixelhumor.items(replaced("metadata", "'x2': 100", "'x2': 102"), {"a_b_1": (IMAGE,)})  # two pixels beyond


@pytest.fixture(scope="module")
def released(mirror: Path) -> dict[str, bytes]:
    names = (*pixelhumor.ITEM_FILES, *pixelhumor.GOLD_FILES)
    return {name: (mirror / "pixelhumor" / name).read_bytes() for name in names}


@pytest.mark.real
@pytest.mark.parametrize("rule", RULES)
def test_gold_as_an_answer_is_right_on_every_comic(released: dict[str, bytes], rule: Rule) -> None:
    items, golds, scores = read_items(pixelhumor, released), read_golds(pixelhumor, released), list[Score]()
    for name, gold in golds.items():
        answers = {task: ", ".join(gold.values[task]) for task in ("Q1", "Q2", "Q3", "Q4", "Q5")}
        answers |= {"Q7": gold.values["panel_sequence"], "Q8": gold.values["text"]}
        scores += score_item({t: response(t, text) for t, text in answers.items()}, items[name], gold, "gold", rule)
    assert all(score.state == "ok" for score in scores if score.scored or rule == "paper")
    no_humor = {name for name, gold in golds.items() if gold.values["Q1"] == ["No"] and rule == "released"}
    assert {score.item_id for score in scores if not score.scored} == no_humor
    right = {"Q7": {"panel_acc": 1}, "Q8": {"text_acc": 1, "wer": 0, "cer": 0}}
    assert [score for score in scores if score.metrics != right.get(score.task, {})] == []  # xkcd_108, smbc_2640 too


P, R = "paper", "released"
RELEASED = re.compile(r"(\d+):\s*(.*?)(?=(\d+: |$))", re.DOTALL)  # as scoring of the released texts was published


@settings(max_examples=500)
@given(st.text(alphabet='12٣: \n"{a', max_size=40))
def test_the_linear_pattern_finds_what_the_released_one_does(answer: str) -> None:
    expected = [(match.group(1), match.group(2)) for match in RELEASED.finditer(answer)]
    assert RELEASED_PANEL.findall(answer) == expected


ITEM = Item(benchmark="pixelhumor", item_id="c_1", source="c", cluster="c_1")
LABELS = {"Q1": ["Yes"], "Q2": ["Absent"], "Q3": ["2"], "Q4": ["Both"], "Q5": ["Pun", "Dark"]}
PANELS = {"panel_sequence": "2, 1, 3", "text": '1: WHY  NOT? \n 2: HELLO\nYOU \n 3: "OH"', "number_of_panels": 3}
GOLD = Gold(benchmark="pixelhumor", item_id="c_1", values={**LABELS, **PANELS, "potentially_harmful": "harm"})
RIGHT = {task: ", ".join(labels) for task, labels in LABELS.items()}
RIGHT |= {"Q7": "2, 1, 3", "Q8": "1: why not?\n2: hello you\n3: oh"}


def grades(rule: Rule, states: dict[str, State] | None = None, **answers: str | None) -> dict[str, Score]:
    """Grades of right answers but for those given; None: the task was not asked."""
    given_ = {task: text for task, text in {**RIGHT, **answers}.items() if text is not None or task in (states or {})}
    responses = {task: response(task, text, (states or {}).get(task, "ok")) for task, text in given_.items()}
    return {grade.task: grade for grade in score_item(responses, ITEM, GOLD, "model", rule)}


@pytest.mark.parametrize("rule", RULES)
def test_right_answers(rule: Rule) -> None:
    result = grades(rule)
    assert tuple(result) == GRADED
    digests = {task: response(task, text).digest for task, text in RIGHT.items()}
    context = {"Q2": "Q1"} if rule == "released" else {}
    context |= {"Q3": "Q1", "Q4": "Q1", "Q5": "Q1", "Q8": "Q7"}
    for task, score in result.items():
        assert (score.state, score.scored, score.gold_digest, score.cluster) == ("ok", True, GOLD.digest, "c_1")
        assert score.gold == (tuple(GOLD.values[task]) if task < "Q6" else None)
        assert score.signature.endswith("v:1" if rule == "released" else "v:3")
        assert score.responses == tuple(digests[one] for one in (context.get(task), task) if one)
        if task < "Q6":
            assert {label.lower() for label in score.parsed or ()} == {label.lower() for label in GOLD.values[task]}
    assert result["Q7"].metrics == {"panel_acc": 1} and result["Q8"].metrics == {"text_acc": 1, "wer": 0, "cer": 0}
    assert result["Q8"].parsed == ("hello you", "why not?", "oh")
    assert re.fullmatch(rf"text_acc,wer,cer\|rule:{rule}\|lib:jiwer-4\.\d+\.\d+\|v:\d", result["Q8"].signature)


@pytest.mark.parametrize("rule", RULES)
def test_missing_and_failed_answers_are_not_scored(rule: Rule) -> None:
    for state in (None, "missing", "failed"):
        for task in ("Q2", "Q3", "Q5", "Q7", "Q8"):
            result = grades(rule, {task: state} if state else {}, **{task: None})
            for one in (task, "Q8") if task == "Q7" else (task,):  # text needs the order of panels
                assert (result[one].state, result[one].scored, result[one].metrics) == (state or "missing", False, {})
            assert result[task].parsed is None


UNPARSABLE = {"Q3": "the last", "Q4": "hm", "Q5": "funny", "Q7": "no idea", "Q8": "I cannot tell"}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("state", ["refused", "unparsable"])
def test_a_refusal_and_an_unparsable_answer_are_scored_as_wrong(rule: Rule, state: State) -> None:
    refused = state == "refused"
    answers = dict.fromkeys(UNPARSABLE) if refused else UNPARSABLE
    result = grades(rule, dict.fromkeys(UNPARSABLE, state) if refused else None, **answers)
    for task in UNPARSABLE:
        assert (result[task].state, result[task].scored, result[task].parsed) == (state, True, None)
    assert result["Q7"].metrics == {"panel_acc": 0}
    assert result["Q8"].metrics == {"text_acc": 0, "wer": 1, "cer": 1}
    texts = grades(rule, {"Q3": "refused", "Q7": "refused"})  # the text of a refusal counts under `released` only
    counts = rule == "released"
    assert (texts["Q3"].parsed, texts["Q7"].metrics) == (("2",) if counts else None, {"panel_acc": float(counts)})
    assert texts["Q3"].state == "refused"


OF_Q1 = [  # state of the answer to Q1, its text, state of the others, whether they are scored
    *((None, "No", "ok", False), (None, "Oh YES!", "ok", True), (None, None, "missing", False)),
    *(("refused", None, "ok", False), ("missing", None, "missing", False), ("failed", None, "failed", False)),
]


@pytest.mark.parametrize(("asked", "first", "state", "scored"), OF_Q1)
def test_released_scores_labels_only_where_the_first_answer_holds_yes(
    asked: State | None, first: str | None, state: State, scored: bool
) -> None:
    result = grades("released", {"Q1": asked} if asked else {}, Q1=first)
    assert (result["Q1"].state, result["Q1"].scored) == (asked or state, scored)
    assert {(result[task].state, result[task].scored) for task in ("Q2", "Q3", "Q4", "Q5")} == {(state, scored)}
    assert result["Q7"].scored and result["Q8"].scored


def test_paper_turns_no_into_not_applicable() -> None:
    result = grades("paper", Q1="No.", Q3="2", Q4="hm")
    assert [result[task].parsed for task in LABELS] == [(label,) for label in ("No", "Absent", "NA", "NA", "NA")]
    assert all(result[task].state == "ok" and result[task].scored for task in LABELS)
    assert grades("paper", Q1="No", Q3=None)["Q3"].state == "missing"
    assert grades("paper", {"Q1": "refused"}, Q1="No")["Q3"].parsed == ("2",)
    assert grades("paper", Q1=None)["Q3"].parsed == ("2",)  # not known to be No


@pytest.mark.parametrize(("sequence", "answer", "rule", "parsed", "expected"), cases(__file__, "orders", tuple))
def test_text_in_the_models_own_order(sequence: str, answer: str, rule: Rule, parsed: Any, expected: Any) -> None:
    score = grades(rule, Q7=sequence, Q8=answer)["Q8"]
    assert parsed is None or score.parsed == parsed
    for name, value in zip(("text_acc", "wer", "cer"), expected, strict=True):
        assert value is None or score.metrics[name] == pytest.approx(value), name


@pytest.mark.parametrize(("answer", "rule", "expected"), cases(__file__, "empty", tuple))
def test_an_empty_reference(answer: str, rule: Rule, expected: tuple[float, float, float]) -> None:
    values = {**GOLD.values, "panel_sequence": "2, 1", "number_of_panels": 2, "text": "1: \n 2: "}
    gold = replace(GOLD, values=values)
    responses = {"Q7": response("Q7", "1, 2"), "Q8": response("Q8", answer)}
    score = score_item(responses, ITEM, gold, "m", rule)[-1]
    assert tuple(score.metrics[name] for name in ("text_acc", "wer", "cer")) == expected
    assert score.state == ("unparsable" if answer == "there is none" else "ok")


REPEATED = ("1", ":", "1:", "1: ", "1" * 50 + " ", "1,", '"', "present but ", "text ,", "panel" + " " * 1_000, "\n")
HOSTILE = [piece * (102_000 // len(piece)) for piece in REPEATED] + ["1" + " " * 100_000 + "x"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("answer", HOSTILE, ids=lambda answer: repr(answer[:12]))
def test_hostile_answers_are_read_in_linear_time(answer: str, rule: Rule) -> None:
    """Each takes less than a second; anything quadratic takes minutes, and a looping order would fill the memory."""
    assert len(grades(rule, **dict.fromkeys(RIGHT, answer))) == 7
    looping = grades(rule, Q7="1,2," * 25_000, Q8="1: " + answer)["Q8"]
    assert sum(map(len, looping.parsed or ())) < 2 * LONGEST


WRONG_ORDERS = "1, 2, 3: default_order | 2, 1, 4: out_of_range | 2, 1: wrong_number | 2, 1, 1: repeated"
WRONG_ORDERS += " | 1, 2, 3, 1, 2, 3, 1: wrong_number repeated runaway | 2, 1, 3: | hm:"


@pytest.mark.parametrize(("answer", "errors"), [one.split(":") for one in WRONG_ORDERS.split(" | ")])
def test_order_errors(answer: str, errors: str) -> None:
    table, scores = pixelhumor.TABLES["order_errors"], score_item({"Q7": response("Q7", answer)}, ITEM, GOLD, "m", R)
    (row,) = rows_of(table, list(scores), {"c_1": GOLD}, {"c_1": ITEM})
    assert (tuple(row.keys), tuple(row.estimates)) == (table.keys, table.columns)
    assert {name for name, one in row.estimates.items() if one.point() == 100} == {*errors.split()}
    assert {one.point() for one in row.estimates.values()} <= {0, 100} and len(row.estimates) == 5
