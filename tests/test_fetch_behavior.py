"""What servers do to a fetch, and the reason that is recorded."""

import gzip
import json
import resource
import struct
import zlib

import pytest
from tests.fetch_server import Reply, page
from tests.test_fetch import IMAGE_HOST, QUICK, Project, moved, noise, picture, project, rules, server

from punchline.fetch.web import Manners
from punchline.schema import sha256

__all__ = ["project", "server"]


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
