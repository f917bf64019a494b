"""Rating study of HumorBench's explanations: does one cover an element, as its judge is asked?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from punchline.benchmarks.humorbench import NAME
from punchline.benchmarks.humorbench.answers import explained
from punchline.benchmarks.humorbench.labels import LABELS
from punchline.benchmarks.study import Vote, read_studies
from punchline.grouping import grouped
from punchline.tables.ratings import leading


def label_rows(votes: Sequence[Vote]) -> Iterator[dict[str, Any]]:
    """Rows of the file of human labels: one an explanation, what most of its raters said; none where they are even."""
    votes_on = grouped(votes, lambda vote: (vote["item_id"], vote["source"]))
    for (item_id, source), group in votes_on.items():
        if label := leading(Counter(vote["value"] for vote in group)):
            row = {"annotation_row": item_id, "explainer_model": source, "explanation": group[0]["text"]}
            row |= {"label": label, "rater": " ".join(sorted(vote["rater"] for vote in group))}
            yield row | {"time": max(vote["time"] for vote in group), "sheet": group[0]["sheet"]}


STUDIES = read_studies(
    NAME, elements={"reading": lambda answer: explained(answer, "paper"), "file": LABELS, "rows": label_rows}
)
