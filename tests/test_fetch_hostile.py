"""Fetching from files and servers that mean harm: nothing outside the project is touched, nothing goes on for ever."""

import os
import signal
import socket
import time
from contextlib import AbstractContextManager, chdir
from pathlib import Path
from typing import Any

import pytest
from tests.fetch_server import Reply
from tests.records import outcome
from tests.servers.scripted import Call, Scripted, scripted
from tests.test_fetch import IMAGE_HOST, QUICK, Project, annotated, annotations, moved, picture, project, server

from punchline.errors import PunchlineError
from punchline.fetch.log import Missing, read_log
from punchline.fetch.manifests import LOCK_COLUMNS, Lock, read_manifest
from punchline.fetch.net import is_public
from punchline.fetch.web import Fetched, Manners, Request, online
from punchline.files import csv_text
from punchline.schema import FetchEntry, canonical, sha256

__all__ = ["project", "server"]

SECRET = "pl4nted-p4ssw0rd"


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


@pytest.mark.parametrize("place", ["../up.png", "/etc/x.png", "a/../../x.png"])
def test_a_path_of_a_lock_or_manifest_that_leaves_is_named(tmp_path: Path, place: str) -> None:
    line = {"comic_id": "a", "url": "u", "sha256": "0" * 64, "bytes": 1, "width": 1, "height": 1, "mirror": place}
    (tmp_path / "lock.csv").write_text(csv_text(LOCK_COLUMNS, [line]))
    with pytest.raises(PunchlineError, match=r"lock\.csv, line 2, field mirror: .*leaves its folder"):
        read_manifest(tmp_path / "lock.csv", Lock)


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


def test_an_annotation_that_is_a_pipe_is_an_error(project: Project, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    manifest = annotations(tmp_path, b"x", url="pipe.csv")
    with chdir(tmp_path):
        error = outcome(lambda: annotated(manifest, tmp_path / "out"))
    assert isinstance(error, PunchlineError) and "not a regular file" in str(error)


def got(url: str, manners: Manners = QUICK, **more: Any) -> Fetched:
    """What is fetched from a URL."""
    return online(lambda web: web.get(Request(url, 10**6, **more)), manners)


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


PUBLIC = "93.184.216.34 2606:2800:220:1:248:1893:25c8:1946 ::ffff:93.184.216.34 64:ff9b::5db8:d822 2002:5db8:d822::1"
PRIVATE = (
    "127.0.0.1 10.0.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 ::1 fe80::1%eth0 fd00::1 fec0::1 ff02::1 "
    "::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1 2002:7f00:1:: 2002:a00:1::1 "
    "2001:0:5db8:d822::f5ff:fffe no-address"  # the first: Teredo, with the client 10.0.0.1
)


@pytest.mark.parametrize("address", [*PUBLIC.split(), *PRIVATE.split()])
def test_public_addresses(address: str) -> None:
    assert is_public(address) is (address in PUBLIC.split())


def test_a_name_that_changes_its_address_after_the_check_leads_nowhere(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look at the name finds a public address, every later one this machine."""
    port = int(project.server.url.rpartition(":")[2])
    looks: list[str] = []
    real = socket.getaddrinfo

    def resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host != "rebind.example":
            return real(host, *args, **kwargs)
        looks.append(host)
        return real("192.0.43.8" if len(looks) == 1 else "127.0.0.1", *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    manners = Manners(pause=0.0, connect_timeout=0.3, backoff=0.01, attempts=2)
    with pytest.raises(Missing) as caught:
        got(f"http://rebind.example:{port}/a.png", manners, public=True)
    assert caught.value.reason in ("unsafe address", "host unreachable", "refused by robots.txt")
    assert project.server.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::ffff:127.0.0.1]"])
def test_other_spellings_of_this_machine_are_refused(project: Project, host: str) -> None:
    port = int(project.server.url.rpartition(":")[2])
    with pytest.raises(Missing) as caught:
        got(f"http://{host}:{port}/a.png", public=True)
    assert caught.value.reason == "unsafe address" and project.server.requests == []


def texts(folder: Path) -> str:
    return "\n".join(f.read_text(errors="replace") for f in folder.rglob("*") if f.is_file())


@pytest.mark.parametrize(
    "address", ["http://user:{}@HOST", "http://{}@HOST/m", "http://HOST/m?token={}", "http://u:a/{}@HOST"]
)
def test_a_mirror_with_a_password_is_refused_without_repeating_it(
    project: Project, tmp_path: Path, address: str
) -> None:
    project.pin(1, picture(1))
    mirror = address.format(SECRET).replace("HOST", project.server.url.removeprefix("http://"))
    with pytest.raises(PunchlineError, match=r"netrc.*PUNCHLINE_MIRROR_AUTH") as caught:
        project.one("xkcd_1", mirror=mirror)
    assert SECRET not in str(caught.value)
    with pytest.raises(PunchlineError, match=r"netrc") as caught:
        annotated(annotations(tmp_path, b"x"), tmp_path / "a", mirror)
    assert SECRET not in str(caught.value) + texts(tmp_path)


@pytest.mark.parametrize("where", ["environment", "netrc"])
def test_a_mirrors_password_comes_from_netrc_or_the_environment_and_goes_to_no_other_host(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    seen: list[tuple[str, str | None]] = []
    answer = project.server.answer

    def look(request: Any) -> None:
        seen.append((request.headers["Host"], request.headers.get("Authorization")))
        answer(request)

    monkeypatch.setattr(project.server, "answer", look)
    if where == "environment":
        monkeypatch.setenv("PUNCHLINE_MIRROR_AUTH", f"user:{SECRET}")
    else:
        (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login user password {SECRET}\n")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    project.pin(1, picture(1))
    project.pin(2, picture(2))
    project.serve_mirror(picture(1))
    host = project.serve_mirror(moved("http://elsewhere.example/2.png"), 2)
    project.server.routes["elsewhere.example", "/2.png"] = Reply(picture(2))
    assert [e.url for e in project.fetch(["xkcd_1", "xkcd_2"])] == [f"mirror:xkcd/images/{n}.png" for n in (1, 2)]
    given = {host for host, header in seen if header is not None}
    assert given == {host} and "elsewhere.example" in {host for host, _ in seen}
    monkeypatch.delenv("NETRC", raising=False)
    (tmp_path / "netrc").unlink(missing_ok=True)
    assert SECRET not in texts(tmp_path)


@pytest.mark.parametrize("kind", ["redirect", "refused", "busy", "page", "manifest", "proxy", "signed by a mirror"])
def test_an_address_with_a_password_is_written_nowhere(
    project: Project, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    comic = project.xkcd(1)
    secret = f"https://user:{SECRET}@{IMAGE_HOST}/comics/1.png"
    pages, more, reason, note = {}, {}, None, ""
    if kind == "redirect":
        comic = project.xkcd(1, moved(secret))
    elif kind == "page":
        comic = project.xkcd(1, image=secret)
    elif kind == "manifest":
        project.pin(1, picture(1), image_url=secret)
    elif kind == "proxy":
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://user:{SECRET}@127.0.0.1:9")
        pages, more, reason = {comic: "http://xkcd.com/1/"}, {"hosts": {}}, "host unreachable"
    elif kind == "signed by a mirror":
        project.pin(1, picture(1))
        project.serve_mirror(moved(f"http://elsewhere.example/1.png?X-Amz-Signature={SECRET}"))
        note = "mirror: "
    else:
        pages[comic] = f"https://user:{SECRET}@xkcd.com/1/"
        status = 403 if kind == "refused" else 503
        project.server.routes["xkcd.com", "/1/info.0.json"] = Reply(status=status)
    try:
        entry = project.one(comic, pages=pages, **more)
        assert reason in (None, entry.reason) and note in str(entry.note) and (not note or entry.state == "ok")
    except PunchlineError as error:
        assert SECRET not in str(error)
    (tmp_path / "images_pinned.csv").unlink(missing_ok=True)
    assert SECRET not in texts(tmp_path)
    assert kind != "signed by a mirror" or project.server.url not in project.log.read_text()
