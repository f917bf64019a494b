"""What an audit says of records that differ."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from punchline.audit import sources
from punchline.audit.rebuild import same
from punchline.config.selection import Corpus

GOLDS = [{"benchmark": "b", "item_id": f"i{n}", "values": {"a": n}} for n in range(2000)]


def differences(stored: list[dict[str, Any]]) -> list[str]:
    return list(same(GOLDS, stored))


def test_each_reason_is_said_once_and_a_record_that_differs_alone_is_named() -> None:
    """Two thousand golds of another benchmark are one finding, which names the first and some others."""
    assert differences(GOLDS) == []
    (said,) = differences([gold | {"benchmark": "c"} for gold in GOLDS])
    one = "i0: rebuilt {'benchmark': 'b'}, stored {'benchmark': 'c'}"
    assert said == f"{one}; 1,999 more differ in benchmark: i1, i2, i3, …"
    stored = [GOLDS[0] | {"benchmark": "c"}, *GOLDS[1:5], GOLDS[5] | {"values": {}}, *GOLDS[6:-1]]
    assert differences(stored) == [
        "1,999 records stored, 2,000 rebuilt",
        one,
        "i5: rebuilt {'values': {'a': 5}}, stored {'values': {}}",
    ]
    hostile = {"item_id": "\x1b[2J\u202e", "values": 1}
    assert list(same([hostile | {"values": 2}], [hostile])) == [
        "\\x1b[2J\\u202e: rebuilt {'values': 2}, stored {'values': 1}"
    ]


# What a lineage may name of a corpus that keeps some sources of b: (sources in it, benchmark, of models, equal).
KEPT = {"b": ["x"]}
CORPORA = [
    (KEPT, "b", True, True),
    (None, "b", True, False),  # a table of answers that claims more than was selected
    ({"b": ["x", "y"]}, "b", True, False),
    (None, "other", True, True),  # the corpus says nothing of its sources
    (None, "b", False, True),  # a table of the data itself takes the released files whole
]


@pytest.mark.parametrize(("named", "benchmark", "of_models", "equal"), CORPORA)
def test_a_corpus_is_compared_as_far_as_a_table_hangs_on_it(
    named: dict[str, list[str]] | None,
    benchmark: str,
    of_models: bool,
    equal: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/corpus").mkdir(parents=True)
    (tmp_path / "config/corpus/c.yaml").write_text("name: c\nraw: data/raw\ndrawn: false\nsources: {pixelhumor: [x]}\n")
    given = None if named is None else {"pixelhumor": named["b"]}
    corpus = Corpus(name="c", raw="data/raw", drawn=False, sources=given)
    selection = type("S", (), {"corpus": corpus, "models": ["m"] if of_models else []})()
    project = type("P", (), {"selection": selection})()
    found = list(sources.corpus(project, "pixelhumor" if benchmark == "b" else benchmark))
    assert (found == []) == equal
    project.selection.corpus = replace(corpus, drawn=True)
    assert list(sources.corpus(project, benchmark)) != []
