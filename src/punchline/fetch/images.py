"""Comics, each fetched once and then locked: whole or not at all, and an entry in the ledger for each."""

from __future__ import annotations

import io
import os
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace
from PIL import Image

from punchline.errors import PunchlineError
from punchline.fetch.annotations import check_mirror, from_mirror
from punchline.fetch.ledger import journal_of, lock_line, read_ledger, to_be_locked, write_if_new, write_lock
from punchline.fetch.manifests import Lock, Pin, read_manifest
from punchline.fetch.resolvers import SITES, NoImage, direct
from punchline.fetch.web import Fetched, Manners, Missing, Stopped, Web
from punchline.files import exclusive_lock, read_regular, sha256_file, stays_inside, write_bytes
from punchline.schema import FetchEntry, canonical, sha256

IMAGE_BYTES = 25_000_000
IMAGE_PIXELS = 60_000_000
PAGE_BYTES = 5_000_000
IMAGE_TYPES = ("image/", "application/octet-stream", "binary/octet-stream")
FORMATS = {"PNG": "png", "JPEG": "jpg", "MPO": "jpg", "GIF": "gif", "WEBP": "webp"}  # Pillow's name -> extension

NO_IMAGE: dict[str, Any] = dict.fromkeys(("path", "sha256", "bytes", "width", "height", "media_type"))


class Comic(NamedTuple):
    comic_id: str
    source: str
    page: str  # URL
    pin: Pin | None
    lock: Lock | None

    @property
    def records(self) -> list[Pin | Lock]:
        """The records that pin the comic's bytes: lock, then manifest."""
        return [record for record in (self.lock, self.pin) if record]

    @property
    def digests(self) -> set[str]:
        return {record.sha256 for record in self.records}


class Decoded(NamedTuple):
    extension: str
    media_type: str
    width: int  # pixels
    height: int  # pixels


def fetch_images(
    comic_ids: Sequence[str],
    pages: Mapping[str, str],
    manifest: Path | None,
    out: Path,
    ledger: Path,
    lock: Path | None,
    mirror: str | None = None,
    *,
    sources: Mapping[str, str] | None = None,
    retry_missing: bool = False,
    progress: Callable[[int, int, FetchEntry], None] = lambda done, total, entry: None,
    manners: Manners | None = None,
    hosts: Mapping[str, str] | None = None,
    root: Path | None = None,
) -> list[FetchEntry]:
    """Bring the comics into `out` as <comic_id>.<ext>, whole or not at all, and say in the ledger what became of each.

    Args:
        comic_ids: the selection, in the order wanted.
        pages: comic_id -> page URL, for the comics that the manifest does not pin.
        manifest: images_pinned.csv, or None.
        lock: images.lock.csv; digests of a first fetch are added to it at the end. None: no lock is read or written.
        mirror: a folder or http(s) URL, tried before anything else; its bytes count with the right digest only.
        sources: comic_id -> source, for the availability table; by default what stands before the id's last "_".
        retry_missing: try again what the ledger records as missing.
        progress: called with (done, total, entry) after each comic that is worked on.
        hosts: host -> base URL that answers for it (tests, closed networks).
        root: the project root that paths in the ledger are relative to; the working directory by default.

    Returns the entries of `comic_ids`, in that order. The ledger holds these first, then what it knew of others.
    A missing comic is an entry, not an error. Raises PunchlineError for bad input.
    """
    asked = list(dict.fromkeys(comic_ids))
    pins: dict[str, Pin] = {pin.comic_id: pin for pin in (read_manifest(manifest, Pin) if manifest else [])}
    lines = read_manifest(lock, Lock) if lock and lock.exists() else []
    locked: dict[str, Lock] = {line.comic_id: line for line in lines}
    for comic_id in asked:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", comic_id):
            hint = "Ids are letters, digits, dots, _ and -, such as xkcd_502"
            raise PunchlineError(f"{comic_id!r} can't be a file's name", field="comic_id", hint=hint)
        if comic_id not in pins and comic_id not in pages:
            raise PunchlineError("no page URL is known", record=comic_id, field="comic_id")
    mirror = check_mirror(mirror)
    base = (root or Path()).resolve()
    out.mkdir(parents=True, exist_ok=True)

    def with_fetched() -> dict[str, Lock]:
        """The lock's lines and those of all comics that the ledger has and no manifest pins."""
        return {key: lock_line(entry, lock) for key, entry in known.items() if to_be_locked(entry, pins)} | locked

    with exclusive_lock(out, "another run is fetching into it"):
        for leftover in out.glob(".*.part"):  # of a run that was killed
            leftover.unlink()
        known = {entry.item_id: entry for entry in read_ledger(ledger)}
        expected = with_fetched()  # a run that was killed before it wrote the lock: its journal knows the digests
        queues: dict[str, list[Comic]] = defaultdict(list)  # by the host of the page: one thread each
        for comic_id in asked:
            page = pages[comic_id] if comic_id in pages else pins[comic_id].page_url
            source = (sources or {}).get(comic_id) or source_of(comic_id)
            comic = Comic(comic_id, source, page, pins.get(comic_id), expected.get(comic_id))
            if not _settled(known.get(comic_id), comic, base, retry_missing):
                queues[urlsplit(page).netloc].append(comic)
        if queues:
            with closing(Web(manners, hosts)) as web, journal_of(ledger) as journal:
                fetch = partial(_fetch_one, web, mirror=mirror, out=out, base=base)
                known |= _work_through(list(queues.values()), fetch, web.stop, journal, progress)
            pinned = {(key, record.sha256) for known_bytes in (pins, locked) for key, record in known_bytes.items()}
            _set_placeholders_aside(known, pages, pinned, out, base)
        if lock:
            write_lock(lock, with_fetched())
        final = [known[comic_id] for comic_id in asked]
        others = [known[key] for key in sorted(known.keys() - set(asked))]
        write_if_new(ledger, b"".join(canonical(entry) + b"\n" for entry in [*final, *others]))
    return final


def _set_placeholders_aside(
    known: dict[str, FetchEntry], pages: Mapping[str, str], pinned: set[tuple[str, str]], out: Path, base: Path
) -> None:
    """Record comics as missing whose pages differ and gave the same bytes, a placeholder ("no longer available").

    `pinned`: (comic id, sha256) of the manifest and the lock file, which are kept: someone has looked at them.
    """
    groups: dict[str | None, list[FetchEntry]] = defaultdict(list)
    for entry in known.values():
        groups[entry.sha256].append(entry)
    for digest, group in groups.items():
        if digest is None or len({pages.get(entry.item_id, entry.item_id) for entry in group}) == 1:
            continue
        for entry in group:
            if (entry.item_id, digest) in pinned or entry.path is None:
                continue
            if (base / entry.path).name in {f"{entry.item_id}.{extension}" for extension in FORMATS.values()}:
                (out / Path(entry.path).name).unlink(missing_ok=True)  # its own file, whatever the ledger says
            twin = next(other.item_id for other in group if other is not entry)
            reason, note = "same bytes as another comic", f"as {twin}, sha256 {entry.sha256}"
            known[entry.item_id] = replace(entry, state="missing", reason=reason, note=note, **NO_IMAGE)


def _settled(entry: FetchEntry | None, comic: Comic, base: Path, retry_missing: bool) -> bool:
    """Is there nothing to do: recorded as missing, or there with the bytes that ledger and lock say?"""
    if entry is None or entry.path is None or entry.sha256 is None:
        return entry is not None and not retry_missing
    file = base / entry.path
    expected = comic.digests or {entry.sha256}
    return entry.sha256 in expected and file.is_file() and sha256_file(file) == entry.sha256


def _work_through(
    queues: list[list[Comic]],
    fetch: Callable[[Comic], FetchEntry],
    stop: threading.Event,
    journal: io.FileIO,
    progress: Callable[[int, int, FetchEntry], None],
) -> dict[str, FetchEntry]:
    """Fetch every comic, one thread for each queue, and write each entry to the journal before the next comic."""
    entries: dict[str, FetchEntry] = {}
    total = sum(map(len, queues))
    writing = threading.Lock()

    def work(queue: list[Comic]) -> None:
        for comic in queue:
            try:
                entry = fetch(comic)
            except Stopped:
                return
            with writing:
                journal.write(canonical(entry) + b"\n")
                os.fsync(journal.fileno())
                entries[comic.comic_id] = entry
                progress(len(entries), total, entry)

    with ThreadPoolExecutor(len(queues)) as pool:
        try:
            futures = [pool.submit(work, queue) for queue in queues]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()  # at the end nothing waits for it; after an error or Ctrl-C all threads end soon
        for future in futures:
            future.result()
    return entries


def _fetch_one(web: Web, comic: Comic, mirror: str | None, out: Path, base: Path) -> FetchEntry:
    """Fetch one comic, write it to `out`, and return its entry."""
    notes: list[str] = []
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    build_entry = partial(FetchEntry, item_id=comic.comic_id, source=comic.source, fetched_at=now)
    url: str | None = None
    try:
        content, url = _bytes(web, comic, mirror, base, notes)
        decoded = decode_image(content)
        digest = sha256(content)
        _compare(digest, decoded, comic, notes)
    except Missing as missing:
        note = "; ".join([*notes, missing.note or ""]).strip("; ") or None
        return build_entry(state="missing", reason=missing.reason, url=url, note=note)
    target = out / f"{comic.comic_id}.{decoded.extension}"
    write_bytes(target, content)
    for extension in set(FORMATS.values()) - {decoded.extension}:
        (out / f"{comic.comic_id}.{extension}").unlink(missing_ok=True)  # one file for each comic
    picture = {name: getattr(decoded, name) for name in ("width", "height", "media_type")}
    picture |= {"path": _relative(target, base), "sha256": digest, "bytes": len(content)}
    return build_entry(state="ok", url=url, note="; ".join(notes) or None, **picture)


def _bytes(web: Web, comic: Comic, mirror: str | None, base: Path, notes: list[str]) -> Fetched:
    """An image's bytes and where they came from: mirror, pinned address, or the address that the page gives."""
    pin, page = comic.pin, comic.page
    if mirror:
        for place, digest in {record.mirror: record.sha256 for record in comic.records}.items():
            if (content := from_mirror(web, mirror, place, digest, IMAGE_BYTES, notes)) is not None:
                return Fetched(content, f"mirror:{place}")
    image_url, found = pin.image_url if pin else page, False
    site = None if pin else SITES.get(urlsplit(page).hostname or "") or direct(page)
    if pin and "://" not in pin.image_url:
        return Fetched(own_file(base, pin.image_url), pin.image_url)
    if not (pin or site):
        raise Missing("no resolver for this site", page)
    if site and site.resolve:
        document = web.get(site.request(page), limit=PAGE_BYTES, accept=site.accept)
        try:
            image_url, found = site.resolve(document.content, page), True
        except NoImage as error:
            raise Missing("resolver found no image", f"{document.url}: {error}") from error
    return web.get(image_url, limit=IMAGE_BYTES, accept=IMAGE_TYPES, found=found)


def own_file(base: Path, place: str) -> bytes:
    """Bytes of an image that is a file of the project. Raises Missing."""
    try:
        return read_regular(base / place, IMAGE_BYTES)
    except OSError as error:
        raise Missing("no such file", f"{place}: {error.strerror}") from error


def _compare(digest: str, decoded: Decoded, comic: Comic, notes: list[str]) -> None:
    """Refuse bytes that are not those of the manifest or the first fetch. Raises Missing.

    A site may have compressed a pinned image anew: with the manifest's width and height it is taken, and noted.
    """
    pin, lock = comic.pin, comic.lock
    if digest in comic.digests:
        if pin and digest != pin.sha256:
            notes.append(f"not the manifest's bytes ({pin.sha256}), but the lock's, with the same width and height")
    elif lock:
        raise Missing("digest differs from lock", f"expected {lock.sha256}, got {digest}")
    elif pin:
        if (decoded.width, decoded.height) != (pin.width, pin.height):
            expected = f"{pin.sha256} ({pin.width} x {pin.height})"
            got = f"{digest} ({decoded.width} x {decoded.height})"
            raise Missing("digest differs from manifest", f"expected {expected}, got {got}")
        notes.append(f"not the manifest's bytes ({pin.sha256}), but the same width and height")


def decode_image(content: bytes) -> Decoded:
    """What the bytes are, by the bytes: PNG, JPEG, GIF or WebP, decoded as far as the first frame. Raises Missing."""
    if re.match(rb"(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|\?xml|!--)", content[:512], re.IGNORECASE):
        raise Missing("not an image", "it is a page (HTML or XML)")
    if content[:4] == b"RIFF" and int.from_bytes(content[4:8], "little") + 8 > len(content):
        raise Missing("truncated", f"{len(content)} bytes of a longer WebP")  # its decoder does not say so
    try:
        with Image.open(io.BytesIO(content), formats=["PNG", "JPEG", "GIF", "WEBP"]) as image:  # reads the header only
            width, height = image.size
            if width * height > IMAGE_PIXELS:
                raise Image.DecompressionBombError(f"{width} x {height} pixels, at most {IMAGE_PIXELS} allowed")
            kind = image.format or ""
            image.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Missing("decompression bomb", str(error)) from error
    except Exception as error:  # decoders raise what they like on bytes that are no image
        cut = re.search("truncated|unexpected end|ended prematurely", str(error), re.IGNORECASE)
        raise Missing("truncated" if cut else "not an image", str(error)[:200]) from error
    extension = FORMATS[kind]
    return Decoded(extension, f"image/{extension.replace('jpg', 'jpeg')}", width, height)


def source_of(comic_id: str) -> str:
    """The series of a comic: `they_can_talk` for they_can_talk_17."""
    return comic_id.rpartition("_")[0] or comic_id


def _relative(target: Path, base: Path) -> str:
    """A file's path as the ledger has it, relative to the project; its folder may be a link to elsewhere."""
    for path in (target.absolute(), target.resolve()):  # resolved: the project itself was reached by a link
        if stays_inside(place := os.path.relpath(path, base)):
            return place
    raise PunchlineError("images lie in the project", file=target, hint="Make its folder a link to elsewhere")
