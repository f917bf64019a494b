"""PixelHumor's raw votes: people as respondents to the closed questions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import msgspec
import pandas as pd

from punchline.benchmarks.pixelhumor import ANNOTATIONS
from punchline.benchmarks.pixelhumor.dataset import ANNOTATORS, Labels, Votes, consolidate_votes, votes
from punchline.core.benchmark import Files
from punchline.schema import canonical
from punchline.stats.agreement import consolidate
from punchline.tables.declare import Row, Table

FILES = (ANNOTATIONS,)
PEOPLE = "annotators"  # the name of their rows


def _labels(labels: Labels) -> str:
    """Labels as score frames have them; ['Text', 'Visual'] is how annotators write Both."""
    lowered = {label.lower() for label in labels}
    return canonical(["both"] if lowered == {"text", "visual"} else sorted(lowered)).decode()


def _label_of_others(cast: Votes, annotator: str, question: str) -> Labels:
    """Consolidated label of all others, experts included; of labels with one vote each, all of them."""
    others = {who: labels for who, labels in cast.items() if who != annotator}
    return consolidate_votes(others, question) or consolidate([*others.values()])


@lru_cache(maxsize=1)  # of several tables
def _answers(annotations: bytes) -> pd.DataFrame:
    """Labels of everybody by comic and question, with the label of the others as gold."""
    rows = [
        (comic, question, who, _labels(labels), _labels(_label_of_others(cast, who, question)))
        for (comic, question), cast in votes({ANNOTATIONS: annotations}).items()
        for who, labels in cast.items()
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
