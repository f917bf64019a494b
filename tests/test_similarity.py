"""The engine similarity without a model: cards, blank texts, what is absent, what fails alone."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import cases
from tests.records import answers_of

from punchline.core.benchmark import comparison
from punchline.engines import similarity
from punchline.engines.similarity import Pair, Similarity, comparison_in
from punchline.schema import Message, ModelCard, Request, Response, Text


def card(**options: Any) -> ModelCard:
    return ModelCard(name="mine", folder="config/judge", engine="similarity", options=options)


def asked(candidate: str, reference: str) -> Request:
    return comparison("yesbut", "1", "cosine", "default", candidate, reference)


class Lengths:
    """In place of a loaded model: the value of a pair is a tenth of its candidate's length."""

    device = "none"

    def __init__(self) -> None:
        self.seen: list[Pair] = []

    def values(self, pairs: Sequence[Pair]) -> list[float]:
        self.seen += pairs
        return [len(pair.candidate) / 10 for pair in pairs]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Similarity:
    """An engine with everything at hand, and `Lengths` for a model."""
    monkeypatch.setattr(similarity, "_installed", lambda module: True)
    result = similarity.engine(card(metric="cosine", id=str(tmp_path)), 0)
    result._loaded = Lengths()  # type: ignore[assignment]
    return result


def answers(engine: Similarity, requests: Sequence[Request]) -> list[Response]:
    given = answers_of(engine, requests)
    assert all((r.text is None) == (r.state != "ok") == (r.reason is not None) for r in given)
    return given


def test_pairs_are_scored_once_and_answered_as_often_as_asked_and_blank_ones_are_zero(engine: Similarity) -> None:
    requests = [asked(*texts.split()) for texts in ("ab x", "ab x", "abc x", "ab y")]
    requests += [comparison("hummus", "2", "cosine", "default", "ab", "x")]
    requests += [asked(*texts) for texts in (("", "a"), ("a", ""), (" \n\t\u3000", "a"), ("", ""))]
    assert [r.text for r in answers(engine, requests)] == ["0.2", "0.2", "0.3", "0.2", "0.2", *["0.0"] * 4]
    assert sorted(engine._loaded.seen) == [("x", "ab"), ("x", "abc"), ("y", "ab")]  # type: ignore[union-attr]


def test_what_is_no_comparison_is_missing(engine: Similarity) -> None:
    one = asked("a", "b")
    user = Message(role="user", content=(Text(text="a"),))
    for messages in ((), (user,), (user, user), (*one.messages, user)):
        request = Request(**{name: getattr(one, name) for name in one.__struct_fields__} | {"messages": messages})
        assert comparison_in(request) is None
        (response,) = answers(engine, [request])
        assert (response.state, response.reason) == ("missing", "not a comparison")


@given(st.text(), st.text())
def test_a_comparison_is_read_as_it_was_written(candidate: str, reference: str) -> None:
    assert comparison_in(asked(candidate, reference)) == Pair(reference, candidate)


@pytest.mark.parametrize(("options", "absent", "reason"), cases(__file__, "absent"))
def test_what_is_absent_fails_every_request(
    options: dict[str, Any], absent: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "_installed", lambda package: package not in absent)
    result = similarity.engine(card(**{"metric": "cosine", "id": "a/b", **options}), 0)
    matches = answers(result, [asked("a", "b"), asked("", "b")])
    assert [r.state for r in matches] == ["failed"] * 2
    assert {r.reason for r in matches} == {result.unavailable()} and reason in str(matches[0].reason)


def test_weights_that_cannot_be_loaded_are_tried_once(engine: Similarity, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers", reason="NOT INSTALLED: transformers; run make metrics to run this test")
    tried = []

    def folder() -> str:
        tried.append(1)
        raise OSError("disk\nfull")

    del engine._loaded
    monkeypatch.setattr(engine, "_folder", folder)
    for _ in range(2):
        (response,) = answers(engine, [asked("a", "b")])
        assert (response.state, response.reason) == ("failed", "the model cannot be loaded: disk full")
    assert tried == [1]


def test_weights_that_cannot_be_fetched_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub.constants", reason="NOT INSTALLED: huggingface_hub")
    monkeypatch.setattr(similarity, "_installed", lambda module: True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    result = similarity.engine(card(metric="cosine", id="nobody/no-such-model", revision="0" * 40), 0)
    (response,) = answers(result, [asked("a", "b")])
    assert str(response.reason).startswith("the hub was not reached and the model is not in its local cache")


def test_what_fails_fails_alone() -> None:
    def called(values: Sequence[int]) -> list[float]:
        if 3 in values:
            raise RuntimeError("three")
        return [math.nan if value == 5 else 1.0000001 if value == 7 else value / 10 for value in values]

    assert similarity._each([1, 2, 3], called) == [(1, 0.1), (2, 0.2), (3, "three")]
    assert similarity._each([5, 7], called) == [(5, "the result is not a number"), (7, 1.0)]


def test_a_batch_that_memory_does_not_hold_is_halved() -> None:
    torch = pytest.importorskip("torch", reason="NOT INSTALLED: torch; run make metrics to run this test")
    sizes = []

    def called(size: int) -> list[int]:
        sizes.append(size)
        if size > 3:
            raise torch.OutOfMemoryError
        return [size]

    assert similarity._in_memory(called, 16) == [2]
    assert sizes == [16, 8, 4, 2]
    with pytest.raises(torch.OutOfMemoryError):
        similarity._in_memory(lambda size: called(size + 9), 2)
    with pytest.raises(RuntimeError, match="other"):
        similarity._in_memory(lambda size: (_ for _ in ()).throw(RuntimeError("other")), 2)
