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

GOLDS = [{"benchmark": "b", "item_id": f"i{n}", "values": {"a": n}} for n in range(5)]


def test_records_that_differ_are_counted_and_the_first_is_named() -> None:
    assert list(same(GOLDS, GOLDS)) == []
    assert list(same(GOLDS, [GOLDS[0], *(gold | {"benchmark": "c"} for gold in GOLDS[1:-1])])) == [
        "4 records stored, 5 rebuilt",
        "3 records differ, first i1: rebuilt {'benchmark': 'b'}, stored {'benchmark': 'c'}",
    ]
    hostile = {"item_id": "\x1b[2J\u202e", "values": 1}
    (output,) = same([hostile | {"values": 2}], [hostile])
    assert output == "1 records differ, first \\x1b[2J\\u202e: rebuilt {'values': 2}, stored {'values': 1}"


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
