"""One run of calls: each request asked until there is an answer or no hope of one. Imported where one is made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Literal, NoReturn, TypeVar

import httpx2
import msgspec
import openai

from punchline.core.waits import backoff, retry_after
from punchline.engines.openai import chat, pace
from punchline.engines.openai.client import Unwanted
from punchline.errors import PunchlineError
from punchline.schema import Request, Response, State
from punchline.text import log_line

if TYPE_CHECKING:
    from punchline.engines.openai import OpenAI

T = TypeVar("T")

TIMEOUT_TRIES = 3  # a call that timed out is dear: fewer tries than for other faults
FIRST_CONTACT_S = 5.0  # without any answer so far, a server that cannot be reached is given up after this time
LIMITED_TRIES = 4  # times `attempts`: how often one request may meet a 429
OVERLOADED = (429, 503, 529)  # statuses of a server that has too many calls
RETRIED = ("again", "limited", "time-out", "unreachable")  # kinds of faults


class Fault(msgspec.Struct):
    """Reason why a call has no result."""

    kind: chat.Verdict | Literal["time-out", "unreachable"]
    words: str
    wait: float | None = None  # seconds that the server asked for
    status: int = 200


async def attempt(engine: OpenAI, call: Awaitable[T], total: float, sent: Collection[str]) -> T | Fault:
    """Result of one call within `total` seconds; `sent`: names of its parameters.

    Raises PunchlineError for a refusal that every call would meet. No exception of the client gets out: it may hold
    the key.
    """

    def fault(kind: chat.Verdict | Literal["unreachable"], words: object) -> Fault:
        return Fault(kind, chat.one_line(str(words), engine.key))

    try:
        async with asyncio.timeout(total):
            return await call
    except openai.APIStatusError as error:
        reply = error.response
    except chat.Unusable as error:
        return fault("again", f"HTTP 200: {error}")
    except Unwanted as error:
        return fault("failed", error)
    except openai.APIConnectionError as error:
        cause = error.__cause__ or error
        if isinstance(cause, httpx2.TimeoutException) and not isinstance(cause, httpx2.ConnectTimeout):
            return Fault("time-out", f"time-out: silent for {engine.options.timeouts.read:g} s")
        connecting = isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout))
        return fault("unreachable" if connecting else "again", f"{type(cause).__name__}: {cause}")
    except TimeoutError:
        return Fault("time-out", f"time-out: no whole answer in {total:g} s")
    refusal = chat.read_refusal(reply.status_code, reply.content)
    kind, parameter = chat.judge(refusal, sent)
    if kind == "stop":
        engine.stop(refusal, parameter)
    return Fault(kind, chat.one_line(str(refusal), engine.key), retry_after(reply.headers), refusal.status)


class Calls:
    """One run of calls: as many workers as calls may be in flight, each with one request at a time."""

    def __init__(self, engine: OpenAI, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> None:
        self.engine, self.images, self.model_key = engine, images, model_key
        self.todo = iter(requests)
        self.workers = min(engine.options.concurrency, len(requests))
        self.answers = 0  # calls that a server answered, whatever it said
        self.failures = 0  # requests given up in a row
        self.first: str | None = None  # error of that row
        self.asking: list[asyncio.Task[None]] = []
        self.busy: set[asyncio.Task[None] | None] = set()  # those with a call under way, or an answer to hand over
        self.finishing = False
        self.began = monotonic()

    async def run(self, put: pace.Put[Response]) -> None:
        """Ask all; the first PunchlineError ends it, and with it every call in flight."""
        options = self.engine.options
        budgets = (options.requests_per_minute, options.tokens_per_minute)  # an account's, whatever jobs ask by it
        self.pace = pace.Pace(options.concurrency, *(each and each / self.engine.card.shards for each in budgets))
        client = self.engine.client()

        async def worker() -> None:
            try:
                for request in self.todo:
                    if (response := await self.ask(client, request)) is not None:
                        await put(response)
                    self.busy.discard(asyncio.current_task())
                    if self.finishing:
                        return
            except asyncio.CancelledError:
                if not self.finishing:
                    raise

        self.asking = workers = [asyncio.create_task(worker()) for _ in range(self.workers)]
        try:
            await asyncio.gather(*workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await client.close()

    def finish(self) -> None:
        """Begin no call more; those under way are paid for, and come to their end."""
        self.finishing = True
        if self.busy:
            log_line(f"stopping: {len(self.busy)} calls under way are waited for; Ctrl-C again drops them")
        for task in self.asking:
            if task not in self.busy:
                task.cancel()

    def _never_reached(self, kind: str) -> bool:
        return kind == "unreachable" and not self.answers and monotonic() - self.began > FIRST_CONTACT_S

    async def ask(self, client: openai.AsyncOpenAI, request: Request) -> Response | None:
        """Ask until there is an answer, or no hope of one. None: the run ended before either."""
        engine, options = self.engine, self.engine.options
        sent = engine.parameters(request)
        body = engine.body(request, self.images, sent)
        tokens = chat.estimated_tokens(request, sent.get(options.max_tokens_field))
        most = dict.fromkeys(RETRIED, options.attempts)
        most |= {"limited": LIMITED_TRIES * options.attempts, "time-out": min(TIMEOUT_TRIES, options.attempts)}
        tries = dict.fromkeys(RETRIED, 0)
        before = self.answers

        async def post() -> tuple[chat.Reply, str | None]:
            content = msgspec.json.encode(body)
            raw = await client.post("/chat/completions", content=content, cast_to=httpx2.Response)
            reply = chat.read_reply(chat.whole(raw.content) if "stream" in body else raw.content)
            return reply, raw.headers.get("x-request-id") or reply.id

        while True:
            reserved = await self.pace.acquire(tokens)
            began = monotonic()
            self.busy.add(asyncio.current_task())
            try:
                outcome = await attempt(engine, post(), options.timeouts.total, sent)
            finally:
                self.pace.release()
            latency = round(monotonic() - began, 4)
            if not isinstance(outcome, Fault):
                reply, call_id = outcome
                self.answers += 1
                self.failures, self.first = 0, None
                used = reply.usage
                total = None if used.prompt is None else used.prompt + (used.completion or 0)
                self.pace.answered(tokens, reserved, total)
                about = {"latency_s": latency, "provider_id": call_id}
                return engine.answered(request, self.model_key, reply, sent, **about)
            kind, words, wait = outcome.kind, outcome.words, outcome.wait or 0.0
            self.first = self.first or words
            if outcome.status in OVERLOADED:
                self.pace.limited(began)
            if kind in tries:
                if wait > options.retry_after_most:
                    self._end(f"the server asks to wait {wait:,.0f} s: {words}", "Run again then")
                self.pace.pause(wait)
                tries[kind] += 1
                if tries[kind] < most[kind] and not self._never_reached(kind):
                    self.busy.discard(asyncio.current_task())
                    if self.finishing:
                        return None
                    if wait < options.backoff.first:
                        await asyncio.sleep(backoff(sum(tries.values()), options.backoff.first, options.backoff.most))
                    continue
                if kind == "unreachable" and before == self.answers:
                    what = f"the server cannot be reached: {engine.base_url}: {words}"
                    self._end(what, "Check `base_url`, and that the server runs")
                words += f" ({sum(tries.values())} tries)"
            self._count(kind)
            state: State = "refused" if kind == "refused" else "failed"
            return engine.response(request, self.model_key, state, reason=words, effective=chat.flat(sent))

    def _count(self, kind: str) -> None:
        """Count a request that was given up. Raises PunchlineError for `breaker` failures in a row."""
        if kind == "refused":
            self.failures, self.first = 0, None
        elif kind != "too long":  # one request's own fault
            self.failures += 1
        if 0 < self.engine.options.breaker <= self.failures:
            hint = "Run again once that is mended: what was answered is kept. `breaker: 0` goes on whatever fails"
            self._end(f"{self.failures} requests in a row failed; the first error: {self.first}", hint)

    def _end(self, what: str, hint: str) -> NoReturn:
        raise PunchlineError(f"{self.engine.options.id}: {what}", file=self.engine.file, hint=hint)
