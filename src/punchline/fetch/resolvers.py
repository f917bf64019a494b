"""From a comic's page to its image: one small pure function for each of the seven sites of PixelHumor's released list.

The sites could not be reached while this was written: docs/data.md says what each function relies on and that it is
unverified. A resolver takes the page's bytes and its URL and returns an absolute image URL on a host that the site is
known to serve comics from, or raises NoImage. It never guesses: a logo or a placeholder is worse than a missing comic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

Attributes = dict[str, str]

HTML = ("text/html", "application/xhtml+xml")
JSON = ("application/json", "text/json")


class NoImage(Exception):
    """The page names no image that can be its comic; the message names the expected place."""


class _Page(HTMLParser):
    """Start tags of a page in document order. Raises NoImage for a malformed page."""

    def __init__(self, content: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, Attributes]] = []
        self._depth = 0  # of <div> inside explosm's element of the comic; 0 outside
        try:
            self.feed(content.decode("utf-8", errors="replace"))
            self.close()
        except AssertionError as error:  # html.parser, on a malformed <![...
            raise NoImage(f"the page is no HTML: {error}") from error

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        comic = attributes.get("id") == "comic" or "MainComic__ComicImage" in attributes.get("class", "")
        if tag == "div" and (self._depth or comic):
            self._depth += 1
        self.tags.append(("comic" if tag == "img" and self._depth else tag, attributes))

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self._depth:
            self._depth -= 1

    def find(self, tag: str, attribute: str, wanted: Callable[[Attributes], bool] = lambda _: True) -> list[str]:
        """Values of an attribute of the wanted tags; images inside the comic's element are of tag `comic` too."""
        kinds = ("img", "comic") if tag == "img" else (tag,)
        return [tag[attribute] for kind, tag in self.tags if kind in kinds and tag.get(attribute) and wanted(tag)]

    def meta(self, name: str) -> list[str]:
        """Contents of <meta property=... or name=...>."""
        return self.find("meta", "content", lambda tag: name in (tag.get("property"), tag.get("name")))

    def links(self, rel: str) -> list[str]:
        return self.find("link", "href", lambda tag: tag.get("rel") == rel)


def _absolute(page_url: str, reference: str) -> SplitResult | None:
    """`reference` as in the page at `page_url`, split; None if it is no http(s) URL."""
    try:
        parts = urlsplit(urljoin(page_url, reference.strip()))
        _ = parts.hostname, parts.port  # these may raise, too
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") else None


def _first(candidates: Iterable[str], page_url: str, place: str) -> str:
    """The first candidate whose host and path (`host/path`) match the pattern `place` whole."""
    for candidate in candidates:
        parts = _absolute(page_url, candidate)
        if parts and re.fullmatch(place, f"{parts.hostname}{parts.path}"):
            return parts.geturl()
    raise NoImage(f"no image at {place}")


def resolve_xkcd(page: bytes, page_url: str) -> str:
    """xkcd.com: field `img` of the JSON that the site documents (https://xkcd.com/json.html)."""
    try:
        image = json.loads(page)["img"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NoImage("no field img in info.0.json") from error
    return _first([str(image)], page_url, r"imgs\.xkcd\.com/comics/.+")


def resolver(place: str, candidates: Callable[[_Page], list[str]]) -> Callable[[bytes, str], str]:
    """Resolve an HTML page to the first of its candidates whose host and path match `place`."""
    return lambda content, page_url: _first(candidates(_Page(content)), page_url, place)


def resolve_gocomics(content: bytes, page_url: str) -> str:
    """Resolve www.gocomics.com (Garfield, Peanuts) to og:image on the strips' hosts, without the query that scales it.

    The site may show another day's strip to visitors who are not logged in: a page of another day (by its canonical
    link or og:url) has no image for this one.
    """
    page, path = _Page(content), urlsplit(page_url).path.rstrip("/")
    for address in page.links("canonical") + page.meta("og:url"):
        parts = _absolute(page_url, address)
        if parts is None or parts.path.rstrip("/") != path:
            raise NoImage(f"the page is {address}, not {path}")
    place = r"featureassets\.gocomics\.com/assets/.+|assets\.amuniversal\.com/.+"
    image = _first(page.meta("og:image") + page.meta("twitter:image") + page.find("img", "src"), page_url, place)
    return urlsplit(image)._replace(query="", fragment="").geturl()


resolve_explosm = resolver(
    r"static\.explosm\.net/\d{4}/.+|files\.explosm\.net/comics/.+",
    lambda page: (
        page.find("comic", "src")
        + page.find("img", "src", lambda tag: tag.get("id") == "main-comic")
        + page.links("preload")
        + page.meta("og:image")
    ),
)
resolve_phdcomics = resolver(  # <img> named comic (or comic2), else og:image or image_src, in the comics' folder
    r"(www\.)?phdcomics\.com/comics/archive/.+",
    lambda page: (
        page.find("img", "src", lambda tag: {tag.get("id"), tag.get("name")} & {"comic", "comic2"} != set())
        + page.meta("og:image")
        + page.links("image_src")
    ),
)
resolve_smbc = resolver(  # the bonus panel is not part of the strip
    r"(www\.)?smbc-comics\.com/comics/.+",
    lambda page: page.find("img", "src", lambda tag: tag.get("id") == "cc-comic") + page.meta("og:image"),
)
resolve_theycantalk = resolver(  # Tumblr: an avatar is no comic
    r"(\d+\.)?media\.tumblr\.com/(?!.*avatar_).+", lambda page: page.meta("og:image") + page.find("img", "src")
)


class Site(NamedTuple):
    """Resolver of a site's pages."""

    accept: tuple[str, ...]  # media types of the page
    resolve: Callable[[bytes, str], str] | None  # its bytes, page URL as listed -> image URL; raises NoImage
    # (None: the listed address is the image's own)
    request: Callable[[str], str] = str  # page URL as listed -> URL to fetch


SITES: dict[str, Site] = {
    "explosm.net": Site(HTML, resolve_explosm),
    "www.gocomics.com": Site(HTML, resolve_gocomics),
    "phdcomics.com": Site(HTML, resolve_phdcomics),
    "www.smbc-comics.com": Site(HTML, resolve_smbc),
    "theycantalk.com": Site(HTML, resolve_theycantalk),
    "xkcd.com": Site(
        JSON, resolve_xkcd, lambda page: urljoin(page if page.endswith("/") else f"{page}/", "info.0.json")
    ),
    "pbs.twimg.com": Site((), None),  # YesBut lists the images themselves
    "nextml.github.io": Site((), None),  # Hummus: cartoons by number of contest
}


def direct(page: str) -> Site | None:
    """The site of an address that is an image's own, by its ending; None for another."""
    suffixes = (".png", ".jpg", ".jpeg", ".gif", ".webp")
    return Site((), None) if urlsplit(page).path.lower().endswith(suffixes) else None
