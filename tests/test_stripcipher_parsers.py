"""StripCipher: how answers are read. Never an option or a frame that is not there; gold in gives gold out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchline.benchmarks.stripcipher import LETTERS
from punchline.benchmarks.stripcipher.answers import parse_option, parse_sequence
from punchline.benchmarks.stripcipher.review import parse_both
from punchline.benchmarks.stripcipher.words import plain, sequence_text

OPTIONS = ("A cat sleeps.", "The dog wins the race.", "Nobody comes.", "It rains on the dog.")


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        (" b ", "B"),
        ("(C)", "C"),
        ("**D**", "D"),
        ("B.", "B"),
        ("B. The dog wins the race.", "B"),
        ("B) because", "B"),
        ("**B**: the dog", "B"),
        ("[A]", "A"),
        ("Answer: C", "C"),
        ("The answer is **C**.", "C"),
        ("The correct option ID is D", "D"),
        ("Option B", "B"),
        ("The answer is A because it sleeps", "A"),
        ("Answer: A cat sleeps.", "A"),
        ("Answer: A dog runs.", None),
        ("the answer is b", "B"),
        ("I would go for option B.", "B"),
        ("I think that it is option A because the cat sleeps", "A"),
        ("Option A is wrong. The answer is C.", "C"),
        ("A. A cat sleeps.\nB. The dog wins the race.\nAnswer: B", "B"),
        ("First I thought that the answer is A. No: the answer is B.", "B"),
        ("The dog wins the race.", "B"),
        ("the dog wins the race", "B"),
        ("Correct answer: option (D)", "D"),
        ("B\n\nThe dog is faster.", "B"),
        ("", None),
        ("E", None),
        ("Answer: E", None),
        ("e)", None),
        ("A or B", None),
        ("A. one\nB. two", None),
        ("A man walks in.", None),
        ("The answer is a mystery", None),
        ("The answer is in the picture", None),
        ("Option A or option B", None),
        ("I cannot tell.", None),
        ("ABCD", None),
        ("А", None),  # a Cyrillic letter
        ("Answer: B or C", None),
        ("Answer: A or B", None),
        ("Answer: **B** or **C**", None),
        ("the answer is b or c", None),
        ("Answer: A, B", None),
        ("Answer: A-D", None),
        ("Answer: B/C", None),
        ("Answer: A B C D", None),
        ("(B) or (C)", None),
        ("B. C. D.", None),
        ("I would choose B or perhaps C", None),
        ("Answer: B (not C)", "B"),
        ("Answer: B, C is wrong", "B"),
        ("Answer: B, and C is wrong", "B"),
        ("A) and B) are wrong, so it's C", "C"),
        ("Answer: B, because A is wrong", "B"),
        ("Answer: B, a dog", "B"),
        ("Answer: A. B is wrong.", "A"),
        ("The answer is B; A, C and D are wrong", "B"),
        ("Option A and option B are wrong, so it must be C", "C"),
        ("Correct option ID: B\n\nExplanation: Answer A is wrong because the cat is awake.", "B"),
        ("Correct option ID: B\n\nExplanation: Answer A sounds good, option C does not.", "B"),
        ("\\boxed{C}", "C"),
        ("It follows that $\\boxed{\\text{C}}$.", "C"),
        ("\\boxed{B} or \\boxed{C}", None),
        ("\\boxed{B, C}", None),
        ("<answer>C</answer>", "C"),
        ("<answer>\nC\n</answer> B is wrong", "C"),
        ("<answer>B or C</answer>", None),
        ("It's B", "B"),
        ("It’s **B**.", "B"),
        ("It's A cat", None),
        ("It's not B", None),
        ("Therefore, B", "B"),
        ("Therefore, B.", "B"),
        ("So A cat it is", None),
        ("I would choose D", "D"),
        ("I'd go with (D).", "D"),
        ("I would not choose D", None),
        ("I wouldn't choose D", None),
        ("I don't think that it's B", None),
        ("I would choose B rather than option C", "B"),
        ("I do not know\nAnswer: B", "B"),
        ("Not sure, but the answer is B", "B"),
        ("Answer: B. Isn't it obvious?", "B"),
        ("Option A is wrong.", None),
        ("Option B is not wrong", "B"),
        ("<think>A? No, it's D.</think>\n\nB", "B"),
        ("<think>Answer: B", None),
        ("It is not true that the dog wins the race.", None),
    ],
)
def test_options(answer: str, letter: str | None) -> None:
    assert parse_option(answer, OPTIONS) == letter


@pytest.mark.parametrize(
    ("answer", "n", "sequence"),
    [
        ("3, 1, 2", 3, (3, 1, 2)),
        ("[3,1,2]", 3, (3, 1, 2)),
        ("3 1 2", 3, (3, 1, 2)),
        ("3-1-2", 3, (3, 1, 2)),
        ("3\n1\n2", 3, (3, 1, 2)),
        ("312", 3, (3, 1, 2)),
        ("**3, 1, 2**.", 3, (3, 1, 2)),
        ("Frame 3 -> Frame 1 -> Frame 2", 3, (3, 1, 2)),
        ("Frame 3 → 1 → 2", 3, (3, 1, 2)),
        ("frame 3, then frame 1 and finally frame 2", 3, (3, 1, 2)),
        ("3 > 1 > 2", 3, (3, 1, 2)),
        ("The correct order is 4, 2, 1, 3.", 4, (4, 2, 1, 3)),
        ("The order 1, 2, 3 is wrong; the correct order is 2, 3, 1", 3, (2, 3, 1)),
        ("2, 3, 1\n\nFrame 1 shows a cat. Frame 2 shows a dog.", 3, (2, 3, 1)),
        ("1. Frame 3\n2. Frame 1\n3. Frame 2", 3, (3, 1, 2)),
        ("The order is: 1. Image 3 2. Image 1 3. Image 2", 3, (3, 1, 2)),
        ("1. 3\n2. 1\n3. 2", 3, (3, 1, 2)),
        ("1) **Frame 3**\n2) **Frame 1**\n3) **Frame 2**", 3, (3, 1, 2)),
        ("1: 3\n2: 1\n3: 2", 3, None),  # places, or frames in order
        ("Frame 1: 2\nFrame 2: 3\nFrame 3: 1", 3, (3, 1, 2)),
        ("Panel 1 should be number 2, panel 2 should be number 3, panel 3 should be number 1", 3, (3, 1, 2)),
        ("Comic strip 1: 2; comic strip 2: 1; comic strip 3: 3", 3, (2, 1, 3)),
        ("Answer: 2,1,3. Again: 2,1,3", 3, (2, 1, 3)),
        ("", 3, None),
        ("3, 1", 3, None),
        ("3, 1, 1", 3, None),
        ("4, 1, 2", 3, None),
        ("0, 1, 2", 3, None),
        ("1, 2, 3, 4", 3, None),
        ("1, 2, 3 or 3, 2, 1", 3, None),
        ("312", 4, None),
        ("The story has 3 frames", 3, None),
        ("999999999999999999999999, 1, 2", 3, None),
        ("not 3, 1, 2", 3, None),
        ("It isn't [3, 1, 2].", 3, None),
        ("3, 1, 2 is wrong", 3, None),
        ("The order is not 3, 1, 2 but 2, 3, 1", 3, (2, 3, 1)),
        ("I do not know: 3, 1, 2", 3, (3, 1, 2)),
        ("1, 3, 1, 2", 3, None),
        ("1. Frame 2: he walks in.\n2. Frame 3: he trips.\n3. Frame 1: he is ill.", 3, (2, 3, 1)),
        ("First: Frame 3\nSecond: Frame 1\nThird: Frame 2", 3, (3, 1, 2)),
        ("<think>1, 2, 3? No.</think>2, 1, 3", 3, (2, 1, 3)),
        ("<think>2, 1, 3", 3, None),
        ("٣, ١, ٢", 3, None),
    ],
)
def test_sequences(answer: str, n: int, sequence: tuple[int, ...] | None) -> None:
    assert parse_sequence(answer, n) == sequence


PIECES = st.sampled_from(
    ["A", "B", "E", "answer", "Answer: ", "option ", " is ", "(", ")", ".", ":", "\n", " ", "1", "2", "3", "12", ", ",
     "->", "→", "Frame ", "then", "Right Answer 1", "Options in Q1", "a", "**", "[", "]", "not", "  ", "\t",
     " or ", "It's ", "Therefore, ", "choose ", "\\boxed{", "}", "<answer>", "</answer>", "C", "D", " is wrong", ","]
)  # fmt: skip
ANSWERS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join))


@given(ANSWERS, st.lists(st.text(max_size=30), max_size=4))
def test_no_option_that_is_not_there(answer: str, options: list[str]) -> None:
    letter = parse_option(answer, options)
    assert letter is None or letter in LETTERS[: len(options)]


@given(ANSWERS, st.integers(3, 8))
def test_no_frame_that_is_not_there(answer: str, n: int) -> None:
    sequence = parse_sequence(answer, n)
    assert sequence is None or sorted(sequence) == list(range(1, n + 1))


@given(ANSWERS)
def test_drafts_never_raise(answer: str) -> None:
    for right, others in parse_both(answer).values():
        assert right is not None and len(others) <= 3


TEXTS = st.lists(
    st.sampled_from(
        ["the dog", "B", "Answer: C", "A.", "it's D", "not", "is wrong", "or", "(C)", "wins", "a", ",", "3"]
    ),
    max_size=6,
).map(lambda words: " ".join(("Nobody", *words)))


@given(st.lists(TEXTS, min_size=4, max_size=4, unique_by=plain), st.integers(0, 3))
def test_gold_in_gives_gold_out(options: list[str], place: int) -> None:
    for wrap in ("{}", "{}\n", "**{}**"):
        for answer in (options[place], f"{LETTERS[place]}. {options[place]}"):
            assert parse_option(wrap.format(answer), options) == LETTERS[place]


WRAPS = ("{}", " {} \n", "Answer: {}", "The answer is {}.", "**{}**", "({})", "{}.", "The correct option ID is {}",
         "\\boxed{{{}}}", "<answer>{}</answer>", "It's {}", "Therefore, {}", "I would choose {}",
         "Answer: {} (not E)")  # fmt: skip


@given(st.sampled_from(LETTERS), st.sampled_from(WRAPS))
def test_a_letter_in_gives_it_out(letter: str, wrap: str) -> None:
    assert parse_option(wrap.format(letter), OPTIONS) == letter


@given(st.sampled_from(range(4)), st.sampled_from(("{}", "{1}. {}")))
def test_an_option_in_gives_its_letter_out(place: int, wrap: str) -> None:
    answer = wrap.replace("{1}", LETTERS[place]).format(OPTIONS[place])
    assert parse_option(answer, OPTIONS) == LETTERS[place]


@given(st.integers(3, 8).flatmap(lambda n: st.permutations(range(n))), st.sampled_from(("{}", "[{}]", "Order: {}.")))
def test_a_sequence_in_gives_it_out(places: list[int], wrap: str) -> None:
    expected = tuple(place + 1 for place in places)
    assert parse_sequence(wrap.format(sequence_text(places)), len(places)) == expected
    chain = " -> ".join(f"Frame {number}" for number in expected)
    assert parse_sequence(chain, len(places)) == expected
    ranks = "\n".join(f"Frame {number}: {expected.index(number) + 1}" for number in range(1, len(places) + 1))
    assert parse_sequence(ranks, len(places)) == expected


@pytest.mark.timeout(120)  # quadratic would be hours
@pytest.mark.parametrize(
    "piece",
    ["answer ", "Frame 1", "1, 2, ", "A. ", "A\n", "(", "[", " ", "\n", "1", "12", "answer is ", "option", "**", "1:",
     "frame 1: 2 ", "1. frame 1\n", "Options in Q1", "\t", "order is ", "_", "-", "A", "é",
     "A B ", "A or ", "answer: A or ", "not ", "not answer: A ", "\\boxed{", "it's A ", "so A, B is wrong ", "choose ",
     "so ", "nobody comes ", "not nobody comes ", "answer A is ", "A, B, ", "or ", "not 1, 2, 3, 4 "],
)  # fmt: skip
def test_long_answers_are_read_in_linear_time(piece: str) -> None:
    answer = piece * (1_000_000 // len(piece))
    parse_option(answer, OPTIONS)
    parse_sequence(answer, 4)
    parse_both(answer)


def test_figure_11() -> None:
    answer = (
        "Reasoning Chain 1: x\nOptions in Q1:\nA. one\n**B.** two\nC. [three]\nD. four\nRight Answer 1: D\n"
        "Options in Q2:\nA. a\nB. b\nC. c\nD. d\nRight Answer 2: **B**"
    )
    assert parse_both(answer) == {
        "prediction": ("four", ("one", "two", "three")),
        "comprehension": ("b", ("a", "c", "d")),
    }
    assert parse_both("Options in Q1: A. one") == {}
    assert parse_both("Options in Q1:\nA. one\nRight Answer 1: E") == {}


def test_all_orders_of_four_are_told_apart() -> None:
    read = {parse_sequence(sequence_text(places), 4) for places in itertools.permutations(range(4))}
    assert len(read) == 24
