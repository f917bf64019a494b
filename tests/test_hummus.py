"""Hummus: items and gold, what is asked in each condition, scores in every state, tables, and the released data."""

import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.records import read_golds, read_items, refused, response, texts_of
from tests.tabulated import Scored, score_responses, tabulate

from punchline.benchmarks import hummus
from punchline.benchmarks.hummus.compared import data_requests
from punchline.benchmarks.hummus.dataset import domain_rows, pair_rows
from punchline.benchmarks.hummus.instructions import involves_is_a
from punchline.benchmarks.hummus.scope import held_out
from punchline.core.benchmark import Verdict
from punchline.errors import PunchlineError
from punchline.schema import Gold, Item, ModelCard, Request, Response, Rule, Score, State
from punchline.tables.render import read_published
from punchline.tables.tabulate import Tabulated

Files = dict[str, bytes]
Said = tuple[str | None, State]
Answer = Callable[[Request, Gold], Said]
ANNOTATED = "nyc-combi-9001"


@pytest.fixture(scope="module")
def demo(root: Path) -> Files:
    return {name: (root / "data/demo/hummus" / name).read_bytes() for name in hummus.ITEM_FILES}


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
    output = {"naming": naming, "image_bbox": boxes, "image_label": values["objects"][0], "caption_hl": marked}
    output["explanation"] = values["explanation"]
    output["joint"] = f"is_met: {label}\nconceptual_metaphor: {naming}\nimage_hl: {boxes}\ntext_hl: {marked}"
    return str(output[request.task])


def but(said: Said = (None, "missing"), **of: str) -> Answer:
    """The right answer, but `said` to requests with these fields."""

    def answer(request: Request, gold: Gold) -> Said:
        meant = bool(of) and all(getattr(request, field) == value for field, value in of.items())
        return said if meant else (right(request, gold), "ok")

    return answer


RIGHTLY = but()


def graded(files: Files, answer: Answer = RIGHTLY, scorer: str | None = "labse") -> list[Score]:
    """Scores under both rules, in all conditions; the scorer says 1 for equal texts, else 0.25."""
    items, golds, scores = read_items(hummus, files), read_golds(hummus, files), list[Score]()
    verdict = functools.partial(similarity, scorer=scorer) if scorer else None
    for item_id, item in items.items():
        sent: dict[str, dict[str, Response]] = {condition: {} for condition in hummus.CONDITIONS}
        for request in hummus.requests(item):
            sent[request.condition][request.task] = response(request, *answer(request, golds[item_id]))
        for condition, responses in sent.items():
            scores += score_responses(hummus, responses, item, golds[item_id], verdict, condition)
    return scores


def similarity(request: Request, scorer: str = "labse", other: str = "0.25") -> Verdict:
    return Verdict(scorer, response(request, "1.0" if len({*texts_of(request)}) == 1 else other))


def table(name: str, scores: list[Score], files: Files) -> Tabulated:
    model = Scored("model", "measured", "test", scores)
    return tabulate(hummus.TABLES[name], [model], read_golds(hummus, files), read_items(hummus, files), files)


def row_of(name: str, scores: list[Score], files: Files, **keys: str) -> dict[str, Any]:
    result = table(name, scores, files)
    (row,) = (r for r in result.rows if r["model"] == "model" and all(r[key] == keys[key] for key in keys))
    return row


def asked_of(files: Files, task: str, item_id: str = ANNOTATED) -> tuple[Item, Gold, Request]:
    """An item, its gold, and its first request of a task."""
    item = read_items(hummus, files)[item_id]
    return item, read_golds(hummus, files)[item_id], next(r for r in hummus.requests(item) if r.task == task)


def annotated(field: str | None, value: Any) -> Callable[[Any], None]:
    return lambda content: content.update({ANNOTATED: content[ANNOTATED] | {field: value} if field else value})


def renamed(item_id: str) -> Callable[[Any], None]:
    return lambda content: content.update({item_id: content.pop(ANNOTATED)})


NO_NAMES = ("../../etc", "", "..", ".hidden", "a b", "é", "x" * 101)


@pytest.mark.parametrize(
    ("name", "spoil", "expected"),
    [
        (hummus.TEST_SET, lambda content: content.append(content[0]), "twice"),
        (hummus.TEST_SET, lambda content: content[0].update(is_met="yes"), "is_met"),
        *((name, content, "not JSON") for name in hummus.GOLD_FILES for content in (b'{"a": {', b"1", b"\xff")),
        *((hummus.DATASET, renamed(one), "file name") for one in NO_NAMES),
        *(
            (hummus.DATASET, annotated(field, value), f"^{hummus.DATASET}, record {ANNOTATED}.*{expected}")
            for field, value, expected in [*refused("hummus")]
        ),
        (hummus.DESCRIPTIONS, b"contest_number,image_description\n901,a\n901,b\n", "twice"),
        (hummus.DESCRIPTIONS, b"contest,image_description\n901,a\n", "contest_number"),
    ],
)
def test_bad_files(demo: Files, name: str, spoil: Any, expected: str) -> None:
    if not isinstance(spoil, bytes):
        spoil(content := json.loads(demo[name]))
        spoil = json.dumps(content).encode()
    with pytest.raises(PunchlineError, match=expected) as raised:
        read_items(hummus, demo | {name: spoil})
    assert name in str(raised.value)


RIGHT_COLUMNS = {
    "table2": ("classification_pos", "classification_neg", "classification_avg", "naming", "rouge1", "rouge2"),
    "table3": ("image_bbox_iou", "image_label", "caption_hl_jaccard", "image_bbox_precision"),
    "table4": ("positive", "negative", "average"),
    "table5": ("classification_avg", "naming", "image_bbox_iou", "caption_hl_jaccard"),
}


def test_right_answers(demo: Files) -> None:
    scores = graded(demo)
    assert {score.state for score in scores if score.rule == "released"} == {"ok"}
    for result, columns in RIGHT_COLUMNS.items():
        row = row_of(result, scores, demo)
        assert [row[column] for column in columns] == pytest.approx([1.0] * len(columns))
        assert all(value == 100 for name, value in row.items() if name.endswith("success"))
        assert row["comparable"] == "yes" and not any(row[f"n_{state}"] for state in ("missing", "unparsable"))
        assert row.get("naming_minilm") is None
    good = row_of("good_answers", scores, demo)
    assert good["image_bbox"] == good["explanation"] == 100
    assert {row_of("figure5", scores, demo, input=page)["classification"] for page in ("image", "description")} == {1}


def test_two_embedders_never_share_a_column(demo: Files) -> None:
    for scorer, value in (("minilm", 1), (None, None)):
        row = row_of("table2", graded(demo, scorer=scorer), demo)
        assert (row.get("naming"), row.get("naming_minilm"), row["naming_success"]) == (None, value, 100)
    other = graded(demo, scorer="someone else")
    assert all("cosine" not in name for score in other for name in score.metrics)


def naming_of(answer: str, item: Item, gold: Gold, verdicts: Mapping[str, Verdict] | None = None) -> Score:
    scores = hummus.score_item({"naming": response("r", answer)}, item, gold, "m", "paper", verdicts)
    return next(score for score in scores if score.task == "naming")


def test_best_match_among_gold_needs_every_verdict(demo: Files) -> None:
    item, gold, request = asked_of(demo, "naming", "nyc-combi-9003")
    answer = "HUMANS ARE ANIMALS; WORK IS WAR"
    requests = [*hummus.judge_requests(item, gold, {"naming": response(request, answer)})]
    assert [one.task for one in requests] == ["cosine"] * 4  # each of the answer's with both directions
    verdicts = {one.request_id: similarity(one, other="0.5") for one in requests}
    naming = naming_of(answer, item, gold, verdicts)
    assert naming.metrics["cosine"] == pytest.approx((1.0 + 0.5) / 2)
    assert naming.judge == "labse" and len(naming.responses) >= 2
    first = verdicts.pop(requests[0].request_id).response.request_id
    for prose in (None, "", "high", "nan", "1e9", "[0.5]"):
        bad = {} if prose is None else {first: Verdict("labse", response(first, prose))}
        assert naming_of(answer, item, gold, verdicts | bad).metrics == {"success": 1.0}


def test_joint_ends_where_the_model_says_no(demo: Files) -> None:
    item, gold, request = asked_of(demo, "joint")

    def by_task(text: str) -> dict[str, Score]:
        answers = {"joint": response(request, text)}
        scores = score_responses(hummus, answers, item, gold, condition="joint", rules=["released"])
        return {score.task: score for score in scores}

    said_no = by_task("is_met: No")
    assert said_no.pop("classification").metrics["fn"] == 1
    assert len(said_no) == 3 and not any(score.scored or score.metrics for score in said_no.values())
    lazy = by_task("is_met: Yes\nconceptual_metaphor: objects are people")
    assert lazy["naming"].metrics["success"] == 1
    assert lazy["caption_hl"].state == "unparsable" and lazy["caption_hl"].metrics == {"success": 0.0}
    for text in ("is_met: Discard", "something else", '{"is_met": "Discard", "text_hl": "<i>a</i>"}'):
        result = by_task(text)
        assert (result["classification"].state, result["classification"].metrics) == ("unparsable", {"success": 0.0})
        assert not result["naming"].metrics
    fields = {"is_met": "Yes", "conceptual_metaphor": "X AXIS IS A ROAD", "text_hl": "<i>a</i>"}
    whole = by_task(json.dumps(fields | {"image_hl": {"left": 0.1, "top": 0.2, "width": 0.3, "height": 0.4}}))
    assert all(score.state == "ok" and score.metrics.get("success", 1) == 1 for score in whole.values())
    assert whole["image_bbox"].parsed == ("[0.2, 0.1, 0.4, 0.3]",)


@pytest.mark.parametrize("said", [("is_met: Discard", "ok"), (None, "refused"), ("?", "ok")])
def test_joint_answers_that_classify_nothing_count_against_success(demo: Files, said: Said) -> None:
    row = row_of("table5", graded(demo, but(said, task="joint")), demo)
    assert row["n"] == 0 and row["classification_success"] == 0 and row["comparable"] == "yes"
    assert [name for name in hummus.TABLES["table5"].columns if row.get(name) is not None] == ["classification_success"]
    assert (row["n_refused"], row["n_unparsable"]) == ((9, 0) if said[1] == "refused" else (0, 9))


PROMPTS_COLUMNS = ("prompts", "positive", "positive_sd", "negative", "average", "average_of_four", "average_of_four_sd")


def test_values_over_prompts(demo: Files) -> None:
    """Table 1's prompt is the fourth: right in all is 1 and no spread."""

    def two(request: Request, gold: Gold) -> Said:  # 7 of 9 are positive
        output = {"classification_glossed": ("Yes", "ok"), "classification_a_b": (None, "missing")}
        return output.get(request.task, (right(request, gold), "ok"))  # type: ignore[return-value]

    whole = graded(demo)
    for scores, expected in (
        (whole, (3, 1, 0, 1, 1, 1, 0)),
        ([score for score in whole if score.condition == "prompts"], (3, 1, 0, 1, 1, None, None)),
        ([score for score in whole if score.condition == "default"], (None,) * 7),
        (graded(demo, two), (2, (14 / 16 + 1) / 2, (1 - 14 / 16) / 2, 0.5, (7 / 16 + 1) / 2, None, None)),
    ):
        (row,) = table("table4", scores, demo).rows or [{}]
        assert tuple(map(row.get, PROMPTS_COLUMNS)) == pytest.approx(expected)


def test_figure5_counts_the_states_of_what_it_takes_from_prompts(demo: Files) -> None:
    failed = but((None, "failed"), task="classification_no_yes", item_id="nyc-combi-9006")  # no metaphor
    result = table("figure5", graded(demo, failed), demo)
    matches = {row["input"]: (row["n_failed"], row["comparable"]) for row in result.rows if row["model"] == "model"}
    assert matches == {"image": (1, "no"), "description": (0, "yes")}
    assert any("INCOMPLETE" in note and "1 of 9 items (input=image)" in note for note in result.notes)
    row = row_of("figure5", graded(demo, but(condition="prompts")), demo, input="image")
    assert row["n_missing"] == 0 and row.get("classification") is None


def test_fine_tuned_models_are_shown_beside_their_base(demo: Files) -> None:
    scores = graded(demo, lambda request, gold: (right(request, gold, "paper"), "ok"))
    base = Scored("base", "measured", "test", scores, ModelCard(name="base", engine="vllm"))
    card = ModelCard(name="tuned", engine="transformers", options={"adapter": "somewhere"}, base="base")
    tuned = Scored("tuned", "measured", "test", scores, card)
    items, golds = read_items(hummus, demo), read_golds(hummus, demo)
    result = tabulate(hummus.TABLES["table7"], [base, tuned], golds, items, demo)
    assert [(row["model"], row["setting"]) for row in result.rows] == [("base", "0-shot"), ("tuned", "fine-tuned")]
    held = sum(held_out(item.cluster) and bool(golds[name].values["labels"]["paper"]) for name, item in items.items())
    assert {row["n"] for row in result.rows} == {held} and {row["comparable"] for row in result.rows} == {"no"}
    result = tabulate(hummus.TABLES["table7"], [base], golds, items, demo)
    assert result.rows == [] and any("adapter" in note for note in result.notes)


@pytest.mark.parametrize(("scorer", "columns"), [("labse", {"cosine", "cosine_cased"}), ("minilm", {"cosine_minilm"})])
def test_printed_pairs_are_compared(demo: Files, root: Path, scorer: str, columns: set[str]) -> None:
    """In lower case, and as they are printed."""
    printed = [row for row in read_published(root / "config/published/hummus.csv") if row["table"] == "table9"]
    requests = [request for request in data_requests(demo, printed) if request.item_id == "table9"]
    assert len(requests) == 2 * len(printed) == 20
    assert sorted(texts_of(requests[0])) == ["gun", "pistol"] and sorted(texts_of(requests[1])) == ["Gun", "Pistol"]
    verdicts = {one.request_id: Verdict(scorer, response(one, str(at / 100))) for at, one in enumerate(requests)}
    rows = list(pair_rows(demo, printed, verdicts))
    assert rows[0].keys == {"output": "Gun", "reference": "Pistol"}
    values = [{name: found.point() for name, found in row.estimates.items()} for row in rows]
    assert all(set(one) == columns for one in values) and {row.model for row in rows} == {scorer}
    assert values[3] == ({"cosine": 0.06, "cosine_cased": 0.07} if scorer == "labse" else {"cosine_minilm": 0.06})
    failed = {one.request_id: Verdict(scorer, response(one, None, "failed")) for one in requests}
    assert not list(pair_rows(demo, printed, {})) and not list(pair_rows(demo, printed, failed))


def test_domains_of_image_and_caption(demo: Files) -> None:
    """By the nearest term: of the target domain, of the source, or neither where both are as near."""
    golds, requests = read_golds(hummus, demo), data_requests(demo, [])

    def shares(nearest: str, without: str = "") -> list[tuple[int, float | None]]:
        verdicts = {}
        for one in (one for one in requests if one.item_id != without):
            pairs = [re.split(" (?:is|are|has|have) ", m.lower()) for m in golds[one.item_id].values["metaphors"]]
            near = nearest != "neither" and texts_of(one)[1] in [pair[nearest == "source"] for pair in pairs]
            verdicts[one.request_id] = Verdict("minilm", response(one, "0.9" if near else "0.1"))
        rows = list(domain_rows(demo, [], verdicts))
        assert [row.keys["statistic"] for row in rows] == ["image_in_target_domain", "caption_in_source_domain"]
        return [(row.estimates["value_minilm"].n, row.estimates["value_minilm"].point()) for row in rows]

    assert shares("neither") == [(7, 0), (7, 0)]
    most = pytest.approx(100 * 6 / 7)  # one pair's metaphor is annotated both ways: each term is in both domains
    assert (shares("target"), shares("source")) == ([(7, most), (7, 0)], [(7, 0), (7, most)])
    assert shares("neither", without=ANNOTATED) == [(6, 0), (6, 0)]  # not compared
    assert list(domain_rows(demo, [], {})) == []
