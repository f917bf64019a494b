"""The sources of a table: the corpus of config/, published files as pinned, released answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from punchline import paths, prepare
from punchline.artifacts.data import changed_file
from punchline.artifacts.lineage import Lineage
from punchline.artifacts.project import Project
from punchline.config.selection import read_corpus
from punchline.fetch.manifests import Annotation, Lock, Pin, read_manifest
from punchline.files import sha256_file


def corpus(project: Project, benchmark: str) -> Iterator[str]:
    """The corpus that a lineage names, against config/: it says where raw files lie and whether they are pinned.

    Its sources of other benchmarks do not count, and none do for a table of the data itself, which has no models.
    """
    chosen = project.selection.corpus
    named, here = (
        (of.raw, of.drawn, (of.sources or {}).get(benchmark) if project.selection.models else None)
        for of in (chosen, read_corpus(chosen.name))
    )
    if named != here:
        yield f"the lineage has {named}, config/corpus/ has {here}"


def published(project: Project, benchmark: str) -> Iterator[str]:
    """Raw files against the manifests; images against the fetch log and the pins."""
    for path, url, digest in _released(project):
        if Path(path).is_file() and sha256_file(path) != digest:
            yield f"{path} is not what {url} had when its sha256 was pinned"
    pinned = _pinned(benchmark)
    for entry in prepare.fetch_log(project, benchmark) if project.illustrated(benchmark) else ():
        is_pinned = entry.sha256 in pinned.get(entry.item_id, {entry.sha256}) or entry.own_file is not None
        if changed := changed_file(entry):
            yield changed
        elif entry.state == "ok" and not is_pinned:
            yield f"{entry.path}: the fetch log's sha256 is neither pinned nor locked for {entry.item_id}"


def _released(project: Project) -> Iterator[tuple[str, str, str]]:
    """(path, address, sha256) of every file that was released, or that the project has itself."""
    for name in project.manifests:
        digests = project.annotations(name)
        for row in read_manifest(Path(paths.manifest(name)), Annotation):
            yield project.paths.raw(name, row.path), row.url, digests[row.path]


def _pinned(benchmark: str) -> dict[str, set[str]]:
    """{item id: sha256 of its image}, as manifests pin them and as first fetches had them."""
    pinned = defaultdict[str, set[str]](set)
    kinds: dict[str, type[Pin | Lock]] = {"images_pinned.csv": Pin, "images.lock.csv": Lock}
    for file, kind in ((Path(paths.manifest(benchmark, name)), kind) for name, kind in kinds.items()):
        for row in read_manifest(file, kind) if file.is_file() else ():
            pinned[row.comic_id].add(row.sha256)
    return pinned


def sources(project: Project, lineage: Lineage) -> list[str]:
    """Origins of the published bytes, for people: URLs of the manifests and of the fetch log."""
    name = lineage.benchmark
    if project.selection.corpus.drawn:
        return [f"made by the project: {paths.demo(name)}/"]
    used = {file.path for file in lineage.files}
    lines = [f"{url} sha256 {digest[:16]}…" for path, url, digest in _released(project) if path in used]
    if any(file.role == "ledger" for file in lineage.files):
        entries = [entry for entry in prepare.fetch_log(project, name) if entry.state == "ok"]
        lines.append(f"{len(entries):,} images: one by one in {project.paths.fetch_log(name)}")
        if unpinned := sorted({entry.item_id for entry in entries} - _pinned(name).keys()):
            what = "images that no manifest or lock pins: their bytes are as fetched"
            lines.append(f"{len(unpinned):,} {what} ({', '.join(unpinned[:3])}{', …' * (len(unpinned) > 3)})")
    return lines
