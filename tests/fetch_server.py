"""A real HTTP server on 127.0.0.1 that plays any number of hosts by Host header and path; a project to fetch into."""

import io
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock
from urllib.parse import urlsplit

import httpcore
import pytest
from PIL import Image
from tests.servers.scripted import Call, Scripted, running

from punchline.fetch.annotations import fetch_annotations
from punchline.fetch.images import fetch_images
from punchline.fetch.manifests import ANNOTATION_COLUMNS, LOCK_COLUMNS, PIN_COLUMNS, Selected
from punchline.fetch.net import Backend
from punchline.fetch.resolvers import IMAGE_HOSTS, SITES
from punchline.fetch.web import Manners, online
from punchline.files import csv_text
from punchline.schema import FetchEntry, sha256

QUICK = Manners(pause=0.0, connect_timeout=2.0, read_timeout=5.0, total_timeout=20.0, backoff=0.01, longest_wait=5.0)
IMAGE_HOST = "imgs.xkcd.com"


@dataclass
class Reply:
    body: bytes = b""
    media_type: str = "image/png"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0  # bytes of the body that are announced and not sent
    delay: float = 0.0  # seconds before the answer
    hang_up: bool = False  # close the connection without an answer


class Server(Scripted):
    """`routes[host, path]`: a Reply, a list of them (the last one stays), or a function of the request's number."""

    def __init__(self) -> None:
        super().__init__(self.answer_one)
        self.routes: dict[tuple[str, str], Reply | list[Reply] | Callable[[int], Reply]] = {}
        self.times: dict[str, list[float]] = defaultdict(list)  # host -> monotonic times

    @property
    def requests(self) -> list[tuple[str, str]]:
        """(host, path) in order of arrival."""
        return [(headers["Host"], path) for _, path, headers in self.calls]

    def asked(self, host: str, path: str) -> int:
        return self.requests.count((host, path))

    def answer_one(self, request: Call) -> None:
        host, path = request.headers["Host"], request.path
        self.times[host].append(time.monotonic())
        number = self.asked(host, path) - 1
        route = self.routes.get((host, path), Reply(b"no such thing", "text/plain", 404))
        result = route(number) if callable(route) else route
        reply = result[min(number, len(result) - 1)] if isinstance(result, list) else result
        time.sleep(reply.delay)
        request.close_connection = True
        if reply.hang_up:
            return
        request.send_response(reply.status)
        about = {"Content-Type": reply.media_type, "Content-Length": str(len(reply.body))}
        about["Connection"] = "close"  # else requests are sent into the closing
        for name, value in (about | reply.headers).items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(reply.body[: len(reply.body) - reply.cut])


class Rerouted(Backend):
    """Connections to some hosts go to other addresses, without TLS. `hosts`: {host: URL}."""

    def __init__(self, public: bool, hosts: dict[str, str]) -> None:
        super().__init__(public)
        self.hosts = hosts

    async def connect_tcp(self, host: str, port: int, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        if host not in self.hosts:
            return await super().connect_tcp(host, port, *args, **more)
        place = urlsplit(self.hosts[host])
        stream = await Backend(False).connect_tcp(place.hostname or "", place.port or 80, *args, **more)
        stream.start_tls = AsyncMock(return_value=stream)  # type: ignore[method-assign]
        return stream


def content_of(image: Image.Image, kind: str) -> bytes:
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def picture(seed: int = 0, size: tuple[int, int] = (8, 6), kind: str = "PNG") -> bytes:
    return content_of(Image.new("RGB", size, (seed % 256, seed // 256 % 256, 90)), kind)


def noise(kind: str = "PNG") -> bytes:
    """An image that does not compress: cutting it cuts pixels."""
    return content_of(Image.effect_noise((64, 64), 90), kind)


def annotated(manifest: Path, out: Path, mirror: str | None = None, hosts: dict[str, str] | None = None) -> list[Path]:
    work = partial(fetch_annotations, manifest=manifest, out=out, mirror=mirror)
    return online(work, QUICK, partial(Rerouted, hosts=hosts or {}))


def annotations(root: Path, content: bytes, **changed: object) -> Path:
    """A manifest of one file."""
    url = "https://elsewhere.example/full_label.csv"
    row = ("full_label.csv", url, sha256(content), len(content), "none", "pixelhumor/full_label.csv")
    path = root / "annotations.csv"
    path.write_text(csv_text(ANNOTATION_COLUMNS, [dict(zip(ANNOTATION_COLUMNS, row, strict=True)) | changed]))
    return path


class Project:
    """A project root in a temporary folder, with all paths that fetch_images takes."""

    def __init__(self, root: Path, server: Any) -> None:
        self.server = server
        self.mirror: str | None = None
        hosts = [*SITES, *IMAGE_HOSTS, IMAGE_HOST, "static.explosm.net", "64.media.tumblr.com", "elsewhere.example"]
        self.hosts = dict.fromkeys(hosts, server.url)
        self.root, self.raw = root, root / "data" / "raw" / "pixelhumor"
        self.out, self.log = self.raw / "images", self.raw / "fetch.jsonl"
        self.manifests = root / "data" / "manifests" / "pixelhumor"
        self.manifest, self.lock = self.manifests / "images_pinned.csv", self.manifests / "images.lock.csv"
        self.manifests.mkdir(parents=True)
        self.manifest.write_text(csv_text(PIN_COLUMNS, []))

    def xkcd(self, number: int, reply: Any = None, image: str | None = None) -> str:
        """Serve xkcd comic `number` with this reply to its image; its id."""
        path = f"/comics/{number}.png"
        info = {"img": image or f"https://{IMAGE_HOST}{path}"}
        self.server.routes["xkcd.com", f"/{number}/info.0.json"] = Reply(json.dumps(info).encode(), "application/json")
        self.server.routes[IMAGE_HOST, path] = reply if reply is not None else Reply(picture(number))
        return f"xkcd_{number}"

    def pin(self, number: int, content: bytes, **changed: object) -> None:
        """Add a line to the pinned manifest."""
        places = (f"xkcd_{number}", f"https://xkcd.com/{number}/", f"https://{IMAGE_HOST}/comics/{number}.png")
        about = (sha256(content), len(content), 8, 6, "CC BY-NC 2.5", f"xkcd/images/{number}.png", "someone")
        line = dict(zip(PIN_COLUMNS, (*places, *about), strict=True)) | changed
        with self.manifest.open("a") as file:
            file.write(csv_text(PIN_COLUMNS, [line]).split("\n", 1)[1])

    def lock_to(self, number: int, content: bytes) -> None:
        """Write the lock: one line, for xkcd comic `number`."""
        line = {"comic_id": f"xkcd_{number}", "url": "https://x", "sha256": sha256(content), "bytes": 1, "width": 8}
        line |= {"height": 6, "mirror": f"pixelhumor/images/xkcd_{number}.png"}
        self.lock.write_text(csv_text(LOCK_COLUMNS, [line]))

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
        self.mirror = str(self.root / "mirror")
        file = Path(self.mirror, name)
        file.parent.mkdir(parents=True)
        if content is not None:
            file.write_bytes(content)
        return file

    def fetch(
        self, ids: list[str], pages: Any = None, hosts: Any = None, manners: Manners = QUICK, retry: bool = False
    ) -> list[FetchEntry]:
        """Fetch comics from `pages` {id: URL}, else from xkcd's; `hosts` in place of the project's."""
        urls = {name: f"https://xkcd.com/{name.rpartition('_')[2]}/" for name in ids} | (pages or {})
        selected = [Selected(item_id=name, source=name.rpartition("_")[0] or name, url=urls[name]) for name in ids]
        places = {"manifests": self.manifests, "raw": self.raw.relative_to(self.root), "mirror": self.mirror}
        work = partial(fetch_images, selected=selected, retry=retry, **places)
        with chdir(self.root):
            return online(work, manners, partial(Rerouted, hosts=self.hosts if hosts is None else hosts))

    def one(self, comic_id: str, **more: Any) -> FetchEntry:
        (entry,) = self.fetch([comic_id], **more)
        return entry


@pytest.fixture
def server() -> Iterator[Server]:
    with running(Server()) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: Server) -> Project:
    return Project(tmp_path / "project", server)
