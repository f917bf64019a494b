"""Digests of files that are kept between calls and processes."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.test_provenance import SOURCE, here, moved_over, put, same_size_same_time

from punchline.artifacts.contents import files_beside
from punchline.files import sha256_file, write_text
from punchline.workflow import digests

__all__ = ["here"]


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests are kept at once, not when a file is some seconds old. Writes below are apart by more than a tick."""
    monkeypatch.setattr(digests, "_JUST_NOW_NS", 0)
    tick()


def tick() -> None:
    time.sleep(0.03)


class Counted:
    """A digest that counts how often it is computed."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, path: str = SOURCE, kind: str = "kind") -> Any:
        def compute() -> Any:
            self.times += 1
            return [Path(path).read_text()]

        return digests.cached(kind, path, compute)


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda: None, False),
        (put(SOURCE, "longer"), True),
        (lambda: same_size_same_time(SOURCE), True),
        (lambda: moved_over(SOURCE, "ABC"), True),
        (lambda: os.utime(SOURCE, (1, 1)), True),  # computed again, and the same
    ],
)
def test_a_digest_is_computed_once_for_a_file(settled: None, change: Callable[[], object], again: bool) -> None:
    counted = Counted()
    tick()
    for _ in range(3):
        assert counted() == ["abc"] and counted.times == 1
    tick()
    change()
    tick()
    for _ in range(2):
        assert counted() == [Path(SOURCE).read_text()] and counted.times == 1 + again


def test_a_file_that_may_still_change_is_read_each_time() -> None:
    counted = Counted()
    assert counted() == counted() == ["abc"] and counted.times == 2
    for text in ("abd", "abe", "abf"):  # within one tick of the clock, and of one size
        Path(SOURCE).write_text(text)
        assert counted() == [text] and digests.of_file(SOURCE) == sha256_file(SOURCE)


def another_process() -> None:
    digests._save(Path(".punchline/digests.json"), digests._cache(Path.cwd()), {})
    digests._cache.cache_clear()


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"kind:source.txt": [[1], "x"]}', b"\xff"])
def test_digests_are_kept_between_processes(settled: None, content: bytes | None) -> None:
    """A damaged cache costs time only."""
    counted, cache = Counted(), Path(".punchline/digests.json")
    counted()
    another_process()
    if content is not None:
        cache.write_bytes(content)
    for _ in range(2):
        assert counted() == ["abc"] and counted.times == 1 + (content is not None)
        another_process()


def test_what_a_kill_left_is_no_file_beside(tmp_path: Path) -> None:
    """A record would name it, and the next look would miss it: it is swept with the next write."""
    for name in ("index.js", "0.js", "index.js.made.json", ".0.js.abc.part"):
        write_text(tmp_path / "pages" / name, "")
    assert files_beside(tmp_path / "pages/index.js") == [f"{tmp_path}/pages/0.js"]
