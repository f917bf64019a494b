"""Server behavior with the recorded reason; limits per host; refused addresses; passwords that are written nowhere."""

import asyncio
import gzip
import itertools
import json
import os
import resource
import socket
import struct
import time
import zlib
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from tests.fetch_server import IMAGE_HOST, QUICK, Project, Reply, Rerouted, Server, noise, picture, project, server
from tests.records import outcome
from tests.servers.scripted import Call, scripted

from punchline.errors import PunchlineError
from punchline.fetch.log import Missing
from punchline.fetch.net import is_public
from punchline.fetch.web import Fetched, Manners, Request, Web, online, user_agent
from punchline.schema import sha256

__all__ = ["project", "server"]

SECRET = "pl4nted-p4ssw0rd"
NOWHERE = "http://127.0.0.1:9"  # nothing listens there


def page(html: str, **more: object) -> Reply:
    return Reply(html.encode(), "text/html; charset=utf-8", **more)  # type: ignore[arg-type]


def moved(to: str, status: int = 302) -> Reply:
    return Reply(status=status, headers={"Location": to})


def rules(text: str) -> Reply:
    return Reply(text.encode(), "text/plain")


def got(url: str, manners: Manners = QUICK, **more: Any) -> Fetched:
    return online(lambda web: web.get(Request(url, 10**6, **more)), manners)


def bomb(width: int = 30_000, height: int = 30_000) -> bytes:
    """A PNG whose header promises width x height pixels, with next to no bytes behind it."""
    content = picture()
    header = b"IHDR" + struct.pack(">II", width, height) + content[24:29]
    return content[:12] + header + struct.pack(">I", zlib.crc32(header)) + content[33:]


@cache
def pack(deflate: bool, content: bytes) -> bytes:
    return zlib.compress(content, 9) if deflate else gzip.compress(content, 9)


def packed(encoding: str, rounds: int = 1, content: bytes = bytes(60_000_000)) -> Reply:
    """Content that is packed several times and sent under the name of an encoding."""
    for _ in range(rounds):
        content = pack(encoding == "deflate", content)
    return Reply(content, headers={"Content-Encoding": encoding})


INFO, IMAGE, ROBOTS = ("xkcd.com", "/1/info.0.json"), (IMAGE_HOST, "/comics/1.png"), (IMAGE_HOST, "/robots.txt")
# Pages that are listed in place of xkcd's.
LISTED = (NO_SITE, EXPLOSM, OWN) = ("garfield.example", "/1"), ("explosm.net", "/comics/1"), ("pbs.twimg.com", "/a?b=c")
LOOPBACK = ("127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::ffff:127.0.0.1]")
OLD = json.dumps({"img": f"http://{IMAGE_HOST}/comics/old.png"}).encode()
ROBOTS_REFUSED = "refused by robots.txt"
ALL = "User-agent: *\n"
# What a server does: (place, its replies there, reason that is recorded; None: the image is fetched).
BEHAVIOR: dict[str, tuple[tuple[str, str], Reply | list[Reply], str | None]] = {
    "gone": (IMAGE, Reply(status=404), "not found (404)"),
    "forbidden": (IMAGE, Reply(status=403), "http 403"),
    "hangs up twice": (IMAGE, [Reply(hang_up=True)] * 2 + [Reply(picture(1))], None),
    "cuts the body twice": (IMAGE, [Reply(noise(), cut=9)] * 2 + [Reply(picture(1))], None),
    "fails twice": (IMAGE, [Reply(status=500)] * 2 + [Reply(picture(1))], None),
    "busy for a moment": (IMAGE, [Reply(status=429, headers={"Retry-After": "0.1"}), Reply(picture(1))], None),
    "page": (IMAGE, page("<html></html>"), "wrong content type"),
    "page served as image": (IMAGE, Reply(b"\n <!DOCTYPE html><html>sorry</html>"), "not an image"),
    "nothing": (IMAGE, Reply(b""), "not an image"),
    "TIFF": (IMAGE, Reply(picture(kind="TIFF"), "image/tiff"), "not an image"),
    "bomb": (IMAGE, Reply(bomb()), "decompression bomb"),
    "bomb below Pillow's own limits": (IMAGE, Reply(bomb(8000, 8000)), "decompression bomb"),
    "body cut": (IMAGE, Reply(noise(), cut=500), "truncated"),
    "image cut, body whole": (IMAGE, Reply(noise()[:-1500]), "truncated"),
    "too large": (IMAGE, Reply(bytes(25_000_001)), "too large"),
    **{f"unpacks to too much, {name}": (IMAGE, packed(name), "too large") for name in ("gzip", "x-gzip", "deflate")},
    **{
        f"unpacks to too much, {name}": (IMAGE, packed(name, max(1, name.count("gzip"))), "encoding refused")
        for name in ("br", "zstd", "gzip, gzip", "gzip,gzip,gzip")
    },
    **{f"packed once, {name}": (IMAGE, packed(name, 1, picture(1)), None) for name in ("gzip", "GZip", "deflate")},
    "identity": (IMAGE, packed("identity", 0, picture(1)), None),
    "deflate without zlib's header": (IMAGE, packed("deflate", 0, zlib.compress(picture(1))[2:-4]), "truncated"),
    "not packed as it says": (IMAGE, packed("gzip", 0, b"no gzip at all"), "truncated"),
    "packed body cut": (IMAGE, packed("gzip", 0, gzip.compress(picture(1), mtime=0)[:-20]), "truncated"),
    "redirect to an allowed place": (IMAGE, moved("https://elsewhere.example/a.png", 301), None),
    "redirect from http to https": (INFO, Reply(OLD, "application/json"), None),
    "redirect to a file": (IMAGE, moved("file:///etc/passwd"), "redirect refused"),
    "redirect to plain http": (IMAGE, moved("http://elsewhere.example/a.png"), "redirect refused"),
    "redirect to itself": (IMAGE, moved("/comics/1.png"), "redirect refused"),
    **{f"redirect to {host}": (IMAGE, moved(f"https://{host}/a.png"), "unsafe address") for host in LOOPBACK},
    "redirect to loopback, pinned": (IMAGE, moved("https://127.0.0.1/a.png"), "unsafe address"),
    "the image's own address": (OWN, Reply(picture(1)), None),
    "no resolver": (NO_SITE, page(""), "no resolver for this site"),
    "page without image": (EXPLOSM, page("<meta property='og:image'>"), "resolver found no image"),
    "maintenance": (INFO, page("<html>down for maintenance</html>"), "wrong content type"),
    # robots.txt: RFC 9309, 2.3.1.3 (unavailable: all may be fetched) and 2.3.1.4 (unreachable: nothing may)
    "no robots.txt": (ROBOTS, Reply(status=404), None),
    "robots.txt forbidden": (ROBOTS, Reply(status=403), None),
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
    pages = {comic: f"https://{place[0]}{place[1]}"} if place in LISTED else {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    entry = project.one(comic, pages=pages)
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


NOT_PUBLIC = (
    *LOOPBACK,
    "0",
    "127.1",
    "[::1]",
    "10.0.0.1",
    "192.168.0.1",
    "172.16.0.1",
    "169.254.169.254",
    "0x7f000001",
)


@pytest.mark.parametrize("host", NOT_PUBLIC)
@pytest.mark.parametrize("place", ["listed", "pinned"])
def test_a_list_leads_to_no_private_address(project: Project, host: str, place: str) -> None:
    address = f"http://{host}:{project.server.url.rpartition(':')[2]}/1.png"
    project.server.routes[host, "/1.png"] = Reply(picture(1))
    if place == "pinned":
        project.pin(1, picture(1), image_url=address)
    entry = project.one("xkcd_1", pages={"xkcd_1": address} if place == "listed" else None, hosts={})
    assert entry.reason == "unsafe address" and f"PUNCHLINE_PRIVATE_HOSTS={host.strip('[]')}" in str(entry.note)
    assert project.server.asked(host, "/1.png") == 0


PROXIED = {"10.0.0.1.": True, "0x7f000001.": True, "printer": True, "a.local": True, "db.corp.internal.": True}
PROXIED |= {"router.home.arpa": True, "in.example": True, "comics.invalid": False, "xn--bcher-kva.invalid": False}


@pytest.mark.parametrize("host", [*NOT_PUBLIC, *PROXIED])
def test_a_proxy_is_asked_for_no_private_address(project: Project, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """By its number or its name; `in.example` resolves to a private address here."""
    real = socket.getaddrinfo
    resolved = {"in.example": "10.1.2.3"}
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda name, *rest, **more: real(resolved.get(name, name), *rest, **more)
    )
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, project.server.url)
    monkeypatch.setenv("no_proxy", "")
    is_refused = PROXIED.get(host, True)
    entry = project.one("xkcd_1", pages={"xkcd_1": f"http://{host}/1.png"}, hosts={})
    assert (entry.reason == "unsafe address") == is_refused, entry.note
    assert bool(project.server.requests) != is_refused


def test_a_private_host_is_asked_where_the_user_names_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCHLINE_PRIVATE_HOSTS", "a.example, 127.0.0.1")
    address = f"{project.server.url}/1.png"
    project.server.routes[project.server.url.removeprefix("http://"), "/1.png"] = Reply(picture(1))
    assert project.one("xkcd_1", pages={"xkcd_1": address}, hosts={}).state == "ok"


OUTSIDE = ("/etc/hostname.png", "../1.png", "a/../../1.png", "~/1.png", "c:/1.png", "..\\1.png", "file:/1.png")
OF_LINKS = ("1.png", "data/1.png", "data/manifests/out/1.png", "file:///1.png")
MALFORMED = ("http://a:99999/1.png", "http://a:-1/1.png", "http://xn--/1.png")


@pytest.mark.parametrize("path", [*OUTSIDE, *OF_LINKS, *MALFORMED])
def test_a_list_names_no_file_outside_the_project(project: Project, path: str) -> None:
    secret = project.root.parent / "1.png"
    secret.write_bytes(picture(1))
    for link in ("1.png", "data/1.png"):
        (project.root / link).symlink_to(secret)
    (project.manifests.parent / "out").symlink_to(secret.parent)
    assert project.one("xkcd_1", pages={"xkcd_1": path}).reason == "unsafe address"
    if path in OF_LINKS:  # the pattern of a manifest's cell refuses the others
        project.pin(2, picture(1), image_url=path)
        assert project.one("xkcd_2").reason == "unsafe address"


def test_a_pinned_file_is_read_if_it_is_one(project: Project) -> None:
    (project.manifests / "1.png").write_bytes(picture(1))
    os.mkfifo(project.manifests / "2.png")
    (project.manifests / "3.png").symlink_to("1.png")
    for number in (1, 2, 3):
        project.pin(number, picture(1), image_url=f"data/manifests/pixelhumor/{number}.png")
    entries = project.fetch(["xkcd_1", "xkcd_2", "xkcd_3"])
    assert [entry.reason for entry in entries] == [None, "no such file", None]


def test_a_malformed_address_stops_no_other(project: Project) -> None:
    project.xkcd(2)
    one, other = project.fetch(["xkcd_1", "xkcd_2"], pages={"xkcd_1": "http://[/1.png"})
    assert one.reason == "no resolver for this site" and other.state == "ok"


IMPATIENT = Manners(pause=0, read_timeout=0.5, backoff=0.01, attempts=2)
# Hosts that are given up: (replies or address, settings, reason, requests for each comic, part of the last note).
GIVEN_UP: dict[str, tuple[Reply | str, Manners, str, list[int], str]] = {
    "busy": (Reply(status=503), QUICK, "http 503", [4, 4, 4, 0, 0], "given up"),
    "asks to wait": (Reply(status=429, headers={"Retry-After": "3600"}), QUICK, "http 429", [1, 0, 0, 0, 0], "3600 s"),
    "silent": (Reply(delay=2.0), IMPATIENT, "timed out", [2, 2, 2, 0, 0], "given up"),
    "hangs up": (Reply(hang_up=True), QUICK, "host unreachable", [4, 4, 4, 0, 0], "given up"),
    "closed port": (NOWHERE, QUICK, "host unreachable", [0] * 5, "given up"),
    "no such name": ("http://no-such-host.invalid", QUICK, "host unreachable", [0] * 5, "given up"),
}


@pytest.mark.parametrize("case", GIVEN_UP)
def test_a_host_is_given_up_and_another_is_not(project: Project, case: str) -> None:
    reply, manners, reason, requests, note = GIVEN_UP[case]
    ids = [project.xkcd(number, reply) for number in range(5)]
    if isinstance(reply, str):
        project.hosts[IMAGE_HOST] = reply
    visible = '<div id="comic"><img src="https://static.explosm.net/2020/1.png"></div>'
    project.server.routes["explosm.net", "/comics/1"] = page(visible)
    project.server.routes["static.explosm.net", "/2020/1.png"] = Reply(picture(7))
    *entries, other = project.fetch([*ids, "e_1"], pages={"e_1": "https://explosm.net/comics/1"}, manners=manners)
    assert {entry.reason for entry in entries} == {reason} and other.state == "ok"
    assert [project.server.asked(IMAGE_HOST, f"/comics/{number}.png") for number in range(5)] == requests
    assert note in str(entries[-1].note)


@pytest.mark.parametrize(("text", "pause", "least"), [("", 0.2, 0.2), ("User-agent: *\nCrawl-delay: 0.3", 0.1, 0.3)])
def test_one_request_at_a_time_and_a_pause_for_each_host(server: Server, text: str, pause: float, least: float) -> None:
    """The longer Crawl-delay of robots.txt wins; the file is read once."""
    paths = [f"/{n}" for n in range(4)]
    server.routes |= {("a.example", path): Reply(b"x", delay=0.05) for path in paths}
    server.routes["a.example", "/robots.txt"] = rules(text)

    async def work(web: Web) -> None:
        await asyncio.gather(*(web.get(Request(f"https://a.example{path}", limit=9)) for path in paths))

    online(work, Manners(pause=pause), partial(Rerouted, hosts={"a.example": server.url}))
    assert sorted(server.requests) == sorted(("a.example", path) for path in [*paths, "/robots.txt"])
    assert all(later - earlier >= least for earlier, later in itertools.pairwise(server.times["a.example"][1:]))


def test_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PUNCHLINE_CONTACT", raising=False)
    assert "contact" not in user_agent()
    monkeypatch.setenv("PUNCHLINE_CONTACT", "me@example.org")
    assert "contact: me@example.org" in user_agent()
    monkeypatch.setenv("PUNCHLINE_CONTACT", "a\r\nX-Evil: 1")
    with pytest.raises(PunchlineError, match="PUNCHLINE_CONTACT"):
        user_agent()


PUBLIC = ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]
PRIVATE = (
    "127.0.0.1 10.0.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 ::1 fe80::1%eth0 fd00::1 fec0::1 ff02::1 "
    "168.63.129.16 ::ffff:0:7f00:1 "
    "::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1 2002:7f00:1:: 2002:a00:1::1 "
    "2001:0:5db8:d822::f5ff:fffe no-address"  # the first: Teredo, with the client 10.0.0.1
)


def test_public_addresses() -> None:
    assert [a for a in [*PUBLIC, *PRIVATE.split()] if is_public(a)] == PUBLIC


def test_a_name_that_resolves_to_another_machine_later_leads_nowhere(project: Project, monkeypatch: Any) -> None:
    """The first look at the name finds a public address, every later one this machine."""
    looks, real = iter(["192.0.43.8"]), socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *rest, **more: real(next(looks, "127.0.0.1"), *rest, **more))
    manners = Manners(pause=0.0, connect_timeout=0.3, backoff=0.01, attempts=2)
    with pytest.raises(Missing, match="unsafe address"):
        got(f"http://rebind.example:{project.server.url.rpartition(':')[2]}/a.png", manners, public=True, robots=False)
    assert project.server.requests == []


def texts(folder: Path) -> str:
    return "\n".join(f.read_text(errors="replace") for f in folder.rglob("*") if f.is_file())


@pytest.mark.parametrize("where", ["environment", "netrc"])
def test_a_mirrors_password_goes_to_no_other_host(project: Project, monkeypatch: Any, where: str) -> None:
    if where == "environment":
        monkeypatch.setenv("PUNCHLINE_MIRROR_AUTH", f"user:{SECRET}")
    else:
        netrc = project.root.parent / "netrc"
        netrc.write_text(f"machine 127.0.0.1 login user password {SECRET}\n")
        monkeypatch.setenv("NETRC", str(netrc))
    project.pin(1, picture(1))
    project.pin(2, picture(2))
    project.serve_mirror(picture(1))
    host = project.serve_mirror(moved("http://elsewhere.example/2.png"), 2)
    project.server.routes["elsewhere.example", "/2.png"] = Reply(picture(2))
    assert [e.url for e in project.fetch(["xkcd_1", "xkcd_2"])] == [f"mirror:xkcd/images/{n}.png" for n in (1, 2)]
    seen = {(headers["Host"], "Authorization" in headers) for _, _, headers in project.server.calls}
    assert seen == {(host, True), ("elsewhere.example", False)}
    assert SECRET not in texts(project.root)


KEYED = f"https://user:{SECRET}@{IMAGE_HOST}/comics/1.png"
SIGNED = f"http://elsewhere.example/1.png?X-Amz-Signature={SECRET}"


@pytest.mark.parametrize("kind", ["redirect", "page", "manifest", "signed by a mirror", "listed", "proxy"])
def test_an_address_with_a_password_is_written_nowhere(project: Project, monkeypatch: Any, kind: str) -> None:
    comic = project.xkcd(1, moved(KEYED) if kind == "redirect" else None, KEYED if kind == "page" else None)
    if kind in ("manifest", "signed by a mirror"):
        project.pin(1, picture(1), **({"image_url": KEYED} if kind == "manifest" else {}))
    if kind == "signed by a mirror":
        project.serve_mirror(moved(SIGNED))
    for name in ("http_proxy", "https_proxy") if kind == "proxy" else ():
        monkeypatch.setenv(name, f"http://user:{SECRET}@127.0.0.1:9")
    listed = {comic: f"https://user:{SECRET}@xkcd.com/1/" if kind == "listed" else "https://xkcd.com/1/"}
    entry = project.one(comic, pages=listed, hosts={} if kind == "proxy" else None)
    assert (entry.state == "ok") == (kind == "signed by a mirror")
    assert project.mirror is None or ("mirror: " in str(entry.note) and project.server.url not in str(entry.note))
    project.manifest.unlink()
    assert SECRET not in texts(project.root)


@pytest.mark.parametrize("header", [b"X-Long: ", b"Content-Length: 100000\r\n\r\n"])
def test_a_whole_reply_has_a_deadline(header: bytes) -> None:
    def answer(call: Call) -> None:
        call.wfile.write(b"HTTP/1.1 200 OK\r\n" + header)
        for _ in range(1200):  # a minute
            time.sleep(0.05)
            call.wfile.write(b"x")

    manners = Manners(pause=0.0, read_timeout=5.0, total_timeout=0.5, backoff=0.01, attempts=2)
    with scripted(answer) as slow:
        ended = outcome(lambda: got(f"{slow.url}/a.png", manners, mirror=True, public=False))
    assert isinstance(ended, Missing) and ended.reason == "timed out"
