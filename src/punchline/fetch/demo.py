"""The demo corpus: files of data/demo/, copied to the place of fetched ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    return [_entry(Path(need.path)) for need in project.demo_images(benchmark)]


def _entry(path: Path) -> FetchEntry:
    content, name = path.read_bytes(), path.stem
    width, height = png_size(content)
    picture: dict[str, Any] = {"width": width, "height": height, "media_type": "image/png", "url": f"demo:{name}"}
    file: dict[str, Any] = {"path": path.as_posix(), "sha256": sha256(content), "bytes": len(content)}
    return FetchEntry(item_id=name, source=name.rsplit("_", 1)[0], state="ok", **file, **picture)
