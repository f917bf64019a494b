"""Comics, each fetched once and then locked: whole or not at all, and an entry in the fetch log for each."""

from __future__ import annotations

import asyncio
import io
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import asdict, replace
from PIL import Image

from punchline.fetch.annotations import from_mirror, read_place
from punchline.fetch.log import Missing, lock_lines, read_log
from punchline.fetch.manifests import LOCK_COLUMNS, Lock, Pin, Selected, read_manifest
from punchline.fetch.resolvers import SITES, is_image, split
from punchline.fetch.web import Fetched, Request, Web
from punchline.files import csv_text, exclusive_lock, sha256_file, write_bytes, write_changed
from punchline.grouping import grouped
from punchline.schema import FetchEntry, canonical, sha256
from punchline.text import track, without_secret

IMAGE_BYTES = 25_000_000
IMAGE_PIXELS = 60_000_000
PAGE_BYTES = 5_000_000
IMAGE_TYPES = ("image/", "application/octet-stream", "binary/octet-stream")
FORMATS = {"PNG": "png", "JPEG": "jpeg", "MPO": "jpeg", "GIF": "gif", "WEBP": "webp"}  # Pillow's name -> media type

NO_FILE: dict[str, None] = dict.fromkeys(("path", "sha256", "bytes", "width", "height", "media_type"))


class Comic(NamedTuple):
    """An image that is wanted, with the pin and the lock of its present address."""

    item: Selected
    page: str  # URL of the page or the image; "" if none is known
    pin: Pin | None
    lock: Lock | None

    @property
    def records(self) -> dict[str, Pin | Lock]:
        """{sha256: the record that pins these bytes}: lock, then manifest; none of a file of the project."""
        records = (self.lock, self.pin) if self.own is None else ()
        return {record.sha256: record for record in records if record}

    @property
    def listed(self) -> str:
        """The address as log and lock have it."""
        return without_secret(self.page)

    @property
    def own(self) -> str | None:
        """Path of a file of the project, whose present bytes count; None for an image from elsewhere."""
        place = self.pin.image_url if self.pin else self.page
        return place if place and "://" not in place else None


def _comic(item: Selected, pin: Pin | None, lock: Lock | None) -> Comic:
    """An item without the pin and the lock of another address, which its list had before an edit."""
    pin = pin if pin and item.url in ("", pin.page_url) else None
    page = item.url or (pin.page_url if pin else "")
    return Comic(item, page, pin, lock if lock and lock.page in ("", without_secret(page)) else None)


class Decoded(NamedTuple):
    media_type: str
    width: int  # pixels
    height: int  # pixels

    @property
    def extension(self) -> str:
        return self.media_type.removeprefix("image/").replace("jpeg", "jpg")


async def fetch_images(
    web: Web, selected: Sequence[Selected], manifests: Path, raw: Path, mirror: str | None = None, retry: bool = False
) -> list[FetchEntry]:
    """Bring the comics into raw/images as <comic_id>.<ext>, whole or not at all, and log the result of each.

    Args:
        selected: the items, in the order wanted.
        manifests: the folder of images_pinned.csv and images.lock.csv; digests of first fetches are added to the lock.
        raw: relative to the project, as the log in it, fetch.jsonl, names the files; it may be a link to elsewhere.
        mirror: a folder or http(s) URL, tried before anything else; its bytes count with the right digest only.
        retry: try again what the log records as missing.

    Returns the entries of the selected items, in their order. The log holds these first, then earlier ones of others.
    A missing comic is an entry, not an error. Raises PunchlineError for bad input.
    """
    lock, log, out = manifests / "images.lock.csv", raw / "fetch.jsonl", raw / "images"
    pins = {pin.comic_id: pin for pin in read_manifest(manifests / "images_pinned.csv", Pin)}
    locked = {line.comic_id: line for line in (read_manifest(lock, Lock) if lock.exists() else [])}
    with exclusive_lock(out, "another run is fetching into it"):
        known = read_log(log)
        # A run that was killed before it wrote the lock: its log has the digests.
        recorded = lock_lines(known.values(), pins, manifests.name)
        expected = recorded | {name: _with_page(line, recorded.get(name)) for name, line in locked.items()}
        comics = {one.item_id: _comic(one, pins.get(one.item_id), expected.get(one.item_id)) for one in selected}
        _forget_other_addresses(known, locked, comics)
        todo = [comic for name, comic in comics.items() if not _is_done(known.get(name), comic, retry)]
        if todo:
            queues = grouped(todo, lambda comic: split(comic.page).netloc)
            known |= await _fetch_all(web, [*queues.values()], mirror, out, log)
            fixed = {(key, record.sha256) for records in (pins, locked) for key, record in records.items()}
            _reject_placeholders(known, comics, fixed, out)
        locked = lock_lines(known.values(), pins, manifests.name) | locked
        if locked or lock.exists():
            write_changed(lock, csv_text(LOCK_COLUMNS, [asdict(line) for _, line in sorted(locked.items())]).encode())
        final = [known[name] for name in comics]
        others = [known[name] for name in sorted(known.keys() - comics)]
        write_changed(log, b"".join(canonical(entry) + b"\n" for entry in [*final, *others]))
    return final


def _with_page(locked: Lock, recorded: Lock | None) -> Lock:
    """A line of the lock with the address that the fetch log has for the same bytes, where it has none itself."""
    is_same = recorded is not None and not locked.page and recorded.sha256 == locked.sha256
    return replace(locked, page=recorded.page) if is_same and recorded else locked


def _forget_other_addresses(known: dict[str, FetchEntry], locked: dict[str, Lock], comics: Mapping[str, Comic]) -> None:
    """Drop what log and lock have for addresses that were edited since; entries without an address take the present."""
    for name, comic in comics.items():
        if comic.lock is None:
            locked.pop(name, None)
        if (entry := known.get(name)) is None:
            continue
        if entry.page is UNSET:
            known[name] = replace(entry, page=comic.listed)
        elif entry.page != comic.listed:
            del known[name]


def _reject_placeholders(
    known: dict[str, FetchEntry], comics: Mapping[str, Comic], fixed: set[tuple[str, str]], out: Path
) -> None:
    """Record comics as missing whose pages differ and gave the same bytes, a placeholder ("no longer available").

    `fixed`: (comic id, sha256) of the manifest and the lock file, which are accepted: someone has checked them.
    """
    groups = grouped((entry for entry in known.values() if entry.sha256), lambda entry: str(entry.sha256))
    for digest, group in groups.items():
        ids = [entry.item_id for entry in group]
        several = len({comics[name].page if name in comics else name for name in ids}) > 1
        for entry in group:
            if several and (entry.item_id, digest) not in fixed and entry.own_file is None:
                _remove(out, Path(entry.item_id).name)
                twin = next(name for name in ids if name != entry.item_id)
                reason, note = "same bytes as another comic", f"as {twin}, sha256 {digest}"
                known[entry.item_id] = replace(entry, state="missing", reason=reason, note=note, **NO_FILE)


def _remove(out: Path, comic_id: str, keep: str = "") -> None:
    """Remove a comic's files, except that with the extension `keep`."""
    for extension in {"png", "jpg", "gif", "webp"} - {keep}:
        (out / f"{comic_id}.{extension}").unlink(missing_ok=True)


def _is_done(entry: FetchEntry | None, comic: Comic, retry: bool) -> bool:
    """True for a comic that is recorded as missing, or on disk with the bytes that log and lock name."""
    if entry is None or entry.path is None:
        return entry is not None and not retry
    is_wanted = not comic.records or entry.sha256 in comic.records
    if comic.own is not None:
        is_wanted = Path(comic.own).is_file() and sha256_file(comic.own) == entry.sha256
    return is_wanted and Path(entry.path).is_file() and sha256_file(entry.path) == entry.sha256


async def _fetch_all(
    web: Web, queues: Sequence[Sequence[Comic]], mirror: str | None, out: Path, log: Path
) -> dict[str, FetchEntry]:
    """Fetch every comic, one task for each queue, and write each entry to the log before the next comic."""
    entries: dict[str, FetchEntry] = {}
    total, missing = sum(map(len, queues)), list[str]()
    ticks = track(range(total), total, "fetching comics", lambda: f", {len(missing):,} missing")
    next(ticks)
    with log.open("a+b", buffering=0) as lines:
        lines.seek(0)
        lines.truncate(lines.readall().rfind(b"\n") + 1)  # cuts off a torn last line

        async def work(queue: Sequence[Comic]) -> None:
            for comic in queue:
                entry = entries[comic.item.item_id] = await _fetch_one(web, comic, mirror, out)
                lines.write(canonical(entry) + b"\n")
                os.fsync(lines.fileno())
                missing.extend(filter(None, [entry.reason]))
                next(ticks, None)

        try:
            async with asyncio.TaskGroup() as tasks:
                for queue in queues:
                    tasks.create_task(work(queue))
        except ExceptionGroup as errors:  # such as a full disk: all other tasks have ended before
            raise errors.exceptions[0] from None
    return entries


async def _fetch_one(web: Web, comic: Comic, mirror: str | None, out: Path) -> FetchEntry:
    """Fetch one comic, write it to `out`, and return its entry."""
    name, notes = comic.item.item_id, list[str]()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entry = partial(FetchEntry, item_id=name, source=comic.item.source, page=comic.listed, fetched_at=now)
    url: str | None = None
    try:
        content, url = await _read(web, comic, mirror, notes)
        decoded, digest = decode_image(content), sha256(content)
        _compare(digest, decoded, comic, notes)
    except Missing as missing:
        note = "; ".join([*notes, missing.note or ""]).strip("; ") or None
        return entry(state="missing", reason=missing.reason, url=url, note=note)
    target = out / f"{name}.{decoded.extension}"
    write_bytes(target, content)
    _remove(out, name, decoded.extension)
    file: dict[str, Any] = {"path": target.as_posix(), "sha256": digest, "bytes": len(content)}
    return entry(state="ok", url=url, note="; ".join(notes) or None, **file, **decoded._asdict())


async def _read(web: Web, comic: Comic, mirror: str | None, notes: list[str]) -> Fetched:
    """An image's bytes and their source: mirror, pinned address, or the address on the comic's page."""
    page = comic.page
    if mirror:
        for record in comic.records.values():
            content = await from_mirror(web, mirror, record.mirror, record.sha256, IMAGE_BYTES, notes)
            if content is not None:
                return Fetched(content, f"mirror:{record.mirror}")
    site = SITES.get(split(page).hostname or "")
    if comic.pin is None and site:
        document = await web.get(Request(site.request(page), PAGE_BYTES, site.accept))
        return await web.get(Request(site.resolve(document.content, page), IMAGE_BYTES, IMAGE_TYPES))
    if comic.pin is None and not is_image(page):
        raise Missing("no resolver for this site", page)
    return await read_place(web, Request(comic.pin.image_url if comic.pin else page, IMAGE_BYTES, IMAGE_TYPES))


def _compare(digest: str, decoded: Decoded, comic: Comic, notes: list[str]) -> None:
    """Refuse bytes that are not those of the manifest or the first fetch. Raises Missing.

    A pinned image that its site has compressed again is accepted if width and height agree, with a note.
    """
    if comic.own is not None:
        return
    pin, lock, is_known = comic.pin, comic.lock, digest in comic.records
    if lock and not is_known:
        raise Missing("digest differs from lock", f"expected {lock.sha256}, got {digest}")
    if pin and digest != pin.sha256:
        if not is_known and (decoded.width, decoded.height) != (pin.width, pin.height):
            expected, got = (f"{of.width} x {of.height}, sha256" for of in (pin, decoded))
            raise Missing("digest differs from manifest", f"expected {expected} {pin.sha256}, got {got} {digest}")
        notes.append(f"not the manifest's bytes ({pin.sha256}), but the lock's or of the same width and height")


def decode_image(content: bytes) -> Decoded:
    """Format and size of PNG, JPEG, GIF or WebP, by the bytes; decodes the first frame. Raises Missing."""
    if not content:
        raise Missing("not an image", "the file is empty")
    if content[:4] == b"RIFF" and int.from_bytes(content[4:8], "little") + 8 > len(content):
        raise Missing("truncated", f"{len(content)} bytes of a longer WebP")  # its decoder raises nothing
    try:
        with Image.open(io.BytesIO(content), formats=["PNG", "JPEG", "GIF", "WEBP"]) as image:  # reads the header only
            width, height = image.size
            if width * height > IMAGE_PIXELS:
                raise Image.DecompressionBombError(f"{width} x {height} pixels, at most {IMAGE_PIXELS} allowed")
            kind = image.format or ""
            image.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Missing("decompression bomb", str(error)) from error
    except Exception as error:  # decoders raise anything on bytes that are no image
        cut = re.search("truncated|unexpected end|ended prematurely", str(error), re.IGNORECASE)
        what = re.sub(" *<_io.BytesIO[^>]*>", "", str(error))  # it differs from run to run
        raise Missing("truncated" if cut else "not an image", what[:200]) from error
    return Decoded(f"image/{FORMATS[kind]}", width, height)
