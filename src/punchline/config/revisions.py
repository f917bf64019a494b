"""Bytes that a model id stands for: a commit of a hub repository, or the digest of a folder's files.

Hub models without `revision` in their card are resolved once and locked in data/locks/models.lock.csv, which later
runs follow. That file is the user's to commit.
"""

from __future__ import annotations

import contextvars
import fcntl
import functools
import importlib.util
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from punchline.errors import PunchlineError
from punchline.files import MANIFEST, csv_text, decoded, files_of, parse_csv, write_text
from punchline.paths import DATA, MODELS_LOCK
from punchline.schema import digest_of

LOCK = Path(MODELS_LOCK)
COLUMNS = ("id", "revision")
PIN = "Pin `revision` in the card, or make data/locks writable"
OFFLINE = "the hub was not reached and the model is not in its local cache"
BUILT = "python scripts/small_model.py builds SmolLM2"


def is_folder(model_id: str) -> bool:
    """True if an id names a folder rather than a hub repository: it is one, or is written as a path."""
    return Path(model_id).is_dir() or model_id.startswith(("/", "./", "../", "~", DATA)) or model_id.count("/") > 1


def check(revision: str | None, file: str, trust_remote_code: bool = False) -> None:
    """Raise PunchlineError, naming the card, for a `revision` that pins nothing, and for code that none pins."""
    if revision is not None and not re.fullmatch("[0-9a-f]{40}|sha256:[0-9a-f]{64}", revision):
        what = f"expected a commit hash of 40 hexadecimal digits, of a folder sha256: and 64, got {revision!r}"
        raise PunchlineError(what, file=file, field="revision")
    if trust_remote_code and revision is None:
        what = "code from the hub runs at a pinned revision only"
        raise PunchlineError(what, file=file, field="trust_remote_code", hint="Read the code, then pin its commit")


def pinned(model_id: str, revision: str | None = None) -> str:
    """The revision that an id stands for: the card's if it has one, else the locked one, else what the hub has now.

    A folder's is `sha256:` and the digest of its files. Asks the hub at most once in a model's life; where the hub
    cannot be reached, what is in its local cache is taken. Raises PunchlineError where nothing is found and for a
    folder whose files are not those of `revision`.
    """
    if is_folder(model_id):
        actual = folder_revision(model_id)
        if revision not in (None, actual):
            what = f"the files are not those that the card pins: {actual}, expected {revision}"
            raise PunchlineError(what, file=model_id, hint="Restore the files, or write the new digest into the card")
        return actual
    return revision or _locked(model_id)


def folder_revision(folder: str | Path) -> str:
    """`sha256:` and the digest of {path: sha256} of a folder's files, from its punchline.json if there is one.

    Raises PunchlineError for a folder that is not there.
    """
    if not Path(folder).is_dir():
        raise PunchlineError("no such folder", file=folder, hint=f"Put the model's files there; {BUILT}")
    listed = _listed(folder)
    return f"sha256:{_digest_of_files(Path(folder).resolve()) if listed is None else digest_of(listed)}"


def verify_folder(folder: str | Path) -> None:
    """Raises PunchlineError when a folder's files are not those that its punchline.json lists. Reads every byte."""
    listed = _listed(folder)
    if listed is not None and listed != (actual := files_of(folder)):
        changed = sorted(name for name, _ in listed.items() ^ actual.items())
        what = f"files are not as {MANIFEST} lists them: {', '.join(dict.fromkeys(changed))}"
        raise PunchlineError(what, file=folder, hint=f"Put the model's files there again; {BUILT}")


class _Manifest(msgspec.Struct):
    files: dict[str, str]


def _listed(folder: str | Path) -> dict[str, str] | None:
    """{path: sha256} of a folder's punchline.json; None if it has none."""
    file, hint = Path(folder) / MANIFEST, "Delete the folder, build it again"
    return decoded(file.read_bytes(), _Manifest, "a list of files", file, hint=hint).files if file.is_file() else None


@functools.cache
def _digest_of_files(folder: Path) -> str:
    return digest_of(files_of(folder))


_ASK = contextvars.ContextVar("ask the hub", default=True)


def locked_only(call: Callable[..., str], *values: Any) -> str:
    """The result of a call that does not ask the hub: a revision that is not locked yet is a PunchlineError."""
    context = contextvars.copy_context()
    context.run(_ASK.set, False)
    return context.run(call, *values)


def unavailable(model_id: str, revision: str | None = None, weights: bool = True) -> str | None:
    """Reason why a model's revision or `weights` cannot be had, as far as is known without the hub; None: they may be.

    The errors of a run are known before it: a lock that cannot be read or written, a missing package, no network.
    """
    if is_folder(model_id):
        return None if Path(model_id).is_dir() else f"no such folder: {model_id}; {BUILT}"
    try:
        revision = revision or _lines().get(model_id)
    except PunchlineError as error:
        return str(error)
    if revision is None and importlib.util.find_spec("huggingface_hub") is None:
        return f"its revision is not in {MODELS_LOCK} yet, and huggingface_hub is not installed; run make hf"
    if revision is None and not _is_writable(LOCK.parent):
        return f"its revision is not in {MODELS_LOCK} yet, which cannot be written; {PIN}"
    needed = revision is None or weights
    return f"{OFFLINE}; unset HF_HUB_OFFLINE" if needed and _is_offline() and not _cached(model_id, revision) else None


def _is_writable(folder: Path) -> bool:
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    return existing.is_dir() and os.access(existing, os.W_OK)


def _is_offline() -> bool:
    """True if the environment keeps the hub's package from asking it."""
    try:
        from huggingface_hub import constants
    except ImportError:
        return False
    return bool(constants.HF_HUB_OFFLINE)


def _cached(model_id: str, revision: str | None) -> str | None:
    """The commit of a hub model that is in the local cache."""
    from huggingface_hub import snapshot_download

    with suppress(Exception):  # not there: the reasons share no base
        return Path(snapshot_download(model_id, revision=revision, local_files_only=True)).name
    return None


def _locked(model_id: str) -> str:
    """The locked revision of a hub repository; resolved and locked first where it is not. One process at a time."""
    if model_id not in _lines():
        if not _ASK.get():
            raise PunchlineError("its revision is not locked yet", record=model_id)
        with _changing():
            lines = _lines()
            lines[model_id] = lines.get(model_id) or _resolve(model_id)
            write_text(LOCK, csv_text(COLUMNS, (dict(zip(COLUMNS, line, strict=True)) for line in lines.items())))
    return _lines()[model_id]


@contextmanager
def _changing() -> Iterator[None]:
    """Lock the lock file itself against other processes. Raises PunchlineError where it cannot be written."""
    is_new = not LOCK.exists()
    try:
        LOCK.parent.mkdir(parents=True, exist_ok=True)
        with _held() as file:
            try:
                yield
            finally:
                if is_new and _is_at(file, LOCK):  # nothing was written
                    LOCK.unlink()
    except OSError as error:
        raise PunchlineError(f"cannot be written: {error.strerror}", file=LOCK, hint=PIN) from error


@contextmanager
def _held() -> Iterator[int]:
    """The descriptor of the lock file for this process alone. Not of its folder: NFS locks what is open for writing."""
    while True:
        with LOCK.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(file.fileno(), LOCK):
                yield file.fileno()
                return


def _is_at(descriptor: int, path: Path) -> bool:
    """True if an open file is still the one at a path: the process that held it before may have replaced it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False


def _lines() -> dict[str, str]:
    """{id: revision} of the lock. It is committed empty, and may be absent. Raises PunchlineError for other lines."""
    content = LOCK.read_bytes() if LOCK.is_file() else b""
    rows = parse_csv(content, COLUMNS, file=LOCK) if content.strip() else []
    for line, row in rows:
        if not re.fullmatch("[0-9a-f]{40}", row["revision"]):
            what, hint = f"expected a commit hash, got {row['revision']!r}", "Delete the line: the next run locks anew"
            raise PunchlineError(what, file=LOCK, line=line, record=row["id"], field="revision", hint=hint)
    return {row["id"]: row["revision"] for _, row in rows}


def _resolve(model_id: str) -> str:
    """The commit that the hub's default branch has now, else the one in the local cache."""
    try:
        from huggingface_hub import HfApi
    except ImportError:
        raise PunchlineError("huggingface_hub is not installed", record=model_id, hint="Run make hf") from None
    try:
        return str(HfApi().model_info(model_id, timeout=30).sha)
    except Exception as error:  # no network, no such repository, no licence accepted: its many errors share no base
        if commit := _cached(model_id, None):
            return commit
        # The error's type: its text may hold headers.
        what = f"{OFFLINE} ({type(error).__name__})"
        raise PunchlineError(what, record=model_id, hint="Check id and network; a gated model needs HF_TOKEN") from None
