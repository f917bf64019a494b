"""Replies of a vLLM server about itself are read with a limit, whoever it is: `base_url` may name anybody's."""

import gzip
import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.servers.scripted import Call, scripted

from punchline.engines.vllm import server as vllm_server
from punchline.schema import ModelCard

SAID: dict[str, Any] = {"/version": {"version": "0.32.0"}, "/v1/models": {"data": [{"id": "m"}, {"id": "n"}]}}
REPLIES: dict[str, Callable[[Call], None]] = {
    "proper": lambda call: call.json(SAID[call.path]),
    "without an end": lambda call: call.chunks(b"x" * 2**20 for _ in itertools.count()),
    "dripping": lambda call: call.chunks(b" " for _ in iter(lambda: time.sleep(0.05), 1)),
    "packed": lambda call: call.send(gzip.compress(b" " * 2**26), Content_Encoding="gzip"),
    "packed twice": lambda call: call.send(gzip.compress(gzip.compress(b" " * 2**26)), Content_Encoding="gzip, gzip"),
    "nested": lambda call: call.send(b"[" * 2**20),
    "no object": lambda call: call.json([1]),
    "no JSON": lambda call: call.send(b"\xff{"),
    "an error": lambda call: call.json({}, 500),
    "elsewhere": lambda call: call.send(b"", 302, Location="http://127.0.0.1:9/"),
}


@pytest.mark.parametrize("kind", REPLIES)
def test_only_a_proper_reply_is_one(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_server, "LONGEST", 1.0)
    with scripted(REPLIES[kind]) as server:
        options = {"id": "m", "base_url": f"{server.url}/v1"}
        client = vllm_server.Client(ModelCard(name="m", engine="openai", options=options))
        client.version = "unknown"
        client.find_version()
        expected = ("0.32.0", ["m", "n"]) if kind == "proper" else ("unknown", [])
        assert (client.version, client.served()) == expected
