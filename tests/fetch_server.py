"""A real HTTP server on 127.0.0.1 that plays any number of hosts: it answers by Host header and path."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpcore
from tests.servers.scripted import Call, Scripted, running

from punchline.fetch.net import Backend


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


class Server(Scripted):
    """`routes[host, path]`: a Reply, a list of them (the last one stays), or a function of the request's number."""

    def __init__(self) -> None:
        super().__init__(self.answer_one)
        self.routes: dict[tuple[str, str], Reply | list[Reply] | Callable[[int], Reply]] = {}
        self.requests: list[tuple[str, str]] = []  # (host, path) in order of arrival
        self.times: dict[str, list[float]] = defaultdict(list)  # host -> monotonic times
        self.agents: set[str] = set()
        self.most_at_once: dict[str, int] = defaultdict(int)
        self._now: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    def asked(self, host: str, path: str) -> int:
        """How often."""
        return self.requests.count((host, path))

    def answer_one(self, request: Call) -> None:
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
            found = route(number) if callable(route) else route
            reply = found[min(number, len(found) - 1)] if isinstance(found, list) else found
            time.sleep(reply.delay)
            self._send(request, reply)
        finally:
            with self._lock:
                self._now[host] -= 1

    @staticmethod
    def _send(request: Call, reply: Reply) -> None:
        request.close_connection = True
        if reply.hang_up:
            return
        request.send_response(reply.status)
        if reply.media_type is not None:
            request.send_header("Content-Type", reply.media_type)
        if not reply.unannounced:
            request.send_header("Content-Length", str(len(reply.body)))
        request.send_header("Connection", "close")  # unannounced, a client may send its next request into the closing
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


class Rerouted(Backend):
    """Connections to some hosts go to other addresses, without TLS. `hosts`: {host: URL}."""

    def __init__(self, public: bool, hosts: dict[str, str]) -> None:
        super().__init__(public)
        self.hosts = hosts

    async def connect_tcp(self, host: str, port: int, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        if host not in self.hosts:
            return await super().connect_tcp(host, port, *args, **more)
        place = urlsplit(self.hosts[host])
        stream = await Backend(False).connect_tcp(place.hostname or "", place.port or 80, *args, **more)

        async def without_tls(*_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
            return stream

        stream.start_tls = without_tls  # type: ignore[method-assign]
        return stream


@contextmanager
def serving() -> Iterator[Server]:
    with running(Server()) as server:
        yield server
