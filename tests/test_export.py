"""Exports: where they are refused, and which pictures they hold. tests/engines/test_export.py reads them."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from punchline.artifacts.project import Project
from punchline.config.runs import made_with
from punchline.errors import PunchlineError
from punchline.export import export, hf
from punchline.export.samples import Shown
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
