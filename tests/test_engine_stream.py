"""Answers that are streamed, from a real server: whole, broken off, with an error, not streamed after all."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.servers.runs import card, journal, many, run
from tests.servers.scripted import Call, completion, scripted

from punchline.engines.openai import chat
from punchline.schema import Response

pytest.importorskip("openai", reason="OPENAI ABSENT: pip install 'openai>=3'")

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


def pieces(events: list[bytes], size: int) -> Iterator[bytes]:
    """The same bytes cut anywhere, characters too."""
    every = b"".join(events)
    return (every[at : at + size] for at in range(0, len(every), size))


def told(folder: Path, asked: int, **options: Any) -> tuple[list[Response], list[Any]]:
    """Answers of a server that plays `replies` one after the other, the last for good; and the bodies it got."""
    replies, bodies = options.pop("replies"), list[Any]()

    def answer(call: Call) -> None:
        bodies.append(json.loads(call.body))
        reply = replies[min(len(bodies), len(replies)) - 1]
        if callable(reply):
            reply(call)
        else:
            call.chunks(iter(reply), Content_Type="text/event-stream")

    with scripted(answer) as server:
        of = card(server.url, stream=True, concurrency=1, **options)
        run(folder, of, many(asked, "streamed"))
    return [msgspec.convert(msgspec.to_builtins(line), Response) for line in journal(folder)], bodies


def cut_off(call: Call) -> None:
    """Some events, then the connection is gone."""
    call.send_response(200)
    call.send_header("Content-Type", "text/event-stream")
    call.send_header("Transfer-Encoding", "chunked")
    call.end_headers()
    for block in spoken("half an answer")[:9]:
        call.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
    call.wfile.flush()
    call.close_connection = True
    call.connection.close()


@pytest.mark.parametrize(
    "events",
    [
        [*spoken(ANSWER), DONE],
        [b": waiting\n\n", *spoken(ANSWER, end="\r\n\r\n"), DONE],
        [b"event: message\n", *spoken(ANSWER, end="\n\n"), DONE, event({"error": {"message": "after the end"}})],
        spoken(ANSWER),  # ends by its finish reason
        [*spoken(ANSWER, None), DONE],
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_stream_is_the_answer_that_it_adds_up_to(events: list[bytes], size: int, tmp_path: Path) -> None:
    (one,), (body,) = told(tmp_path, 1, replies=[list(pieces(events, size))])
    assert (one.state, one.text) == ("ok", ANSWER)
    assert one.finish_reason == ("stop" if b'"stop"' in b"".join(events) else None)
    assert (one.usage.prompt, one.usage.completion, one.usage.reasoning) == (7, 5, 3)
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


@pytest.mark.parametrize(
    "broken",
    [
        cut_off,
        spoken("half an answer", None)[:-1],  # ends as if that were all
        [*spoken("half")[:4], event({"error": {"message": "overloaded", "code": 500}})],
        [*spoken("half")[:4], b"data: {no json\n\n", DONE],
        [],
    ],
)
def test_a_broken_stream_is_asked_again_and_no_half_answer_is_kept(broken: Any, tmp_path: Path) -> None:
    lines, bodies = told(tmp_path / "again", 1, replies=[broken, [*spoken(ANSWER), DONE]])
    assert [(one.state, one.text) for one in lines] == [("ok", ANSWER)] and len(bodies) == 2
    (line,), bodies = told(tmp_path / "never", 1, replies=[broken], breaker=0)
    assert (line.state, line.text) == ("failed", None) and len(bodies) == 4  # attempts


def test_thoughts_that_take_all_tokens_are_a_truncated_answer(tmp_path: Path) -> None:
    (one,), _ = told(tmp_path, 1, replies=[[*spoken("", "length", thoughts="and so on"), DONE]])
    assert (one.state, one.text, one.truncated) == ("ok", "", True)


def test_a_server_that_does_not_stream_is_understood(tmp_path: Path) -> None:
    (one,), _ = told(tmp_path, 1, replies=[lambda call: call.json(completion("plain", usage=USAGE))])
    assert (one.state, one.text, one.usage.reasoning) == ("ok", "plain", 3)


@given(st.text(), st.text(), st.sampled_from(["stop", "length", "content_filter", "MAX_TOKENS"]), st.integers(1, 50))
def test_a_stream_says_what_the_whole_reply_says(text: str, thoughts: str, finish: str, size: int) -> None:
    message = {"content": text, "reasoning_content": thoughts}
    plain = {"id": "c", "model": "m", "usage": USAGE, "choices": [{"message": message, "finish_reason": finish}]}
    cut = [delta(content=text[at : at + size]) for at in range(0, len(text), size)]
    output = [delta(content=""), delta(reasoning_content=thoughts), *cut, delta(finish)]
    stream = b"".join([*map(event, output), event({"choices": [], "usage": USAGE}), DONE])
    expected = chat.read_reply(json.dumps(plain).encode())
    assert all(chat.read_reply(one, streamed=True) == expected for one in (stream, json.dumps(plain).encode()))


@given(st.binary())
def test_bytes_that_are_no_stream_are_no_answer(content: bytes) -> None:
    with pytest.raises(chat.Unusable):
        chat.read_reply(content, streamed=True)
