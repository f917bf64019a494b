"""The fetching stages: released files and images of a selection, with progress."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.run import Run
from punchline.errors import PunchlineError
from punchline.fetch.annotations import fetch_annotations
from punchline.fetch.images import decode_image, fetch_images
from punchline.fetch.log import Missing
from punchline.fetch.manifests import Selected, read_manifest
from punchline.fetch.web import online
from punchline.files import write_bytes, write_records
from punchline.schema import FetchEntry, sha256
from punchline.text import log_line
from punchline.workflow.processes import MIRROR

RETRY = "PUNCHLINE_RETRY_MISSING"  # try again the images that the fetch log records as missing


def write_annotations(run: Run, benchmark: str) -> None:
    """Fetch the released files of a benchmark, each with its pinned sha256; or copy its demo files."""
    if run.selection.corpus.drawn:
        for name in run.raw_files(benchmark):
            write_bytes(run.paths.raw(benchmark, name), Path(paths.demo(benchmark), name).read_bytes())
        return
    folder, manifest = Path(run.paths.raw(benchmark)), Path(paths.manifest(benchmark))
    files = online(lambda web: fetch_annotations(web, manifest, folder, os.environ.get(MIRROR) or None))
    log_line(f"annotation files in {folder}: {len(files)}")


def write_images(run: Run, benchmark: str) -> None:
    """Fetch the images of the selected items; write the index of them, or of the demo images."""
    where = run.paths
    if run.selection.corpus.drawn:
        write_records(where.fetch_log(benchmark), _index_demo(run, benchmark))
        return
    manifests, raw = Path(paths.manifest(benchmark, "")), Path(where.raw(benchmark))
    selected = read_manifest(Path(where.selected(benchmark)), Selected)
    mirror, retry = os.environ.get(MIRROR) or None, bool(os.environ.get(RETRY))
    entries = online(lambda web: fetch_images(web, selected, manifests, raw, mirror, retry))
    write_records(where.fetch_log(benchmark), entries)
    reasons = Counter(entry.reason for entry in entries if entry.reason)
    log_line(f"{len(entries) - reasons.total()} of {len(entries)} comics are in {raw}")
    for reason, n in reasons.most_common():
        log_line(f"  {n} missing: {reason}; to try these again: punchline retry --images")


def _index_demo(run: Run, benchmark: str) -> list[FetchEntry]:
    """Index entries of all demo images of one benchmark."""
    entries = []
    for path in (run.paths.raw(benchmark, name) for name in run.demo_images(benchmark)):
        content, name = Path(path).read_bytes(), Path(path).stem
        try:
            about: dict[str, Any] = {"path": path, "sha256": sha256(content), "bytes": len(content)}
            about |= decode_image(content)._asdict()
        except Missing as error:
            raise PunchlineError(f"not a readable image: {error}", file=path, hint="Use --forcerun fetch") from error
        entries.append(FetchEntry(item_id=name, source=name.rsplit("_", 1)[0], state="ok", url=f"demo:{name}", **about))
    return entries
