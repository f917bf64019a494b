"""Scores of answers to PixelHumor's questions, under either rule."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from punchline.benchmarks.pixelhumor.answers import panel_texts, parse_labels, plain_number
from punchline.benchmarks.score import ItemAnswers, ScoreBuilder, compared_texts, scores
from punchline.metrics.text import LIBRARY, error_rates
from punchline.read import reasoning
from punchline.schema import Gold, Response, Rule

GRADED = ("Q1", "Q2", "Q3", "Q4", "Q5", "Q7", "Q8")  # Q6, an explanation, is rated by people in the paper
VERSION: dict[Rule, int] = {"released": 1, "paper": 3}  # of the reading
LONGEST = 2_000_000  # characters of a comic's text in the model's own order; see _ordered


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def _ordered(texts: Mapping[str, str], order: Sequence[str]) -> tuple[str, ...]:
    """The panels' texts in an order, lower-cased, white space collapsed; '' for a label without text.

    Cut after LONGEST characters: under `released` a sequence that repeats a label without end repeats its text as
    often, which can fill any memory. Error rates are in the thousands by then.
    """
    normal = {label: _normal(text) for label, text in texts.items()}
    panels = [normal.get(label, "") for label in order]
    lengths = itertools.accumulate(len(panel) + 1 for panel in panels)
    return tuple(panels[: sum(length <= LONGEST for length in lengths) + 1])


def text_scores(gold: Sequence[str], candidate: Sequence[str], rule: Rule) -> dict[str, float]:
    """text_acc, wer and cer of panels' texts in order.

    Text accuracy compares the strings with position numbers ("1: … 2: …"), WER and CER those without. An empty
    reference gives (1, 0, 0) for an empty candidate, else (0, words, characters) under `released`, (0, 1, 1) under
    `paper`.
    """
    both = [compared_texts(panels, rule) for panels in (gold, candidate)]
    reference, text = (_normal(" ".join(panels)) for panels in both)
    if not reference:
        words, characters = (len(text.split()), len(text)) if rule == "released" else (bool(text), bool(text))
        return {"text_acc": float(not text), "wer": float(words), "cer": float(characters)}
    numbered = [
        _normal(" ".join(f"{position}: {panel}" for position, panel in enumerate(panels, start=1))) for panels in both
    ]
    word_rate, character_rate = error_rates(reference, text)
    return {"text_acc": float(numbered[0] == numbered[1]), "wer": word_rate, "cer": character_rate}


def signature(task: str, rule: Rule) -> str:
    """The name of everything that changes a score's values."""
    metrics = {"Q7": "panel_acc", "Q8": "text_acc,wer,cer"}.get(task, f"labels|task:{task}")
    library = f"|lib:{LIBRARY}" if task == "Q8" else ""
    return f"{metrics}|rule:{rule}{library}|v:{VERSION[rule]}"


ABSENT = ("missing", "failed")
# The answer that another one is scored with: Q1 gates (released) or turns into NA (paper), Q7 orders Q8.
CONTEXT: dict[Rule, dict[str, str]] = {
    "released": {"Q2": "Q1", "Q3": "Q1", "Q4": "Q1", "Q5": "Q1", "Q8": "Q7"},
    "paper": {"Q3": "Q1", "Q4": "Q1", "Q5": "Q1", "Q8": "Q7"},
}


def _gold_order(gold: Gold) -> tuple[str, ...]:
    return tuple(plain_number(label) for label in gold.values["panel_sequence"].split(","))


def _labels(gold: Gold) -> tuple[str, ...]:
    """The labels of a comic's panels: those of its sequence, which of xkcd_108 lacks one, and 1 to N."""
    numbered = (str(label) for label in range(1, gold.values["number_of_panels"] + 1))
    return tuple(dict.fromkeys((*_gold_order(gold), *numbered)))


def _read(task: str, text: str, rule: Rule, gold: Gold) -> tuple[str, ...] | None:
    """The parsed answer, with the labels of the comic."""
    if rule == "released":
        return parse_labels(task, text, rule)
    known = _labels(gold)
    if task == "Q3":  # smbc_2640's is panel 2 of one
        return parse_labels(task, text, rule, (*known, *gold.values["Q3"]))
    parsed = parse_labels(task, text, rule, known)
    right = _gold_order(gold) if task == "Q7" and parsed is None else ()
    if len(set(right)) < len(right):  # xkcd_108's is no permutation, and is right as it is written
        return right if tuple(number.strip() for number in reasoning.remove(text).text.split(",")) == right else None
    return parsed


def _text(response: Response | None, rule: Rule) -> str:
    """The text of an answer; "" where there is none, and for a refusal under rule `paper`: it says nothing."""
    return "" if response is None or (rule == "paper" and response.state == "refused") else response.text or ""


@scores
def score_item(answers: ItemAnswers) -> Iterator[ScoreBuilder]:
    """One model's answers (by task) on one comic: Q1 … Q5, Q7 and Q8. Q6 is not graded automatically.

    An answer that is missing or failed is not scored; a refusal and an answer from which nothing can be read are, as
    wrong. `released`: Q1 … Q5 are scored only where the answer to Q1 holds "yes". `paper`: Q1 = No turns Q3, Q4 and Q5
    into NA. Q8 needs the model's own order of panels: without an answer to Q7 it is in that one's state.
    """
    responses, gold, rule = answers.responses, answers.gold, answers.rule
    first = _text(responses.get("Q1"), rule)
    gated = rule == "released" and "yes" not in first.lower()
    answers_no = rule == "paper" and parse_labels("Q1", first, rule) == ("No",)
    for task in GRADED:
        builder = answers.new_score(task, signature(task, rule))
        builder.gold = tuple(gold.values[task]) if task in gold.values else None
        text, context = _text(responses.get(task), rule), CONTEXT[rule].get(task)
        before = responses.get(context or "")
        builder.responses = [before, responses.get(task)]
        if context and (task == "Q8" or rule == "released") and builder.state not in ABSENT:
            state = "missing" if before is None else before.state  # under `paper` an answer to Q1 may be absent
            builder.state = state if state in ABSENT else builder.state
        if builder.state in ABSENT:
            pass
        elif gated and task not in ("Q7", "Q8"):
            builder.parsed = _read(task, text, rule, gold)
        elif answers_no and task in ("Q3", "Q4", "Q5"):
            builder.scored, builder.parsed = True, ("NA",)
        else:
            builder.scored = True
            if task == "Q8":
                parsed, builder.metrics = _grade_text(text, _text(before, rule), gold, rule)
            else:
                parsed = _read(task, text, rule, gold)
            if task == "Q7":
                builder.metrics = {"panel_acc": float(parsed == _gold_order(gold))}
            builder.set_parsed(parsed)
        yield builder


def _grade_text(text: str, sequence: str, gold: Gold, rule: Rule) -> tuple[tuple[str, ...] | None, dict[str, float]]:
    """(texts in the model's own order, scores) of an answer to Q8; None where no panel's text can be read.

    `sequence`: the model's answer to Q7.
    """
    gold_order = tuple(label.strip() for label in gold.values["panel_sequence"].split(","))
    known = _labels(gold) if rule == "paper" else ()
    gold_texts, texts = (panel_texts(answer, rule, known) for answer in (gold.values["text"], text))
    if rule == "released":
        order = tuple(piece.strip() for piece in sequence.split(","))
    elif not texts:
        return None, {"text_acc": 0, "wer": 1, "cer": 1}
    else:
        order = _read("Q7", sequence, rule, gold) or tuple(texts)
        order, gold_order = (tuple(dict.fromkeys(one)) for one in (order, _gold_order(gold)))  # xkcd_108 repeats one
    candidate = _ordered(texts, order)
    return (candidate if texts else None), text_scores(_ordered(gold_texts, gold_order), candidate, rule)
