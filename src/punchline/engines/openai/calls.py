"""One run of calls: each request asked until there is an answer or no hope of one. Imported where one is made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

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


class Fault(msgspec.Struct):
    """Reason why a call has no result."""

    kind: Literal["again", "time-out", "unreachable", "failed"]
    words: str
    wait: float | None = None  # seconds that the server asked for
    refusal: chat.Refusal | None = None


async def attempt(engine: OpenAI, call: Awaitable[T], total: float) -> T | Fault:
    """Result of one call within `total` seconds. No exception of the client gets out: it may hold the key."""

    def fault(kind: Literal["again", "unreachable", "failed"], words: object, **more: Any) -> Fault:
        return Fault(kind, chat.one_line(str(words), engine.key), **more)

    try:
        async with asyncio.timeout(total):
            return await call
    except openai.APIStatusError as error:
        refusal = chat.read_refusal(error.status_code, error.response.content)
        return fault("again", refusal, wait=retry_after(error.response.headers), refusal=refusal)
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
        most = dict.fromkeys(("again", "unreachable"), options.attempts)
        most |= {"limited": LIMITED_TRIES * options.attempts, "time-out": min(TIMEOUT_TRIES, options.attempts)}
        tries = dict.fromkeys(most, 0)
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
                outcome = await attempt(engine, post(), options.timeouts.total)
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
            words, wait = outcome.words, outcome.wait
            kind: str = outcome.kind
            if outcome.refusal is not None:
                kind, parameter = chat.judge(outcome.refusal, sent)
                if kind == "stop":
                    engine.stop(outcome.refusal, parameter)
            self.first = self.first or words
            if kind == "limited" or (outcome.refusal is not None and outcome.refusal.status in (503, 529)):
                self.pace.limited(began)
            if kind in tries:
                if (wait or 0) > options.retry_after_most:
                    self._end(f"the server asks to wait {wait:,.0f} s: {words}", "Run again then")
                self.pace.pause(wait or 0.0)
                tries[kind] += 1
                if tries[kind] < most[kind] and not self._never_reached(kind):
                    self.busy.discard(asyncio.current_task())
                    if self.finishing:
                        return None
                    if (wait or 0) < options.backoff.first:
                        await asyncio.sleep(backoff(sum(tries.values()), options.backoff.first, options.backoff.most))
                    continue
                if kind == "unreachable" and before == self.answers:
                    what = f"the server cannot be reached: {engine.base_url}: {words}"
                    self._end(what, "Check `base_url`, and that the server runs")
                words += f" ({sum(tries.values())} tries)"
            state: State = "refused" if kind == "refused" else "failed"
            if state == "refused":
                self.failures, self.first = 0, None
            elif kind != "too long":  # one request's own fault
                self._count_failure()
            return engine.response(request, self.model_key, state, reason=words, effective=chat.flat(sent))

    def _count_failure(self) -> None:
        self.failures += 1
        if 0 < self.engine.options.breaker <= self.failures:
            hint = "Run again once that is mended: what was answered is kept. `breaker: 0` goes on whatever fails"
            self._end(f"{self.failures} requests in a row failed; the first error: {self.first}", hint)

    def _end(self, what: str, hint: str) -> NoReturn:
        raise PunchlineError(f"{self.engine.options.id}: {what}", file=self.engine.file, hint=hint)
