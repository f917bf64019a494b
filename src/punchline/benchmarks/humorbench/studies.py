"""Rating study of HumorBench's explanations: does one cover an element, as its judge is asked?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from punchline.benchmarks.humorbench.answers import explained
from punchline.benchmarks.humorbench.labels import LABELS
from punchline.benchmarks.study import Question, Study, Vote
from punchline.tables.ratings import leading


def label_rows(votes: Sequence[Vote]) -> list[dict[str, Any]]:
    """Rows of the file of human labels: one an explanation, what most of its raters said; none where they are even."""
    said: dict[tuple[str, str], list[Vote]] = {}
    for vote in votes:
        said.setdefault((vote.item_id, vote.source), []).append(vote)
    rows = []
    for (item_id, source), own in said.items():
        if label := leading(Counter(vote.value for vote in own)):
            values = {"annotation_row": item_id, "explainer_model": source, "explanation": own[0].text, "label": label}
            raters = " ".join(sorted(vote.rater for vote in own))
            rows.append({**values, "rater": raters, "time": max(vote.time for vote in own), "sheet": own[0].sheet})
    return rows


STUDIES = {
    "elements": Study(
        title="Does the explanation cover the point?",
        feeds=("table1",),
        tasks={"explain": ""},
        questions={"": (Question("", "Does the explanation cover the anticipated answer point?"),)},
        intro=(
            "You read a cartoon's description, its caption, the point that an answer should make, and one explanation.",
            "PASS: the explanation makes that point, in whichever words, whatever else it says. FAIL: it leaves the "
            "point out or contradicts it. Where the point is a pun, wordplay or a twist, look whether that is named.",
        ),
        options=(("PASS", "makes the point"), ("FAIL", "does not")),
        level="nominal",
        picture=False,
        fields=("description", "caption"),
        gold=("element",),
        reading=lambda answer: explained(answer, "paper"),
        file=LABELS,
        rows=label_rows,
    )
}
