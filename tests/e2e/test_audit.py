"""The audit catches one flipped byte in every kind of artefact, and names it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from punchline.audit import audit as audits

from .conftest import SMALL, TABLE
from .project import Project


def test_an_untouched_run_is_equal_and_lists_its_files(small_run: Project) -> None:
    report = small_run.audit(TABLE)
    assert (report["verdict"], report["findings"]) == ("equal", [])
    roles = {file["role"] for file in report["files"]}
    expected = "raw annotation,image,picture,picture index,items,gold,requests,journal,snapshot,scores,table,lineage"
    assert roles >= set(expected.split(","))
    for file in report["files"]:
        assert set(file) == {"path", "sha256", "role"}
        assert not Path(file["path"]).is_absolute()
    assert small_run.punchline("audit", TABLE, "--expect", report["root"]).endswith("verdict  equal\n")


@pytest.mark.long
def test_bytes_that_do_not_count_change_nothing(small: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments, other tables' values, when an image was fetched. Bytes that count: test_torture.py."""
    monkeypatch.chdir(small.path)
    by_role = {file.role: Path(file.path) for file in audits.audit(TABLE).files}
    for role, before in {"model card": b"# ", "published values": b",table3,", "ledger": b'"url":"demo:'}.items():
        bad = bytearray(by_role[role].read_bytes())
        bad[bad.index(before) + len(before)] ^= 1
        by_role[role].write_bytes(bad)
    report = audits.audit(TABLE)
    assert (report.verdict, report.findings) == ("equal", [])


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
        report = small.audit(TABLE)
        assert {finding["link"] for finding in report["findings"]} == {"source"}, report["findings"]
        return report

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
    output = small_run.punchline("audit", TABLE, "--row", "reading-order", "--column", "panel_acc")
    assert "cell     reading-order|subset=all · panel_acc = " in output
    output = small_run.punchline("audit", TABLE, "--row", "random", "--column", "panel_acc", "--json")
    assert [cell["column"] for cell in json.loads(output)["cells"]] == ["panel_acc", "panel_acc"]
    output = small_run.punchline("audit", TABLE, "--row", "gpt", fails=True)
    assert "no computed cell at row 'gpt'" in output and "Traceback" not in output
    output = small_run.punchline("audit", "results/tabel8.csv", fails=True)
    assert "Did you mean" in output and "results/table8.csv" in output
