"""Released files with pinned digests, from a mirror or from their addresses."""

from __future__ import annotations

import netrc
import os
import re
from pathlib import Path

import httpx

from punchline.errors import PunchlineError
from punchline.fetch.log import Missing
from punchline.fetch.manifests import Annotation, read_manifest
from punchline.fetch.web import Request, Web
from punchline.files import read_regular, sha256_file, write_bytes
from punchline.schema import sha256
from punchline.text import PASSWORDS, has_secret, log_line, without_secret

ANNOTATION_BYTES = 50_000_000


def check_mirror(mirror: str | None) -> str | None:
    """The mirror as given, None for "". Raises PunchlineError when it is neither an http(s) URL nor a folder."""
    if not mirror:
        return None
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", mirror):
        if has_secret(mirror):
            what = f"mirror={without_secret(mirror)}: an address with a user, a password or a key is written to logs"
            raise PunchlineError(what, hint=PASSWORDS)
        if not mirror.startswith(("http://", "https://")):
            raise PunchlineError(f"mirror={mirror}: not an http(s) address", hint="Give a folder or an http(s) URL")
    elif not Path(mirror).is_dir():
        hint = "Give a folder that exists, relative to the project root"
        raise PunchlineError(f"mirror={mirror}: no such folder", hint=hint)
    return mirror


def mirror_auth() -> httpx.Auth | None:
    """User and password for a mirror: from $PUNCHLINE_MIRROR_AUTH (user:password), else from ~/.netrc or $NETRC."""
    if pair := os.environ.get("PUNCHLINE_MIRROR_AUTH"):
        user, colon, password = pair.partition(":")
        if not colon:
            raise PunchlineError("PUNCHLINE_MIRROR_AUTH is not user:password")
        return httpx.BasicAuth(user, password)
    file = Path(os.environ.get("NETRC") or "~/.netrc").expanduser()
    try:
        return httpx.NetRCAuth(str(file)) if file.is_file() else None
    except (netrc.NetrcParseError, OSError, UnicodeError) as error:  # its message may hold a password
        line = getattr(error, "lineno", None)
        raise PunchlineError("cannot be read as a netrc file", file=file, line=line) from None


async def read_place(web: Web, place: str, limit: int, auth: httpx.Auth | None = None) -> bytes:
    """Bytes at a URL of the user's own or of a pinned file, or of a local file. Raises Missing."""
    if "://" in place:
        return (await web.get(Request(place, limit, mirror=True, auth=auth))).content
    try:
        return read_regular(Path(place), limit)
    except OSError as error:
        raise Missing("no such file", f"{Path(place).name}: {error.strerror}") from error


async def from_mirror(web: Web, mirror: str, place: str, digest: str, limit: int, notes: list[str]) -> bytes | None:
    """Bytes with the digest; None, and the reason in `notes`, if the mirror has none."""
    auth = mirror_auth() if "://" in mirror else None
    try:
        content = await read_place(web, f"{mirror.rstrip('/')}/{place}", limit, auth)
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
    robots.txt is not read. An address without a scheme is a file of the project. Prints a warning for each file that
    the mirror refused. Raises PunchlineError for an unavailable file; those already written stay.
    """
    entries = read_manifest(manifest, Annotation)
    mirror = check_mirror(mirror)
    for entry in entries:
        target = out / entry.path
        if not target.is_file() or sha256_file(target) != entry.sha256:
            write_bytes(target, await _read(web, entry, mirror, target))
    return [out / entry.path for entry in entries]


async def _read(web: Web, entry: Annotation, mirror: str | None, target: Path) -> bytes:
    """Pinned bytes of a released file, from the mirror or from its address."""
    limit = max(ANNOTATION_BYTES, entry.bytes)
    notes: list[str] = []
    if mirror and "://" in entry.url:
        if (content := await from_mirror(web, mirror, entry.mirror, entry.sha256, limit, notes)) is not None:
            return content
        log_line(f"warning: {entry.path}: {notes[0]}")
    try:
        content = await read_place(web, entry.url, limit)
        if sha256(content) == entry.sha256:
            return content
        notes.append(f"{entry.url}: sha256 is {sha256(content)}")
    except Missing as missing:
        notes.append(str(missing))
    what = f"not available from {entry.url} with sha256 {entry.sha256}: {'; '.join(notes)}"
    hint = f"Give mirror=DIR or URL where {entry.mirror} has these bytes"
    raise PunchlineError(what, file=target, record=entry.path, hint=hint)
