"""Reading of Hummus's answers: what is read, what is not, that nothing is invented, and that no text makes it fail."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.test_readings import hostile

from punchline.benchmarks.hummus import TASKS
from punchline.benchmarks.hummus import answers as reading
from punchline.benchmarks.hummus.answers import a_or_b, box_list, is_met, joint_fields, marked_words, named, read
from punchline.benchmarks.hummus.data import metaphors
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS
from punchline.metrics.highlight import overlap
from punchline.read import highlight

texts = hostile("hummus")
asked = tuple(task for task in TASKS if task != "joint")


@given(texts, st.sampled_from(asked), st.sampled_from(["nyc-combi-1", "nyc-combi-2"]))
def test_never_raises(text: str, task: str, item_id: str) -> None:
    found = read(task, text, item_id)
    assert found is None or len(found) >= 1


@given(texts)
def test_joint_never_raises(text: str) -> None:
    fields = joint_fields(text)
    assert set(fields) <= {"is_met", "conceptual_metaphor", "image_hl", "text_hl"}
    assert all(value in text for value in fields.values()) or text.lstrip().startswith("{")
    assert is_met(fields.get("is_met", "")) in (None, "Yes", "No", "WIDLII", "Discard")


@given(texts)
def test_yes_or_no_is_said(text: str) -> None:
    found = reading.yes_or_no(text)
    yes, no = "yes|yea|yep|yup|true|affirm|correct|indeed|metaphor|figur", "no|nah|false|negativ|incorrect|liter"
    assert found is None or re.search({"Yes": yes, "No": no}[found], text.lower())


def test_a_or_b_follows_the_order_of_the_options() -> None:
    cases = ("A", "A"), ("B", "B"), (OPTIONS[0], "B"), ("B", "A"), ("A", "B"), (OPTIONS[1], "B")
    assert [a_or_b(*case) for case in cases] == ["Yes"] * 3 + ["No"] * 3


@given(st.text(alphabet="CDEFXYZcdefxyz .,:()\n", max_size=80))
def test_no_letter_that_is_not_there(text: str) -> None:
    assert a_or_b(text, "A") is None


@pytest.mark.parametrize("task", ["naming", "image_label", "explanation", "caption_hl", "image_bbox"])
def test_the_repeated_prompt_is_not_read(task: str) -> None:
    caption, description = "It runs on time.", "A clock lies on a couch."
    for prompt in (
        f"Caption: {caption}\n\n{INSTRUCTIONS[task]}",
        f"{INSTRUCTIONS[task]}\n\nImage: {description}\nCaption: {caption}",
        *INSTRUCTIONS[task].split(". "),
        INSTRUCTIONS[task].replace(" ", "\n"),
    ):
        assert read(task, prompt, "x", ["love is a journey"], (caption, description)) is None, prompt


def test_annotations_are_split() -> None:
    found = metaphors("Animals Are Humans / Humans Are Animals; Work Is Game (A Is B; Ball Is Wreck)")
    assert found == ("Animals Are Humans", "Humans Are Animals", "Work Is Game", "A Is B", "Ball Is Wreck")


@pytest.mark.parametrize("example", ["LOVE IS A JOURNEY", '"LOVE IS A JOURNEY"', "TARGET DOMAIN IS SOURCE DOMAIN"])
def test_repeating_the_prompt_names_nothing(example: str) -> None:
    found = named(example)
    assert found is not None and reading.repeats_example(found)
    assert read("naming", example, "x") is None
    assert read("naming", INSTRUCTIONS["naming"], "x") is None
    if "LOVE" in example:
        assert read("naming", example, "x", ["love is a journey"]) is not None  # unless it is right
    assert not reading.repeats_example(("WORK IS WAR", reading.EXAMPLES[0]))


unread = reading.NO_DOMAIN | reading.NEGATIONS | reading.NO_PREDICATE | {"a", "an", "the", "unknown", "sorry"}
word = st.from_regex(r"[A-Za-z][a-z]{0,7}", fullmatch=True).filter(
    lambda one: one.lower() not in unread and not one.endswith("ing")
)
phrase = st.lists(word, min_size=1, max_size=3).map(" ".join)


@given(st.lists(st.tuples(phrase, st.sampled_from(["is", "Are"]), phrase), min_size=1, max_size=4))
def test_gold_metaphors_come_back(triples: list[tuple[str, str, str]]) -> None:
    gold = metaphors("; ".join(" ".join(triple) for triple in triples))
    assert named("; ".join(gold)) == gold


@given(texts)
def test_named_is_said(text: str) -> None:
    plain = "".join(c for c in text.lower() if c.isalnum())
    for one in named(text) or ():
        assert "".join(c for c in one.lower() if c.isalnum()) in plain


share = st.floats(0.01, 0.5).map(lambda x: round(x, 4))


@given(st.lists(st.tuples(share, share, share, share), min_size=1, max_size=5, unique=True))
def test_gold_boxes_come_back(gold: list[tuple[float, float, float, float]]) -> None:
    found = box_list("; ".join(f"thing: {list(box)!r}" for box in gold))
    assert found is not None and [pytest.approx(box) for box in found] == gold


@given(st.text(alphabet="0123456789.,[]()-+ e:topleft\n", max_size=200))
def test_boxes_lie_in_the_image(text: str) -> None:
    for top, left, height, width in box_list(text) or ():
        assert 0 <= top < 1 and 0 <= left < 1 and 0 < height <= 1 and 0 < width <= 1
        assert top + height <= 1 + 1e-9 and left + width <= 1 + 1e-9


@given(texts)
def test_marked_words_are_said(text: str) -> None:
    unmarked = highlight.words(text.replace("<i>", " ").replace("</i>", " "))
    assert set(highlight.highlighted(text)) <= {*unmarked, *highlight.words(text)}


def test_balanced() -> None:
    assert highlight.balanced("a") and highlight.balanced("<i>a</i> <i>b</i>")
    for broken in ("<i>a", "a</i>", "</i>a<i>", "<i>a<i>b</i>", "<i><i>a</i></i>"):
        assert not highlight.balanced(broken)


def test_overlap_of_words() -> None:
    assert overlap(("a", "b"), ("b", "c")) == pytest.approx((1 / 3, 1 / 2, 1 / 2))
    assert overlap(("a", "a"), ("a",)) == (1, 1, 1)
    assert overlap((), ("a",)) is overlap(("a",), ()) is None


ONE_LINE = {"is_met": "WIDLII", "conceptual_metaphor": "Animals are humans; Work is war"}
ONE_LINE |= {"image_hl": "cat: [0.1, 0.2, 0.3, 0.4]", "text_hl": "Nine <i>lives</i> of experience"}
CAT, SIDES = {"cat": [0.1, 0.2, 0.3, 0.4]}, {"left": 0.2, "top": 0.1, "width": 0.4, "height": 0.3}


@pytest.mark.parametrize(
    "answer",
    [
        "\n".join(f"{name}: {value}" for name, value in ONE_LINE.items()),
        json.dumps(ONE_LINE),
        "```json\n" + json.dumps(ONE_LINE, indent=2) + "\n```",
        "Here {it} is: " + json.dumps(ONE_LINE) + " Done.",
        json.dumps({name.upper(): value for name, value in ONE_LINE.items()}),
        json.dumps(ONE_LINE | {"conceptual_metaphor": ["Animals are humans", "Work is war"], "image_hl": [CAT]}),
        json.dumps(ONE_LINE | {"image_hl": {"label": "cat", **SIDES}, "x": None}),
        json.dumps(ONE_LINE)[:-1] + ', "is_met": "No"}',  # the first counts
        json.dumps(ONE_LINE)[:-1],  # cut off
        str(ONE_LINE),
        ", ".join(f"{name}: {value}" for name, value in ONE_LINE.items()),
    ],
)
def test_joint_answers(answer: str) -> None:
    fields = joint_fields(answer)
    assert is_met(fields["is_met"]) == "WIDLII"
    assert named(fields["conceptual_metaphor"]) == ("Animals are humans", "Work is war")
    assert box_list(fields["image_hl"]) == ((0.1, 0.2, 0.3, 0.4),)
    assert marked_words(fields["text_hl"]) == ("lives",)


@pytest.mark.parametrize(
    "answer",
    [
        '{"is_met": ' + "[" * 100_000,
        '{"is_met": ' + "9" * 10_000 + "}",
        *(f'{{"is_met": {value}}}' for value in ('{"is_met": "Yes"}', "null", "true")),
    ],
    ids=lambda text: text[:16],
)
def test_joint_objects_that_say_nothing(answer: str) -> None:
    assert is_met(joint_fields(answer).get("is_met", "")) is None


def test_joint_objects_hold_no_half_character() -> None:
    fields = joint_fields('{"is_met": "Yes", "conceptual_metaphor": "\\ud800 IS \\udfff", "text_hl": "\\ud83d\\ude00"}')
    assert fields["conceptual_metaphor"] == "\ufffd IS \ufffd" and fields["text_hl"] == "\U0001f600"


def test_corners_of_qwen25_are_pixels_of_the_picture_it_saw() -> None:
    answer = '[{"bbox_2d": [56, 28, 280, 140], "label": "cat"}]'
    (thousandths,) = box_list(answer, (570, 275)) or ()
    assert thousandths == pytest.approx((0.028, 0.056, 0.112, 0.224))
    (pixels,) = box_list(answer, (570, 275), "qwen2.5-vl-7b") or ()
    assert pixels == pytest.approx((0.1, 0.1, 0.4, 0.4))  # of 560 x 280
    assert box_list("[0.1, 0.2, 0.3, 0.4]", (570, 275), "qwen2.5-vl-7b") == ((0.1, 0.2, 0.3, 0.4),)


@pytest.mark.parametrize(
    ("reader", "answer", "expected"),
    [
        (named, "LOVE IS NOT A JOURNEY", None),
        (named, "LIFE IS IMPOSSIBLE", None),
        # Limits: 8 metaphors of 12 words, in 4,000 characters; 12 words next to a plain one.
        (named, "; ".join(f"LIFE IS {c}" for c in "BCDEFGHIJ"), tuple(f"LIFE IS {c}" for c in "BCDEFGHI")),
        (named, "LIFE IS" + 10 * " VERY", ("LIFE IS" + 10 * " VERY",)),
        (named, "LIFE IS" + 11 * " VERY", None),
        (named, "LIFE IS A VACUUM".rjust(4000, "\n"), ("LIFE IS A VACUUM",)),
        (named, "LIFE IS A VACUUM".rjust(4001, "\n"), ("LIFE IS A VACUU",)),
        (named, "Well" + 11 * " so" + ". Life is a vacuum", ("Life is a vacuum",)),
        (named, "Well" + 12 * " so" + ". Life is a vacuum", None),
        (reading.object_name, "cat" + 9 * " cat", "cat" + 9 * " cat"),
        (reading.object_name, "cat" + 10 * " cat", None),
        (reading.object_name, "cat".rjust(4000, "\n"), "cat"),
        (reading.object_name, "cat".rjust(4001, "\n"), "ca"),
        (marked_words, "<i>cat</i>".rjust(40_000, "."), ("cat",)),
        (marked_words, "<i>cat</i>".rjust(40_001, "."), None),
    ],
)
def test_negations_and_length_limits(reader: Any, answer: str, expected: object) -> None:
    assert reader(answer) == expected


@pytest.mark.parametrize(("characters", "expected"), [(20_000, "A is b; C is d"), (20_001, '["A is b", "C is d"]')])
def test_json_is_read_up_to_20000_characters(characters: int, expected: str) -> None:
    answer = '{"is_met": "Yes", "conceptual_metaphor": ["A is b", "C is d"]}'.rjust(characters)
    assert joint_fields(answer)["conceptual_metaphor"].removesuffix("}") == expected
