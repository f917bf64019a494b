"""How answers are read and scored, one by one, under both rules."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punchline.benchmarks.pixelhumor import MODALITIES, SOUND_EFFECTS, STYLES
from punchline.benchmarks.pixelhumor.answers import panel_texts, parse
from punchline.benchmarks.pixelhumor.grade import GRADED, LONGEST, grade_item
from punchline.benchmarks.pixelhumor.released_text import RELEASED_PANEL
from punchline.core.records import RULES, Gold, Grade, Item, Response, Rule, State

P, R = "paper", "released"
CONTRIBUTE, NOT_CONTRIBUTE = "Present, contribute", "Present, do not contribute"


@pytest.mark.parametrize(
    ("task", "answer", "rule", "expected"),
    [
        # Q1
        ("Q1", "Yes", P, ["Yes"]),
        ("Q1", "Yes.", P, ["Yes"]),
        ("Q1", "**yes**", P, ["Yes"]),
        ("Q1", "No, I do not.", P, ["No"]),
        ("Q1", "Answer: No", P, ["No"]),
        ("Q1", "The answer is yes", P, ["Yes"]),
        ("Q1", "Yes, there is no doubt", P, ["Yes"]),
        ("Q1", "I would say no", P, ["No"]),
        ("Q1", "I do not know", P, None),
        ("Q1", "The answer is not yes.", P, ["No"]),
        ("Q1", "I understand the humor of this comic.", P, ["Yes"]),
        ("Q1", "<think>Yes? No?</think>Yes", P, ["Yes"]),
        ("Q1", "No image was provided.", P, None),
        ("Q1", "Yesterday", P, None),
        ("Q1", "Well, yes and no", P, None),
        ("Q1", "", P, None),
        ("Q1", " \n", P, None),
        ("Q1", "Yes.", R, ["yes."]),
        ("Q1", " Yes", R, [" yes"]),
        ("Q1", "", R, None),
        # Q2
        ("Q2", "Absent", P, ["Absent"]),
        ("Q2", '"Absent".', P, ["Absent"]),
        ("Q2", "Present, contribute", P, [CONTRIBUTE]),
        ("Q2", "present - contributes", P, [CONTRIBUTE]),
        ("Q2", "(b) Present, contribute", P, [CONTRIBUTE]),
        ("Q2", "Present, do not contribute", P, [NOT_CONTRIBUTE]),
        ("Q2", "Present, but do not contribute.", P, [NOT_CONTRIBUTE]),
        ("Q2", "Present, does not contribute", P, [NOT_CONTRIBUTE]),
        ("Q2", "Present, don’t contribute", P, [NOT_CONTRIBUTE]),
        ("Q2", "Sound effects are present and contributing", P, [CONTRIBUTE]),
        ("Q2", "They are present, but they do not contribute.", P, [NOT_CONTRIBUTE]),
        ("Q2", "(c)", P, [NOT_CONTRIBUTE]),
        ("Q2", "a.", P, ["Absent"]),
        ("Q2", "Either Absent or Present, contribute", P, None),
        ("Q2", "Present", P, None),
        ("Q2", "Absent.", R, ["absent."]),
        ("Q2", "Present, contribute", R, ["present, contribute"]),
        # Q3
        ("Q3", "3", P, ["3"]),
        ("Q3", "03", P, ["3"]),
        ("Q3", "Panel 3.", P, ["3"]),
        ("Q3", "Panel 3 of 4", P, ["3"]),
        ("Q3", "3. In panel 1 we see", P, ["3"]),
        ("Q3", "Out of 4 panels it is panel 2", P, ["2"]),
        ("Q3", "17", P, None),  # no panel of the comic
        ("Q3", "Panel 2 and 3", P, None),
        ("Q3", "The panel that contributes the most to the humor of this comic is panel 3.", P, ["3"]),
        ("Q3", "<think>Panel 1? 2?</think>\n4", P, ["4"]),
        ("Q3", "2 and 3", P, None),
        ("Q3", "2, 3", P, None),
        ("Q3", "NA", P, ["NA"]),
        ("Q3", "n/a.", P, ["NA"]),
        ("Q3", "the last one", P, None),
        ("Q3", "12345678", P, None),
        ("Q3", "Panel 3 of 4", R, ["3", "4"]),
        ("Q3", "03", R, ["03"]),
        ("Q3", "NA", R, None),
        # Q4
        ("Q4", "Text", P, ["Text"]),
        ("Q4", "text.", P, ["Text"]),
        ("Q4", "Visuals", P, ["Visual"]),
        ("Q4", "BOTH", P, ["Both"]),
        ("Q4", "Both text and visual", P, ["Both"]),
        ("Q4", "It needs both the text and the visuals", P, ["Both"]),
        ("Q4", "Text and Visual", P, ["Both"]),
        ("Q4", "Visual, Text", P, ["Both"]),
        ("Q4", "Text is more important than the visual", P, ["Text"]),
        ("Q4", "The visual matters more than the text", P, ["Visual"]),
        ("Q4", "context", P, None),
        ("Q4", "N/A", P, ["NA"]),
        ("Q4", "Text", R, ["Text"]),
        ("Q4", "text", R, None),
        ("Q4", "Text ", R, None),
        ("Q4", "NA", R, None),
        # Q5
        ("Q5", "Pun, Sarcasm", P, ["Pun", "Sarcasm"]),
        ("Q5", "sarcasm and PUN.", P, ["Sarcasm", "Pun"]),
        ("Q5", "Pun, pun", P, ["Pun"]),
        ("Q5", "- Dark\n- Surprise", P, ["Dark", "Surprise"]),
        ("Q5", "Punchline, Surprising", P, None),
        ("Q5", "None.", P, ["NA"]),
        ("Q5", "Not applicable", P, ["NA"]),
        ("Q5", "Pun, Sarcasm", R, ["Pun", "Sarcasm"]),
        ("Q5", "Pun,Sarcasm", R, None),  # split on ', ' where there is a comma
        ("Q5", "Pun Sarcasm", R, ["Pun", "Sarcasm"]),
        ("Q5", "Pun, Dark.", R, ["Pun"]),
        ("Q5", "pun", R, None),
        ("Q5", "NA", R, None),
        # Q7
        ("Q7", "3,1,2", P, ["3", "1", "2"]),
        ("Q7", "3, 1, 2.", P, ["3", "1", "2"]),
        ("Q7", "3 1 2", P, ["3", "1", "2"]),
        ("Q7", "3 -> 1 → 2", P, ["3", "1", "2"]),
        ("Q7", '"3,1,2"', P, ["3", "1", "2"]),
        ("Q7", "The 4 panels: 2, 1, 3, 4", P, ["2", "1", "3", "4"]),
        ("Q7", "Panel 2, then panel 1 and finally panel 3", P, ["2", "1", "3"]),
        ("Q7", "[3][1][2]", P, ["3", "1", "2"]),
        ("Q7", "02,1", P, ["2", "1"]),
        ("Q7", "1. 3\n2. 1\n3. 2", P, ["3", "1", "2"]),
        ("Q7", "1", P, ["1"]),
        ("Q7", "2,1,3\n\nThis is because 3", P, ["2", "1", "3"]),
        ("Q7", "2, 1", P, None),  # of three panels
        ("Q7", "2, 1, 3, 4", P, None),
        ("Q7", "2, 1, 3, 3", P, None),
        ("Q7", "no order", P, None),
        ("Q7", "", P, None),
        ("Q7", "3, 1, 2", R, ["3", "1", "2"]),
        ("Q7", "03,1", R, ["3", "1"]),
        ("Q7", "3,1,2.", R, ["3", "1"]),
        ("Q7", "3,1,2\n", R, ["3", "1"]),  # only blanks are removed
        ("Q7", "3 1 2", R, ["312"]),
        ("Q7", "Order: 3,1,2", R, ["1", "2"]),
        ("Q7", "²,1", R, ["1"]),
        ("Q7", "none", R, None),
    ],
)
def test_parse(task: str, answer: str, rule: Rule, expected: list[str] | None) -> None:
    known = sorted(expected or "123") if task == "Q7" else "1234"
    assert parse(task, answer, rule, known) == (None if expected is None else tuple(expected))


@pytest.mark.parametrize(
    ("answer", "rule", "expected"),
    [
        ("1: HELLO\n2: YOU", R, {"1": "HELLO", "2": "YOU"}),
        ('1: "HELLO"\n2: {YOU}\n3: "{A}"', R, {"1": "HELLO", "2": "YOU", "3": "A"}),
        ('1: ""\n2: {}\n3: "', R, {"1": "", "2": "", "3": ""}),
        ("1: A 1: B", R, {"1": "A B"}),
        ("1: 42\n2: 7) X\n3: 123", R, {"1": "", "2": " X", "3": "123"}),
        ("1: 9\n9 LIVES", R, {"1": "9 LIVES"}),
        ("1: at 12: 30", R, {"1": "at", "12": ""}),  # "30" begins with a digit and is two characters long
        ("1: at 2:30", R, {"1": "at 2:30"}),
        ("1: A\n2:", R, {"1": "A\n2:"}),  # the last key has no blank after it
        ("1: \n2: ", R, {"1": "", "2": ""}),
        ("no keys", R, {}),
        ("٣: x", R, {"٣": "x"}),
        ("1: HELLO\n2: YOU", P, {"1": "HELLO", "2": "YOU"}),
        ("Panel 1: HELLO\nPanel 2: YOU", P, {"1": "HELLO", "2": "YOU"}),
        ("**Panel 1:** HELLO\n**2**: YOU", P, {"1": "HELLO", "2": "YOU"}),
        ("{1}: {HELLO}\n{2}: {YOU}", P, {"1": "HELLO", "2": "YOU"}),
        ("1:HELLO\n2:YOU", P, {"1": "HELLO", "2": "YOU"}),
        ("1: HELLO 2: YOU", P, {"1": "HELLO", "2": "YOU"}),
        ("1: at 2:30", P, {"1": "at 2:30"}),
        ("1: PET PEEVE #114: X", P, {"1": "PET PEEVE #114: X"}),
        ("1: 42\n2: 7) X", P, {"1": "42", "2": "7) X"}),
        ("1: A\n1: B", P, {"1": "A B"}),
        ("02: A", P, {"2": "A"}),
        ("Title\n1: A", P, {"1": "A"}),
        ("9: A", P, {}),
        ("no keys", P, {}),
    ],
)
def test_panel_texts(answer: str, rule: Rule, expected: dict[str, str]) -> None:
    assert panel_texts(answer, rule, ["1", "2", "3"]) == expected


VOCABULARY = {
    "Q1": {"Yes", "No"},
    "Q2": set(SOUND_EFFECTS),
    "Q4": {*MODALITIES, "NA"},
    "Q5": {*STYLES, "NA"},
}
fragments = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *(
                    *["Yes", "no", "Absent", "present", "Text", "both", "visual", "NA"],
                    CONTRIBUTE,
                    NOT_CONTRIBUTE,
                    *STYLES,
                ),
                *(" ", ", ", "\n", ": ", "and ", "panel ", "-> ", "1", "2: ", '"', "{", "}", ")", "²", "٣", "answer "),
            ]
        ),
        st.text(max_size=4),
    ),
    max_size=12,
).map("".join)


@settings(max_examples=300)
@given(fragments, st.sampled_from(RULES))
def test_reading_never_fails_and_stays_in_the_vocabulary(answer: str, rule: Rule) -> None:
    for task in ("Q1", "Q2", "Q3", "Q4", "Q5", "Q7"):
        parsed = parse(task, answer, rule, "123")
        if parsed is None:
            continue
        assert parsed
        assert task == "Q7" or rule == "released" or len(set(parsed)) == len(parsed)
        if task == "Q3" and rule == "paper":
            assert parsed in (("NA",), ("1",), ("2",), ("3",))
        elif task == "Q7" and rule == "paper":
            assert sorted(parsed) == ["1", "2", "3"]
        elif task in ("Q3", "Q7"):
            assert all(number.isdigit() for number in parsed)
        elif rule == "paper" or task in ("Q4", "Q5"):
            assert set(parsed) <= VOCABULARY[task]
        else:
            assert parsed == (answer.lower(),)
    assert all(isinstance(text, str) for text in panel_texts(answer, rule, ["1", "2"]).values())


RELEASED = re.compile(r"(\d+):\s*(.*?)(?=(\d+: |$))", re.DOTALL)  # as scoring of the released texts was published


@settings(max_examples=500)
@given(st.text(alphabet='12٣: \n"{a', max_size=40))
def test_the_linear_pattern_finds_what_the_released_one_does(answer: str) -> None:
    expected = [(match.group(1), match.group(2)) for match in RELEASED.finditer(answer)]
    assert RELEASED_PANEL.findall(answer) == expected


# ------------------------------------------------------------------------------------------------------------- grades

ITEM = Item(benchmark="pixelhumor", item_id="c_1", source="c", cluster="c_1")
GOLD = Gold(
    benchmark="pixelhumor",
    item_id="c_1",
    values={
        "Q1": ["Yes"],
        "Q2": ["Absent"],
        "Q3": ["2"],
        "Q4": ["Both"],
        "Q5": ["Pun", "Dark"],
        "panel_sequence": "2, 1, 3",
        "text": '1: WHY  NOT? \n 2: HELLO\nYOU \n 3: "OH"',
        "number_of_panels": 3,
        "potentially_harmful": "harm",
    },
)
RIGHT = {
    "Q1": "Yes",
    "Q2": "Absent",
    "Q3": "2",
    "Q4": "Both",
    "Q5": "Pun, Dark",
    "Q7": "2, 1, 3",
    "Q8": "1: why not?\n2: hello you\n3: oh",
}


def response(task: str, text: str | None, state: State = "ok") -> Response:
    return Response(request_id=task, model_key="m", state=state, text=text, engine="test", engine_version="1")


def grades(rule: Rule, states: dict[str, State] | None = None, **answers: str | None) -> dict[str, Grade]:
    """Grades of right answers but for those given; None: the task was not asked."""
    given_ = {task: text for task, text in {**RIGHT, **answers}.items() if text is not None or task in (states or {})}
    responses = {task: response(task, text, (states or {}).get(task, "ok")) for task, text in given_.items()}
    return {grade.task: grade for grade in grade_item(responses, ITEM, GOLD, "model", rule)}


@pytest.mark.parametrize("rule", RULES)
def test_right_answers(rule: Rule) -> None:
    found = grades(rule)
    assert tuple(found) == GRADED
    for task, grade in found.items():
        assert (grade.state, grade.scored, grade.rule, grade.model, grade.item_id) == ("ok", True, rule, "model", "c_1")
        assert f"rule:{rule}" in grade.signature
        assert grade.gold == GOLD.digest
        if task < "Q6":
            assert {label.lower() for label in grade.parsed or ()} == {label.lower() for label in GOLD.values[task]}
    assert found["Q7"].values == {"panel_acc": 1}
    assert found["Q8"].values == {"text_acc": 1, "wer": 0, "cer": 0}
    assert found["Q8"].parsed == ("hello you", "why not?", "oh")
    assert re.fullmatch(rf"text_acc,wer,cer\|rule:{rule}\|lib:jiwer-4\.\d+\.\d+\|v:\d", found["Q8"].signature)
    version = {"released": "v:1", "paper": "v:3"}[rule]
    assert {grade.signature.rpartition("|")[2] for grade in found.values()} == {version}


@pytest.mark.parametrize("rule", RULES)
def test_a_grade_names_the_responses_that_it_rests_on(rule: Rule) -> None:
    found = grades(rule)
    digests = {task: response(task, text).digest for task, text in RIGHT.items()}
    assert found["Q8"].responses == (digests["Q7"], digests["Q8"])
    assert found["Q3"].responses == (digests["Q1"], digests["Q3"])
    assert found["Q2"].responses == ((digests["Q1"], digests["Q2"]) if rule == "released" else (digests["Q2"],))
    assert found["Q1"].responses == (digests["Q1"],)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("state", ["missing", "failed"])
@pytest.mark.parametrize("task", ["Q2", "Q3", "Q5", "Q8"])
def test_missing_and_failed_answers_are_not_scored(rule: Rule, state: State, task: str) -> None:
    grade = grades(rule, {task: state}, **{task: None})[task]
    assert (grade.state, grade.scored, grade.parsed, grade.values) == (state, False, None, {})
    assert (grades(rule, **{task: None})[task].state, grades(rule, **{task: None})[task].scored) == ("missing", False)


@pytest.mark.parametrize("rule", RULES)
def test_a_refusal_is_scored_as_wrong(rule: Rule) -> None:
    states: dict[str, State] = dict.fromkeys(("Q3", "Q5", "Q7", "Q8"), "refused")
    found = grades(rule, states, Q3=None, Q5=None, Q7=None, Q8=None)
    for task in states:
        assert (found[task].state, found[task].scored, found[task].parsed) == ("refused", True, None)
    assert found["Q7"].values == {"panel_acc": 0}
    assert found["Q8"].values == {"text_acc": 0, "wer": 1, "cer": 1}


def test_the_text_of_a_refusal_counts_under_released_only() -> None:
    states: dict[str, State] = {"Q3": "refused", "Q7": "refused"}
    released, paper = grades("released", states), grades("paper", states)
    assert (released["Q3"].parsed, released["Q7"].values) == (("2",), {"panel_acc": 1})
    assert (paper["Q3"].parsed, paper["Q7"].values) == (None, {"panel_acc": 0})
    assert released["Q3"].state == paper["Q3"].state == "refused"


@pytest.mark.parametrize("rule", RULES)
def test_an_unparsable_answer_is_scored_as_wrong(rule: Rule) -> None:
    found = grades(rule, Q3="the last", Q4="hm", Q5="funny", Q7="no idea", Q8="I cannot tell")
    for task in ("Q3", "Q4", "Q5", "Q7", "Q8"):
        assert (found[task].state, found[task].scored, found[task].parsed) == ("unparsable", True, None)
    assert found["Q7"].values == {"panel_acc": 0}
    assert found["Q8"].values == {"text_acc": 0, "wer": 1, "cer": 1}


def test_released_skips_a_comic_whose_first_answer_holds_no_yes() -> None:
    found = grades("released", Q1="No")
    for task in ("Q1", "Q2", "Q3", "Q4", "Q5"):
        assert (found[task].state, found[task].scored) == ("ok", False)
    assert found["Q7"].scored
    assert found["Q8"].scored
    assert grades("released", Q1="Oh YES!")["Q5"].scored
    assert grades("released", {"Q1": "refused"}, Q1=None)["Q1"].scored is False


def test_released_cannot_gate_without_a_first_answer() -> None:
    states: tuple[State, ...] = ("missing", "failed")
    for state in states:
        found = grades("released", {"Q1": state}, Q1=None)
        for task in ("Q1", "Q2", "Q3", "Q4", "Q5"):
            assert (found[task].state, found[task].scored) == (state, False)
    assert grades("released", Q1=None)["Q5"].state == "missing"


def test_paper_turns_no_into_not_applicable() -> None:
    found = grades("paper", Q1="No.", Q3="2", Q4="hm")
    assert [found[task].parsed for task in ("Q1", "Q2", "Q3", "Q4", "Q5")] == [
        ("No",),
        ("Absent",),
        ("NA",),
        ("NA",),
        ("NA",),
    ]
    assert all(found[task].state == "ok" and found[task].scored for task in ("Q1", "Q2", "Q3", "Q4", "Q5"))
    assert grades("paper", Q1="No", Q3=None)["Q3"].state == "missing"
    assert grades("paper", {"Q1": "refused"}, Q1="No")["Q3"].parsed == ("2",)
    assert grades("paper", Q1=None)["Q3"].parsed == ("2",)  # not known to be No


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("state", [None, "missing", "failed"])
def test_text_needs_the_order_of_panels(rule: Rule, state: State | None) -> None:
    found = grades(rule, {"Q7": state} if state else {}, Q7=None)
    assert found["Q7"].state == found["Q8"].state == (state or "missing")
    assert (found["Q8"].scored, found["Q8"].values) == (False, {})


@pytest.mark.parametrize(
    ("sequence", "answer", "rule", "parsed", "expected"),
    [
        # the model's own order, and only the labels in it
        ("1, 2, 3", RIGHT["Q8"], R, ("why not?", "hello you", "oh"), (0, 4 / 5, None)),
        ("2, 1", RIGHT["Q8"], R, ("hello you", "why not?"), (0, 1 / 5, None)),
        ("2, 1, 3, 4", RIGHT["Q8"], R, ("hello you", "why not?", "oh", ""), (0, 0, 0)),  # a fourth position: "4:"
        ("2, 1, 3, 3", RIGHT["Q8"], R, ("hello you", "why not?", "oh", "oh"), (0, 1 / 5, None)),
        # the released code does not read the sequence for text: it splits on commas
        ("2 1 3", RIGHT["Q8"], R, ("",), (0, 1, 1)),
        ("2 1 3", RIGHT["Q8"], P, ("hello you", "why not?", "oh"), (1, 0, 0)),
        # without a sequence, rule paper takes the answer's own order; one with a panel that is not there is none
        ("2, 1, 3, 4", RIGHT["Q8"], P, ("why not?", "hello you", "oh"), (0, 4 / 5, None)),
        ("2, 1, 3, 3", RIGHT["Q8"], P, ("why not?", "hello you", "oh"), (0, 4 / 5, None)),
        ("no idea", "2: hello you\n1: why not?\n3: oh", P, ("hello you", "why not?", "oh"), (1, 0, 0)),
        ("2, 1, 3", "2: hello you 1: why not? 3: oh oh oh oh oh oh oh", P, None, (0, 6 / 5, None)),
    ],
)
def test_text_in_the_models_own_order(
    sequence: str,
    answer: str,
    rule: Rule,
    parsed: tuple[str, ...] | None,
    expected: tuple[float, float, float | None],
) -> None:
    grade = grades(rule, Q7=sequence, Q8=answer)["Q8"]
    assert parsed is None or grade.parsed == parsed
    for name, value in zip(("text_acc", "wer", "cer"), expected, strict=True):
        assert value is None or grade.values[name] == pytest.approx(value), name


@pytest.mark.parametrize(
    ("answer", "rule", "expected"),
    [
        ("1: \n2: ", R, (1, 0, 0)),
        ("1: \n2: ", P, (1, 0, 0)),
        ("1: a bc\n2: ", R, (0, 2, 4)),
        ("1: a bc\n2: ", P, (0, 1, 1)),
        ("there is none", R, (1, 0, 0)),  # nothing read is the empty text that the released code compares
        ("there is none", P, (0, 1, 1)),
    ],
)
def test_an_empty_reference(answer: str, rule: Rule, expected: tuple[float, float, float]) -> None:
    gold = Gold(
        benchmark="pixelhumor",
        item_id="c_1",
        values={**GOLD.values, "panel_sequence": "2, 1", "number_of_panels": 2, "text": "1: \n 2: "},
    )
    responses = {"Q7": response("Q7", "1, 2"), "Q8": response("Q8", answer)}
    grade = grade_item(responses, ITEM, gold, "m", rule)[-1]
    assert tuple(grade.values[name] for name in ("text_acc", "wer", "cer")) == expected
    assert grade.state == ("unparsable" if answer == "there is none" else "ok")


HOSTILE = {
    "digits": "1" * 100_000,
    "colons": ":" * 100_000,
    "digits and colons": "1:" * 50_000,
    "keys": "1: " * 33_000,
    "long numbers": ("1" * 50 + " ") * 2_000,
    "blanks": "1" + " " * 100_000 + "x",
    "commas": "1," * 50_000,
    "quotes": '"' * 100_000,
    "present": "present but " * 8_000,
    "text": "text ," * 16_000,
    "panel": ("panel" + " " * 1_000) * 100,
    "lines": "\n" * 100_000,
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_are_read_in_linear_time(name: str, rule: Rule) -> None:
    """Each takes less than a second; anything quadratic takes minutes, and a looping order would fill the memory."""
    assert len(grades(rule, **dict.fromkeys(RIGHT, HOSTILE[name]))) == 7
    looping = grades(rule, Q7="1,2," * 25_000, Q8="1: " + HOSTILE[name])["Q8"]
    assert sum(map(len, looping.parsed or ())) < 2 * LONGEST


# Gold as an answer gives full marks, whatever the gold.
label_lists = st.fixed_dictionaries(
    {
        "Q2": st.sampled_from([[label] for label in SOUND_EFFECTS]),
        "Q3": st.integers(1, 18).map(lambda n: [str(n)]),
        "Q4": st.sampled_from([[label] for label in MODALITIES]),
        "Q5": st.lists(st.sampled_from(STYLES), min_size=1, max_size=8, unique=True),
    }
)


@settings(deadline=None)
@given(
    label_lists,
    st.permutations(range(1, 6)),
    st.lists(st.text(alphabet='abC19é:,.")({} \n', max_size=20), min_size=5, max_size=5),
    st.sampled_from(RULES),
)
def test_gold_as_an_answer_is_right(
    labels: dict[str, list[str]], order: list[int], texts: list[str], rule: Rule
) -> None:
    sequence = ", ".join(map(str, order))
    text = " \n ".join(f"{label}: {words}" for label, words in enumerate(texts, start=1))
    gold = Gold(
        benchmark="pixelhumor",
        item_id="c_1",
        values={"Q1": ["Yes"], **labels, "panel_sequence": sequence, "text": text, "number_of_panels": 5},
    )
    answers = {"Q1": "Yes", **{task: ", ".join(found) for task, found in labels.items()}, "Q7": sequence, "Q8": text}
    responses = {task: response(task, answer) for task, answer in answers.items()}
    for grade in grade_item(responses, ITEM, gold, "m", rule):
        assert (grade.state, grade.scored) == ("ok", True)
        if grade.task == "Q7":
            assert grade.values == {"panel_acc": 1}
        elif grade.task == "Q8":
            assert grade.values == {"text_acc": 1, "wer": 0, "cer": 0}
        else:
            assert {label.lower() for label in grade.parsed or ()} == {x.lower() for x in gold.values[grade.task]}
