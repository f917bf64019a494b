"""Exports and public reports: what is refused, and what may be shared by its licence; other tools: tests/engines."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from punchline.artifacts.project import Project
from punchline.config.runs import selection_of
from punchline.errors import PunchlineError
from punchline.export import export, hf
from punchline.export.samples import ExportItem
from punchline.report import public
from punchline.report.pictures import OWN, Right
from punchline.schema import Gold, ImageRef, Item, sha256
from punchline.workflow.processes import PICTURES, PUBLIC, is_public

BYTES = b"\x89PNG of nobody's licence"


def test_a_full_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(PunchlineError, match="not an empty folder"):
        export(Project(selection_of("default")), "hf", tmp_path, "open")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(("right", "held"), [(OWN, True), (Right("all", url="https://example.org/1"), False)])
def test_a_picture_that_may_not_be_passed_on_is_a_link(tmp_path: Path, right: Right, held: bool) -> None:
    (tmp_path / "a.png").write_bytes(BYTES)
    image = ImageRef(path=str(tmp_path / "a.png"), sha256=sha256(BYTES), width=1, height=1)
    item = Item(benchmark="b", item_id="1", source="s", cluster="1", images=(image,))
    one = ExportItem(item, Gold(benchmark="b", item_id="1", values={}), right, held)
    path = tmp_path / "items.parquet"
    hf.write_rows(path, hf.ITEMS, [hf.item_row(one)])
    (row,) = pq.read_table(path).to_pylist()
    assert [picture["bytes"] for picture in row["images"]] == ([BYTES] if held else [])
    assert (row["url"], row["image_sha256"]) == (right.url, [sha256(BYTES)])


LICENCES = ("MIT", "Apache-2.0", "CC0", "CC BY-NC-SA 4.0", "public domain")
STRIPS = "of the project; the strips are under licences of their own"
NONE = ("none stated", "none stated; README: for research purposes only", "proprietary", "", "not MIT")


def test_a_licence_opens_or_not() -> None:
    for licence in [*LICENCES, STRIPS, *NONE]:
        assert bool(public.OPEN.match(licence)) == (licence not in NONE)


def test_annotations_are_private_by_their_licences(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = here / "data/manifests/b/annotations.csv"
    manifest.parent.mkdir(parents=True)
    for licences, drawn, asked, reason in (
        (["MIT", "CC0"], False, "true", ""),
        (["MIT", "none stated", ""], False, "true", "none stated"),
        (["none stated"], False, "false", ""),
        (["none stated"], True, "true", ""),
    ):
        monkeypatch.setenv(PUBLIC, asked)
        rows = "".join(f"{n}.csv,https://a.example/x,{licence}\n" for n, licence in enumerate(licences))
        manifest.write_text(f"path,url,licence\n{rows}")
        project: Any = SimpleNamespace(selection=SimpleNamespace(corpus=SimpleNamespace(drawn=drawn)))
        why = public.why_private(project, "b")
        assert bool(why) == bool(reason) and reason in why


def test_a_public_report_is_asked_for_by_config(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = ((None, "", False), ("false", "all", False), ("TRUE", "open", True), (True, "own", True))
    for asked, pictures, expected in cases:
        monkeypatch.setenv(PICTURES, pictures)
        assert is_public(asked) is expected
    with pytest.raises(PunchlineError, match="expected true or false, got 'yes'"):
        is_public("yes")
    monkeypatch.setenv(PICTURES, "all")
    with pytest.raises(PunchlineError, match="may not be shared"):
        is_public("true")
