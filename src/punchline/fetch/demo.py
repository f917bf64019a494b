"""The demo corpus: files of data/demo/, copied to the place of fetched ones."""

from __future__ import annotations

from pathlib import Path

from punchline import paths
from punchline.artifacts.project import Project
from punchline.comics.number import png_size
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
    for need in project.demo_images(benchmark):
        path, content = Path(need.path), Path(need.path).read_bytes()
        width, height = png_size(content)
        entries.append(
            FetchEntry(
                item_id=path.stem,
                source=path.stem.rsplit("_", 1)[0],
                state="ok",
                path=path.as_posix(),
                sha256=sha256(content),
                bytes=len(content),
                width=width,
                height=height,
                media_type="image/png",
                url=f"demo:{path.stem}",
            )
        )
    return entries
