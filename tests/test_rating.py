"""Rating studies: drawing, votes, even votes, exports, StripCipher's drafts. The pages: test_rating_pages.py."""

import itertools
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import cases
from tests.studies import MODELS, answer, drafted, drawn, fill, made, saved, write_run

from punchline.benchmarks.humorbench.labels import read_labelled
from punchline.benchmarks.humorbench.studies import label_rows
from punchline.benchmarks.pixelhumor import people
from punchline.core.benchmark import load, names, studies
from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv, write_bytes, write_text
from punchline.paths import Paths
from punchline.rating import drafts, outcome
from punchline.rating.assignment import assigned, drawing_order
from punchline.rating.draw import agreeing, draw_decision
from punchline.rating.votes import Sheet, Votes
from punchline.tables.ratings import read_ratings

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def answers() -> None:
    write_run()


def rows_of(path: str | Path) -> list[dict[str, str]]:
    return [cells for _, cells in parse_csv(Path(path).read_bytes(), (), file=path)]


def counting(sheet: Sheet) -> list[int]:
    return [place for place, unit in enumerate(sheet.units) if unit.kind == "counts"]


@given(
    st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60),
    st.integers(1, 9).flatmap(lambda raters: st.tuples(st.just(raters), st.integers(1, raters))),
    st.integers(0, 99),
)
def test_assignment_is_balanced_and_overlaps(groups: list[str], of: tuple[int, int], seed: int) -> None:
    raters, overlap = of
    own = assigned(groups, raters, overlap, seed)
    assert own == assigned(groups, raters, overlap, seed)
    assert Counter(itertools.chain(*own)) == dict.fromkeys(range(len(groups)), overlap)
    assert all(len(set(units)) == len(units) for units in own)
    assert max(map(len, own)) - min(map(len, own)) <= 1
    for group in set(groups):
        counts = [sum(groups[unit] == group for unit in units) for units in own]
        assert max(counts) - min(counts) <= 2


@given(st.dictionaries(st.text("xyz", min_size=1), st.sampled_from("abc"), min_size=1), st.integers(1, 20))
def test_items_are_drawn_evenly(sources: dict[str, str], count: int) -> None:
    order = drawing_order(sources, 0)
    assert order == drawing_order(dict(sorted(sources.items())), 0)
    result = order[:count]
    assert len(set(result)) == len(result) == min(count, len(sources))
    drawn, there = Counter(sources[item] for item in result), Counter(sources.values())
    assert all(drawn[source] >= min(there[source], max(drawn.values()) - 1) for source in there)


def test_pairs_of_raters_vary() -> None:
    own = assigned(["a"] * 60, 4, 2, 0)
    assert len({frozenset(rater for rater in range(4) if unit in own[rater]) for unit in range(60)}) == 6


def test_a_study_is_the_same_for_its_seed_and_practises_on_other_comics(answers: None) -> None:
    sheet, seats = drawn("relevance", raters=3, items=5, seed=4)
    assert (sheet, seats) == drawn("relevance", raters=3, items=5, seed=4)
    assert sheet.digest != drawn("relevance", raters=3, items=5, seed=5)[0].digest
    counted = {unit.item_id for unit in sheet.units if unit.kind == "counts"}
    practice = [unit.item_id for unit in sheet.units if unit.kind == "practice"]
    assert (len(counted), len(practice)) == (5, 2) and not counted & set(practice)
    for own in seats.values():
        kinds = [sheet.units[unit].kind for unit in own]
        assert kinds[:2] == ["practice", "practice"] and kinds.count("check") == 1
    assert not any("<think>" in text.text for unit in sheet.units for text in unit.texts)


@pytest.mark.parametrize(("study", "more", "expected"), cases(__file__, "refused"))
def test_studies_that_cannot_be_drawn(answers: None, study: str, more: dict[str, Any], expected: str) -> None:
    with pytest.raises(PunchlineError) as error:
        drawn(study, **{"raters": 3, **more})
    assert expected in str(error.value)


def test_a_study_is_never_overwritten(answers: None) -> None:
    study = saved(drawn("relevance"))
    with pytest.raises(PunchlineError, match="the study exists"):
        saved((study.sheet, {}))
    for content in (b"no database" * 100, b""):
        Path("data/ratings/other.sqlite").write_bytes(content)
        with pytest.raises(PunchlineError, match="not a readable study"):
            Votes("data/ratings/other.sqlite")
    Path("images/comic.png").unlink()
    with pytest.raises(PunchlineError, match=r"images/comic\.png: the picture is missing"):
        drawn("relevance")


def test_every_declaration_names_existing_tables_and_tasks() -> None:
    for benchmark in names():
        for study in studies(benchmark).values():
            assert set(study.feeds) <= set(load(benchmark).TABLES)
            assert set(study.tasks) <= set(load(benchmark).TASKS)
            assert set(study.tasks.values()) == set(study.questions)


def test_an_export_has_all_votes_and_keeps_other_rows(answers: None) -> None:
    votes = made(overlap=2)
    with pytest.raises(PunchlineError, match="nothing to export yet"):
        outcome.export(votes, Path("out.csv"))
    fill(votes, lambda index, rater: str({"1": 1, "2": 3}[rater] + index % 4))
    Path("out.csv").write_text("item_id,source,rater,score\n7,someone,ann,3\n")
    assert outcome.export(votes, Path("out.csv")) == (30, 1)
    assert outcome.export(votes, Path("out.csv")) == (30, 1)  # again: the same rows, once
    scores, choices = read_ratings(Path("out.csv").read_bytes(), "out.csv", scale=(1, 7))
    expected = {
        (unit.item_id, unit.texts[0].source, rater): add + index % 4
        for index, unit in enumerate(votes.sheet.units)
        if unit.kind == "counts"
        for rater, add in (("1", 1), ("2", 3))
    } | {("7", "someone", "ann"): 3}
    assert {(one.item_id, one.source, one.rater): one.score for one in scores} == expected and choices == []
    assert {row["sheet"] for row in rows_of("out.csv")} == {"", votes.version}
    done = [{name: row[name] for name in ("rated", "of", "checks", "passed")} for row in outcome.progress(votes)]
    assert done == [{"rated": 15, "of": 15, "checks": 1, "passed": 1}] * 2
    with pytest.raises(PunchlineError, match="points on a scale: there is nothing to decide"):
        draw_decision(votes)
    (row,) = outcome.agreement(votes)
    assert row["rated by several"] == 15 and row["lo"] <= row["alpha"] <= row["hi"]
    answer("hal-9000", "Now it is another answer")
    with pytest.raises(PunchlineError, match="another answer of hal-9000 was rated than run default has now"):
        outcome.export(votes, Path("out.csv"))


def test_yesbuts_aspects_and_humorbenchs_labels(answers: None) -> None:
    votes = made("texts", raters=1)
    fill(votes, lambda index, _: "4")
    assert {row["alpha"] for row in outcome.agreement(votes)} == {None}  # one rater: nothing to agree on
    outcome.export(votes, Path("out.csv"))
    scores, _ = read_ratings(Path("out.csv").read_bytes(), "out.csv", scale=(1, 5))
    assert list(Counter((one.about["task"], one.about["aspect"]) for one in scores).values()) == [15] * 5
    votes = made("elements")
    fill(votes, lambda index, _: "PASS" if index % 2 else "FAIL")
    assert outcome.target(votes) == Path("config/humorbench/human_labels.csv")
    assert outcome.export(votes, Path("labels.csv")) == (15, 0)
    annotations = csv_text(("caption", "element"), [{"caption": "c", "element": str(n)} for n in range(8)])
    labelled = read_labelled(Path("labels.csv").read_bytes(), "labels.csv", annotations.encode())
    assert {one.explainer for one in labelled} == set(MODELS)
    assert outcome.agreement(votes)[0]["alpha"] == 1
    one = {"item_id": "1", "source": "m", "value": "PASS", "text": "t", "rater": "ann", "time": "2026", "sheet": "s"}
    bob, eve = one | {"rater": "bob", "value": "FAIL"}, one | {"rater": "eve"}
    assert [*label_rows([one, bob])] == []  # even raters give no label
    (row,) = label_rows([one, bob, eve])
    assert (row["label"], row["rater"]) == ("PASS", "ann bob eve")


def test_one_more_rater_decides_even_votes(answers: None) -> None:
    votes = made("preference")
    counts = counting(votes.sheet)
    fill(votes, lambda index, _: "0", "1")
    with pytest.raises(PunchlineError, match=r"preference\.sqlite: no votes are even .* rate status"):
        draw_decision(votes)  # the other has not rated yet
    fill(votes, lambda index, _: "1" if index in counts[:3] else "0", "2")
    outcome.export(votes, Path("out.csv"))
    decision = saved(draw_decision(votes), "decide")
    kinds = [decision.sheet.units[unit].kind for unit in decision.seats("3")]
    assert kinds[:2] == ["practice", "practice"] and sorted(kinds[2:]) == ["check", "counts", "counts", "counts"]
    assert (decision.raters(), decision.sheet.study, decision.sheet.models) == (["3"], "preference", MODELS)
    for place, index in zip(counting(decision.sheet), counts[:3], strict=True):  # "from the chosen explanations"
        assert decision.sheet.units[place].texts == votes.sheet.units[index].texts[:2]
    fill(decision, lambda index, _: "1")
    assert outcome.export(decision, Path("out.csv")) == (3, 10)
    _, choices = read_ratings(Path("out.csv").read_bytes(), "out.csv")
    assert Counter(Counter(one.item_id for one in choices).values()) == {2: 2, 3: 3}
    third = {one.source for one in choices if one.rater == "3"}
    assert third == {votes.sheet.units[counts[0]].texts[1].source}


def test_three_raters_may_be_even_too(answers: None) -> None:
    for study, value, texts in (
        ("preference", lambda _, rater: str(int(rater) - 1), [3] * 5),
        ("elements", lambda index, rater: "PASS" if index < 6 and rater == "1" else "FAIL", []),
    ):
        votes = made(study, raters=3, overlap=3)
        fill(votes, value)
        assert [len(unit.texts) for unit in outcome.even(votes)] == texts


STRIP = '{"item_id": "s1", "source": "a", "frames": 4, "boxes": null, "texts": null, "credit": "c", "licence": "l"}'
STRIPS = Path("strips.json")
KEPT = ["", "answer", "distractor", "distractor", "distractor", ""]
OTHER = ["", "answer", "distractor", "distractor", "", "distractor"]
NONE = [""] * 6


def review(uses: list[str], words: str = "=Ends", category: str = "") -> dict[str, str]:
    answers = {f"use-{n}": use for n, use in enumerate(uses)} | {f"text-{n}": f"{words} {n}" for n in range(len(uses))}
    return answers | ({"category": category} if category else {})


def reviewed(*reviews: dict[str, str]) -> Votes:
    """A study of a strip's six drafts, with a review by each rater."""
    votes = drafted()
    for rater, answers in enumerate(reviews, start=1):
        votes.vote(str(rater), 0, answers, "")
    STRIPS.write_text(f"[{STRIP}]")
    write_text("images/comic.png", "")
    return votes


@pytest.mark.parametrize(
    ("reviews", "expected", "even"),
    [
        ([review(KEPT)], None, 0),  # an inspector is yet to come
        ([review(KEPT), review(KEPT, "=ends ")], ["=Ends 1", "=Ends 2", "=Ends 3", "=Ends 4"], 0),
        ([review(NONE), review(NONE)], None, 0),
        ([review(KEPT), review(NONE)], None, 1),
        ([review(KEPT), review(OTHER)], None, 1),
        ([review(KEPT), review(KEPT, category="Humorous")], None, 1),
    ],
)
def test_inspectors_accept_texts(reviews: list[dict[str, str]], expected: list[str] | None, even: int) -> None:
    votes = reviewed(*reviews)
    assert drafts.export(votes, STRIPS) == (int(expected is not None), even)
    texts = json.loads(STRIPS.read_bytes())[0]["texts"]
    assert (texts and texts["comprehension"]["options"]) == expected
    assert len(outcome.even(votes)) == even


def test_a_third_inspector_decides_among_used_drafts() -> None:
    votes = reviewed(review(KEPT, category="Critical"), review(OTHER, "=ENDS"))
    with pytest.raises(PunchlineError, match="no page is accepted"):
        draw_decision(votes, verify=True)
    decision = saved(draw_decision(votes), "decide")
    (unit,) = decision.sheet.units
    assert [text.text for text in unit.texts] == ["=Ends 1", "=Ends 2", "=Ends 3", "=Ends 4", "=ENDS 5"]
    decision.vote("3", 0, review(["answer", "distractor", "", "distractor", "distractor"], "End", "Touching"), "")
    Path("annotations.csv").write_text("path,url,sha256,bytes,licence,mirror\nstrips.json,u,0,0,,\n")
    assert drafts.export(decision, STRIPS) == (1, 0)
    texts = json.loads(STRIPS.read_bytes())[0]["texts"]
    assert (texts["comprehension"]["answer"], texts["category"]) == ("End 0", "Touching")
    assert rows_of("annotations.csv")[0]["bytes"] == str(STRIPS.stat().st_size)


@pytest.mark.parametrize(("used", "unchanged"), [(["answer", *["distractor"] * 3], 1), ([""] * 4, 0)])
def test_a_tenth_of_accepted_drafts_is_verified_by_one_more_rater(used: list[str], unchanged: int) -> None:
    votes = reviewed(review(KEPT), review(KEPT))
    assert drafts.unchanged(votes) == 0  # they left out two of six drafts
    check = saved(draw_decision(votes, verify=True), "verify")
    (unit,) = check.sheet.units
    shown = [(text.kind, text.text) for text in unit.texts]
    assert shown == [("answer", "=Ends 1"), *(("distractor", f"=Ends {n}") for n in (2, 3, 4))]
    texts = {f"text-{n}": text for n, (_, text) in enumerate(shown)}
    check.vote("3", 0, {f"use-{n}": use for n, use in enumerate(used)} | texts, "")
    assert drafts.unchanged(check) == unchanged


def test_a_study_of_drafts_of_version_0_1_is_read_and_exported(root: Path) -> None:
    with sqlite3.connect("old.sqlite") as file:
        file.executescript((root / "tests/old_drafts.sql").read_text())
    votes = Votes("old.sqlite")
    assert votes.version == "454631ad839a8537"
    STRIPS.write_text(f"[{STRIP}]")
    assert drafts.export(votes, STRIPS) == (1, 0)
    assert json.loads(STRIPS.read_bytes())[0]["texts"]["prediction"]["answer"] == "=Ends 1"


def test_comics_of_high_agreement(root: Path, answers: None) -> None:
    votes = (root / "data/demo/pixelhumor" / people.ANNOTATIONS).read_bytes()
    write_bytes(Paths().raw("pixelhumor", people.ANNOTATIONS), votes)
    agreed = agreeing(Paths(), "pixelhumor")  # strip_15 is disputed in two questions, uneven_7 in none
    assert len(agreed) == 53 and "uneven_7" in agreed and "strip_15" not in agreed
    with pytest.raises(PunchlineError, match="no votes on yesbut"):
        agreeing(Paths(), "yesbut")
    with pytest.raises(PunchlineError, match="no item has a text to rate"):
        drawn("relevance", agreed=True)  # none of the run's comics is in the file
