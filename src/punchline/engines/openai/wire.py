"""The HTTP client: how much a server may send, how it may be packed, and from where. Imported when one is made."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import msgspec
import openai

REDIRECTS = 5
PACKINGS = ("gzip", "x-gzip", "deflate")


class Unwanted(Exception):
    """A reply that is not read to its end, and would be no other at the next try."""


class Bounded(openai.DefaultAioHttpClient):
    """A client that reads `most` bytes of a reply (unpacked) and no more, and follows no redirect to another server.

    aiohttp below takes half the processor time of httpx2's own transport.
    """

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(**options)
        self.headers["Accept-Encoding"] = "gzip, deflate"
        self.most = most

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        options["follow_redirects"] = False
        for _ in range(REDIRECTS + 1):
            response = await super().send(request, stream=True, **options)
            if response.next_request is None:
                break
            await response.aclose()
            request = _followed(request, response.next_request)
        else:
            raise Unwanted(f"redirected more than {REDIRECTS} times")
        try:
            _bound(response, self.most)
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response


class Post:
    """Posts to one address, with the headers that the package's client sends. Its own `post` builds URL, headers and
    models anew for every call, which takes as much processor time as all the rest of it."""

    def __init__(self, http: Bounded, client: openai.AsyncOpenAI, path: str) -> None:
        given = {**client.default_headers, **client.auth_headers}
        self._http = http
        self._url = httpx2.URL(f"{str(client.base_url).rstrip('/')}{path}")
        self._headers = httpx2.Headers(http.headers)
        self._headers.update({name: value for name, value in given.items() if isinstance(value, str)})
        self._extensions = {"timeout": http.timeout.as_dict()}

    async def __call__(self, body: Mapping[str, Any]) -> httpx2.Response:
        content = msgspec.json.encode(body)
        return await self._http.send(
            httpx2.Request("POST", self._url, headers=self._headers, content=content, extensions=self._extensions)
        )


def _followed(request: httpx2.Request, to: httpx2.Request) -> httpx2.Request:
    """The next request, where it goes to the same server: the answer is recorded as this one's, and so is the key."""
    before, after = request.url, to.url
    upgraded = (before.scheme, after.scheme) == ("http", "https") and before.port is None and after.port is None
    if before.host != after.host or not (upgraded or (before.scheme, before.port) == (after.scheme, after.port)):
        port = f":{after.port}" if after.port else ""
        raise Unwanted(f"the server redirects to another one, {after.scheme}://{after.host}{port}: not followed")
    return to


def _bound(response: httpx2.Response, most: int) -> None:
    """Put the limit into a reply that has not been read."""
    names = [name.strip().lower() for name in response.headers.get("content-encoding", "").split(",")]
    packed = [name for name in names if name not in ("", "identity")]
    if len(packed) > 1 or any(name not in PACKINGS for name in packed):
        raise Unwanted(f"the reply is packed as {', '.join(packed)}: not read")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 18 or int(length) > most):
        raise _too_large(most)
    if packed:
        del response.headers["content-encoding"]
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Stream(response.stream, most, packed[0] if packed else None)


def _too_large(most: int) -> Unwanted:
    return Unwanted(f"the reply is larger than {most // 2**20:,} MiB: not read")


class _Stream(httpx2.AsyncByteStream):
    """A reply's bytes, unpacked, up to the limit."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int, packing: str | None) -> None:
        self._inner, self._most, self._packing = inner, most, packing

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left, unpacker = self._most, None
        async for block in self._inner:
            if self._packing is not None:
                if unpacker is None:  # gzip and zlib say what they are; some send deflate without zlib's header
                    plain = self._packing == "deflate" and block[:1] and block[0] & 15 != 8
                    unpacker = zlib.decompressobj(-15 if plain else 47)
                try:
                    block = unpacker.decompress(block, left + 1)
                except zlib.error as error:
                    raise httpx2.DecodingError(str(error)) from error
            left -= len(block)
            if left < 0:
                raise _too_large(self._most)
            yield block
        if unpacker is not None and not unpacker.eof:
            raise httpx2.DecodingError("the packed reply ends early")

    async def aclose(self) -> None:
        await self._inner.aclose()
