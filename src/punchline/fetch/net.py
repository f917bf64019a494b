"""Connections to public addresses only, where required.

Both the name and the open connection are checked: a name may resolve to another machine the moment after.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from typing import Any

import httpcore

from punchline.fetch.log import Missing

NAT64 = ipaddress.ip_network("64:ff9b::/96")  # the last 32 bits are an IPv4 address
# IPv4-compatible and -translated, local NAT64, Teredo, 6to4, site-local: some lead to private addresses, and no site
# needs them. The last is a cloud's metadata service.
NOT_PUBLIC = [
    *(ipaddress.ip_network(n) for n in ("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "2001::/32", "2002::/16")),
    *(ipaddress.ip_network(n) for n in ("fec0::/10", "168.63.129.16/32")),
]
# Names without a dot or of local networks (RFC 6761, 6762, 8375, 9476), and whatever ends in a number, as IPv4 does.
_LOCAL = re.compile(
    r"^[^.]*\.?$|\.(localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)\.?$"
    r"|(^|\.)(\d+|0x[\da-f]*)\.?$",
    re.IGNORECASE,
)


def is_public(address: str) -> bool:
    """True for an IP address on the public internet; a mapped or translated IPv4 address is judged as such."""
    try:
        ip = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and (ip.ipv4_mapped or ip in NAT64):
        ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in NOT_PUBLIC)


def private(host: str) -> str:
    """Note on a refused host, with the option that allows it."""
    return f"{host} is on a private network; PUNCHLINE_PRIVATE_HOSTS={host} allows it"


async def check_public(host: str) -> None:
    """Raise Missing for a name with an address that is not public, before anybody is asked for it.

    The names of local networks and numbers are refused also where they mean nothing here: a proxy may resolve them.
    """
    try:
        places = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        is_refused = not all(is_public(str(place[4][0])) for place in places)
    except (OSError, UnicodeError):  # no such name here: connecting says so, or a proxy knows it
        is_refused = _LOCAL.search(host) is not None
    if is_refused:
        raise Missing("unsafe address", private(host))


class Backend(httpcore.AnyIOBackend):
    """The network of an httpx client; `public`: only public addresses are talked to."""

    def __init__(self, public: bool) -> None:
        self.public = public

    async def connect_tcp(self, host: str, port: int, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        """Connect. Raises Missing, before a byte is sent, for an address that must be public and is not."""
        stream = await super().connect_tcp(host, port, *args, **more)
        if self.public and not is_public(str(stream.get_extra_info("server_addr")[0])):
            await stream.aclose()
            raise Missing("unsafe address", private(host))
        return stream
