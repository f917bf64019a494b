"""Server behavior with the recorded reason; limits per host; harmful files and servers."""

import asyncio
import gzip
import itertools
import json
import os
import resource
import signal
import struct
import time
import zlib
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.fetch_server import (
    IMAGE_HOST,
    QUICK,
    Project,
    Reply,
    Rerouted,
    Server,
    got,
    moved,
    noise,
    page,
    picture,
    project,
    rules,
    server,
)
from tests.records import outcome
from tests.servers.scripted import Call, Scripted, scripted

from punchline.errors import PunchlineError
from punchline.fetch.log import Missing, read_log
from punchline.fetch.web import Manners, Request, Web, online, user_agent
from punchline.schema import FetchEntry, canonical, sha256

__all__ = ["project", "server"]

SECRET = "pl4nted-p4ssw0rd"
NOWHERE = "http://127.0.0.1:9"  # nothing listens there


def bomb(width: int = 30_000, height: int = 30_000) -> bytes:
    """A PNG header that promises width x height pixels, with next to no bytes behind it."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = {b"IHDR": header, b"IDAT": zlib.compress(bytes(1000)), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, body) for kind, body in chunks.items())


def packed(encoding: str, rounds: int = 1, content: bytes = bytes(60_000_000)) -> Reply:
    """Content that is packed several times and sent under the name of an encoding."""
    for _ in range(rounds):
        content = zlib.compress(content, 9) if encoding == "deflate" else gzip.compress(content, 9)
    return Reply(content, headers={"Content-Encoding": encoding})


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


INFO, IMAGE, ROBOTS = ("xkcd.com", "/1/info.0.json"), (IMAGE_HOST, "/comics/1.png"), (IMAGE_HOST, "/robots.txt")
NO_SITE, EXPLOSM = ("garfield.example", "/1"), ("explosm.net", "/comics/1")  # pages that are listed in place of xkcd's
ROBOTS_REFUSED = "refused by robots.txt"
ALL = "User-agent: *\n"
# What a server does: (place, its replies there, reason that is recorded; None: the image is fetched).
BEHAVIOR: dict[str, tuple[tuple[str, str], Reply | list[Reply], str | None]] = {
    "gone": (IMAGE, Reply(status=404), "not found (404)"),
    "forbidden": (IMAGE, Reply(status=403), "http 403"),
    "always busy": (IMAGE, Reply(status=503), "http 503"),
    "hangs up twice": (IMAGE, [Reply(hang_up=True)] * 2 + [Reply(picture(1))], None),
    "cuts the body twice": (IMAGE, [Reply(noise(), cut=9)] * 2 + [Reply(picture(1))], None),
    "fails twice": (IMAGE, [Reply(status=500)] * 2 + [Reply(picture(1))], None),
    "page": (IMAGE, page("<html></html>"), "wrong content type"),
    "page served as image": (IMAGE, Reply(b"\n <!DOCTYPE html><html>sorry</html>"), "not an image"),
    "svg served as image": (IMAGE, Reply(b'<?xml version="1.0"?><svg/>'), "not an image"),
    "other bytes": (IMAGE, Reply(b"BM not at all"), "not an image"),
    "nothing": (IMAGE, Reply(b""), "not an image"),
    "TIFF": (IMAGE, Reply(picture(kind="TIFF"), "image/tiff"), "not an image"),
    "bomb": (IMAGE, Reply(bomb()), "decompression bomb"),
    "bomb below Pillow's own limits": (IMAGE, Reply(bomb(8000, 8000)), "decompression bomb"),
    "body cut": (IMAGE, Reply(noise(), cut=500), "truncated"),
    "image cut, body whole": (IMAGE, Reply(noise()[:-1500]), "truncated"),
    "image cut, length unknown": (IMAGE, Reply(noise()[:-1500], unannounced=True), "truncated"),
    "announced too large": (IMAGE, Reply(b"x", headers={"Content-Length": "25000001"}, unannounced=True), "too large"),
    "too large without a word": (IMAGE, Reply(bytes(25_000_001), unannounced=True), "too large"),
    **{f"unpacks to too much, {name}": (IMAGE, packed(name), "too large") for name in ("gzip", "x-gzip", "deflate")},
    **{
        f"unpacks to too much, {name}": (IMAGE, packed(name, max(1, name.count("gzip"))), "encoding refused")
        for name in ("br", "zstd", "gzip, gzip", "gzip,gzip,gzip")
    },
    **{f"packed once, {name}": (IMAGE, packed(name, 1, picture(1)), None) for name in ("gzip", "GZip", "deflate")},
    "identity": (IMAGE, packed("identity", 0, picture(1)), None),
    "deflate without zlib's header": (
        *(IMAGE, Reply(raw_deflate(picture(1)), headers={"Content-Encoding": "deflate"}), None),
    ),
    "not packed as it says": (IMAGE, packed("gzip", 0, b"no gzip at all"), "truncated"),
    "packed body cut": (IMAGE, packed("gzip", 0, gzip.compress(picture(1), mtime=0)[:-20]), "truncated"),
    "dripping": (IMAGE, Reply(picture(), drip=0.1), "timed out"),
    "redirect to an allowed place": (IMAGE, moved("https://elsewhere.example/a.png", 301), None),
    "redirect from http to https": (
        *(INFO, Reply(json.dumps({"img": f"http://{IMAGE_HOST}/comics/old.png"}).encode(), "application/json"), None),
    ),
    "redirect to a file": (IMAGE, moved("file:///etc/passwd"), "redirect refused"),
    "redirect to ftp": (IMAGE, moved("ftp://elsewhere.example/a.png"), "redirect refused"),
    "redirect to plain http": (IMAGE, moved("http://elsewhere.example/a.png"), "redirect refused"),
    "redirect to itself": (IMAGE, moved("/comics/1.png"), "redirect refused"),
    "redirect to loopback": (IMAGE, moved("https://127.0.0.1/a.png"), "unsafe address"),
    "redirect to loopback, pinned": (IMAGE, moved("https://127.0.0.1/a.png"), "unsafe address"),
    "redirect to localhost": (IMAGE, moved("https://localhost/a.png"), "unsafe address"),
    "redirect to metadata": (IMAGE, moved("https://169.254.169.254/"), "unsafe address"),
    "redirect to ::1": (IMAGE, moved("https://[::1]/a.png"), "unsafe address"),
    "no resolver": (NO_SITE, page(""), "no resolver for this site"),
    "page without image": (EXPLOSM, page("<meta property='og:image'>"), "resolver found no image"),
    "maintenance": (INFO, page("<html>down for maintenance</html>"), "wrong content type"),
    # robots.txt: RFC 9309, 2.3.1.3 (unavailable: all may be fetched) and 2.3.1.4 (unreachable: nothing may)
    "no robots.txt": (ROBOTS, Reply(status=404), None),
    "robots.txt forbidden": (ROBOTS, Reply(status=403), None),
    "robots.txt refuses all": (ROBOTS, rules(f"{ALL}Disallow: /"), ROBOTS_REFUSED),
    "robots.txt refuses the folder": (ROBOTS, rules(f"{ALL}Disallow: /comics/"), ROBOTS_REFUSED),
    "robots.txt refuses another folder": (ROBOTS, rules(f"{ALL}Disallow: /admin/"), None),
    "robots.txt refuses us": (ROBOTS, rules(f"User-agent: punchline\nDisallow: /\n\n{ALL}Allow: /"), ROBOTS_REFUSED),
    "robots.txt refuses others": (ROBOTS, rules("User-agent: otherbot\nDisallow: /"), None),
    "robots.txt of a broken server": (ROBOTS, Reply(status=500), ROBOTS_REFUSED),
    "robots.txt asks for a day": (ROBOTS, rules(f"{ALL}Crawl-delay: 86400"), ROBOTS_REFUSED),
    "robots.txt of bytes": (ROBOTS, Reply(bytes(range(256)), "text/plain"), None),
    "robots.txt redirects to a private place": (ROBOTS, moved("https://127.0.0.1/"), ROBOTS_REFUSED),
}


@pytest.mark.parametrize("case", BEHAVIOR)
def test_the_reason_is_recorded(project: Project, case: str) -> None:
    """An image or nothing at all is written, in little memory; a refused address is never fetched."""
    place, reply, reason = BEHAVIOR[case]
    comic = project.xkcd(1)
    project.server.routes |= {("elsewhere.example", "/a.png"): Reply(picture(1)), place: reply}
    project.server.routes[IMAGE_HOST, "/comics/old.png"] = moved(f"https://{IMAGE_HOST}/comics/1.png", 301)
    if case.endswith("pinned"):
        project.pin(1, picture(1))
    pages = {comic: f"https://{place[0]}{place[1]}"} if place in (NO_SITE, EXPLOSM) else {}
    manners = Manners(pause=0, backoff=0.01, total_timeout=0.3) if case == "dripping" else QUICK
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    entry = project.one(comic, manners=manners, pages=pages)
    assert (entry.state, entry.reason) == ("missing" if reason else "ok", reason), entry.note
    assert (entry.path, entry.sha256) == (None, None) if reason else entry.sha256 == sha256(picture(1))
    assert len(list(project.out.iterdir())) == (0 if reason else 1)
    assert project.lock.exists() == (reason is None)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB
    if place == ROBOTS:
        assert project.server.asked(*IMAGE) == (0 if reason else 1)
    if case == "redirect to an allowed place":
        assert entry.url == "https://elsewhere.example/a.png"
        assert project.server.asked("elsewhere.example", "/robots.txt") == 1


# Hosts that are given up: (replies or address, settings, reason, requests for each comic, part of the last note).
GIVEN_UP: dict[str, tuple[Reply | str, Manners, str, list[int], str]] = {
    "busy": (Reply(status=503), QUICK, "http 503", [4, 4, 4, 0, 0], "given up"),
    "asks to wait": (Reply(status=429, headers={"Retry-After": "3600"}), QUICK, "http 429", [1, 0, 0, 0, 0], "3600 s"),
    "silent": (Reply(delay=2.0), Manners(pause=0, read_timeout=0.5, backoff=0.01), "timed out", [3, 0, 0, 0, 0], ""),
    "hangs up": (Reply(hang_up=True), QUICK, "host unreachable", [3, 0, 0, 0, 0], "after 3 failures"),
    "closed port": (NOWHERE, QUICK, "host unreachable", [0] * 5, "after 3 failures"),
    "no such name": ("http://no-such-host.invalid", QUICK, "host unreachable", [0] * 5, "after 3 failures"),
}


@pytest.mark.parametrize("case", GIVEN_UP)
def test_a_host_is_given_up_and_another_is_not(project: Project, case: str) -> None:
    reply, manners, reason, asked, note = GIVEN_UP[case]
    ids = [project.xkcd(number, reply) for number in range(5)]
    if isinstance(reply, str):
        project.hosts[IMAGE_HOST] = reply
    shown = '<div id="comic"><img src="https://static.explosm.net/2020/1.png"></div>'
    project.server.routes["explosm.net", "/comics/1"] = page(shown)
    project.server.routes["static.explosm.net", "/2020/1.png"] = Reply(picture(7))
    *entries, other = project.fetch([*ids, "e_1"], pages={"e_1": "https://explosm.net/comics/1"}, manners=manners)
    assert {entry.reason for entry in entries} == {reason} and other.state == "ok"
    assert [project.server.asked(IMAGE_HOST, f"/comics/{number}.png") for number in range(5)] == asked
    assert note in str(entries[-1].note)


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


def test_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUNCHLINE_CONTACT", raising=False)
    assert "contact" not in user_agent()
    monkeypatch.setenv("PUNCHLINE_CONTACT", "me@example.org")
    assert "contact: me@example.org" in user_agent()
    monkeypatch.setenv("PUNCHLINE_CONTACT", "a\r\nX-Evil: 1")
    with pytest.raises(PunchlineError, match="PUNCHLINE_CONTACT"):
        user_agent()


def entry(item_id: str, path: str, content: bytes) -> FetchEntry:
    about: dict[str, Any] = {"sha256": sha256(content), "bytes": len(content), "width": 8, "height": 6}
    return FetchEntry(item_id=item_id, source="xkcd", state="ok", path=path, **about)


def write_log(project: Project, *entries: FetchEntry) -> None:
    project.log.parent.mkdir(parents=True, exist_ok=True)
    project.log.write_bytes(b"".join(canonical(entry) + b"\n" for entry in entries))


@pytest.mark.parametrize("path", ["../victim.txt", "data/../../victim.txt", "ABSOLUTE", "..\\victim.txt", ""])
def test_a_path_of_the_log_that_leaves_the_project_is_named_and_nothing_is_deleted(
    project: Project, tmp_path: Path, path: str
) -> None:
    project.place(tmp_path / "project")
    victim = tmp_path / "victim.txt"
    victim.write_bytes(picture(7))
    path = str(victim) if path == "ABSOLUTE" else path
    write_log(project, entry("xkcd_1", path, picture(7)), entry("xkcd_2", path, picture(7)))
    with pytest.raises(PunchlineError, match=r"fetch\.jsonl, line 1, .*field path: .*leaves"):
        project.fetch([project.xkcd(3)])
    assert victim.exists()


@pytest.mark.parametrize(
    "path", ["config/run.yaml", "data/raw/pixelhumor/images/b.png", "data/raw/pixelhumor/xkcd_1.png"]
)
def test_only_the_comics_own_files_are_set_aside(project: Project, path: str) -> None:
    """Two entries of one sha256 look like a placeholder, whose file goes: never another file."""
    file = project.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(picture(7))
    write_log(project, entry("xkcd_1", path, picture(7)), entry("xkcd_2", path, picture(7)))
    project.fetch([project.xkcd(3)])
    assert file.exists()


def test_the_images_folder_may_be_a_link_to_elsewhere(project: Project, tmp_path: Path) -> None:
    project.place(tmp_path / "project")
    (tmp_path / "elsewhere").mkdir()
    (project.root / "data").symlink_to(tmp_path / "elsewhere")
    project.out = project.root / "data" / "images"
    comic = project.xkcd(1)
    assert project.one(comic).path == "data/images/xkcd_1.png"
    assert project.one(comic).state == "ok" and project.server.asked(IMAGE_HOST, "/comics/1.png") == 1


@pytest.mark.parametrize("kind", ["pipe", "device", "endless"])
def test_a_mirrors_device_or_pipe_is_passed_over(project: Project, kind: str) -> None:
    file = project.fill_mirror(None)
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero" if kind == "device" else "/dev/stdin")
    project.pin(1, picture(1))
    done = outcome(lambda: project.one(project.xkcd(1)))
    assert done.state == "ok" and "not a regular file" in str(done.note)


def dripping(start: bytes, drip: bytes, every: float) -> AbstractContextManager[Scripted]:
    """Start a server that sends `start`, then `drip` for a minute."""

    def answer(call: Call) -> None:
        call.wfile.write(start)
        for _ in range(int(60 / every)):
            time.sleep(every)
            call.wfile.write(drip)

    return scripted(answer)


SLOW = {
    "headers": (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    "many headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "informational": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
}


@pytest.mark.parametrize("kind", SLOW)
def test_a_whole_reply_has_a_deadline(kind: str) -> None:
    manners = Manners(pause=0.0, read_timeout=5.0, total_timeout=0.5, backoff=0.01, attempts=2)
    with dripping(*SLOW[kind], 0.05) as slow:
        began = time.monotonic()
        ended = outcome(lambda: got(f"{slow.url}/a.png", manners, mirror=True), 6)
        assert isinstance(ended, Missing) and ended.reason == "timed out"
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("kind", ["silent", *SLOW])
def test_ctrl_c_ends_a_fetch_at_once_and_keeps_what_was_fetched(project: Project, kind: str) -> None:
    project.pin(1, picture(1))
    project.pin(2, picture(2), image_url="https://two.example/2.png")
    project.xkcd(1)
    start, drip = SLOW.get(kind, (b"", b""))
    with dripping(start, drip, 0.2) as slow:
        child = project.child(["xkcd_1", "xkcd_2"], {"two.example": slow.url})
        assert child.stdout is not None and child.stdout.readline() == "xkcd_1\n"
        time.sleep(0.5)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        try:
            _, said = child.communicate(timeout=15)
        finally:
            child.kill()
        assert time.monotonic() - began < 4
        assert child.returncode == 130 and "Traceback" not in said
    assert [(e.item_id, e.state) for e in read_log(project.log).values()] == [("xkcd_1", "ok")]
    assert (project.out / "xkcd_1.png").read_bytes() == picture(1)
