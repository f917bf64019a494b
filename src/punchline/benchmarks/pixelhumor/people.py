"""PixelHumor's raw votes: people as respondents to the closed questions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache

import msgspec
import pandas as pd

from punchline.benchmarks.pixelhumor import ANNOTATIONS
from punchline.benchmarks.pixelhumor.dataset import ANNOTATORS, EXPERTS, QUESTIONS, Cells, consolidate_comic, votes
from punchline.core.benchmark import Files
from punchline.schema import canonical
from punchline.stats.agreement import consolidate
from punchline.tables.declare import Row, Table

FILES = (ANNOTATIONS,)
PEOPLE = "annotators"  # the name of their rows


def _labels(labels: tuple[str, ...]) -> str:
    """Labels as score frames have them; ['Text', 'Visual'] is how annotators write Both."""
    lowered = {label.lower() for label in labels}
    return canonical(["both"] if lowered == {"text", "visual"} else sorted(lowered)).decode()


def _label_of_others(cells: Cells, annotator: str, question: str) -> tuple[str, ...]:
    """Consolidated label of all others, experts included; of labels with one vote each, all of them."""
    others = {column: labels for column, labels in cells.items() if not column.startswith(f"{annotator}Q")}
    ballots = [others.get(person + question, ()) for person in (*ANNOTATORS, *EXPERTS)]
    return consolidate_comic(others, question) or consolidate(ballots)


@lru_cache(maxsize=1)  # of several tables
def _answers(annotations: bytes) -> pd.DataFrame:
    """Labels of everybody by comic and question, with the label of the others as gold."""
    rows = [
        (comic, question, person, _labels(labels), _labels(_label_of_others(cells, person, question)))
        for comic, cells in votes({ANNOTATIONS: annotations}).items()
        for person, question in itertools.product((*ANNOTATORS, *EXPERTS), QUESTIONS)
        if (labels := cells.get(person + question))
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "task", "person", "parsed", "gold"], dtype=object)
    frame["cluster"] = frame["item_id"]
    return frame.assign(scored=True, row=-1).astype(dict.fromkeys(("cluster", "parsed", "gold"), "category"))


def with_people(models: Table) -> Table:
    """A table of models with a row of A1-A8 besides, each against the label of the others."""

    def data(files: Files) -> Iterator[Row]:
        frame = _answers(files[ANNOTATIONS])
        frame = frame[frame["person"].isin(ANNOTATORS) & frame["task"].isin(models.tasks)]
        for row in models.rows(frame, frame) if models.rows else ():
            row.model = PEOPLE
            yield row

    return msgspec.structs.replace(models, data=data, files=FILES, kind="human")


def ballots(files: Files) -> Iterator[tuple[str, str, list[str]]]:
    """(item, task, labels of each person as a JSON list) of everybody who answered."""
    for (item, task), answers in _answers(files[ANNOTATIONS]).groupby(["item_id", "task"], sort=False)["parsed"]:
        yield str(item), str(task), list(answers)
