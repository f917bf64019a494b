"""Fetching, against a real HTTP server: what is kept, locked, logged and not fetched again; files that are refused."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.fetch_server import IMAGE_HOST, Project, Reply, annotated, annotations, noise, picture, project, server

from punchline.errors import PunchlineError
from punchline.fetch import images
from punchline.fetch.images import decode_image
from punchline.fetch.log import Missing, availability_text, read_log
from punchline.fetch.manifests import Annotation, Lock, Pin, Selected, read_manifest
from punchline.files import csv_text, exclusive_lock, sha256_file, write_bytes
from punchline.schema import FetchEntry, canonical, sha256

__all__ = ["project", "server"]

ROOT = Path(__file__).resolve().parent.parent


def logged(log: Path) -> list[FetchEntry]:
    return list(read_log(log).values())


def test_comic_is_fetched_once_and_locked(project: Project) -> None:
    (project.root.parent / "elsewhere").mkdir()  # the images' folder may be a link
    (project.root / "data/raw").symlink_to(project.root.parent / "elsewhere")
    ids = [project.xkcd(2), project.xkcd(1)]
    entries = project.fetch(ids)
    assert [entry.item_id for entry in entries] == ids
    assert logged(project.log) == entries
    for entry in entries:
        assert (entry.state, entry.reason, entry.width, entry.height) == ("ok", None, 8, 6)
        assert (entry.media_type, entry.source, entry.note) == ("image/png", "xkcd", None)
        assert entry.path == f"data/raw/pixelhumor/images/{entry.item_id}.png"
        assert sha256_file(project.root / entry.path) == entry.sha256
        assert entry.url == f"https://{IMAGE_HOST}/comics/{entry.item_id[5:]}.png"
    lines = read_manifest(project.lock, Lock)
    locked = [(name, f"pixelhumor/images/{name}.png") for name in ("xkcd_1", "xkcd_2")]
    assert [(line.comic_id, line.mirror) for line in lines] == locked
    before, log = list(project.server.requests), project.log.read_bytes()
    assert project.fetch(ids) == entries and project.log.read_bytes() == log
    assert project.server.requests == before  # no request at all
    assert {headers["User-Agent"].split("/")[0] for _, _, headers in project.server.calls} == {"punchline"}
    assert project.fetch(["xkcd_1"]) == entries[1:]  # a smaller selection forgets nothing
    assert logged(project.log) == entries[::-1]
    assert project.fetch(ids) == entries and project.server.requests == before


@pytest.mark.parametrize(("kind", "extension"), [("PNG", "png"), ("JPEG", "jpg"), ("GIF", "gif"), ("WEBP", "webp")])
def test_bytes_decide_the_format(project: Project, kind: str, extension: str) -> None:
    entry = project.one(project.xkcd(1, Reply(picture(1, kind=kind), "image/png")))
    assert entry.path == f"data/raw/pixelhumor/images/xkcd_1.{extension}"
    assert entry.media_type == f"image/{kind.lower()}"
    whole = noise(kind=kind)
    assert decode_image(whole)[1:] == (64, 64)
    with pytest.raises(Missing, match="truncated"):
        decode_image(whole[: len(whole) // 2])


def test_changed_or_lost_file_is_fetched_again(project: Project) -> None:
    comic = project.xkcd(1)
    entry = project.one(comic)
    file = project.root / str(entry.path)
    for spoil in (lambda: file.write_bytes(b"edited"), file.unlink):
        spoil()
        assert project.one(comic).sha256 == entry.sha256
        assert file.read_bytes() == picture(1)
    assert project.server.asked(IMAGE_HOST, "/comics/1.png") == 3
    project.log.unlink()
    project.lock.unlink()
    project.one(project.xkcd(1, Reply(picture(1, kind="GIF"))))
    assert [file.name for file in project.out.iterdir()] == ["xkcd_1.gif"]  # one file for each comic


def test_missing_stays_missing_until_asked(project: Project) -> None:
    comic = project.xkcd(1, [Reply(b"", status=404), Reply(picture(1))])
    first = project.one(comic)
    assert (first.state, first.reason) == ("missing", "not found (404)")
    assert project.one(comic) == first
    assert project.server.asked(IMAGE_HOST, "/comics/1.png") == 1
    assert project.one(comic, retry=True).state == "ok"
    assert len(logged(project.log)) == 1


@pytest.mark.parametrize(
    ("pinned", "locked", "served", "reason", "notes"),
    [
        (1, None, picture(1), None, ()),
        (1, None, picture(2), None, ("not the manifest's bytes",)),
        (1, None, picture(1, (8, 7)), "digest differs from manifest", ("8 x 6", "8 x 7")),
        (1, 2, picture(2), None, ("but the lock's",)),
        (1, 2, picture(3), "digest differs from lock", ()),
        (1, 2, picture(1), None, ()),  # the manifest's bytes are always right
        (None, 2, picture(1), "digest differs from lock", (sha256(picture(1)), sha256(picture(2)))),
        (None, 2, picture(2), None, ()),
    ],
)
def test_bytes_that_are_known(
    project: Project, pinned: Any, locked: Any, served: bytes, reason: Any, notes: Any
) -> None:
    """By the manifest, or by the lock of an earlier fetch or of a colleague."""
    if pinned is not None:
        project.pin(1, picture(pinned))
    if locked is not None:
        project.lock_to(1, picture(locked))
    before = project.lock.read_bytes() if locked is not None else None
    entry = project.one(project.xkcd(1, Reply(served)))
    assert (entry.state, entry.reason) == ("missing" if reason else "ok", reason)
    assert all(note in str(entry.note) for note in notes) and bool(entry.note) == bool(notes or reason)
    assert [file.name for file in project.out.iterdir()] == ([] if reason else ["xkcd_1.png"])
    assert project.one("xkcd_1") == entry  # settled
    if before is not None:
        assert project.lock.read_bytes() == before
    elif reason or served == picture(1):
        assert not project.lock.exists()
    else:
        assert [line.sha256 for line in read_manifest(project.lock, Lock)] == [entry.sha256]
    assert (project.server.times["xkcd.com"] == []) == (pinned is not None)  # a pin needs no page


def test_a_lock_that_changes_later_counts(project: Project) -> None:
    comic = project.xkcd(1)
    assert project.one(comic).state == "ok"
    project.lock_to(1, picture(9))
    assert project.one(comic).reason == "digest differs from lock"
    project.lock.unlink()  # the way to take other bytes
    assert project.one(comic, retry=True).sha256 == sha256(picture(1))


def test_an_edited_address_is_fetched_again(project: Project) -> None:
    """It alone, also where the manifest pins the image of the address before, or it was missing; so is a new file."""
    ids = [project.xkcd(number) for number in range(1, 5)]
    project.pin(2, picture(2))
    project.xkcd(3, Reply(status=404))
    project.fetch(ids)
    places = {f"xkcd_{n}": f"https://elsewhere.example/{n}.png" for n in (1, 2, 3)}
    project.server.routes |= {("elsewhere.example", f"/{n}.png"): Reply(picture(10 + n)) for n in (1, 2, 3)}
    before = len(project.server.requests)
    for _ in range(2):
        entries = project.fetch(ids, pages=places)
        assert [entry.sha256 for entry in entries] == [sha256(picture(n)) for n in (11, 12, 13, 4)]
        locked = {line.comic_id: line.sha256 for line in read_manifest(project.lock, Lock)}
        assert locked == {entry.item_id: entry.sha256 for entry in entries}
    hosts = [host for host, path in project.server.requests[before:] if path != "/robots.txt"]
    assert hosts == ["elsewhere.example"] * 3
    project.log.unlink()  # a clone with the lock alone
    assert project.fetch(ids)[0].sha256 == sha256(picture(1))
    own = {"xkcd_1": "data/manifests/pixelhumor/own.png"}
    for number in (20, 21):
        (project.manifests / "own.png").write_bytes(picture(number))
        assert project.one("xkcd_1", pages=own).sha256 == sha256(picture(number))


def test_one_image_for_several_pages_is_a_placeholder(project: Project) -> None:
    ids = [project.xkcd(1, Reply(picture(0))), project.xkcd(2), project.xkcd(3, Reply(picture(0)))]
    entries = project.fetch(ids)
    assert [entry.reason for entry in entries] == ["same bytes as another comic", None, "same bytes as another comic"]
    assert [file.name for file in project.out.iterdir()] == ["xkcd_2.png"]
    assert [line.comic_id for line in read_manifest(project.lock, Lock)] == ["xkcd_2"]
    assert project.fetch(ids) == entries


@pytest.mark.parametrize("where", ["folder", "", "/m/"])  # or the path of a URL
@pytest.mark.parametrize("content", [picture(1), picture(66), None])
def test_mirror(project: Project, where: str, content: bytes | None) -> None:
    """Right bytes need no network and no robots.txt; wrong or no bytes are noted and passed over."""
    project.pin(1, picture(1))
    comic = project.xkcd(1)
    if where == "folder":
        project.fill_mirror(content)
        expected = []
    else:
        host = project.serve_mirror(content, path=where)
        project.server.routes[host, "/robots.txt"] = Reply(b"User-agent: *\nDisallow: /", "text/plain")
        expected = [(host, f"{where.rstrip('/')}/xkcd/images/1.png")]
    entry = project.one(comic)
    assert str(project.root) not in project.log.read_text()
    if content == picture(1):
        assert (entry.state, entry.url, entry.note) == ("ok", "mirror:xkcd/images/1.png", None)
        assert project.server.requests == expected
    else:
        assert (entry.state, entry.url) == ("ok", f"https://{IMAGE_HOST}/comics/1.png")
        assert (sha256(content) if content else "mirror: no") in str(entry.note)


def test_mirror_of_ones_own_images_by_the_lock(project: Project) -> None:
    comic = project.xkcd(1)
    (project.root / str(project.one(comic).path)).rename(project.fill_mirror(None, "pixelhumor/images/xkcd_1.png"))
    project.log.unlink()
    before = len(project.server.requests)
    entry = project.one(comic)
    assert (entry.state, entry.url) == ("ok", "mirror:pixelhumor/images/xkcd_1.png")
    assert len(project.server.requests) == before


def test_an_annotation_of_the_projects_own(here: Path) -> None:
    manifest = annotations(here, b"[]", path="strips.json", url="strips.json")
    Path("strips.json").write_bytes(b"[]")
    assert [file.read_bytes() for file in annotated(manifest, here / "raw")] == [b"[]"]
    Path("strips.json").write_bytes(b"[1]")  # its owner corrects it
    assert [file.read_bytes() for file in annotated(manifest, here / "raw")] == [b"[1]"]
    Path("strips.json").unlink()
    with pytest.raises(PunchlineError, match=r"strips\.json: no such file"):
        annotated(manifest, here / "other")


def test_annotations_come_with_their_digest_or_not_at_all(tmp_path: Path, server: Any, capsys: Any) -> None:
    hosts = {"elsewhere.example": server.url}
    manifest = annotations(tmp_path, b"a,b\n")
    server.routes["elsewhere.example", "/full_label.csv"] = Reply(b"c,d\n", "text/plain")
    with pytest.raises(PunchlineError) as caught:
        annotated(manifest, tmp_path / "raw", hosts=hosts)
    for part in ("full_label.csv", "https://elsewhere.example", sha256(b"a,b\n"), sha256(b"c,d\n"), "mirror="):
        assert part in str(caught.value)
    assert not (tmp_path / "raw" / "full_label.csv").exists()
    server.routes["elsewhere.example", "/full_label.csv"] = Reply(b"a,b\n", "text/plain")
    write_bytes(tmp_path / "mirror/pixelhumor/full_label.csv", b"e,f\n")
    for _ in range(2):  # the second time nothing is asked
        (file,) = annotated(manifest, tmp_path / "raw", str(tmp_path / "mirror"), hosts)
    assert file.read_bytes() == b"a,b\n"
    (warning,) = capsys.readouterr().err.splitlines()
    assert sha256(b"e,f\n") in warning
    assert server.asked("elsewhere.example", "/full_label.csv") == 2


def test_two_runs_at_once_are_refused(project: Project) -> None:
    with exclusive_lock(project.out, ""), pytest.raises(PunchlineError, match="another run"):
        project.one("xkcd_1")


def test_failure_inside_a_run_keeps_what_was_fetched(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comic is in the log before the next is fetched, so that a full disk or kill -9 costs one comic at most."""
    ids = [project.xkcd(n) for n in range(5)]
    project.xkcd(2, lambda _: Reply(picture(2), status=200 if len(logged(project.log)) >= 2 else 404))

    def full_disk(path: Path, content: bytes) -> None:
        if path.stem == "xkcd_3":
            raise OSError("no space left")
        write_bytes(path, content)

    monkeypatch.setattr(images, "write_bytes", full_disk)
    slow = {"e_1": "https://explosm.net/comics/1"}  # a task of another host, which ends too
    project.server.routes["explosm.net", "/comics/1"] = Reply(b"<html>", "text/html", delay=2)
    with pytest.raises(OSError, match="no space left"):
        project.fetch([*ids, *slow], slow)
    monkeypatch.undo()
    assert len(logged(project.log)) == 3 and not project.lock.exists()
    project.log.write_bytes(project.log.read_bytes() + canonical(OK)[:-9])  # what a kill inside a write leaves
    assert all(entry.state == "ok" for entry in project.fetch(ids))
    assert [project.server.asked(IMAGE_HOST, f"/comics/{n}.png") for n in range(5)] == [1, 1, 1, 2, 1]
    assert len(read_manifest(project.lock, Lock)) == 5  # those before the failure, too


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
    place = rf"(, record .*, field {next(iter(changed))}: |: the character NUL)"
    with pytest.raises(PunchlineError, match=rf"rows\.csv, line 2{place}"):
        read_manifest(path, kind)
    path.write_text(csv_text(columns, [sound]))
    with pytest.raises(PunchlineError, match=r"line 1, field .*: missing column"):
        read_manifest(path, Pin)


SEEN = "2026-01-02T03:04:05Z"
FILE: dict[str, Any] = {"path": "a.png", "sha256": "0" * 64, "bytes": 1, "width": 1, "height": 1}
OK = FetchEntry(item_id="xkcd_1", source="xkcd", state="ok", fetched_at=SEEN, **FILE)


def gone(comic_id: str, reason: str, at: str = "2026-01-01T00:00:00Z") -> FetchEntry:
    source = comic_id.rpartition("_")[0]
    return FetchEntry(item_id=comic_id, source=source, state="missing", reason=reason, fetched_at=at)


@pytest.mark.parametrize(
    "line",
    [
        *(b"{}", b"not json", canonical(OK).replace(b'"ok"', b'"fine"')),
        canonical(gone("xkcd_1", "truncated")).replace(b"truncated", b"bad luck"),
        *(canonical(replace(OK, path=path)) for path in ("../victim.txt", "data/../../victim.txt", "/victim.txt", "")),
        canonical(replace(OK, path="..\\victim.txt")),
    ],
)
def test_a_broken_line_of_the_log_is_named_and_nothing_is_deleted(project: Project, line: bytes) -> None:
    victim = project.root.parent / "victim.txt"
    write_bytes(victim, picture(7))
    write_bytes(project.log, canonical(OK) + b"\n" + line + b"\n")
    with pytest.raises(PunchlineError, match=r"fetch\.jsonl, line 2"):
        project.fetch([project.xkcd(3)])
    assert victim.exists()


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
