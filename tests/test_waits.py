"""How long to wait: as a server asks, and between tries."""

import email.utils
import time

import pytest

from punchline.core.waits import backoff, retry_after

DATE, LATER = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:30 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        *(({"retry-after": value}, seconds) for value, seconds in (("7", 7), (" 7 ", 7), ("2.5", 2.5))),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": LATER, "date": DATE}, 30),
        ({"retry-after": DATE, "date": LATER}, 0),
        ({"retry-after": DATE}, 0),  # in the past by this machine's clock
        *(({"retry-after": value}, None) for value in ("-7", "soon", "nan", "9" * 400, "")),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_without_the_servers_clock_is_compared_with_ours() -> None:
    until = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert 98 <= (retry_after({"retry-after": until}) or 0) <= 100


@pytest.mark.parametrize(("tries", "least", "most"), [(1, 0.5, 1), (3, 2, 4), (50, 30, 60)])
def test_backoff_doubles_up_to_its_most(tries: int, least: float, most: float) -> None:
    assert all(least <= backoff(tries, 1, 60) <= most for _ in range(100))
