"""The openai engine against a server that lies: bounded memory, bounded time, counted states, no secret written."""

import gzip
import json
import resource
import signal
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.servers.runs import another_process, card, journal, many, run
from tests.servers.scripted import Answer, Call, Scripted, completion, scripted

from punchline.core import engine as engines
from punchline.engines.openai import chat
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Usage

SECRET = "pl4nted-p4ssw0rd"
TIGHT = {"attempts": 2, "backoff": {"first": 0.01, "most": 0.02}, "breaker": 0}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# Size


def long_answer(size: int) -> bytes:
    return json.dumps(completion("x" * size)).encode()


def endless() -> Iterator[bytes]:
    yield b'{"choices": [{"index": 0, "message": {"content": "'
    for _ in range(4000):  # 256 MB
        yield b"x" * 65536


def of_a_terabyte(call: Call) -> None:
    call.send_response(200)
    call.send_header("Content-Length", str(10**12))
    call.end_headers()
    for block in endless():
        call.wfile.write(block)


def redirect(location: str) -> Answer:
    return lambda call: call.send(b"", 307, Location=location)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "gzip, gzip": lambda content: gzip.compress(gzip.compress(content, 9), 9),
}
WORDS = {"error": {"message": "exceed" * 1_000_000, "code": None}}
NOWHERE = ("mailto:a@b", "ftp://127.0.0.1/v1")
# What a server does: (its answer, part of the recorded reason, calls at most: another try would get the same).
BEHAVIOR: dict[str, tuple[Answer | None, str, int]] = {
    "chunks without end": (lambda call: call.chunks(endless()), "larger than 16 MiB", 1),
    "a terabyte": (of_a_terabyte, "larger than 16 MiB", 1),
    **{name: (None, "packed as" if "," in name else "larger than 16 MiB", 1) for name in PACKED},
    "brotli": (lambda call: call.send(b"x" * 100, Content_Encoding="br"), "packed as", 1),
    "endless words": (lambda call: call.json(WORDS, 400), "HTTP 400: exceed", 1),
    **{f"redirect to {location}": (redirect(location), "redirects to", 1) for location in NOWHERE},
    **{f"redirect to {location!r}": (redirect(location), "", 11) for location in ("http://[::1", "//:0x", "\u0001")},
    "redirect for ever": (redirect("/v1/again"), "redirected more than 5 times", 6),
}


@pytest.mark.parametrize("kind", BEHAVIOR)
def test_a_reply_that_cannot_be_read_is_a_counted_failure(kind: str, tmp_path: Path) -> None:
    """With a short reason, in little memory and time."""
    answer, reason, calls = BEHAVIOR[kind]
    content = PACKED[kind](long_answer(200_000_000)) if kind in PACKED else b""
    before, began = peak_mb(), time.monotonic()
    with scripted(answer or (lambda call: call.send(content, Content_Encoding=kind))) as server:
        assert run(tmp_path, card(server.url, **TIGHT), many(1, "hostile")) == {"failed": 1}
        assert len(server.calls) <= calls
    assert time.monotonic() - began < 10
    (failed,) = journal(tmp_path)
    assert failed.text is None and failed.reason is not None and reason in failed.reason
    assert len(failed.reason) <= chat.REASON_LENGTH and (tmp_path / "m.jsonl").stat().st_size < 2000
    assert peak_mb() - before < 150


@pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate"])
def test_a_long_honest_answer_comes_whole(encoding: str, tmp_path: Path) -> None:
    content = long_answer(3_000_000)
    packed = {"identity": content, "gzip": gzip.compress(content), "deflate": zlib.compress(content)}[encoding]
    with scripted(lambda call: call.send(packed, Content_Encoding=encoding)) as server:
        assert run(tmp_path, card(server.url), many(1, "long")) == {"ok": 1}
    assert journal(tmp_path)[0].text == "x" * 3_000_000


# Numbers


@pytest.mark.parametrize("number", [10**30, 2**63, -1, -(10**30), 1.5, True, "7", None, [1], 10**9 + 1])
def test_a_count_that_no_server_can_mean_is_none(number: Any) -> None:
    usage = {"prompt_tokens": number, "completion_tokens": number, "prompt_tokens_details": {"cached_tokens": number}}
    usage["completion_tokens_details"] = {"reasoning_tokens": number}
    assert chat.read_reply(json.dumps(completion("a", usage=usage)).encode()).usage == Usage()


def test_counts_that_are_none_keep_no_budget_waiting(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 10**30, "completion_tokens": -5, "total_tokens": 10**30}
    with scripted(lambda call: call.json(completion("a", usage=usage))) as server:
        began = time.monotonic()
        of = card(server.url, tokens_per_minute=10**6)
        assert run(tmp_path, of, many(4, "counts")) == {"ok": 4}
    assert time.monotonic() - began < 10
    assert all(r.usage == Usage() for r in journal(tmp_path))


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_another_host_is_not_asked(status: int, tmp_path: Path) -> None:
    def away(call: Call) -> None:
        call.send(b"", status, Location=f"{other.url}/v1/chat/completions?key={SECRET}")

    with scripted(lambda call: call.json(completion("from elsewhere"))) as other, scripted(away) as server:
        assert run(tmp_path, card(server.url, **TIGHT), many(1, "away")) == {"failed": 1}
        assert other.calls == [] and len(server.calls) == 1
    reason = journal(tmp_path)[0].reason
    assert reason is not None and "redirects to another" in reason and "127.0.0.1" in reason and SECRET not in reason


def test_the_same_server_may_redirect(tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        if call.path == "/v1/chat/completions":
            call.send(b"", 307, Location="/v2/chat/completions")
        else:
            call.json(completion(json.loads(call.body)["model"]))

    with scripted(answer) as server:
        assert run(tmp_path, card(server.url), many(1, "same")) == {"ok": 1}
    assert journal(tmp_path)[0].text == "m"


def test_a_proxy_that_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said without its password."""
    monkeypatch.setenv("http_proxy", f"socks5://user:{SECRET}@127.0.0.1:1")
    with pytest.raises(PunchlineError, match=r"kind socks5 is not supported.*no_proxy=models\.example") as caught:
        run(tmp_path, card("http://models.example", **TIGHT), many(1, "socks"))
    assert SECRET not in str(caught.value)


def test_a_proxys_password_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def answer(call: Call) -> None:
        raise ConnectionResetError

    with scripted(answer) as proxy:
        address = proxy.url.replace("://", f"://user:{SECRET}@")
        for end in (address, f"http://user:{SECRET}@127.0.0.1:9"):
            monkeypatch.setenv("http_proxy", end)
            of = card("http://models.example", **TIGHT)
            try:
                run(tmp_path, of, many(1, end[-4:]))
            except PunchlineError as error:
                assert SECRET not in str(error)
        assert proxy.calls  # it was asked by way of it
    output = capfd.readouterr()
    assert SECRET not in output.out + output.err + "".join(f.read_text(errors="replace") for f in tmp_path.iterdir())


# Ctrl-C


@contextmanager
def interrupted(folder: Path, answer: Answer) -> Iterator[tuple[subprocess.Popen[str], Scripted]]:
    """A run that got Ctrl-C while its four calls were under way."""
    with scripted(answer) as server:
        process = another_process(server.url, folder, 40, "drain", concurrency=4)
        while len(server.calls) < 4 and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        yield process, server


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    with interrupted(tmp_path, lambda call: time.sleep(30)) as (process, _):
        time.sleep(0.7)
        assert process.poll() is None
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
    assert time.monotonic() - began < 3 and process.returncode != 0


def test_at_ctrl_c_nobody_waits_for_a_pause(tmp_path: Path) -> None:
    """Calls that wait for a budget or a Retry-After have not begun: they are dropped at once."""
    with interrupted(tmp_path, lambda call: call.send(b"{}", 429, Retry_After="60")) as (process, _):
        began = time.monotonic()
        _, output = process.communicate(timeout=10)
    assert time.monotonic() - began < 3 and "KeyboardInterrupt" in output
    assert journal(tmp_path) == []


# The engine vllm asks through this one


def test_a_vllm_that_lies_is_bounded_too_and_no_proxy_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(call: Call) -> None:
        if call.path == "/v1/models":
            call.json({"data": [{"id": "a/b"}]})
        elif call.command == "GET":
            call.send(b"", 404)
        elif b"long" in call.body:
            call.chunks(endless())
        else:
            call.json(completion("yes") | {"model": "a/b"})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with scripted(answer) as server:
        options = {"id": "a/b", "revision": "0" * 40, "base_url": f"{server.url}/v1"}
        engine = engines.load(ModelCard(name="m", engine="vllm", options=options), 0)
        got = {r.state: r for r in engine.answer([*many(1, "short"), *many(1, "long")], {}, "key")}
        engine.close()
    assert set(got) == {"ok", "failed"} and "larger than 16 MiB" in str(got["failed"].reason)
    assert got["ok"].engine == "vllm"
