"""Raw data: released annotations with pinned digests, and comics that are each fetched once and then locked.

Nothing here is a comic: the manifests in data/manifests/ hold addresses, digests and licences. docs/fetch.md explains
the files, the lock and the ledger.
"""

from __future__ import annotations

import fcntl
import io
import os
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from PIL import Image

from punchline.core.errors import PunchlineError
from punchline.core.outside import read_regular, stays_inside
from punchline.core.records import LedgerEntry, Record, canonical, sha256
from punchline.core.storage import csv_text, parse_csv, sha256_file, write_bytes, write_text
from punchline.stages.fetch.resolvers import SITES, NoImage
from punchline.stages.fetch.web import Manners, Missing, Stopped, Web, check_address, mirror_auth, valid_reason

ANNOTATION_COLUMNS = ("path", "url", "sha256", "bytes", "licence", "mirror")
PIN_COLUMNS = (
    *("comic_id", "page_url", "image_url", "sha256", "bytes", "width", "height", "licence", "mirror", "credit"),
)
LOCK_COLUMNS = ("comic_id", "url", "sha256", "bytes", "width", "height", "mirror")
AVAILABILITY_COLUMNS = ("source", "n", "ok", "missing", "reason", "n_reason", "first", "last")

IMAGE_BYTES = 25_000_000
IMAGE_PIXELS = 60_000_000
PAGE_BYTES = 5_000_000
ANNOTATION_BYTES = 50_000_000
IMAGE_TYPES = ("image/", "application/octet-stream", "binary/octet-stream")
FORMATS = {"PNG": "png", "JPEG": "jpg", "MPO": "jpg", "GIF": "gif", "WEBP": "webp"}  # Pillow's name -> extension


class Annotation(Record, frozen=True, kw_only=True):
    """One line of annotations.csv: a released file and its digest."""

    path: str  # under the output folder
    url: str
    sha256: str
    bytes: int
    licence: str
    mirror: str  # path under a mirror


class Pin(Record, frozen=True, kw_only=True):
    """One line of images_pinned.csv: an image whose bytes are known."""

    comic_id: str
    page_url: str
    image_url: str
    sha256: str
    bytes: int
    width: int  # pixels
    height: int  # pixels
    licence: str
    mirror: str  # path under a mirror
    credit: str  # to be shown wherever the image is


class Lock(Record, frozen=True, kw_only=True):
    """One line of images.lock.csv: what the first fetch of a comic got."""

    comic_id: str
    url: str
    sha256: str
    bytes: int
    width: int  # pixels
    height: int  # pixels
    mirror: str  # where a mirror of one's own would have it


class Decoded(NamedTuple):
    extension: str
    media_type: str
    width: int  # pixels
    height: int  # pixels


def read_manifest(path: Path, kind: type[Annotation] | type[Pin] | type[Lock]) -> list[Any]:
    """Lines of a manifest or lock as records of `kind`. Raises PunchlineError with file, line and field."""
    columns = kind.__struct_fields__
    records = []
    for line, row in parse_csv(_read(path), columns, file=path):
        try:
            record = msgspec.convert({column: row[column] for column in columns}, kind, strict=False)
        except msgspec.ValidationError as error:
            raise PunchlineError(str(error), file=path, line=line) from error
        if not re.fullmatch("[0-9a-f]{64}", record.sha256):
            raise PunchlineError("not 64 hexadecimal digits", file=path, line=line, field="sha256")
        for field in ("path", "mirror"):
            _check_place(getattr(record, field, None), file=path, line=line, field=field)
        if isinstance(record, Annotation) and "://" not in record.url:  # a file of the project
            _check_place(record.url, file=path, line=line, field="url")
        records.append(record)
    return records


def read_pages(path: Path) -> dict[str, str]:
    """item id -> address of its page or image, from a selected.csv, or from PixelHumor's comic_url.csv."""
    content = _read(path)
    selected = content.split(b"\n", 1)[0].strip() == b"item_id,source,url"
    key, url = ("item_id", "url") if selected else ("comic_id", "comic_url")
    return {row[key]: row[url] for _, row in parse_csv(content, [key, url], file=path) if row[url]}


def read_sources(path: Path) -> dict[str, str]:
    """item id -> source, from a selected.csv."""
    return {row["item_id"]: row["source"] for _, row in parse_csv(_read(path), ["item_id", "source"], file=path)}


def read_ids(path: Path) -> list[str]:
    """Ids in the column comic_id (or item_id) of a CSV, in its order."""
    content = _read(path)
    try:
        rows, column = parse_csv(content, ["comic_id"], file=path), "comic_id"
    except PunchlineError as error:
        try:
            rows, column = parse_csv(content, ["item_id"], file=path), "item_id"
        except PunchlineError:
            raise error from None
    return [row[column] for _, row in rows]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise PunchlineError("no such file", file=path) from error


def _check_place(place: str | None, **where: Any) -> None:
    """Raises PunchlineError for a path out of a file that leaves the folder it is relative to."""
    if place is not None and not stays_inside(place):
        raise PunchlineError(f"{place!r} leaves its folder", **where)


# Mirrors


def _check_mirror(mirror: str | None) -> str | None:
    """The mirror as given, None for "". Raises PunchlineError when it is neither an http(s) URL nor a folder."""
    if not mirror:
        return None
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", mirror):
        check_address(mirror)
        if not mirror.startswith(("http://", "https://")):
            raise PunchlineError(f"mirror={mirror}: not an http(s) address", way_out="Give a folder or an http(s) URL")
    elif not Path(mirror).is_dir():
        raise PunchlineError(
            f"mirror={mirror}: no such folder", way_out="Give a folder that exists, relative to the project root"
        )
    return mirror


def _from_mirror(web: Web, mirror: str, place: str, digest: Iterable[str], limit: int) -> tuple[bytes | None, str]:
    """(bytes with one of the digests, "") or (None, why not)."""
    if mirror.startswith(("http://", "https://")):
        try:
            url = f"{mirror.rstrip('/')}/{place}"
            content = web.get(url, limit=limit, own=True, auth=mirror_auth(mirror)).content
        except Missing as missing:
            return None, f"mirror: {missing.reason}, {place}"  # not where it is, nor where it led
    else:
        try:
            content = read_regular(Path(mirror, place), limit)
        except (FileNotFoundError, NotADirectoryError):
            return None, f"mirror: no {place}"
        except OSError as error:
            return None, f"mirror: {place}: {error.strerror}"
    got = sha256(content)
    if got not in digest:
        return None, f"mirror: {place} refused, sha256 is {got}"
    return content, ""


# Annotations


def fetch_annotations(
    manifest: Path,
    out: Path,
    mirror: str | None = None,
    *,
    manners: Manners | None = None,
    hosts: Mapping[str, str] | None = None,
    root: Path | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Bring every file of the manifest into `out`, with exactly the bytes that the manifest pins.

    A file that is already right is left alone. Files named one by one with their digest are downloads, not crawling:
    robots.txt is not asked. An address without a scheme is a file of the project, relative to `root`. `report` gets a
    line for each source that was refused on the way. Raises PunchlineError when a file can't be had; those already
    written stay.
    """
    entries: list[Annotation] = read_manifest(manifest, Annotation)
    mirror = _check_mirror(mirror)
    web = Web(manners, hosts)
    written = []
    try:
        for entry in entries:
            target = out / entry.path
            written.append(target)
            if target.is_file() and sha256_file(target) == entry.sha256:
                continue
            tried = []
            content = None
            if mirror and "://" in entry.url:
                content, why = _from_mirror(web, mirror, entry.mirror, {entry.sha256}, ANNOTATION_BYTES)
                if content is None:
                    tried.append(why)
                    report(f"{entry.path}: {why}")
            if content is None and "://" not in entry.url:  # a file of the project
                content = _of_project((root or Path()) / entry.url)
                if sha256(content) != entry.sha256:
                    tried.append(f"{entry.url}: sha256 is {sha256(content)}")
                    content = None
            elif content is None:
                try:
                    content = web.get(entry.url, limit=ANNOTATION_BYTES, own=True).content
                except Missing as missing:
                    tried.append(str(missing))
                else:
                    if sha256(content) != entry.sha256:
                        tried.append(f"{entry.url}: sha256 is {sha256(content)}")
                        content = None
            if content is None:
                raise PunchlineError(
                    f"can't be had from {entry.url} with sha256 {entry.sha256}: {'; '.join(tried)}",
                    file=target,
                    record=entry.path,
                    way_out=f"Give mirror=DIR or URL where {entry.mirror} has these bytes",
                )
            write_bytes(target, content)
    finally:
        web.close()
    return written


def _of_project(file: Path) -> bytes:
    try:
        return read_regular(file, ANNOTATION_BYTES)
    except OSError as error:
        raise PunchlineError(f"cannot be read: {error.strerror}", file=file) from error


# Images


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
                raise Missing("decompression bomb", f"{width} x {height} pixels, at most {IMAGE_PIXELS} allowed")
            kind = image.format or ""
            image.load()
    except Missing:
        raise
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


def read_ledger(path: Path) -> list[LedgerEntry]:
    """Entries of a ledger, one for each comic: the last one written counts. A torn last line is left out.

    Raises PunchlineError with file and line for any other line that is no entry.
    """
    content = path.read_bytes() if path.exists() else b""
    decoder = msgspec.json.Decoder(LedgerEntry)
    entries: dict[str, LedgerEntry] = {}
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            entry = decoder.decode(line)
            if entry.reason is not None and not valid_reason(entry.reason):
                raise msgspec.ValidationError(f"reason {entry.reason!r} is not in the vocabulary")
            _check_place(entry.path, file=path, line=number, record=entry.item_id, field="path")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise PunchlineError(
                f"not a ledger entry: {error}",
                file=path,
                line=number,
                way_out="Delete the line: its comic is then looked at again; delete the file to look at all again",
            ) from error
        entries[entry.item_id] = entry
    return list(entries.values())


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
    progress: Callable[[int, int, LedgerEntry], None] = lambda done, total, entry: None,
    manners: Manners | None = None,
    hosts: Mapping[str, str] | None = None,
    root: Path | None = None,
) -> list[LedgerEntry]:
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
    locked: dict[str, Lock] = {
        line.comic_id: line for line in (read_manifest(lock, Lock) if lock and lock.exists() else [])
    }
    for comic_id in asked:
        _check_id(comic_id)
        if comic_id not in pins and comic_id not in pages:
            raise PunchlineError("no page URL is known", record=comic_id, field="comic_id")
    mirror = _check_mirror(mirror)
    base = (root or Path()).resolve()
    out.mkdir(parents=True, exist_ok=True)

    with _alone(out):
        for leftover in out.glob(".*.part"):  # of a run that was killed
            leftover.unlink()
        known = {entry.item_id: entry for entry in read_ledger(ledger)}
        # A run that was killed before it wrote the lock: its journal knows the digests.
        expected = {
            **{key: _lock_line(entry, lock) for key, entry in known.items() if _to_be_locked(entry, pins)},
            **locked,
        }
        queues: dict[str, list[str]] = defaultdict(list)  # by the host of the page: one thread each
        for comic_id in asked:
            if not _settled(known.get(comic_id), base, pins.get(comic_id), expected.get(comic_id), retry_missing):
                queues[urlsplit(_page(comic_id, pages, pins)).netloc].append(comic_id)
        if queues:
            web = Web(manners, hosts)

            def fetch(comic_id: str) -> LedgerEntry:
                page, pin, line = _page(comic_id, pages, pins), pins.get(comic_id), expected.get(comic_id)
                source = (sources or {}).get(comic_id) or source_of(comic_id)
                return _fetch_one(web, comic_id, source, page, pin, line, mirror, out, base)

            try:
                with _journal(ledger) as journal:
                    known |= _work_through(list(queues.values()), fetch, web.stop, journal, progress)
            finally:
                web.close()
            _set_placeholders_aside(known, pages, pins, locked, out, base)
        if lock:
            fresh = {
                key: _lock_line(entry, lock)
                for key, entry in known.items()
                if key not in locked and _to_be_locked(entry, pins)
            }
            _write_lock(lock, {**locked, **fresh})
        final = [known[comic_id] for comic_id in asked]
        others = [known[key] for key in sorted(known.keys() - set(asked))]
        _write_if_new(ledger, b"".join(canonical(entry) + b"\n" for entry in [*final, *others]))
    return final


def availability(entries: Iterable[LedgerEntry]) -> list[dict[str, Any]]:
    """Rows of availability.csv: for each source one row for each reason, or one row when nothing is missing.

    n, ok and missing count the source's comics and stand in each of its rows; n_reason counts the row's reason. first
    and last are the UTC times of the source's first and last look.
    """
    sources: dict[str, list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        sources[entry.source].append(entry)
    rows = []
    for source, members in sorted(sources.items()):
        reasons = Counter(entry.reason for entry in members if entry.reason)
        times = sorted(entry.fetched_at for entry in members if entry.fetched_at)
        by_frequency: list[tuple[str | None, int]] = [*sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))]
        for reason, n in by_frequency or [(None, 0)]:
            rows.append(
                {
                    "source": source,
                    "n": len(members),
                    "ok": len(members) - reasons.total(),
                    "missing": reasons.total(),
                    "reason": reason,
                    "n_reason": n,
                    "first": times[0] if times else None,
                    "last": times[-1] if times else None,
                }
            )
    return rows


def write_availability(path: Path, entries: Iterable[LedgerEntry]) -> None:
    """availability.csv of the entries."""
    write_text(path, csv_text(AVAILABILITY_COLUMNS, availability(entries)))


def _check_id(comic_id: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", comic_id):
        raise PunchlineError(
            f"{comic_id!r} can't be a file's name",
            field="comic_id",
            way_out="Ids are letters, digits, dots, _ and -, such as xkcd_502",
        )


def _page(comic_id: str, pages: Mapping[str, str], pins: Mapping[str, Pin]) -> str:
    return pages[comic_id] if comic_id in pages else pins[comic_id].page_url


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold `folder` against a second run. The system lets go when the process ends, however it ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise PunchlineError("another run is fetching into it", file=folder, way_out="Wait for its end") from error
        yield
    finally:
        os.close(handle)


@contextmanager
def _journal(path: Path) -> Iterator[io.FileIO]:
    """The ledger, open for whole lines at its end; a torn last line is cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b", buffering=0) as file:
        file.seek(0)
        file.truncate(file.readall().rfind(b"\n") + 1)
        yield file


def _settled(entry: LedgerEntry | None, base: Path, pin: Pin | None, lock: Lock | None, retry_missing: bool) -> bool:
    """Is there nothing to do: recorded as missing, or there with the bytes that ledger and lock say?"""
    if entry is None:
        return False
    if entry.path is None or entry.sha256 is None:
        return not retry_missing
    allowed = {record.sha256 for record in (pin, lock) if record}
    if allowed and entry.sha256 not in allowed:
        return False
    file = base / entry.path
    return file.is_file() and sha256_file(file) == entry.sha256


def _work_through(
    queues: list[list[str]],
    fetch: Callable[[str], LedgerEntry],
    stop: threading.Event,
    journal: io.FileIO,
    progress: Callable[[int, int, LedgerEntry], None],
) -> dict[str, LedgerEntry]:
    """Fetch every comic, one thread for each queue, and write each entry to the journal before the next comic."""
    entries: dict[str, LedgerEntry] = {}
    total = sum(map(len, queues))
    writing = threading.Lock()

    def work(queue: list[str]) -> None:
        for comic_id in queue:
            try:
                entry = fetch(comic_id)
            except Stopped:
                return
            with writing:
                journal.write(canonical(entry) + b"\n")
                os.fsync(journal.fileno())
                entries[comic_id] = entry
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


def _fetch_one(
    web: Web,
    comic_id: str,
    source: str,
    page: str,
    pin: Pin | None,
    lock: Lock | None,
    mirror: str | None,
    out: Path,
    base: Path,
) -> LedgerEntry:
    """Get one comic, write it to `out`, and say what happened."""
    notes: list[str] = []
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    url: str | None = None
    try:
        content, url = _bytes(web, page, pin, lock, mirror, notes)
        decoded = decode_image(content)
        digest = sha256(content)
        _compare(digest, decoded, pin, lock, notes)
    except Missing as missing:
        note = "; ".join([*notes, missing.note or ""]).strip("; ") or None
        return LedgerEntry(
            item_id=comic_id,
            source=source,
            state="missing",
            reason=missing.reason,
            url=url,
            note=note,
            fetched_at=now,
        )
    target = out / f"{comic_id}.{decoded.extension}"
    write_bytes(target, content)
    for extension in set(FORMATS.values()) - {decoded.extension}:
        (out / f"{comic_id}.{extension}").unlink(missing_ok=True)  # one file for each comic
    return LedgerEntry(
        item_id=comic_id,
        source=source,
        state="ok",
        path=_relative(target, base),
        sha256=digest,
        bytes=len(content),
        width=decoded.width,
        height=decoded.height,
        media_type=decoded.media_type,
        url=url,
        note="; ".join(notes) or None,
        fetched_at=now,
    )


def _relative(target: Path, base: Path) -> str:
    """A file's path as the ledger has it, relative to the project; its folder may be a link to elsewhere."""
    place = os.path.relpath(target.absolute(), base)
    if not stays_inside(place):  # the project itself was reached by a link
        place = os.path.relpath(target.resolve(), base)
    if not stays_inside(place):
        raise PunchlineError("images lie in the project", file=target, way_out="Make its folder a link to elsewhere")
    return place


def _bytes(
    web: Web, page: str, pin: Pin | None, lock: Lock | None, mirror: str | None, notes: list[str]
) -> tuple[bytes, str]:
    """An image's bytes and where they came from: mirror, pinned address, or the address that the page gives."""
    if mirror and (pin or lock):
        places = {record.mirror: {record.sha256} for record in (lock, pin) if record}
        for place, digests in places.items():
            content, why = _from_mirror(web, mirror, place, digests, IMAGE_BYTES)
            if content is not None:
                return content, f"mirror:{place}"
            notes.append(why)
    if pin:
        fetched = web.get(pin.image_url, limit=IMAGE_BYTES, accept=IMAGE_TYPES)
        return fetched.content, fetched.url
    host = urlsplit(page).hostname or ""
    site = SITES.get(host)
    if site is None:
        raise Missing("no resolver for this site", page)
    if site.resolve is None:
        fetched = web.get(page, limit=IMAGE_BYTES, accept=IMAGE_TYPES)
        return fetched.content, fetched.url
    document = web.get(site.request(page), limit=PAGE_BYTES, accept=site.accept)
    try:
        image_url = site.resolve(document.content, page)
    except NoImage as error:
        raise Missing("resolver found no image", f"{document.url}: {error}") from error
    fetched = web.get(image_url, limit=IMAGE_BYTES, accept=IMAGE_TYPES, found=True)
    return fetched.content, fetched.url


def _compare(digest: str, decoded: Decoded, pin: Pin | None, lock: Lock | None, notes: list[str]) -> None:
    """Refuse bytes that are not those of the manifest or the first fetch. Raises Missing.

    A site may have compressed a pinned image anew: with the manifest's width and height it is taken, and noted.
    """
    if digest in {record.sha256 for record in (pin, lock) if record}:
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


def _to_be_locked(entry: LedgerEntry, pins: Mapping[str, Pin]) -> bool:
    """Bytes that no manifest pins, or that were taken in place of those it pins; those of another pin are neither."""
    pin = pins.get(entry.item_id)
    instead = pin is not None and pin.sha256 != entry.sha256 and pin.sha256 in (entry.note or "")
    return entry.state == "ok" and (pin is None or instead)


def _lock_line(entry: LedgerEntry, lock: Path | None) -> Lock:
    assert entry.path and entry.sha256 and entry.bytes and entry.width and entry.height
    folder = lock.parent.name if lock else ""
    return Lock(
        comic_id=entry.item_id,
        url=entry.url or "",
        sha256=entry.sha256,
        bytes=entry.bytes,
        width=entry.width,
        height=entry.height,
        mirror=str(PurePosixPath(folder, "images", Path(entry.path).name)),
    )


def _write_lock(path: Path, lines: Mapping[str, Lock]) -> None:
    if lines or path.exists():
        rows = [msgspec.structs.asdict(line) for _, line in sorted(lines.items())]
        _write_if_new(path, csv_text(LOCK_COLUMNS, rows).encode())


def _write_if_new(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        write_bytes(path, content)


def _set_placeholders_aside(
    known: dict[str, LedgerEntry],
    pages: Mapping[str, str],
    pins: Mapping[str, Pin],
    locked: Mapping[str, Lock],
    out: Path,
    base: Path,
) -> None:
    """Different pages that gave the same bytes gave a placeholder ("no longer available"): such comics are missing.

    Comics that the manifest or the lock file pins are taken as they are: someone has looked at them.
    """
    groups: dict[str, list[LedgerEntry]] = defaultdict(list)
    for entry in known.values():
        if entry.sha256:
            groups[entry.sha256].append(entry)
    for group in groups.values():
        if len({pages.get(entry.item_id, entry.item_id) for entry in group}) == 1:
            continue
        for entry in group:
            pinned = {record.sha256 for record in (pins.get(entry.item_id), locked.get(entry.item_id)) if record}
            if entry.sha256 in pinned or entry.path is None:
                continue
            if (base / entry.path).name in {f"{entry.item_id}.{extension}" for extension in FORMATS.values()}:
                (out / Path(entry.path).name).unlink(missing_ok=True)  # its own file, whatever the ledger says
            twin = next(other.item_id for other in group if other is not entry)
            known[entry.item_id] = LedgerEntry(
                item_id=entry.item_id,
                source=entry.source,
                state="missing",
                reason="same bytes as another comic",
                url=entry.url,
                note=f"as {twin}, sha256 {entry.sha256}",
                fetched_at=entry.fetched_at,
            )
