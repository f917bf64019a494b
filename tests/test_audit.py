"""What an audit says of records that differ."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from punchline.audit import sources
from punchline.audit.rebuild import same
from punchline.config.selection import Corpus
from punchline.files import write_text

GOLDS = [{"benchmark": "b", "item_id": f"i{n}", "values": {"a": n}} for n in range(2000)]


def test_each_reason_is_said_once_and_a_record_that_differs_alone_is_named() -> None:
    """Two thousand golds of another benchmark are one finding, which names the first and some others."""
    assert list(same(GOLDS, GOLDS)) == []
    (output,) = same(GOLDS, [gold | {"benchmark": "c"} for gold in GOLDS])
    one = "i0: rebuilt {'benchmark': 'b'}, stored {'benchmark': 'c'}"
    assert output == f"{one}; 1,999 more differ in benchmark: i1, i2, i3, …"
    stored = [GOLDS[0] | {"benchmark": "c"}, *GOLDS[1:5], GOLDS[5] | {"values": {}}, *GOLDS[6:-1]]
    assert list(same(GOLDS, stored)) == [
        "1,999 records stored, 2,000 rebuilt",
        one,
        "i5: rebuilt {'values': {'a': 5}}, stored {'values': {}}",
    ]
    hostile = {"item_id": "\x1b[2J\u202e", "values": 1}
    assert list(same([hostile | {"values": 2}], [hostile])) == [
        "\\x1b[2J\\u202e: rebuilt {'values': 2}, stored {'values': 1}"
    ]


# Sources of a corpus that a lineage names, its benchmark, whether the table is of models: the corpus keeps x of b.
@pytest.mark.parametrize(
    ("named", "benchmark", "models", "equal"),
    [
        (["x"], "pixelhumor", ["m"], True),
        (None, "pixelhumor", ["m"], False),  # a table of answers that claims more than was selected
        (["x", "y"], "pixelhumor", ["m"], False),
        (None, "other", ["m"], True),  # the corpus says nothing of its sources
        (None, "pixelhumor", [], True),  # a table of the data itself takes the released files whole
    ],
)
def test_what_counts_of_a_corpus(here: Path, named: Any, benchmark: str, models: list[str], equal: bool) -> None:
    write_text("config/corpus/c.yaml", "name: c\nraw: data/raw\ndrawn: false\nsources: {pixelhumor: [x]}\n")
    corpus = Corpus(name="c", raw="data/raw", drawn=False, sources=named and {"pixelhumor": named})
    of: Any = SimpleNamespace(selection=SimpleNamespace(corpus=corpus, models=models))
    assert (list(sources.corpus(of, benchmark)) == []) == equal
    of.selection.corpus = replace(corpus, drawn=True)
    assert list(sources.corpus(of, benchmark)) != []
