"""Reading of Hummus's answers: what is read, what is not, that nothing is invented."""

from typing import Any

import pytest
from benchmarks.read_fuzz import PIECES
from hypothesis import given
from hypothesis import strategies as st
from tests.records import refused

from punchline.benchmarks.hummus.answers import FIELDS, PROMPT, box_list, parse
from punchline.benchmarks.hummus.data import metaphors as annotated
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS
from punchline.read import json_tables, metaphors

CAPTION = ("Nine lives are a curse.", "A cat is a clerk.")


def read(task: str, text: str, **about: Any) -> Any:
    return parse(task, text, "paper", **{"options": dict(zip("AB", OPTIONS, strict=True))} | about)


def named(text: str) -> tuple[str, ...] | None:
    return metaphors.metaphors(text, PROMPT)


def captioned(text: str) -> tuple[str, ...] | None:
    return read("naming", text, known=["love is a journey"], context=CAPTION)


def named_in_json(text: str) -> str:
    return str(json_tables.fields(text, FIELDS)["conceptual_metaphor"])


PARTS = [*PIECES, "LOVE", " IS ", " is ", "is_met:", "0.1", ";", "/", "cat"]


@given(st.text(max_size=300) | st.lists(st.sampled_from(PARTS), max_size=60).map("".join))
def test_no_metaphor_is_invented(text: str) -> None:
    said = "".join(filter(str.isalnum, text.lower()))
    assert all("".join(filter(str.isalnum, one.lower())) in said for one in named(text) or ())


@pytest.mark.parametrize("task", ["naming", "image_label", "explanation", "caption_hl", "image_bbox"])
def test_the_repeated_prompt_is_not_read(task: str) -> None:
    caption, description = "It runs on time.", "A clock lies on a couch."
    for prompt in (
        f"Caption: {caption}\n\n{INSTRUCTIONS[task]}",
        f"{INSTRUCTIONS[task]}\n\nImage: {description}\nCaption: {caption}",
        *INSTRUCTIONS[task].split(". "),
        INSTRUCTIONS[task].replace(" ", "\n"),
    ):
        assert read(task, prompt, known=["love is a journey"], context=(caption, description)) is None, prompt


def test_repeating_the_prompt_names_nothing() -> None:
    for example, right in (("LOVE IS A JOURNEY", ("LOVE IS A JOURNEY",)), ("TARGET DOMAIN IS SOURCE DOMAIN", None)):
        assert metaphors.repeats_example(named(example)) and read("naming", example) is None
        assert read("naming", f'"{example}"', known=["love is a journey"]) == right
    assert not metaphors.repeats_example(("WORK IS WAR", metaphors.EXAMPLES[0]))


def test_corners_of_qwen25_are_pixels_of_the_picture_it_saw() -> None:
    answer = '[{"bbox_2d": [56, 28, 280, 140], "label": "cat"}]'
    (thousandths,) = box_list(answer, (570, 275)) or ()
    assert thousandths == pytest.approx((0.028, 0.056, 0.112, 0.224))
    (pixels,) = box_list(answer, (570, 275), "qwen2.5-vl-7b") or ()
    assert pixels == pytest.approx((0.1, 0.1, 0.4, 0.4))  # of 560 x 280
    assert box_list("[0.1, 0.2, 0.3, 0.4]", (570, 275), "qwen2.5-vl-7b") == ((0.1, 0.2, 0.3, 0.4),)


TWO_IN_JSON = '{"is_met": "Yes", "conceptual_metaphor": ["A is b", "C is d"]}'
LONG = [
    ("named", "LIFE IS A VACUUM".rjust(4001, "\n"), ["LIFE IS A VACUU"]),
    ("caption_hl", "<i>cat</i>".rjust(40_001, "."), None),
    ("named_in_json", TWO_IN_JSON.rjust(20_000), "A is b; C is d"),
]
READ = {"captioned": captioned, "named": named, "named_in_json": named_in_json, "annotated": annotated}


@pytest.mark.parametrize(("reader", "answer", "expected"), [*refused("metaphors"), *LONG])
def test_negations_lengths_and_characters(reader: str, answer: str, expected: object) -> None:
    value = READ[reader](answer) if reader in READ else read(reader, answer)
    assert (list(value) if isinstance(value, tuple) else value) == expected
