"""A server in this process whose every reply a test writes: for replies that no honest server sends."""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

Answer = Callable[["Call"], None]


class Call(BaseHTTPRequestHandler):
    """One call; `answer` of its server replies."""

    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    body: bytes = b""

    def _serve(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        served: Any = self.server
        served.calls.append((self.command, self.path, dict(self.headers)))
        try:
            served.answer(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = _serve

    def log_message(self, *_: object) -> None:
        pass

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        """A whole reply; `_` in the name of a header is a hyphen."""
        self.send_response_only(status)  # no Date of its own
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def json(self, value: Any, status: int = 200, **headers: str) -> None:
        self.send(json.dumps(value).encode(), status, **headers)

    def chunks(self, blocks: Iterator[bytes]) -> None:
        """A reply without a length, for as long as somebody reads it."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for block in blocks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
        self.wfile.write(b"0\r\n\r\n")


class Scripted(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Answer, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Call)
        self.answer = answer
        self.calls: list[tuple[str, str, dict[str, str]]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        pass


AnyServer = TypeVar("AnyServer", bound=Scripted)


@contextmanager
def running(server: AnyServer) -> Iterator[AnyServer]:
    """The server, in a thread of its own for as long as it is used."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def scripted(answer: Answer, tls: ssl.SSLContext | None = None) -> AbstractContextManager[Scripted]:
    """A server that replies as `answer` says."""
    server = Scripted(answer)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.url = server.url.replace("http", "https")
    return running(server)


def drip(call: Call) -> None:
    """A reply that never ends, a byte at a time."""
    call.chunks(b" " for _ in iter(lambda: time.sleep(0.02), 1))


def completion(text: Any, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **more}
