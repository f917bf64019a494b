"""The journal: whole lines survive, a torn last one is cut off, anything else damaged is named."""

import itertools
import multiprocessing
import re
import resource
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests import records
from tests.asked import answers_in

from punchline.journal import Answers, Journal, Shard, locked, read_lines
from punchline.schema import Response

FORK = multiprocessing.get_context("fork")


def response(number: int, text: str | None = "yes") -> Response:
    return records.response(f"{number:064d}", text, reason=None)


def write(path: Path, *answers: Response) -> Path:
    with Journal(path) as journal:
        for answer in answers:
            journal.append(answer)
    return path


@pytest.mark.parametrize(("cut", "kept"), [(1, 2), (5, 1), (50, 1)])
def test_a_torn_last_line_is_cut_off_unless_it_lacks_its_newline_only(tmp_path: Path, cut: int, kept: int) -> None:
    path = write(tmp_path / "a/m.jsonl", response(1), response(2))
    path.write_bytes(path.read_bytes()[:-cut])
    write(path, response(3))
    assert list(answers_in(path).values()) == [*[response(1), response(2)][:kept], response(3)]


def test_every_single_bit_counts(tmp_path: Path) -> None:
    good = write(tmp_path / "m.jsonl", response(1), response(2)).read_bytes()
    for place in range(len(good)):
        for bit in (1, 0x20, 0x80):
            bad = bytearray(good)
            bad[place] ^= bit
            read = [line for *_, line in read_lines(BytesIO(bad), file="m.jsonl")]
            damaged = [str(line) for line in read if not isinstance(line, Response)]
            answers = {line.request_id for line in read if isinstance(line, Response)}
            if damaged:  # two, if a newline is inserted
                assert re.search(r"m\.jsonl, line [12]: .*Restore the file", damaged[0])
                assert len(answers) == 1 or bad.count(b"\n") != 2 or place == len(good) // 2 - 1
            else:  # the last line's newline alone says nothing
                assert len(answers) == 1 or place == len(good) - 1, f"bit {bit} of byte {place} went unnoticed"


def hold(journal: str, shard: Shard, held: Any) -> None:
    """Set an event when the shard is locked."""
    with locked(journal, shard):
        held.set()


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        *(((1, 1), (1, 1), True), ((1, 1), (2, 3), True), ((1, 2), (2, 3), True)),
        *(((1, 2), (2, 2), False), ((1, 3), (3, 3), False)),
    ],
)
def test_the_same_items_wait(tmp_path: Path, first: Any, second: Any, waits: bool, capfd: Any) -> None:
    journal, held = str(tmp_path / "m.jsonl"), FORK.Event()
    with locked(journal, Shard(*first)):
        other = FORK.Process(target=hold, args=(journal, Shard(*second), held))
        other.start()
        assert held.wait(1 if waits else 60) is not waits
    other.join(60)
    assert held.is_set() and ("waiting for another run" in capfd.readouterr().err) is waits


def test_a_linked_journal_is_copied_before_it_is_written_to(tmp_path: Path) -> None:
    left = write(tmp_path / "cache", response(1))
    before = left.read_bytes()
    for name, link in (("hard.jsonl", Path.hardlink_to), ("soft.jsonl", Path.symlink_to)):
        link(tmp_path / name, left)
        write(tmp_path / name, response(2))
        assert len(answers_in(tmp_path / name)) == 2 and left.read_bytes() == before


def append_answers(path: Path, room: int, last: Any) -> None:
    """Append answers as long as a file may grow; `last` gets the number of each."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    with Journal(path) as journal:
        for number in range(10**6):
            journal.append(response(number, "x" * 200))
            last.value = number


@pytest.mark.parametrize(("after_s", "room"), [(0.05, 10**9), (0.15, 10**9), (0.3, 10**9), (None, 10_000)])
def test_no_appended_answer_is_lost(tmp_path: Path, after_s: float | None, room: int, capfd: Any) -> None:
    """By a kill -9, or when there is no room for another."""
    path, last = tmp_path / "m.jsonl", FORK.Value("i", 0, lock=False)
    writer = FORK.Process(target=append_answers, args=(path, room, last))
    writer.start()
    if after_s is not None:
        while not last.value:
            time.sleep(0.001)
        time.sleep(after_s)
        writer.kill()
    writer.join()
    errors = capfd.readouterr().err
    assert ("m.jsonl: no answer can be written: File too large. Make room" in errors) is (after_s is None)
    write(path, response(10**6))
    answers = answers_in(path)
    assert len(answers) >= last.value + 2 > 2 and (f"{last.value:064d}", "k") in answers


def test_commits_come_at_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, commits = itertools.count(0, 0.001), list[int]()
    monkeypatch.setattr("punchline.journal.os.fsync", commits.append)
    monkeypatch.setattr("punchline.journal.time.monotonic", lambda: next(clock))
    write(tmp_path / "m.jsonl", *[response(1)] * 1000)
    assert 15 <= len(commits) <= 25  # 1 s


def failed(number: int, reason: str = "no") -> Response:
    return records.response(f"{number:064d}", None, "failed", reason=reason)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([response(1, "a"), failed(1)], response(1, "a")),  # one that did not fail, wherever it is
        ([failed(1, "a"), failed(1, "b")], min(failed(1, "a"), failed(1, "b"), key=lambda one: one.digest)),
        ([response(1, "a"), response(1, "b")], min(response(1, "a"), response(1, "b"), key=lambda one: one.digest)),
    ],
)
def test_which_of_several_answers_counts(tmp_path: Path, lines: list[Response], expected: Response) -> None:
    """In any order, in one journal or several, written or read."""
    key = (f"{1:064d}", "k")
    for number, order in enumerate((lines, lines[::-1], [*lines, *lines])):
        one = write(tmp_path / f"{number}.jsonl", *order)
        parts = [write(tmp_path / f"{number}.{at}.jsonl", line) for at, line in enumerate(order)]
        for answers in (Answers([one]), Answers([*parts, tmp_path / "none.jsonl"]), Journal(parts[0], parts)):
            assert answers.read(key) == expected and len(answers) == 1
            assert (answers.state(key), answers.digest(key)) == (expected.state, expected.digest)
            assert [answers.lacks(one) for one in lines] == [one.state != "failed" and one != expected for one in lines]
