"""Polite and safe HTTP: robots.txt, one request at a time and a pause per host, retries, limits, checked redirects."""

from __future__ import annotations

import asyncio
import os
import re
import time
import zlib
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import NamedTuple, TypeVar

import httpx
import tenacity
from protego import Protego

from punchline.core.certificates import trusted
from punchline.core.waits import retry_after
from punchline.errors import PunchlineError
from punchline.fetch.log import Missing
from punchline.fetch.net import Backend, check_public
from punchline.text import without_secret

T = TypeVar("T")
Network = Callable[[bool], Backend]  # builds it; True: only public addresses are talked to

AGENT = "punchline"  # the name that robots.txt is asked for
PRIVATE_HOSTS = "PUNCHLINE_PRIVATE_HOSTS"  # names, separated by commas, that lists may name though they are not public


@dataclass(frozen=True)
class Manners:
    """Limits of the client. Times in seconds."""

    pause: float = 1.0  # between two requests to one host; a longer Crawl-delay wins
    connect_timeout: float = 5.0
    read_timeout: float = 30.0  # between two blocks of a body
    total_timeout: float = 120.0  # of one request and its whole response
    attempts: int = 4  # of one request, when the failure may pass
    backoff: float = 1.0  # before the second attempt; doubles
    longest_wait: float = 120.0  # a Retry-After or Crawl-delay beyond it: the host is given up for the run
    strikes: int = 3  # requests in a row that are given up after all attempts: the host is skipped for the run
    redirects: int = 5


class Fetched(NamedTuple):
    content: bytes
    url: str  # after redirects


class _Again(Missing):
    """A failure that may pass: back off and try again."""


class Request(NamedTuple):
    """One file that is wanted."""

    url: str
    limit: int  # bytes
    accept: tuple[str, ...] = ()  # media types or prefixes; () for any
    mirror: bool = False  # the user's own, or named with its digest: no robots.txt, no pause
    public: bool = True  # may not lead to a private address; False for an address that the user has typed
    auth: httpx.Auth | None = None  # for the origin of `url` only: a redirect to another loses it
    robots: bool = True  # False for robots.txt itself


@dataclass
class _Host:
    """State of one origin (scheme, host, port)."""

    pause: float
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # held during a request: one at a time
    reading_robots: asyncio.Lock = field(default_factory=asyncio.Lock)
    rules: Protego | None = None  # of robots.txt
    robots_note: str | None = None  # reason why nothing may be fetched
    free_at: float = 0.0  # monotonic
    strikes: int = 0
    given_up: Missing | None = None  # skipped for the rest of the run

    def give_up(self, reason: str, note: str | None) -> Missing:
        self.given_up = Missing(reason, f"{note}; given up for this run")
        return self.given_up


def user_agent() -> str:
    """`punchline/<version> (...)`, with the contact (mail or URL) from $PUNCHLINE_CONTACT when there is one."""
    contact = os.environ.get("PUNCHLINE_CONTACT", "")
    if not (contact.isascii() and (contact.isprintable() or not contact)):
        raise PunchlineError("PUNCHLINE_CONTACT: expected a mail address or URL in plain ASCII")
    suffix = f"; contact: {contact}" if contact else ""
    return f"{AGENT}/{version('punchline')} (evaluation of multimodal models; fetches each comic once{suffix})"


async def _body(response: httpx.Response, limit: int) -> bytes:
    """The body, unpacked no further than a little beyond `limit` bytes, unlike by httpx. Raises Missing, zlib.error."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
        raise Missing("encoding refused", encoding)
    content, unpacker = bytearray(), None if encoding == "identity" else zlib.decompressobj(zlib.MAX_WBITS + 32)
    async for block in response.aiter_raw():
        content += unpacker.decompress(block, limit + 1 - len(content)) if unpacker else block
        if len(content) > limit:
            raise Missing("too large", f"{response.url}: more than {limit} bytes")
    if unpacker is not None and not unpacker.eof:
        raise zlib.error("the packed body ends early")
    return bytes(content)


def parse_address(url: str) -> httpx.URL:
    """An http(s) URL without user, password and fragment. Raises Missing for any other."""
    try:
        parsed = httpx.URL(url)
        host = parsed.host
    except (httpx.InvalidURL, UnicodeError) as error:
        raise Missing("unsafe address", f"{url[:200]!r}: {error}") from error
    if parsed.scheme not in ("http", "https") or not host or parsed.userinfo:
        raise Missing("unsafe address", f"{url}: not an http(s) address without user and password")
    if not 0 <= (parsed.port or 0) <= 65_535:
        raise Missing("unsafe address", f"{url}: no such port")
    return parsed.copy_with(fragment=None)


def _follow(url: httpx.URL, location: str) -> httpx.URL:
    try:
        target = url.join(location)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise Missing("redirect refused", f"{url} to {location!r}") from error
    if target.scheme not in (url.scheme, "https"):
        raise Missing("redirect refused", f"{url} to {target}")
    return target


def _origin(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


class Web:
    """A polite HTTP client for the tasks of one event loop; see `online`. `backend` builds the network."""

    def __init__(self, manners: Manners, backend: Network) -> None:
        self.manners = manners
        self._hosts: dict[str, _Host] = {}
        self._clients = {public: self._client(backend(public)) for public in (False, True)}
        self._private_hosts = {name.strip().lower() for name in os.environ.get(PRIVATE_HOSTS, "").split(",")}

    def _client(self, network: Backend) -> httpx.AsyncClient:
        timeout = httpx.Timeout(self.manners.read_timeout, connect=self.manners.connect_timeout)
        headers = {"User-Agent": user_agent(), "Accept-Encoding": "identity"}
        verify = trusted() or True
        client = httpx.AsyncClient(timeout=timeout, headers=headers, follow_redirects=False, verify=verify)
        client._transport._pool._network_backend = network  # type: ignore[attr-defined]  # httpx has no argument for it
        return client

    async def aclose(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.aclose()

    async def get(self, wanted: Request) -> Fetched:
        """The body at a URL, after redirects: at most `limit` bytes, of an accepted media type. Raises Missing."""
        for _ in range(self.manners.redirects + 1):
            url = parse_address(wanted.url)
            public = wanted.public or not wanted.mirror  # of what it redirects to
            if url.host.lower() in self._private_hosts:
                wanted = wanted._replace(public=False)
            if wanted.public:
                await check_public(url.host)
            if wanted.robots and not wanted.mirror:
                await self._ask_robots(url, wanted.public)
            reply = await self._patiently(url, wanted)
            if isinstance(reply, Fetched):
                return reply
            target = _follow(url, reply)
            auth = wanted.auth if _origin(target) == _origin(url) else None
            wanted = wanted._replace(url=str(target), public=public, auth=auth)
        raise Missing("redirect refused", f"more than {self.manners.redirects} redirects, last to {wanted.url}")

    def _at(self, url: httpx.URL) -> _Host:
        return self._hosts.setdefault(_origin(url), _Host(self.manners.pause))

    # robots.txt (RFC 9309)

    async def _ask_robots(self, url: httpx.URL, public: bool) -> None:
        host = self._at(url)
        async with host.reading_robots:
            rules = host.rules = host.rules or await self._read_robots(url, host, public)
        if host.robots_note is not None or not rules.can_fetch(str(url), AGENT):
            raise Missing("refused by robots.txt", host.robots_note)

    async def _read_robots(self, url: httpx.URL, host: _Host, public: bool) -> Protego:
        """Read the rules of a host. Without robots.txt every URL is allowed; with an unreadable one, none is."""
        robots, text = str(url.copy_with(raw_path=b"/robots.txt")), ""
        try:
            fetched = await self.get(Request(robots, limit=500 * 1024, public=public, robots=False))
            text = fetched.content.decode("utf-8", errors="replace")
        except Missing as missing:
            if missing.reason in ("host unreachable", "timed out"):
                raise  # of the host, not of its robots.txt
            if not re.fullmatch(r"not found \(404\)|http (?!429)4\d\d", missing.reason):
                host.robots_note = f"robots.txt: {missing}"
        rules = Protego.parse(text)
        host.pause = max(host.pause, rules.crawl_delay(AGENT) or 0.0)
        if text and host.pause > self.manners.longest_wait:
            host.robots_note = f"robots.txt: Crawl-delay of {host.pause:g} s"
        return rules

    # Requests

    async def _patiently(self, url: httpx.URL, wanted: Request) -> Fetched | str:
        """The reply to a request, or the address it redirects to; tried again while the failure may pass."""
        host, manners = self._at(url), self.manners
        passing, stop = tenacity.retry_if_exception_type(_Again), tenacity.stop_after_attempt(manners.attempts)
        wait = tenacity.wait_random_exponential(manners.backoff, manners.longest_wait)
        retrying = tenacity.AsyncRetrying(retry=passing, stop=stop, wait=wait, reraise=True)
        try:
            return await retrying(self._request, host, url, wanted)
        except _Again as error:
            host.strikes += 1
            if host.strikes >= manners.strikes:
                host.give_up(error.reason, error.note)
            raise

    async def _request(self, host: _Host, url: httpx.URL, wanted: Request) -> Fetched | str:
        async with host.turn:
            if host.given_up:
                raise host.given_up
            await asyncio.sleep(host.free_at - time.monotonic())
            replied = False
            try:
                async with (
                    asyncio.timeout(self.manners.total_timeout),
                    self._clients[wanted.public].stream("GET", url, auth=wanted.auth) as response,
                ):
                    replied = True
                    return await self._read(host, response, url, wanted)
            except (TimeoutError, httpx.TransportError, UnicodeError, zlib.error) as error:
                silent = isinstance(error, TimeoutError | httpx.ReadTimeout)
                reason = "timed out" if silent else "truncated" if replied else "host unreachable"
                raise _Again(reason, f"{url}: {error}") from error
            finally:
                host.free_at = max(host.free_at, time.monotonic() + (0.0 if wanted.mirror else host.pause))

    async def _read(self, host: _Host, response: httpx.Response, url: httpx.URL, wanted: Request) -> Fetched | str:
        status = response.status_code
        if status in (301, 302, 303, 307, 308) and "location" in response.headers:
            return str(response.headers["location"])
        if status in (429, 500, 502, 503, 504):
            seconds = retry_after(response.headers) or 0.0
            if seconds > self.manners.longest_wait:
                raise host.give_up(f"http {status}", f"{url.host} asks to wait {seconds:.0f} s")
            host.free_at = max(host.free_at, time.monotonic() + seconds)  # for every request to this host
            raise _Again(f"http {status}", str(url))
        host.strikes = 0
        if status != 200:
            raise Missing("not found (404)" if status == 404 else f"http {status}", str(url))
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if wanted.accept and media_type and not media_type.startswith(wanted.accept):
            raise Missing("wrong content type", f"{url}: {media_type}")
        return Fetched(await _body(response, wanted.limit), without_secret(str(url)))


def online(work: Callable[[Web], Awaitable[T]], manners: Manners = Manners(), backend: Network = Backend) -> T:
    """Run work that fetches, with a client of its own; Ctrl-C ends it at once."""

    async def main() -> T:
        async with aclosing(Web(manners, backend)) as web:
            return await work(web)

    return asyncio.run(main())
