"""Calls of a server, each tried until there is an answer or no hope of one. Imported where one is made."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Literal, NoReturn, TypeVar

import aiohttp
import httpx2
import msgspec
import openai

from punchline.core.engine import ImageFiles, prompt_tokens
from punchline.core.waits import backoff
from punchline.engines.openai import chat, pace, stops
from punchline.engines.openai.client import Unwanted
from punchline.engines.openai.refusals import Refusal, Verdict, judge, read_refusal
from punchline.engines.openai.replies import Empty, ErrorReply, NoAnswer, Unusable, read_reply
from punchline.errors import PunchlineError
from punchline.schema import Request, Response

if TYPE_CHECKING:
    from punchline.engines.openai import OpenAI

T = TypeVar("T")

TIMEOUT_TRIES = 3  # a call that timed out is dear: fewer tries than for other faults
EMPTY_TRIES = 2  # a reply without choices or a reason is mostly the same again
FIRST_CONTACT_S = 5.0  # without any answer so far, a server that cannot be reached is given up after this time
LAST_S = 30.0  # calls in flight get so long to finish when an error ends a run: their answers are paid for
STOP_S = 1.0  # and so long after a Ctrl-C: what has arrived is read
LIMITED_TRIES = 4  # times `attempts`: how often one request may meet a 429
# Guesses for the token budget, put right by what the server counts.
CHARACTERS_A_TOKEN, TOKENS_AN_IMAGE = 4, 1000
OVERLOADED = (429, 503, 529)  # statuses of a server that has too many calls


Kind = Verdict | Literal["time-out", "unreachable", "empty"]


class Fault(msgspec.Struct):
    """Reason why a call has no result."""

    kind: Kind
    words: str
    wait: float = 0.0  # seconds that the server asked for
    status: int = 200
    tries: int = 0  # 0: another try would get the same


async def attempt(engine: OpenAI, call: Awaitable[T], total: float, sent: Collection[str]) -> T | Fault:
    """Result of one call within `total` seconds; `sent`: names of its parameters.

    Raises PunchlineError for a refusal that every call would meet. No exception of the client gets out: it may hold
    the key.
    """

    def fault(kind: Kind, words: object) -> Fault:
        return Fault(kind, chat.one_line(str(words), engine.secrets))

    try:
        async with asyncio.timeout(total):
            return await call
    except openai.APIStatusError as error:
        reply = error.response
        refusal = read_refusal(reply.status_code, reply.content, reply.headers)
    except ErrorReply as error:
        refusal = error.refusal
    except (NoAnswer, Unusable) as error:
        kind: Kind = "failed" if isinstance(error, NoAnswer) else "empty" if isinstance(error, Empty) else "again"
        return fault(kind, f"HTTP 200: {error}")
    except Unwanted as error:
        return fault("failed", error)
    except openai.APIConnectionError as error:
        cause = (error.__cause__ and error.__cause__.__cause__) or error.__cause__ or error  # aiohttp's own
        if not (isinstance(cause, aiohttp.ClientHttpProxyError) and cause.status == 407):
            kind = _kind_of(cause)
            silent = f"time-out: silent for {engine.options.timeouts.read:g} s"
            return fault(kind, silent if kind == "time-out" else f"{type(cause).__name__}: {cause}")
        refusal = Refusal(status=407, message=cause.message)
    except TimeoutError:
        return Fault("time-out", f"time-out: no whole answer in {total:g} s")
    options = engine.options
    named = {*sent, *options.query, *options.headers, *options.headers_env}
    judgement = judge(refusal, named, options.retry_after_most)
    if judgement.cause is not None:
        raise engine.stopped(refusal, judgement)
    return Fault(judgement.verdict, chat.one_line(str(refusal), engine.secrets), refusal.wait, refusal.status)


def _kind_of(cause: BaseException) -> Kind:
    """The kind of a fault of a connection."""
    if isinstance(cause, aiohttp.SocketTimeoutError):
        return "time-out"
    connecting = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)
    return "unreachable" if isinstance(cause, connecting) else "again"


class Calls:
    """Calls of an engine's server within one event loop; `most_bytes`: of a reply that are read."""

    def __init__(self, engine: OpenAI, most_bytes: int | None = None) -> None:
        options = engine.options
        budgets = (options.requests_per_minute, options.tokens_per_minute)  # an account's, whatever jobs ask by it
        self.pace = pace.Pace(options.concurrency, *(each and each / engine.card.shards for each in budgets))
        self.engine, self.options, self.client = engine, options, engine.client(most_bytes)
        most = options.attempts
        self.most_tries: dict[Kind, int] = {"again": most, "unreachable": most, "limited": LIMITED_TRIES * most}
        self.most_tries |= {"time-out": min(TIMEOUT_TRIES, most), "empty": min(EMPTY_TRIES, most)}
        self.answers = 0  # calls that a server answered, whatever it said
        self.failures = 0  # requests given up in a row
        self.first: str | None = None  # error of that row
        self.began = monotonic()
        self.in_flight = set[asyncio.Task[None] | None]()
        self.error: PunchlineError | None = None  # the first
        self.is_ending = False  # only calls in flight go on

    async def call(
        self, post: Callable[[float], Awaitable[T]], total: float, sent: Collection[str] = (), tokens: float = 0.0
    ) -> T | Fault:
        """Result of a call, tried until there is one or no hope of one; `post` gets the tokens set aside for it."""
        tries, before, pauses = Counter[str](), self.answers, self.options.backoff
        while True:
            reserved = await self.pace.acquire(tokens)
            began = monotonic()
            self.in_flight.add(asyncio.current_task())
            outcome = await attempt(self.engine, post(reserved), total, sent)
            self.in_flight.discard(asyncio.current_task())
            self.pace.release()
            if not isinstance(outcome, Fault):
                self.answers += 1
                self.failures, self.first = 0, None
                return outcome
            self.first = self.first or outcome.words
            if outcome.status in OVERLOADED:
                self.pace.limited(began)
            if outcome.kind not in self.most_tries:
                return outcome
            if self.is_ending:  # no more tries: the next run asks again
                raise asyncio.CancelledError
            tries[outcome.kind] += 1
            outcome.tries = tries.total()
            if not self._is_worth_a_try(outcome, tries[outcome.kind], before):
                return outcome
            if outcome.wait < pauses.first:  # longer waits that the server asks for hold back all calls, by the pace
                await asyncio.sleep(backoff(outcome.tries, pauses.first, pauses.most))

    def _is_worth_a_try(self, fault: Fault, tries: int, before: int) -> bool:
        """True if a call is tried again after a fault; `before`: answers when it began. Raises PunchlineError."""
        if fault.wait > self.options.retry_after_most:
            self._end(f"the server asks to wait {fault.wait:,.0f} s: {fault.words}", "Run again then")
        self.pace.pause(fault.wait)  # of all calls
        unreachable = fault.kind == "unreachable"
        never_reached = unreachable and not self.answers and monotonic() - self.began > FIRST_CONTACT_S
        is_last = tries >= self.most_tries[fault.kind] or never_reached
        if is_last and unreachable and before == self.answers:
            what = f"the server cannot be reached: {self.engine.base_url}: {fault.words}"
            self._end(what, stops.reach(self.engine, fault.words))
        return not is_last

    async def answer(
        self, requests: Sequence[Request], images: ImageFiles, model_key: str, put: pace.Put[Response]
    ) -> None:
        """Ask all. The first PunchlineError ends it, after the calls in flight: an answer on its way is kept.

        As many workers as calls may be in flight, each with one request at a time.
        """
        todo = iter(requests)

        async def worker() -> None:
            for request in todo:
                try:
                    await put(await self._ask(request, images, model_key))
                except PunchlineError as error:
                    self.error = self.error or error
                    self.is_ending = True
                    raise
                if self.is_ending:
                    return

        async with self.client:
            workers = [asyncio.create_task(worker()) for _ in range(min(self.options.concurrency, len(requests)))]
            try:
                await self._finish(workers)
            except asyncio.CancelledError:
                await self._let_finish({*workers}, STOP_S)
                raise
            finally:
                for task in workers:
                    task.cancel()
                await asyncio.gather(*workers, return_exceptions=True)

    async def _finish(self, workers: Sequence[asyncio.Task[None]]) -> None:
        """Wait for all workers; after the first error, which is raised, for those with a call in flight."""
        ended, running = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        errors = [error for task in ended if not task.cancelled() and (error := task.exception())]
        if not errors:
            return
        await self._let_finish(running, LAST_S)
        raise self.error or errors[0]

    async def _let_finish(self, running: set[asyncio.Task[None]], seconds: float) -> None:
        """Cancel workers that wait for their turn or between tries; give those with a call in flight some time."""
        self.is_ending = True
        for task in running - self.in_flight:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=seconds)

    async def _ask(self, request: Request, images: ImageFiles, model_key: str) -> Response:
        """The response to a request, which may be a failure. Raises PunchlineError for `breaker` failures in a row."""
        engine, sent = self.engine, self.engine.parameters(request)
        body = engine.body(request, images, sent)
        limit = sent.get(self.options.max_tokens_field)
        tokens = prompt_tokens(request, CHARACTERS_A_TOKEN, TOKENS_AN_IMAGE)
        tokens += limit if isinstance(limit, (int, float)) else 0

        async def post(reserved: float) -> Response:
            began = monotonic()
            content = msgspec.json.encode(body)
            raw = await self.client.post("/chat/completions", content=content, cast_to=httpx2.Response)
            reply = read_reply(raw.content, streamed="stream" in body, finished_as=self.options.finished_as)
            used = reply.usage
            self.pace.answered(tokens, reserved, used.prompt and used.prompt + (used.completion or 0))
            about = {"latency_s": round(monotonic() - began, 4)}
            call_id = raw.headers.get("x-request-id") or reply.provider_id
            return engine.answered(request, model_key, reply, sent, provider_id=call_id, **about)

        outcome = await self.call(post, self.options.timeouts.total, sent, tokens)
        if isinstance(outcome, Response):
            return outcome
        if outcome.kind == "refused":
            self.failures, self.first = 0, None
        elif outcome.kind != "too long":  # one request's own fault
            self.failures += 1
        if 0 < self.options.breaker <= self.failures:
            hint = "Run again once that is mended: what was answered is kept. `breaker: 0` goes on whatever fails"
            self._end(f"{self.failures} requests in a row failed; the first error: {self.first}", hint)
        words = outcome.words + (f" ({outcome.tries} tries)" if outcome.tries else "")
        return engine.unanswered(request, model_key, outcome.kind, words, sent)

    def _end(self, what: str, hint: str) -> NoReturn:
        raise self.engine.wrong(f"{self.options.id}: {what}", hint=hint)


def call_once(
    engine: OpenAI, call: Callable[[openai.AsyncOpenAI], Awaitable[T]], total: float, most: int | None = None
) -> T | Fault:
    """Result of one call of the API, tried again as often as `attempts` says."""

    async def work() -> T | Fault:
        calls = Calls(engine, most)
        async with calls.client:
            return await calls.call(lambda _: call(calls.client), total)

    return asyncio.run(work())
