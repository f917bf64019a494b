"""Writes the manifests beside this file from a mirror folder: python data/manifests/make.py MIRROR

Run it only when the mirror's content has changed on purpose; review the diff. Digests and sizes are taken from the
mirror's bytes; where the mirror's own manifest states a digest, the two must agree.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import quote

from PIL import Image

from punchline.benchmarks.stripcipher import FEWEST, MOST, STRIPS
from punchline.errors import PunchlineError, entry_point
from punchline.fetch.manifests import ANNOTATION_COLUMNS, PIN_COLUMNS
from punchline.files import csv_text, parse_csv, sha256_file, write_text

HERE = Path(__file__).resolve().parent
COMMIT = "cbf9f3da531a7993710c48ef302a3e9f2d197435"
YESBUT_COMMIT = "90186c127419110eb80fdce3f7336738da545303"
HUMMUS_COMMIT = "0ea085e12cb83a210465021dd32aff23c7da3014"
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


def yesbut(mirror: Path) -> list[dict[str, object]]:
    """Annotations of Tuo-Liang/YESBUT at YESBUT_COMMIT, and descriptions that lie beside the manifest."""
    annotations = mirror / "yesbut" / "Yesbut_data.json"
    url = f"{RAW}/Tuo-Liang/YESBUT/{YESBUT_COMMIT}/data/{annotations.name}"
    files = [(annotations, url, "none stated")]
    for file in sorted((HERE / "yesbut").glob("descriptions_*.json")):
        files.append((file, f"data/manifests/yesbut/{file.name}", "as the model's"))
    return [
        {
            "path": file.name,
            "url": url,
            "sha256": sha256_file(file),
            "bytes": file.stat().st_size,
            "licence": licence,
            "mirror": f"yesbut/{file.name}",
        }
        for file, url, licence in files
    ]


def hummus(mirror: Path) -> list[dict[str, object]]:
    """Annotations of xiaoyuisrain/humorous-multimodal-metaphor-use at HUMMUS_COMMIT."""
    places = ("hummus_dataset.json", "model_evaluation/test_set.json", "images/image_descriptions.csv")
    files = {place: mirror / "hummus" / Path(place).name for place in places}
    return [
        {
            "path": file.name,
            "url": f"{RAW}/xiaoyuisrain/humorous-multimodal-metaphor-use/{HUMMUS_COMMIT}/{place}",
            "sha256": sha256_file(file),
            "bytes": file.stat().st_size,
            "licence": "CC BY-NC-SA 4.0",
            "mirror": f"hummus/{file.name}",
        }
        for place, file in files.items()
    ]


def humorbench_runs(mirror: Path) -> list[dict[str, object]]:
    """Runs, labels and scores of ReubenNarad/Humor-Bench, each at the commit that the mirror's FILES.csv names.

    Its folders are commits; before cc99276 there is no licence file, so that these bytes are fetched and never kept.
    """
    file = mirror / "humorbench_runs" / "FILES.csv"
    rows = []
    for line, row in parse_csv(file.read_bytes(), ["path", "commit", "sha256", "bytes"], file=file):
        if sha256_file(file.parent / row["path"]) != row["sha256"]:
            raise PunchlineError(f"{row['path']} is not what FILES.csv says", file=file, line=line)
        commit, place = row["path"].split("/", 1)
        rows.append(
            {
                "path": row["path"],
                "url": f"{RAW}/ReubenNarad/Humor-Bench/{row['commit']}/{quote(place)}",
                "sha256": row["sha256"],
                "bytes": row["bytes"],
                "licence": "MIT" if commit == "cc99276" else "none stated",
                "mirror": f"humorbench_runs/{row['path']}",
            }
        )
    return rows


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


# Panels of the silent strips that splitting does not part: drawn by eye, in reading order (x1, y1, x2, y2; pixels).
PANELS = {
    "mimi_eunice_026": [(18, 22, 792, 726), (812, 10, 1604, 735), (1612, 22, 2386, 726)],
    "mimi_eunice_082": [(14, 22, 788, 726), (812, 22, 1586, 726), (1600, 10, 2396, 735)],
    "mimi_eunice_083": [(14, 10, 788, 740), (812, 10, 1586, 740), (1612, 10, 2386, 740)],
    "mimi_eunice_124": [(14, 22, 788, 726), (812, 22, 1628, 726), (1662, 10, 2390, 740)],
    "mimi_eunice_285": [(14, 22, 788, 726), (812, 22, 1586, 726), (1612, 22, 2386, 726)],
    "mimi_eunice_319": [(12, 22, 788, 726), (800, 10, 1610, 740), (1612, 22, 2386, 726)],
}


def strips(mirror: Path) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """StripCipher's strips, without texts, and the pins of their images: those of 3 to 8 panels.

    Silent strips with the panels counted in the mirror's manifest; xkcd with as many as PixelHumor's boxes.
    """
    file = mirror / "silent" / "manifest.csv"
    panels = {Path(row["file"]).stem: row["panels"] for _, row in parse_csv(file.read_bytes(), ["panels"], file=file)}
    file = mirror / "pixelhumor" / "metadata.csv"
    for _, row in parse_csv(file.read_bytes(), ["comic_id", "metadata"], file=file):
        panels[row["comic_id"]] = str(row["metadata"].count("'panel_number'"))
    records, pins = [], []
    for one in (*silent(mirror), *xkcd(mirror)):
        item_id = str(one["comic_id"])
        source = item_id.rsplit("_", 1)[0]
        if not panels[item_id].isdigit() or not FEWEST <= int(panels[item_id]) <= MOST:
            continue
        record = {"item_id": item_id, "source": source, "url": one["page_url"], "frames": int(panels[item_id])}
        record["boxes"] = "pixelhumor" if source == "xkcd" else PANELS.get(item_id)
        records.append(record | {"texts": None, "credit": one["credit"], "licence": one["licence"]})
        pins.append(one)
    return records, pins


def stripcipher(mirror: Path) -> None:
    """The manifests of StripCipher. Its strips.json is the project's own file."""
    folder = HERE / "stripcipher"
    records, pins = strips(mirror)
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    write_text(folder / STRIPS, f"[\n{lines}\n]\n")
    own = {
        "path": STRIPS,
        "url": f"data/manifests/stripcipher/{STRIPS}",
        "sha256": sha256_file(folder / STRIPS),
        "bytes": (folder / STRIPS).stat().st_size,
        "licence": "of the project; the strips are under licences of their own, in each record",
        "mirror": f"stripcipher/{STRIPS}",
    }
    boxes = [row for row in annotations(mirror) if row["path"] in ("metadata.csv", "objective_label.csv")]
    write_text(folder / "annotations.csv", csv_text(ANNOTATION_COLUMNS, [own, *boxes]))
    write_text(folder / "images_pinned.csv", csv_text(PIN_COLUMNS, pins))
    write_text(folder / "silent_pinned.csv", csv_text(PIN_COLUMNS, silent(mirror)))


@entry_point
def main() -> None:
    if len(sys.argv) != 2:
        raise PunchlineError("one argument is needed", hint="Run: python data/manifests/make.py MIRROR")
    mirror = Path(sys.argv[1])
    write_text(HERE / "pixelhumor" / "annotations.csv", csv_text(ANNOTATION_COLUMNS, annotations(mirror)))
    write_text(HERE / "pixelhumor" / "images_pinned.csv", csv_text(PIN_COLUMNS, xkcd(mirror)))
    stripcipher(mirror)
    write_text(HERE / "yesbut" / "annotations.csv", csv_text(ANNOTATION_COLUMNS, yesbut(mirror)))
    write_text(HERE / "yesbut" / "images_pinned.csv", csv_text(PIN_COLUMNS, []))  # no image's digest is known
    write_text(HERE / "humorbench_runs" / "annotations.csv", csv_text(ANNOTATION_COLUMNS, humorbench_runs(mirror)))
    write_text(HERE / "hummus" / "annotations.csv", csv_text(ANNOTATION_COLUMNS, hummus(mirror)))
    for name in ("hummus", "humorbench"):
        write_text(HERE / name / "images_pinned.csv", csv_text(PIN_COLUMNS, []))  # no image's digest is known


if __name__ == "__main__":
    main()
