"""Files are written whole or not at all, and read with errors that name the place; threads."""

import os
import sys
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from tests.cases import cases
from tests.ran import ran
from tests.records import refused, request

from punchline.core.storage import digests_in, read_table, values_in, write_table
from punchline.errors import PunchlineError
from punchline.files import parse_csv, read_records, replacing, write_records
from punchline.schema import Image, Request, Response, Sampling, canonical, digest_of_all, sha256


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(RuntimeError), replacing(tmp_path / "a.txt") as file:
        file.write(b"half")
        raise RuntimeError
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.txt": "old"}


REQUESTS = [request(Image(sha256=None), 'a "quoted"\nline é', item_id=str(n), max_tokens=n) for n in range(3)]


def test_records_survive_jsonl_and_parquet(tmp_path: Path) -> None:
    write_records(tmp_path / "r.jsonl", REQUESTS)
    assert read_records(tmp_path / "r.jsonl", Request) == REQUESTS
    for name in ("a", "b"):
        write_table(tmp_path / name, REQUESTS, Request)
        assert read_table(tmp_path / name, Request) == REQUESTS
        with pytest.raises(PunchlineError, match=r"unreadable parquet: .*nope"):
            list(values_in(tmp_path / name, "nope"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_what_is_hashed_is_canonical() -> None:
    assert Sampling(temperature=0, max_tokens=1).digest == Sampling(temperature=0.0, max_tokens=1).digest
    assert canonical({"b": 1, "a": [1.0, None]}) == b'{"a":[1.0,null],"b":1}'
    assert digest_of_all(["b", "a"]) == sha256(b"a\nb")


@pytest.mark.parametrize(("content", "message"), refused("csv"))
def test_a_bad_csv_is_named(content: str, message: str) -> None:
    with pytest.raises(PunchlineError, match=message):
        parse_csv(content.encode("latin-1"), ("a", "b"), file="x.csv")


def test_csv_lines_are_physical_lines() -> None:
    rows = parse_csv(b'\xef\xbb\xbfa,b\n1,"x\ny"\n\n2,z\n', ("a",), file="x.csv")
    assert rows == [(2, {"a": "1", "b": "x\ny"}), (5, {"a": "2", "b": "z"})]


def test_damaged_records_are_named(tmp_path: Path) -> None:
    write_records(tmp_path / "r.jsonl", REQUESTS)
    with (tmp_path / "r.jsonl").open("a") as file:
        file.write('{"benchmark": 3}\n')
    with pytest.raises(PunchlineError, match=r"r\.jsonl, line 4: not a Request record"):
        read_records(tmp_path / "r.jsonl", Request)
    (tmp_path / "r.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(PunchlineError, match=r"r\.parquet: unreadable parquet"):
        read_table(tmp_path / "r.parquet", Request)


def test_thoughts_are_in_the_record_where_there_are_any_and_change_no_other_one(tmp_path: Path) -> None:
    """A record without them has the bytes, and the digest, of one from before the field; so has a table."""
    plain = Response(request_id="1", model_key="k", state="ok", text="a", engine="e", engine_version="1")
    assert b"thoughts" not in canonical(plain)
    thinking = msgspec.structs.replace(plain, reasoning="hm")
    assert msgspec.json.decode(canonical(thinking), type=Response) == thinking != plain
    path = tmp_path / "r.parquet"
    write_table(path, [plain, thinking], Response)
    assert read_table(path, Response) == [plain, thinking]
    assert list(digests_in(path)) == [plain.digest, thinking.digest]
    before = pq.read_table(path).slice(0, 1).drop_columns(["thoughts"])
    pq.write_table(before, path)
    assert read_table(path, Response) == [plain]


def test_old_leftovers_go_and_files_that_are_being_written_stay(tmp_path: Path) -> None:
    leftover, written = (tmp_path / f".{name}.x.part" for name in ("a", "c"))
    for path in (leftover, written):
        path.write_bytes(b"half")
    os.utime(leftover, (0, 0))
    with replacing(tmp_path / "a") as file, replacing(tmp_path / "b") as second:
        file.write(b"1")
        second.write(b"2")
        assert written.exists() and not leftover.exists()
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert left == {".c.x.part": b"half", "a": b"1", "b": b"2"}


TYPED = cases(__file__, "typed")


def test_threads_that_meet_a_type_for_the_first_time_do_not_crash() -> None:
    done = ran(sys.executable, "-c", TYPED)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


COUNTED = """
import os, sys
from punchline.core.storage import read_table, rows_in
from punchline.schema import Request
before = os.listdir("/proc/self/task")
assert len(read_table(sys.argv[1], Request)) == len(list(rows_in(sys.argv[1], ["digest"]))) == 3
print(len(os.listdir("/proc/self/task")) - len(before))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="NO /proc: threads cannot be counted")
def test_reading_starts_no_thread(tmp_path: Path) -> None:
    """One that is still starting when the process ends aborts it: "terminate called without an active exception"."""
    write_table(tmp_path / "t.parquet", REQUESTS, Request)
    assert ran(sys.executable, "-c", COUNTED, tmp_path / "t.parquet", check=True).stdout == "0\n"
