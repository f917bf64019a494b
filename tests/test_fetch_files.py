"""Files of a fetch: manifests, the log, the images' folder, availability; bad lines are named."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fetch_server import IMAGE_HOST, Project, picture, project, server
from tests.test_fetch import ROOT, logged

from punchline.errors import PunchlineError
from punchline.fetch.log import availability_text
from punchline.fetch.manifests import Annotation, Lock, Pin, Selected, read_manifest
from punchline.files import csv_text
from punchline.schema import FetchEntry, canonical, sha256

__all__ = ["project", "server"]


OUTSIDE = ("../a.csv", "/etc/hostname", "a/../../x.csv", "a\0b", "a\\b")
IDS = (*OUTSIDE, "a/b", "..", ".", "", "xkcd_1.png/..", "-rf", "x" * 101)


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        (Annotation, {"sha256": "abc"}),
        (Annotation, {"bytes": "many"}),
        *((Annotation, {name: place}) for name in ("path", "url", "mirror") for place in OUTSIDE),
        *((Lock, {"mirror": place}) for place in OUTSIDE),
        *((Selected, {"item_id": item_id}) for item_id in IDS),
    ],
)
def test_bad_manifest_names_its_line(tmp_path: Path, kind: Any, changed: dict[str, object]) -> None:
    columns, path = kind.__struct_fields__, tmp_path / "rows.csv"
    sound = {name: {"sha256": "0" * 64, "url": "a", "path": "a"}.get(name, 1) for name in columns}
    path.write_text(csv_text(columns, [sound | changed]))
    with pytest.raises(PunchlineError, match=rf"rows\.csv, line 2, field {next(iter(changed))}: "):
        read_manifest(path, kind)
    with pytest.raises(PunchlineError, match=r"line 1, field .*: missing column"):
        read_manifest(path, Pin)


def test_manifests_in_git_are_sound() -> None:
    folder = ROOT / "data" / "manifests"
    files = read_manifest(folder / "pixelhumor" / "annotations.csv", Annotation)
    assert len(files) == 8
    assert all("cbf9f3da531a7993710c48ef302a3e9f2d197435/PixelHumor/" + line.path in line.url for line in files)
    pins = read_manifest(folder / "pixelhumor" / "images_pinned.csv", Pin)
    assert len({pin.comic_id for pin in pins}) == len({pin.sha256 for pin in pins}) == 203
    assert len(read_manifest(folder / "stripcipher" / "silent_pinned.csv", Pin)) == 40


SIZES: dict[str, int] = {"bytes": 1, "width": 1, "height": 1}
SEEN = "2026-01-02T03:04:05Z"
OK = FetchEntry(item_id="xkcd_1", source="xkcd", state="ok", path="a.png", sha256="0" * 64, fetched_at=SEEN, **SIZES)


def gone(comic_id: str, reason: str, at: str = "2026-01-01T00:00:00Z") -> FetchEntry:
    source = comic_id.rpartition("_")[0]
    return FetchEntry(item_id=comic_id, source=source, state="missing", reason=reason, fetched_at=at)


def write_log(path: Path, *entries: FetchEntry) -> bytes:
    content = b"".join(canonical(entry) + b"\n" for entry in entries)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return content


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"not json",
        canonical(OK).replace(b'"ok"', b'"fine"'),
        canonical(OK).replace(b'"path":"a.png"', b'"path":null'),
        canonical(gone("xkcd_1", "truncated")).replace(b"truncated", b"bad luck"),
    ],
)
def test_broken_ledger_line_is_named(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "fetch.jsonl").write_bytes(canonical(OK) + b"\n" + line + b"\n")
    with pytest.raises(PunchlineError, match=r"fetch\.jsonl, line 2"):
        logged(tmp_path / "fetch.jsonl")


@pytest.mark.parametrize("path", ["../victim.txt", "data/../../victim.txt", "ABSOLUTE", "..\\victim.txt", ""])
def test_a_path_of_the_log_that_leaves_the_project_is_named_and_nothing_is_deleted(
    project: Project, tmp_path: Path, path: str
) -> None:
    project.place(tmp_path / "project")
    victim = tmp_path / "victim.txt"
    victim.write_bytes(picture(7))
    write_log(project.log, replace(OK, path=str(victim) if path == "ABSOLUTE" else path))
    with pytest.raises(PunchlineError, match=r"fetch\.jsonl, line 1: .*`\$.path`"):
        project.fetch([project.xkcd(3)])
    assert victim.exists()


@pytest.mark.parametrize("path", ["config/run.yaml", "data/raw/pixelhumor/images/b.png"])
def test_only_the_comics_own_files_are_set_aside(project: Project, path: str) -> None:
    """Two entries of one sha256 look like a placeholder, whose file goes: never another file."""
    file = project.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(picture(7))
    same = replace(OK, path=path, sha256=sha256(picture(7)))
    write_log(project.log, same, replace(same, item_id="xkcd_2"))
    project.fetch([project.xkcd(3)])
    assert file.exists()


def test_the_images_folder_may_be_a_link_to_elsewhere(project: Project, tmp_path: Path) -> None:
    project.place(tmp_path / "project")
    (tmp_path / "elsewhere").mkdir()
    (project.root / "data" / "raw").symlink_to(tmp_path / "elsewhere")
    comic = project.xkcd(1)
    assert project.one(comic).path == "data/raw/pixelhumor/images/xkcd_1.png"
    assert project.one(comic).state == "ok" and project.server.asked(IMAGE_HOST, "/comics/1.png") == 1


def test_availability() -> None:
    entries = [OK, gone("xkcd_2", "http 403", "2025-12-31T00:00:00Z"), gone("xkcd_3", "host unreachable")]
    entries += [gone("xkcd_4", "host unreachable"), gone("they_can_talk_1", "not found (404)"), replace(OK, source="a")]
    assert availability_text(entries).splitlines()[1:] == [
        f"a,1,1,0,,0,{SEEN},{SEEN}",
        "they_can_talk,1,0,1,not found (404),1,2026-01-01T00:00:00Z,2026-01-01T00:00:00Z",
        f"xkcd,4,1,3,host unreachable,2,2025-12-31T00:00:00Z,{SEEN}",
        f"xkcd,4,1,3,http 403,1,2025-12-31T00:00:00Z,{SEEN}",
    ]
    assert availability_text([]).splitlines()[1:] == []
