"""Faults of a server that the openai engine meets: what is tried again, when, failed, or ends a run; no key leaks."""

import asyncio
import email.utils
import itertools
import signal
import ssl
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.servers import runs
from tests.servers.runs import KEY, VARIABLE, Served, assert_completes, card, error_of, journal, many, requests, run
from tests.servers.scripted import Call, completion, scripted

from punchline.core import certificates
from punchline.core.signals import STOPS
from punchline.core.waits import backoff, retry_after
from punchline.engines.openai import chat, pace
from punchline.engines.openai import engine as load
from punchline.errors import PunchlineError
from punchline.schema import ModelCard


@pytest.mark.parametrize(
    "fault", ["500", "502", "429", "closed", "reset", "no_http", "empty_body", "malformed", "null"]
)
def test_a_passing_fault_is_tried_again_and_a_lasting_one_is_failed(fault: str, server: Served, tmp_path: Path) -> None:
    passing, lasting = [f"<<{fault}:{n}>> {fault}" for n in (1, 2)], f"<<{fault}:4>> lasting {fault}"
    sent = [*many(6, f"beside {fault}"), *requests(*passing, *([] if fault == "429" else [lasting]))]
    failed = len(sent) - 8
    assert run(tmp_path, card(server.url), sent) == {"ok": 8} | ({"failed": failed} if failed else {})
    counts = server.get("/counts")
    assert [counts[text] for text in passing] == [2, 3]
    assert all(counts[f"beside {fault} {n}"] == 1 for n in range(6))
    if failed:
        (one,) = [r for r in journal(tmp_path) if r.state == "failed"]
        assert one.reason is not None and "(4 tries)" in one.reason and one.text is None
        assert run(tmp_path, card(server.url), sent, retry=True) == {"ok": 9}
        assert server.get("/counts")[lasting] == 5


@pytest.mark.parametrize("fault", ["hang", "slow"])
def test_a_call_that_hangs_is_ended_and_tried_again(fault: str, server: Served, tmp_path: Path) -> None:
    timeouts = {"read": 0.3, "total": 0.6}
    sent = [*many(3, f"beside {fault}"), *requests(f"<<{fault}>> {fault}", f"<<{fault}:always>> {fault}")]
    assert run(tmp_path, card(server.url, timeouts=timeouts), sent) == {"ok": 4, "failed": 1}
    (failed,) = [r for r in journal(tmp_path) if r.state == "failed"]
    assert failed.reason is not None and "time-out" in failed.reason and "(3 tries)" in failed.reason


def test_calls_at_a_time_go_down_to_what_the_server_takes(server: Served, tmp_path: Path) -> None:
    server.script(at_once=3, latency=0.02)
    before = server.get("/state")["calls"]
    assert_completes(tmp_path, card(server.url, concurrency=24, attempts=10), many(80, "crowd"))
    assert 0 < server.get("/state")["calls"] - before - 80 < 100  # 24 at a time would meet several hundred refusals


@pytest.mark.parametrize("in_flight", [1, 4, 64])
@pytest.mark.parametrize("delay", [0.005, 0.03, 0.1, 0.3])
def test_a_reply_that_is_sent_again_late_answers_no_other_call(
    delay: float, in_flight: int, server: Served, tmp_path: Path
) -> None:
    server.script(again_after=delay, latency=0.02)
    name = f"again {delay} {in_flight}"
    assert_completes(tmp_path, card(server.url, concurrency=in_flight), many(20 + 3 * in_flight, name))


ONE = card(None, concurrency=1)


@pytest.mark.parametrize(
    ("texts", "of", "calls", "least", "most"),  # seconds of a clock that only sleep moves
    [
        (["<<429_after>> wait"], ONE, 2, 1.0, 1.1),
        # Half of 0.2 s and half of 0.4 s at least.
        (["<<429_now:2>> at once"], card(None, backoff={"first": 0.2, "most": 1}), 3, 0.29, 0.61),
        ([], card(None, requests_per_minute=600), 8, 0.69, 0.71),  # seven gaps of 0.1 s
        # Four jobs at a time, each its part.
        ([], msgspec.structs.replace(card(None, requests_per_minute=2400), shards=4), 8, 0.69, 0.71),
        # Seven gaps of 0.12 s: the server counts 120 tokens. 6,000 tokens reserved each time would take 42 s.
        *(([], card(None, {"max_tokens": n}, tokens_per_minute=60_000), 8, 0.4, 10) for n in (64, 6000)),
    ],
)
def test_pace(
    texts: Any, of: ModelCard, calls: int, least: float, most: float, server: Served, tmp_path: Path, monkeypatch: Any
) -> None:
    """The first `calls` calls take between `least` and `most` seconds: a Retry-After and budgets hold for all."""
    now, pause = 0.0, asyncio.sleep
    starts, ends = list[float](), list[float]()
    acquire, release = pace.Pace.acquire, pace.Pace.release

    async def sleep(seconds: float) -> None:
        """Move the clock once no call is in flight: a slow machine answers no later than a fast one."""
        nonlocal now
        while len(starts) > len(ends):
            await pause(0.001)
        now += seconds
        await pause(0)

    async def start(self: pace.Pace, tokens: float) -> float:
        reserved = await acquire(self, tokens)
        starts.append(now)
        return reserved

    def end(self: pace.Pace) -> None:
        release(self)
        ends.append(now)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(pace, "monotonic", lambda: now)
    monkeypatch.setattr(pace.Pace, "acquire", start)
    monkeypatch.setattr(pace.Pace, "release", end)
    sent = [*requests(*texts), *many(3 if of is ONE else 8 - 8 * len(texts), f"pace {of}")]
    of = msgspec.structs.replace(of, options=of.options | {"base_url": f"{server.url}/v1"})
    assert_completes(tmp_path, of, sent)
    assert least <= starts[calls - 1] - starts[0] <= most


def test_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose certificate is trusted is asked, one whose is not is not."""
    tls = Path(__file__).parent / "servers/tls.pem"
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls)
    for name in certificates.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with scripted(lambda call: call.json(completion("yes")), context) as server:
        words = error_of(tmp_path, card(server.url, attempts=1), many(4, "tls"))
        assert "certificate verify failed" in words and "SSL_CERT_FILE" in words
        for name in certificates.VARIABLES:
            if name != "SSL_CERT_DIR":
                with monkeypatch.context() as patch:
                    patch.setenv(name, str(tls))
                    assert run(tmp_path / name, card(server.url), many(4, "tls")) == {"ok": 4}


def test_a_server_that_always_fails_ends_the_run_with_its_first_error(server: Served, tmp_path: Path) -> None:
    server.script(fault="500")
    before = server.get("/state")["calls"]
    sent = many(100, "doomed")
    words = error_of(tmp_path, card(server.url, concurrency=8, breaker=5), sent)
    assert "5 requests in a row failed; the first error: HTTP 500: status 500, as asked" in words
    assert server.get("/state")["calls"] - before < 4 * 20
    assert run(tmp_path / "on", card(server.url, breaker=0, attempts=1), sent[:30]) == {"failed": 30}
    server.script()
    assert run(tmp_path, card(server.url), sent, retry=True) == {"ok": 100}


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1", "https://127.0.0.1:{}/v1"])
def test_a_server_that_is_not_there_is_said_at_once(url: str, server: Served, tmp_path: Path) -> None:
    of = card(None, base_url=url.format(server.port), attempts=2, timeouts={"connect": 0.5})
    words = error_of(tmp_path, of, many(50, "nobody"))
    assert "the server cannot be reached" in words and "base_url" in words and not journal(tmp_path)


def test_another_model_ends_the_run(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    sent = requests("<<wrong_model:always>> who")
    words = error_of(tmp_path, card(server.url, api_key_env=VARIABLE), sent)
    assert "asked for the model m, the server answered as 'cheaper-model'" in words and not journal(tmp_path)
    assert run(tmp_path, card(server.url, api_key_env=VARIABLE, served_as="cheaper-model"), sent) == {"ok": 1}
    assert journal(tmp_path)[0].effective["model"] == "cheaper-model"
    # A server without a key may call its model what it likes.
    assert run(tmp_path / "own", card(server.url), sent) == {"ok": 1}
    assert "answered as" in error_of(tmp_path / "x", card(server.url, served_as="x"), sent)


def test_longer_dated_names_are_the_same_model() -> None:
    same = {"gpt-4o": "gpt-4o-2024-08-06", "o3": "o3-2025-04-16", "gemini-2.5-flash": "models/gemini-2.5-flash"}
    same |= {"claude-3-5-sonnet-latest": "claude-3-5-sonnet-20241022"}
    others = [("gpt-4o", "gpt-4o-mini"), ("gpt-4o", "gpt-4o-mini-2024-07-18"), ("gpt-4-0613", "gpt-4")]
    assert [pair for pair in [*same.items(), *others] if chat.same_model(*pair)] == [*same.items()]


def test_a_server_that_dies_and_comes_back_in_the_middle_of_a_run(tmp_path: Path) -> None:
    served = Served()
    served.script(latency=0.05)

    def restart() -> Served:
        while len(served.get("/counts")) < 30:
            time.sleep(0.02)
        served.kill()
        time.sleep(0.5)
        return Served(served.port)

    with ThreadPoolExecutor() as threads:
        second = threads.submit(restart)
        of = card(served.url, concurrency=8, attempts=10, backoff={"first": 0.05, "most": 0.5})
        assert_completes(tmp_path, of, many(100, "phoenix"))
    assert len(second.result().get("/counts")) >= 40  # the second server did its part
    second.result().kill()


def test_leaving_early_ends_the_calls_in_flight_and_a_slow_reader_holds_them_back(server: Served) -> None:
    before, threads = server.get("/state")["calls"], threading.active_count()
    answers: Any = load(card(server.url, concurrency=4), 0).answer(many(500, "slow reader"), {}, "key")
    next(answers)
    time.sleep(0.5)
    calls = server.get("/state")["calls"]
    assert calls - before < 60
    answers.close()
    assert threading.active_count() == threads
    time.sleep(0.3)
    assert server.get("/state")["calls"] == calls


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("number", STOPS)
def test_a_signal_comes_after_what_is_queued_and_a_second_one_at_once(number: int, times: int) -> None:
    async def work(put: pace.Put[int]) -> None:
        for one in range(5):
            await put(one)
        await asyncio.sleep(60)

    before, seen = signal.signal(number, signal.default_int_handler), list[int]()
    with pytest.raises(KeyboardInterrupt):
        for one in pace.iterate(work):
            seen.append(one)
            for _ in range(times if one == 0 else 0):
                signal.raise_signal(number)
    assert seen == ([0, 1, 2, 3, 4] if times == 1 else [0])
    assert signal.signal(number, before) is signal.default_int_handler


@pytest.mark.parametrize("number", STOPS)
def test_a_stop_loses_no_answer_that_comes_and_the_next_run_asks_the_rest(number: int, tmp_path: Path) -> None:
    numbers = itertools.count()

    def answer(call: Call) -> None:
        if next(numbers) == 6:
            process.send_signal(number)
        time.sleep(0.2)
        call.json(completion("yes"))

    with scripted(answer) as server:
        process = runs.another_process(server.url, tmp_path, 60, "interrupted", concurrency=4)
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == -number and "never retrieved" not in errors and "Unclosed" not in errors
        assert 6 < len(journal(tmp_path)) == len(server.calls) < 60
        assert run(tmp_path, card(server.url), many(60, "interrupted")) == {"ok": 60} and len(server.calls) == 60


@pytest.mark.parametrize("fault", ["401", "echo_key", "answer_key", "refused_key"])
def test_the_key_is_written_nowhere(
    fault: str, server: Any, tmp_path: Path, monkeypatch: Any, capfd: Any, caplog: Any
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv(VARIABLE, KEY)
    server.script(key="another" if fault == "refused_key" else KEY)
    output = ""
    try:
        run(tmp_path, card(server.url, api_key_env=VARIABLE), requests(f"<<{fault}:always>> key"))
    except PunchlineError as error:
        assert VARIABLE in str(error)
        output = "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error.__context__)
    written = [path.read_bytes().decode(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    for place in (*capfd.readouterr(), output, caplog.text, *written):
        assert not any(KEY[n : n + 8] in place for n in range(len(KEY) - 8))
    assert fault not in ("echo_key", "answer_key") or any("[key]" in place for place in written)


def test_redaction_takes_out_parts_of_a_key_and_nothing_else() -> None:
    assert chat.redacted(f"a {KEY} b {KEY[4:20]} c {KEY[:5]} d", [KEY]) == f"a [key] b [key] c {KEY[:5]} d"
    assert chat.redacted("plain words", [KEY]) == "plain words"
    assert chat.redacted("anything", []) == "anything"
    assert chat.redacted("EMPTY is empty", ["EMPTY"]) == "EMPTY is empty"  # a placeholder, no secret


def test_a_missing_key_is_named_and_a_key_in_the_yaml_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("", "not\nprintable", "ключ"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        engine = load(card(None), 0)
        assert engine.unavailable() == "the environment variable OPENAI_API_KEY holds no API key"
        with pytest.raises(PunchlineError, match="OPENAI_API_KEY"):
            next(iter(engine.answer(many(1, "x"), {}, "key")))
    addresses = [{"base_url": address} for address in (f"https://user:{KEY}@host/v1", f"https://host/v1?key={KEY}")]
    for options in ({"api_key_env": KEY}, {"concurrency": KEY}, {"api_key": KEY}, *addresses):
        with pytest.raises(PunchlineError) as caught:
            load(card(None, **options), 0)
        assert KEY not in str(caught.value)
    assert load(card(None, base_url="http://127.0.0.1:1/v1"), 0).unavailable() is None


PAST, LATER = (email.utils.formatdate(at, usegmt=True) for at in (1e9, time.time() + 10_000))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        *(({"retry-after": value}, seconds) for value, seconds in (("7", 7), (" 7 ", 7), ("2.5", 2.5))),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": PAST}, 0),
        ({"retry-after": LATER}, pytest.approx(10_000, abs=900)),
        *(({"retry-after": value}, None) for value in ("-7", "soon", "nan", "9" * 400, "")),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(("tries", "least", "most"), [(1, 0.5, 1), (3, 2, 4), (50, 30, 60)])
def test_backoff_doubles_up_to_its_most(tries: int, least: float, most: float) -> None:
    assert all(least <= backoff(tries, 1, 60) <= most for _ in range(100))
