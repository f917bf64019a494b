"""Readings of answers, whatever models and judges write.

tests/readings/*.yaml hold documents of {reader, cases: [[reading, answer], …]}, or [under released, under paper,
answer]; <<name>> in an answer stands for the words of a prompt. tests/hostile.yaml holds pieces of hostile answers.
"""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from punchline import parse
from punchline.benchmarks.hummus import LABELS, TASKS
from punchline.benchmarks.hummus import answers as hummus_answers
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, PROMPTS
from punchline.benchmarks.humorbench import answers as humorbench_answers
from punchline.benchmarks.pixelhumor import answers as pixelhumor_answers
from punchline.benchmarks.stripcipher.answers import parse_sequence
from punchline.benchmarks.stripcipher.studies import parse_both
from punchline.benchmarks.stripcipher.words import plain as plain_words
from punchline.benchmarks.stripcipher.words import sequence_text
from punchline.benchmarks.yesbut.answers import drawn_option, read_paper, read_released, read_score
from punchline.benchmarks.yesbut.options import options
from punchline.read import metaphors, structure
from punchline.schema import RULES

FOLDER = Path(__file__).parent / "readings"
HOSTILE = yaml.safe_load((FOLDER.parent / "hostile.yaml").read_text(encoding="utf-8"))
WORDS = {**INSTRUCTIONS, "joint": PROMPTS["joint"], "A": OPTIONS[0], "B": OPTIONS[1]}
A_INVOLVES = dict(zip("AB", OPTIONS, strict=True))
CAPTION = ("Nine lives are a curse.", "A cat is a clerk.")
OFFERED = ("A fence keeps its owner out", "Dogs read more than cats", "The mug, Eventually", "Plan B was better")
CHOICES = dict(zip("ABCD", OFFERED, strict=True))
STRIP = ("A cat sleeps.", "The dog wins the race.", "Nobody comes.", "It rains on the dog.")


def of_hummus(task: str, **about: Any) -> Any:
    return lambda answer: hummus_answers.parse(task, answer, "paper", **{"options": A_INVOLVES} | about)


def parse_option(answer: str, offered: list[str]) -> Any:
    return parse("stripcipher", "comprehension", answer, options=offered)


def judged_text(answer: str) -> tuple[str, str]:
    assert humorbench_answers.explanation(answer) == humorbench_answers.judged_text(answer, "released")
    return humorbench_answers.judged_text(answer, "released"), humorbench_answers.judged_text(answer, "paper")


READERS: dict[str, Any] = {
    "hummus": {
        "yes_or_no": of_hummus("classification"),
        "a_or_b": of_hummus("classification_a_b"),
        "named": lambda answer: metaphors.metaphors(answer, hummus_answers.PROMPT),
        "named_beside_a_caption": of_hummus("naming", known=["love is a journey"], context=CAPTION),
        "boxes": of_hummus("image_bbox"),
        "object_name": of_hummus("image_label"),
        "marked_words": of_hummus("caption_hl"),
        "explanation": of_hummus("explanation"),
        "is_met": lambda answer: structure.leading(
            structure.fields(answer, hummus_answers.FIELDS).get("is_met", ""), LABELS
        ),
        "read": lambda answer: [of_hummus(task)(answer) for task in TASKS if task != "joint"],
    },
    "yesbut": {
        "read_released": read_released,
        "read_paper": lambda answer: read_paper(answer, CHOICES),
        "read_score": lambda answer: tuple(read_score(answer, rule) for rule in RULES),
        "options": options,
    },
    "stripcipher": {
        "parse_option": lambda answer: parse_option(answer, STRIP),
        "parse_sequence_of_3": lambda answer: parse_sequence(answer, 3),
        "parse_sequence_of_4": lambda answer: parse_sequence(answer, 4),
        "parse_both": parse_both,
    },
    "pixelhumor": {
        f"Q8 {rule}": lambda answer, rule=rule: pixelhumor_answers.panel_texts(answer, rule, ["1", "2", "3"])
        for rule in RULES
    },
    "humorbench": {
        "judged_text": judged_text,
        "parse_verdict": lambda answer: tuple(humorbench_answers.parse_verdict(answer, rule) for rule in RULES),
    },
}


def hostile(benchmark: str, most: int = 60) -> st.SearchStrategy[str]:
    """Any text, or fragments of what the benchmark's readers look for, in any order."""
    fragments = st.lists(st.sampled_from(HOSTILE[benchmark]["fragments"]), max_size=most)
    return st.text(max_size=300) | fragments.map("".join)


def plain(value: Any) -> Any:
    """The value as JSON has it, with six decimals."""
    return json.loads(json.dumps(value), parse_float=lambda digits: round(float(digits), 6))


def cases() -> list[Any]:
    result = []
    for path in sorted(FOLDER.glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            for place, (*reading, answer) in enumerate(document["cases"], 1):
                expected = reading[0] if len(reading) == 1 else reading
                name = f"{path.stem}-{document['reader']}-{place}"
                result.append(pytest.param(path.stem, document["reader"], expected, answer, id=name))
    return result


@pytest.mark.parametrize(("benchmark", "reader", "reading", "answer"), cases())
def test_every_answer_is_read_as_it_is_meant(benchmark: str, reader: str, reading: Any, answer: str) -> None:
    answer = re.sub("<<([A-Za-z_]+)>>", lambda found: WORDS.get(found[1], found[0]), answer)
    task, _, rule = reader.partition(" ")
    if benchmark == "pixelhumor" and task != "Q8":
        panels = sorted(reading or "123") if task == "Q7" else "1234"  # that an order must name
        found = pixelhumor_answers.parse_labels(task, answer, rule, panels)
    else:
        found = READERS[benchmark][reader](answer)
    assert plain(found) == plain(reading)


def test_answers_that_go_on() -> None:
    boxes = READERS["hummus"]["boxes"]
    assert plain(boxes("[0.1, 0.2, 0.3, 0.4]" * 60)) == [[0.1, 0.2, 0.3, 0.4]]  # one box
    assert boxes(", ".join(f"[0.1, 0.2, 0.3, 0.{n}]" for n in range(100, 151))) is None  # too many are meant


LONG = [(benchmark, piece) for benchmark, of in HOSTILE.items() for piece in of["long"]]


@pytest.mark.timeout(120)  # quadratic would be hours
@pytest.mark.parametrize(("benchmark", "piece"), LONG)
def test_long_answers_take_no_longer_than_they_are(benchmark: str, piece: str | list[str]) -> None:
    start, again = piece if isinstance(piece, list) else ("", piece)
    answer = start + again * (HOSTILE[benchmark]["size"] // len(again))
    for read in READERS[benchmark].values():
        read(answer)


@pytest.mark.parametrize(
    "form",
    [
        *("{l}", " {l}\n", "{l}.", "({l})", "[{l}]", "**{l}**", "`{l}`", '"{l}"', "{low}", "{low})"),
        *("{l}. {t}", "{l}) {t}", "({l}) {t}", "{l}: {t}", "**{l}. {t}**", "**{l}.** {t}", "{l}.\n\nA man is seen."),
        *("Answer: {l}", "The answer is {l}.", "the correct option is ({l}).", "Option {l}", "My choice: **{l}**"),
        *("**Answer:** {l}", "The best choice is {l}: {t}", "I would choose {l}, for a man is seen."),
        *("{t}", "{t}.", '"{t}"', "I believe it is this one: {t}"),
        *("\\boxed{{{l}}}", "<answer>{l}</answer>", "It's {l}", "Therefore, {l}", "Answer: {l} (not E)"),
    ],
)
def test_an_option_in_gives_it_out(form: str) -> None:
    for letter, text in CHOICES.items():
        assert read_paper(form.format(l=letter, low=letter.lower(), t=text), CHOICES) == letter
        if form in ("{l}", "({l})", "{l}. {t}"):
            assert read_released(form.format(l=letter, t=text)) == letter
    for letter, text in zip("ABCD", STRIP, strict=True):
        assert parse_option(form.format(l=letter, low=letter.lower(), t=text), STRIP) == letter


WORDS_OF_OPTIONS = ["the dog", "B", "Answer: C", "A.", "it's D", "not", "is wrong", "or", "(C)", "wins", "a", ",", "3"]
TEXTS = st.lists(st.sampled_from(WORDS_OF_OPTIONS), max_size=6).map(lambda words: " ".join(("Nobody", *words)))


@given(st.lists(TEXTS, min_size=4, max_size=4, unique_by=plain_words), st.integers(0, 3))
def test_options_like_answers_are_told_apart(offered: list[str], place: int) -> None:
    for wrap in ("{}", "{}\n", "**{}**"):
        for answer in (offered[place], f"{'ABCD'[place]}. {offered[place]}"):
            assert parse_option(wrap.format(answer), offered) == "ABCD"[place]


@given(
    hostile("yesbut"), hostile("stripcipher"), st.integers(2, 4), st.lists(st.text(max_size=30), min_size=1, max_size=4)
)
def test_no_option_is_read_that_is_not_there(answer: str, other: str, number: int, offered: list[str]) -> None:
    choices = dict(list(CHOICES.items())[:number])
    assert read_paper(answer, choices) in (None, *choices)
    assert (read := read_released(answer, "".join(choices))) is None or (read in choices and read in answer)
    assert parse_option(other, offered) in (None, *"ABCD"[: len(offered)])
    assert set(options(answer)) <= set("ABCDE")
    twice = CHOICES | {"B": "Sled", "C": "Sled"}  # two options with one text are told apart by their letters
    assert (read_paper("Sled", twice), read_paper("C. Sled", twice)) == (None, "C")


@given(hostile("stripcipher"), st.integers(3, 8))
def test_no_frame_that_is_not_there(answer: str, n: int) -> None:
    sequence = parse_sequence(answer, n)
    assert sequence is None or sorted(sequence) == list(range(1, n + 1))
    assert all(right is not None and len(others) <= 3 for right, others in parse_both(answer).values())


@given(st.integers(3, 8).flatmap(lambda n: st.permutations(range(n))), st.sampled_from(("{}", "[{}]", "Order: {}.")))
def test_a_sequence_in_gives_it_out(places: list[int], wrap: str) -> None:
    expected = tuple(place + 1 for place in places)
    chain = " -> ".join(f"Frame {number}" for number in expected)
    ranks = "\n".join(f"Frame {number}: {expected.index(number) + 1}" for number in range(1, len(places) + 1))
    for answer in (wrap.format(sequence_text(places)), chain, ranks):
        assert parse_sequence(answer, len(places)) == expected


def test_the_drawn_option_depends_on_item_and_task_only() -> None:
    drawn, again = ([drawn_option(f"{n:05d}.jpg", "title_mcq_1", "ABCD") for n in range(400)] for _ in range(2))
    assert drawn == again and all(70 <= drawn.count(letter) <= 130 for letter in "ABCD")


@given(st.text(max_size=200) | st.text(alphabet="[]0123456789.²₃", max_size=60), st.text(alphabet="abc .", max_size=20))
def test_a_score_is_a_number_of_the_answer(answer: str, around: str) -> None:
    for rule in RULES:
        score = read_score(answer, rule)
        notes = (c for c in answer if c.isdigit() and unicodedata.decomposition(c).startswith(("<super>", "<sub>")))
        bare = answer.translate(dict.fromkeys(map(ord, notes), " "))  # 1² is 1, with a note
        digits = unicodedata.normalize("NFKC", bare)  # a digit of full width is one
        assert score is None or score in {float(n) for n in re.findall(r"[0-9]+\.?[0-9]*", digits)}
        assert all(read_score(f"{around}[[{n}]]{around}", rule) == n for n in range(1, 6))
    assert read_score("¹", "paper") is None and read_score("4¹", "paper") == 4
