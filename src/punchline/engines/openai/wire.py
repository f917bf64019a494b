"""The HTTP client: how much a server may send, how it may be packed, and from where. Imported when one is made."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import Any, NamedTuple
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
import msgspec
import openai
from yarl import URL

from punchline.core.errors import PunchlineError

REDIRECTS = 5
REDIRECTED = (301, 302, 303, 307, 308)
PACKINGS = ("gzip", "x-gzip", "deflate")
ACCEPTED = "gzip, deflate"
BLOCK = 2**16  # bytes


class Unwanted(Exception):
    """A reply that is not read to its end, and would be no other at the next try."""


class Bounded(openai.DefaultAioHttpClient):
    """A client that reads `most` bytes of a reply (unpacked) and no more, and follows no redirect to another server."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(**options)
        self.headers["Accept-Encoding"] = ACCEPTED
        self.most = most

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        options["follow_redirects"] = False
        for _ in range(REDIRECTS + 1):
            response = await super().send(request, stream=True, **options)
            if response.next_request is None:
                break
            await response.aclose()
            _check_same_server(URL(str(request.url)), URL(str(response.next_request.url)))
            request = response.next_request
        else:
            raise Unwanted(f"redirected more than {REDIRECTS} times")
        try:
            packing = packing_of(response.headers, self.most)
            if packing:
                del response.headers["content-encoding"]
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Stream(response.stream, self.most, packing)
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response


class Reply(NamedTuple):
    """What a server sent, whole."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Post:
    """Posts to one address, within the bounds of Bounded, at most `connections` at a time.

    By aiohttp alone: the package's own post, and httpx2's below it, take three times the processor time.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        timeout: aiohttp.ClientTimeout,
        *,
        most: int,
        connections: int,
        through_proxy: bool,
    ) -> None:
        self._url, self._most = URL(url), most
        trust = httpx2.create_ssl_context() if self._url.scheme == "https" else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections, ssl=trust),
            headers={**headers, "Accept-Encoding": ACCEPTED},
            timeout=timeout,
            proxy=_proxy(self._url) if through_proxy else None,  # aiohttp would look for it at every call, in a thread
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def __call__(self, body: Mapping[str, Any]) -> Reply:
        """Raises Unwanted, DecodingError, aiohttp.ClientError and ssl.SSLError."""
        content, url = msgspec.json.encode(body), self._url
        for _ in range(REDIRECTS + 1):
            async with self._session.post(url, data=content, allow_redirects=False) as response:
                to = response.headers.get("Location")
                if response.status not in REDIRECTED or to is None:
                    packing = packing_of(response.headers, self._most)
                    blocks = unpacked(response.content.iter_chunked(BLOCK), self._most, packing)
                    return Reply(response.status, response.headers, b"".join([block async for block in blocks]))
            try:
                following = url.join(URL(to))
            except ValueError as error:
                raise Unwanted("the server redirects to what is no address") from error
            _check_same_server(url, following)
            url = following
        raise Unwanted(f"redirected more than {REDIRECTS} times")

    async def close(self) -> None:
        await self._session.close()


def _proxy(url: URL) -> str | None:
    """The proxy that the environment names for an address. Raises PunchlineError, without its address, for another kind
    than HTTP's."""
    proxies = {} if url.host is None or proxy_bypass(url.host) else getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if proxy and "://" not in proxy:
        proxy = f"http://{proxy}"
    if proxy and not proxy.startswith(("http://", "https://")):
        way_out = f"Name an http:// one in {url.scheme}_proxy, or except the server: no_proxy={url.host}"
        raise PunchlineError(f"a proxy of the kind {proxy.partition('://')[0]} is not supported", way_out=way_out)
    return proxy


def _check_same_server(before: URL, after: URL) -> None:
    """Raises Unwanted for a redirect to another server: answer and key are the first one's."""
    standard = before.port == 80 and after.port == 443
    upgraded = (before.scheme, after.scheme) == ("http", "https") and standard
    if before.host != after.host or not (upgraded or (before.scheme, before.port) == (after.scheme, after.port)):
        port = f":{after.explicit_port}" if after.explicit_port else ""
        raise Unwanted(f"the server redirects to another one, {after.scheme}://{after.host}{port}: not followed")


def packing_of(headers: Mapping[str, str], most: int) -> str | None:
    """How a reply that has not been read is packed. Raises Unwanted for one that is not to be read."""
    names = [name.strip().lower() for name in headers.get("content-encoding", "").split(",")]
    packed = [name for name in names if name not in ("", "identity")]
    if len(packed) > 1 or any(name not in PACKINGS for name in packed):
        raise Unwanted(f"the reply is packed as {', '.join(packed)}: not read")
    length = headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 18 or int(length) > most):
        raise _too_large(most)
    return packed[0] if packed else None


def _too_large(most: int) -> Unwanted:
    return Unwanted(f"the reply is larger than {most // 2**20:,} MiB: not read")


async def unpacked(blocks: AsyncIterable[bytes], most: int, packing: str | None) -> AsyncIterator[bytes]:
    """A reply's bytes, unpacked, up to `most` of them. Raises Unwanted beyond, and DecodingError."""
    left, unpacker = most, None
    async for block in blocks:
        if packing is not None:
            if unpacker is None:  # gzip and zlib say what they are; some send deflate without zlib's header
                plain = packing == "deflate" and block[:1] and block[0] & 15 != 8
                unpacker = zlib.decompressobj(-15 if plain else 47)
            try:
                block = unpacker.decompress(block, left + 1)
            except zlib.error as error:
                raise httpx2.DecodingError(str(error)) from error
        left -= len(block)
        if left < 0:
            raise _too_large(most)
        yield block
    if unpacker is not None and not unpacker.eof:
        raise httpx2.DecodingError("the packed reply ends early")


class _Stream(httpx2.AsyncByteStream):
    """A reply's bytes, unpacked, up to the limit."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int, packing: str | None) -> None:
        self._inner, self._most, self._packing = inner, most, packing

    def __aiter__(self) -> AsyncIterator[bytes]:
        return unpacked(self._inner, self._most, self._packing)

    async def aclose(self) -> None:
        await self._inner.aclose()
