"""StripCipher's images: the strip as published, its frames, the masked one, frames side by side."""

from __future__ import annotations

import io

from punchline.benchmarks.comic_panels import Metadata, ReadingOrder, by_comic
from punchline.benchmarks.pictures import as_published, png_of
from punchline.benchmarks.stripcipher import METADATA, OBJECTIVE
from punchline.benchmarks.stripcipher.strips import Strip, strips_of
from punchline.comics import frames
from punchline.comics.split import Box, Pixels, read_image, split
from punchline.core.benchmark import PUBLISHED, Files, NoPicture, Picture


def pictures(item_id: str, content: bytes, files: Files) -> list[Picture]:
    """Images of a strip for models.

    page: as published; frame1 … frameN in reading order; masked: the second-to-last, blank; row_shuffled, row_masked:
    the frames side by side, for one-image models. Raises NoPicture where splitting does not give the stated number of
    frames, PunchlineError for an image that cannot be read and for a box outside it.
    """
    strip = strips_of(files)[item_id]
    image = read_image(io.BytesIO(content), PUBLISHED)
    boxes = panels(strip, image, files)
    parts = frames.cut(image, boxes, name=PUBLISHED)
    order = frames.shown_order(strip.frames, item_id)
    masked = frames.masked(parts)
    images = {f"frame{number}": part for number, part in enumerate(parts, start=1)} | {"masked": masked[-2]}
    images |= {"row_shuffled": frames.row([parts[place] for place in order]), "row_masked": frames.row(masked)}
    derivation = {"boxes": [list(box) for box in boxes], **frames.derivation()}
    return [as_published(content), *(png_of(name, pixels, derivation) for name, pixels in images.items())]


def panels(strip: Strip, image: Pixels, files: Files) -> list[Box]:
    """The boxes of a strip's frames, in reading order. Raises NoPicture where there are not as many as it says."""
    if isinstance(strip.boxes, list):
        return [Box(*box) for box in strip.boxes]
    if strip.boxes == "pixelhumor":
        boxes, where = _of_pixelhumor(strip.item_id, files), f"PixelHumor's {METADATA}"
    else:
        boxes, where = split(image), "splitting"
    if len(boxes) != strip.frames:
        raise NoPicture(f"{len(boxes)} panels by {where}, {strip.frames} stated")
    return boxes


def _of_pixelhumor(item_id: str, files: Files) -> list[Box]:
    """The boxes of one of PixelHumor's comics in its reading order; none where its two files do not fit each other."""
    metadata, objective = by_comic(files, METADATA, Metadata), by_comic(files, OBJECTIVE, ReadingOrder)
    if item_id not in metadata or item_id not in objective:
        return []
    by_label = {label: Box(x1, y1, x2, y2) for x1, y1, x2, y2, label in metadata[item_id].boxes}
    labels = [int(label) for label in objective[item_id].panel_sequence.split(",")]
    return [by_label[label] for label in labels] if sorted(labels) == sorted(by_label) else []
