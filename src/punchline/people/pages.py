"""The pages on which people rate: one study, one page a unit, a rater known by a secret link.

What a page sends names no model, no item and no other rater. A vote is on the disk before its reply leaves. Nothing is
sent to, or taken from, anybody without a rater's secret; a post must come from these pages themselves.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from punchline.core.pages import templates
from punchline.errors import PunchlineError
from punchline.people import drafts
from punchline.people.assignment import shown_order
from punchline.people.votes import Given, Votes

HERE = Path(__file__).parent
MOST = 64 * 1024  # bytes of a post
WORDS = 2_000  # characters of a note, or of a text that a rater writes
COOKIE_S = 90 * 24 * 3600
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SAID = {
    400: "That cannot be read. Go back and send it again.",
    403: "This page opens with the link that you were sent, in the browser in which you opened it.",
    404: "There is no such page.",
    413: "That is too long.",
    503: "Your vote is NOT saved: the server's disk cannot be written. Tell whoever sent you the link; then go back "
    "and send it again.",
    500: "Something went wrong here. Your last vote may not be saved: go back and look.",
}


class Pages:
    """What answers a rater's requests."""

    def __init__(self, votes: Votes) -> None:
        self.votes, self.sheet = votes, votes.sheet
        self.cookie = f"rater_{votes.version}"  # raters of two studies may share a browser
        self.seats, self.offered = cache(votes.seats), cache(votes.offered)  # by rater; neither changes
        self.templates = templates(HERE / "templates")

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        shown = self.templates.get_template(template).render(title=self.sheet.title, sheet=self.sheet, **values)
        return HTMLResponse(shown, status)

    def rater(self, request: Request) -> str:
        found = self.votes.rater_of(request.cookies.get(self.cookie, ""))
        if found is None:
            raise HTTPException(403)
        return found

    def unit(self, request: Request, rater: str) -> tuple[int, int]:
        """(place, index of the unit) of the page's address, which counts a rater's own pages from 1."""
        said = request.path_params["place"]
        place = int(said) if said.isascii() and said.isdigit() and len(said) < 10 else 0
        if not 1 <= place <= len(self.seats(rater)):
            raise HTTPException(404)
        return place, self.seats(rater)[place - 1]

    def first_open(self, rater: str, given: Mapping[tuple[str, int], Given], after: int = 0) -> int | None:
        """The next place without a vote, from `after` on and then from the start."""
        places = [place for place, unit in enumerate(self.seats(rater), 1) if (rater, unit) not in given]
        return next((place for place in places if place > after), places[0] if places else None)

    def order(self, rater: str, index: int) -> list[int]:
        order = shown_order(len(self.sheet.units[index].texts), rater, index, self.sheet.seed)
        return [text for text in order if text in self.offered(rater).get(index, order)]

    # ---- what is sent

    def enter(self, request: Request) -> Response:
        secret = request.path_params["secret"]
        if self.votes.rater_of(secret) is None:
            raise HTTPException(403)
        reply = RedirectResponse("/", 303)
        # Lax: a link in a mail works, and no other site's form does.
        https = request.url.scheme == "https"  # as a server with TLS before this one says it
        reply.set_cookie(self.cookie, secret, max_age=COOKIE_S, httponly=True, samesite="lax", secure=https)
        return reply

    def start(self, request: Request) -> Response:
        rater = self.rater(request)
        given = self.votes.given(rater)
        return self.page(
            "start.html",
            next=self.first_open(rater, given),
            done=len(given),
            of=len(self.seats(rater)),
            practice=sum(self.sheet.units[unit].kind == "practice" for unit in self.seats(rater)),
            places=[(rater, unit) in given for unit in self.seats(rater)],
        )

    def item(self, request: Request) -> Response:
        rater = self.rater(request)
        place, index = self.unit(request, rater)
        return self._item(rater, place, index)

    def _item(self, rater: str, place: int, index: int, said: Given | None = None, wrong: str = "") -> Response:
        unit, given = self.sheet.units[index], self.votes.given(rater)
        return self.page(
            "item.html",
            422 if wrong else 200,
            place=place,
            of=len(self.seats(rater)),
            done=len(given),
            unit=unit,
            texts=[(position, unit.texts[position].text) for position in self.order(rater, index)],
            questions=self.sheet.questions[unit.task],
            said=said or given.get((rater, index)) or Given(rater, index, {}, "", ""),
            saved=(rater, index) in given,
            wrong=wrong,
            words=WORDS,
        )

    def picture(self, request: Request) -> Response:
        rater = self.rater(request)
        _, index = self.unit(request, rater)
        path = self.sheet.units[index].picture
        if not path or not Path(path).is_file():
            raise HTTPException(404)
        return FileResponse(path)

    async def vote(self, request: Request) -> Response:
        rater = await run_in_threadpool(self.rater, request)
        place, index = self.unit(request, rater)
        fields = await _fields(request)
        return await run_in_threadpool(self._vote, rater, place, index, fields)

    def _review(self, rater: str, place: int, index: int, fields: Mapping[str, str]) -> Response:
        count, known = len(self.sheet.units[index].texts), [use for use, _ in self.sheet.options]
        uses = [fields.get(f"use-{n}", "") for n in range(count)]
        texts = [" ".join(fields.get(f"text-{n}", "").split())[:WORDS] for n in range(count)]
        answers = {f"use-{n}": use for n, use in enumerate(uses)} | {f"text-{n}": t for n, t in enumerate(texts)}
        why = drafts.wrong(uses, texts) if set(uses) <= set(known) else "Nothing is saved yet."
        if why:
            return self._item(rater, place, index, Given(rater, index, answers, "", ""), why)
        return self._saved(rater, place, index, answers, "")

    def _vote(self, rater: str, place: int, index: int, fields: Mapping[str, str]) -> Response:
        unit = self.sheet.units[index]
        if self.sheet.drafts:
            return self._review(rater, place, index, fields)
        said = {ask.aspect: fields.get(f"answer-{ask.aspect}", "") for ask in self.sheet.questions[unit.task]}
        if self.sheet.writing:
            answers = {aspect: text for aspect, given in said.items() if (text := _words(given))}
        else:
            valid = self._valid(rater, index)
            answers = {aspect: value for aspect, value in said.items() if value in valid}
        note = _words(fields.get("note", "")) if self.sheet.note else ""
        if len(answers) < len(self.sheet.questions[unit.task]):
            kept = Given(rater, index, answers, note, "")
            return self._item(rater, place, index, kept, "Nothing is saved yet: a question has no answer.")
        return self._saved(rater, place, index, answers, note)

    def _saved(self, rater: str, place: int, index: int, answers: Mapping[str, str], note: str) -> Response:
        self.votes.vote(rater, index, answers, note)
        following = self.first_open(rater, self.votes.given(rater), place)
        return RedirectResponse("/" if following is None else f"/items/{following}", 303)

    def _valid(self, rater: str, index: int) -> set[str]:
        if self.sheet.best:
            return {str(position) for position in self.order(rater, index)}
        return {value for value, _ in self.sheet.options}

    # ---- what goes wrong

    async def refused(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return self.page("said.html", status, said=SAID.get(status, SAID[404 if status < 500 else 500]))

    async def unsaved(self, request: Request, error: Exception) -> Response:
        """The file cannot be read or written: a full disk, a folder that is gone."""
        print(f"error: {self.votes.path}: {error}. Votes are not being saved", file=sys.stderr, flush=True)
        return self.page("said.html", 503, said=SAID[503])


def _words(given: str) -> str:
    """What a rater wrote in a box."""
    return given.replace("\r\n", "\n").strip()[:WORDS]


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form. Raises HTTPException for one that is too long."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST:
            raise HTTPException(413)
    try:
        parsed = parse_qs(content.decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise HTTPException(400) from error
    return {name: values[-1] for name, values in parsed.items()}


async def _guard(request: Request, go: Callable[[Request], Awaitable[Response]]) -> Response:
    """No post but from a page of this server; the same headers on every reply."""
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    foreign = request.headers.get("sec-fetch-site", "same-origin") != "same-origin"
    if request.method not in ("GET", "HEAD") and (foreign or request.headers.get("origin") != own):
        reply: Response = Response("A vote comes from this server's own pages only.\n", 403, media_type="text/plain")
    else:
        reply = await go(request)
    reply.headers.update(HEADERS)
    return reply


def application(votes: Votes, hosts: list[str]) -> Starlette:
    """What serves a study; `hosts`: the names under which it may be asked for, ["*"] for any."""
    pages = Pages(votes)
    return Starlette(
        routes=[
            Route("/", pages.start),
            Route("/r/{secret}", pages.enter),
            Route("/items/{place}", pages.item),
            Route("/items/{place}", pages.vote, methods=["POST"]),
            Route("/pictures/{place}", pages.picture),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts),
            Middleware(BaseHTTPMiddleware, dispatch=_guard),
        ],
        exception_handlers={
            HTTPException: pages.refused,
            sqlite3.Error: pages.unsaved,
            PunchlineError: pages.unsaved,
            500: pages.refused,
        },
    )
