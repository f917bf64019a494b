"""HTTP client below the package's own: bounds size, encoding and redirects of a reply. Imported when one is made."""

from __future__ import annotations

from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from punchline.errors import PunchlineError

REDIRECTS = 5
ENCODINGS = ("gzip", "deflate")


class Unwanted(Exception):
    """A reply that is not read to its end; another try would get the same."""


class BoundedClient(httpx2.AsyncClient):
    """Client that reads at most `most` bytes of a reply, decoded, and follows redirects on the same server only."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(
            verify=httpx2.create_ssl_context(),
            trust_env=False,
            headers={"Accept-Encoding": ", ".join(ENCODINGS)},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            **options,
        )
        self.most = most

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Whole reply, whatever `stream`. Raises Unwanted and httpx2.HTTPError."""
        options["follow_redirects"] = False
        for _ in range(REDIRECTS + 1):
            response = await super().send(request, stream=True, **options)
            async with aclosing(response):
                if not response.has_redirect_location:
                    return await self._read(response)
                if response.next_request is None:
                    raise Unwanted("the server redirects to what is no address")
            before, url = request.url, response.next_request.url
            upgraded = (before.scheme, url.scheme) == ("http", "https") and before.port is None and url.port is None
            if before.host != url.host or not (upgraded or (before.scheme, before.port) == (url.scheme, url.port)):
                to = f"{url.scheme}://{url.netloc.decode()}"  # answer and key are the first one's
                raise Unwanted(f"the server redirects to another one, {to}: not followed")
            request = httpx2.Request(
                request.method, url, headers=request.headers, stream=request.stream, extensions=request.extensions
            )
        raise Unwanted(f"redirected more than {REDIRECTS} times")

    async def _read(self, response: httpx2.Response) -> httpx2.Response:
        names = response.headers.get("Content-Encoding", "").lower().replace(" ", "").split(",")
        encodings = [name for name in names if name not in ("", "identity")]
        if len(encodings) > 1 or not set(encodings) <= set(ENCODINGS):
            raise Unwanted(f"the reply is packed as {', '.join(encodings)}: not read")
        content = bytearray()
        async with aclosing(response.aiter_bytes()) as decoded:
            async for block in decoded:
                content += block
                if len(content) > self.most:
                    raise Unwanted(f"the reply is larger than {self.most // 2**20:,} MiB: not read")
        headers = response.headers.copy()
        for name in ("Content-Encoding", "Content-Length", "Transfer-Encoding"):
            headers.pop(name, None)
        return httpx2.Response(response.status_code, headers=headers, content=bytes(content), request=response.request)


def find_proxy(url: str) -> str | None:
    """Proxy that the environment names for an address. Raises PunchlineError, without its address, for another kind
    than HTTP's."""
    scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
    proxies = {} if host is None or proxy_bypass(host) else getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if proxy and "://" not in proxy:
        proxy = f"http://{proxy}"
    if proxy and not proxy.startswith(("http://", "https://")):
        hint = f"Name an http:// one in {scheme}_proxy, or except the server: no_proxy={host}"
        raise PunchlineError(f"a proxy of the kind {proxy.partition('://')[0]} is not supported", hint=hint)
    return proxy
