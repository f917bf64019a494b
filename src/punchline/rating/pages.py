"""The rating pages of a study: one page per unit; a rater is known by a secret link.

Pages name no model, no item and no other rater. A vote is on disk before its reply is sent. Requests without a rater's
secret get nothing, and posts must come from these pages.
"""

from __future__ import annotations

import random
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
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
from punchline.rating import drafts
from punchline.rating.votes import CastVote, Votes

HERE = Path(__file__).parent
MOST = 64 * 1024  # bytes of a post
FEWEST = 2  # pointers that a vote without a note needs
WORDS = 2_000  # characters of a note or a draft
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Pages:
    """Replies to raters' requests."""

    def __init__(self, votes: Votes) -> None:
        self.votes, self.sheet = votes, votes.sheet
        self.cookie = f"rater_{votes.version}"  # raters of two studies may share a browser
        self.seats = cache(votes.seats)  # by rater; they do not change
        self.templates = templates(HERE / "templates")

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        page = self.templates.get_template(template)
        return HTMLResponse(page.render(title=self.sheet.title, sheet=self.sheet, status=status, **values), status)

    def rater(self, secret: str) -> str:
        rater = self.votes.rater_of(secret)
        if rater is None:
            raise HTTPException(403)
        return rater

    def opened(self, request: Request) -> tuple[str, int, int]:
        """(rater, place, index of the unit) of a request's page; places count a rater's own pages from 1."""
        rater, text = self.rater(request.cookies.get(self.cookie, "")), request.path_params["place"]
        place = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
        if not 1 <= place <= len(self.seats(rater)):
            raise HTTPException(404)
        return rater, place, self.seats(rater)[place - 1]

    def first_open(self, rater: str, given: Mapping[tuple[str, int], CastVote], after: int = 0) -> int | None:
        """The next place without a vote, after `after` and then from the start."""
        places = [place for place, unit in enumerate(self.seats(rater), 1) if (rater, unit) not in given]
        return next((place for place in places if place > after), places[0] if places else None)

    def order(self, rater: str, index: int) -> list[int]:
        """The texts of a rater's page, in the order in which they are shown."""
        order = list(range(len(self.sheet.units[index].texts)))
        random.Random(f"texts/{rater}/{index}/{self.sheet.seed}").shuffle(order)
        return order

    def enter(self, request: Request) -> Response:
        secret, opened = request.path_params["secret"], request.cookies.get(self.cookie, "")
        rater, before = self.rater(secret), self.votes.rater_of(opened) if opened else None
        if request.method != "POST" and before not in (None, rater):
            return self.page("takeover.html", secret=secret)
        reply = RedirectResponse("/", 303)
        # Lax: a link in a mail works, a form of another site does not.
        https = request.url.scheme == "https"  # as reported by a TLS server in front of this one
        reply.set_cookie(self.cookie, secret, max_age=90 * 24 * 3600, httponly=True, samesite="lax", secure=https)
        return reply

    def start(self, request: Request) -> Response:
        rater = self.rater(request.cookies.get(self.cookie, ""))
        given, seats = self.votes.given(rater), self.seats(rater)
        practice = sum(self.sheet.units[unit].kind == "practice" for unit in seats)
        places = [(rater, unit) in given for unit in seats]
        return self.page("start.html", next=self.first_open(rater, given), practice=practice, places=places)

    def item(self, request: Request) -> Response:
        rater, place, index = self.opened(request)
        vote = self.votes.given(rater).get((rater, index))
        saved = vote is not None
        if vote is None and self.sheet.form == "review":  # an inspector sees the review of the rater before
            vote = next((given for (_, unit), given in self.votes.given().items() if unit == index), None)
        return self._item(rater, place, index, vote.as_fields(self.sheet) if vote else {}, saved=saved)

    def _item(self, rater: str, place: int, index: int, fields: Mapping[str, str], **about: object) -> Response:
        """A page with the values of its fields; `about`: whether they are saved, or why they cannot be."""
        unit = self.sheet.units[index]
        about = {"saved": False, "wrong": "", "place": place, "unit": unit, "fields": fields, "words": WORDS} | about
        about |= {"of": len(self.seats(rater)), "done": len(self.votes.given(rater))}
        texts = [(position, unit.texts[position].text) for position in self.order(rater, index)]
        questions, status = self.sheet.questions[unit.task], 422 if about["wrong"] else 200
        return self.page("item.html", status, texts=texts, questions=questions, **about)

    def picture(self, request: Request) -> Response:
        path = self.sheet.units[self.opened(request)[2]].picture
        if not path or not Path(path).is_file():
            raise HTTPException(404)
        return FileResponse(path)

    async def vote(self, request: Request) -> Response:
        opened = await run_in_threadpool(self.opened, request)
        return await run_in_threadpool(self._vote, *opened, await _fields(request))

    def _vote(self, rater: str, place: int, index: int, fields: Mapping[str, str]) -> Response:
        vote, wrong = self._parse(rater, index, fields)
        if wrong:
            return self._item(rater, place, index, fields, wrong=f"Nothing is saved yet: {wrong}")
        self.votes.vote(rater, index, vote.answers, vote.note, vote.pointers)
        following = self.first_open(rater, self.votes.given(rater), place)
        return RedirectResponse("/" if following is None else f"/items/{following}", 303)

    def _parse(self, rater: str, index: int, fields: Mapping[str, str]) -> tuple[CastVote, str]:
        """A form as a vote, and why it cannot be saved; "" if it can."""
        sheet, order, answers, wrong = self.sheet, self.order(rater, index), dict[str, str](), ""
        if "cannot" in fields and sheet.form != "review":
            reason = " ".join(_words(fields.get("reason", "")).split())
            return CastVote(rater, index, {}, reason), "" if reason else "say why."
        for position in order if sheet.form == "review" else ():
            answers[f"use-{position}"] = fields.get(f"use-{position}", "")
            answers[f"text-{position}"] = " ".join(fields.get(f"text-{position}", "").split())[:WORDS]
        values = set(map(str, order)) if sheet.form == "choose" else {value for value, _ in sheet.options}
        for question in sheet.questions[sheet.units[index].task]:
            value = fields.get(f"answer-{question.aspect}", "")
            if value and value in (question.options or values):
                answers[question.aspect] = value
            elif not question.options:
                wrong = "a question has no answer."
        note = _words(fields.get("note", "")) if sheet.note else ""
        ticked = [str(n) for n, _ in enumerate(sheet.pointers or (), 1) if f"pointer-{n}" in fields]
        if sheet.form == "review":
            wrong = drafts.wrong(answers)
        elif sheet.pointers and len(ticked) < FEWEST and not note:
            wrong = wrong or f"with fewer than {FEWEST} of the points, give your reasons."
        return CastVote(rater, index, answers, note, pointers=" ".join(ticked)), wrong

    async def refused(self, request: Request, error: Exception) -> Response:
        return self.page("said.html", error.status_code if isinstance(error, HTTPException) else 500)

    async def unsaved(self, request: Request, error: Exception) -> Response:
        """The reply if the file cannot be read or written: a full disk, a removed folder."""
        print(f"error: {self.votes.path}: {error}. Votes are not being saved", file=sys.stderr, flush=True)
        return self.page("said.html", 503)


def _words(text: str) -> str:
    """The text of a box."""
    return text.replace("\r\n", "\n").strip()[:WORDS]


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form. Raises HTTPException for a form that is too long."""
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
    """Refuse posts from other sites; set the same headers on every reply."""
    origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    foreign = request.headers.get("sec-fetch-site", "same-origin") != "same-origin"
    if request.method not in ("GET", "HEAD") and (foreign or request.headers.get("origin") != origin):
        reply: Response = Response("A vote comes from this server's own pages only.\n", 403, media_type="text/plain")
    else:
        reply = await go(request)
    reply.headers.update(HEADERS)
    return reply


def application(votes: Votes, hosts: list[str]) -> Starlette:
    """The server of a study. `hosts`: names under which it may be addressed, ["*"] for any."""
    pages = Pages(votes)
    routes = [
        Route("/", pages.start),
        Route("/r/{secret}", pages.enter, methods=["GET", "POST"]),
        Route("/items/{place}", pages.item),
        Route("/items/{place}", pages.vote, methods=["POST"]),
        Route("/pictures/{place}", pages.picture),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    known_hosts = Middleware(TrustedHostMiddleware, allowed_hosts=hosts)
    middleware = [known_hosts, Middleware(BaseHTTPMiddleware, dispatch=_guard)]
    handlers: dict[Any, Any] = dict.fromkeys((HTTPException, 500), pages.refused)
    handlers |= dict.fromkeys((sqlite3.Error, PunchlineError), pages.unsaved)
    return Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)
