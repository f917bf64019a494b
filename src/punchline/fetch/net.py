"""Connections: one deadline for a whole exchange, to public addresses only where that is asked, ended when a run stops.

An address is judged where it is connected to: the name is looked up once, what it means is checked, and that very
address is used, so that no name can mean another machine the moment after.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpcore
import httpx

LOOK_S = 0.2  # how often a waiting connection looks whether the run ends


class Private(Exception):
    """An address that is not on the public internet, where only such ones may be asked."""


def is_public(address: str) -> bool:
    """True for an IP address on the public internet; an IPv6 address that holds an IPv4 one is judged by that one."""
    try:
        ip = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inside = _embedded(ip)
        if inside is not None:
            return is_public(str(inside))
        if ip.is_site_local or ip in ipaddress.ip_network("64:ff9b:1::/48"):
            return False
    return ip.is_global and not ip.is_multicast


def _embedded(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that is reached in the end: mapped, compatible, NAT64, 6to4 or Teredo."""
    embedded = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
    last = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if ip in ipaddress.ip_network("64:ff9b::/96") or (ip in ipaddress.ip_network("::/96") and int(ip) > 1):
        return embedded or last
    return embedded


class Exchange(threading.local):
    """Limits of the thread's exchange."""

    deadline = float("inf")  # monotonic
    public: str | None = None  # host that must have a public address


class Backend(httpcore.NetworkBackend):
    """The network as httpx sees it. `check` is called often while something is waited for, and may raise."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.check = check
        self.exchange = Exchange()
        self._inner = httpcore.SyncBackend()

    @contextmanager
    def within(self, seconds: float, public: str | None) -> Iterator[None]:
        """An exchange of this thread: at most so many seconds; `public`: a host that must have a public address."""
        self.exchange.deadline, self.exchange.public = time.monotonic() + seconds, public
        try:
            yield
        finally:
            self.exchange.deadline, self.exchange.public = float("inf"), None

    def left(self, timeout: float | None, error: type[Exception]) -> float:
        """Seconds until the time-out or the deadline."""
        left = min(float("inf") if timeout is None else timeout, self.exchange.deadline - time.monotonic())
        if left <= 0:
            raise error("the time for the whole exchange is over")
        return left

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of the name that answers."""
        self.check()
        try:
            places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        addresses = list(dict.fromkeys(str(place[4][0]) for place in places))
        public = all(is_public(address) for address in addresses)
        if host == self.exchange.public and not public:
            raise Private(host)
        failure: Exception = httpcore.ConnectError("no address")
        for address in addresses:
            self.check()
            left = self.left(timeout, httpcore.ConnectTimeout)
            try:
                stream = self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            return _Stream(self, stream, None if public else host)
        raise failure


class _Stream(httpcore.NetworkStream):
    """A connection that keeps to the exchange of the thread that uses it."""

    def __init__(self, backend: Backend, inner: httpcore.NetworkStream, private: str | None) -> None:
        self._backend, self._inner, self._private = backend, inner, private

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        until = time.monotonic() + self._backend.left(timeout, httpcore.ReadTimeout)
        while (left := until - time.monotonic()) > 0:
            self._backend.check()
            with suppress(httpcore.ReadTimeout):
                return self._inner.read(max_bytes, min(left, LOOK_S))
        raise httpcore.ReadTimeout("silent for too long, or not whole in time")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._backend.check()
        if self._private is not None and self._private == self._backend.exchange.public:
            raise Private(self._private)  # opened when private addresses were allowed
        self._inner.write(buffer, self._backend.left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._backend.left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._backend, self._inner.start_tls(ssl_context, server_hostname, left), self._private)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def put_under(client: httpx.Client, backend: Backend) -> None:
    """Make a client, through a proxy or not, connect by way of `backend`. httpx has no argument for that."""
    for transport in (client._transport, *client._mounts.values()):
        if transport is not None:
            pool = transport._pool  # type: ignore[attr-defined]
            assert pool._network_backend is not None
            pool._network_backend = backend
