"""An OpenAI-compatible server that misbehaves on request: a real process, nothing but the standard library.

    python -m tests.servers.misbehaving [--port N] [--log FILE] [--tls FILE]

The first line on stdout is the port. What a call gets is scripted in its prompt: every `<<fault>>` or
`<<fault:n>>` in the last text is met in order, one a call for this very content (`:n` for n calls, `:always` for all),
and after them comes the normal answer, `answer(messages)`. Faults of the whole server are set with POST /script.

    GET /counts     {content: how often it was asked}, content being the last text of the prompt
    GET /state      {"starts": [seconds of each call], "bodies": [last 20 bodies], "calls", "active"}
    POST /script    {"latency": s, "key": "demanded", "model": "served name", "at_once": n,
                    "fault": "of every call", "forget": true,
                    "say": [normal answers: which one is by the digest of model and messages]}

FILE gets a line a call, the digest of model and messages, before it is answered, and the answer's id is
`call-<digest>`: whoever kills the server, or a client, can still tell what was asked how often.
"""

import argparse
import email.utils
import hashlib
import json
import os
import re
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from typing import Any

from tests.servers.scripted import Call, Scripted

FAULT = re.compile(r"<<([a-z_0-9]+)(?::(\d+|always))?>>")
DATE_AHEAD_S = 2


def last_text(messages: list[dict[str, Any]]) -> str:
    """The last text of the last message."""
    content = messages[-1]["content"]
    return content if isinstance(content, str) else [p["text"] for p in content if p["type"] == "text"][-1]


def digest_of(asked: Any) -> str:
    """Of all that was asked, images too."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def answer(messages: list[dict[str, Any]]) -> str:
    """The normal answer, a function of all that was asked."""
    digest = digest_of(messages)
    return f"answer {digest[:16]} to {last_text(messages)[:60]}"


UNSUPPORTED = "Unsupported parameter: 'temperature' is not supported with this model."
TOO_LONG = "This model's maximum context length is 100 tokens. However, you requested 200 (max_tokens 64)."
REFUSED: dict[str, tuple[int, str, dict[str, Any]]] = {  # (status, words, the rest of the error)
    "429_after": (429, "Rate limit", {"code": "rate_limit_exceeded", "headers": {"Retry-After": "1"}}),
    "429_now": (429, "Rate limit", {"code": None, "headers": {"Retry-After": "0"}}),
    "429_long": (429, "Come back tomorrow", {"code": None, "headers": {"Retry-After": "86400"}}),
    "429_quota": (429, "You exceeded your current quota", {"code": "insufficient_quota"}),
    "parameter": (400, UNSUPPORTED, {"code": "unsupported_parameter", "param": "temperature"}),
    "too_long": (400, TOO_LONG, {"code": "context_length_exceeded", "param": "messages"}),
    "bad": (400, "I do not like this one.", {"code": "invalid_request_error"}),
}
UNREADABLE = {
    "empty_body": b"",
    "malformed": b'{"choices": [{"message": {"content": "hal',
    "no_choices": b'{"id": "x", "choices": []}',
}


class Server(Scripted):
    """State and behaviour."""

    request_queue_size = 1024

    def __init__(self, port: int, log: int | None, tls: ssl.SSLContext | None) -> None:
        super().__init__(self.answer_one, port)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.log = log  # descriptor
        self.script: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()
        self.state: dict[str, Any] = {"starts": [], "bodies": [], "calls": 0, "active": 0}
        self.lock = threading.Lock()

    def answer_one(self, call: Call) -> None:
        self.calls.clear()
        path = call.path.split("?")[0]
        given = call.headers.get("authorization", "").removeprefix("Bearer ")
        if path == "/script":
            self.script = json.loads(call.body)
            call.json({})
        elif path in ("/counts", "/state"):
            call.json(self.counts if path == "/counts" else self.state)
        elif self.script.get("key") not in (None, given):
            words = f"Incorrect API key provided: {given}. I wanted another, {given[:12]} is none."
            refuse(call, 401, words, code="invalid_api_key")
        elif path.endswith("/models"):
            call.json({"object": "list", "data": [{"id": "m", "object": "model"}]})
        elif path != "/v1/chat/completions" or call.command != "POST":
            refuse(call, 404, f"no such page {path}", code=None)
        else:
            self.complete(json.loads(call.body), given, call)

    def complete(self, asked: dict[str, Any], key: str, call: Call) -> None:
        """POST /v1/chat/completions."""
        text = last_text(asked["messages"])
        digest = digest_of([asked["model"], asked["messages"]])
        with self.lock:
            if self.log is not None:
                os.write(self.log, f"{digest}\n".encode())
            number = self.state["calls"] = self.state["calls"] + 1
            self.state["active"] += 1
            if not self.script.get("forget"):  # 100,000 requests would be kept otherwise
                self.counts[text] += 1
                self.state["starts"].append(time.monotonic())
                self.state["bodies"] = [*self.state["bodies"][-19:], asked]
            fault = self.fault(text)
        try:
            time.sleep(self.script.get("latency", 0))
            if fault is None:
                output = self.script.get("say")
                result = self.completion(
                    asked, output[int(digest, 16) % len(output)] if output else answer(asked["messages"])
                )
                call.json(result, x_request_id=f"req-{number}" if self.log is None else f"call-{digest}")
            elif fault != "hang":
                self.misbehave(fault, asked, key, call)
        finally:
            with self.lock:
                self.state["active"] -= 1
        if fault == "hang":  # nobody waits for it any more
            time.sleep(3600)

    def fault(self, text: str) -> str | None:
        """The fault that this call meets."""
        if self.state["active"] > self.script.get("at_once", 10**9):
            return "429"
        if (fault := self.script.get("fault")) is not None:
            return str(fault)
        met = self.counts[text]
        for name, times in FAULT.findall(text):
            count = 10**9 if times == "always" else int(times or 1)
            if met <= count:
                return str(name)
            met -= count
        return None

    def completion(self, asked: dict[str, Any], text: str | None, finish: str = "stop", **message: Any) -> Any:
        """A chat completion."""
        output = {"role": "assistant", "content": text, **message}
        details = {"prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 7}}
        result = {
            "id": f"chatcmpl-{self.calls}",
            "object": "chat.completion",
            "created": 1,
            "system_fingerprint": "fp_1",
        }
        return {
            **result,
            "model": self.script.get("model", asked["model"]),
            "choices": [{"index": 0, "finish_reason": finish, "message": output}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, **details},
        }

    def odd_answer(self, fault: str, asked: dict[str, Any], key: str) -> dict[str, Any]:
        """A chat completion that is none, or not the one that was wanted."""
        return {
            "null": lambda: self.completion(asked, None),
            "length": lambda: self.completion(asked, None, "length"),
            "empty_text": lambda: self.completion(asked, ""),
            "surrogates": lambda: {**self.completion(asked, "half \ud83d", "st\udc00"), "model": "m\ud83d"},
            "wrong_model": lambda: {**self.completion(asked, "I am another"), "model": "cheaper-model"},
            "content_filter": lambda: self.completion(asked, None, "content_filter"),
            "refusal": lambda: self.completion(asked, None, refusal="I won't say."),
            "answer_key": lambda: self.completion(asked, f"Your key is {key}."),
        }[fault]()

    def misbehave(self, fault: str, asked: dict[str, Any], key: str, call: Call) -> None:
        """Answer a chat completion as the fault says."""
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        if fault in ("slow", "reset", "closed", "no_http"):
            call.close_connection = True
            call.wfile.write(
                {"slow": head, "reset": head + b'{"choices": [', "no_http": b"HTTP?\r\n\r\n"}.get(fault, b"")
            )
            for _ in range(500 if fault == "slow" else 0):  # the head at once, the body never whole
                call.wfile.write(b" ")
                time.sleep(0.05)
            if fault == "reset":
                time.sleep(0.01)
                call.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                os.close(call.connection.detach())
        elif fault == "429_date":  # a clock 2 hours ahead
            until, now = (email.utils.formatdate(time.time() + s, usegmt=True) for s in (7200 + DATE_AHEAD_S, 7200))
            refuse(call, 429, "Rate limit", code=None, headers={"Retry-After": until, "Date": now})
        elif fault == "echo_key":
            refuse(call, 500, f"The key {key} crashed me; part of it: {key[3:20]}", code=None)
        elif fault in REFUSED:
            status, words, about = REFUSED[fault]
            refuse(call, status, words, **about)
        elif fault in UNREADABLE:
            call.send(UNREADABLE[fault], Content_Type="application/json")
        elif fault.isdigit():
            refuse(call, int(fault), f"status {fault}, as asked", code=None)
        else:
            call.json(self.odd_answer(fault, asked, key))


def refuse(call: Call, status: int, message: str, headers: dict[str, str] | None = None, **about: str | None) -> None:
    """Send an error in OpenAI's shape."""
    call.json({"error": {"message": message, "type": "error", "param": None, **about}}, status, **headers or {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", metavar="FILE")
    parser.add_argument("--tls", metavar="FILE", help="a certificate and its key: speak HTTPS")
    given = parser.parse_args()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if given.tls else None
    if context is not None:
        context.load_cert_chain(given.tls)
    log = os.open(given.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666) if given.log else None
    with Server(given.port, log, context) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
