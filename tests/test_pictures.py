"""What models see, made of published images."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest
from PIL import Image
from tests.fetch_server import picture
from tests.selected import selection_in

from punchline import pictures
from punchline.artifacts.project import Project
from punchline.benchmarks.pictures import as_published
from punchline.core.benchmark import PUBLISHED, Benchmark, NoPicture, Picture
from punchline.errors import PunchlineError
from punchline.files import read_records, write_records, write_text
from punchline.jobs import build
from punchline.schema import FetchEntry, Pictures, sha256
from punchline.workflow.provenance import Status, read_provenance


@pytest.mark.parametrize(
    ("kind", "suffix", "same"),
    [("PNG", ".png", True), ("JPEG", ".jpg", True), ("GIF", ".png", False), ("WEBP", ".png", False)],
)
def test_as_published(kind: str, suffix: str, same: bool) -> None:
    content = picture(size=(7, 5), kind=kind)
    result = as_published(content)
    assert (result.name, result.suffix, result.width, result.height) == ("page", suffix, 7, 5)
    assert (result.content == content) is same
    with Image.open(io.BytesIO(result.content)) as image:
        assert image.format in ("PNG", "JPEG")


@pytest.mark.parametrize("content", [b"", b"<html>", picture(size=(7, 5), kind="GIF")[:20]])
def test_bytes_that_are_no_image(content: bytes) -> None:
    with pytest.raises(PunchlineError, match=f"{PUBLISHED}: not a readable image"):
        as_published(content)


@pytest.fixture
def strip(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    """A benchmark of two pictures an item; an item called torn has none, one called bad is an error."""

    def make(item_id: str, content: bytes, files: object) -> list[Picture]:
        if item_id == "torn":
            raise NoPicture("2 frames found, 3 stated")
        if item_id == "bad":
            raise PunchlineError("no box", file=PUBLISHED, record=item_id)
        return [Picture(name, content, ".png", 7, 5, {"part": name}) for name in ("whole", "frame1")]

    monkeypatch.setattr(pictures, "illustrated", lambda _: SimpleNamespace(pictures=make))
    return cast(Benchmark, SimpleNamespace(LIBRARIES={}, NAME="strip"))


def entry(item_id: str) -> FetchEntry:
    path = Path(f"{item_id}.published.png")
    path.write_bytes(picture(size=(7, 5), kind="PNG"))
    about: dict[str, Any] = {"sha256": sha256(path.read_bytes()), "bytes": 1, "width": 7, "height": 5}
    return FetchEntry(item_id=item_id, source="s", state="ok", path=str(path), **about)


class OfStrip(Project):
    """The project with that benchmark."""

    cards: ClassVar[dict[str, Any]] = {}

    def benchmark(self, name: str) -> Benchmark:
        return cast(Benchmark, SimpleNamespace(LIBRARIES={}, NAME=name, ITEM_FILES=(), IMAGES=True))


def test_pictures_are_written_and_those_of_other_selections_stay(
    root: Path, tmp_path: Path, strip: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    selection = selection_in(root)
    monkeypatch.chdir(tmp_path)
    folder = Path("data/images/demo/strip")
    write_text(folder / "old/frame1.png", "x")

    def made() -> tuple[list[Pictures], bool]:
        project = OfStrip(selection)
        step = project.pictures("strip")
        if is_stale := Status()(step) is not None:
            build(project, step)
        return read_records(project.paths.index("strip"), Pictures), is_stale

    paths = OfStrip(selection).paths
    write_text(paths.selected("strip"), "item_id,source,url\na,s,\ntorn,s,\n")
    write_records(paths.fetch_log("strip"), [entry("a"), entry("torn"), entry("unselected")])
    (a, torn), _ = made()
    assert [(image.path, image.name) for image in a.images] == [
        (f"data/images/demo/strip/a/{name}.png", name) for name in ("whole", "frame1")
    ]
    assert all(sha256(Path(image.path).read_bytes()) == image.sha256 for image in a.images)
    assert (torn.images, torn.reason) == ((), "2 frames found, 3 stated")
    assert sorted(path.name for path in folder.iterdir()) == ["a", "old"]
    record = read_provenance(OfStrip(selection).pictures("strip").record)
    assert record is not None and set(record.outputs) == {paths.index("strip"), *(image.path for image in a.images)}
    assert made() == ([a, torn], False)
    Path(a.images[1].path).unlink()  # one that is gone is made again
    assert made() == ([a, torn], True)
    assert Path(a.images[1].path).is_file()


def test_errors_name_the_published_file(here: Path, strip: Benchmark) -> None:
    with pytest.raises(PunchlineError, match=r"bad\.published\.png, record bad: no box"):
        pictures.make_pictures(strip, entry("bad"), {}, "images")
