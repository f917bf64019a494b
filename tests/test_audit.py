"""What an audit says of records that differ."""

from __future__ import annotations

from msgspec.structs import replace

from punchline.audit.links import same as _same
from punchline.core.records import Gold

GOLDS = [Gold(benchmark="b", item_id=f"i{n}", values={"a": n}) for n in range(2000)]


def differences(stored: list[Gold]) -> list[str]:
    return list(_same(GOLDS, stored, lambda gold: gold.item_id))


def test_equal_records_say_nothing() -> None:
    assert differences(list(GOLDS)) == []


def test_one_reason_is_said_once() -> None:
    """Two thousand golds of another benchmark are one finding, which names the first and some others."""
    (said,) = differences([replace(gold, benchmark="c") for gold in GOLDS])
    assert said.startswith(
        "i0: made again {'benchmark': 'b'}, stored {'benchmark': 'c'}; 1,999 more differ in benchmark: i1,"
    )
    assert len(said) < 300


def test_each_reason_is_said_and_a_record_that_differs_alone_is_named() -> None:
    stored = [replace(GOLDS[0], benchmark="c"), *GOLDS[1:5], replace(GOLDS[5], values={}), *GOLDS[6:-1]]
    assert differences(stored) == [
        "1,999 records stored, 2,000 made again",
        "i0: made again {'benchmark': 'b'}, stored {'benchmark': 'c'}",
        "i5: made again {'values': {'a': 5}}, stored {'values': {}}",
    ]
