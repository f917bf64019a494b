"""An OpenAI-compatible server that misbehaves on request: a real process, nothing but the standard library.

    python -m tests.servers.misbehaving [--port N] [--log FILE]

The first line on stdout is the port. What a call gets is scripted in its prompt: every `<<fault>>` or
`<<fault:n>>` in the last text is met in order, one a call for this very content (`:n` for n calls, `:always` for all),
and after them comes the normal answer, `answer(messages)`. Faults of the whole server are set with POST /script.

    GET /counts     {content: how often it was asked}, content being the last text of the prompt
    GET /state      {"bodies": [last 20 bodies], "calls", "active"}
    POST /script    {"latency": s, "key": "demanded", "at_once": n, "fault": "of every call", "forget": true,
                    "say": [normal answers: which one is by the digest of model and messages],
                    "again_after": s, after which each fifth reply is sent once more}

FILE gets a line a call, the digest of model and messages, before it is answered, and the answer's id is
`call-<digest>`: whoever kills the server, or a client, can still tell what was asked how often.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import socket
import struct
import threading
import time
from collections import Counter
from typing import Any

from tests.servers.scripted import Call, Scripted, completion

FAULT = re.compile(r"<<([a-z_0-9]+)(?::(\d+|always))?>>")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
RAW = {"slow": HEAD, "reset": HEAD + b'{"choices": [', "no_http": b"HTTP?\r\n\r\n", "closed": b""}
CUT = b'{"choices": [{"message": {"content": "hal'
BODIES = {"empty_body": b"", "malformed": CUT}
REFUSED: dict[str, tuple[int, str, dict[str, Any]]] = {  # (status, words, the rest of the error)
    "429_after": (429, "Rate limit", {"code": "rate_limit_exceeded", "headers": {"Retry-After": "1"}}),
    "429_now": (429, "Rate limit", {"headers": {"Retry-After": "0"}}),
    "echo_key": (500, "The key {key} crashed me; part of it: {part}", {}),
}
# (text, finish reason, other fields of the message, other fields of the reply) of odd answers.
ODD: dict[str, tuple[str | None, str, dict[str, Any], dict[str, Any]]] = {
    "null": (None, "stop", {}, {}),
    "wrong_model": ("I am another", "stop", {}, {"model": "cheaper-model"}),
    "answer_key": ("Your key is {key}.", "stop", {}, {}),
}
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
USAGE |= {"prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 7}}


def last_text(messages: list[dict[str, Any]]) -> str:
    """The last text of the last message."""
    content = messages[-1]["content"]
    return content if isinstance(content, str) else [p["text"] for p in content if p["type"] == "text"][-1]


def digest_of(asked: Any) -> str:
    """Of all that was asked, images too."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def answer(messages: list[dict[str, Any]]) -> str:
    """The normal answer, a function of all that was asked."""
    return f"answer {digest_of(messages)[:16]} to {last_text(messages)[:60]}"


class Server(Scripted):
    request_queue_size = 1024

    def __init__(self, port: int, log: int | None) -> None:
        super().__init__(self.answer_one, port)
        self.log = log  # descriptor
        self.script: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()
        self.state: dict[str, Any] = {"bodies": [], "calls": 0, "active": 0}
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
        elif path != "/v1/chat/completions" or call.command != "POST":
            refuse(call, 404, f"no such page {path}")
        else:
            self.complete(json.loads(call.body), given, call)

    def complete(self, asked: dict[str, Any], key: str, call: Call) -> None:
        text = last_text(asked["messages"])
        digest = digest_of([asked["model"], asked["messages"]])
        with self.lock:
            if self.log is not None:
                os.write(self.log, f"{digest}\n".encode())
            number = self.state["calls"] = self.state["calls"] + 1
            self.state["active"] += 1
            if not self.script.get("forget"):  # 100,000 requests would be kept otherwise
                self.counts[text] += 1
                self.state["bodies"] = [*self.state["bodies"][-19:], asked]
            fault = self.fault(text)
        try:
            time.sleep(self.script.get("latency", 0))
            if fault is None:
                said = self.script.get("say") or [answer(asked["messages"])]
                name = f"req-{number}" if self.log is None else f"call-{digest}"
                text = said[int(digest, 16) % len(said)]
                call.json(reply(asked, text), x_request_id=name)
                if "again_after" in self.script:
                    call.close_connection = False  # whatever the client asks for
                if "again_after" in self.script and number % 5 == 0:
                    threading.Thread(target=self.repeat, args=(call, reply(asked, text)), daemon=True).start()
            elif fault != "hang":
                misbehave(fault, asked, key, call)
        finally:
            with self.lock:
                self.state["active"] -= 1
        if fault == "hang":  # nobody waits for it any more
            time.sleep(3600)

    def repeat(self, call: Call, sent: dict[str, Any]) -> None:
        """Send a reply again, `again_after` seconds late, whatever its connection is used for by then."""
        time.sleep(self.script["again_after"])
        with contextlib.suppress(OSError, ValueError):  # the connection may be closed
            call.json(sent)
            call.wfile.flush()

    def fault(self, text: str) -> str | None:
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


def reply(asked: dict[str, Any], text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return completion(text, model=asked["model"], system_fingerprint="fp_1", choices=[choice], usage=USAGE)


def misbehave(fault: str, asked: dict[str, Any], key: str, call: Call) -> None:
    """Answer a chat completion as the fault says."""
    if fault in RAW:
        call.close_connection = True
        call.wfile.write(RAW[fault])
        for _ in range(500 if fault == "slow" else 0):  # the head at once, the body never whole
            call.wfile.write(b" ")
            time.sleep(0.05)
        if fault == "reset":
            time.sleep(0.01)
            call.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(call.connection.detach())
    elif fault in REFUSED:
        status, words, about = REFUSED[fault]
        refuse(call, status, words.format(key=key, part=key[3:20]), **about)
    elif fault in BODIES:
        call.send(BODIES[fault], Content_Type="application/json")
    elif fault in ODD:
        text, finish, message, rest = ODD[fault]
        call.json(reply(asked, text and text.replace("{key}", key), finish, **message) | rest)
    else:
        refuse(call, int(fault), f"status {fault}, as asked")


def refuse(call: Call, status: int, message: str, headers: dict[str, str] | None = None, **about: str | None) -> None:
    """Send an error in OpenAI's shape."""
    error = {"message": message, "type": "error", "param": None, "code": None, **about}
    call.json({"error": error}, status, **headers or {})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", metavar="FILE")
    given = parser.parse_args()
    log = os.open(given.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666) if given.log else None
    with Server(given.port, log) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
