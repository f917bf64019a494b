"""Limits on calls: parallel calls, requests and tokens per minute, pauses. Monotonic time only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from time import monotonic
from typing import Any, TypeVar

from punchline.core.signals import stopping_softly

T = TypeVar("T")
Put = Callable[[T], Awaitable[None]]

LOOK_S = 0.1  # how often a waiting call looks whether its time has come sooner


class Pace:
    """Admission of calls within one event loop.

    Calls at a time start at `most`, are halved when the server says that there are too many, and grow by one for every
    round of answers. Budgets are spent evenly: no minute holds more than one call above them.
    """

    def __init__(self, most: int, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        self.most = most
        self.limit = float(most)
        self._a_request = 60 / requests_per_minute if requests_per_minute else 0.0  # seconds
        self._a_token = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._next_request = self._next_token = self._paused_until = self._cut_at = 0.0
        self._counted = 1.0  # tokens that the server counts for one that was estimated: a running mean
        self._weight = 1.0  # of the next answer in it
        self._active = 0
        self._freed = asyncio.Event()  # wakes all waiting calls
        self._clock = asyncio.Lock()

    async def acquire(self, tokens: float) -> float:
        """Wait for a turn for a call of about that many tokens; the tokens that were set aside for it."""
        while self._active >= int(self.limit):
            self._freed.clear()
            await self._freed.wait()
        self._active += 1
        async with self._clock:
            while (wait := max(self._paused_until, self._next_request, self._next_token) - monotonic()) > 0:
                await asyncio.sleep(min(wait, LOOK_S))
            now, reserved = monotonic(), tokens * self._counted
            self._next_request = now + self._a_request
            self._next_token = now + reserved * self._a_token
            return reserved

    def release(self) -> None:
        """The call has ended."""
        self._active -= 1
        self._freed.set()

    def answered(self, estimated: float, reserved: float, used: int | None) -> None:
        """The server answered; `used`: tokens that it counted, `estimated`: what acquire was told."""
        self.limit = min(self.most, self.limit + 1 / self.limit)
        if used is not None:
            self._next_token += (used - reserved) * self._a_token
            self._counted += self._weight * (used / max(estimated, 1.0) - self._counted)
            self._weight = 0.1

    def limited(self, began: float) -> None:
        """The server said that there are too many calls; one that began before the last cut says nothing new."""
        if began >= self._cut_at:
            self.limit, self._cut_at = max(1.0, self.limit / 2), monotonic()

    def pause(self, seconds: float) -> None:
        """Begin no call for that long."""
        self._paused_until = max(self._paused_until, monotonic() + seconds)


def iterate(work: Callable[[Put[T]], Coroutine[Any, Any, None]]) -> Iterator[T]:
    """Items that `work` puts, as they come. The event loop runs only while one is waited for, so that few are queued.

    Ctrl-C and SIGTERM cancel the work. What it has put by its end is yielded first, then the signal takes its course.
    However the iteration ends (the end, an error, a signal, close), the work has ended by then.
    """
    end = object()
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        outbox: asyncio.Queue[Any] = asyncio.Queue()
        loop = runner.get_loop()
        task = loop.create_task(work(outbox.put))
        task.add_done_callback(lambda _: outbox.put_nowait(end))
        with stopping_softly(lambda: loop.call_soon_threadsafe(task.cancel)):
            while (item := runner.run(outbox.get())) is not end:
                yield item
        task.result()
