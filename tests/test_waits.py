"""How long to wait: as a server asks, and between tries."""

import email.utils
import time

import pytest

from punchline.core.waits import backoff, retry_after

PAST, LATER = (email.utils.formatdate(at, usegmt=True) for at in (1e9, time.time() + 10_000))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        *(({"retry-after": value}, seconds) for value, seconds in (("7", 7), (" 7 ", 7), ("2.5", 2.5))),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": PAST}, 0),
        ({"retry-after": LATER}, pytest.approx(10_000, abs=900)),
        *(({"retry-after": value}, None) for value in ("-7", "soon", "nan", "9" * 400, "")),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(("tries", "least", "most"), [(1, 0.5, 1), (3, 2, 4), (50, 30, 60)])
def test_backoff_doubles_up_to_its_most(tries: int, least: float, most: float) -> None:
    assert all(least <= backoff(tries, 1, 60) <= most for _ in range(100))
