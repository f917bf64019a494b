"""HTTP client below the package's own: bounds the size of a reply, follows no redirect. Imported when one is made."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import aiohttp
import httpx2
import openai

from punchline.text import without_secret

ENCODINGS = ("gzip", "deflate")


class Unwanted(Exception):
    """A reply that is not read to its end; another try would get the same."""


class BoundedClient(openai.DefaultAioHttpClient):
    """Client that reads at most `most` bytes of a reply, decoded. aiohttp's transport takes half of httpx's CPU."""

    def __init__(self, most: int, **options: Any) -> None:
        options["headers"] = {"Accept-Encoding": ", ".join(ENCODINGS)}
        super().__init__(verify=httpx2.create_ssl_context(), **options)
        self.most = most

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
