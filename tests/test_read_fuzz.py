"""No text makes a reader fail, take long, or read what is not there; attempts to read JSON are bounded."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.read_fuzz import PIECES, READERS, fault
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ran import MOST_GROWTH, cpu_seconds, growth

import punchline
from punchline.read import json_tables, reasoning

MADE = yaml.safe_load((Path(__file__).parent / "pieces.yaml").read_text(encoding="utf-8"))
texts = st.one_of(
    st.text(max_size=300),
    st.text(alphabet=st.characters(codec=None), max_size=80),  # half surrogate pairs too
    st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
)


@settings(max_examples=1500)
@given(texts, st.sampled_from(sorted(READERS)))
def test_no_reader_raises_or_reads_what_is_not_there(answer: str, name: str) -> None:
    wrong, _, _ = fault(name, answer)
    assert not wrong


@pytest.mark.parametrize("name", [*sorted(READERS), "naming", "joint"])
def test_work_grows_with_the_length(name: str) -> None:
    """Bound the growth over all pieces: a reader that is quadratic in one would take most of the time."""

    def read(length: int) -> None:
        for piece in (*MADE["repeated"], "\ud800"):
            answer = piece * (length // len(piece))
            assert not (fault(name, answer)[0] if name in READERS else punchline.parse("hummus", name, answer)), piece

    assert growth(read, 12_000) <= MOST_GROWTH


@pytest.mark.parametrize(("answer", "text"), MADE["taken_off"])
def test_thoughts_are_taken_off(answer: str, text: str) -> None:
    own = reasoning.remove(answer)
    assert own.text == text == answer[own.offset : own.offset + len(own.text)]


def test_tags_of_a_prompt_stay() -> None:
    answer = "<reasoning>a</reasoning>b"
    assert reasoning.remove(answer, tuple(tag for tag in reasoning.TAGS if tag != "reasoning")).text == answer
    assert reasoning.remove("x <think>A</think> y") == ("x " + " " * 16 + " y", 0)


PROSE = "The man looks at his dog and laughs because the dog reads a book in the park while it rains. "
DENSE = (*MADE["dense"], *PIECES)
MOST = 60  # times the prose of the same length, far from both what is measured (at most 20) and a square


def seconds(name: str, piece: str, length: int) -> float:
    """CPU time of a reader for a piece repeated to a length: the better of two tries."""
    answer = (piece * (length // len(piece) + 1))[:length]
    return min(cpu_seconds(lambda: READERS[name][0](answer)) for _ in range(2))


of_prose = functools.cache(lambda name: max(seconds(name, PROSE, 20_000), 0.001))


@settings(max_examples=60)
@given(st.sampled_from(sorted(READERS)), st.sampled_from(DENSE), st.integers(1, 1_000_000))
def test_cost_grows_as_that_of_prose(name: str, piece: str, length: int) -> None:
    assert seconds(name, piece, length) < MOST * of_prose(name) * max(length / 20_000, 1)


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
