"""Readers under fuzz: how many answers they read, whether any raises or reads what is not there, the slowest in CPU ms.

    python benchmarks/read_fuzz.py [number of answers, default 1000000] [seed]

Answers are pieces of what models write, put together at random, a few of them very long. Exit status 1 where a reader
raises, reads what is not there, or takes over 100 ms.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from punchline.read import (
    boxes,
    choice,
    explanation,
    label,
    marked_words,
    number,
    object_name,
    panel_texts,
    presence,
    rating,
    refusal,
    sequence,
    several,
    verdict,
    yes_no,
)
from punchline.read.result import Read

PIECES = """A|B|C|D|E|a|b|(C)|**B**|answer|Answer:|Final answer:|}|{|<answer>|</answer>|"answer": |option|is|are|not|n't
n’t|but|rather than|instead of|or|and|nor|neither|either|both|Both|wrong|correct|best|the|The|I|think|thought
Wait,|no|No|yes|Yes|so|therefore|because|if|unless|maybe|perhaps|Text|Visual|text|visual|Pun|Sarcasm|Dark
Surprise|Absent|Present|contribute|do not|panel|Panel|frame|Frame|1|2|3|4|12|999|0|first|third|last|->|→|[|]
[[|]]|3.5|0.1|0.25|100|%|px|bbox_2d|box_2d|<box>|top:|left:|<i>|</i>|<think>|</think>|◁think▷|◁/think▷|[THINK]
[/THINK]|<explanation>|</explanation>|<judgement>|</judgement>|PASS|FAIL|<reasoning>|</reasoning>|metaphor
literal|understand|sorry|I can't|image|provided|.|,|:|;|!|?|…|-|—|'|"|“|”|*|_|`|```|~~|#|>|✅|❌|É|٣|А|Ａ|２|İ
dogs read more|A mug, eventually|than|over|except|everything|none of the above|all of them|torn between
rule out|rating of|score|out of 5|scale|example|already in the correct order""".replace("\n", "|").split("|")
PIECES += ["\\boxed{", "\n", "\n\n", "\n- ", "\n1. ", "\n2. ", "\t", "  ", "|", "<|channel|>", "<|message|>"]
PIECES += [
    "\ud800",
    "\x00",
    "\u200f",
    "[0.1, 0.2, 0.3, 0.4]",
    "1. Frame 2\n",
    "Frame 1: 2, ",
    "2, 3, 1",
    "[[4]]",
    "1: HELLO\n",
]
OPTIONS = {"A": "A mug, eventually", "B": "dogs read more", "C": "Not this one", "D": "C"}
STYLES = ("Comparison", "Personification", "Exaggeration", "Pun", "Sarcasm", "Silliness", "Surprise", "Dark")
MODALITIES = {"Text": ("words",), "Visual": ("visuals",), "Both": ()}
EFFECTS = ("Absent", "Present, contribute", "Present, do not contribute")
PANELS = ("1", "2", "3")


def _shares(value: tuple[tuple[float, float, float, float], ...]) -> bool:
    return all(
        0 <= top < 1
        and 0 <= left < 1
        and height > 0
        and width > 0
        and top + height <= 1 + 1e-9
        and left + width <= 1 + 1e-9
        for top, left, height, width in value
    )


# Name: how it is called, and what a value must be: one of what is there, or said in the answer.
READERS: dict[str, tuple[Callable[[str], Read[Any]], Callable[[Any, str], bool]]] = {
    "choice": (lambda answer: choice.choice(answer, "ABCD", OPTIONS), lambda value, answer: value in "ABCD"),
    "choice of three": (lambda answer: choice.choice(answer, "ABC"), lambda value, answer: value in "ABC"),
    "yes_no": (
        lambda answer: yes_no.yes_no(answer, ("metaphor",), against=("literal",)),
        lambda value, answer: value in ("Yes", "No"),
    ),
    "label": (
        lambda answer: label.label(answer, MODALITIES, ("Text", "Visual", "Both"), none=True),
        lambda value, answer: value in (*MODALITIES, "NA"),
    ),
    "several": (
        lambda answer: several.several(answer, STYLES),
        lambda value, answer: set(value) <= {*STYLES, "NA"} and len(set(value)) == len(value),
    ),
    "presence": (lambda answer: presence.presence(answer, EFFECTS), lambda value, answer: value in EFFECTS),
    "number": (lambda answer: number.number(answer, PANELS), lambda value, answer: value in (*PANELS, "NA")),
    "sequence": (lambda answer: sequence.sequence(answer, PANELS), lambda value, answer: sorted(value) == list(PANELS)),
    "object_name": (
        object_name.object_name,
        lambda value, answer: bool(value.strip()) and len(value.split()) <= object_name.MOST_WORDS,
    ),
    "boxes": (boxes.boxes, lambda value, answer: _shares(value)),
    "boxes in pixels": (lambda answer: boxes.boxes(answer, (640, 480), "pixels"), lambda value, answer: _shares(value)),
    "marked_words": (marked_words.marked_words, lambda value, answer: all(value)),
    "explanation": (
        explanation.explanation,
        lambda value, answer: set(value) <= {*answer, " "} and len(value) <= len(answer),
    ),
    "panel_texts": (
        lambda answer: panel_texts.panel_texts(answer, PANELS),
        lambda value, answer: set(value) <= set(PANELS),
    ),
    "rating": (rating.rating, lambda value, answer: 1 <= value <= 5),
    "verdict": (verdict.verdict, lambda value, answer: value in ("PASS", "FAIL")),
    "refusal": (refusal.refusal, lambda value, answer: value is True),
}


def answer_of(draw: random.Random) -> str:
    """A fuzzed answer: mostly short, one of a thousand long, one of twenty thousand a megabyte."""
    kind = draw.random()
    if kind < 0.00005:
        return (draw.choice(PIECES) * 200_000)[:1_000_000]
    if kind < 0.001:
        return draw.choice((" ", "\n")).join(draw.choice(PIECES) for _ in range(20)) * 400
    joint = draw.choice(("", " ", " ", " "))
    return joint.join(draw.choice(PIECES) for _ in range(draw.randint(0, 40)))


def fault(name: str, answer: str) -> tuple[str, bool, float]:
    """(what is wrong or "", whether anything was read, ms) of one reader on one answer."""
    read, there = READERS[name]
    start = time.process_time()
    try:
        result = read(answer)
    except Exception as error:  # the fault that is looked for
        return f"raises {type(error).__name__}", False, 0.0
    took = (time.process_time() - start) * 1000
    if result.value is None:
        return ("" if (result.start, result.end) == (0, 0) else "a span of nothing"), False, took
    if not there(result.value, answer):
        return f"reads {result.value!r:.60}", True, took
    return ("" if 0 <= result.start < result.end <= len(answer) else f"a span {result.start}:{result.end}"), True, took


def main(count: int, seed: int) -> int:
    draw = random.Random(seed)
    readers = list(READERS)
    read, slowest = Counter[str](), dict.fromkeys(readers, (0.0, ""))
    faults: list[tuple[str, str, str]] = []
    for number_ in range(count):
        answer = answer_of(draw)
        name = readers[number_ % len(readers)]
        wrong, value, took = fault(name, answer)
        read[name] += value
        if took > slowest[name][0]:
            slowest[name] = took, answer
        if wrong:
            faults.append((name, wrong, answer))
    print(f"{count} answers, seed {seed}: {sum(read.values())} read, {len(faults)} faults")
    for name in readers:
        took, answer = slowest[name]
        print(f"{name:16} {read[name]:8} read, slowest {took:7.2f} ms on {len(answer)} characters {answer[:24]!r}")
    for name, wrong, answer in faults[:20]:
        print("FAULT", name, wrong, repr(answer[:200]))
    return int(bool(faults) or max(took for took, _ in slowest.values()) > 100)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
