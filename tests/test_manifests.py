"""Manifests: bad lines, and those of the project."""

from pathlib import Path
from typing import Any

import pytest
from tests.fetch_server import (
    annotations,
    project,
)
from tests.test_fetch import ROOT

from punchline.errors import PunchlineError
from punchline.fetch.manifests import LOCK_COLUMNS, Annotation, Lock, Pin, Selected, read_manifest
from punchline.files import csv_text

__all__ = ["project"]


@pytest.mark.parametrize(
    ("kind", "changed", "message"),
    [
        (Annotation, {"path": "../evil.csv"}, "field path"),
        (Annotation, {"path": "/etc/passwd"}, "field path"),
        (Annotation, {"mirror": "a/../../b"}, "field mirror"),
        (Annotation, {"sha256": "abc"}, "field sha256"),
        (Annotation, {"bytes": "many"}, "bytes"),
        *((Annotation, {"url": url}, "field url: .*leaves") for url in ("../a.csv", "/etc/hostname", "a/../../x.csv")),
        *((Lock, {"mirror": place}, "field mirror: .*leaves") for place in ("../a.png", "/etc/x.png", "a/../../x.png")),
    ],
)
def test_bad_manifest_names_its_line(tmp_path: Path, kind: Any, changed: dict[str, object], message: str) -> None:
    path = annotations(tmp_path, b"", **(changed if kind is Annotation else {}))
    if kind is Lock:
        path.write_text(csv_text(LOCK_COLUMNS, [dict.fromkeys(LOCK_COLUMNS, 1) | {"sha256": "0" * 64} | changed]))
    with pytest.raises(PunchlineError, match=rf"annotations\.csv, line 2.*{message}"):
        read_manifest(path, kind)
    with pytest.raises(PunchlineError, match="field item_id: missing column"):
        read_manifest(path, Selected)
    with pytest.raises(PunchlineError, match="no such file"):
        read_manifest(tmp_path / "ids.csv", Selected)


def test_manifests_in_git_are_sound() -> None:
    folder = ROOT / "data" / "manifests"
    files = read_manifest(folder / "pixelhumor" / "annotations.csv", Annotation)
    assert len(files) == 8
    assert all("cbf9f3da531a7993710c48ef302a3e9f2d197435/PixelHumor/" + line.path in line.url for line in files)
    pins = read_manifest(folder / "pixelhumor" / "images_pinned.csv", Pin)
    assert len({pin.comic_id for pin in pins}) == len({pin.sha256 for pin in pins}) == 203
    assert len(read_manifest(folder / "stripcipher" / "silent_pinned.csv", Pin)) == 40
