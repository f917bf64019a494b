"""The demo corpus: files of data/demo/, copied to the place of fetched ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.run import Run
from punchline.errors import PunchlineError
from punchline.fetch.images import decode_image
from punchline.fetch.log import Missing
from punchline.files import write_bytes
from punchline.schema import FetchEntry, sha256


def copy_demo(run: Run, benchmark: str) -> None:
    """Copy one benchmark's demo files to its raw files."""
    for name in run.raw_files(benchmark):
        write_bytes(run.paths.raw(benchmark, name), Path(paths.demo(benchmark), name).read_bytes())


def index_demo(run: Run, benchmark: str) -> list[FetchEntry]:
    """Index entries of all demo images of one benchmark."""
    entries = []
    for path in (run.paths.raw(benchmark, name) for name in run.demo_images(benchmark)):
        content, name = Path(path).read_bytes(), Path(path).stem
        try:
            about: dict[str, Any] = {"path": path, "sha256": sha256(content), "bytes": len(content)}
            about |= decode_image(content)._asdict()
        except Missing as error:
            what = f"not a readable image: {error}"
            raise PunchlineError(what, file=path, hint="Run again with --forcerun fetch") from error
        entries.append(FetchEntry(item_id=name, source=name.rsplit("_", 1)[0], state="ok", url=f"demo:{name}", **about))
    return entries
