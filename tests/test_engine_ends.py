"""Ends of runs of the openai engine: dying servers, Ctrl-C, readers that leave; no key is written."""

import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import pytest
from tests.test_engine_openai import (
    KEY,
    VARIABLE,
    Served,
    another_process,
    assert_completes,
    card,
    journal,
    many,
    process,
    requests,
    run,
    server,
)

from punchline.engines.openai import chat
from punchline.engines.openai import engine as load
from punchline.errors import PunchlineError

__all__ = ["process", "server"]


def test_a_server_that_dies_and_comes_back_in_the_middle_of_a_run(tmp_path: Path) -> None:
    served = Served()
    served.script(latency=0.05)
    asked = many(200, "phoenix")
    back: list[Served] = []

    def restart() -> None:
        while len(served.get("/counts")) < 60:
            time.sleep(0.02)
        served.kill()
        time.sleep(0.5)
        back.append(Served(served.port))

    thread = threading.Thread(target=restart)
    thread.start()
    try:
        of = card(served.url, concurrency=8, attempts=10, backoff={"first": 0.05, "most": 0.5})
        assert_completes(tmp_path, of, asked)
        assert len(back[0].get("/counts")) >= 100  # the second server did its part
    finally:
        thread.join()
        for each in (served, *back):
            each.kill()


def test_leaving_early_ends_the_calls_in_flight(server: Served) -> None:
    server.script(latency=0.1)
    threads = threading.active_count()
    engine = load(card(server.url, concurrency=8), 0)
    answers = engine.answer(many(100, "leave"), {}, "key")
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads
    calls = server.get("/state")["calls"]
    time.sleep(0.3)
    assert server.get("/state")["calls"] == calls


def test_ctrl_c_ends_a_run_and_the_next_one_completes_it(server: Served, tmp_path: Path) -> None:
    server.script(latency=0.1)
    before = server.get("/state")["calls"]
    process = another_process(server.url, tmp_path, 100, "interrupted", concurrency=4)
    while not (tmp_path / "m.jsonl").exists() or (tmp_path / "m.jsonl").stat().st_size < 2000:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode != 0 and "KeyboardInterrupt" in errors and "Ctrl-C again drops them" in errors
    assert "never retrieved" not in errors and "Unclosed" not in errors
    calls = server.get("/state")["calls"]
    time.sleep(0.3)
    assert server.get("/state")["calls"] == calls
    assert 0 < len(journal(tmp_path)) == calls - before < 100  # those under way were waited for
    server.script()
    assert_completes(tmp_path, card(server.url), many(100, "interrupted"))
    assert server.get("/state")["calls"] - before == 100


def test_a_slow_reader_holds_the_calls_back(server: Served) -> None:
    answers = load(card(server.url, concurrency=4), 0).answer(many(500, "slow reader"), {}, "key")
    before = server.get("/state")["calls"]
    next(answers)
    time.sleep(0.5)
    assert server.get("/state")["calls"] - before < 60
    assert sum(1 for _ in answers) == 499


# Keys


@pytest.mark.parametrize("fault", ["401", "echo_key", "answer_key", "refused_key"])
def test_the_key_is_written_nowhere(
    fault: str, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any, caplog: Any
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv(VARIABLE, KEY)
    server.script(key="another" if fault == "refused_key" else KEY)
    asked = requests(*(f"<<{fault}:always>> key {n}" for n in range(3)))
    said = ""
    try:
        run(tmp_path, card(server.url, api_key_env=VARIABLE), asked)
    except PunchlineError as error:
        assert VARIABLE in str(error)
        said = "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error.__context__)
    out, err = capfd.readouterr()
    written = [path.read_bytes().decode(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    for place in (out, err, said, caplog.text, *written):
        assert not any(KEY[n : n + 8] in place for n in range(len(KEY) - 8))
    if fault in ("echo_key", "answer_key"):
        assert any("[key]" in place for place in written)


def test_redaction_takes_out_parts_of_a_key_and_nothing_else() -> None:
    assert chat.redacted(f"a {KEY} b {KEY[4:20]} c {KEY[:5]} d", KEY) == f"a [key] b [key] c {KEY[:5]} d"
    assert chat.redacted("plain words", KEY) == "plain words"
    assert chat.redacted("anything", None) == "anything"
    assert chat.redacted("EMPTY is empty", "EMPTY") == "EMPTY is empty"  # a placeholder, no secret


def test_a_missing_key_is_named_and_a_key_in_the_yaml_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
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


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    reason = load(card(None, base_url="http://127.0.0.1:1/v1"), 0).unavailable()
    assert reason is not None and "the package openai is not installed" in reason
