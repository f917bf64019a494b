"""Released files with pinned digests, from a mirror or from their addresses."""

from __future__ import annotations

import netrc
import os
import stat
from pathlib import Path

import httpx

from punchline.errors import PunchlineError
from punchline.fetch.log import Missing
from punchline.fetch.manifests import Annotation, read_manifest
from punchline.fetch.web import Fetched, Request, Web
from punchline.files import is_inside, sha256_file, write_bytes, write_changed
from punchline.schema import sha256
from punchline.text import log_line

OWN_BYTES = 2**31  # of a file of the project


def mirror_auth() -> httpx.Auth | None:
    """User and password for a mirror: from $PUNCHLINE_MIRROR_AUTH (user:password), else from ~/.netrc or $NETRC."""
    if pair := os.environ.get("PUNCHLINE_MIRROR_AUTH"):
        user, _, password = pair.partition(":")
        return httpx.BasicAuth(user, password)
    file = Path(os.environ.get("NETRC") or "~/.netrc").expanduser()
    try:
        return httpx.NetRCAuth(str(file)) if file.is_file() else None
    except (netrc.NetrcParseError, OSError, UnicodeError) as error:  # its message may hold a password
        raise PunchlineError("cannot be read as a netrc file", file=file, line=getattr(error, "lineno", None)) from None


async def read_place(web: Web, wanted: Request) -> Fetched:
    """Bytes at a URL, or of a local file; of one in the project unless the user has typed its path. Raises Missing."""
    if "://" in wanted.url:
        return await web.get(wanted)
    if wanted.public and not _is_of_project(wanted.url):
        raise Missing("unsafe address", f"{wanted.url} is not in the project, or is a link to elsewhere")
    return Fetched(read_local(Path(wanted.url), wanted.limit), wanted.url)


def _is_of_project(path: str) -> bool:
    """True for a path in the project, whose links stay in its first folder; that itself may be a link to a disk."""
    folder, _, name = path.partition("/")
    return is_inside(path) and is_inside(name or folder, folder if name else ".")


def read_local(path: Path, limit: int) -> bytes:
    """Bytes of a regular file. Raises Missing for a device or pipe and for more than `limit` bytes."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Missing("no such file", f"{path.name}: not a regular file")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        raise Missing("no such file", f"{path.name}: {getattr(error, 'strerror', None) or error}") from error
    if len(content) > limit:
        raise Missing("too large", f"{path.name}: more than {limit} bytes")
    return content


async def from_mirror(web: Web, mirror: str, place: str, digest: str, limit: int, notes: list[str]) -> bytes | None:
    """Bytes with the digest; None, and the reason in `notes`, if the mirror has none."""
    auth = mirror_auth() if "://" in mirror else None
    try:
        wanted = Request(f"{mirror.rstrip('/')}/{place}", limit, mirror=True, public=False, auth=auth)
        content = (await read_place(web, wanted)).content
    except Missing as missing:  # a URL's note has the mirror's address, or that of a redirect
        notes.append(f"mirror: {missing.reason}, {place}" + ("" if "://" in mirror else f" ({missing.note})"))
        return None
    if (actual := sha256(content)) == digest:
        return content
    notes.append(f"mirror: {place} refused, sha256 is {actual}")
    return None


async def fetch_annotations(web: Web, manifest: Path, out: Path, mirror: str | None) -> list[Path]:
    """Write every file of the manifest into `out`, with exactly the bytes that the manifest pins.

    A file that is already right is left alone. Files named one by one with their digest are downloads, not crawling:
    robots.txt is not read. An address without a scheme is a file of the project, copied as it is now: its owner may
    correct it. Prints a warning for each file that the mirror refused. Raises PunchlineError for an unavailable file;
    those already written stay.
    """
    entries = read_manifest(manifest, Annotation)
    for entry in entries:
        target = out / entry.path
        if "://" not in entry.url:
            try:
                write_changed(target, (await read_place(web, Request(entry.url, OWN_BYTES))).content)
            except Missing as missing:
                hint = f"{manifest} lists it as a file of the project"
                raise PunchlineError(str(missing), file=entry.url, hint=hint) from missing
        elif not target.is_file() or sha256_file(target) != entry.sha256:
            write_bytes(target, await _read(web, entry, mirror, target))
    return [out / entry.path for entry in entries]


async def _read(web: Web, entry: Annotation, mirror: str | None, target: Path) -> bytes:
    """Pinned bytes of a released file, from the mirror or from its address."""
    limit, notes = max(50_000_000, entry.bytes), list[str]()
    if mirror:
        if (content := await from_mirror(web, mirror, entry.mirror, entry.sha256, limit, notes)) is not None:
            return content
        log_line(f"warning: {entry.path}: {notes[0]}")
    try:
        content = (await read_place(web, Request(entry.url, limit, mirror=True))).content
        if sha256(content) == entry.sha256:
            return content
        notes.append(f"{entry.url}: sha256 is {sha256(content)}")
    except Missing as missing:
        notes.append(str(missing))
    what = f"not available from {entry.url} with sha256 {entry.sha256}: {'; '.join(notes)}"
    raise PunchlineError(what, file=target, hint=f"Give mirror=, a folder or URL where {entry.mirror} has these bytes")
