"""Images that models see: numbered comics, frames, or the released images as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from punchline.artifacts.project import Project
from punchline.core.benchmark import PUBLISHED, Benchmark, Files, NoPicture, illustrated
from punchline.core.threads import threads
from punchline.errors import PunchlineError
from punchline.files import write_bytes, write_records
from punchline.prepare import ledger, reading
from punchline.schema import FetchEntry, ImageRef, Pictures, sha256
from punchline.text import track


def make_pictures(
    benchmark: Benchmark, entry: FetchEntry, files: Files, folder: str
) -> tuple[Pictures, dict[str, bytes]]:
    """The pictures of one ledger entry, and {path: bytes} of them. Pure but for reading the published image.

    A picture's path is <folder>/<item id>/<name><suffix>, or <folder>/<item id><suffix> for one without a name.
    """
    assert entry.path is not None
    source = Path(entry.path)
    if not source.is_file():
        raise PunchlineError(
            "the image in the ledger is gone",
            file=source,
            record=entry.item_id,
            hint="Put it back, or run with --forcerun fetch",
        )
    content = source.read_bytes()
    reason = None
    try:
        made = illustrated(benchmark).pictures(entry.item_id, content, files)
    except NoPicture as why:
        made, reason = [], str(why) or "no picture can be made of it"
    except PunchlineError as error:
        if str(error).startswith(PUBLISHED):
            raise PunchlineError(f"{source}{str(error).removeprefix(PUBLISHED)}") from error
        raise
    paths = [f"{folder}/{'/'.join(filter(None, (entry.item_id, picture.name)))}{picture.suffix}" for picture in made]
    images = tuple(
        ImageRef(path=path, sha256=sha256(one.content), width=one.width, height=one.height, name=one.name)
        for path, one in zip(paths, made, strict=True)
    )
    record = Pictures(
        item_id=entry.item_id,
        images=images,
        source=entry.path,
        source_sha256=sha256(content),
        derivations=tuple(picture.derivation for picture in made),
        reason=reason,
    )
    return record, {path: picture.content for path, picture in zip(paths, made, strict=True)}


def make_all(
    benchmark: Benchmark, ledger: Sequence[FetchEntry], files: Files, folder: str, *, pinned: bool
) -> Iterator[tuple[Pictures, dict[str, bytes]]]:
    """The pictures of every entry that has an image, in order.

    `pinned`: published bytes must be those that the ledger recorded. Raises PunchlineError for an image that differs,
    and as the benchmark's `pictures` does.
    """
    present = [entry for entry in ledger if entry.state == "ok"]

    def one(entry: FetchEntry) -> tuple[Pictures, dict[str, bytes]]:
        made, contents = make_pictures(benchmark, entry, files, folder)
        if pinned and made.source_sha256 != entry.sha256:
            raise PunchlineError(
                f"the image's bytes have changed since they were fetched (sha256 {made.source_sha256[:12]}…, "
                f"the ledger has {str(entry.sha256)[:12]}…)",
                file=entry.path,
                record=entry.item_id,
                hint="Delete the file and run with --forcerun fetch",
            )
        return made, contents

    with ThreadPoolExecutor(threads()) as pool:
        yield from track(pool.map(one, present), len(present), "make_pictures")


def write_pictures(project: Project, benchmark: str) -> None:
    """Write what models see, and an index of it. Pictures of other selections stay: runs share them."""
    loaded, folder, index = project.benchmark(benchmark), project.paths.pictures(benchmark), []
    with reading(project, benchmark, loaded.ITEM_FILES) as files:
        pinned = not project.selection.corpus.drawn
        for made, contents in make_all(loaded, ledger(project, benchmark), files, folder, pinned=pinned):
            for path, content in contents.items():
                write_bytes(path, content)
            index.append(made)
    write_records(project.paths.index(benchmark), index)
