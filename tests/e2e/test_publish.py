"""A run published as one folder, and audited from it, outside of any project."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import TABLE
from .project import Project

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def audit(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """(status, what the audit of the published table says), from a folder that is no project."""
    command = [sys.executable, "-m", "punchline.cli", "audit", "--json", "--published", folder.name, *arguments]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    table8 = next(one for one in found if one["table"] == TABLE)
    return done.returncode, table8 | {"findings": [finding for one in found for finding in one["findings"]]}


@pytest.fixture(scope="module")
def published(small_run: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("host") / "pub"
    said = small_run.punchline("publish", str(folder))
    assert "19 tables of run default, without a report" in said and "left out" not in said
    return folder


def test_a_published_run_is_audited_to_the_drawn_bytes(small_run: Project, published: Path) -> None:
    root = small_run.audit(TABLE)["root"]
    status, found = audit(published, "table8", "--expect", root)
    assert (status, found["verdict"], found["unchecked"]) == (0, "equal", [])
    assert found["root"] == root
    index = json.loads((published / "published.json").read_bytes())
    assert index["tables"][TABLE] == root and index["withheld"] == {}
    assert root in (published / "index.html").read_text()
    there = {path.relative_to(published).as_posix() for path in published.rglob("*") if path.is_file()}
    assert there - set(index["files"]) - {"published.json"} == {
        name for name in there if name.startswith(".punchline/")
    }


def test_what_was_changed_taken_or_added_there_is_found(published: Path) -> None:
    scores = published / "results/pixelhumor/scores/random.parquet"
    journal = published / "data/responses/pixelhumor/random.jsonl"
    kept = {file: file.read_bytes() for file in (published / TABLE, journal, scores)}
    (published / TABLE).write_bytes(kept[published / TABLE].replace(b"random", b"rondam"))
    journal.write_bytes(kept[journal].replace(b'"text":"', b'"text":"x', 1))
    scores.unlink()
    (published / "results/more.html").write_text("added")
    status, found = audit(published)
    for file, content in kept.items():
        file.write_bytes(content)
    (published / "results/more.html").unlink()
    assert (status, found["verdict"]) == (1, "differs")
    own = {finding["path"] for finding in found["findings"] if finding["link"] == "published file"}
    changed = {file.relative_to(published).as_posix() for file in kept}
    assert own == changed | {"results/more.html"}
    assert {"table", "journal", "scores"} <= {finding["link"] for finding in found["findings"]}


def test_only_answers_of_this_run_are_published(small: Project, tmp_path: Path) -> None:
    journal = small.path / "data/responses/pixelhumor/random.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    small.snakemake(TABLE, config="models=[random] limit=2")
    small.punchline("publish", str(tmp_path / "pub"))
    kept = (tmp_path / "pub" / journal.relative_to(small.path)).read_bytes().splitlines(keepends=True)
    assert journal.read_bytes().splitlines(keepends=True) == lines
    assert set(kept) < set(lines) and len(kept) == len(lines) // 3
    assert audit(tmp_path / "pub")[0] == 0


def test_what_lies_beside_what_was_published_stays(small_run: Project, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    small_run.punchline("publish", str(folder))
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "CNAME").write_text("example.org")
    status, found = audit(folder)
    assert status == 1 and [finding["path"] for finding in found["findings"]] == ["CNAME"]
    small_run.punchline("publish", str(folder))
    assert (folder / "CNAME").read_text() == "example.org" and (folder / ".git/HEAD").is_file()
    assert audit(folder)[0] == 0
    (folder / "index.html").rename(folder / "mine.html")
    (folder / "published.json").write_text((folder / "published.json").read_text().replace("index.html", "other.html"))
    (folder / "index.html").write_text("mine")
    done = small_run.run("punchline", "publish", str(folder), fails=True)
    assert "index.html: a file of yours lies where one is published. Move it" in done.stderr
    assert (folder / "index.html").read_text() == "mine" and (folder / "CNAME").is_file()


def test_a_folder_of_somebody_else_stays(small_run: Project, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = small_run.run("punchline", "publish", str(tmp_path), fails=True)
    assert "was not published" in done.stderr and (tmp_path / "mine.txt").read_text() == "mine"
    done = small_run.run("punchline", "audit", "--published", str(tmp_path), fails=True)
    assert "no folder that `punchline publish` wrote" in done.stderr
