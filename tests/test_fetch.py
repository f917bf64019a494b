"""Fetching, against a real HTTP server: what is served decides what is kept, refused, tried again or given up."""

import asyncio
import csv
import io
import itertools
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.fetch_server import Reply, Rerouted, Server, page, serving

from punchline.errors import PunchlineError
from punchline.fetch.annotations import fetch_annotations
from punchline.fetch.images import decode_image, fetch_images
from punchline.fetch.log import REASONS, Missing, availability_text, read_log
from punchline.fetch.manifests import (
    ANNOTATION_COLUMNS,
    LOCK_COLUMNS,
    PIN_COLUMNS,
    Annotation,
    Lock,
    Pin,
    Selected,
    read_manifest,
)
from punchline.fetch.resolvers import SITES, NoImage
from punchline.fetch.web import Manners, Request, Web, online, user_agent
from punchline.files import csv_text, sha256_file
from punchline.schema import FetchEntry, canonical, sha256

ROOT = Path(__file__).resolve().parent.parent
QUICK = Manners(pause=0.0, connect_timeout=2.0, read_timeout=5.0, total_timeout=20.0, backoff=0.01, longest_wait=5.0)
IMAGE_HOST = "imgs.xkcd.com"


def picture(seed: int = 0, size: tuple[int, int] = (8, 6), kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (seed % 256, seed // 256 % 256, 90)).save(out, kind)
    return out.getvalue()


def noise(side: int = 64, kind: str = "PNG") -> bytes:
    """An image that does not compress: cutting it cuts pixels."""
    out = io.BytesIO()
    Image.effect_noise((side, side), 90).save(out, kind)
    return out.getvalue()


def moved(to: str, status: int = 302) -> Reply:
    return Reply(status=status, headers={"Location": to})


def source_of(comic_id: str) -> str:
    return comic_id.rpartition("_")[0] or comic_id


def logged(log: Path) -> list[FetchEntry]:
    return list(read_log(log).values())


def rules(text: str) -> Reply:
    """A robots.txt."""
    return Reply(text.encode(), "text/plain")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


class Project:
    """A project root in a temporary folder, with all paths that fetch_images takes."""

    def __init__(self, root: Path, server: Server) -> None:
        self.server = server
        self.mirror: str | None = None
        hosts = [*SITES, IMAGE_HOST, "pbs.twimg.com", "static.explosm.net", "64.media.tumblr.com", "elsewhere.example"]
        self.hosts = dict.fromkeys(hosts, server.url)

        self.place(root)

    def place(self, root: Path) -> None:
        """Make the folder the project's root."""
        self.root, self.manifest = root, root / "images_pinned.csv"
        self.out = root / "data" / "raw" / "pixelhumor" / "images"
        self.log = root / "data" / "raw" / "pixelhumor" / "fetch.jsonl"
        self.lock = root / "data" / "manifests" / "pixelhumor" / "images.lock.csv"
        root.mkdir(exist_ok=True)
        self.manifest.write_text(csv_text(PIN_COLUMNS, []))

    def xkcd(self, number: int, reply: Any = None, image: str | None = None) -> str:
        """Serve xkcd comic `number` with this reply to its image; its id."""
        path = f"/comics/{number}.png"
        info = {"img": image or f"https://{IMAGE_HOST}{path}"}
        self.server.routes["xkcd.com", f"/{number}/info.0.json"] = Reply(json.dumps(info).encode(), "application/json")
        self.server.routes[IMAGE_HOST, path] = reply if reply is not None else Reply(picture(number))
        return f"xkcd_{number}"

    def pin(self, number: int, content: bytes, size: tuple[int, int] = (8, 6), **changed: object) -> None:
        """Add a line to the pinned manifest."""
        places = (f"xkcd_{number}", f"https://xkcd.com/{number}/", f"https://{IMAGE_HOST}/comics/{number}.png")
        about = (sha256(content), len(content), *size, "CC BY-NC 2.5", f"xkcd/images/{number}.png", "someone")
        line = dict(zip(PIN_COLUMNS, (*places, *about), strict=True)) | changed
        with self.manifest.open("a") as file:
            file.write(csv_text(PIN_COLUMNS, [line]).split("\n", 1)[1])

    def serve_mirror(self, content: Any, number: int = 1, path: str = "") -> str:
        """Make the server the mirror, with this content or reply for xkcd comic `number`; the server's host."""
        host = self.server.url.removeprefix("http://")
        if content is not None:
            reply = Reply(content, "application/whatever") if isinstance(content, bytes) else content
            self.server.routes[host, f"{path.rstrip('/')}/xkcd/images/{number}.png"] = reply
        self.mirror = f"{self.server.url}{path}"
        return host

    def fill_mirror(self, content: bytes | None, name: str = "xkcd/images/1.png") -> Path:
        """Make a folder the mirror, with this content of the file `name`; the file."""
        file = self.root / "mirror" / name
        file.parent.mkdir(parents=True)
        if content is not None:
            file.write_bytes(content)
        self.mirror = str(self.root / "mirror")
        return file

    def child(self, ids: list[str], hosts: dict[str, str]) -> subprocess.Popen[str]:
        """A fetch of these comics in a process of its own."""
        argument = json.dumps([ids, self.hosts | hosts, {name: str(place) for name, place in self.places().items()}])
        command = [sys.executable, str(ROOT / "tests" / "fetch_child.py"), argument]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=self.root)

    def fetch(
        self,
        ids: list[str],
        pages: dict[str, str] | None = None,
        hosts: dict[str, str] | None = None,
        manners: Manners = QUICK,
        **more: Any,
    ) -> list[FetchEntry]:
        pages = {comic_id: f"https://xkcd.com/{comic_id.rpartition('_')[2]}/" for comic_id in ids} | (pages or {})
        selected = [Selected(item_id=name, source=source_of(name), url=pages[name]) for name in ids]
        network = partial(Rerouted, hosts=self.hosts if hosts is None else hosts)
        work = partial(fetch_images, selected=selected, **self.places(), **({"mirror": self.mirror} | more))
        with chdir(self.root):
            return online(work, manners, network)

    def places(self) -> dict[str, Path]:
        return {"pinned": self.manifest, "out": self.out, "log": self.log, "lock": self.lock}

    def one(self, comic_id: str, **more: Any) -> FetchEntry:
        (entry,) = self.fetch([comic_id], **more)
        return entry


@pytest.fixture
def project(tmp_path: Path, server: Server) -> Project:
    return Project(tmp_path, server)


def test_comic_is_fetched_once_and_locked(project: Project) -> None:
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
    assert project.fetch(ids) == entries
    assert project.server.requests == before  # no request at all
    assert project.log.read_bytes() == log
    assert {agent.split("/")[0] for agent in project.server.agents} == {"punchline"}


@pytest.mark.parametrize(
    ("kind", "extension", "media_type"),
    [("PNG", "png", "png"), ("JPEG", "jpg", "jpeg"), ("GIF", "gif", "gif"), ("WEBP", "webp", "webp")],
)
def test_bytes_decide_the_format(project: Project, kind: str, extension: str, media_type: str) -> None:
    comic = project.xkcd(1, Reply(picture(1, kind=kind), "image/png"))
    entry = project.one(comic)
    assert entry.path == f"data/raw/pixelhumor/images/xkcd_1.{extension}"
    assert entry.media_type == f"image/{media_type}"
    whole = noise(kind=kind)
    assert decode_image(whole)[2:] == (64, 64)
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


def test_missing_stays_missing_until_asked(project: Project) -> None:
    comic = project.xkcd(1, [Reply(b"", status=404), Reply(picture(1))])
    first = project.one(comic)
    assert (first.state, first.reason) == ("missing", "not found (404)")
    assert project.one(comic) == first
    assert project.server.asked(IMAGE_HOST, "/comics/1.png") == 1
    assert project.one(comic, retry_missing=True).state == "ok"
    assert len(logged(project.log)) == 1


def test_smaller_selection_forgets_nothing(project: Project) -> None:
    ids = [project.xkcd(3), project.xkcd(1), project.xkcd(2)]
    project.fetch(ids)
    entries = project.fetch(["xkcd_2"])
    assert [entry.item_id for entry in entries] == ["xkcd_2"]
    assert [entry.item_id for entry in logged(project.log)] == ["xkcd_2", "xkcd_1", "xkcd_3"]
    before = len(project.server.requests)
    project.fetch(ids)
    assert len(project.server.requests) == before


@pytest.mark.parametrize(
    "comic_id", ["../xkcd_1", "/etc/passwd", "a/b", "..", ".", "", "xkcd_1.png/..", "a\0b", "a\\b", "-rf", "x" * 101]
)
def test_id_that_leaves_the_folder_is_bad_input(project: Project, comic_id: str) -> None:
    with pytest.raises(PunchlineError, match=r"field comic_id: .*can't be a file's name"):
        project.fetch([comic_id])
    assert project.server.requests == []


def test_an_address_that_is_the_images_own(project: Project) -> None:
    project.server.routes["pbs.twimg.com", "/media/a?format=jpg&name=medium"] = Reply(picture())
    entry = project.one("00001.jpg", pages={"00001.jpg": "https://pbs.twimg.com/media/a?format=jpg&name=medium"})
    assert (entry.state, entry.sha256, entry.source) == ("ok", sha256(picture()), "00001.jpg"), entry.note
    assert project.one("00001.jpg", pages={"00001.jpg": "https://x.test"}) == entry  # the log's entry stays


def test_robots_is_read_once_for_each_host_and_its_crawl_delay_wins_over_our_pause(project: Project) -> None:
    comics = [project.xkcd(n) for n in range(3)]
    project.server.routes["xkcd.com", "/robots.txt"] = rules("User-agent: *\nCrawl-delay: 0.3")
    project.fetch(comics)
    assert [project.server.asked(host, "/robots.txt") for host in ("xkcd.com", IMAGE_HOST)] == [1, 1]
    times = project.server.times["xkcd.com"][1:]  # after robots.txt
    assert all(later - earlier >= 0.3 for earlier, later in itertools.pairwise(times))


def test_one_request_at_a_time_and_a_pause_for_each_host(server: Server) -> None:
    server.routes["a.example", "/robots.txt"] = Reply(b"", "text/plain")
    paths = [f"/{n}" for n in range(4)]
    for path in paths:
        server.routes["a.example", path] = Reply(b"x", delay=0.05)

    async def work(web: Web) -> None:
        await asyncio.gather(*(web.get(Request(f"https://a.example{path}", limit=9)) for path in paths))

    online(work, Manners(pause=0.2), partial(Rerouted, hosts={"a.example": server.url}))
    times = sorted(server.times["a.example"])
    assert len(times) == 5
    assert server.most_at_once["a.example"] == 1
    assert all(later - earlier >= 0.2 for earlier, later in itertools.pairwise(times))


def test_busy_server_is_asked_again_after_the_time_it_names(project: Project) -> None:
    comic = project.xkcd(1, [Reply(status=429, headers={"Retry-After": "1"}), Reply(picture(1))])
    assert project.one(comic).state == "ok"
    first, second = project.server.times[IMAGE_HOST][-2:]
    assert second - first >= 1.0


def test_retry_after_far_away_gives_the_host_up(project: Project) -> None:
    ids = [project.xkcd(1, Reply(status=429, headers={"Retry-After": "3600"})), project.xkcd(2)]
    entries = project.fetch(ids)
    assert [entry.reason for entry in entries] == ["http 429", "http 429"]
    assert "3600 s" in str(entries[1].note)
    assert project.server.asked(IMAGE_HOST, "/comics/2.png") == 0


def test_host_that_stays_busy_is_given_up(project: Project) -> None:
    ids = [project.xkcd(n, Reply(status=503)) for n in range(5)]
    assert {entry.reason for entry in project.fetch(ids)} == {"http 503"}
    asked = [project.server.asked(IMAGE_HOST, f"/comics/{n}.png") for n in range(5)]
    assert asked == [QUICK.attempts] * 3 + [0, 0]


def test_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUNCHLINE_CONTACT", raising=False)
    assert "contact" not in user_agent()
    monkeypatch.setenv("PUNCHLINE_CONTACT", "me@example.org")
    assert "contact: me@example.org" in user_agent()
    monkeypatch.setenv("PUNCHLINE_CONTACT", "a\r\nX-Evil: 1")
    with pytest.raises(PunchlineError, match="PUNCHLINE_CONTACT"):
        user_agent()


def closed_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize("where", ["closed port", "no such name", "hangs up"])
def test_host_is_given_up_after_three_connection_failures(project: Project, where: str) -> None:
    ids = [f"xkcd_{n}" for n in range(200)]
    if where == "hangs up":
        project.server.routes["xkcd.com", "/robots.txt"] = Reply(hang_up=True)
    else:
        project.hosts["xkcd.com"] = closed_port() if where == "closed port" else "http://no-such-host.invalid"
    entries = project.fetch(ids)
    assert [entry.item_id for entry in entries] == ids
    assert {entry.reason for entry in entries} == {"host unreachable"}
    assert "after 3 failures" in str(entries[-1].note)
    assert len(project.server.requests) == (3 if where == "hangs up" else 0)


def test_one_host_down_does_not_touch_another(project: Project) -> None:
    project.hosts["xkcd.com"] = closed_port()
    shown = '<div id="comic"><img src="https://static.explosm.net/2020/1.png"></div>'
    project.server.routes["explosm.net", "/comics/1"] = page(shown)
    project.server.routes["static.explosm.net", "/2020/1.png"] = Reply(picture(7))
    entries = project.fetch(["xkcd_1", "explosm_1"], pages={"explosm_1": "https://explosm.net/comics/1"})
    assert [entry.reason for entry in entries] == ["host unreachable", None]


def test_silent_host_times_out_and_is_given_up(project: Project) -> None:
    ids = [project.xkcd(n, Reply(picture(n), delay=2.0)) for n in range(4)]
    entries = project.fetch(ids, manners=Manners(pause=0, read_timeout=0.5, backoff=0.01))
    assert {entry.reason for entry in entries} == {"timed out"}
    assert sum(project.server.asked(IMAGE_HOST, f"/comics/{n}.png") for n in range(4)) == 3


def test_other_bytes_than_the_first_fetch_are_refused(project: Project) -> None:
    comic = project.xkcd(1)
    first = project.one(comic)
    (project.root / str(first.path)).unlink()
    project.xkcd(1, Reply(picture(200)))
    entry = project.one(comic)
    assert entry.reason == "digest differs from lock"
    assert sha256(picture(200)) in str(entry.note) and str(first.sha256) in str(entry.note)
    assert list(project.out.iterdir()) == []
    # The way to take the new bytes: delete the lock's line, ask again.
    project.lock.unlink()
    assert project.one(comic, retry_missing=True).sha256 == sha256(picture(200))


def test_lock_of_a_colleague_counts(project: Project) -> None:
    line = {"comic_id": "xkcd_1", "url": "https://x", "sha256": sha256(picture(9)), "bytes": 1, "width": 8, "height": 6}
    project.lock.parent.mkdir(parents=True)
    project.lock.write_text(csv_text(LOCK_COLUMNS, [line | {"mirror": "pixelhumor/images/xkcd_1.png"}]))
    before = project.lock.read_bytes()
    assert project.one(project.xkcd(1)).reason == "digest differs from lock"
    project.xkcd(1, Reply(picture(9)))
    assert project.one("xkcd_1", retry_missing=True).state == "ok"
    assert project.lock.read_bytes() == before


def test_lock_that_arrives_later_counts(project: Project) -> None:
    comic = project.xkcd(1)
    assert project.one(comic).state == "ok"
    project.lock.write_text(project.lock.read_text().replace(sha256(picture(1)), sha256(picture(9))))
    assert project.one(comic).reason == "digest differs from lock"
    project.xkcd(1, Reply(picture(9)))
    assert project.one(comic, retry_missing=True).sha256 == sha256(picture(9))


def test_one_file_for_each_comic(project: Project) -> None:
    comic = project.xkcd(1)
    project.one(comic)
    project.log.unlink()
    project.lock.unlink()
    project.xkcd(1, Reply(picture(1, kind="GIF")))
    project.one(comic)
    assert [file.name for file in project.out.iterdir()] == ["xkcd_1.gif"]


def test_pinned_image_needs_no_page_and_no_lock(project: Project) -> None:
    project.pin(1, picture(1))
    project.server.routes[IMAGE_HOST, "/comics/1.png"] = Reply(picture(1))
    entry = project.one("xkcd_1")
    assert (entry.state, entry.note) == ("ok", None)
    assert project.server.times["xkcd.com"] == []
    assert not project.lock.exists()


def test_pinned_image_with_other_bytes_of_the_same_size_is_taken_noted_and_locked(project: Project) -> None:
    project.pin(1, picture(1))
    comic = project.xkcd(1, Reply(picture(2)))
    entry = project.one(comic)
    assert (entry.state, entry.sha256) == ("ok", sha256(picture(2)))
    assert "not the manifest's bytes" in str(entry.note)
    assert [line.sha256 for line in read_manifest(project.lock, Lock)] == [entry.sha256]
    assert project.one(comic) == entry  # settled
    (project.root / str(entry.path)).unlink()
    project.xkcd(1, Reply(picture(3)))  # a third version, of the same size
    assert project.one(comic).reason == "digest differs from lock"
    project.xkcd(1, Reply(picture(1)))  # the manifest's bytes are always right
    assert project.one(comic, retry_missing=True).note is None


def test_pinned_image_of_another_size_is_refused(project: Project) -> None:
    project.pin(1, picture(1))
    entry = project.one(project.xkcd(1, Reply(picture(1, size=(8, 7)))))
    assert entry.reason == "digest differs from manifest"
    assert "8 x 6" in str(entry.note) and "8 x 7" in str(entry.note)


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
        project.server.routes[host, "/robots.txt"] = rules("User-agent: *\nDisallow: /")
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


@pytest.mark.parametrize("mirror", ["no/such/folder", "ftp://example.org/", "file:///tmp"])
def test_bad_mirror_is_bad_input(project: Project, mirror: str) -> None:
    with pytest.raises(PunchlineError, match="mirror="):
        project.one("xkcd_1", mirror=mirror)


def annotated(manifest: Path, out: Path, mirror: str | None = None, hosts: Mapping[str, str] = {}) -> list[Path]:
    """Fetch annotations."""
    return online(
        lambda web: fetch_annotations(web, manifest, out, mirror), QUICK, partial(Rerouted, hosts=dict(hosts))
    )


def annotations(root: Path, content: bytes, **changed: object) -> Path:
    url = "https://elsewhere.example/full_label.csv"
    row = ("full_label.csv", url, sha256(content), len(content), "none", "pixelhumor/full_label.csv")
    line = dict(zip(ANNOTATION_COLUMNS, row, strict=True)) | changed
    path = root / "annotations.csv"
    path.write_text(csv_text(ANNOTATION_COLUMNS, [line]))
    return path


def test_an_annotation_of_the_projects_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strips.json").write_bytes(b"[]")
    manifest = annotations(tmp_path, b"[]", path="strips.json", url="strips.json")
    (written,) = annotated(manifest, tmp_path / "raw")
    assert written.read_bytes() == b"[]"
    written.unlink()
    (tmp_path / "strips.json").write_bytes(b"[1]")
    with pytest.raises(PunchlineError, match=r"strips\.json: sha256 is"):
        annotated(manifest, tmp_path / "raw")


def test_annotations_come_with_their_digest_or_not_at_all(tmp_path: Path, server: Server, capsys: Any) -> None:
    hosts = {"elsewhere.example": server.url}
    manifest = annotations(tmp_path, b"a,b\n")
    server.routes["elsewhere.example", "/full_label.csv"] = Reply(b"c,d\n", "text/plain")
    with pytest.raises(PunchlineError) as caught:
        annotated(manifest, tmp_path / "raw", hosts=hosts)
    for part in ("full_label.csv", "https://elsewhere.example", sha256(b"a,b\n"), sha256(b"c,d\n"), "mirror="):
        assert part in str(caught.value)
    assert not (tmp_path / "raw" / "full_label.csv").exists()

    server.routes["elsewhere.example", "/full_label.csv"] = Reply(b"a,b\n", "text/plain")
    mirror = tmp_path / "mirror" / "pixelhumor"
    mirror.mkdir(parents=True)
    (mirror / "full_label.csv").write_bytes(b"e,f\n")
    for _ in range(2):  # the second time nothing is asked
        (file,) = annotated(manifest, tmp_path / "raw", str(mirror.parent), hosts)
    assert file.read_bytes() == b"a,b\n"
    (warning,) = capsys.readouterr().err.splitlines()
    assert sha256(b"e,f\n") in warning
    assert server.asked("elsewhere.example", "/full_label.csv") == 2


LEAVES = r"annotations\.csv, line 2, field url: .*leaves its folder"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"path": "../evil.csv"}, "field path"),
        ({"path": "/etc/passwd"}, "field path"),
        ({"mirror": "a/../../b"}, "field mirror"),
        ({"sha256": "abc"}, "field sha256"),
        ({"bytes": "many"}, "line 2.*bytes"),
        *(({"url": url}, LEAVES) for url in ("../secret.csv", "/etc/hostname", "a/../../x.csv")),
    ],
)
def test_bad_manifest_names_its_line(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    with pytest.raises(PunchlineError, match=message):
        read_manifest(annotations(tmp_path, b"", **changed), Annotation)


def test_manifests_in_git_are_sound() -> None:
    folder = ROOT / "data" / "manifests"
    files = read_manifest(folder / "pixelhumor" / "annotations.csv", Annotation)
    assert len(files) == 8
    assert all("cbf9f3da531a7993710c48ef302a3e9f2d197435/PixelHumor/" + line.path in line.url for line in files)
    pins = read_manifest(folder / "pixelhumor" / "images_pinned.csv", Pin)
    assert len({pin.comic_id for pin in pins}) == len({pin.sha256 for pin in pins}) == 203
    assert len(read_manifest(folder / "stripcipher" / "silent_pinned.csv", Pin)) == 40


# Fetch log

SIZES: dict[str, int] = {"bytes": 1, "width": 1, "height": 1}
SEEN = "2026-01-02T03:04:05Z"
OK = FetchEntry(item_id="xkcd_1", source="xkcd", state="ok", path="a.png", sha256="0" * 64, fetched_at=SEEN, **SIZES)


def gone(comic_id: str, reason: str, at: str = "2026-01-01T00:00:00Z") -> FetchEntry:
    return FetchEntry(item_id=comic_id, source=source_of(comic_id), state="missing", reason=reason, fetched_at=at)


@given(st.data())
@settings(max_examples=60)
def test_torn_ledger_loses_the_torn_line_only(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    entries = [gone(f"xkcd_{n}", data.draw(st.sampled_from([*sorted(REASONS), "http 418"]))) for n in range(3)]
    lines = [canonical(entry) + b"\n" for entry in entries]
    content = b"".join(lines)
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.mktemp("torn") / "fetch.jsonl"
    path.write_bytes(content[:cut])
    assert logged(path) == entries[: content[:cut].count(b"\n")]


def test_torn_line_is_cut_off_before_the_next_is_written(project: Project) -> None:
    ids = [project.xkcd(1), project.xkcd(2)]
    entries = project.fetch(ids)
    first = canonical(entries[0]) + b"\n"
    project.log.write_bytes(first + canonical(entries[1])[:-9])
    during: list[int] = []
    entries = project.fetch(ids, progress=lambda *_: during.append(len(logged(project.log))))
    assert [entry.state for entry in entries] == ["ok", "ok"]
    assert during == [2]  # readable before the end of the run, too
    assert project.log.read_bytes().startswith(first)
    assert len(logged(project.log)) == 2


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


def test_two_runs_at_once_are_refused(project: Project) -> None:
    gate = threading.Event()
    project.xkcd(1, lambda _: Reply(picture(1)) if gate.wait(20) else Reply(status=404))
    thread = threading.Thread(target=project.one, args=("xkcd_1",))
    thread.start()
    while not project.server.asked(IMAGE_HOST, "/comics/1.png"):
        time.sleep(0.01)
    with pytest.raises(PunchlineError, match="another run"):
        project.one("xkcd_1")
    gate.set()
    thread.join()
    assert logged(project.log)[0].state == "ok"


def test_killed_run_goes_on_where_it_was(project: Project) -> None:
    """kill -9 in the middle: at most the comic in hand is fetched twice, and no file is torn."""
    gate = threading.Event()
    ids = [project.xkcd(n) for n in range(20)]
    project.xkcd(8, lambda number: Reply(picture(8)) if number or gate.wait(20) else Reply(status=404))
    child = project.child(ids, {})
    deadline = time.monotonic() + 20
    while not project.server.asked(IMAGE_HOST, "/comics/8.png") and time.monotonic() < deadline:
        time.sleep(0.005)
    child.kill()
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    gate.set()
    done = {entry.item_id for entry in logged(project.log)}
    assert done == set(ids[:8]) and not project.lock.exists()
    (project.out / ".xkcd_8.png.abc.part").write_bytes(b"torn")  # what a kill inside a write leaves
    for entry in project.fetch(ids):
        assert entry.state == "ok"
        assert sha256_file(project.root / str(entry.path)) == entry.sha256
    asked = [project.server.asked(IMAGE_HOST, f"/comics/{n}.png") for n in range(20)]
    assert asked == [1] * 8 + [2] + [1] * 11
    assert sorted(file.name for file in project.out.iterdir()) == sorted(f"{comic_id}.png" for comic_id in ids)
    assert len(read_manifest(project.lock, Lock)) == 20  # those before the kill, too


def test_failure_inside_a_run_ends_it_and_keeps_what_was_fetched(project: Project) -> None:
    ids = [project.xkcd(n) for n in range(5)]

    def full_disk(done: int, total: int, entry: FetchEntry) -> None:
        if done == 2:
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        project.fetch(ids, progress=full_disk)
    assert len(logged(project.log)) == 2
    assert all(entry.state == "ok" for entry in project.fetch(ids))


@pytest.mark.parametrize(
    ("entries", "rows"),
    [
        ([], []),
        ([OK], [("xkcd", 1, 1, 0, None, 0, OK.fetched_at, OK.fetched_at)]),
        (
            [
                *(OK, gone("xkcd_2", "http 403", "2025-12-31T00:00:00Z"), gone("xkcd_3", "host unreachable")),
                *(gone("xkcd_4", "host unreachable"), gone("they_can_talk_1", "not found (404)")),
            ],
            [
                ("they_can_talk", 1, 0, 1, "not found (404)", 1, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
                ("xkcd", 4, 1, 3, "host unreachable", 2, "2025-12-31T00:00:00Z", "2026-01-02T03:04:05Z"),
                ("xkcd", 4, 1, 3, "http 403", 1, "2025-12-31T00:00:00Z", "2026-01-02T03:04:05Z"),
            ],
        ),
    ],
)
def test_availability(entries: list[FetchEntry], rows: list[tuple[object, ...]]) -> None:
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    assert availability_text(entries).splitlines()[1:] == lines


RESOLVED = yaml.safe_load((ROOT / "tests" / "resolved.yaml").read_text(encoding="utf-8"))
RESOLVED.append(("https://xkcd.com/1/", "[" * 100_000, None))


@pytest.mark.parametrize(("url", "content", "image"), RESOLVED)
def test_resolvers(url: str, content: str, image: str | None) -> None:
    resolve = SITES[url.split("/")[2]].resolve
    if image is None:
        with pytest.raises(NoImage):
            resolve(content.encode(), url)
    else:
        assert resolve(content.encode(), url) == image


def test_xkcd_is_asked_for_its_json() -> None:
    listed = ("https://xkcd.com/502/", "https://xkcd.com/502")
    assert {SITES["xkcd.com"].request(page) for page in listed} == {"https://xkcd.com/502/info.0.json"}


SOUP = ["<![", "<!", "<!--", "<img ", "<div id=comic>", "</div>", "src=", "http://[", ">", '"', "{", "&#x", "<meta "]
TAG_SOUP = st.lists(st.sampled_from(SOUP) | st.text(max_size=4))


@given(st.sampled_from(sorted(SITES)), TAG_SOUP.map("".join).map(str.encode) | st.binary())
@settings(max_examples=150)
def test_no_page_breaks_a_resolver(host: str, content: bytes) -> None:
    url = f"https://{host}/a/1"
    try:
        image = SITES[host].resolve(content, url)
    except NoImage:
        return
    assert image.startswith(("http://", "https://"))


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF\x10\0\0\0WEBPVP8 "]),
)
@settings(max_examples=150)
def test_no_bytes_break_the_decoder(content: bytes, start: bytes) -> None:
    try:
        decode_image(start + content)
    except Missing as missing:
        assert missing.reason in REASONS


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("item,source,url\nxkcd_1,xkcd,x\n", "field item_id: missing column"),
        (None, "no such file"),
    ],
)
def test_a_list_of_ids_that_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ids: str | None, message: str
) -> None:
    if ids is not None:
        (tmp_path / "ids.csv").write_text(ids)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PunchlineError, match=message):
        read_manifest(Path("ids.csv"), Selected)


def test_an_item_without_an_address_is_bad_input(project: Project) -> None:
    with pytest.raises(PunchlineError, match="record xkcd_404, field comic_id: no page URL is known"):
        project.fetch(["xkcd_404"], {"xkcd_404": ""})


def test_an_image_of_the_projects_own(project: Project) -> None:
    """`no such file` is a reason like any other."""
    project.pin(1, picture(1), image_url="own.png")
    assert project.one("xkcd_1").reason == "no such file"
    (project.root / "own.png").write_bytes(picture(1))
    assert project.one("xkcd_1", retry_missing=True).url == "own.png"


@pytest.mark.real
def test_mirror_comes_through_without_network(mirror: Path, project: Project) -> None:
    folder = ROOT / "data" / "manifests" / "pixelhumor"
    raw = project.root / "raw"
    files = annotated(folder / "annotations.csv", raw, str(mirror))
    assert len(files) == 8
    assert all(file.read_bytes() == (mirror / "pixelhumor" / file.name).read_bytes() for file in files)
    with (raw / "comic_url.csv").open(encoding="utf-8") as file:
        pages = {row["comic_id"]: row["comic_url"] for row in csv.DictReader(file)}
    assert len(pages) == 2800
    project.manifest, project.mirror = folder / "images_pinned.csv", str(mirror)
    nowhere = dict.fromkeys([*SITES, IMAGE_HOST], closed_port())
    entries = project.fetch([name for name in pages if source_of(name) == "xkcd"], pages, hosts=nowhere)
    assert availability_text(entries).splitlines()[1].startswith("xkcd,400,203,197,host unreachable,197")
    assert not project.lock.exists()
    pins = {pin.comic_id: pin for pin in read_manifest(project.manifest, Pin)}
    for entry in entries:
        if entry.state == "ok":
            pin = pins[entry.item_id]
            assert all(getattr(entry, name) == getattr(pin, name) for name in ("sha256", "bytes", "width", "height"))
            assert sha256_file(project.root / str(entry.path)) == pin.sha256


@pytest.mark.real
def test_silent_strips_come_through(mirror: Path, project: Project) -> None:
    project.manifest, project.mirror = ROOT / "data" / "manifests" / "stripcipher" / "silent_pinned.csv", str(mirror)
    ids = [pin.comic_id for pin in read_manifest(project.manifest, Pin)]
    assert {entry.state for entry in project.fetch(ids, dict.fromkeys(ids, ""))} == {"ok"}


@pytest.mark.real
def test_manifests_are_what_the_generator_writes(mirror: Path, tmp_path: Path) -> None:
    generator = tmp_path / "make.py"
    generator.write_bytes((ROOT / "data" / "manifests" / "make.py").read_bytes())
    (tmp_path / "yesbut").mkdir()  # the project's own files lie beside their manifest
    for own in (ROOT / "data" / "manifests" / "yesbut").glob("*.json"):
        (tmp_path / "yesbut" / own.name).write_bytes(own.read_bytes())
    subprocess.run([sys.executable, str(generator), str(mirror)], check=True)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.suffix in (".csv", ".json"))
    folders = {"hummus", "humorbench", "humorbench_runs", "pixelhumor", "stripcipher", "yesbut"}
    assert {str(path.parent) for path in made} == folders
    for path in made:
        assert (tmp_path / path).read_bytes() == (ROOT / "data" / "manifests" / path).read_bytes()
