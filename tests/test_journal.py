"""The journal: whole lines survive, a torn last one is cut off, anything else damaged is named."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from punchline.errors import PunchlineError
from punchline.journal import LINE_BYTES, Answers, Journal, parse_journal
from punchline.schema import Response


def response(number: int, text: str | None = "yes") -> Response:
    return Response(
        request_id=f"{number:064d}", model_key="k", state="ok", text=text, engine="test", engine_version="1"
    )


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a" / "m.jsonl"
    with Journal(path) as journal:
        for number in range(3):
            journal.append(response(number))
        journal.append(response(1, "changed"))
    answers, whole = parse_journal(path.read_bytes(), file=path)
    assert whole == path.stat().st_size
    assert [answers[f"{n:064d}", "k"].text for n in range(3)] == ["yes", "changed", "yes"]


@pytest.mark.parametrize("cut", [1, 5, 50])
def test_a_torn_last_line_is_cut_off_and_asked_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "m.jsonl"
    with Journal(path) as journal:
        journal.append(response(1))
        journal.append(response(2))
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path) as journal:
        assert len(journal) == 1 and (f"{1:064d}", "k") in journal
        journal.append(response(2))
    assert len(parse_journal(path.read_bytes(), file=path)[0]) == 2


@pytest.mark.parametrize("place", [0, 10, 100, 150, 200, 250])
def test_a_flipped_byte_in_a_whole_line_is_named(tmp_path: Path, place: int) -> None:
    path = tmp_path / "m.jsonl"
    with Journal(path) as journal:
        journal.append(response(1))
        journal.append(response(2))
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(PunchlineError, match=r"m\.jsonl, line 1: .*Restore the file"):
        Journal(path)


def test_every_single_bit_counts(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with Journal(path) as journal:
        journal.append(response(1))
        journal.append(response(2))
    good = path.read_bytes()
    before = parse_journal(good, file=path)
    for place in range(len(good)):
        for bit in (1, 0x20, 0x80):
            bad = bytearray(good)
            bad[place] ^= bit
            try:
                after = parse_journal(bytes(bad), file=path)
            except PunchlineError:
                continue
            assert after != before, f"bit {bit} of byte {place} went unnoticed"


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path / "m.jsonl"), pytest.raises(PunchlineError, match="another run"):
        Journal(tmp_path / "m.jsonl")


WRITER = """
import sys
from punchline.journal import Journal
from punchline.schema import Response
with Journal(sys.argv[1]) as journal:
    for number in range(10**6):
        journal.append(Response(request_id=f"{number:064d}", model_key="k", state="ok", text="x" * 200,
                                engine="t", engine_version="1"))
        print(number, flush=True)
"""


@pytest.mark.parametrize("after_s", [0.05, 0.15, 0.3])
def test_kill_9_loses_no_answer_that_append_returned_for(tmp_path: Path, after_s: float) -> None:
    path = tmp_path / "m.jsonl"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "0\n"
        time.sleep(after_s)
        os.kill(writer.pid, signal.SIGKILL)
        said = [line for line in writer.stdout.read().split("\n")[:-1] if line]
    last = int(said[-1]) if said else 0
    with Journal(path) as journal:
        assert len(journal) >= last + 1
        assert (f"{last:064d}", "k") in journal


def test_an_answer_longer_than_a_line_may_be_is_a_counted_failure(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with Journal(path) as journal:
        journal.append(response(1))
        journal.append(response(2, "\x01" * (LINE_BYTES // 6)))  # six bytes each
        journal.append(response(3))
        assert [journal.state((f"{n:064d}", "k")) for n in (1, 2, 3)] == ["ok", "failed", "ok"]
        kept = journal.read((f"{2:064d}", "k"))
    assert kept.text is None and kept.reason is not None and "longer than" in kept.reason
    assert path.stat().st_size < 3000
    with Journal(path) as journal:
        assert len(journal) == 3


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_without_end_is_named_and_not_read(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "m.jsonl"
    with Journal(path) as journal:
        journal.append(response(1))
    with path.open("ab") as file:
        file.write(b"x")
        file.truncate(10**9)  # a hole: it takes no room on the disk
        file.seek(0, os.SEEK_END)
        file.write(end)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(PunchlineError, match=r"m\.jsonl, line 2: .*longer than"):
        Journal(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


@pytest.mark.parametrize(("disk", "least", "most"), [(0.0, 60, 140), (0.004, 18, 28), (0.05, 6, 15)])
def test_commits_come_as_often_as_the_disk_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: float, least: int, most: int
) -> None:
    """Each 10 ms where it is quick, each 50 ms where it is not; here within a second."""
    times: list[float] = []

    def fsync(file: int) -> None:
        times.append(clock[0])
        clock[0] += disk

    clock = [100.0]
    monkeypatch.setattr("punchline.journal.os.fsync", fsync)
    monkeypatch.setattr("punchline.journal.time.monotonic", lambda: clock[0])
    with Journal(tmp_path / "m.jsonl") as journal:
        while clock[0] < 101.0:
            clock[0] += 0.001
            journal.append(response(1))
        assert least <= len(times) <= most


def write(path: Path, *answers: Response) -> Path:
    with Journal(path) as journal:
        for answer in answers:
            journal.append(answer)
    return path


def failed(number: int, reason: str = "no") -> Response:
    return msgspec.structs.replace(response(number, None), state="failed", reason=reason)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([response(1, "a")], [response(1, "b")], "a"),  # what is answered stays
        ([failed(1)], [response(1, "b")], "b"),
        ([response(1, "a")], [failed(1)], "a"),
        ([failed(1, "a")], [failed(1, "b")], "a"),
        ([response(1, "a"), response(1, "later")], [response(1, "b")], "later"),
        ([], [response(1, "b"), response(1, "later")], "later"),
        ([], [failed(1), response(1, "b")], "b"),
        ([failed(1)], [response(1, "b"), response(1, "later")], "later"),
    ],
)
def test_of_several_journals_the_first_answer_that_did_not_fail_counts(
    tmp_path: Path, first: list[Response], second: list[Response], expected: str
) -> None:
    """Whether they are read together, written beside each other, or one takes the other over."""
    key = (f"{1:064d}", "k")
    one, other = write(tmp_path / "one.jsonl", *first), write(tmp_path / "other.jsonl", *second)

    def said(answers: Answers) -> str | None:
        answer = answers.read(key)
        assert answers.state(key) == answer.state and len(answers) == 1 and key in answers
        return answer.text or answer.reason

    assert said(Answers([one, tmp_path / "none.jsonl", other])) == expected
    with Journal(one, beside=[other, tmp_path / "none.jsonl"]) as journal:
        assert said(journal) == expected
    with Journal(one) as journal:
        taken = journal.take(other)
        assert said(journal) == expected and journal.take(other) <= taken
    assert said(Answers([one])) == expected


def test_nothing_is_taken_from_a_journal_that_somebody_writes_to(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    with Journal(other), Journal(tmp_path / "one.jsonl") as journal, pytest.raises(PunchlineError, match="writes to"):
        journal.take(other)
