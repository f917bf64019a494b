"""YesBut's tables of the released annotations: table 1 and figure 8."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from punchline.benchmarks.yesbut import ANNOTATIONS
from punchline.metrics.ngrams import word_tokens
from punchline.stats.estimate import EXACT, POSITIVE
from punchline.stats.functions import average, count
from punchline.tables.declare import Row, Table, table

FIELDS = {  # of the annotations, by component of table 1
    "Image": ("image_file",),
    "Literal Description": ("caption",),
    "Contradiction": ("contradiction",),
    "Philosophy": ("moral", "neg_moral"),
    "Title": ("title", "neg_title"),
}


@table("table1", of="data", files=(ANNOTATIONS,))
def components(files: Mapping[str, bytes]) -> Iterator[Row]:
    """Number of each component, and the mean length of its texts in words and marks."""
    comics = json.loads(files[ANNOTATIONS].decode("utf-8-sig"))  # checked by `golds`
    for component, fields in FIELDS.items():
        texts = [(str(comic["image_file"]), text) for comic in comics for text in _texts(comic, fields)]
        ids = [image_file for image_file, _ in texts]
        lengths = [len(word_tokens(text)) for _, text in texts]
        length = average(lengths, ids, POSITIVE) if lengths and component != "Image" else None
        yield Row(model=component, number=count([1] * len(ids), ids, EXACT), length=length)


def _texts(comic: Mapping[str, object], fields: tuple[str, ...]) -> list[str]:
    """Texts in fields of an annotation: each is a text or a list."""
    values = [comic.get(field) for field in fields]
    lists = [value if isinstance(value, list) else [value] for value in values]
    return [text for texts in lists for text in texts if isinstance(text, str)]


figure8 = Table("figure8", files=(ANNOTATIONS,))
