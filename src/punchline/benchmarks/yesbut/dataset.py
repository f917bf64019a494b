"""YesBut's tables of the released annotations: table 1 and figure 8."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import numpy as np

from punchline.benchmarks.yesbut import ANNOTATIONS
from punchline.metrics.ngrams import word_tokens
from punchline.stats.estimate import EXACT, POSITIVE, Estimate, mean, total
from punchline.tables.declare import Row, Table

FIELDS = {  # of the annotations, by component of table 1
    "Literal Description": ("caption",),
    "Contradiction": ("contradiction",),
    "Philosophy": ("moral", "neg_moral"),
    "Title": ("title", "neg_title"),
}


def table1(files: Mapping[str, bytes]) -> Iterator[Row]:
    """Number of each component, and the mean length of its texts in words and marks."""
    comics = json.loads(files[ANNOTATIONS].decode("utf-8-sig"))  # checked by `golds`
    yield Row(model="Image", number=_number([str(comic["image_file"]) for comic in comics]))
    for component, fields in FIELDS.items():
        texts = [(comic, text) for comic in comics for field in fields for text in _texts(comic.get(field))]
        names = [str(comic["image_file"]) for comic, _ in texts]
        lengths = [float(len(tokens)) for _, text in texts if (tokens := word_tokens(text)) is not None]
        sums = np.array([lengths, [1.0] * len(lengths)]).T
        length = Estimate(sums, mean, names, kind=POSITIVE) if lengths else None  # None without NLTK
        yield Row(model=component, number=_number(names), length=length)


def _texts(value: object) -> list[str]:
    """Texts of a field: a text or a list."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _number(names: list[str]) -> Estimate:
    return Estimate(np.ones((len(names), 1)), total, names, kind=EXACT)


TABLE1 = Table(
    "table1",
    "YesBut, table 1: components of the data, and their mean lengths",
    columns=("number", "length"),
    published_rule="released",
    counts=("number",),
    data=table1,
    files=(ANNOTATIONS,),
    notes=(
        "Lengths are in words and marks as NLTK cuts them; without NLTK they stay empty.",
        "Philosophy and title: the right option and the three wrong ones.",
    ),
)
FIGURE8 = Table(
    "figure8",
    "YesBut, figure 8: topics of the comics, share in per cent",
    columns=("share",),
    published_rule="released",
    files=(ANNOTATIONS,),
    notes=(
        "The topics are clusters of keywords that ChatGPT made; which comic has which topic was not released "
        "(its field `category` is free text), so that there is no row of ours.",
    ),
)
