"""The demo corpus: files of data/demo/, copied to the place of fetched ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.project import Project
from punchline.errors import PunchlineError
from punchline.fetch.images import decode_image
from punchline.fetch.log import Missing
from punchline.files import write_bytes
from punchline.schema import FetchEntry, sha256


def copy_demo(project: Project, benchmark: str) -> None:
    """Copy one benchmark's demo files to its raw files."""
    folder = project.paths.raw(benchmark)
    for path in project.raw(benchmark).outputs:
        write_bytes(path, Path(paths.demo(benchmark), Path(path).relative_to(folder)).read_bytes())


def index_demo(project: Project, benchmark: str) -> list[FetchEntry]:
    """Index entries of all demo images of one benchmark."""
    entries = []
    for image in project.demo_images(benchmark):
        content, name = Path(image.path).read_bytes(), Path(image.path).stem
        try:
            about: dict[str, Any] = {"path": image.path, "sha256": sha256(content), "bytes": len(content)}
            about |= decode_image(content)._asdict()
        except Missing as error:
            what = f"not a readable image: {error}"
            raise PunchlineError(what, file=image.path, hint="Run again with --forcerun fetch") from error
        entries.append(FetchEntry(item_id=name, source=name.rsplit("_", 1)[0], state="ok", url=f"demo:{name}", **about))
    return entries
