"""Addresses that a fetch refuses, and passwords that it writes nowhere."""

import socket
from pathlib import Path
from typing import Any

import pytest
from tests.fetch_server import (
    IMAGE_HOST,
    Project,
    Reply,
    annotated,
    annotations,
    got,
    moved,
    picture,
    project,
    server,
)
from tests.test_fetch_hosts import SECRET

from punchline.errors import PunchlineError
from punchline.fetch.log import Missing
from punchline.fetch.net import is_public
from punchline.fetch.web import Manners

__all__ = ["project", "server"]


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


KEYED = f"https://user:{SECRET}@{IMAGE_HOST}/comics/1.png"
SIGNED = f"http://elsewhere.example/1.png?X-Amz-Signature={SECRET}"
LISTED = {"xkcd_1": f"https://user:{SECRET}@xkcd.com/1/"}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("redirect", {}),
        ("page", {}),
        ("manifest", {}),
        ("signed by a mirror", {}),
        ("proxy", {"pages": {"xkcd_1": "http://xkcd.com/1/"}, "hosts": {}}),
        ("403", {"pages": LISTED}),
        ("503", {"pages": LISTED}),
    ],
)
def test_an_address_with_a_password_is_written_nowhere(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, more: dict[str, Any]
) -> None:
    comic = project.xkcd(1, moved(KEYED) if kind == "redirect" else None, KEYED if kind == "page" else None)
    if kind in ("manifest", "signed by a mirror"):
        project.pin(1, picture(1), **({"image_url": KEYED} if kind == "manifest" else {}))
    if kind == "signed by a mirror":
        project.serve_mirror(moved(SIGNED))
    for name in ("http_proxy", "https_proxy") if kind == "proxy" else ():
        monkeypatch.setenv(name, f"http://user:{SECRET}@127.0.0.1:9")
    if kind.isdigit():
        project.server.routes["xkcd.com", "/1/info.0.json"] = Reply(status=int(kind))
    entry = project.one(comic, **more)
    assert (entry.state == "ok") == (kind == "signed by a mirror")
    assert kind != "proxy" or entry.reason == "host unreachable"
    assert project.mirror is None or ("mirror: " in str(entry.note) and project.server.url not in str(entry.note))
    (tmp_path / "images_pinned.csv").unlink()
    assert SECRET not in texts(tmp_path)
