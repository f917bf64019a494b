"""Polite and safe HTTP: robots.txt, one request at a time and a pause per host, retries, limits, checked redirects."""

from __future__ import annotations

import os
import re
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import NamedTuple, NoReturn

import httpx
import tenacity
from protego import Protego

from punchline.core.waits import retry_after
from punchline.errors import PunchlineError
from punchline.fetch.net import Backend, Private, is_public, resolve
from punchline.text import without_secret

AGENT = "punchline"  # the name that robots.txt is asked for

# Reasons why a comic is missing, with `http <code>` for every other status. docs/data.md explains them.
REASONS = frozenset(
    (
        *("host unreachable", "timed out", "refused by robots.txt", "not found (404)", "redirect refused"),
        *("unsafe address", "wrong content type", "too large", "encoding refused", "truncated", "not an image"),
        *("decompression bomb", "no resolver for this site", "resolver found no image", "digest differs from lock"),
        *("digest differs from manifest", "same bytes as another comic", "no such file"),
    )
)


def valid_reason(reason: str) -> bool:
    """True for a reason of the vocabulary."""
    return reason in REASONS or re.fullmatch(r"http \d{3}", reason) is not None


class Missing(Exception):
    """An unavailable file: a reason from the vocabulary, and details without secrets."""

    def __init__(self, reason: str, note: str | None = None) -> None:
        if not valid_reason(reason):
            raise ValueError(f"reason {reason!r} is not in the vocabulary")
        note = without_secret(note) if note is not None else None
        super().__init__(f"{reason} ({note})" if note else reason)
        self.reason = reason
        self.note = note


class Stopped(Exception):
    """The run ends; what is under way is dropped."""


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
    strikes: int = 3  # connection failures in a row, or requests given up after all attempts in a row
    redirects: int = 5


class Fetched(NamedTuple):
    content: bytes
    url: str  # after redirects


class _Again(Missing):
    """A failure that may pass: back off and try again."""


class _Request(NamedTuple):
    url: httpx.URL
    limit: int  # bytes
    accept: tuple[str, ...]  # media types or prefixes; () for any
    mirror: bool  # from the user's mirror
    public: bool  # only from a public address
    auth: httpx.Auth | None


@dataclass
class _Host:
    """State of one origin (scheme, host, port)."""

    pause: float
    turn: threading.Lock = field(default_factory=threading.Lock)  # held during a request: one at a time
    reading_robots: threading.Lock = field(default_factory=threading.Lock)
    rules: Protego | None = None  # of robots.txt
    robots_note: str | None = None  # reason why nothing may be fetched
    free_at: float = 0.0  # monotonic
    unreachable: int = 0  # connection failures in a row
    busy: int = 0  # requests in a row that ended in 429 or 5xx
    given_up: Missing | None = None

    def give_up(self, reason: str, note: str) -> NoReturn:
        """Skip the host for the rest of the run."""
        self.given_up = Missing(reason, f"{note}; given up for this run")
        raise self.given_up


def user_agent() -> str:
    """`punchline/<version> (...)`, with the contact (mail or URL) from $PUNCHLINE_CONTACT when there is one."""
    contact = os.environ.get("PUNCHLINE_CONTACT", "")
    if not (contact.isascii() and (contact.isprintable() or not contact)):
        hint = "Set it to a mail address or URL in plain ASCII"
        raise PunchlineError("PUNCHLINE_CONTACT has characters that a User-Agent can't carry", hint=hint)
    suffix = f"; contact: {contact}" if contact else ""
    return f"{AGENT}/{version('punchline')} (evaluation of multimodal models; fetches each comic once{suffix})"


def _unpacked(response: httpx.Response, limit: int) -> Iterator[bytes]:
    """The body in blocks, unpacked no further than a little beyond `limit` bytes, unlike by httpx."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        yield from response.iter_raw()
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Missing("encoding refused", encoding)
    unpacker, most = None, limit + 1
    try:
        for block in response.iter_raw():
            if unpacker is None:  # the first block tells gzip and zlib; some servers send deflate without zlib's header
                bare = encoding == "deflate" and block[:1] and block[0] & 15 != 8
                unpacker = zlib.decompressobj(-15 if bare else 47)
            content = unpacker.decompress(block, most)
            most -= len(content)
            yield content
            if most <= 0:
                return
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error
    if unpacker is not None and not unpacker.eof:
        raise httpx.DecodingError("the packed body ends early")


class Web:
    """A polite HTTP client, safe to share between threads. `backend` builds the network, given a check for the end."""

    def __init__(
        self, manners: Manners | None = None, backend: Callable[[Callable[[], None]], Backend] = Backend
    ) -> None:
        self.manners = manners or Manners()
        self.stop = threading.Event()
        self._hosts: dict[str, _Host] = {}
        self._network = backend(self._check_stop)
        timeout = httpx.Timeout(self.manners.read_timeout, connect=self.manners.connect_timeout)
        headers = {"User-Agent": user_agent(), "Accept-Encoding": "identity"}
        self._client = httpx.Client(timeout=timeout, headers=headers, follow_redirects=False)
        for transport in (self._client._transport, *self._client._mounts.values()):  # direct, and through proxies
            if transport is not None:  # httpx has no argument for a network
                transport._pool._network_backend = self._network  # type: ignore[attr-defined]

    def close(self) -> None:
        self._client.close()

    def get(
        self,
        url: str,
        *,
        limit: int,
        accept: tuple[str, ...] = (),
        mirror: bool = False,
        public: bool = False,
        auth: httpx.Auth | None = None,
        robots: bool = True,
    ) -> Fetched:
        """The body at `url`, at most `limit` bytes, of one of the media types (or prefixes) in `accept` (() for any).

        `mirror`: the user's own: no robots.txt, no pause, private addresses allowed. `public`: the URL was read
        from a fetched page and may not lead to a private address; no redirect may. `auth`: for the origin of `url`
        only. `robots`: False for robots.txt itself. Raises Missing.
        """
        first = None
        for _ in range(self.manners.redirects + 1):
            target = self._parse(url)
            public = public and not mirror
            if public:
                self._refuse_private(target)
            if robots and not mirror:
                self._ask_robots(target, public)
            origin = (target.scheme, target.host, target.port)
            first = first or origin
            request = _Request(target, limit, accept, mirror, public, auth if origin == first else None)
            reply = self._patiently(request)
            if isinstance(reply, Fetched):
                return reply
            url, public = self._follow(target, reply), True
        note = f"more than {self.manners.redirects} redirects, last to {url}"
        raise Missing("redirect refused", note if robots else "robots.txt: too many redirects")

    # Addresses

    @staticmethod
    def _parse(url: str) -> httpx.URL:
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise Missing("unsafe address", f"{url!r}: {error}") from error
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise Missing("unsafe address", url)
        if parsed.userinfo:
            raise Missing("unsafe address", f"{url}: an address with a user or a password")
        return parsed.copy_with(fragment=None)

    @staticmethod
    def _follow(url: httpx.URL, location: str) -> str:
        try:
            target = url.join(location)
        except httpx.InvalidURL as error:
            raise Missing("redirect refused", f"{url} to {location!r}") from error
        if target.scheme != url.scheme and (url.scheme, target.scheme) != ("http", "https"):
            raise Missing("redirect refused", f"{url} to {target}")
        return str(target)

    @staticmethod
    def _refuse_private(url: httpx.URL) -> None:
        with suppress(OSError, UnicodeError):  # no such name here: connecting says so, or a proxy knows it
            if not all(map(is_public, resolve(url.host, None))):
                raise Missing("unsafe address", f"{url} is on a private network")

    def _at(self, url: httpx.URL) -> _Host:
        origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
        return self._hosts.setdefault(origin, _Host(self.manners.pause))  # atomic

    # robots.txt (RFC 9309)

    def _ask_robots(self, url: httpx.URL, public: bool) -> None:
        host = self._at(url)
        with host.reading_robots:
            rules = host.rules = host.rules or self._read_robots(url, host, public)
        if host.robots_note is not None or not rules.can_fetch(str(url), AGENT):
            raise Missing("refused by robots.txt", host.robots_note)

    def _read_robots(self, url: httpx.URL, host: _Host, public: bool) -> Protego:
        """Read the rules of a host. Without robots.txt every URL is allowed; with an unreadable one, none is."""
        robots, text = str(url.copy_with(raw_path=b"/robots.txt")), ""
        try:
            content = self.get(robots, limit=500 * 1024, public=public, robots=False).content
            text = content.decode("utf-8", errors="replace")
        except Missing as missing:
            if missing.reason in ("host unreachable", "timed out"):
                raise  # of the host, not of its robots.txt
            if not re.fullmatch(r"not found \(404\)|http (?!429)4\d\d", missing.reason):
                host.robots_note = f"robots.txt: {missing}"
        rules = Protego.parse(text)
        rate = rules.request_rate(AGENT)
        host.pause = max(host.pause, rules.crawl_delay(AGENT) or 0.0, rate.seconds / rate.requests if rate else 0.0)
        if text and host.pause > self.manners.longest_wait:
            host.robots_note = f"robots.txt: Crawl-delay of {host.pause:g} s"
        return rules

    # Requests

    def _patiently(self, request: _Request) -> Fetched | str:
        """The reply to a request, or the address it redirects to; tried again while the failure may pass."""
        host, manners = self._at(request.url), self.manners
        jitter = tenacity.wait_random(0, manners.backoff)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Again),
            stop=tenacity.stop_after_attempt(manners.attempts),
            wait=tenacity.wait_exponential(manners.backoff, manners.longest_wait) + jitter,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(self._request, host, request)
        except _Again as error:
            host.busy += error.reason.startswith("http ")
            if host.busy >= manners.strikes:
                host.given_up = Missing(error.reason, "host given up for this run")
            raise

    def _request(self, host: _Host, request: _Request) -> Fetched | str:
        url, headers_read = request.url, False
        with host.turn:
            if host.given_up:
                raise Missing(host.given_up.reason, host.given_up.note)
            self._sleep(host.free_at - time.monotonic())
            try:
                with (
                    self._network.within(self.manners.total_timeout, url.host if request.public else None),
                    self._client.stream("GET", url, auth=request.auth) as response,
                ):
                    headers_read = True
                    reply = self._read(host, response, request)
                host.unreachable = 0
                return reply
            except Missing:
                host.unreachable = 0  # it did reply
                raise
            except Private as error:
                raise Missing("unsafe address", f"{url} is on a private network") from error
            except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
                raise Missing("unsafe address", f"{url}: {error}") from error
            except httpx.ReadTimeout as error:
                self._strike(host, "timed out", f"{url}: {error}", error)
            except (httpx.TransportError, httpx.DecodingError) as error:
                if headers_read:
                    raise _Again("truncated", f"{url}: {error}") from error
                self._strike(host, "host unreachable", f"{url.host}: {error}", error)
            finally:
                host.free_at = max(host.free_at, time.monotonic() + (0.0 if request.mirror else host.pause))

    def _read(self, host: _Host, response: httpx.Response, request: _Request) -> Fetched | str:
        status, url, limit = response.status_code, request.url, request.limit
        if status in (301, 302, 303, 307, 308) and "location" in response.headers:
            return str(response.headers["location"])
        if status in (429, 500, 502, 503, 504):
            seconds = retry_after(response.headers) or 0.0
            if seconds > self.manners.longest_wait:
                host.give_up(f"http {status}", f"{url.host} asks to wait {seconds:.0f} s")
            host.free_at = max(host.free_at, time.monotonic() + seconds)  # for every request to this host
            raise _Again(f"http {status}", str(url))
        host.busy = 0
        if status != 200:
            raise Missing("not found (404)" if status == 404 else f"http {status}", str(url))
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if request.accept and media_type and not media_type.startswith(request.accept):
            raise Missing("wrong content type", f"{url}: {media_type}")
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            raise Missing("too large", f"{url}: {length} bytes, at most {limit} allowed")
        content = bytearray()
        for block in _unpacked(response, limit):
            self._check_stop()
            content += block
            if len(content) > limit:
                raise Missing("too large", f"{url}: more than {limit} bytes")
        return Fetched(bytes(content), without_secret(str(url)))

    def _strike(self, host: _Host, reason: str, note: str, cause: Exception) -> NoReturn:
        """Count a connection failure; after `strikes` in a row the host is given up for the run."""
        host.unreachable += 1
        if host.unreachable < self.manners.strikes:
            raise _Again(reason, note) from cause
        host.give_up(reason, f"{note}; after {host.unreachable} failures")

    def _sleep(self, seconds: float) -> None:
        self.stop.wait(max(0.0, seconds))
        self._check_stop()

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise Stopped
