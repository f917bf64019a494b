"""What an audit says of records that differ."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from punchline.audit import sources
from punchline.audit.differences import same, same_cells, same_text
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


def test_cells_that_differ_are_printed_with_both_values() -> None:
    cells = [{"row": f"m{n}", "column": "acc", "value": n / 10, "grades": f"{n}"} for n in range(5)]
    stored = [cell | {"value": 1.0, "grades": "f"} for cell in cells]
    lines = list(same_cells(cells, stored))
    assert lines[0] == "5 cells differ, first row m0, column acc: rebuilt {'value': 0.0}, stored {'value': 1.0}"
    assert len(lines) == 3 and list(same_cells(cells, cells)) == []
    csv_text = "model,acc\nrandom,0.5\nocr,0.7\n"
    assert list(same_text("t.csv", csv_text, csv_text.replace("0.7", "0.9"))) == [
        "1 cells differ, first line 3 (ocr 0.7), column acc: rebuilt '0.7', stored '0.9'"
    ]
    assert list(same_text("t.md", "a\nb\n", "a\nc\n")) == ["1 lines differ, first line 2: rebuilt 'b', stored 'c'"]


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
