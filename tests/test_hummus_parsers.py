"""Reading of Hummus's answers: what is read, what is not, that nothing is invented, and that no text makes it fail."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punchline.benchmarks.hummus import TASKS, answers
from punchline.benchmarks.hummus.answers import (
    EXAMPLES,
    NEGATIONS,
    NO_DOMAIN,
    NO_PREDICATE,
    a_or_b,
    box_list,
    explanation,
    is_met,
    joint_fields,
    marked_words,
    named,
    object_name,
    read,
    repeats_example,
    yes_or_no,
)
from punchline.benchmarks.hummus.data import metaphors
from punchline.benchmarks.hummus.instructions import INSTRUCTIONS, OPTIONS, PROMPTS
from punchline.score import highlight

texts = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            [
                "yes",
                "No",
                " or ",
                "A",
                "B.",
                "<i>",
                "</i>",
                "IS",
                " is ",
                "[",
                "]",
                "0.1",
                ",",
                "is_met:",
                "\n",
                ";",
                "/",
                "(",
                ")",
                '"',
                "*",
                "LOVE",
                "cat",
                " ",
                "text_hl:",
                "image_hl:",
                "WIDLII",
                "-",
                "1e9",
                "top:",
            ]
        ),
        max_size=60,
    ).map("".join),
)
asked = tuple(task for task in TASKS if task != "joint")


@settings(deadline=None)
@given(texts, st.sampled_from(asked), st.sampled_from(["nyc-combi-1", "nyc-combi-2"]))
def test_never_raises(text: str, task: str, item_id: str) -> None:
    found = read(task, text, item_id)
    assert found is None or len(found) >= 1


@settings(deadline=None)
@given(texts)
def test_joint_never_raises(text: str) -> None:
    fields = joint_fields(text)
    assert set(fields) <= {"is_met", "conceptual_metaphor", "image_hl", "text_hl"}
    assert all(value in text for value in fields.values()) or text.lstrip().startswith("{")
    assert is_met(fields.get("is_met", "")) in (None, "Yes", "No", "WIDLII", "Discard")


# --------------------------------------------------------------------------------------------------- classification


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Yes", "Yes"),
        (" no.", "No"),
        ("**Yes**", "Yes"),
        ("Yes (i.e., metaphor use is involved)", "Yes"),
        ("No, there is no metaphor. Yes would be wrong.", "No"),
        ("The answer is no", "No"),
        ("Answer: yes", "Yes"),
        ("I would say Yes.", "Yes"),
        ("", None),
        ("Yes or No", None),
        ("Answer the question with Yes or No.", None),
        ("Answer the question with No or Yes.", None),
        (INSTRUCTIONS["classification_glossed"], None),
        ("No doubt, this is a metaphor.", "Yes"),
        ("there is no doubt", None),
        ("It could be Yes, it could be No.", None),
        ("Metaphorical", "Yes"),
        ("The answer is not Yes.", "No"),
        ("I would say yes.", "Yes"),
        ("The humor does not involve metaphor use.", "No"),
        ("<think>Yes? There is a pun.</think>No", "No"),
        ("<think>Yes, it is", None),
        ("No image was provided.", None),
        ("Yesterday", None),
        ("None", None),
        ("Yes/No", None),
        ("No/Yes", None),
        ("Yes, No", None),
        ("Yes|No", None),
        ("Yes & No", None),
        ("Yes. No.", None),
        ("Yes\nNo", None),
        ("Yes and no, it depends", None),
        ("neither yes nor no", None),
        ("Yes/No: Yes", "Yes"),
        ("Yes, no doubt.", "Yes"),
        ("No, yes would be wrong", "No"),
        ("No, no metaphor", "No"),
    ],
)
def test_yes_or_no(answer: str, expected: str | None) -> None:
    assert yes_or_no(answer) == expected


@settings(deadline=None)
@given(texts)
def test_yes_or_no_is_said(text: str) -> None:
    found = yes_or_no(text)
    said = {
        "Yes": "yes|yea|yep|yup|true|affirm|correct|indeed|metaphor|figur",
        "No": "no|nah|false|negativ|incorrect|liter",
    }
    assert found is None or re.search(said[found], text.lower())


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("A", "A"),
        ("B.", "B"),
        ("(a)", "A"),
        ("**B**", "B"),
        ("A. " + OPTIONS[0], "A"),
        ("The answer is B.", "B"),
        ("Option A", "A"),
        (OPTIONS[0], "A"),
        (OPTIONS[1], "B"),
        ("", None),
        ("A or B", None),
        ("A metaphor is used here", "A"),
        ("\\boxed{A}", "A"),
        ("The humor does not involve metaphor use.", "B"),
        ("C", None),
        ("A. or B.", None),
        ("A. " + OPTIONS[0] + "\nB. " + OPTIONS[1] + "\nAnswer the question with A or B.", None),
        ("B. " + OPTIONS[0], None),
        ("A/B", None),
        ("A and B", None),
        ("A, B", None),
        ("Both A and B.", None),
        ("Option A or option B", None),
        ("Plan B.", None),
        ('Plan "B"', None),
        ("It is all about vitamin A.", None),
        ("So, B.", "B"),
        ("I choose **B**", "B"),
        ("Final answer:\nB", "B"),
        ("A, because a metaphor is used", "A"),
    ],
)
def test_a_or_b(answer: str, letter: str | None) -> None:
    assert a_or_b(answer, "A") == (None if letter is None else "Yes" if letter == "A" else "No")


def test_a_or_b_follows_the_order_of_the_options() -> None:
    assert a_or_b("A", "A") == a_or_b("B", "B") == "Yes"
    assert a_or_b("B", "A") == a_or_b("A", "B") == "No"
    assert a_or_b(OPTIONS[0], "B") == "Yes"
    assert a_or_b(OPTIONS[1], "B") == "No"


@settings(deadline=None)
@given(st.text(alphabet="CDEFXYZcdefxyz .,:()\n", max_size=80))
def test_no_letter_that_is_not_there(text: str) -> None:
    assert a_or_b(text, "A") is None


# ----------------------------------------------------------------------------------------------------------- naming


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("LIFE IS A VACUUM", ("LIFE IS A VACUUM",)),
        ('"LIFE IS A VACUUM"', ("LIFE IS A VACUUM",)),
        ("Life is a vacuum.", ("Life is a vacuum",)),
        ('The conceptual metaphor is "WORK IS WAR".', ("WORK IS WAR",)),
        ("The humor is based on WORK IS WAR, which the caption says.", ("WORK IS WAR",)),
        ("**Conceptual metaphor:** Time is money", ("Time is money",)),
        ("1. Time is money\n2. The caption is funny because of that.", ("Time is money",)),
        ("Animals are humans; Road signs are artworks", ("Animals are humans", "Road signs are artworks")),
        ("Emotion Has Weight", ("Emotion Has Weight",)),
        ("Personification", None),
        ("", None),
        ("IS", None),
        ("I cannot see the image", None),
        ("There is nothing here.", None),
        ("THERE IS NOTHING HERE", None),
        ("I am sorry, this is not possible.", None),
        ("I cannot determine what metaphor is used.", None),
        ("I cannot tell. Life is hard to read.", None),
        ("Which conceptual metaphor is used?", None),
        ("Is life a journey?", None),
        ("The conceptual metaphor is unclear.", None),
        ("No metaphor is used.", None),
        ("The image is blank.", None),
        ("The man is holding a gun.", None),
        ("The man has left.", None),
        ("He has left the building.", None),
        ("A metaphor is what this cartoon is about, and the man is a part of it", None),
        (
            "The man is a clock" + " and the couch he lies on stands in an office" * 2,
            None,  # prose, not a metaphor named
        ),
        ("TIME IS A $100 BILL", ("TIME IS A $100 BILL",)),
        ("LIFE IS A 9-TO-5 JOB", ("LIFE IS A 9-TO-5 JOB",)),
        ("LOVE IS A CAFÉ", ("LOVE IS A CAFÉ",)),
        ("I say LOVE IS A CAFÉ, really", ("LOVE IS A CAFÉ",)),
        ("WORK IS A (MENTAL) PRISON", ("WORK IS A MENTAL PRISON",)),
        ("Work is a (mental) prison", ("Work is a mental prison",)),
        ("U.S. POLITICS IS A CIRCUS", ("U.S. POLITICS IS A CIRCUS",)),
        ("'LIFE IS A JOURNEY'", ("LIFE IS A JOURNEY",)),
        ("LIFE IS A JOURNEY, NOT A RACE", ("LIFE IS A JOURNEY",)),
        ("The metaphor is life is a journey.", ("life is a journey",)),
        ("In this cartoon, life is a vacuum.", ("life is a vacuum",)),
        ("Life is a vacuum, because it sucks.", ("Life is a vacuum",)),
        ("I am sorry, I cannot see it; perhaps LIFE IS A VACUUM", ("LIFE IS A VACUUM",)),
        (INSTRUCTIONS["naming"] + " WORK IS WAR", ("WORK IS WAR",)),
    ],
)
def test_named(answer: str, expected: tuple[str, ...] | None) -> None:
    assert named(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('The caption "He has left the building" relies on LIFE IS A JOURNEY', ("LIFE IS A JOURNEY",)),
        ('The caption "Nine lives are a curse" relies on "life is a game"', ("life is a game",)),
        ('The caption "nine lives are a curse" says it', None),
        ("Nine lives are a curse.", None),
        ("Caption: Nine lives are a curse.\n\n" + INSTRUCTIONS["naming"], None),
        (INSTRUCTIONS["naming"] + "\n\nImage: A cat is a clerk.\nCaption: Nine lives are a curse.", None),
        ('"CATS ARE CLERKS"', ("CATS ARE CLERKS",)),
    ],
)
def test_what_the_prompt_shows_names_nothing(answer: str, expected: tuple[str, ...] | None) -> None:
    shown = ("Nine lives are a curse.", "A cat is a clerk.")
    assert named(answer, shown) == expected
    assert read("naming", answer, "x", ["love is a journey"], shown) == expected


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
    assert metaphors("Animals Are Humans / Humans Are Animals; God Is A Person") == (
        "Animals Are Humans",
        "Humans Are Animals",
        "God Is A Person",
    )
    assert metaphors("Work Is Game (Demolition Is Bowling; Ball Is Wreck)") == (
        "Work Is Game",
        "Demolition Is Bowling",
        "Ball Is Wreck",
    )


@pytest.mark.parametrize("example", ["LOVE IS A JOURNEY", '"LOVE IS A JOURNEY"', "TARGET DOMAIN IS SOURCE DOMAIN"])
def test_repeating_the_prompt_names_nothing(example: str) -> None:
    found = named(example)
    assert found is not None and repeats_example(found)
    assert read("naming", example, "x") is None
    assert read("naming", INSTRUCTIONS["naming"], "x") is None
    if "LOVE" in example:
        assert read("naming", example, "x", ["love is a journey"]) is not None  # unless it is right
    assert not repeats_example(("WORK IS WAR", EXAMPLES[0]))


unread = NO_DOMAIN | NEGATIONS | NO_PREDICATE | {"a", "an", "the", "unknown", "sorry"}
word = st.from_regex(r"[A-Za-z][a-z]{0,7}", fullmatch=True).filter(
    lambda one: one.lower() not in unread and not one.endswith("ing")
)
phrase = st.lists(word, min_size=1, max_size=3).map(" ".join)


@settings(deadline=None)
@given(st.lists(st.tuples(phrase, st.sampled_from(["is", "Are"]), phrase), min_size=1, max_size=4))
def test_gold_metaphors_come_back(triples: list[tuple[str, str, str]]) -> None:
    gold = metaphors("; ".join(" ".join(triple) for triple in triples))
    assert named("; ".join(gold)) == gold


@settings(deadline=None)
@given(texts)
def test_named_is_said(text: str) -> None:
    plain = "".join(c for c in text.lower() if c.isalnum())
    for one in named(text) or ():
        assert "".join(c for c in one.lower() if c.isalnum()) in plain


# ------------------------------------------------------------------------------------------------------------ boxes


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("cat: [0.1, 0.2, 0.3, 0.4]", [(0.1, 0.2, 0.3, 0.4)]),
        ("cat: (0.1,0.2,.3,0.4)", [(0.1, 0.2, 0.3, 0.4)]),
        ("[0, 0, 1, 1]", [(0, 0, 1, 1)]),
        ("cat: [top: 0.1, left: 0.2, height: 0.3, width: 0.4]", [(0.1, 0.2, 0.3, 0.4)]),
        ("a: [0.1, 0.2, 0.3, 0.4]; b: [0.5, 0.5, 0.1, 0.1]", [(0.1, 0.2, 0.3, 0.4), (0.5, 0.5, 0.1, 0.1)]),
        ("[0.8, 0.8, 0.5, 0.5]", [(0.8, 0.8, 0.2, 0.2)]),  # cut to the image
        ("[1.0, 0.2, 0.3, 0.4]", None),  # outside the image
        ("[0.1, 0.2, 0, 0.4]", None),  # without area
        ("[-0.1, 0.2, 0.3, 0.4]", None),
        ("[100, 200, 300, 400]", None),  # another convention
        ("[0.1, 0.2, 0.3]", None),
        ("[0.1, 0.2, 0.3, 0.4, 0.5]", None),
        ("cat: [top, left, height, width]", None),
        ("", None),
        ("[0.1, 0.2, 0.3, 0.4]" * 60, [(0.1, 0.2, 0.3, 0.4)]),  # one box
        (", ".join(f"[0.1, 0.2, 0.3, 0.{n:03}]" for n in range(100, 151)), None),  # more than can be meant
        ('{"left": 0.1, "top": 0.2, "width": 0.3, "height": 0.4}', [(0.2, 0.1, 0.4, 0.3)]),
        ("[left=0.1, top=0.2, width=0.3, height=0.4]", [(0.2, 0.1, 0.4, 0.3)]),
        ('{"label": "cat", "width": 0.4, "top": 0.1, "left": 0.2, "height": 0.3}', [(0.1, 0.2, 0.3, 0.4)]),
        ("[top: 0.1, 0.2, 0.3, 0.4]", [(0.1, 0.2, 0.3, 0.4)]),
        ("[left: 0.1, 0.2, 0.3, 0.4]", None),  # named or by place?
        ("[x: 0.1, y: 0.2, w: 0.3, h: 0.4]", None),
        ('{"top": 0.1, "left": 0.2, "right": 0.3, "bottom": 0.4}', None),
        ('{"top": 0.1, "top": 0.2, "left": 0.3, "height": 0.4, "width": 0.1}', None),
        ("[0.1, 0.2, 0.3, 0.4}", None),
        ("(0.1, 0.2, 0.3, 0.4]", None),
        ("[\u0660.1, 0.2, 0.3, 0.4]", None),  # not our digits
        ("[\u0661, \u0661, \u0661, \u0661]", None),
        ("[0.5, 0.2, 0.00000000000000000001, 0.4]", None),  # without area
    ],
)
def test_boxes(answer: str, expected: list[tuple[float, ...]] | None) -> None:
    found = box_list(answer)
    if expected is None:
        assert found is None
    else:
        assert found is not None and [pytest.approx(box) for box in found] == expected


share = st.floats(0.01, 0.5).map(lambda x: round(x, 4))


@settings(deadline=None)
@given(st.lists(st.tuples(share, share, share, share), min_size=1, max_size=5, unique=True))
def test_gold_boxes_come_back(gold: list[tuple[float, float, float, float]]) -> None:
    found = box_list("; ".join(f"thing: {list(box)!r}" for box in gold))
    assert found is not None and [pytest.approx(box) for box in found] == gold


@settings(deadline=None)
@given(st.text(alphabet="0123456789.,[]()-+ e:topleft\n", max_size=200))
def test_boxes_lie_in_the_image(text: str) -> None:
    for top, left, height, width in box_list(text) or ():
        assert 0 <= top < 1 and 0 <= left < 1 and 0 < height <= 1 and 0 < width <= 1
        assert top + height <= 1 + 1e-9 and left + width <= 1 + 1e-9


# ------------------------------------------------------------------------------------- labels, highlights, explanations


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Pistol", "Pistol"),
        ("cat.", "cat"),
        ("Label: cat", "cat"),
        ("**Tree stump**\nbecause it is one", "Tree stump"),
        ("", None),
        ("...", None),
        ("The object in the image that is related to the metaphor would be the cat", "cat"),
        ("Final answer: Earth", "Earth"),
        ("<think>The cat?\n</think>\nDog", "Dog"),
        ("a single word", None),
        ("Answer the question with a single word.", None),
        ("Answer with a single word", None),
        ("I cannot see the image, so I cannot answer", None),
        ("Sorry, no", None),
        ("I see none", None),
        ("N/A", None),
        ("None", None),
        ("no horse", "no horse"),
        ("object", "object"),
        (INSTRUCTIONS["image_label"] + "\nCat", "Cat"),
    ],
)
def test_object_name(answer: str, expected: str | None) -> None:
    assert object_name(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It was a <i>train wreck</i>.", ("train", "wreck")),
        ("<i>It's</i> a <I>Wreck</I>", ("it's", "wreck")),
        ("<i>the <u>train</u> wreck</i>", ("the", "train", "wreck")),
        ("<i>a <i>b</i> c</i>", ("a", "b", "c")),
        ("<i>open", None),
        ("closed</i>", None),
        ("</i>a<i>", None),
        ("<i></i>", None),
        ("<i>...</i>", None),
        ("", None),
        (INSTRUCTIONS["caption_hl"], None),
    ],
)
def test_marked_words(answer: str, expected: tuple[str, ...] | None) -> None:
    assert marked_words(answer) == expected


@settings(deadline=None)
@given(texts)
def test_marked_words_are_said(text: str) -> None:
    assert set(highlight.highlighted(text)) <= set(
        highlight.words(text.replace("<i>", " ").replace("</i>", " "))
    ) | set(highlight.words(text))


def test_balanced() -> None:
    assert highlight.balanced("a") and highlight.balanced("<i>a</i> <i>b</i>")
    for broken in ("<i>a", "a</i>", "</i>a<i>", "<i>a<i>b</i>", "<i><i>a</i></i>"):
        assert not highlight.balanced(broken)


def test_overlap_of_words() -> None:
    assert highlight.overlap(("a", "b"), ("b", "c")) == pytest.approx((1 / 3, 1 / 2, 1 / 2))
    assert highlight.overlap(("a", "a"), ("a",)) == (1, 1, 1)
    assert highlight.overlap((), ("a",)) is None
    assert highlight.overlap(("a",), ()) is None


def test_explanation() -> None:
    assert explanation("  The cat.\n") == "The cat."
    assert explanation(INSTRUCTIONS["explanation"]) is None
    assert explanation("...") is None
    assert explanation("") is None
    assert explanation(INSTRUCTIONS["explanation"] + " The cat is late.") == "The cat is late."
    assert explanation("in no more than 30 words.") is None
    for refusal in (
        "I'm sorry, I can't help with that.",
        "I cannot see the image.",
        "Unfortunately, I am unable to view it",
    ):
        assert explanation(refusal) is None
    assert explanation("I cannot believe a cat has a boss.") is not None


# ------------------------------------------------------------------------------------------------------------- joint

JOINT = """is_met: WIDLII
conceptual_metaphor: Animals are humans; Work is war
image_hl: cat: [0.1, 0.2, 0.3, 0.4]
text_hl: Nine <i>lives</i> of experience"""


def test_joint() -> None:
    fields = joint_fields(JOINT)
    assert is_met(fields["is_met"]) == "WIDLII"
    assert named(fields["conceptual_metaphor"]) == ("Animals are humans", "Work is war")
    assert box_list(fields["image_hl"]) == ((0.1, 0.2, 0.3, 0.4),)
    assert marked_words(fields["text_hl"]) == ("lives",)


ONE_LINE = {
    "is_met": "WIDLII",
    "conceptual_metaphor": "Animals are humans; Work is war",
    "image_hl": "cat: [0.1, 0.2, 0.3, 0.4]",
    "text_hl": "Nine <i>lives</i> of experience",
}


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps(ONE_LINE),
        "```json\n" + json.dumps(ONE_LINE, indent=2) + "\n```",
        "Here {it} is: " + json.dumps(ONE_LINE) + " Done.",
        json.dumps({name.upper(): value for name, value in ONE_LINE.items()}),
        json.dumps(
            ONE_LINE
            | {
                "conceptual_metaphor": ["Animals are humans", "Work is war"],
                "image_hl": [{"cat": [0.1, 0.2, 0.3, 0.4]}],
            }
        ),
        json.dumps(
            ONE_LINE | {"image_hl": {"label": "cat", "left": 0.2, "top": 0.1, "width": 0.4, "height": 0.3}, "x": None}
        ),
        json.dumps(ONE_LINE)[:-1] + ', "is_met": "No"}',  # the first counts
        json.dumps(ONE_LINE)[:-1],  # cut off
        str(ONE_LINE),
        ", ".join(f"{name}: {value}" for name, value in ONE_LINE.items()),
    ],
)
def test_joint_in_one_line(answer: str) -> None:
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
        '{"is_met": {"is_met": "Yes"}}',
        '{"is_met": null}',
        '{"is_met": true}',
    ],
    ids=lambda text: text[:16],
)
def test_joint_objects_that_say_nothing(answer: str) -> None:
    assert is_met(joint_fields(answer).get("is_met", "")) is None


def test_joint_objects_hold_no_half_character() -> None:
    fields = joint_fields('{"is_met": "Yes", "conceptual_metaphor": "\\ud800 IS \\udfff", "text_hl": "\\ud83d\\ude00"}')
    assert fields["conceptual_metaphor"] == "\ufffd IS \ufffd" and fields["text_hl"] == "\U0001f600"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("**is_met**: Yes", "Yes"),
        ('{"is_met": "No"}', "No"),
        ("1. is_met: discard", "Discard"),
        ("- is_met: Yes\n- is_met: No", "Yes"),
        ("is_met: Yes, No, WIDLII or Discard", None),
        ("is_met: maybe", None),
        ("Yes", None),
        (PROMPTS["joint"], None),
    ],
)
def test_is_met(answer: str, expected: str | None) -> None:
    assert is_met(joint_fields(answer).get("is_met", "")) == expected


@pytest.mark.timeout(120)  # quadratic would be hours
@pytest.mark.parametrize(
    "text",
    [
        "a " * 200_000,
        "[" * 200_000,
        "[0.1," * 100_000,
        "<i>" * 100_000,
        "IS " * 200_000,
        "A IS " * 100_000,
        '"' * 200_000,
        "yes or " * 100_000,
        "is_met" * 100_000,
        " " * 400_000,
        "\n" * 400_000,
        "metaphor" * 50_000,
        "9" * 400_000,
        "(i.e., " * 100_000,
        ("x" * 299 + " is ") * 2000,
        "Yes" + " " * 400_000,
        "Yes, " * 100_000,
        "Yes /" * 100_000,
        '{"' * 200_000,
        "[top: 0.1, " * 50_000,
        "(" + "0.1, " * 100_000,
        "LIFE IS (" * 50_000,
        "the the the " * 40_000,
        "The metaphor is " * 30_000,
        "B" + "*" * 400_000,
    ],
    ids=lambda text: f"{text[:6]!r}",
)
def test_long_answers_take_no_longer_than_they_are(text: str) -> None:
    for task in asked:
        answers.read(task, text, "nyc-combi-1")
    is_met(joint_fields(text).get("is_met", ""))


def test_corners_of_qwen25_are_pixels_of_the_picture_it_saw() -> None:
    answer = '[{"bbox_2d": [56, 28, 280, 140], "label": "cat"}]'
    (thousandths,) = box_list(answer, (570, 275)) or ()
    assert thousandths == pytest.approx((0.028, 0.056, 0.112, 0.224))
    (pixels,) = box_list(answer, (570, 275), "qwen2.5-vl-7b") or ()
    assert pixels == pytest.approx((0.1, 0.1, 0.4, 0.4))  # of 560 x 280
    assert box_list("[0.1, 0.2, 0.3, 0.4]", (570, 275), "qwen2.5-vl-7b") == ((0.1, 0.2, 0.3, 0.4),)
