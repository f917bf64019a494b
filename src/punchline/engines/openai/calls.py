"""One run of calls: each request asked until there is an answer or no hope of one. Imported where one is made."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

import aiohttp
import httpx2
import msgspec

from punchline.core.errors import PunchlineError
from punchline.core.progress import say
from punchline.core.records import Request, Response
from punchline.engines.openai import chat, pace, wire

if TYPE_CHECKING:
    from punchline.engines.openai import OpenAI

TIMEOUT_TRIES = 3  # a call that timed out is dear: fewer tries than for other faults
LIMITED_TRIES = 4  # times `attempts`: how often one request may meet a 429


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

    async def run(self, put: pace.Put[Response]) -> None:
        """Ask all; the first PunchlineError ends it, and with it every call in flight."""
        options = self.engine.options
        budgets = (options.requests_per_minute, options.tokens_per_minute)  # an account's, whatever jobs ask by it
        self.pace = pace.Pace(options.concurrency, *(each and each / self.engine.card.shards for each in budgets))
        post = self.engine.post()

        async def worker() -> None:
            try:
                for request in self.todo:
                    if (response := await self.ask(post, request)) is not None:
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
            await post.close()

    def finish(self) -> None:
        """Begin no call more; those under way are paid for, and come to their end."""
        self.finishing = True
        if self.busy:
            say(f"stopping: {len(self.busy)} calls under way are waited for; Ctrl-C again drops them")
        for task in self.asking:
            if task not in self.busy:
                task.cancel()

    async def ask(self, post: wire.Post, request: Request) -> Response | None:
        """Ask until there is an answer, or no hope of one. None: the run ended before either."""
        engine, options = self.engine, self.engine.options
        sent = engine.parameters(request)
        body = engine.body(request, self.images, sent)
        tokens = chat.estimated_tokens(request, sent.get(options.max_tokens_field))
        tries: dict[str, int] = {"again": 0, "limited": 0, "time-out": 0, "unreachable": 0}
        most = {"again": options.attempts, "limited": LIMITED_TRIES * options.attempts}
        most |= {"time-out": min(TIMEOUT_TRIES, options.attempts), "unreachable": options.attempts}
        before = self.answers
        while True:
            reserved = await self.pace.acquire(tokens)
            began = monotonic()
            self.busy.add(asyncio.current_task())
            try:
                outcome = await self._call(post, body)
            finally:
                self.pace.release()
            latency = round(monotonic() - began, 4)
            if isinstance(outcome, _Answer):
                self.answers += 1
                self.failures, self.first = 0, None
                used = outcome.reply.usage
                total = None if used.prompt is None else used.prompt + (used.completion or 0)
                self.pace.answered(tokens, reserved, total)
                about = {"latency_s": latency, "provider_id": outcome.id}
                return engine.answered(request, self.model_key, outcome.reply, sent, **about)
            words, wait = outcome.words, outcome.wait
            kind = outcome.kind
            if isinstance(outcome, _Refused):
                kind, parameter = chat.judge(outcome.refusal, sent)
                if kind == "stop":
                    engine.stop(outcome.refusal, parameter)
            self.first = self.first or words
            if kind == "limited" or (isinstance(outcome, _Refused) and outcome.refusal.status in (503, 529)):
                self.pace.limited(began)
            if wait is not None and kind in tries:
                if wait > options.retry_after_most:
                    self._end(f"the server asks to wait {wait:,.0f} s: {words}", "Run again then")
                self.pace.pause(wait)
            if kind in tries:
                tries[kind] += 1
                if tries[kind] < most[kind]:
                    self.busy.discard(asyncio.current_task())
                    if self.finishing:
                        return None
                    if wait is None or wait < options.backoff.first:
                        spent = sum(tries.values())
                        await asyncio.sleep(pace.backoff(spent, options.backoff.first, options.backoff.most))
                    continue
                if kind == "unreachable" and before == self.answers:
                    self._end(f"the server cannot be reached: {words}", "Check `base_url`, and that the server runs")
                words += f" ({sum(tries.values())} tries)"
            if kind == "refused":
                self.failures, self.first = 0, None
                return engine.response(request, self.model_key, "refused", reason=words, effective=chat.flat(sent))
            if kind != "too long":  # one request's own fault
                self._given_up()
            return engine.response(request, self.model_key, "failed", reason=words, effective=chat.flat(sent))

    async def _call(self, post: wire.Post, body: Mapping[str, Any]) -> _Answer | _Refused | _Fault:
        """One try. Exceptions of the client hold the server's words, key and all: none gets out of here."""
        total = self.engine.options.timeouts.total
        try:
            async with asyncio.timeout(total):
                raw = await post(body)
            if not 200 <= raw.status < 300:
                refusal = chat.read_refusal(raw.status, raw.content)
                return _Refused("again", self._clean(str(refusal)), chat.retry_after(raw.headers), refusal)
            reply = chat.read_reply(chat.whole(raw.content) if "stream" in body else raw.content)
            return _Answer(reply, raw.headers.get("x-request-id") or reply.id)
        except chat.Unusable as error:
            return _Fault("again", self._clean(f"HTTP 200: {error}"))
        except wire.Unwanted as error:
            return _Fault("failed", self._clean(str(error)))
        except aiohttp.SocketTimeoutError:
            return _Fault("time-out", f"time-out: silent for {self.engine.options.timeouts.read:g} s")
        except (httpx2.DecodingError, aiohttp.ClientError, ssl.SSLError) as error:
            never = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
            kind = "unreachable" if isinstance(error, never) else "again"
            return _Fault(kind, self._clean(f"{type(error).__name__}: {error}"))
        except TimeoutError:
            return _Fault("time-out", f"time-out: no whole answer in {total:g} s")

    def _clean(self, words: str) -> str:
        return chat.one_line(words, self.engine.key)

    def _given_up(self) -> None:
        self.failures += 1
        if self.engine.options.breaker and self.failures >= self.engine.options.breaker:
            self._end(
                f"{self.failures} requests in a row failed; the first error: {self.first}",
                "Run again once that is mended: what was answered is kept. `breaker: 0` goes on whatever fails",
            )

    def _end(self, what: str, way_out: str) -> NoReturn:
        raise PunchlineError(f"{self.engine.options.id}: {what}", file=self.engine.file, way_out=way_out)


class _Answer(msgspec.Struct):
    reply: chat.Reply
    id: str | None


class _Fault(msgspec.Struct):
    kind: str  # again, time-out, unreachable, failed
    words: str
    wait: float | None = None  # seconds that the server asked for


class _Refused(_Fault):
    refusal: chat.Refusal = chat.Refusal(status=0, message="")
