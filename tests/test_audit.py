"""What an audit says of records that differ."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from punchline.audit import sources
from punchline.audit.rebuild import same
from punchline.config.selection import Corpus

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
    ("named", "benchmark", "of_models", "equal"),
    [
        (["x"], "pixelhumor", True, True),
        (None, "pixelhumor", True, False),  # a table of answers that claims more than was selected
        (["x", "y"], "pixelhumor", True, False),
        (None, "other", True, True),  # the corpus says nothing of its sources
        (None, "pixelhumor", False, True),  # a table of the data itself takes the released files whole
    ],
)
def test_a_corpus_is_compared_as_far_as_a_table_depends_on_it(
    named: list[str] | None,
    benchmark: str,
    of_models: bool,
    equal: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/corpus").mkdir(parents=True)
    (tmp_path / "config/corpus/c.yaml").write_text("name: c\nraw: data/raw\ndrawn: false\nsources: {pixelhumor: [x]}\n")
    corpus = Corpus(name="c", raw="data/raw", drawn=False, sources=None if named is None else {"pixelhumor": named})
    of: Any = SimpleNamespace(selection=SimpleNamespace(corpus=corpus, models=["m"] if of_models else []))
    assert (list(sources.corpus(of, benchmark)) == []) == equal
    of.selection.corpus = replace(corpus, drawn=True)
    assert list(sources.corpus(of, benchmark)) != []
