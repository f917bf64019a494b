"""No text makes a reader fail, take long, or read what is not there."""

import pytest
from benchmarks.read_fuzz import PIECES, READERS, fault
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ran import MOST_GROWTH, growth

import punchline
from punchline.read import reasoning

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


LONG = (
    *(" ", "\n", "\t", "(", "[", "<", "*", '"', "-", ".", "A ", "A. ", "not A ", "1, 2, ", "yes or no ", "<think>"),
    *("é", "</think>", "wait, A. ", "\\boxed{A} ", "Answer: B\n", "panel 1 ", "Pun, ", "Present, contribute "),
    *("metaphor is ", "[[1", "[0.1, ", "<i>", "1. frame 1\n", "|1|2|\n", "rather than B ", "\ud800"),
)


@pytest.mark.parametrize("name", [*sorted(READERS), "naming", "joint"])
def test_work_grows_with_the_length(name: str) -> None:
    """Of all pieces together: one that were quadratic in 50,000 characters would take most of the time."""

    def read(length: int) -> None:
        for piece in LONG:
            answer = piece * (length // len(piece))
            assert not (fault(name, answer)[0] if name in READERS else punchline.parse("hummus", name, answer)), piece

    assert growth(read, 25_000) <= MOST_GROWTH


THOUGHTS = [
    *("", "<think>A</think>", "<THINK>A</THINK>", "<thinking>A</thinking>\n\n", "<reasoning>A</reasoning> "),
    *("<scratchpad>A</scratchpad>", "A</think>", "<think>A<think>C</think>D</think>", "A</think><think>C</think>"),
    *("◁think▷A◁/think▷", "[THINK]A[/THINK]", "<|begin_of_thought|>A<|end_of_thought|>", "<seed:think>A</seed:think>"),
]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        *((f"{thought}B", "B") for thought in THOUGHTS),
        *((same, same) for same in ("", "I think B", "<thinker>B", "analysis of the comic: B")),
        (" B \n", "B"),
        ("<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>", "B"),
        ("analysisThe user wants A.assistantfinalB", "B"),
        *((none, "") for none in ("<|channel|>analysis<|message|>A", "<think>A", "<think>A</think>", "B <think>A")),
    ],
)
def test_thoughts_are_taken_off(answer: str, text: str) -> None:
    own = reasoning.remove(answer)
    assert own.text == text == answer[own.offset : own.offset + len(own.text)]


def test_tags_of_a_prompt_stay() -> None:
    answer = "<reasoning>a</reasoning>b"
    assert reasoning.remove(answer, tuple(tag for tag in reasoning.TAGS if tag != "reasoning")).text == answer
    assert reasoning.remove("x <think>A</think> y") == ("x " + " " * 16 + " y", 0)
