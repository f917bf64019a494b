"""Rating pages: content, access, votes on disk. The way of votes to a table: e2e/test_rate.py."""

import itertools
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from starlette.testclient import TestClient
from tests.ran import full_disk
from tests.studies import HOST, HOSTILE, MODELS, client, drafted, fill, made, write_run
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from punchline.benchmarks.study import rating_rows
from punchline.errors import PunchlineError
from punchline.rating import outcome
from punchline.rating.pages import MOST, application
from punchline.rating.votes import Votes


@pytest.fixture(autouse=True)
def run(here: Path) -> None:
    write_run()


@pytest.mark.parametrize("name", ["relevance", "preference", "texts", "elements"])
def test_no_reply_names_a_model_and_the_order_of_texts_varies(name: str) -> None:
    votes = made(name)
    orders, value = set(), votes.sheet.options[0][0] if votes.sheet.options else "0"
    for rater in ("1", "2"):
        http = client(votes, rater)
        replies = [http.get("/")]
        for place, index in enumerate(votes.seats(rater), 1):
            page = http.get(f"/items/{place}")
            replies += [page, http.get(f"/pictures/{place}"), http.post(f"/items/{place}", data={})]
            unit = votes.sheet.units[index]
            if unit.kind == "counts":
                orders.add(tuple(re.findall(r"voice (\d)", page.text)))
                assert page.text == http.get(f"/items/{place}").text
            answers = {f"answer-{ask.aspect}": unit.right or value for ask in votes.sheet.questions[unit.task]}
            assert http.post(f"/items/{place}", data=answers).status_code == 200
        for reply in [*replies, http.get("/")]:
            everything = f"{reply.url}{dict(reply.headers)}{reply.text}".lower()
            assert not any(word in everything for model in MODELS for word in (model, "think", "images/"))
            assert "<script>alert" not in reply.text and "\x1b" not in reply.text
            policy = reply.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy
    assert len(orders) > 1


def test_without_a_link_nothing_is_sent_or_taken() -> None:
    votes = made()
    known, unknown = client(votes, "1"), client(votes)
    for path in ("/", "/items/1", "/pictures/1", "/r/guess", "/r/" + "x" * 5000):
        assert unknown.get(path).status_code == 403
    assert unknown.post("/items/1", data={"answer-": "3"}).status_code == 403
    unknown.cookies.set(f"rater_{votes.version}", "1")
    assert unknown.get("/").status_code == 403
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


def test_the_cookie_is_protected_and_the_file_holds_no_secret() -> None:
    votes = made()
    secret = votes.new_secret("1")
    reply = client(votes).get(f"/r/{secret}", follow_redirects=False)
    assert reply.status_code == 303
    cookie, *flags = reply.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=lax"} <= set(flags)
    stored = b"".join(path.read_bytes() for path in Path("data/ratings/pixelhumor").iterdir())
    assert secret.encode() not in stored

    http = TestClient(ProxyHeadersMiddleware(application(votes, ["*"])), base_url=HOST, client=("127.0.0.1", 1))  # type: ignore[arg-type]
    http.headers.update({"x-forwarded-proto": "https"})  # behind a server with TLS
    reply = http.get(f"/r/{secret}", follow_redirects=False)
    assert "Secure" in reply.headers["set-cookie"].split("; ")
    own = {"cookie": cookie, "origin": HOST.replace("http:", "https:"), "sec-fetch-site": "same-origin"}
    for origin, status in ((HOST, 403), (own["origin"], 303)):
        sent = http.post("/items/1", data={"answer-": "4"}, headers=own | {"origin": origin}, follow_redirects=False)
        assert sent.status_code == status
    assert len(votes.given()) == 1


def test_back_and_forth_changing_and_coming_back() -> None:
    votes = made()
    http = client(votes, "1")
    assert 'href="/items/1"' in http.get("/").text
    reply = http.post("/items/1", data={"answer-": "3", "note": HOSTILE + "\r\nx" * 3000})
    assert str(reply.url) == f"{HOST}/items/2"  # the next
    again = http.get("/items/1").text
    assert re.search(r'value="3"[^>]*checked', again) and "Saved" in again and "<script>alert" not in again
    http.post("/items/1", data={"answer-": "6"})
    http.post("/items/4", data={"answer-": "2"})
    later = client(votes, "1")  # another browser, a new link
    assert '<a class="button" id="go" href="/items/2"' in later.get("/").text
    assert http.get("/").status_code == 403
    seats = votes.seats("1")
    assert {unit: one.answers[""] for (_, unit), one in votes.given("1").items()} == {seats[0]: "6", seats[3]: "2"}
    wrong = later.post("/items/2", data={"answer-": "8", "note": "kept"})
    assert wrong.status_code == 422 and "Nothing is saved" in wrong.text and "kept</textarea>" in wrong.text
    items = ("/items/0", "/items/999", f"/items/{'9' * 5000}", "/items/²")
    for path in (*items, "/pictures/99", f"/pictures/{'9' * 5000}", "/static/../pages.py", "/nothing"):
        assert later.get(path).status_code == 404
    assert later.post("/items/1", content=b"answer-=1&note=" + b"x" * MOST).status_code == 413
    unreadable = later.post("/items/1", content=b"\xff\xfe&a=")
    assert unreadable.status_code == 400 and "cannot be read" in unreadable.text


def test_fewer_than_two_pointers_need_reasons() -> None:
    votes = made(pointers=True)
    http, (unit, *_) = client(votes, "1"), votes.seats("1")
    assert "a humor style" in http.get("/items/1").text
    for ticked in ({}, {"pointer-2": "1"}, {"pointer-2": "1", "pointer-9": "1"}):
        wrong = http.post("/items/1", data={"answer-": "3", **ticked})
        assert wrong.status_code == 422 and "give your reasons" in wrong.text
        assert ('name="pointer-2" value="1" checked' in wrong.text) is bool(ticked)
    for sent, pointers in (({"pointer-2": "1", "note": "why"}, "2"), ({"pointer-2": "1", "pointer-4": "1"}, "2 4")):
        assert http.post("/items/1", data={"answer-": "3", **sent}).status_code == 200
        given = votes.given("1")["1", unit]
        assert (given.answers, given.pointers) == ({"": "3"}, pointers)
    assert http.get("/items/1").text.count("checked") == 3
    fill(votes, lambda index, rater: "5")
    http.post(f"/items/{votes.seats('1').index(0) + 1}", data={"answer-": "4", "pointer-1": "1", "pointer-3": "1"})
    rows = list(rating_rows(outcome.cast(votes)))
    assert {row["pointers"] for row in rows} == {"", "1 3"} and {row["score"] for row in rows} == {"4", "5"}
    with pytest.raises(PunchlineError, match="no pointers"):
        made("preference", pointers=True)


def test_a_harmful_comic_is_blurred_until_asked_for() -> None:
    votes = made("relevance", raters=1, items=8)
    http = client(votes, "1")
    for place, unit in enumerate(votes.seats("1"), 1):
        blurred = '<figure class="blurred">' in http.get(f"/items/{place}").text
        assert blurred is (votes.sheet.units[unit].item_id == "0")
    assert b'"blurred":false' not in msgspec.json.encode(votes.sheet)  # it is not in the digest of older sheets


def test_drafts_are_reviewed_next_to_their_strip() -> None:
    votes = drafted()
    http = client(votes, "1")
    page = http.get("/items/1").text
    assert page.count("<textarea") == 6 and 'src="/pictures/1"' in page and page.count('name="answer-category"') == 6
    texts = {f"text-{n}": f"=Ends {n}" for n in range(6)}
    uses = {"use-0": "", "use-1": "answer", "use-2": "distractor", "use-3": "distractor", "use-4": "distractor"}
    for bad in ({"use-0": "answer"}, {"use-5": "distractor"}, {"use-0": "x"}, {"use-2": ""}, {"text-2": "=ends  1!"}):
        refused = http.post("/items/1", data=texts | uses | bad)
        assert refused.status_code == 422
        assert "=Ends 5</textarea>" in refused.text  # the page keeps the rater's words
    assert votes.given() == {}
    assert http.post("/items/1", data=texts | uses | {"answer-category": "Critical"}).status_code == 200
    inspector = client(votes, "2").get("/items/1").text  # who sees the first review
    for page in (http.get("/items/1").text, inspector):
        assert re.search(r'name="use-1" value="answer"[^>]*checked', page) and "=Ends 5</textarea>" in page
        assert re.search(r'value="Critical"[^>]*checked', page)
    assert "Saved" not in inspector


Serving = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def serving() -> Iterator[Serving]:
    """Starts `punchline rate serve` on a free port; gives the process and its address."""
    started: list[subprocess.Popen[str]] = []

    def start(limit: int | None = None) -> tuple[subprocess.Popen[str], str]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "punchline.cli", "rate", "serve", "relevance", "--port", str(port)]
        pipes: Any = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        started.append(subprocess.Popen(command, text=True, preexec_fn=full_disk(limit), **pipes))
        return started[-1], f"http://127.0.0.1:{port}"

    yield start
    for process in started:
        process.kill()
        process.communicate()


def voting(address: str, secret: str, places: list[int], acknowledged: list[tuple[int, str]]) -> None:
    """Vote until there is no reply; acknowledged votes are noted."""
    with suppress(httpx.HTTPError), httpx.Client(base_url=address, headers={"origin": address}) as http:
        http.get(f"/r/{secret}")
        for score in itertools.cycle("1234567"):
            for place in places:
                if http.post(f"/items/{place}", data={"answer-": score}).status_code == 303:
                    acknowledged.append((place, score))


def stored(votes: Votes, rater: str) -> list[tuple[int, str]]:
    """(place, score) of all votes of a rater, oldest first."""
    places = {unit: place for place, unit in enumerate(votes.seats(rater), 1)}
    with votes._open() as file:
        rows = file.execute("SELECT unit, answers ->> '$.\"\"' FROM votes WHERE rater = ? ORDER BY id", [rater])
        return [(places[unit], score) for unit, score in rows]


def test_a_killed_server_loses_no_acknowledged_vote(serving: Serving) -> None:
    votes = made(raters=3)
    served, address = serving()
    assert "votes go into it" in served.stdout.readline()  # type: ignore[union-attr]
    acknowledged: dict[str, list[tuple[int, str]]] = {rater: [] for rater in votes.raters()}
    with ThreadPoolExecutor() as pool:
        for rater, noted in acknowledged.items():
            pool.submit(voting, address, votes.new_secret(rater), [1, 3, 4], noted)
        while sum(map(len, acknowledged.values())) < 60:
            assert served.poll() is None
        served.kill()
    assert "/r/" not in "".join(served.communicate())  # no log holds a secret
    for rater, result in acknowledged.items():
        history = stored(Votes(votes.path), rater)
        assert history[: len(result)] == result
        assert len(history) - len(result) <= 1  # one whose reply was on its way


def test_on_a_full_disk_no_vote_is_acknowledged(serving: Serving) -> None:
    votes = made(raters=1)
    secret = votes.new_secret("1")
    served, address = serving(limit=max(80_000, votes.path.stat().st_size))
    assert "votes go into it" in served.stdout.readline()  # type: ignore[union-attr]
    acknowledged = 0
    with httpx.Client(base_url=address, headers={"origin": address}) as http:
        http.get(f"/r/{secret}")
        for _ in range(200):
            reply = http.post("/items/1", data={"answer-": "5", "note": "x" * 1500})
            if reply.status_code != 303:
                break
            acknowledged += 1
        assert reply.status_code == 503 and "NOT saved" in reply.text
        assert "default-src 'none'" in reply.headers["content-security-policy"]
    served.kill()
    assert "Votes are not being saved" in served.communicate()[1]
    assert len(stored(Votes(votes.path), "1")) == acknowledged > 0


def test_what_cannot_be_judged_has_a_reason_and_is_counted() -> None:
    votes = made(raters=2)
    http = client(votes, "1")
    counted = [place for place, unit in enumerate(votes.seats("1"), 1) if votes.sheet.units[unit].kind == "counts"]
    reply = http.post(f"/items/{counted[0]}", data={"cannot": "1", "reason": " \n", "answer-": "3"})
    assert reply.status_code == 422 and "say why" in reply.text and votes.given() == {}
    assert re.search(r'value="3"[^>]*checked', reply.text) and 'class="cannot" open' in reply.text
    http.post(f"/items/{counted[0]}", data={"cannot": "1", "reason": "In another\r\n language <b>", "answer-": "3"})
    again = http.get(f"/items/{counted[0]}").text
    assert "Saved: cannot be judged" in again and "In another language &lt;b&gt;</textarea>" in again
    http.post(f"/items/{counted[1]}", data={"answer-": "3", "note": "fine"})
    assert outcome.not_judged(votes) == {"In another language <b>": 1}
    assert [row["not judged"] for row in outcome.progress(votes)] == [1, 0]
    assert [vote["value"] for vote in outcome.cast(votes)] == ["3"]
    fill(votes, lambda unit, rater: "4")
    assert not outcome.not_judged(votes)  # judged after all: the last vote counts


def test_another_raters_link_asks_before_it_takes_over() -> None:
    votes = made()
    http, link = client(votes, "1"), f"/r/{votes.new_secret('2')}"
    http.post("/items/1", data={"answer-": "3", "note": "of the first"})
    requests = http.get(link)
    assert requests.status_code == 200 and f'action="{link}"' in requests.text
    assert "of the first" in http.get("/items/1").text  # nothing has changed
    assert http.post(link).status_code == 200
    assert "of the first" not in http.get("/items/1").text and "0 of" in http.get("/").text
    assert "Start" in http.get(link).text  # one's own link asks nothing
