"""Exports and published runs: what is refused, and what may be passed on by its licence; other tools: tests/engines."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from punchline.artifacts.project import Project
from punchline.config.runs import made_with
from punchline.errors import PunchlineError
from punchline.export import export, hf
from punchline.export.samples import Shown
from punchline.paths import Paths
from punchline.report import publish
from punchline.report.pictures import OWN, Right
from punchline.schema import Gold, ImageRef, Item, sha256

BYTES = b"\x89PNG of nobody's licence"


def test_another_format_and_a_full_folder_are_refused(tmp_path: Path) -> None:
    project = Project(made_with("default"))
    with pytest.raises(PunchlineError, match="Did you mean 'hf'"):
        export(project, "hff", tmp_path / "new", "open")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(PunchlineError, match="not an empty folder"):
        export(project, "hf", tmp_path, "open")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_two_exports_at_once_into_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second to end says that the folder is taken, and leaves what is there."""
    project, folder = Project(made_with("default")), tmp_path / "new"

    def write(_: Project, part: Path, pictures: str) -> list[str]:
        part.mkdir()
        (part / "own").write_text(pictures)
        if pictures == "own":
            export(project, "hf", folder, "open")
        return []

    monkeypatch.setattr(hf, "write", write)
    with pytest.raises(PunchlineError, match="not an empty folder"):
        export(project, "hf", folder, "own")
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "own"]
    assert (folder / "own").read_text() == "open"


@pytest.mark.parametrize(("right", "held"), [(OWN, True), (Right("all", url="https://example.org/1"), False)])
def test_a_picture_that_may_not_be_passed_on_is_a_link(tmp_path: Path, right: Right, held: bool) -> None:
    (tmp_path / "a.png").write_bytes(BYTES)
    image = ImageRef(path=str(tmp_path / "a.png"), sha256=sha256(BYTES), width=1, height=1)
    item = Item(benchmark="b", item_id="1", source="s", cluster="1", images=(image,))
    one = Shown(item, Gold(benchmark="b", item_id="1", values={}), right, held)
    path = tmp_path / "items.parquet"
    hf.write_rows(path, hf.ITEMS, [hf.item_row(one)])
    (row,) = pq.read_table(path).to_pylist()
    assert [picture["bytes"] for picture in row["images"]] == ([BYTES] if held else [])
    assert (row["url"], row["image_sha256"]) == (right.url, [sha256(BYTES)])


LICENCES = ("MIT", "Apache-2.0", "CC0", "CC BY-NC-SA 4.0", "public domain")
STRIPS = "of the project; the strips are under licences of their own"
NONE = ("none stated", "none stated; README: for research purposes only", "proprietary", "", "not MIT")


@pytest.mark.parametrize("licence", [*LICENCES, STRIPS, *NONE])
def test_a_licence_opens_or_not(licence: str) -> None:
    assert bool(publish.OPEN.match(licence)) == (licence not in NONE)


def chosen(*, drawn: bool) -> Any:
    """As much of a project as rights ask for."""
    cards = {name: SimpleNamespace(name=name, engine=engine) for name, engine in ENGINES.items()}
    selection = SimpleNamespace(corpus=SimpleNamespace(drawn=drawn))
    return SimpleNamespace(selection=selection, paths=Paths(), cards=cards, illustrated=lambda benchmark: False)


ENGINES = {"asked": "openai", "released": "replay"}
SHUT = "none stated"
# (path, role): whether it is passed on where annotations are open, and where they are not
FILES = {
    ("data/raw/b/labels.csv", "raw annotation"): (True, False),
    ("data/items/b/items.jsonl", "items"): (True, False),
    ("data/items/b/gold.jsonl", "gold"): (True, False),
    ("data/requests/b.parquet", "requests"): (True, False),
    ("data/requests/b/judge/asked.parquet", "judge requests"): (True, False),
    ("data/responses/b/asked.jsonl", "journal"): (True, True),
    ("data/responses/b/asked.parquet", "snapshot"): (True, True),
    ("data/responses/b/released.jsonl", "journal"): (True, False),
    ("data/raw/b_runs/old/run.csv", "released run"): (True, False),
    ("data/raw/b/images/1.png", "image"): (False, False),
    ("data/images/b/1.png", "picture"): (False, False),
    ("config/b/ratings.csv", "user's file"): (False, False),
    ("data/models/m/punchline.json", "model"): (False, False),
    ("results/b/table1.csv", "table"): (True, True),
    ("results/b/cells/asked.json", "cells"): (True, True),
    ("data/manifests/b/annotations.csv", "manifest"): (True, True),
}


@pytest.mark.parametrize("licence", ["MIT", SHUT])
def test_files_are_passed_on_or_withheld(licence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, path in (("b", "labels.csv"), ("b_runs", "old/run.csv")):
        manifest = tmp_path / f"data/manifests/{name}/annotations.csv"
        manifest.parent.mkdir(parents=True)
        manifest.write_text(f"path,url,licence\n{path},https://a.example/x,{licence}\n")
    allowed = publish.Rights(chosen(drawn=False), "b")
    assert {file: not allowed.withheld(*file) for file in FILES} == {
        file: passed[licence == SHUT] for file, passed in FILES.items()
    }
    assert bool(allowed.texts()) == (licence == SHUT)
    drawn = publish.Rights(chosen(drawn=True), "b")
    mine = {file for file in FILES if file[1] in ("user's file", "model")}
    assert {file for file in FILES if drawn.withheld(*file)} == mine
