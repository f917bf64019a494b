"""StripCipher: the item format, pictures, requests, scores, tables, published values, reviewing; the real strips."""

import itertools
import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cases import cases
from tests.records import images_of, read_golds, refused, response, text_of
from tests.tabulated import Scored, score_responses, tabulate

from punchline.benchmarks import stripcipher
from punchline.benchmarks.stripcipher import STRIPS, TASKS, studies
from punchline.benchmarks.stripcipher.ask import PROMPTS
from punchline.benchmarks.stripcipher.holdout import held_out
from punchline.benchmarks.stripcipher.pictures import pictures
from punchline.benchmarks.stripcipher.strips import Strip, read_strips, strips_of
from punchline.benchmarks.stripcipher.tables import TABLES
from punchline.benchmarks.study import BEST
from punchline.core.benchmark import NoPicture
from punchline.errors import PunchlineError
from punchline.files import parse_csv, write_records, write_text
from punchline.paths import Paths
from punchline.rating import outcome
from punchline.rating.draw import declared, draw_up
from punchline.rating.votes import Votes
from punchline.schema import ImageRef, Item, ModelCard, Score, sha256

OPTIONS = ["one thing", "another thing", "a third thing", "a fourth thing"]


def choice(answer: str = "one thing", **more: Any) -> dict[str, Any]:
    return {"options": OPTIONS, "answer": answer, **more}


def record(item_id: str = "s_1", **more: Any) -> dict[str, Any]:
    return {"item_id": item_id, "source": "s", "frames": 4, "credit": "c", "licence": "l", **more}


def corpus(*records: dict[str, Any]) -> dict[str, bytes]:
    return {STRIPS: json.dumps(records or [record()]).encode()}


def shown(files: Mapping[str, bytes]) -> dict[str, tuple[ImageRef, ...] | str]:
    """Every strip with pictures of made-up digests: their names."""
    result: dict[str, tuple[ImageRef, ...] | str] = {}
    for item_id, strip in strips_of(files).items():
        names = ["page", *(f"frame{n}" for n in range(1, strip.frames + 1)), "masked", "row_shuffled", "row_masked"]
        result[item_id] = tuple(ImageRef(path="x", sha256=name, width=1, height=1, name=name) for name in names)
    return result


def items(files: Mapping[str, bytes]) -> list[Item]:
    return stripcipher.items(files, shown(files))


REVIEWED = record(texts={"prediction": choice(), "comprehension": choice("another thing"), "category": "Critical"})


def test_the_schema_in_docs_is_the_format(root: Path) -> None:
    result = {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(list[Strip])}
    assert json.loads((root / "docs" / "stripcipher.schema.json").read_text()) == result


@pytest.mark.parametrize(("records", "words"), refused("strips"))
def test_errors_name_record_and_field(records: list[dict[str, Any]], words: tuple[str, ...]) -> None:
    with pytest.raises(PunchlineError) as error:
        read_strips(json.dumps(records).encode())
    assert str(error.value).startswith(f"{STRIPS}, record ")
    for word in words:
        assert word in str(error.value)


def test_which_corrected_label_asks_again() -> None:
    """Where a strip has no meaning of its own, the right comprehension option is what condition meaning shows."""
    corrected = {"comprehension": choice("a third thing")}
    for own, asked_again in (({}, {"meaning"}), ({"meaning": "All is vain."}, set())):
        texts = REVIEWED["texts"] | own
        before, after = (
            {r.request_id: r.condition for r in stripcipher.requests(items(corpus(record(texts=one)))[0])}
            for one in (texts, texts | corrected)
        )
        assert {after[key] for key in after.keys() - before.keys()} == asked_again


def test_weak_distractors() -> None:
    texts = {"prediction": choice(weak=["Rain falls.", "A dog barks.", "It is night."]), "comprehension": choice()}
    strips = corpus(record(texts=texts), record("s_2", texts={"prediction": choice()}))
    item, without = items(strips)
    assert "weak" not in {request.condition for request in stripcipher.requests(without)}
    requests = {r.task: text_of(r) for r in stripcipher.requests(item) if r.condition == "weak"}
    letter = read_golds(stripcipher, strips)["s_1"].values["prediction"]
    assert requests.keys() == {"prediction"} and f"\n{letter}. one thing\n" in requests["prediction"]
    assert "A dog barks." in requests["prediction"] and "another thing" not in requests["prediction"]
    scores = answered(strips, {"prediction": {"s_2"}}) + answered(strips, {"prediction": {"s_1"}}, ("weak",))
    values = {row["distractors"]: row["prediction"] for row in made("distractors", strips, model(scores))}
    assert values == {"strong": 0.0, "weak": 100.0}, "of the strip that has both"


def test_prompts_are_the_papers(paper: Callable[[str], str]) -> None:
    text = " ".join(paper("stripcipher").replace("**", "").split())
    drafts = studies.PROMPTS
    first_lines = [drafts[f"distractor_{task}"].split("\n")[0] for task in ("prediction", "comprehension")]
    requests = [drafts[name] for name in ("answer_prediction", "answer_comprehension", "both")]
    for prompt in (*PROMPTS["meaning"].split("{meaning}"), PROMPTS["choose"], *requests, *first_lines):
        assert " ".join(prompt.split()) in text, prompt


def test_the_sequence_itself_chooses_its_option() -> None:
    (item,), (gold,) = items(corpus()), stripcipher.golds(corpus())

    def scored(text: str, task: str = "reordering_choice") -> Score:
        scores = score_responses(stripcipher, {task: response(task, text)}, item, gold, rules=["paper"])
        return next(score for score in scores if score.task == task)

    letter, order = gold.values["reordering_choice"], gold.values["reordering_generation"]
    right = ", ".join(map(str, order))
    assert scored(right).parsed == (letter,) and scored(f"{letter}. {right}").metrics["correct"] == 1.0
    no_options = ("1, 2, 3, 4", f"4, {right}", f"{right}, 1", f"not {right}", f"It isn't {right}.")
    assert {scored(text).state for text in no_options} == {"unparsable"}
    places = [order.index(number) + 1 for number in range(1, 5)]  # the other reading
    metrics = scored(", ".join(map(str, places)), "reordering_generation").metrics
    assert metrics == {"correct": float(places == order), "correct_as_places": 1.0}


FIVE = (Path(__file__).parent.parent / "data/demo/stripcipher/images/demo_4.png").read_bytes()  # five frames
OBJECTIVE = b"comic_id,panel_sequence,text,number_of_panels\n"
EMPTY = {"metadata.csv": b"comic_id,metadata\n", "objective_label.csv": OBJECTIVE}
HOSTILE = EMPTY | {"metadata.csv": b"comic_id,metadata\ns_1,[None]\n"}
OUTSIDE = [*([x, 0, x + 10, 10] for x in (0, 10, 20)), [0, 0, 9999, 10]]


@pytest.mark.parametrize(
    ("boxes", "content", "files", "kind", "message"),
    [
        (None, FIVE, {}, NoPicture, "5 panels by splitting, 4 stated"),
        ("pixelhumor", FIVE, EMPTY, NoPicture, "0 panels by PixelHumor's metad"),
        ("pixelhumor", FIVE, HOSTILE, PunchlineError, r"metadata\.csv, line 2, record s_1"),
        (OUTSIDE, FIVE, {}, PunchlineError, "the published image.*frame 4"),
        *((None, bad, {}, PunchlineError, "the published image") for bad in (b"", b"<html>", FIVE[:200])),
    ],
)
def test_why_there_is_no_picture(
    boxes: Any, content: bytes, files: dict[str, bytes], kind: type[Exception], message: str
) -> None:
    strips = corpus(record(boxes=boxes))
    with pytest.raises(kind, match=message):
        pictures("s_1", content, strips | files)


def answered(
    files: Mapping[str, bytes], right: Mapping[str, set[str]], conditions: tuple[str, ...] = ("default",)
) -> list[Score]:
    """Scores of a model that answers the tasks in `right`, correctly on the strips named there, else with nonsense."""
    golds, scores = read_golds(stripcipher, files), []
    for item, condition in itertools.product(items(files), conditions):
        gold, output = golds[item.item_id], {}
        for request in stripcipher.requests(item):
            if request.condition == condition and request.task in right:
                value = gold.values[request.task]
                text = ", ".join(map(str, value)) if isinstance(value, list) else value
                output[request.task] = response(request, text if item.item_id in right[request.task] else "?")
        scores += score_responses(stripcipher, output, item, gold, condition=condition, rules=["paper"])
    return scores


def made(name: str, files: Mapping[str, bytes], *models: Scored) -> list[dict[str, Any]]:
    every = {item.item_id: item for item in items(files)}
    return tabulate(TABLES[name], models, read_golds(stripcipher, files), every, files).rows


def model(scores: list[Score], name: str = "m", base: str | None = None) -> Scored:
    return Scored(name, "measured", "e", scores, ModelCard(name=name, engine="e", base=base))


EIGHT = corpus(*(record(f"s_{n}", frames=3 + n % 2, texts=REVIEWED["texts"]) for n in range(8)))
ALL = {f"s_{n}" for n in range(8)}
RIGHT = {task: {"s_0"} for task in TASKS}


def test_table4_counts_a_task_that_fails_as_nothing() -> None:
    right = {"prediction": {"s_0", "s_1"}, "comprehension": {"s_0"}, "reordering_choice": ALL}
    (row,) = made("table4", EIGHT, model(answered(EIGHT, right)))
    assert (row["prediction"], row["comprehension"], row["reordering_choice"]) == (25.0, 12.5, 100.0)
    assert "reordering_generation" not in row
    assert row["avg"] == (25.0 + 12.5 + 100.0) / 4
    assert "avg" not in made("table4", EIGHT, model(answered(EIGHT, {})))[0]
    files = corpus(record())  # without reviewed texts
    (row,) = made("table4", files, model(answered(files, {"reordering_choice": {"s_1"}})))
    assert row["reordering_choice"] == 100.0 and "avg" not in row


def test_the_states_of_a_task_are_those_of_the_answers_shown() -> None:
    failed = [one for one in answered(EIGHT, {"comprehension": {"s_0"}}) if one.task == "comprehension"]
    no_answer = {"state": "failed", "scored": False, "metrics": {}}
    failed[1:3] = [msgspec.structs.replace(one, **no_answer) for one in failed[1:3]]
    in_row = answered(EIGHT, RIGHT, ("row",))
    (row,) = made("table4", EIGHT, model(failed + in_row))
    assert (row["n_failed"], row["n_missing"], row["comparable"]) == (2, 0, "no")
    assert (row["frames"], row["comprehension"]) == ("side by side", pytest.approx(100 / 6))
    own = answered(EIGHT, {"comprehension": {"s_0"}, "prediction": {"s_0"}})
    (row,) = made("table4", EIGHT, model(own + in_row))
    assert row["frames"] == "side by side: reordering_choice, reordering_generation"
    assert row["n_unparsable"] == 7 and row["n_missing"] == 0
    rows = made("table5", EIGHT, model(own, "base"), model(failed + in_row, "tuned", base="base"))
    assert [(row["model"], row["n_failed"]) for row in rows] == [("base", 0), ("tuned", 2)]
    assert rows[1]["frames"] == "side by side"


def test_table5_pairs_a_tuned_model_with_its_base() -> None:
    assert abs(sum(held_out(f"strip_{n}") for n in range(20_000)) / 20_000 - 100 / 890) < 0.01
    names = [f"s_{n}" for n in range(60)]
    held = {name for name in names if held_out(name)}
    files = corpus(*(record(name, frames=3, texts=REVIEWED["texts"]) for name in names))
    base = model(answered(files, {task: set() for task in TASKS}), "base")
    tuned = model(answered(files, dict.fromkeys(TASKS, held | ALL)), "tuned", base="base")
    rows = {row["model"]: row for row in made("table5", files, base, tuned)}
    assert (rows["base"]["training"], rows["tuned"]["training"]) == ("none", "reordering")
    assert held and rows["tuned"]["reordering_choice"] == 100.0 and rows["base"]["reordering_choice"] == 0.0
    assert rows["tuned"]["comprehension"] == 100 * len(held | ALL) / 60
    assert made("table5", files, base) == []


def test_table8_averages_models() -> None:
    one, two, none = (answered(EIGHT, {"comprehension": right}) for right in ({"s_0"}, {"s_0", "s_1"}, set()))
    rows = made("table8", EIGHT, model(one), model(two, "n"), model(none, "o"), Scored("b", "baseline", "e", two))
    means = {row["frames"]: row["comprehension"] for row in rows if row["model"] == "AVG"}
    assert means == {3: 50 / 3, 4: 25 / 3}
    assert not [row for row in made("table8", EIGHT, model(one)) if row["model"] == "AVG"]


def test_drafts_are_asked_as_published_and_read() -> None:
    (item,) = items(corpus())
    requests = {(r.task, r.sample): r for r in studies.draft_requests(item)}
    assert len(requests) == 9
    assert images_of(requests["answer_prediction", 0]) == ["frame1", "frame2", "masked", "frame4"]
    assert images_of(requests["answer_comprehension", 0]) == ["page"]
    assert images_of(requests["both", 0]) == ["page", "frame3"]
    assert [*studies.draft_requests(stripcipher.items(corpus(), {"s_1": "gone"})[0])] == []
    both = "Options in Q1:\nA. x\nB. y\nC. z\nD. w\nRight Answer 1: D\nOptions in Q2:\nA. x\nRight Answer 2: E"
    texts = ["An end", "Other\nend", "other END!", " * "] + ["A story"] * 4 + [both]
    asked = list(requests.values())
    answers = [response(one, f"<think>A draft?</think>\n{text}") for one, text in zip(asked, texts, strict=True)]
    assert [draft[1:] for draft in studies.parse_drafts(asked, answers, "gpt-4o")] == [
        ("prediction", "answer", "An end", "gpt-4o"),
        ("prediction", "distractor", "Other end", "gpt-4o"),
        ("comprehension", "answer", "A story", "gpt-4o"),
        ("prediction", "answer", "w", "gpt-4o"),
        *(("prediction", "distractor", text, "gpt-4o") for text in "xyz"),
    ]


@pytest.mark.parametrize(("item_id", "texts", "category", "expected"), cases(__file__, "accepted", tuple))
def test_accepted_texts_become_items(item_id: str, texts: str, category: str, expected: Any) -> None:
    strips = corpus(record(), record("s_2"))[STRIPS]
    accepted = [studies.Accepted(item_id, "prediction", tuple(texts), category)]
    with pytest.raises(PunchlineError, match=expected) if isinstance(expected, str) else nullcontext():
        first, second = read_strips(studies.with_accepted(strips, accepted).encode()).values()
        question = first.reviewed.prediction
        assert second.texts is None and first.reviewed.comprehension is None
        assert (question and question.answer, first.reviewed.category) == expected
        assert question is None or question.options == tuple(texts)


def test_manifests_fit_each_other(root: Path) -> None:
    folder = root / "data" / "manifests" / "stripcipher"
    content, path = (folder / STRIPS).read_bytes(), folder / "annotations.csv"
    assert all((strip.boxes == "pixelhumor") == (strip.source == "xkcd") for strip in read_strips(content).values())
    listed = {row["path"]: row for _, row in parse_csv(path.read_bytes(), ["path", "sha256"], file=path)}
    assert set(listed) == set(stripcipher.ITEM_FILES) and listed[STRIPS]["sha256"] == sha256(content)


def test_people_answer_questions_and_are_a_row_of_table4(here: Path) -> None:
    files = corpus(*(record(f"s_{n}", texts=REVIEWED["texts"]) for n in range(6)))
    write_records("data/items/stripcipher/items.jsonl", items(files))
    write_text("x", "the picture")
    study = draw_up(Paths(), declared("stripcipher/people"), (), raters=1, seed=0, items=4)
    votes = Votes.make("people.sqlite", *study)
    golds = read_golds(stripcipher, files)
    for unit in votes.seats("1"):
        page = votes.sheet.units[unit]
        assert {"prediction": "row_masked", "comprehension": "page"}.get(page.task, "row_shuffled") == page.sha256
        gold, sources = golds[page.item_id].values[page.task], [text.source for text in page.texts]
        right = sources.index(gold) if gold in sources else 0
        votes.vote("1", unit, {BEST: str(right if page.task != "prediction" else (right + 1) % 4)}, "")
    assert outcome.export(votes, outcome.target(votes)) == (12, 0)
    answers = {"people.csv": (here / "config/stripcipher/people.csv").read_bytes()}
    (row,) = [one for one in tabulate(TABLES["table4"], [], golds, {}, files | answers).rows if one["kind"] == "human"]
    assert (row["model"], row["n"], row["frames"]) == ("people", 4, "side by side")
    assert [row.get(task) for task in TASKS] == [0.0, 100.0, 100.0, None]
    lost = answers | {"people.csv": answers["people.csv"].replace(b"s_", b"t_")}
    with pytest.raises(PunchlineError, match=r"config/stripcipher/people\.csv, line 2, record t_\d: no question"):
        tabulate(TABLES["table4"], [], golds, {}, files | lost)
