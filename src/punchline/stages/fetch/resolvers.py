"""From a comic's page to its image: one small pure function for each of the seven sites of PixelHumor's released list.

The sites could not be reached while this was written: docs/fetch.md says what each function relies on and that it is
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
    """The page names no image that can be its comic; the message says what was looked for."""


class _Tags(HTMLParser):
    """Start tags in document order; `comic` holds the <img> tags inside the element that `holds_comic` picks."""

    def __init__(self, holds_comic: Callable[[Attributes], bool]) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, Attributes]] = []
        self.comic: list[Attributes] = []
        self._holds_comic = holds_comic
        self._depth = 0  # of <div> inside the comic's element; 0 outside

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        self.tags.append((tag, attributes))
        if tag == "div" and (self._depth or self._holds_comic(attributes)):
            self._depth += 1
        if tag == "img" and self._depth:
            self.comic.append(attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self._depth:
            self._depth -= 1


def _parse(page: bytes, holds_comic: Callable[[Attributes], bool] = lambda _: False) -> _Tags:
    parser = _Tags(holds_comic)
    try:
        parser.feed(page.decode("utf-8", errors="replace"))
        parser.close()
    except AssertionError as error:  # html.parser, on a malformed <![...
        raise NoImage(f"the page is no HTML: {error}") from error
    return parser


def _absolute(page_url: str, reference: str) -> SplitResult | None:
    """`reference` as found in the page at `page_url`, split; None where it is no http(s) URL."""
    try:
        parts = urlsplit(urljoin(page_url, reference.strip()))
        _ = parts.hostname, parts.port  # these may raise, too
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") else None


def _meta(parser: _Tags, *names: str) -> list[str]:
    """Contents of <meta property=... or name=...>, in the order of `names`."""
    return [
        tag["content"]
        for name in names
        for kind, tag in parser.tags
        if kind == "meta" and name in (tag.get("property"), tag.get("name")) and tag.get("content")
    ]


def _links(parser: _Tags, rel: str) -> list[str]:
    return [tag["href"] for kind, tag in parser.tags if kind == "link" and tag.get("rel") == rel and tag.get("href")]


def _images(parser: _Tags, wanted: Callable[[Attributes], bool] = lambda _: True) -> list[str]:
    return [tag["src"] for kind, tag in parser.tags if kind == "img" and tag.get("src") and wanted(tag)]


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


def resolve_explosm(page: bytes, page_url: str) -> str:
    """explosm.net: the image in the page's comic element, else a preloaded image, on the comics' own hosts."""
    parser = _parse(page, lambda tag: tag.get("id") == "comic" or "MainComic__ComicImage" in tag.get("class", ""))
    return _first(
        [tag.get("src", "") for tag in parser.comic]
        + _images(parser, lambda tag: tag.get("id") == "main-comic")
        + _links(parser, "preload")
        + _meta(parser, "og:image"),
        page_url,
        r"static\.explosm\.net/\d{4}/.+|files\.explosm\.net/comics/.+",
    )


def resolve_gocomics(page: bytes, page_url: str) -> str:
    """www.gocomics.com (Garfield, Peanuts): og:image on the strips' own hosts, without the query that scales it.

    The site may show another day's strip to visitors who are not logged in: a page that says it is another day's
    (its canonical link or og:url) has no image for this one.
    """
    parser = _parse(page)
    asked = urlsplit(page_url).path.rstrip("/")
    for said in _links(parser, "canonical") + _meta(parser, "og:url"):
        parts = _absolute(page_url, said)
        if parts is None or parts.path.rstrip("/") != asked:
            raise NoImage(f"the page is {said}, not {asked}")
    image = _first(
        _meta(parser, "og:image", "twitter:image") + _images(parser),
        page_url,
        r"featureassets\.gocomics\.com/assets/.+|assets\.amuniversal\.com/.+",
    )
    return urlsplit(image)._replace(query="", fragment="").geturl()


def resolve_phdcomics(page: bytes, page_url: str) -> str:
    """phdcomics.com: the <img> named comic (or comic2), else og:image or image_src, in the comics' folder."""
    parser = _parse(page)
    return _first(
        _images(parser, lambda tag: {tag.get("id"), tag.get("name")} & {"comic", "comic2"} != set())
        + _meta(parser, "og:image")
        + _links(parser, "image_src"),
        page_url,
        r"(www\.)?phdcomics\.com/comics/archive/.+",
    )


def resolve_smbc(page: bytes, page_url: str) -> str:
    """www.smbc-comics.com: the <img id="cc-comic">, else og:image. The bonus panel is not part of the strip."""
    parser = _parse(page)
    return _first(
        _images(parser, lambda tag: tag.get("id") == "cc-comic") + _meta(parser, "og:image"),
        page_url,
        r"(www\.)?smbc-comics\.com/comics/.+",
    )


def resolve_theycantalk(page: bytes, page_url: str) -> str:
    """theycantalk.com (Tumblr): og:image, else the first image, on Tumblr's media hosts; an avatar is no comic."""
    parser = _parse(page)
    return _first(
        _meta(parser, "og:image") + _images(parser),
        page_url,
        r"(\d+\.)?media\.tumblr\.com/(?!.*avatar_).+",
    )


def _same(page_url: str) -> str:
    return page_url


def _xkcd_json(page_url: str) -> str:
    return urljoin(page_url if page_url.endswith("/") else page_url + "/", "info.0.json")


class Site(NamedTuple):
    """How a site's page leads to its image."""

    request: Callable[[str], str]  # page URL as listed -> URL to fetch
    accept: tuple[str, ...]  # media types that URL may have
    resolve: Callable[[bytes, str], str] | None  # its bytes, page URL as listed -> image URL; raises NoImage
    # (None: the listed address is the image's own)


SITES: dict[str, Site] = {
    "explosm.net": Site(_same, HTML, resolve_explosm),
    "www.gocomics.com": Site(_same, HTML, resolve_gocomics),
    "phdcomics.com": Site(_same, HTML, resolve_phdcomics),
    "www.smbc-comics.com": Site(_same, HTML, resolve_smbc),
    "theycantalk.com": Site(_same, HTML, resolve_theycantalk),
    "xkcd.com": Site(_xkcd_json, JSON, resolve_xkcd),
    "pbs.twimg.com": Site(_same, (), None),  # YesBut lists the images themselves
    "nextml.github.io": Site(_same, (), None),  # Hummus: cartoons by number of contest
}
