"""YesBut's tables of the released annotations: table 1 and figure 8."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping

import pandas as pd

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
    records = json.loads(files[ANNOTATIONS].decode("utf-8-sig"))  # checked by `golds`
    comics = pd.DataFrame(records, columns=[*itertools.chain(*FIELDS.values())]).set_index("image_file", drop=False)
    for component, fields in FIELDS.items():
        values = comics[[*fields]].melt(ignore_index=False)["value"].explode()  # each is a text or a list
        texts = values[[isinstance(value, str) for value in values]]
        lengths = [len(word_tokens(text)) for text in texts]
        length = average(lengths, texts.index, POSITIVE) if lengths and component != "Image" else None
        yield Row(model=component, number=count([1] * len(texts), texts.index, EXACT), length=length)


figure8 = Table("figure8", files=(ANNOTATIONS,))
