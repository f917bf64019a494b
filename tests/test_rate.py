"""Rating pages: who rates what, what is sent, what is kept. The votes' journey to a table: e2e/test_rate.py."""

import itertools
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.ran import full_disk
from tests.records import response, together
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from punchline.benchmarks import humorbench, pixelhumor, yesbut
from punchline.benchmarks.humorbench.labels import read_labelled
from punchline.benchmarks.humorbench.studies import label_rows
from punchline.benchmarks.stripcipher.review import Draft
from punchline.benchmarks.stripcipher.review import reviewed as accepted
from punchline.benchmarks.stripcipher.review import sheet as draft_sheet
from punchline.benchmarks.study import Vote
from punchline.core.benchmark import load, names, studies
from punchline.core.storage import write_table
from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv, write_bytes, write_records, write_text
from punchline.paths import Paths
from punchline.people import drafts, outcome
from punchline.people.assignment import assigned, chosen, shown_order, with_checks
from punchline.people.decide import one_more, undecided
from punchline.people.drawing import declared, draw_up, written
from punchline.people.pages import MOST, application
from punchline.people.votes import Votes
from punchline.schema import Gold, ImageRef, Item, Request, Response
from punchline.tables.ratings import read_ratings

MODELS = ("hal-9000", "deep-thought", "wintermute")
HOST = "http://rate.test"
HOSTILE = "<script>alert(1)</script> <b onclick=x>\u202e\x1b[31m"


def answers(model: str, saying: str = "It is funny") -> None:
    """What a model said to question 6 of eight comics, and to the others' description."""
    for benchmark in (pixelhumor, yesbut, humorbench):
        asked = asked_of(benchmark.NAME)
        number = MODELS.index(model)
        text = f"<think>I am {model}.</think>{saying}, says voice {number} {HOSTILE}"
        said = [response(r, text) for r in asked]
        write_table(f"data/responses/{benchmark.NAME}/{model}.parquet", said, Response)


def items_of(benchmark: str) -> list[Item]:
    image = ImageRef(path="images/comic.png", sha256="0" * 64, width=1, height=1)
    about: dict[str, Any] = {"benchmark": benchmark, "images": (image,) if benchmark != "humorbench" else ()}
    fields = [{"description": f"scene {n}", "caption": f"caption {n}"} for n in range(8)]
    return [Item(item_id=str(n), source="ab"[n % 2], cluster=str(n), fields=fields[n], **about) for n in range(8)]


def asked_of(benchmark: str) -> list[Request]:
    tasks = {task for study in studies(benchmark).values() for task in study.tasks}
    return [r for item in items_of(benchmark) for r in load(benchmark).requests(item) if r.task in tasks]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of three models on eight comics of three benchmarks, in the working folder."""
    monkeypatch.chdir(tmp_path)
    for benchmark in ("pixelhumor", "yesbut", "humorbench"):
        items = items_of(benchmark)
        golds = []
        for item_id in (item.item_id for item in items):
            harm = "harm" if item_id == "0" else "non-harm"
            values = {"element": f"point {item_id}", "potentially_harmful": harm}
            golds.append(Gold(benchmark=benchmark, item_id=item_id, values=values))
        write_records(f"data/items/{benchmark}/items.jsonl", items)
        write_records(f"data/items/{benchmark}/gold.jsonl", golds)
        write_table(f"data/requests/{benchmark}.parquet", asked_of(benchmark), Request)
    for model in MODELS:
        answers(model)
    write_bytes("images/comic.png", b"\x89PNG\r\n\x1a\n")
    write_text("Snakefile", "")
    write_text("config/run.yaml", "")
    return tmp_path


def made(name: str = "relevance", raters: int = 2, **more: int) -> Votes:
    sheet, seats = draw_up(Paths(), name, MODELS, raters=raters, **{"seed": 1, "items": 5, **more})  # type: ignore[arg-type]
    return Votes.make(f"data/ratings/{sheet.benchmark}/{sheet.study}.sqlite", sheet, seats)


def client(votes: Votes, rater: str | None = None) -> TestClient:
    """A browser; with a rater's link opened."""
    opened = TestClient(application(votes, ["rate.test"]), base_url=HOST, raise_server_exceptions=False)
    opened.headers["origin"] = HOST
    if rater is not None:
        assert opened.get(f"/r/{votes.new_secret(rater)}").status_code == 200
    return opened


def fill(votes: Votes, rater: str, value: Callable[[int], str], http: TestClient | None = None) -> None:
    """Answer every page; checks rightly."""
    http = http or client(votes, rater)
    for place, index in enumerate(votes.seats(rater), 1):
        unit = votes.sheet.units[index]
        asks = votes.sheet.questions[unit.task]
        said = unit.right if unit.kind == "check" else value(index)
        sent = http.post(f"/items/{place}", data={f"answer-{ask.aspect}": said for ask in asks})
        assert sent.status_code == 200, sent.text


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
    found = chosen(sources, count, 0)
    assert found == chosen(dict(sorted(sources.items())), count, 0)
    assert len(set(found)) == len(found) == min(count, len(sources))
    drawn, there = Counter(sources[item] for item in found), Counter(sources.values())
    assert all(drawn[source] >= min(there[source], max(drawn.values()) - 1) for source in there)


@given(st.lists(st.integers(0, 99), min_size=1, max_size=50, unique=True), st.integers(1, 4))
def test_every_stretch_has_its_check(units: list[int], checks: int) -> None:
    found = with_checks(units, range(100, 100 + checks), "1", 0)
    assert [unit for unit in found if unit < 100] == units
    assert [unit for unit in found if unit >= 100] == list(range(100, 100 + checks))


def test_pairs_of_raters_mix() -> None:
    own = assigned(["a"] * 60, 4, 2, 0)
    pairs = {frozenset(rater for rater in range(4) if unit in own[rater]) for unit in range(60)}
    assert len(pairs) == 6
    assert len({tuple(shown_order(3, "1", unit, 0)) for unit in range(60)}) == 6


def test_a_study_is_the_same_for_its_seed_and_practises_on_other_comics(run: Path) -> None:
    sheet, seats = draw_up(Paths(), "relevance", MODELS, raters=3, seed=4, items=5)
    assert (sheet, seats) == draw_up(Paths(), "relevance", MODELS, raters=3, seed=4, items=5)
    assert sheet.digest != draw_up(Paths(), "relevance", MODELS, raters=3, seed=5, items=5)[0].digest
    counted = {unit.item_id for unit in sheet.units if unit.kind == "counts"}
    practice = [unit.item_id for unit in sheet.units if unit.kind == "practice"]
    assert (len(counted), len(practice)) == (5, 2) and not counted & set(practice)
    for own in seats.values():
        kinds = [sheet.units[unit].kind for unit in own]
        assert kinds[:2] == ["practice", "practice"] and kinds.count("check") == 1
    assert not any("<think>" in text.text for unit in sheet.units for text in unit.texts)


@pytest.mark.parametrize(
    ("study", "more", "expected"),
    [
        ("relevanze", {}, "no study 'relevanze'. Did you mean 'pixelhumor/relevance'"),
        ("relevance", {"overlap": 4}, "4 raters a text of 3 raters. --overlap goes from 1 to --raters, 3"),
        ("relevance", {"overlap": 0}, "--overlap goes from 1"),
        ("relevance", {"items": 1, "raters": 9, "overlap": 2}, "3 would have none. --raters 6 at most"),
        ("preference", {"models": MODELS[:1]}, "no item has two texts to choose from and a picture"),
        ("relevance", {"models": ["hal-9"]}, "the model has no answers. Did you mean 'hal-9000'"),
        ("relevance", {"texts": ("t.csv", b"item_id,source,text\n99,Human,x\n")}, "t.csv, line 2, record 99"),
        ("relevance", {"texts": ("t.csv", b"item_id,source,text\n1,Human,\n")}, "field text: the cell is empty"),
        ("texts", {"texts": ("t.csv", b"item_id,source,text\n1,Human,x\n")}, "unknown task ''"),
    ],
)
def test_what_cannot_be_drawn_up_is_said(run: Path, study: str, more: dict[str, object], expected: str) -> None:
    with pytest.raises(PunchlineError) as error:
        draw_up(Paths(), study, **{"models": MODELS, "raters": 3, "seed": 0, **more})  # type: ignore[arg-type]
    assert expected in str(error.value)


def test_models_without_an_answer_are_said_with_the_way_out(run: Path) -> None:
    asked = asked_of("pixelhumor")
    for state, hint in (
        ("missing", "Select models that answer it: snakemake --cores all responses --config 'models=[NAME]'"),
        ("failed", f"punchline retry asks the {len(items_of('pixelhumor'))} again that failed"),
    ):
        said = [response(r, None, state) for r in asked]  # type: ignore[arg-type]
        write_table("data/responses/pixelhumor/silent.parquet", said, Response)
        with pytest.raises(PunchlineError) as error:
            draw_up(Paths(), "relevance", ["silent"], raters=1, seed=0)
        assert "no answer to Q6 of silent (8 were asked for)" in str(error.value) and hint in str(error.value)
    Path("data/items/yesbut/items.jsonl").unlink()
    with pytest.raises(PunchlineError, match=r"snakemake --cores all responses --config 'benchmarks=\[yesbut\]'"):
        draw_up(Paths(), "yesbut/texts", MODELS, raters=1, seed=0)


def test_a_study_is_never_written_over(run: Path) -> None:
    made()
    with pytest.raises(PunchlineError, match="the study is there already"):
        made()
    Path("data/ratings/pixelhumor/other.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(PunchlineError, match="no study can be read in it"):
        Votes("data/ratings/pixelhumor/other.sqlite")
    Path("images/comic.png").unlink()
    with pytest.raises(PunchlineError, match=r"images/comic\.png: the picture is not there"):
        draw_up(Paths(), "relevance", MODELS, raters=1, seed=0)


def test_every_declaration_names_tables_and_tasks_that_there_are() -> None:
    for benchmark in names():
        for name in studies(benchmark):
            study = declared(f"{benchmark}/{name}")[2]
            assert set(study.feeds) <= set(load(benchmark).TABLES)
            assert set(study.tasks) <= set(load(benchmark).TASKS)
            assert set(study.tasks.values()) == set(study.questions)


@pytest.mark.parametrize("name", ["relevance", "preference", "texts", "elements"])
def test_nothing_that_is_sent_names_a_model(run: Path, name: str) -> None:
    votes = made(name)
    for rater in ("1", "2"):
        http = client(votes, rater)
        sent = [http.get("/")]
        for place in range(1, len(votes.seats(rater)) + 1):
            sent += [http.get(f"/items/{place}"), http.get(f"/pictures/{place}")]
            sent.append(http.post(f"/items/{place}", data={}))
        fill(votes, rater, lambda _: votes.sheet.options[0][0] if votes.sheet.options else "0", http)
        sent.append(http.get("/"))
        assert any("voice 0" in reply.text for reply in sent)
        for reply in sent:
            everything = f"{reply.url}{dict(reply.headers)}{reply.text}".lower()
            assert not any(word in everything for model in MODELS for word in (model, "think", "images/"))
            assert "<script>alert" not in reply.text and "\x1b" not in reply.text
            policy = reply.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy


def test_the_order_of_texts_says_nothing(run: Path) -> None:
    votes = made("preference", raters=2, items=8, seed=3)
    http = client(votes, "1")
    first = Counter()
    for place, index in enumerate(votes.seats("1"), 1):
        if votes.sheet.units[index].kind == "counts":
            said = re.findall(r"voice (\d)", http.get(f"/items/{place}").text)
            assert said == re.findall(r"voice (\d)", http.get(f"/items/{place}").text)
            first[said[0]] += 1
    assert len(first) > 1


def test_without_a_link_nothing_is_sent_and_nothing_is_taken(run: Path) -> None:
    votes = made()
    known = client(votes, "1")
    nobody = client(votes)
    for path in ("/", "/items/1", "/pictures/1", "/r/guess", "/r/" + "x" * 5000):
        assert nobody.get(path).status_code == 403
    assert nobody.post("/items/1", data={"answer-": "3"}).status_code == 403
    nobody.cookies.set(f"rater_{votes.version}", "1")
    assert nobody.get("/").status_code == 403
    elsewhere = [{"origin": origin} for origin in ("http://evil.test", "null", "")]
    for headers in (*elsewhere, *({"origin": HOST, "sec-fetch-site": f"{site}-site"} for site in ("cross", "same"))):
        assert known.post("/items/1", data={"answer-": "3"}, headers=headers).status_code == 403
    del known.headers["origin"]
    assert known.post("/items/1", data={"answer-": "3"}).status_code == 403
    assert known.get("/", headers={"host": "evil.test"}).status_code == 400
    assert votes.given() == {}
    known.headers["origin"] = HOST
    assert known.post("/items/1", data={"answer-": "3"}).status_code == 200
    votes.new_secret("1")  # the link is replaced
    assert known.get("/").status_code == 403


def test_the_cookie_is_kept_from_scripts_and_other_sites_and_the_file_holds_no_secret(run: Path) -> None:
    votes = made()
    secret = votes.new_secret("1")
    http = client(votes)
    reply = http.get(f"/r/{secret}", follow_redirects=False)
    assert reply.status_code == 303
    assert {"HttpOnly", "SameSite=lax"} <= set(reply.headers["set-cookie"].split("; "))
    http.get("/")
    stored = b"".join(path.read_bytes() for path in Path("data/ratings/pixelhumor").iterdir())
    assert secret.encode() not in stored


def test_behind_a_server_with_tls_votes_count_and_the_cookie_is_secure(run: Path) -> None:
    votes = made()
    http = TestClient(ProxyHeadersMiddleware(application(votes, ["*"])), base_url=HOST, client=("127.0.0.1", 1))  # type: ignore[arg-type]
    http.headers.update({"x-forwarded-proto": "https"})
    reply = http.get(f"/r/{votes.new_secret('1')}", follow_redirects=False)
    cookie, *flags = reply.headers["set-cookie"].split("; ")
    assert "Secure" in flags
    own = {"cookie": cookie, "origin": HOST.replace("http:", "https:"), "sec-fetch-site": "same-origin"}
    for origin, status in ((HOST, 403), (own["origin"], 303)):
        sent = http.post("/items/1", data={"answer-": "4"}, headers=own | {"origin": origin}, follow_redirects=False)
        assert sent.status_code == status
    assert len(votes.given()) == 1


def test_back_and_forth_changing_and_coming_back(run: Path) -> None:
    votes = made()
    http = client(votes, "1")
    assert 'href="/items/1"' in http.get("/").text
    said = http.post("/items/1", data={"answer-": "3", "note": HOSTILE + "\r\nx" * 3000})
    assert str(said.url) == f"{HOST}/items/2"  # the next
    again = http.get("/items/1")
    assert re.search(r'value="3"[^>]*checked', again.text)
    assert "Saved" in again.text
    assert "<script>alert" not in again.text
    http.post("/items/1", data={"answer-": "6"})
    http.post("/items/4", data={"answer-": "2"})
    later = client(votes, "1")  # another browser, a new link
    assert '<a class="button" id="go" href="/items/2"' in later.get("/").text
    assert http.get("/").status_code == 403
    http = later
    rater = {unit: one.answers[""] for (_, unit), one in votes.given("1").items()}
    seats = votes.seats("1")
    assert rater == {seats[0]: "6", seats[3]: "2"}
    wrong = http.post("/items/2", data={"answer-": "8", "note": "kept"})
    assert wrong.status_code == 422
    assert "Nothing is saved" in wrong.text
    assert "kept</textarea>" in wrong.text
    items = ("/items/0", "/items/999", f"/items/{'9' * 5000}", "/items/²")
    for path in (*items, "/pictures/99", f"/pictures/{'9' * 5000}", "/static/../pages.py", "/nothing"):
        assert http.get(path).status_code == 404
    assert http.post("/items/1", content=b"answer-=1&note=" + b"x" * MOST).status_code == 413
    unreadable = http.post("/items/1", content=b"\xff\xfe&a=")
    assert unreadable.status_code == 400 and "cannot be read" in unreadable.text


def test_a_rater_sees_their_own_votes_only_and_two_rate_at_once(run: Path) -> None:
    votes = made(raters=2, overlap=2)
    both = {rater: client(votes, rater) for rater in ("1", "2")}
    scores = {"1": "2", "2": "7"}
    together(*(partial(fill, votes, rater, lambda _, own=scores[rater]: own, http) for rater, http in both.items()))
    assert len(votes.given()) == sum(len(votes.seats(rater)) for rater in both)
    for rater, http in both.items():
        for place, index in enumerate(votes.seats(rater), 1):
            if votes.sheet.units[index].kind != "check":
                checked = re.findall(r'value="(\d)"[^>]*checked', http.get(f"/items/{place}").text)
                assert checked == [scores[rater]]
        assert "Thank you" in http.get("/").text


def test_export_is_what_was_voted_and_keeps_what_was_there(run: Path) -> None:
    votes = made(raters=2, overlap=2)
    with pytest.raises(PunchlineError, match="nothing to export yet"):
        outcome.export(votes, Path("out.csv"))
    for rater, add in (("1", 1), ("2", 3)):
        fill(votes, rater, lambda index, add=add: str(add + index % 4))
    Path("out.csv").write_text("item_id,source,rater,score\n7,someone,ann,3\n")
    assert outcome.export(votes, Path("out.csv")) == (30, 1)
    assert outcome.export(votes, Path("out.csv")) == (30, 1)  # again: the same, once
    scores, choices = read_ratings(Path("out.csv").read_bytes(), "out.csv", scale=(1, 7))
    assert choices == []
    expected = {
        (unit.item_id, unit.texts[0].source, rater): add + index % 4
        for index, unit in enumerate(votes.sheet.units)
        if unit.kind == "counts"
        for rater, add in (("1", 1), ("2", 3))
    } | {("7", "someone", "ann"): 3}
    assert {(one.item_id, one.source, one.rater): one.score for one in scores} == expected
    rows = [row for _, row in parse_csv(Path("out.csv").read_bytes(), ("time", "sheet"), file="out.csv")]
    assert {row["sheet"] for row in rows} == {"", votes.version}
    done = outcome.progress(votes)
    assert [(p.rated, p.of, p.checks, p.passed) for p in done] == [(15, 15, 1, 1)] * 2
    (agreed,) = outcome.agreement(votes)
    assert agreed.units == 15 and None not in (agreed.lo, agreed.alpha, agreed.hi)
    assert agreed.lo <= agreed.alpha <= agreed.hi  # type: ignore[operator]
    answers("hal-9000", "Now it is another answer")
    with pytest.raises(PunchlineError, match=r"other answers than run default has now: 5, the first that of hal-9000"):
        outcome.export(votes, Path("out.csv"))


def test_choices_are_exported_as_the_source_that_was_chosen(run: Path) -> None:
    by_people = [{"item_id": str(n), "source": "Human", "text": "A pun"} for n in (1, 2, 5)]
    write_text("people.csv", csv_text(("item_id", "source", "text"), by_people))
    texts = ("people.csv", Path("people.csv").read_bytes())
    sheet, seats = draw_up(Paths(), "preference", MODELS, raters=3, seed=1, texts=texts)
    votes = Votes.make("data/ratings/pixelhumor/preference.sqlite", sheet, seats)
    for rater in seats:
        fill(votes, rater, lambda index: str(len(sheet.units[index].texts) - 1))
    outcome.export(votes, Path("out.csv"))
    _, choices = read_ratings(Path("out.csv").read_bytes(), "out.csv")
    last = sorted(MODELS)[-1]
    about = {(str(n), last) for n in (1, 2, 5)}  # comics that people wrote about; "Human" sorts before "wintermute"
    assert {(one.item_id, one.source) for one in choices} == about
    rated = [unit for unit in sheet.units if unit.kind == "counts"]
    assert all("Human" in {text.source for text in unit.texts} for unit in rated)


def test_one_more_rater_decides_what_is_even(run: Path) -> None:
    votes = made("preference", raters=2)
    counts = [place for place, unit in enumerate(votes.sheet.units) if unit.kind == "counts"]
    even = counts[:3]
    with pytest.raises(PunchlineError, match=r"preference\.sqlite: nothing is undecided .* rate status"):
        one_more(votes)
    fill(votes, "1", lambda _: "0")
    assert undecided(votes) == {}  # the other has not rated yet
    fill(votes, "2", lambda index: "1" if index in even else "0")
    assert undecided(votes) == {unit: {"0", "1"} for unit in even}
    running = client(votes)  # before the third was seated
    assert one_more(votes) == ("3", 3)
    assert undecided(votes) == {}  # somebody is at it
    kinds = [votes.sheet.units[unit].kind for unit in votes.seats("3")]
    assert sorted(kinds) == ["check", "counts", "counts", "counts", "practice", "practice"]
    assert kinds[:2] == ["practice", "practice"] and sorted(set(votes.seats("3")) & set(counts)) == even
    assert running.get(f"/r/{votes.new_secret('3')}").status_code == 200
    aspect = votes.sheet.questions[votes.sheet.units[even[0]].task][0].aspect
    for place, unit in enumerate(votes.seats("3"), 1):  # among the chosen ones (section 5.4)
        texts = ["0", "1"] if unit in even else [str(n) for n in range(len(votes.sheet.units[unit].texts))]
        page = running.get(f"/items/{place}").text
        assert sorted(re.findall(f'name="answer-{aspect}" value="(\\d+)"', page)) == texts
        sent = running.post(f"/items/{place}", data={f"answer-{aspect}": "2"})
        assert sent.status_code == (422 if unit in even else 200)
    fill(votes, "3", lambda _: "1", running)
    assert undecided(votes) == {}
    outcome.export(votes, Path("out.csv"))
    _, choices = read_ratings(Path("out.csv").read_bytes(), "out.csv")
    assert Counter(Counter(one.item_id for one in choices).values()) == {2: 2, 3: 3}
    with pytest.raises(PunchlineError, match="there is a rater 3 already"):
        votes.seat("3", [])


def test_a_harmful_comic_is_blurred_until_asked_for(run: Path) -> None:
    votes = made("relevance", raters=1, items=8)
    http = client(votes, "1")
    blurred = {
        votes.sheet.units[unit].item_id
        for place, unit in enumerate(votes.seats("1"), 1)
        if '<figure class="blurred">' in http.get(f"/items/{place}").text
    }
    assert blurred == {"0"}
    sheet = msgspec.json.encode(votes.sheet)
    assert b'"blurred":true' in sheet and b'"blurred":false' not in sheet


def test_raters_who_stay_even_get_one_more(run: Path) -> None:
    votes = made("preference", raters=3, overlap=3)
    for rater in votes.raters():
        fill(votes, rater, lambda _, own=rater: str(int(own) - 1))
    three = undecided(votes)
    assert set(map(frozenset, three.values())) == {frozenset("012")}
    one_more(votes)
    fill(votes, "4", lambda index: sorted(three.get(index, "0"))[0])
    assert undecided(votes) == {}


def test_people_write_explanations_that_others_then_rate(run: Path) -> None:
    """Table 7's source Human: written beside the comic, exported, and rated on the same comics."""
    votes = made("explanations", items=4)
    units = [unit for unit in votes.sheet.units if unit.kind == "counts"]
    assert len({unit.item_id for unit in units}) == 4 and not votes.sheet.models
    assert not any(unit.kind == "check" for unit in votes.sheet.units)
    seats = [index for rater in votes.raters() for index in votes.seats(rater)]
    counts = [index for index, unit in enumerate(votes.sheet.units) if unit.kind == "counts"]
    assert sorted(index for index in seats if index in counts) == counts
    opened = client(votes, "1")
    page = opened.get("/items/1").text
    assert "<textarea" in page and "<blockquote" not in page and 'type="radio"' not in page
    refused = opened.post("/items/1", data={"answer-": " \r\n "})
    assert refused.status_code == 422 and "a question has no answer" in refused.text and not votes.given()
    hostile = "=1+1 & <script>alert(1)</script>\r\nIt stands on its head"
    fill(votes, "1", lambda index: f"{hostile} {index}", opened)
    fill(votes, "2", lambda index: f"{hostile} {index}")
    assert "&lt;script&gt;" in opened.get("/items/3").text and "<script>alert" not in opened.get("/items/3").text
    out = outcome.target(votes)
    assert out == Path("config/pixelhumor/explanations.csv")
    assert outcome.export(votes, out) == (4, 0) == (outcome.export(votes, out)[0], 0)
    rows = [cells for _, cells in parse_csv(out.read_bytes(), (), file=out)]
    assert {row["source"] for row in rows} == {"Human"} and all(row["text"].startswith("'=1+1 &") for row in rows)
    assert [p.passed for p in outcome.progress(votes)] == [0, 0]

    sheet, _ = draw_up(Paths(), "preference", MODELS, raters=2, seed=1, texts=(str(out), out.read_bytes()))
    rated = [unit for unit in sheet.units if unit.kind == "counts"]
    assert {unit.item_id for unit in rated} == {unit.item_id for unit in units}
    assert all({text.source for text in unit.texts} == {*MODELS, "Human"} for unit in rated)
    (own,) = [text.text for text in rated[0].texts if text.source == "Human"]
    assert own.startswith("=1+1 & <script>") and "\nIt stands" in own
    with pytest.raises(PunchlineError, match="texts: there is nothing to decide"):
        one_more(votes)
    with pytest.raises(PunchlineError, match="texts are written"):
        draw_up(Paths(), "explanations", (), raters=1, seed=1, texts=(str(out), out.read_bytes()))


def test_the_released_explanations_are_taken_as_they_are(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As PixelHumor's file: a name of a comic that there is not, and a second text of one."""
    content = b'comic_id,explanation\r\n2,=A pun\r\ngarfied_1,Lost\r\n5,"Two\nlines"\r\n2,Of another comic\r\n'
    sheet, _ = draw_up(Paths(), "preference", MODELS, raters=2, seed=1, texts=("released.csv", content))
    own = {u.item_id: t.text for u in sheet.units if u.kind == "counts" for t in u.texts if t.source == "Human"}
    assert own == {"2": "=A pun", "5": "Two\nlines"}
    assert "released.csv: 2 of 4 explanations are of comics of this run" in capsys.readouterr().err


@pytest.mark.real
def test_pixelhumors_own_explanations(mirror: Path) -> None:
    content = (mirror / "pixelhumor/human_explanation.csv").read_bytes()
    labels = (mirror / "pixelhumor/objective_label.csv").read_bytes()
    ids = {row["comic_id"] for _, row in parse_csv(labels, (), file="objective_label.csv")}
    items = {i: Item(benchmark="pixelhumor", item_id=i, source="s", cluster=i) for i in ids}
    assert len(written(content, "human_explanation.csv", declared("preference")[2], items)) == 66


def test_several_who_write_about_the_same_are_told_apart(run: Path) -> None:
    votes = made("explanations", items=3, overlap=2)
    for rater in votes.raters():
        fill(votes, rater, lambda index: f"It is funny {index}")
    assert Counter(vote.source for vote in outcome.cast(votes)) == {"Human-1": 3, "Human-2": 3}


def test_points_on_a_scale_are_not_decided(run: Path) -> None:
    votes = made("relevance")
    fill(votes, "1", lambda _: "1")
    fill(votes, "2", lambda _: "7")
    with pytest.raises(PunchlineError, match="points on a scale"):
        one_more(votes)


def test_yesbuts_aspects_and_humorbenchs_labels(run: Path) -> None:
    votes = made("texts", raters=1)
    fill(votes, "1", lambda _: "4")
    outcome.export(votes, Path("out.csv"))
    scores, _ = read_ratings(Path("out.csv").read_bytes(), "out.csv", scale=(1, 5))
    kinds = Counter((one.about["task"], one.about["aspect"]) for one in scores)
    assert list(kinds.values()) == [15] * 5
    votes = made("elements", raters=2)
    for rater in ("1", "2"):
        fill(votes, rater, lambda index: "PASS" if index % 2 else "FAIL")
    assert "point 0" in client(votes, "1").get("/items/1").text or "point" in client(votes, "1").get("/items/2").text
    assert outcome.target(votes) == Path("config/humorbench/human_labels.csv")
    assert outcome.export(votes, Path("labels.csv")) == (15, 0)
    annotations = csv_text(("caption", "element"), [{"caption": "c", "element": str(n)} for n in range(8)])
    labelled = read_labelled(Path("labels.csv").read_bytes(), "labels.csv", annotations.encode())
    assert {one.explainer for one in labelled} == set(MODELS)
    assert outcome.agreement(votes)[0].alpha == 1


STRIP = '{"item_id": "s1", "source": "a", "frames": 4, "boxes": null, "texts": null, "credit": "c", "licence": "l"}'


def test_drafts_are_reviewed_beside_their_strip(run: Path) -> None:
    image = ImageRef(path="images/comic.png", sha256="0" * 64, width=1, height=1, name="page")
    strip = Item(benchmark="stripcipher", item_id="s1", source="a", cluster="s1", images=(image,))
    write_records("data/items/stripcipher/items.jsonl", [strip])
    pool = [Draft("s1", "prediction", "answer", f"=Ends {model}", model) for model in ("one", "two")]
    pool += [Draft("s1", "prediction", "distractor", f"Other {n}", "one") for n in range(4)]
    sheet, seats = drafts.draw_up(Paths(), "review.csv", draft_sheet(pool).encode(), raters=2, seed=0)
    votes = Votes.make("data/ratings/stripcipher/drafts.sqlite", sheet, seats)
    (rater,) = (rater for rater, own in seats.items() if own)
    http = client(votes, rater)
    shown = http.get("/items/1").text
    assert shown.count("<textarea") == 6
    assert 'src="/pictures/1"' in shown
    texts = {f"text-{n}": f"=Ends {n}" for n in range(6)}
    uses = {"use-0": "", "use-1": "answer", "use-2": "distractor", "use-3": "distractor", "use-4": "distractor"}
    for bad in (uses | {"use-0": "answer"}, uses | {"use-5": "distractor"}, uses | {"use-0": "x"}, {"use-1": "answer"}):
        refused = http.post("/items/1", data=texts | bad)
        assert refused.status_code == 422
        assert "=Ends 5</textarea>" in refused.text  # what was written stays on the page
    assert http.post("/items/1", data=texts | uses | {"text-2": "=ends  1"}).status_code == 422  # twice the same
    assert votes.given() == {}
    assert http.post("/items/1", data=texts | uses).status_code == 200
    assert re.search(r'name="use-1" value="answer"[^>]*checked', http.get("/items/1").text)
    reviewed = json.loads(accepted(f"[{STRIP}]".encode(), drafts.reviewed_sheet(votes).encode()))
    assert reviewed[0]["texts"]["prediction"]["answer"] == "=Ends 1"
    assert set(reviewed[0]["texts"]["prediction"]["options"]) == {f"=Ends {n}" for n in range(1, 5)}
    with pytest.raises(PunchlineError, match=r"review\.csv: no drafts"):
        drafts.draw_up(Paths(), "review.csv", draft_sheet([]).encode(), raters=1, seed=0)


def test_raters_who_are_even_give_no_label() -> None:
    one = Vote("1", "m", "", "", "PASS", "text", "ann", "2026-01-01T00:00:00Z", "", "s")
    bob, eve = one._replace(rater="bob", value="FAIL"), one._replace(rater="eve")
    assert label_rows([one, bob]) == []
    (row,) = label_rows([one, bob, eve])
    assert (row["label"], row["rater"]) == ("PASS", "ann bob eve")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


Serving = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def serving(run: Path) -> Iterator[Serving]:
    """Starts `punchline rate serve`; gives the process and its address."""
    started: list[subprocess.Popen[str]] = []

    def start(port: int, limit: int | None = None) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "punchline.cli", "rate", "serve", "relevance", "--port", str(port)]
        pipes: Any = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        served = subprocess.Popen(command, text=True, preexec_fn=full_disk(limit), **pipes)
        started.append(served)
        return served, f"http://127.0.0.1:{port}"

    yield start
    for process in started:
        process.kill()
        process.communicate()


def voting(address: str, secret: str, places: list[int], acknowledged: list[tuple[int, str]]) -> None:
    """Vote until there is no reply; what was acknowledged is noted."""
    with suppress(httpx.HTTPError), httpx.Client(base_url=address, headers={"origin": address}) as http:
        http.get(f"/r/{secret}")
        for score in itertools.cycle("1234567"):
            for place in places:
                if http.post(f"/items/{place}", data={"answer-": score}).status_code == 303:
                    acknowledged.append((place, score))


def test_a_killed_server_loses_no_acknowledged_vote_and_goes_on(serving: Serving) -> None:
    votes = made(raters=3)
    served, address = serving(port := free_port())
    assert "votes go into it" in served.stdout.readline()  # type: ignore[union-attr]
    taken, _ = serving(port)
    said = taken.communicate(timeout=60)
    assert taken.returncode == 2
    assert f"port {port} of 127.0.0.1 cannot be had" in said[1]
    acknowledged: dict[str, list[tuple[int, str]]] = {rater: [] for rater in votes.raters()}
    threads = [
        threading.Thread(target=voting, args=(address, votes.new_secret(rater), [1, 3, 4], found))
        for rater, found in acknowledged.items()
    ]
    for thread in threads:
        thread.start()
    while sum(map(len, acknowledged.values())) < 60:
        assert served.poll() is None
    served.send_signal(signal.SIGKILL)
    for thread in threads:
        thread.join()
    assert "/r/" not in "".join(served.communicate())  # no log holds a secret
    again = Votes(votes.path)
    for rater, found in acknowledged.items():
        history = stored(again, rater)
        assert history[: len(found)] == found
        assert len(history) - len(found) <= 1  # the one whose reply was on its way


def stored(votes: Votes, rater: str) -> list[tuple[int, str]]:
    """(place, score) of all votes of a rater, oldest first."""
    places = {unit: place for place, unit in enumerate(votes.seats(rater), 1)}
    with votes._open() as file:
        rows = file.execute("SELECT unit, answers ->> '$.\"\"' FROM votes WHERE rater = ? ORDER BY id", [rater])
        return [(places[unit], score) for unit, score in rows]


def test_on_a_full_disk_no_vote_is_said_to_be_saved(serving: Serving) -> None:
    votes = made(raters=1)
    secret = votes.new_secret("1")
    served, address = serving(free_port(), limit=max(80_000, votes.path.stat().st_size))
    assert "votes go into it" in served.stdout.readline()  # type: ignore[union-attr]
    acknowledged = 0
    with httpx.Client(base_url=address, headers={"origin": address}) as http:
        http.get(f"/r/{secret}")
        for _ in range(200):
            reply = http.post("/items/1", data={"answer-": "5", "note": "x" * 1500})
            if reply.status_code != 303:
                break
            acknowledged += 1
        assert reply.status_code == 503
        assert "NOT saved" in reply.text
        assert "default-src 'none'" in reply.headers["content-security-policy"]
    served.kill()
    assert "Votes are not being saved" in served.communicate()[1]
    assert len(stored(Votes(votes.path), "1")) == acknowledged > 0
