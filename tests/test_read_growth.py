"""No answer costs much more than prose of its length, whatever it repeats; attempts to read JSON are bounded."""

import json
from typing import Any

import pytest
from benchmarks.read_fuzz import PIECES, READERS
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ran import cpu_seconds

from punchline.read import json_tables

PROSE = "The man looks at his dog and laughs because the dog reads a book in the park while it rains. "
DENSE = (
    *("[", "{", "[[", '[{"a": ', '{"a":', '{"answer": [', '["a", ', "\\boxed{", "(", "<i>", "| a ", "- [ ] "),
    *("A, ", "not A ", "if A ", "图3", "frame one ", "### ", "</s", "<|", "text and ", "A is wrong, ", "1, ", *PIECES),
)
MOST = 60  # times the prose of the same length, far from both what is measured (at most 20) and a square


def _seconds(name: str, answer: str) -> float:
    return cpu_seconds(lambda: READERS[name][0](answer))


@settings(max_examples=60)
@given(st.sampled_from(sorted(READERS)), st.sampled_from(DENSE), st.integers(1, 1_000_000))
def test_cost_grows_as_that_of_prose(name: str, piece: str, length: int) -> None:
    dense = (piece * (length // len(piece) + 1))[:length]
    prose = (PROSE * (max(length, 20_000) // len(PROSE) + 1))[: max(length, 20_000)]
    base = min(_seconds(name, prose) for _ in range(2))
    assert _seconds(name, dense) < MOST * max(base, 0.001) or _seconds(name, dense) < MOST * max(base, 0.001)


class _Counting(json.JSONDecoder):
    tried = 0

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        self.tried += 1
        return super().raw_decode(s, idx)


@pytest.mark.parametrize("piece", [one for one in DENSE if one[0] in "[{"])
@pytest.mark.parametrize("length", [100, 19_900])
def test_openers_of_json_are_tried_a_bounded_number_of_times(
    piece: str, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = _Counting(object_pairs_hook=json_tables._object)
    monkeypatch.setattr(json_tables, "_DECODER", decoder)
    json_tables.lines((piece * length)[:length])
    assert decoder.tried <= json_tables._ATTEMPTS


@pytest.mark.parametrize("depth", [60, 5_000])
def test_values_too_deep_are_no_data(depth: int) -> None:
    assert json_tables.lines('[{"a":' * depth + "1" + "}]" * depth) == ""


@pytest.mark.parametrize("before", ["[", "[[[[{", '[{"a": ' * 40, '{"b": {'])
def test_an_object_behind_failed_openers_is_read(before: str) -> None:
    assert "answer: B" in json_tables.lines(before + '{"answer": "B"} and more')
