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
import asyncio
import email.utils
import hashlib
import json
import os
import re
import socket
import ssl
import struct
import time
from collections import Counter
from typing import Any

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


class Server:
    """State and behaviour."""

    def __init__(self, log: int | None = None) -> None:
        self.log = log  # descriptor
        self.script: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()
        self.calls = self.active = 0
        self.starts: list[float] = []
        self.bodies: list[Any] = []

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one keep-alive connection."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, path, _ = head.split(" ", 2)
                lines = (line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                headers = {name.lower(): value for name, value in lines}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if headers.get("transfer-encoding") == "chunked":
                    body = await self._chunks(reader)
                if not await self.serve(method, path.split("?")[0], headers, body, writer):
                    break
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _chunks(self, reader: asyncio.StreamReader) -> bytes:
        made = b""
        while size := int(await reader.readline(), 16):
            made += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
        return made

    async def serve(self, method: str, path: str, headers: dict[str, str], body: bytes, out: Any) -> bool:
        """Answer one call; False ends the connection."""
        if path == "/script":
            self.script = json.loads(body)
            return reply(out, 200, {})
        if path == "/counts":
            return reply(out, 200, self.counts)
        if path == "/state":
            return reply(out, 200, {name: getattr(self, name) for name in ("starts", "bodies", "calls", "active")})
        key = self.script.get("key")
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if key is not None and given != key:
            words = f"Incorrect API key provided: {given}. I wanted another, {given[:12]} is none."
            return refuse(out, 401, words, code="invalid_api_key")
        if path.endswith("/models"):
            return reply(out, 200, {"object": "list", "data": [{"id": "m", "object": "model"}]})
        if path != "/v1/chat/completions" or method != "POST":
            return refuse(out, 404, f"no such page {path}", code=None)
        asked = json.loads(body)
        self.calls += 1
        self.active += 1
        try:
            return await self.complete(asked, given, out)
        finally:
            self.active -= 1

    async def complete(self, asked: dict[str, Any], key: str, out: Any) -> bool:
        """POST /v1/chat/completions."""
        text = last_text(asked["messages"])
        digest = digest_of([asked["model"], asked["messages"]])
        if self.log is not None:
            os.write(self.log, f"{digest}\n".encode())
        if not self.script.get("forget"):  # 100,000 requests would be kept otherwise
            self.counts[text] += 1
            self.starts.append(time.monotonic())
            self.bodies = [*self.bodies[-19:], asked]
        await asyncio.sleep(self.script.get("latency", 0))
        fault = self.fault(text)
        if fault is None:
            said = self.script.get("say")
            made = self.completion(asked, said[int(digest, 16) % len(said)] if said else answer(asked["messages"]))
            name = f"req-{self.calls}" if self.log is None else f"call-{digest}"
            return reply(out, 200, made, {"x-request-id": name})
        return await self.misbehave(fault, asked, key, out)

    def fault(self, text: str) -> str | None:
        """The fault that this call meets."""
        if self.active > self.script.get("at_once", 10**9):
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
        said = {"role": "assistant", "content": text, **message}
        details = {"prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 7}}
        made = {"id": f"chatcmpl-{self.calls}", "object": "chat.completion", "created": 1, "system_fingerprint": "fp_1"}
        return {
            **made,
            "model": self.script.get("model", asked["model"]),
            "choices": [{"index": 0, "finish_reason": finish, "message": said}],
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

    async def misbehave(self, fault: str, asked: dict[str, Any], key: str, out: Any) -> bool:
        """Answer a chat completion as the fault says."""
        if fault == "hang":
            self.active -= 1  # nobody waits for it any more
            await asyncio.sleep(3600)
        if fault == "slow":  # the head at once, the body never whole
            out.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(500):
                out.write(b" ")
                await out.drain()
                await asyncio.sleep(0.05)
            return False
        if fault == "reset":
            out.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"choices": [')
            await out.drain()
            await asyncio.sleep(0.01)
            out.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            out.transport.abort()
            return False
        if fault in ("closed", "no_http"):
            out.write(b"" if fault == "closed" else b"what is HTTP?\r\n\r\n")
            return False
        if fault == "429_date":
            until = email.utils.formatdate(time.time() + 7200 + DATE_AHEAD_S, usegmt=True)  # a clock 2 hours ahead
            now = email.utils.formatdate(time.time() + 7200, usegmt=True)
            return refuse(out, 429, "Rate limit", code=None, headers={"Retry-After": until, "Date": now})
        if fault == "echo_key":
            return refuse(out, 500, f"The key {key} crashed me; part of it: {key[3:20]}", code=None)
        if fault in REFUSED:
            status, words, about = REFUSED[fault]
            return refuse(out, status, words, **about)
        if fault in UNREADABLE:
            return reply_bytes(out, 200, UNREADABLE[fault])
        if not fault.isdigit():
            return reply(out, 200, self.odd_answer(fault, asked, key))
        status = int(fault)
        return refuse(out, status, f"status {status}, as asked", code=None)


def reply(out: Any, status: int, body: Any, headers: dict[str, str] | None = None) -> bool:
    """Send JSON."""
    return reply_bytes(out, status, json.dumps(body).encode(), headers)


def reply_bytes(out: Any, status: int, body: bytes, headers: dict[str, str] | None = None) -> bool:
    """Send a whole reply."""
    lines = [f"HTTP/1.1 {status} Whatever", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    out.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    return True


def refuse(out: Any, status: int, message: str, headers: dict[str, str] | None = None, **about: str | None) -> bool:
    """Send an error in OpenAI's shape."""
    body = {"error": {"message": message, "type": "error", "param": None, **about}}
    return reply(out, status, body, headers)


async def serve(port: int, log: str | None, tls: ssl.SSLContext | None) -> None:
    """Serve until killed."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666) if log else None
    made = asyncio.start_server(Server(file).connection, "127.0.0.1", port, limit=2**26, backlog=1024, ssl=tls)
    server = await made
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", metavar="FILE")
    parser.add_argument("--tls", metavar="FILE", help="a certificate and its key: speak HTTPS")
    given = parser.parse_args()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if given.tls else None
    if context is not None:
        context.load_cert_chain(given.tls)
    asyncio.run(serve(given.port, given.log, context))
