"""HTTP client below the package's own: bounds the size of a reply, follows no redirect, trusts no used connection.

Imported when a client is made.
"""

from __future__ import annotations

import ssl
from contextlib import aclosing
from typing import Any, cast

import aiohttp
import httpx2
import openai

from punchline.core.certificates import trusted
from punchline.text import without_secret

ENCODINGS = ("gzip", "deflate")


def _one_call_session(context: ssl.SSLContext, most: int | None) -> aiohttp.ClientSession:
    """A session whose connections end with their first reply; `most`: connections at a time."""
    connector = aiohttp.TCPConnector(force_close=True, ssl=context, limit=most or 0)
    return aiohttp.ClientSession(connector=connector)


class Unwanted(Exception):
    """A reply that is not read to its end; another try would get the same."""


class BoundedClient(openai.DefaultAioHttpClient):
    """Client that reads at most `most` bytes of a reply, decoded. aiohttp's transport takes half of httpx's CPU.

    Without `keep_alive` each call has a connection of its own. A server or proxy that repeats a reply a moment late
    sends the copy while the next call of that connection is in flight, and nothing tells it from that call's reply.
    """

    def __init__(self, most: int, *, keep_alive: bool, **options: Any) -> None:
        self.most = most
        self.keep_alive = keep_alive
        options["headers"] = {"Accept-Encoding": ", ".join(ENCODINGS)}
        if not keep_alive:
            options["headers"]["Connection"] = "close"
        super().__init__(verify=trusted() or httpx2.create_ssl_context(), **options)

    def _init_transport(self, *args: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return self._without_reuse(super()._init_transport(*args, **options))

    def _init_proxy_transport(self, *args: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return self._without_reuse(super()._init_proxy_transport(*args, **options))

    def _without_reuse(self, transport: Any) -> httpx2.AsyncBaseTransport:
        """The transport, with a session that closes each connection after its reply unless `keep_alive`."""
        if not self.keep_alive:
            transport.client = lambda: _one_call_session(transport.ssl_context, transport.limits.max_connections)
        return cast(httpx2.AsyncBaseTransport, transport)

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Whole reply, whatever `stream`. Raises Unwanted and httpx2.RequestError."""
        try:
            return await self._whole(await super().send(request, stream=True, **options | {"follow_redirects": False}))
        except aiohttp.ClientError as error:  # a reply that is no HTTP: the transport lets it through
            raise httpx2.RemoteProtocolError(str(error), request=request) from error

    async def _whole(self, response: httpx2.Response) -> httpx2.Response:
        async with aclosing(response), aclosing(response.aiter_bytes()) as decoded:
            if response.has_redirect_location:
                place = without_secret(response.headers["Location"])
                raise Unwanted(f"the server redirects to {place}: not followed; correct `base_url`")
            encoding = response.headers.get("Content-Encoding", "identity").lower()
            if encoding not in ("identity", *ENCODINGS):
                raise Unwanted(f"the reply is packed as {encoding}: not read")
            content = bytearray()
            async for block in decoded:
                content += block
                if len(content) > self.most:
                    raise Unwanted(f"the reply is larger than {self.most // 2**20:,} MiB: not read")
        headers = response.headers.copy()
        for name in ("Content-Encoding", "Content-Length", "Transfer-Encoding"):
            headers.pop(name, None)
        return httpx2.Response(response.status_code, headers=headers, content=bytes(content), request=response.request)
