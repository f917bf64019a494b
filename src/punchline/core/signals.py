"""Stops by Ctrl-C or SIGTERM that take effect after a loop has handed out its results."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping_softly(stop: Callable[[], object]) -> Iterator[None]:
    """Within the context, let the first Ctrl-C or SIGTERM call `stop`; it takes its course at the context's end.

    A second one takes its course at once. Nothing changes in other threads than the main one, which gets no signals,
    and for signals that are ignored.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {one: signal.getsignal(one) for one in STOPS}
        before = {one: handler for one, handler in before.items() if handler not in (None, signal.SIG_IGN)}
    received: list[int] = []

    def restore() -> None:
        for one, handler in before.items():
            signal.signal(one, handler)

    def receive(number: int, frame: FrameType | None) -> None:
        if received:
            received.clear()
            restore()
            signal.raise_signal(number)
        received.append(number)
        stop()

    for one in before:
        signal.signal(one, receive)
    try:
        yield
    finally:
        restore()
        if received:
            signal.raise_signal(received[0])
            raise KeyboardInterrupt  # where a handler of the program lets it go on
