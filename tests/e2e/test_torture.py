"""A small part of `make torture`: a few of each kind, on a project of one benchmark."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from benchmarks.torture import answers, clock, disk, files, flips, forgeries, kills, pairs
from benchmarks.torture.ground import Ground, Row

pytestmark = pytest.mark.long

CHOSEN: dict[str, object] = {"benchmarks": ["pixelhumor"], "models": ["random", "first", "second", "served"]}
CHOSEN |= {"judge": "null", "limit": 3}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    result = Ground(tmp_path_factory.mktemp("torture"), CHOSEN, (forgeries.TABLE,), (forgeries.TABLE,))
    yield result
    result.close()


def whole(row: Row) -> None:
    assert row.failures == [], row


def test_kills(ground: Ground) -> None:
    whole(kills.run(ground, 2, 1, whole=0))


def test_flipped_bits(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every kind of file that a table depends on, twice."""
    monkeypatch.setattr(flips, "OVERVIEWS", ())
    row = flips.run(ground, 40, 1)
    whole(row)
    assert "over 21 kinds of file" in row.done


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="NO SMALL DISK: mounting a tmpfs needs root")
OTHERS = ((clock, 1), (pairs, 1), (files, 120), (answers, 500), pytest.param(disk, 2, marks=ROOT_ONLY))


@pytest.mark.parametrize(
    "kind", ["a value of the table in its lineage", "verdicts of the judge overlap, with their hash"]
)
def test_forgeries(ground: Ground, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(forgeries, "FORGERIES", {kind: forgeries.FORGERIES[kind]})
    whole(forgeries.run(ground, 1, 1))


@pytest.mark.parametrize(("torture", "turns"), OTHERS)
def test_other_kinds(ground: Ground, torture: Any, turns: int) -> None:
    whole(torture.run(ground, turns, 1))
