"""Answers that are streamed: whole, broken off, with an error, not streamed after all."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.servers.runs import card, journal, many, run
from tests.servers.scripted import Answer, Call, completion, scripted

from punchline.engines.openai import chat
from punchline.schema import Usage

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
        ([*spoken(ANSWER, None), DONE], (ANSWER, None)),
        ([*spoken("", "length", thoughts="and so on"), DONE], ("", "length")),
    ],
)
def test_a_stream_is_the_answer_that_it_adds_up_to(events: list[bytes], expected: tuple[str, str | None]) -> None:
    reply = chat.read_reply(b"".join(events), streamed=True)
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
    expected = chat.read_reply(json.dumps(plain).encode())
    assert all(chat.read_reply(one, streamed=True) == expected for one in (events, json.dumps(plain).encode()))
