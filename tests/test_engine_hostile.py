"""The engines openai and vllm against servers that lie or stream: bounded memory, counted states, whole answers."""

import gzip
import json
import resource
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.servers.runs import KEY, card, journal, many, run
from tests.servers.scripted import Answer, Call, completion, drip, scripted

from punchline.core import engine as engines
from punchline.engines.openai import chat
from punchline.engines.openai.replies import read_reply
from punchline.engines.vllm import server as vllm_server
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Usage

TIGHT = {"attempts": 2, "backoff": {"first": 0.01, "most": 0.02}, "breaker": 0}


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


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "gzip, gzip": lambda content: gzip.compress(gzip.compress(content, 9), 9),
}
WORDS = {"error": {"message": "exceed" * 1_000_000, "code": None}}
# What a server does: (its answer, part of the recorded reason).
BEHAVIOR: dict[str, tuple[Answer | None, str]] = {
    "chunks without end": (lambda call: call.chunks(endless()), "larger than 16 MiB"),
    "a terabyte": (of_a_terabyte, "larger than 16 MiB"),
    **{name: (None, "packed as" if "," in name else "larger than 16 MiB") for name in PACKED},
    "brotli": (lambda call: call.send(b"x" * 100, Content_Encoding="br"), "packed as"),
    "endless words": (lambda call: call.json(WORDS, 400), "HTTP 400: exceed"),
    "redirect": (lambda call: call.send(b"", 307, Location=f"http://h/v1?key={KEY}"), "redirects to http://h/v1"),
}


@pytest.mark.parametrize("kind", BEHAVIOR)
def test_a_reply_that_cannot_be_read_is_failed(kind: str, tmp_path: Path) -> None:
    """After one call, with a short reason, in little memory."""
    answer, reason = BEHAVIOR[kind]
    content = PACKED[kind](long_answer(200_000_000)) if kind in PACKED else b""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with scripted(answer or (lambda call: call.send(content, Content_Encoding=kind))) as server:
        assert run(tmp_path, card(server.url, **TIGHT), many(1, "hostile")) == {"failed": 1}
        assert len(server.calls) == 1
    (failed,) = journal(tmp_path)
    assert failed.text is None and failed.reason is not None and reason in failed.reason and KEY not in failed.reason
    assert len(failed.reason) <= chat.REASON_LENGTH and (tmp_path / "m.jsonl").stat().st_size < 2000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000  # kB


@pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate"])
def test_a_long_honest_answer_comes_whole(encoding: str, tmp_path: Path) -> None:
    content = PACKED.get(encoding, bytes)(long_answer(3_000_000))
    with scripted(lambda call: call.send(content, Content_Encoding=encoding)) as server:
        assert run(tmp_path, card(server.url), many(1, "long")) == {"ok": 1}
    assert journal(tmp_path)[0].text == "x" * 3_000_000


def test_a_proxys_password_is_written_nowhere(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    with scripted(lambda call: call.send(b"", 502)) as proxy:
        for address in (proxy.url, "http://127.0.0.1:9"):
            monkeypatch.setenv("http_proxy", address.replace("://", f"://user:{KEY}@"))
            try:
                run(tmp_path, card("http://models.example", **TIGHT), many(1, address[-4:]))
            except PunchlineError as error:
                assert KEY not in str(error)
        assert proxy.calls  # it was asked by way of it
    output = capfd.readouterr()
    assert KEY not in output.out + output.err + "".join(f.read_text(errors="replace") for f in tmp_path.iterdir())


@pytest.mark.parametrize("by_proxy", [False, True])
def test_a_connection_serves_one_call(by_proxy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also through a proxy, which may repeat a late reply as a server may."""
    connections = []

    def answer(call: Call) -> None:
        connections.append(call.client_address)
        call.json(completion("yes"))

    with scripted(answer) as server:
        if by_proxy:
            monkeypatch.setenv("http_proxy", server.url)
        address = "http://models.example" if by_proxy else server.url
        assert run(tmp_path, card(address, concurrency=2), many(12, "one")) == {"ok": 12}
    assert len(connections) == len(set(connections)) == 12


# vLLM, whose `base_url` may name anybody's server

SAID: dict[str, Any] = {"/version": {"version": "0.32.0"}, "/v1/models": {"data": [{"id": "m"}, {"id": "n"}]}}
ABOUT: dict[str, Answer] = {
    "proper": lambda call: call.json(SAID[call.path]),
    "without an end": lambda call: call.chunks(endless()),
    "dripping": drip,
    "no list": lambda call: call.json({"data": 7, "version": 7}),
    "an error": lambda call: call.json({}, 500),
}


@pytest.mark.parametrize("kind", ABOUT)
def test_only_a_proper_reply_about_a_vllm_is_one(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_server, "LONGEST", 1.0)
    with scripted(ABOUT[kind]) as server:
        options = {"id": "m", "base_url": f"{server.url}/v1"}
        client = vllm_server.Client(ModelCard(name="m", engine="openai", options=options))
        client.version = "unknown"
        client.find_version()
        expected = ("0.32.0", ["m", "n"]) if kind == "proper" else ("unknown", [])
        assert (client.version, client.served()) == expected


def test_a_vllm_is_asked_past_any_proxy(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(call: Call) -> None:
        call.json({"data": [{"id": "a/b"}]} if call.command == "GET" else completion("yes", model="a/b"))

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with scripted(answer) as server:
        options = {"id": "a/b", "revision": "0" * 40, "base_url": f"{server.url}/v1"}
        engine = engines.load(ModelCard(name="m", engine="vllm", options=options), 0)
        (got,) = engine.answer(many(1, "short"), {}, "key")
        engine.close()
    assert (got.state, got.engine) == ("ok", "vllm")


USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}}
ANSWER = "Das Känguru lacht: 😂\u2028„ja“"
DONE = b"data: [DONE]\n\n"


def event(value: Any, end: str = "\n\n") -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}{end}".encode()


def delta(finish: str | None = None, **said: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": said, "finish_reason": finish}], "usage": None}


def spoken(text: str, finish: str | None = "stop", *, end: str = "\n\n", thoughts: str = "hm") -> list[bytes]:
    """The events of an answer, character by character, thoughts first; usage in the last."""
    deltas = [delta(role="assistant", content="")]
    deltas += [delta(reasoning_content=character) for character in thoughts]
    deltas += [delta(content=character) for character in text]
    last = [delta(finish)] if finish else []
    return [event(one, end) for one in (*deltas, *last, {"id": "c", "model": "m", "choices": [], "usage": USAGE})]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([*spoken(ANSWER), DONE], (ANSWER, "stop")),
        ([b": waiting\n\n", *spoken(ANSWER, end="\r\n\r\n"), DONE], (ANSWER, "stop")),
        ([b"event: message\n", *spoken(ANSWER), DONE, event({"error": "after the end"})], (ANSWER, "stop")),
        (spoken(ANSWER), (ANSWER, "stop")),  # ends by its finish reason
        ([*spoken("", "length", thoughts="and so on"), DONE], ("", "length")),
    ],
)
def test_a_stream_is_the_answer_that_it_adds_up_to(events: list[bytes], expected: tuple[str, str | None]) -> None:
    reply = read_reply(b"".join(events), streamed=True)
    assert (reply.state, reply.text, reply.finish_reason) == ("ok", *expected)
    assert reply.usage == Usage(prompt=7, completion=5, reasoning=3)


def cut_off() -> Iterator[bytes]:
    """Some events, then the connection is gone."""
    yield from spoken("half an answer")[:9]
    raise BrokenPipeError


def stream(*events: bytes) -> Answer:
    return lambda call: call.chunks(iter(events))


@pytest.mark.parametrize(
    "broken",
    [
        lambda call: call.chunks(cut_off()),
        stream(*spoken("half an answer", None)[:-1]),  # ends as if that were all
        stream(*spoken("half an answer", None), DONE),  # and says so
        stream(*spoken("half an answer", "abort"), DONE),
        stream(*spoken("half")[:4], event({"error": {"message": "overloaded", "code": 500}})),
        stream(*spoken("half")[:4], b"data: {no json\n\n", DONE),
        stream(),
    ],
)
def test_a_broken_stream_is_asked_again_and_no_half_answer_is_kept(broken: Answer, tmp_path: Path) -> None:
    """The server streams one answer brokenly, one well, and one not at all."""
    bodies: list[Any] = []

    def answer(call: Call) -> None:
        bodies.append(json.loads(call.body))
        whole = stream(*spoken(ANSWER), DONE) if len(bodies) < 3 else lambda one: one.json(completion("plain"))
        (broken if len(bodies) == 1 else whole)(call)

    with scripted(answer) as server:
        assert run(tmp_path, card(server.url, stream=True, concurrency=1), many(2, "streamed")) == {"ok": 2}
    assert [one.text for one in journal(tmp_path)] == [ANSWER, "plain"] and len(bodies) == 3
    assert (bodies[0]["stream"], bodies[0]["stream_options"]) == (True, {"include_usage": True})


@given(st.text(), st.text(), st.sampled_from(["stop", "length", "content_filter", "MAX_TOKENS"]), st.integers(1, 50))
def test_a_stream_says_what_the_whole_reply_says(text: str, thoughts: str, finish: str, size: int) -> None:
    message = {"content": text, "reasoning_content": thoughts}
    plain = {"id": "c", "model": "m", "usage": USAGE, "choices": [{"message": message, "finish_reason": finish}]}
    cut = [delta(content=text[at : at + size]) for at in range(0, len(text), size)]
    output = [delta(content=""), delta(reasoning_content=thoughts), *cut, delta(finish)]
    events = b"".join([*map(event, output), event({"choices": [], "usage": USAGE}), DONE])
    expected = read_reply(json.dumps(plain).encode())
    assert all(read_reply(one, streamed=True) == expected for one in (events, json.dumps(plain).encode()))
