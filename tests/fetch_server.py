"""A real HTTP server on 127.0.0.1 that plays any number of hosts: it answers by Host header and path."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    body: bytes = b""
    media_type: str | None = "image/png"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0  # bytes of the body that are announced and not sent
    unannounced: bool = False  # no Content-Length
    delay: float = 0.0  # seconds before the answer
    drip: float = 0.0  # seconds between bytes
    hang_up: bool = False  # close the connection without an answer


def page(html: str, **more: object) -> Reply:
    return Reply(html.encode(), "text/html; charset=utf-8", **more)  # type: ignore[arg-type]


class Server:
    """`routes[host, path]`: a Reply, a list of them (the last one stays), or a function of the request's number."""

    def __init__(self) -> None:
        self.routes: dict[tuple[str, str], Reply | list[Reply] | Callable[[int], Reply]] = {}
        self.requests: list[tuple[str, str]] = []  # (host, path) in order of arrival
        self.times: dict[str, list[float]] = defaultdict(list)  # host -> monotonic times
        self.agents: set[str] = set()
        self.most_at_once: dict[str, int] = defaultdict(int)
        self._now: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()
        outer = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def asked(self, host: str, path: str) -> int:
        """How often."""
        return self.requests.count((host, path))

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        host, path = request.headers["Host"], request.path
        with self._lock:
            number = self.asked(host, path)
            self.requests.append((host, path))
            self.times[host].append(time.monotonic())
            self.agents.add(request.headers["User-Agent"])
            self._now[host] += 1
            self.most_at_once[host] = max(self.most_at_once[host], self._now[host])
        try:
            route = self.routes.get((host, path), Reply(b"no such thing", "text/plain", 404))
            reply = (
                route(number)
                if callable(route)
                else route[min(number, len(route) - 1)]
                if isinstance(route, list)
                else route
            )
            time.sleep(reply.delay)
            self._send(request, reply)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with self._lock:
                self._now[host] -= 1

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, reply: Reply) -> None:
        request.close_connection = True
        if reply.hang_up:
            return
        request.send_response(reply.status)
        if reply.media_type is not None:
            request.send_header("Content-Type", reply.media_type)
        if not reply.unannounced:
            request.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            request.send_header(name, value)
        request.end_headers()
        body = reply.body[: len(reply.body) - reply.cut]
        if reply.drip:
            for byte in body:
                request.wfile.write(bytes([byte]))
                time.sleep(reply.drip)
        else:
            request.wfile.write(body)


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
