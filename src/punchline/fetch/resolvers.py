"""From a comic's page to its image: the place of the image for each of the sites of PixelHumor's released list.

The sites could not be reached while this was written: docs/data.md says that this is unverified. `resolve`
takes the page's bytes and its URL and returns an absolute image URL on a host that the site is known to serve comics
from, or raises Missing. It never guesses: a logo or a placeholder is worse than a missing comic.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from punchline.config.yaml_files import read_yaml
from punchline.fetch.log import Missing

NO_IMAGE = "resolver found no image"
IMAGE_HOSTS = ("pbs.twimg.com", "nextml.github.io")  # YesBut and Hummus list the images themselves


class Site(NamedTuple):
    """Places of the image in a site's pages."""

    place: str  # pattern of the image's host and path
    names: Sequence[str] = ()  # of addresses in `_Page.found`, the best first; () for xkcd's JSON
    daily: bool = False  # the page may be another day's; its image's query scales the image

    @property
    def accept(self) -> tuple[str, ...]:
        """Media types of the page."""
        return ("text/html", "application/xhtml+xml") if self.names else ("application/json", "text/json")

    def request(self, page: str) -> str:
        """The address to fetch for a page as listed: itself, or its JSON (https://xkcd.com/json.html)."""
        return page if self.names else urljoin(f"{page.rstrip('/')}/", "info.0.json")

    def resolve(self, content: bytes, page_url: str) -> str:
        """The first address on the page at the image's place. Raises Missing."""
        if self.names:
            page = _Page(content)
            if self.daily:
                page.check_day(page_url)
            candidates = [address for name in self.names for address in page.found[name]]
        else:
            try:
                candidates = [str(json.loads(content)["img"])]
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise Missing(NO_IMAGE, "no field img in info.0.json") from error
        for candidate in candidates:
            parts = _absolute(page_url, candidate)
            if parts and re.fullmatch(self.place, f"{parts.hostname}{parts.path}"):
                return (parts._replace(query="", fragment="") if self.daily else parts).geturl()
        raise Missing(NO_IMAGE, f"no image at {self.place}")


class _Page(HTMLParser):
    """Addresses on a page by name, in document order. Raises Missing for a malformed page.

    Names: `meta` and its property or name; `link` and its rel; `img`, also with its id or name, and `comic img` in
    explosm's element of the comic.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.found: dict[str, list[str]] = defaultdict(list)
        self._depth = 0  # of <div> inside explosm's element of the comic; 0 outside
        try:
            self.feed(content.decode("utf-8", errors="replace"))
            self.close()
        except AssertionError as error:  # html.parser, on a malformed <![...
            raise Missing(NO_IMAGE, f"the page is no HTML: {error}") from error

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        comic = attributes.get("id") == "comic" or "MainComic__ComicImage" in attributes.get("class", "")
        if tag == "div" and (self._depth or comic):
            self._depth += 1
        address = attributes.get({"meta": "content", "link": "href", "img": "src"}.get(tag, ""))
        if address:
            names = {f"{tag} {attributes[key]}" for key in ("property", "name", "rel", "id") if key in attributes}
            names |= {"img"} if tag == "img" else set()
            names |= {"comic img"} if tag == "img" and self._depth else set()
            for name in names:
                self.found[name].append(address)

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self._depth:
            self._depth -= 1

    def check_day(self, page_url: str) -> None:
        """Raise Missing for a page that says it is another, as visitors get who are not logged in."""
        path = urlsplit(page_url).path.rstrip("/")
        for address in self.found["link canonical"] + self.found["meta og:url"]:
            parts = _absolute(page_url, address)
            if parts is None or parts.path.rstrip("/") != path:
                raise Missing(NO_IMAGE, f"the page is {address}, not {path}")


def _absolute(page_url: str, reference: str) -> SplitResult | None:
    """`reference` as in the page at `page_url`, split; None if it is no http(s) URL."""
    try:
        parts = urlsplit(urljoin(page_url, reference.strip()))
        _ = parts.hostname, parts.port  # these may raise, too
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") else None


SITES = {host: Site(**fields) for host, fields in read_yaml(Path(__file__).with_name("sites.yaml")).items()}


def split(page: str) -> SplitResult:
    """The parts of an address; all empty for one that is malformed."""
    try:
        return urlsplit(page)
    except ValueError:
        return urlsplit("")


def is_image(page: str) -> bool:
    """True for an address that is an image's own, by its host or its ending."""
    parts = split(page)
    return parts.hostname in IMAGE_HOSTS or parts.path.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp"))
