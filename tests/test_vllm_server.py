"""What a vLLM server says of itself is read with a limit, whoever it is: `base_url` may name anybody's."""

import gzip
import itertools
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.servers.scripted import Call, scripted

from punchline.engines.vllm import server as vllm_server


def without_end(call: Call) -> None:
    call.chunks(b"x" * 2**20 for _ in itertools.count())


UNREADABLE: dict[str, Callable[[Call], None]] = {
    "without an end": without_end,
    "packed": lambda call: call.send(gzip.compress(b" " * 2**26), Content_Encoding="gzip"),
    "packed twice": lambda call: call.send(gzip.compress(gzip.compress(b" " * 2**26)), Content_Encoding="gzip, gzip"),
    "nested": lambda call: call.send(b"[" * 2**20),
    "no object": lambda call: call.json([1]),
    "no JSON": lambda call: call.send(b"\xff{"),
    "an error": lambda call: call.json({}, 500),
    "elsewhere": lambda call: call.send(b"", 302, Location="http://127.0.0.1:9/"),
}


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE)
def test_a_reply_that_cannot_be_read_is_no_reply(answer: Callable[[Call], None]) -> None:
    with scripted(answer) as server, vllm_server.client(server.url) as http:
        assert vllm_server.version(http) is None
        with pytest.raises((httpx.HTTPError, ValueError, KeyError, TypeError)):
            vllm_server.served(http)


def test_a_reply_that_drips_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_server, "LONGEST", 0.2)

    def drip(call: Call) -> None:
        call.chunks(b" " for _ in iter(lambda: time.sleep(0.05), 1))

    with scripted(drip) as server, vllm_server.client(server.url) as http:
        assert vllm_server.version(http) is None


def test_what_a_server_says() -> None:
    said: dict[str, Any] = {"/version": {"version": "0.32.0"}, "/v1/models": {"data": [{"id": "m"}, {"id": "n"}]}}

    def answer(call: Call) -> None:
        call.json(said[call.path])

    with scripted(answer) as server, vllm_server.client(server.url) as http:
        assert vllm_server.version(http) == "0.32.0"
        assert vllm_server.served(http) == ["m", "n"]
