"""Derived conditions: what is asked, how it is scored, and the two files that come of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.cases import cases
from tests.records import images_of, response, score, text_of, texts_of
from tests.tabulated import read_benchmark, score_responses
from tests.test_humorbench import corpus

from punchline.benchmarks.stripcipher.options import options as strip_options
from punchline.benchmarks.yesbut.options import options as comic_options
from punchline.core import benchmark as benchmarks
from punchline.core import variants
from punchline.core.benchmark import Verdict
from punchline.files import write_records
from punchline.requests import ask, ask_in_pass
from punchline.schema import RULES, Gold, ImageRef, Item, Score
from punchline.score import score as score_answers
from punchline.scores import write_scores
from punchline.stats.estimate import FEWEST
from punchline.validity import option_order, pictures

OPTIONS = ["no-image", "options-only", "circular"]
DERIVED = {"pixelhumor": ["no-image"], "hummus": ["no-image", "caption-only"], "satire": ["no-image"]}
DERIVED |= {"humorbench": ["caption-only", "with-image"], "yesbut": OPTIONS, "stripcipher": OPTIONS}
ALL = ("default", "caption-only", "with-image", *OPTIONS)


def test_a_benchmark_has_the_conditions_that_make_sense() -> None:
    assert {name: variants.conditions(benchmarks.load(name)) for name in benchmarks.names()} == DERIVED


@pytest.mark.parametrize("name", sorted(DERIVED.keys() - {"satire"}))
def test_requests_of_the_default_condition_stay_as_they_are(name: str) -> None:
    loaded, items, *_ = read_benchmark(name)
    default, requests = (list(ask(loaded, items.values(), 2, of)) for of in (("default",), ALL))
    assert [one.request_id for one in requests if one.condition == "default"] == [one.request_id for one in default]
    derived = [one for one in requests if one.condition != "default"]
    assert {one.condition.partition("-")[0] for one in derived} == {one.partition("-")[0] for one in DERIVED[name]}
    assert len({one.request_id for one in derived}) == len(derived)
    assert not [one for one in derived if not one.condition.startswith(("circular", "with-")) and images_of(one)]


@pytest.mark.parametrize(("name", "condition", "task", "begins", "ends", "lacks"), cases(__file__, "asked"))
def test_what_is_asked(name: str, condition: str, task: str, begins: str, ends: str, lacks: str) -> None:
    loaded, items, *_ = read_benchmark(name)
    result = [one for one in ask(loaded, items.values(), 1, (condition,)) if one.task == task]
    assert result
    for request in result:
        text = text_of(request)
        assert text.startswith(begins) and text.endswith(ends) and lacks not in text
    if name == "humorbench":
        assert all(f"\n\nCaption: {items[one.item_id].fields['caption']}" in text_of(one) for one in result)


def test_addresses_of_humorbenchs_cartoons() -> None:
    rows = [{"contest_number": "512.0"}, {"contest_number": "2.0"}, {"cartoonstock_id": "CS7"}]
    pages = benchmarks.load("humorbench").pages(corpus(rows))
    ends = ("cartoons/512.jpg", "all_contest_images.zip#2.jpeg", "searchID=CS7")
    assert all(pages[str(n)].endswith(end) for n, end in enumerate(ends))


def test_with_image_asks_the_default_question_below_the_cartoon() -> None:
    loaded, items, *_ = read_benchmark("humorbench")
    drawn = (ImageRef(path="0.png", sha256="0" * 64, width=2, height=2),)
    for item, digest in ((replace(items["0"], images=drawn), "0" * 64), (items["1"], None)):
        default, pictured = ask(loaded, [item], 1, ("default", "with-image"))
        assert (pictured.condition, images_of(pictured)) == ("with-image", [digest])
        assert (default.condition, text_of(default)) == ("default", text_of(pictured))


def test_a_judge_is_asked_about_answers_without_the_picture() -> None:
    yesbut, items, golds, _ = read_benchmark("yesbut")
    requests = [one for one in ask(yesbut, items.values(), 1, ("no-image",)) if one.task == "description_1"]
    answers = [(request, response(request, "A plant is bought. A plant withers.")) for request in requests]
    judged = list(ask_in_pass(yesbut, "judge", items, golds, answers))
    verdicts = {one.request_id: Verdict("j", response(one, "[[4]]")) for one in judged}
    scores = [one for one in score_answers(yesbut, "m", items, golds, answers, verdicts) if one.responses]
    assert len(scores) == len(RULES) * len(items)
    assert {(one.condition, one.metrics["gpt"]) for one in scores} == {("no-image", 4.0)}


@pytest.mark.parametrize("name", ["yesbut", "stripcipher"])
def test_the_right_option_is_right_wherever_it_stands(name: str) -> None:
    loaded, items, golds, _ = read_benchmark(name)
    seen: dict[tuple[str, str], set[str]] = {}
    for request in ask(loaded, items.values(), 1, ("default", "circular")):
        if request.task not in loaded.OPTIONS:
            continue
        item, gold = items[request.item_id], golds[request.item_id]
        key = request.task.rpartition("_")[0] if name == "yesbut" else request.task
        own = comic_options(str(item.fields[key])) if name == "yesbut" else strip_options(item, key)
        lines = [line.strip() for text in texts_of(request) for line in text.split("\n")]
        (letter,) = [line[0] for line in lines if line[1:] == f". {own[gold.values[key]]}"]
        seen.setdefault((item.item_id, request.task), set()).add(letter)
        for given in "ABCD":
            responses = {request.task: response(request, given)}
            scores = score_responses(loaded, responses, item, gold, condition=request.condition)
            result = [(one.condition, one.parsed, one.metrics) for one in scores if one.task == request.task]
            assert result == [(request.condition, (given,), {"correct": float(given == letter)})] * 2
    assert seen and all(letters == set("ABCD") for letters in seen.values())


def test_a_question_with_two_options_has_one_rotation() -> None:
    yesbut = benchmarks.load("yesbut")
    fields: dict[str, Any] = {"caption": "c", "moral_mcq": "A. one\nB. two", "title_mcq": "A. x\nB. y\nC. z"}
    item = Item(benchmark="yesbut", item_id="1", source="s", cluster="c", fields=fields)
    result = {(one.task, one.condition) for one in variants.requests(yesbut, item, "circular") if one.task[-1] == "1"}
    assert result == {("moral_mcq_1", "circular-1"), *(("title_mcq_1", f"circular-{k}") for k in (1, 2))}


def project_of(folder: Path, scores: dict[str, list[Score]], conditions: list[str]) -> Any:
    """As much of a project as the files need; the model `random` is the baseline."""
    items = sorted({one.item_id for own in scores.values() for one in own})
    write_records(folder / "gold.jsonl", [Gold(benchmark="yesbut", item_id=item, values={}) for item in items])
    for model, own in scores.items():
        write_scores(folder / model, own, ("correct",))
    return SimpleNamespace(
        paths=SimpleNamespace(gold=lambda _: folder / "gold.jsonl", scores=lambda _, model: folder / model),
        cards={model: SimpleNamespace(options={"baseline": model}) for model in scores},
        selection=SimpleNamespace(models=list(scores)),
        conditions=lambda _: ["default", *conditions],
        benchmark=benchmarks.load,
    )


def of_condition(condition: str, values: str, letters: str = "") -> list[Score]:
    """Scores of items 0, 1, …: 1 right, 0 wrong, r a refusal, m missing; the letters that were chosen."""
    result, about = [], {"condition": condition, "task": "moral_mcq_1", "responses": ("d",)}
    for place, value in enumerate(values):
        parsed: dict[str, Any] = {"metrics": {"correct": float(value == "1")}} if value != "m" else {"scored": False}
        parsed |= {"parsed": (letters[place],)} if letters else {}
        result.append(score(str(place), state={"r": "refused", "m": "missing"}.get(value, "ok"), **about, **parsed))
    return result


GAINS = [  # with the picture, without, of `random` without, expected columns
    ("11111100", "11000r00", "10000001", {"gain": 0.5, "without": 0.25, "chance": 0.25, "leakage": 0.0, "n": 8}),
    ("11111100", "11110000", "10000001", {"gain": 0.25, "without": 0.5, "chance": 0.25, "leakage": 0.25, "n": 8}),
    ("1111mm00", "110011mm", "", {"with_image": 1.0, "without": 0.5, "gain": 0.5, "gain_lo": None, "n": 4}),
    ("1010", "1010", "", {"gain": 0.0, "gain_lo": None, "gain_hi": None, "leakage": None, "clusters": 4}),
    ("mmmmmm", "111100", "", {"with_image": None, "without": 2 / 3, "gain": None, "gain_lo": None, "n": 6}),
    ("1111", "mmmm", "", None),
]


@pytest.mark.parametrize(("shown", "without", "drawn", "expected"), GAINS)
def test_what_a_picture_adds(tmp_path: Path, shown: str, without: str, drawn: str, expected: Any) -> None:
    scores = {"m": of_condition("default", shown) + of_condition("no-image", without)}
    if drawn:
        scores["random"] = of_condition("default", drawn) + of_condition("no-image", drawn)
    rows = [row for row in pictures.rows(project_of(tmp_path, scores, ["no-image"]), "yesbut") if row["model"] == "m"]
    assert [row | (expected or {}) for row in rows] == rows == rows[: expected is not None]
    for row in rows:
        assert set(row) <= set(pictures.COLUMNS)
        assert row["gain_lo"] is None or -1 <= row["gain_lo"] < row["gain"] < row["gain_hi"] <= 1


def test_files_are_empty_where_nobody_asked(tmp_path: Path) -> None:
    result = project_of(tmp_path, {"m": of_condition("default", "11")}, [])
    assert (list(pictures.rows(result, "yesbut")), list(option_order.rows(result, "yesbut"))) == ([], [])


@pytest.mark.parametrize(("asked", "expected"), cases(__file__, "orders"))
def test_option_order(tmp_path: Path, asked: list[tuple[str, str]], expected: dict[str, Any]) -> None:
    names = ("default", "circular-1", "circular-2", "circular-3")
    scores = {"m": [one for name, own in zip(names, asked, strict=True) for one in of_condition(name, *own)]}
    (row,) = option_order.rows(project_of(tmp_path, scores, ["circular"]), "yesbut")
    assert row | expected == row and set(row) <= set(option_order.COLUMNS)
    assert ("p" in row) == (row["clusters"] >= FEWEST)
    assert row.get("p", 1.0) == 1.0 or row["p"] < 1e-12
