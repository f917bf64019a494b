"""The audit catches one flipped byte in every kind of artefact, and names it."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from punchline.audit import audit as audits

from .conftest import SMALL, TABLE
from .project import Project

pytestmark = pytest.mark.e2e


def flip(path: Path, place: int) -> bytes:
    """Flip one bit of one byte; returns what was there."""
    good = path.read_bytes()
    bad = bytearray(good)
    bad[place] ^= 1
    path.write_bytes(bad)
    return good


def test_an_untouched_run_is_equal_and_lists_its_files(small_run: Project) -> None:
    found = small_run.audit(TABLE)
    assert (found["verdict"], found["findings"]) == ("equal", [])
    roles = {file["role"] for file in found["files"]}
    expected = "raw annotation,image,picture,picture index,items,gold,requests,journal,snapshot,scores,table,lineage"
    assert roles >= set(expected.split(","))
    for file in found["files"]:
        assert set(file) == {"path", "sha256", "role"}
        assert not Path(file["path"]).is_absolute()
    assert small_run.punchline("audit", TABLE, "--expect", found["root"]).endswith("verdict  equal\n")


# Files in which not every byte counts (comments, other tables' values, when an image was fetched): text before one that
# does, text before one that does not.
COUNTS = {
    "model card": (b"\nbaseline: ", b"# "),
    "published values": (b",table8,", b",table3,"),
    "ledger": (b'"sha256":"', b'"url":"demo:'),
}


def records(file: Path | bytes) -> list[dict[str, object]] | None:
    """What a table of records holds; None for one that cannot be read."""
    try:
        table = pq.read_table(file if isinstance(file, Path) else io.BytesIO(file))
        return table.to_pylist()
    except (OSError, ValueError):
        return None


def places(role: str, content: bytes) -> list[int]:
    """Bytes of a file that count, from all over it."""
    if role in COUNTS:
        before = COUNTS[role][0]
        return [content.index(before) + len(before)]
    size = len(content)
    return sorted({0, size // 3, size // 2, size - 2, size - 1})


@pytest.mark.long
def test_one_flipped_byte_anywhere_is_caught_and_named(small: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small.path)
    whole = audits.audit(TABLE)
    assert whole.verdict == "equal", whole.findings
    by_role: dict[str, str] = {}
    for file in whole.files:
        by_role.setdefault(file.role, file.path)
        if file.role == "table":
            by_role[f"table {Path(file.path).suffix}"] = file.path
    caught = set()
    for number, (role, name) in enumerate(by_role.items()):
        path = Path(name)
        every = places(role, path.read_bytes())
        for place in every[number % len(every) :: 2]:  # all of them: benchmarks/torture
            good = flip(path, place)
            found = audits.audit(TABLE)
            unread = path.suffix == ".parquet" and records(path) == records(good)
            path.write_bytes(good)
            if unread and found.verdict == "equal":  # a byte that holds no record: magic, statistics
                continue
            caught.add(role)
            assert found.verdict == "differs", f"byte {place} of {role} {name} went unnoticed"
            named = " ".join(map(str, found.findings))
            assert name in named, f"byte {place} of {role} {name} is not named in: {named}"
    assert audits.audit(TABLE).verdict == "equal"
    assert caught == set(by_role) and by_role.keys() >= COUNTS.keys()
    for role, (_, before) in COUNTS.items():
        path = Path(by_role[role])
        good = flip(path, path.read_bytes().index(before) + len(before))
        assert audits.audit(TABLE).findings == [], f"what does not count in {path}"
        path.write_bytes(good)


def test_a_removed_file_is_named(small: Project) -> None:
    (small.path / "data/requests/pixelhumor.parquet").unlink()
    assert "data/requests/pixelhumor.parquet" in {finding["path"] for finding in small.audit(TABLE)["findings"]}


@pytest.mark.long
def test_who_rewrites_everything_is_caught_by_the_published_root(small: Project) -> None:
    """A changed label and all that follows from it, made anew consistently: only its source differs, and the root."""
    published = small.audit(TABLE)["root"]
    labels = "data/raw/demo/pixelhumor/objective_label.csv"
    good = (small.path / labels).read_text()

    def rewritten(text: str) -> dict[str, Any]:
        small.rewrite_raw(labels, text.encode())
        small.snakemake(TABLE, config=SMALL)
        found = small.audit(TABLE)
        assert {finding["link"] for finding in found["findings"]} == {"source"}, found["findings"]
        return found

    (small.path / labels).write_text(good.replace("1, 2", "2, 1", 1))
    small.snakemake(TABLE, config=SMALL)  # a copy that was changed alone is copied again
    assert (small.path / labels).read_text() == good
    assert small.audit(TABLE)["root"] == published
    # A label of an item that is not selected: no number changes, and the lineage names the new file.
    assert rewritten(good.replace("1, 2", "2, 1", 1))["root"] != published
    for item in (small.path / "data/items/pixelhumor/selected.csv").read_text().splitlines()[1:]:
        good = re.sub(rf'^({item.split(",")[0]},)"(\d+), (\d+)', r'\1"\3, \2', good, flags=re.MULTILINE)
    rewritten(good)
    assert "DIFFERS  root" in small.punchline("audit", TABLE, "--expect", published, fails=True)


@pytest.mark.long
def test_the_root_is_the_same_in_another_folder_at_another_time(small_run: Project, tmp_path: Path) -> None:
    other = Project.copy(tmp_path / "elsewhere")
    other.snakemake(TABLE, config=SMALL)
    assert other.audit(TABLE)["root"] == small_run.audit(TABLE)["root"]
    assert (other.path / TABLE).read_bytes() == (small_run.path / TABLE).read_bytes()


def test_one_cell(small_run: Project) -> None:
    said = small_run.punchline("audit", TABLE, "--row", "reading-order", "--column", "panel_acc")
    assert "cell     reading-order|subset=all · panel_acc = " in said
    said = small_run.punchline("audit", TABLE, "--row", "random", "--column", "panel_acc", "--json")
    assert [cell["column"] for cell in json.loads(said)["cells"]] == ["panel_acc", "panel_acc"]
    said = small_run.punchline("audit", TABLE, "--row", "gpt", fails=True)
    assert "no computed cell at row 'gpt'" in said and "Traceback" not in said
    said = small_run.punchline("audit", "results/tabel8.csv", fails=True)
    assert "Did you mean" in said and "results/table8.csv" in said
