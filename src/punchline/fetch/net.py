"""Connections to public addresses only, where required.

An address is checked where the connection is opened: the name is resolved once, and the checked address is used, so
that the name cannot resolve to another machine the moment after.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

import httpcore

from punchline.fetch.log import Missing

NAT64 = ipaddress.ip_network("64:ff9b::/96")  # the last 32 bits are an IPv4 address
# IPv4-compatible, local NAT64, Teredo, 6to4, site-local: some lead to private addresses, and no site needs them.
NOT_PUBLIC = [ipaddress.ip_network(n) for n in ("::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fec0::/10")]


def is_public(address: str) -> bool:
    """True for an IP address on the public internet; a mapped or translated IPv4 address is judged as such."""
    try:
        ip = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and (ip.ipv4_mapped or ip in NAT64):
        ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in NOT_PUBLIC)


async def resolve(host: str, port: int | None, public: bool) -> list[str]:
    """IP addresses of a host name, without repetition.

    Raises OSError or UnicodeError for an unknown name, Missing if all must be `public` and one is not.
    """
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(place[4][0]) for place in infos))
    if public and not all(map(is_public, addresses)):
        raise Missing("unsafe address", f"{host} is on a private network")
    return addresses


class Backend(httpcore.AnyIOBackend):
    """The network of an httpx client; `public`: only public addresses are connected to."""

    def __init__(self, public: bool) -> None:
        self.public = public

    async def connect_tcp(self, host: str, port: int, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of the name that answers."""
        try:
            addresses = await resolve(host, port, self.public)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        failure: Exception = httpcore.ConnectError("no address")
        for address in addresses:
            try:
                return await super().connect_tcp(address, port, *args, **more)
            except httpcore.ConnectTimeout as error:
                failure = error
            except httpcore.ConnectError as error:  # anyio says that it failed, its cause says why
                failure = httpcore.ConnectError(str((error.__context__ and error.__context__.__cause__) or error))
        raise failure
