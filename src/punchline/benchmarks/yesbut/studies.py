"""Rating study of texts on YesBut's comics: section 4.2, figure 3.

Answers to the first of three prompts are rated; the paper does not say which ones were.
"""

from __future__ import annotations

from punchline.benchmarks.study import Question, Study

_CORRECT = Question("correctness", "Correctness: does the text convey the comic's narrative rightly?")
_FAITHFUL = Question("faithfulness", "Faithfulness: is all of the text supported by the picture?")

STUDIES = {
    "texts": Study(
        title="How good is the text?",
        feeds=("figure3",),
        tasks={"description_1": "description", "contradiction_1": "contradiction"},
        questions={
            "description": (
                _CORRECT,
                Question("completeness", "Completeness: does it cover all that is important in the narrative?"),
                _FAITHFUL,
            ),
            "contradiction": (
                Question("correctness", "Correctness: does the text convey the comic's contradiction rightly?"),
                _FAITHFUL,
            ),
        },
        intro=(
            "You see a comic of two panels and a text about it: what the comic tells, or what is contradictory about "
            "it. Rate each aspect from 1, worst, to 5, best.",
        ),
        options=(("1", "worst"), ("2", ""), ("3", ""), ("4", ""), ("5", "best")),
        overlap=3,
    )
}
