"""Images that models see: numbered comics, frames, or the released images as they are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from punchline.artifacts.run import Run
from punchline.core.benchmark import PUBLISHED, Benchmark, Files, NoPicture, illustrated
from punchline.core.threads import threads
from punchline.errors import PunchlineError
from punchline.files import write_bytes, write_records
from punchline.prepare import fetch_log, reading
from punchline.schema import FetchEntry, ImageRef, Pictures, sha256
from punchline.text import track


def make_pictures(
    benchmark: Benchmark, entry: FetchEntry, files: Files, folder: str
) -> tuple[Pictures, dict[str, bytes]]:
    """The pictures of one entry of the fetch log, and {path: bytes} of them. Pure but for reading the published image.

    A picture's path is <folder>/<item id>/<name><suffix>, or <folder>/<item id><suffix> for one without a name.
    Raises PunchlineError as the benchmark's `pictures` does.
    """
    source, item, reason = Path(str(entry.path)), entry.item_id, None
    content = source.read_bytes()
    try:
        pictures = illustrated(benchmark).pictures(item, content, files)
    except NoPicture as why:
        pictures, reason = [], str(why) or "no picture can be made of it"
    except PunchlineError as error:
        raise PunchlineError(str(error).replace(PUBLISHED, str(source), 1)) from error
    made = {f"{folder}/{'/'.join(filter(None, (item, one.name)))}{one.suffix}": one for one in pictures}
    images = []
    for path, one in made.items():
        size = {"width": one.width, "height": one.height}
        images.append(ImageRef(path=path, sha256=sha256(one.content), name=one.name, **size))
    about: dict[str, Any] = {"source": str(entry.path), "source_sha256": sha256(content), "reason": reason}
    about["derivations"] = tuple(one.derivation for one in pictures)
    record = Pictures(item_id=item, images=tuple(images), **about)
    return record, {path: one.content for path, one in made.items()}


def write_pictures(run: Run, benchmark: str) -> None:
    """Write what models see, and an index of it. Pictures of other selections stay: runs share them."""
    loaded, folder, index = run.benchmark(benchmark), run.paths.pictures(benchmark), []
    present = [entry for entry in fetch_log(run, benchmark) if entry.state == "ok"]
    with reading(run, benchmark, loaded.ITEM_FILES) as files, ThreadPoolExecutor(threads()) as pool:
        make = partial(make_pictures, loaded, files=files, folder=folder)
        for record, contents in track(pool.map(make, present), len(present), "make_pictures"):
            for path, content in contents.items():
                write_bytes(path, content)
            index.append(record)
    write_records(run.paths.index(benchmark), index)
