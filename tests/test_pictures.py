"""What models see, made of published images."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PIL import Image

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import PUBLISHED, Benchmark, NoPicture, Picture
from punchline.core.errors import PunchlineError
from punchline.core.records import LedgerEntry, sha256
from punchline.stages import pictures


def encoded(kind: str, size: tuple[int, int] = (7, 5)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "red").save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    ("kind", "suffix", "same"),
    [("PNG", ".png", True), ("JPEG", ".jpg", True), ("GIF", ".png", False), ("WEBP", ".png", False)],
)
def test_as_published(kind: str, suffix: str, same: bool) -> None:
    content = encoded(kind)
    made = pictures.as_published(content)
    assert (made.name, made.suffix, made.width, made.height) == ("page", suffix, 7, 5)
    assert (made.content == content) is same
    with Image.open(io.BytesIO(made.content)) as image:
        assert image.format in ("PNG", "JPEG")


@pytest.mark.parametrize("content", [b"", b"<html>", encoded("GIF")[:20]])
def test_bytes_that_are_no_image(content: bytes) -> None:
    with pytest.raises(PunchlineError, match=f"{PUBLISHED}: not a readable image"):
        pictures.as_published(content)


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
    return cast(Benchmark, SimpleNamespace(NAME="strip"))


def entry(tmp_path: Path, item_id: str) -> LedgerEntry:
    path = tmp_path / f"{item_id}.published.png"
    path.write_bytes(encoded("PNG"))
    about: dict[str, Any] = {"sha256": sha256(path.read_bytes()), "bytes": 1, "width": 7, "height": 5}
    return LedgerEntry(item_id=item_id, source="s", state="ok", path=str(path), **about)


def test_pictures_lie_below_their_item_and_others_go(tmp_path: Path, strip: Benchmark) -> None:
    folder = tmp_path / "images"
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "frame1.png").write_bytes(b"x")
    (folder / "index.jsonl").write_bytes(b"kept")
    made = pictures.write_pictures(strip, [entry(tmp_path, "a"), entry(tmp_path, "torn")], {}, str(folder), pinned=True)
    assert [image.name for image in made[0].images] == ["whole", "frame1"]
    assert [Path(image.path).relative_to(folder).as_posix() for image in made[0].images] == [
        "a/whole.png",
        "a/frame1.png",
    ]
    assert all(Path(image.path).is_file() for image in made[0].images)
    assert (made[1].images, made[1].reason) == ((), "2 frames found, 3 stated")
    assert sorted(path.name for path in folder.iterdir()) == ["a", "index.jsonl"]


def test_errors_name_the_published_file(tmp_path: Path, strip: Benchmark) -> None:
    with pytest.raises(PunchlineError, match=r"bad\.published\.png, record bad: no box"):
        pictures.make_pictures(strip, entry(tmp_path, "bad"), {}, "images")
    changed = entry(tmp_path, "a")
    Path(str(changed.path)).write_bytes(encoded("PNG", (9, 9)))
    with pytest.raises(PunchlineError, match="bytes have changed since they were fetched"):
        pictures.write_pictures(strip, [changed], {}, str(tmp_path / "images"), pinned=True)
    Path(str(changed.path)).unlink()
    with pytest.raises(PunchlineError, match="draw_demo_strip"):
        pictures.make_pictures(strip, changed, {}, "images")


def test_every_illustrated_benchmark_has_its_module() -> None:
    from punchline.core.benchmark import names as benchmark_names

    for name in benchmark_names():
        module = benchmarks.load(name)
        if module.IMAGES:
            assert callable(benchmarks.illustrated(module).pictures)
