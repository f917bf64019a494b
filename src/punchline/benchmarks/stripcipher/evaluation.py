"""People as respondents to StripCipher's questions with options (section 5): a rating study, and its answers scored."""

from __future__ import annotations

import pandas as pd

from punchline.benchmarks.stripcipher import CHOICES, COMPREHENSION, NAME, ROW
from punchline.benchmarks.stripcipher.data import golds
from punchline.benchmarks.stripcipher.options import options
from punchline.core.benchmark import DEFAULT, Files
from punchline.errors import PunchlineError
from punchline.files import parse_csv
from punchline.paths import own
from punchline.schema import Item

ANSWERS = "people.csv"  # of the study `people`: item_id, task, rater, choice (a letter)


def offered(item: Item) -> dict[tuple[str, str], str]:
    """{(task, letter): option} of the questions that people answer."""
    return {(task, letter): text for task in CHOICES for letter, text in options(item, task).items() if text}


def read_answers(files: Files) -> pd.DataFrame:
    """People's answers as rows of scores; frames are shown side by side. Empty without a file of answers.

    Raises PunchlineError for a question that there is not.
    """
    right = {gold.item_id: gold.values for gold in golds(files)}
    place, columns, rows = own(NAME, ANSWERS), ("item_id", "task", "choice"), []
    for line, cells in parse_csv(files.get(ANSWERS, ",".join(columns).encode()), columns, file=place):
        item_id, task = cells["item_id"], cells["task"]
        if task not in CHOICES or task not in right.get(item_id, {}):
            what, hint = f"no question {task!r} of this strip", "Take the line out, or restore the strips of that time"
            raise PunchlineError(what, file=place, line=line, record=item_id, hint=hint)
        condition = DEFAULT if task == COMPREHENSION else ROW
        rows.append((item_id, item_id, task, condition, float(cells["choice"] == right[item_id][task])))
    frame = pd.DataFrame(rows, columns=["item_id", "cluster", "task", "condition", "correct"])
    return frame.assign(scored=True, row=-1).astype({"cluster": "category", "correct": float, "scored": bool})
