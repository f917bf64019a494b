"""Ctrl-C once: what is under way comes to its end. Twice: at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def first_interrupt(act: Callable[[], bool] | None) -> Iterator[threading.Event]:
    """Have the first Ctrl-C set the event and `act`; the next one, or one that `act` has no use for, is as ever.

    Only in the main thread, which alone gets signals, and where nobody else handles them.
    """
    interrupted = threading.Event()
    ours = act is not None and threading.current_thread() is threading.main_thread()
    if act is None or not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupted
        return

    def handle(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if not act():
            raise KeyboardInterrupt
        interrupted.set()

    signal.signal(signal.SIGINT, handle)
    try:
        yield interrupted
    finally:
        if signal.getsignal(signal.SIGINT) is handle and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
