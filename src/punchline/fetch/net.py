"""Connections with one deadline for a whole exchange, to public addresses only where required, ended when a run stops.

An address is checked where the connection is opened: the name is resolved once, and the checked address is used, so
that the name cannot resolve to another machine the moment after.
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

POLL_S = 0.2  # between two checks of a waiting connection for the end of the run
HOLD_IPV4 = [ipaddress.ip_network(net) for net in ("64:ff9b::/96", "::/96")]  # last 32 bits: NAT64, IPv4-compatible
NOT_PUBLIC = [ipaddress.ip_network(net) for net in ("64:ff9b:1::/48", "fec0::/10")]


class Private(Exception):
    """An address that is not on the public internet, where only public ones are allowed."""


def is_public(address: str) -> bool:
    """True for an IP address on the public internet; an IPv6 address that holds an IPv4 one is judged by that one."""
    try:
        ip = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if any(ip in network for network in HOLD_IPV4):
            embedded = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if embedded:
            return is_public(str(embedded))
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in NOT_PUBLIC)


def resolve(host: str, port: int | None) -> list[str]:
    """IP addresses of a host name, without repetition. Raises OSError or UnicodeError."""
    return list(dict.fromkeys(str(place[4][0]) for place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


class Backend(httpcore.NetworkBackend, threading.local):
    """The network of an httpx client, with limits per thread. `check` is called while it waits and may raise."""

    deadline = float("inf")  # monotonic
    public: str | None = None  # host that must have a public address

    def __init__(self, check: Callable[[], None]) -> None:
        self.check = check
        self._inner = httpcore.SyncBackend()

    @contextmanager
    def within(self, seconds: float, public: str | None) -> Iterator[None]:
        """Limit an exchange of this thread to so many seconds; `public`: a host that must have a public address."""
        self.deadline, self.public = time.monotonic() + seconds, public
        try:
            yield
        finally:
            self.deadline, self.public = float("inf"), None

    def left(self, timeout: float | None, error: type[Exception]) -> float:
        """Seconds until the time-out or the deadline."""
        self.check()
        left = min(float("inf") if timeout is None else timeout, self.deadline - time.monotonic())
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
        try:
            addresses = resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        public = all(map(is_public, addresses))
        if host == self.public and not public:
            raise Private(host)
        failure: Exception = httpcore.ConnectError("no address")
        for address in addresses:
            left = self.left(timeout, httpcore.ConnectTimeout)
            try:
                stream = self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(self, stream, None if public else host)
        raise failure


class _Stream(httpcore.NetworkStream):
    """A connection that keeps to the limits of the thread that uses it."""

    def __init__(self, backend: Backend, inner: httpcore.NetworkStream, private: str | None) -> None:
        self._backend, self._inner, self._private = backend, inner, private
        self.close, self.get_extra_info = inner.close, inner.get_extra_info  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        until = time.monotonic() + self._backend.left(timeout, httpcore.ReadTimeout)
        while (left := until - time.monotonic()) > 0:
            self._backend.check()
            with suppress(httpcore.ReadTimeout):
                return self._inner.read(max_bytes, min(left, POLL_S))
        raise httpcore.ReadTimeout("silent for too long, or not whole in time")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._private is not None and self._private == self._backend.public:
            raise Private(self._private)  # opened when private addresses were allowed
        self._inner.write(buffer, self._backend.left(timeout, httpcore.WriteTimeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._backend.left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._backend, self._inner.start_tls(ssl_context, server_hostname, left), self._private)
