"""Writes the manifests beside this file from a mirror folder: python data/manifests/make.py MIRROR

Run it only when the mirror's content has changed on purpose; review the diff. Digests and sizes are taken from the
mirror's bytes; where the mirror's own manifest states a digest, the two must agree.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from punchline.errors import PunchlineError, entry_point
from punchline.fetch import ANNOTATION_COLUMNS, PIN_COLUMNS
from punchline.storage import csv_text, parse_csv, sha256_file, write_text

HERE = Path(__file__).resolve().parent
COMMIT = "cbf9f3da531a7993710c48ef302a3e9f2d197435"
RAW = "https://raw.githubusercontent.com"
NO_LICENCE = "none stated; README: for research purposes only"


def annotations(mirror: Path) -> list[dict[str, object]]:
    """The eight CSVs of Social-AI-Studio/PixelHumor at COMMIT."""
    return [
        {
            "path": file.name,
            "url": f"{RAW}/Social-AI-Studio/PixelHumor/{COMMIT}/PixelHumor/{file.name}",
            "sha256": sha256_file(file),
            "bytes": file.stat().st_size,
            "licence": NO_LICENCE,
            "mirror": f"pixelhumor/{file.name}",
        }
        for file in sorted((mirror / "pixelhumor").glob("*.csv"))
    ]


def pin(
    mirror: Path, place: str, said: str, *, comic_id: str, page_url: str, image_url: str, licence: str, credit: str
) -> dict[str, object]:
    """One line of a manifest of pinned images; `place` is the path under the mirror, `said` the digest stated there."""
    file = mirror / place
    digest = sha256_file(file)
    if digest != said:
        raise PunchlineError(f"sha256 is {digest}, the mirror's manifest says {said}", file=file)
    with Image.open(file) as image:
        width, height = image.size
    return {
        "comic_id": comic_id,
        "page_url": page_url,
        "image_url": image_url,
        "sha256": digest,
        "bytes": file.stat().st_size,
        "width": width,
        "height": height,
        "licence": licence,
        "mirror": place,
        "credit": credit,
    }


def xkcd(mirror: Path) -> list[dict[str, object]]:
    """The xkcd comics of PixelHumor whose bytes the mirror has."""
    file = mirror / "xkcd" / "manifest.csv"
    return [
        pin(
            mirror,
            f"xkcd/{row['file']}",
            row["sha256"],
            comic_id=row["comic_id"],
            page_url=row["url"],
            image_url=row["image_url"],
            licence="CC BY-NC 2.5",
            credit=f"xkcd by Randall Munroe, {row['url']}, CC BY-NC 2.5",
        )
        for _, row in parse_csv(file.read_bytes(), ["comic_id", "url", "image_url", "file", "sha256"], file=file)
    ]


def silent(mirror: Path) -> list[dict[str, object]]:
    """The freely licensed silent (or text-free) strips, from their own repositories."""
    file = mirror / "silent" / "manifest.csv"
    columns = ["file", "sha256", "source_repo", "commit", "path", "license", "author", "source_page"]
    return [
        pin(
            mirror,
            f"silent/{row['file']}",
            row["sha256"],
            comic_id=Path(row["file"]).stem,
            page_url=row["source_page"],
            image_url=f"{RAW}/{row['source_repo']}/{row['commit']}/{row['path']}",
            licence=row["license"],
            credit=f"{row['author']}, {row['source_page']}, {row['license']}",
        )
        for _, row in parse_csv(file.read_bytes(), columns, file=file)
    ]


@entry_point
def main() -> None:
    if len(sys.argv) != 2:
        raise PunchlineError("one argument is needed", way_out="Run: python data/manifests/make.py MIRROR")
    mirror = Path(sys.argv[1])
    write_text(HERE / "pixelhumor" / "annotations.csv", csv_text(ANNOTATION_COLUMNS, annotations(mirror)))
    write_text(HERE / "pixelhumor" / "images_pinned.csv", csv_text(PIN_COLUMNS, xkcd(mirror)))
    write_text(HERE / "stripcipher" / "silent_pinned.csv", csv_text(PIN_COLUMNS, silent(mirror)))


if __name__ == "__main__":
    main()
