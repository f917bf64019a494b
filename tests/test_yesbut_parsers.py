"""YesBut: reading of options, choices and scores, whatever models and judges write."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchline.benchmarks.yesbut.answers import drawn_option, read_paper, read_released, read_score
from punchline.benchmarks.yesbut.options import options
from punchline.core.records import RULES

CHOICES = {
    "A": "A fence keeps its owner out",
    "B": "Dogs read more than cats",
    "C": "The mug, Eventually",
    "D": "Plan B was better",
}
LETTERS = st.sampled_from("ABCD")
FORMS = (
    *("{l}", " {l}\n", "{l}.", "({l})", "[{l}]", "**{l}**", "`{l}`", '"{l}"', "{low}", "{low})"),
    *("{l}. {t}", "{l}) {t}", "({l}) {t}", "{l}: {t}", "**{l}. {t}**", "**{l}.** {t}", "{l}.\n\nA man is seen."),
    *("Answer: {l}", "The answer is {l}.", "the correct option is ({l}).", "Option {l}", "My choice: **{l}**"),
    *("**Answer:** {l}", "The best choice is {l}: {t}", "I would choose {l}, for a man is seen."),
    *("{t}", "{t}.", '"{t}"', "I believe it is this one: {t}"),
)


@given(LETTERS, st.sampled_from(FORMS))
def test_gold_in_gives_gold_out(letter: str, form: str) -> None:
    answer = form.format(l=letter, low=letter.lower(), t=CHOICES[letter])
    assert read_paper(answer, CHOICES) == letter


@given(LETTERS)
def test_gold_in_gives_gold_out_under_the_released_rule(letter: str) -> None:
    for form in ("{l}", "({l})", "{l}. {t}", "the option is {l}"):
        assert read_released(form.format(l=letter, t=CHOICES[letter])) == letter


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", None),
        ("b", None),
        ("Answer: C", "A"),
        ("The answer is B", "B"),
        ("I think it is C.", "C"),
        ("E. B", None),  # the released code stops at the E
        ("East or B", None),
        ("USER: A or B?\nASSISTANT: C", "C"),
        ("USER: A or B? ASSISTANT: C", None),  # the E of USER
        ("USER: A?\nASSISTANT: D\nUSER: B?\nASSISTANT: B", "D"),
    ],
)
def test_released(answer: str, expected: str | None) -> None:
    assert read_released(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", None),
        ("   \n", None),
        ("E", None),
        ("(E) none of these", None),
        ("Answer: E", None),
        ("I don't know.", None),
        ("A man walks his dog.", None),
        ("A man walks his dog. The answer is D.", "D"),
        ("The comic is about a dog; B fits.", "B"),
        ("A or B", None),
        ("Both A and C", None),
        ("The answer is B, not option C", "B"),
        ("Neither B nor C, so D", "D"),
        ("the answer is a mystery", None),
        ("The answer is A mystery", None),
        ("The answer is A.", "A"),
        ("A.I. is everywhere", None),
        ("E-Tickets and D-Days", None),
        ("B's idea", None),
        ("Vitamin B12", None),
        ("dogs READ more than   cats!", "B"),
        ("I choose A because it fits", "A"),
        ("A is the best option", "A"),
        ("A best friend is a dog", None),
        ("Dogs read\nmore than cats", "B"),
        ("A\n\nA man is seen. A dog, too", "A"),
        ("A fence keeps its owner out. Dogs read more than cats.", None),
        ("b. dogs", "B"),
        ("b dogs", None),
        ("Choice\nD", "D"),
        ("Plan B was better", "D"),
        ("Plan B was better, so B", None),
        ("The answer is A or B", None),
        ("The answer is (A) or (B).", None),
        ("The answer is B or C.", None),
        ("answer B or C", None),
        ("Answer: B, D", None),
        ("Answer: A/B", None),
        ("Option A / Option B", None),
        ("A B", None),
        ("B. C. D.", None),
        ("B) or c)", None),
        ("(A) or (B)", None),
        ("(A) and (B) both fit", None),
        ("A.\nC.", None),
        ("B\nC", None),
        ("B\n- C\n- D", None),
        ("A. A fence keeps its owner out\n\nB. Dogs read more than cats", None),
        ("The correct answer is not A", None),
        ("The answer isn't B.", None),
        ("I would not choose B", None),
        ("I don't think that it is option B.", None),
        ("The answer cannot be (C)", None),
        ("I ruled out D.", None),
        ("B is wrong.", None),
        ("B does not fit", None),
        ("A isn't right", None),
        ("It is not: Dogs read more than cats", "B"),  # a colon ends the clause
        ("It is not “Dogs read more than cats”", None),
        ("A not B", "A"),
        ("I am not sure, but B", "B"),
        ("The man is not happy, so the answer is B.", "B"),
        ("I would choose B, since the man is not happy.", "B"),
        ("B. I do not see why A would fit.", "B"),
        ("B.\nA is wrong.", "B"),
        ("B. - a man is seen", "B"),
        ("B. And a man is seen", "B"),
        ("B: Dogs read more than cats\nThe other options do not fit.", "B"),
        ("Dogs read more than catsuits", None),
        ("<think>A? B? The answer is B.</think>\nC", "C"),
        ("<think>The answer is B.", None),
        ("A. No. B. Yes. Answer: B", "B"),
    ],
)
def test_paper(answer: str, expected: str | None) -> None:
    assert read_paper(answer, CHOICES) == expected


def test_two_options_with_one_text_are_told_apart_by_their_letters_only() -> None:
    twice = CHOICES | {"B": "Sled", "C": "Sled"}
    assert read_paper("Sled", twice) is None
    assert read_paper("C. Sled", twice) == "C"


ANSWERS = st.text(max_size=300) | st.lists(
    st.sampled_from(
        ["A", "B", "E", "a", " ", ".", "(", ")", "*", "answer", "option", "is", ":", "\n", "'", *CHOICES.values()]
    )
).map("".join)


@given(ANSWERS, st.integers(2, 4))
def test_no_option_is_read_that_is_not_there(answer: str, number: int) -> None:
    choices = dict(list(CHOICES.items())[:number])
    assert read_paper(answer, choices) in (None, *choices)
    read = read_released(answer, "".join(choices))
    assert read is None or (read in choices and read in answer)


@given(st.text(max_size=20), st.text(max_size=20))
def test_the_drawn_option_hangs_on_item_and_task_only(item_id: str, task: str) -> None:
    item_id, task = item_id.encode(errors="replace").decode(), task.encode(errors="replace").decode()
    assert drawn_option(item_id, task, "ABCD") == drawn_option(item_id, task, "ABCD") in "ABCD"


def test_drawn_options_are_spread() -> None:
    drawn = [drawn_option(f"{n:05d}.jpg", "title_mcq_1", "ABCD") for n in range(400)]
    assert all(70 <= drawn.count(letter) <= 130 for letter in "ABCD")


@pytest.mark.parametrize(
    ("answer", "released", "paper"),
    [
        ("Rating: [[3]]", 3.0, 3.0),
        ("[[4.5]]", 4.5, 4.5),
        ("[2] or [[4]]", 4.0, 4.0),
        ("[2]", 2.0, 2.0),
        ("[[2]] then [[5]]", 2.0, 2.0),
        ("[[0]]", 0.0, None),
        ("[[10]]", 10.0, None),
        ("[[99999999999]]", 99999999999.0, None),
        ("[[3.00000000001]]", 3.00000000001, 3.00000000001),
        ("[[5.]]", 5.0, 5.0),
        ("Rating: 3", None, 3.0),
        ("<think>[[1]]? [[2]]?</think>[[4]]", 1.0, 4.0),
        ("<think>[[1]]?", 1.0, None),
        ("The candidate is quite accurate.", None, None),
        ("", None, None),
        ("[[three]]", None, None),
        ("[[٣]]", None, None),
        ("[[" + "9" * 400 + "]]", None, None),
        ("[[-1]]", None, None),
    ],
)
def test_scores(answer: str, released: float | None, paper: float | None) -> None:
    assert (read_score(answer, "released"), read_score(answer, "paper")) == (released, paper)


@given(st.text(max_size=200) | st.text(alphabet="[]0123456789.²₃", max_size=60))
def test_a_score_is_a_number_of_the_answer(answer: str) -> None:
    for rule in RULES:
        score = read_score(answer, rule)
        notes = (c for c in answer if c.isdigit() and unicodedata.decomposition(c).startswith(("<super>", "<sub>")))
        bare = answer.translate(dict.fromkeys(map(ord, notes), " "))  # 1² is 1, with a note
        plain = unicodedata.normalize("NFKC", bare)  # a digit of full width is one
        assert score is None or score in {float(n) for n in re.findall(r"[0-9]+\.?[0-9]*", plain)}


def test_a_raised_digit_is_a_note_and_no_score() -> None:
    assert read_score("¹", "paper") is None
    assert read_score("4¹", "paper") == 4


@given(st.integers(1, 5), st.text(alphabet="abc .", max_size=20))
def test_a_score_in_gives_it_out(score: int, around: str) -> None:
    assert all(read_score(f"{around}[[{score}]]{around}", rule) == score for rule in RULES)


@pytest.mark.timeout(120)  # quadratic would be hours
@pytest.mark.parametrize(
    "piece",
    [
        "[[1",
        "[",
        "1",
        "A or ",
        "A. ",
        "A not ",
        "not A ",
        "answer ",
        "option: ",
        "A ",
        "(((",
        "***",
        "answer is ",
        "[[1.1",
        "USER",
        " ",
    ],
)
def test_hostile_answers_take_linear_time(piece: str) -> None:
    answer = "[[" * (piece == "1") + piece * (200_000 // len(piece))
    for rule in RULES:
        read_score(answer, rule)
    read_released(answer)
    read_paper(answer, CHOICES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("A. one\nB. two", {"A": "one", "B": "two"}),
        ("A. one", {}),
        ("", {}),
        ("A. one\nC. two", {}),
        ("A. one\nA. two", {}),
        ("B. one\nA. two", {}),
        ("A. one\ntwo", {}),
        ("A. one\nB.", {}),
        ("A one\nB two", {}),
        ("A. one\nB. two\n", {}),
    ],
)
def test_options(question: str, expected: dict[str, str]) -> None:
    assert options(question) == expected


@given(st.text(max_size=100))
def test_options_never_raises(question: str) -> None:
    assert set(options(question)) <= set("ABCDE")
