"""Released files with pinned digests, from a mirror or from where they were released."""

from __future__ import annotations

import netrc
import os
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import httpx

from punchline.errors import PunchlineError
from punchline.fetch.manifests import Annotation, read_manifest
from punchline.fetch.web import Manners, Missing, Web
from punchline.files import read_regular, sha256_file, write_bytes
from punchline.schema import sha256
from punchline.text import PASSWORDS, has_secret, without_secret

ANNOTATION_BYTES = 50_000_000


def check_mirror(mirror: str | None) -> str | None:
    """The mirror as given, None for "". Raises PunchlineError when it is neither an http(s) URL nor a folder."""
    if not mirror:
        return None
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", mirror):
        if has_secret(mirror):  # it would stand in logs and notes
            what = f"mirror={without_secret(mirror)}: an address with a user, a password or a key is written to logs"
            raise PunchlineError(what, hint=PASSWORDS)
        if not mirror.startswith(("http://", "https://")):
            raise PunchlineError(f"mirror={mirror}: not an http(s) address", hint="Give a folder or an http(s) URL")
    elif not Path(mirror).is_dir():
        hint = "Give a folder that exists, relative to the project root"
        raise PunchlineError(f"mirror={mirror}: no such folder", hint=hint)
    return mirror


def mirror_auth(mirror: str) -> httpx.BasicAuth | None:
    """User and password for a mirror: from $PUNCHLINE_MIRROR_AUTH (user:password), else from ~/.netrc or $NETRC."""
    if given := os.environ.get("PUNCHLINE_MIRROR_AUTH"):
        user, colon, password = given.partition(":")
        if not colon:
            raise PunchlineError("PUNCHLINE_MIRROR_AUTH is not user:password")
        return httpx.BasicAuth(user, password)
    file = Path(os.environ.get("NETRC") or "~/.netrc").expanduser()
    try:
        entry = netrc.netrc(str(file)).authenticators(httpx.URL(mirror).host) if file.is_file() else None
    except (netrc.NetrcParseError, OSError, UnicodeError) as error:  # its words may be a password
        line = getattr(error, "lineno", None)
        raise PunchlineError("cannot be read as a netrc file", file=file, line=line) from None
    return httpx.BasicAuth(entry[0], entry[2] or "") if entry else None


def from_mirror(web: Web, mirror: str, place: str, digest: str, limit: int, notes: list[str]) -> bytes | None:
    """Bytes with the digest; None, and the reason in `notes`, if the mirror has none."""
    try:
        if mirror.startswith(("http://", "https://")):
            url = f"{mirror.rstrip('/')}/{place}"
            content = web.get(url, limit=limit, own=True, auth=mirror_auth(mirror)).content
        else:
            content = read_regular(Path(mirror, place), limit)
    except Missing as missing:  # neither the mirror's address nor where it led
        notes.append(f"mirror: {missing.reason}, {place}")
    except (FileNotFoundError, NotADirectoryError):
        notes.append(f"mirror: no {place}")
    except OSError as error:
        notes.append(f"mirror: {place}: {error.strerror}")
    else:
        if (got := sha256(content)) == digest:
            return content
        notes.append(f"mirror: {place} refused, sha256 is {got}")
    return None


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
    """Write every file of the manifest into `out`, with exactly the bytes that the manifest pins.

    A file that is already right is left alone. Files named one by one with their digest are downloads, not crawling:
    robots.txt is not read. An address without a scheme is a file of the project, relative to `root`. `report` gets a
    line for each file that the mirror refused. Raises PunchlineError for an unavailable file; those already written
    stay.
    """
    entries: list[Annotation] = read_manifest(manifest, Annotation)
    mirror = check_mirror(mirror)
    with closing(Web(manners, hosts)) as web:
        for entry in entries:
            target = out / entry.path
            if not target.is_file() or sha256_file(target) != entry.sha256:
                write_bytes(target, _read(web, entry, mirror, target, root or Path(), report))
    return [out / entry.path for entry in entries]


def _read(
    web: Web, entry: Annotation, mirror: str | None, target: Path, root: Path, report: Callable[[str], None]
) -> bytes:
    """Pinned bytes of a released file, from the mirror or from its address."""
    remote, limit = "://" in entry.url, max(ANNOTATION_BYTES, entry.bytes)
    tried: list[str] = []
    if mirror and remote:
        if (content := from_mirror(web, mirror, entry.mirror, entry.sha256, limit, tried)) is not None:
            return content
        report(f"{entry.path}: {tried[0]}")
    try:
        content = web.get(entry.url, limit=limit, own=True).content if remote else read_regular(root / entry.url, limit)
        if sha256(content) == entry.sha256:
            return content
        tried.append(f"{entry.url}: sha256 is {sha256(content)}")
    except Missing as missing:
        tried.append(str(missing))
    except OSError as error:
        tried.append(f"{entry.url}: {error.strerror}")
    what = f"can't be had from {entry.url} with sha256 {entry.sha256}: {'; '.join(tried)}"
    hint = f"Give mirror=DIR or URL where {entry.mirror} has these bytes"
    raise PunchlineError(what, file=target, record=entry.path, hint=hint)
