"""People as respondents: PixelHumor's raw votes, and models on items where people agree."""

from pathlib import Path

import pandas as pd
import pytest
from tests.test_dataset_tables import annotations

from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor.dataset import ANNOTATORS
from punchline.benchmarks.pixelhumor.people import ballots
from punchline.validity.people import agreement, by_agreement


def people_in(table: str, column: str, files: dict[str, bytes]) -> dict[str, float | None]:
    rows = pixelhumor.TABLES[table].data(files)
    return {str(row.keys.get("subtask")): row.estimates[column].point() for row in rows if row.model == "annotators"}


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (["Text", "Text"], 1),
        (["Text", "Visual"], 0),
        (["Text Visual", "Visual Text"], 1),
        (["Text", "Text", "Visual"], 0),  # to each, the others give a tie or the other label
        (["Text", "Text", "Text", "Visual"], 3 / 4),
    ],
)
def test_an_annotator_against_the_others(given: list[str], exact: float) -> None:
    answers = [[["Yes"], ["Absent"], ["1"], labels.split(), ["Pun"]] for labels in given]
    files = {pixelhumor.ANNOTATIONS: annotations({"grid_1": dict(zip(ANNOTATORS, answers, strict=False))})}
    assert people_in("table2", "accuracy", files)["modality"] == exact
    assert people_in("table3", "f1", files) == {"None": 1}


def test_agreement_of_an_item() -> None:
    expected = {"a": None, "a a": 1, "a b": 0, "a a b": 1 / 3, "a a a b": 1 / 2}
    assert {given: agreement(given.split()) for given in expected} == expected


def test_a_model_where_people_agree() -> None:
    yes, no = '["yes"]', '["no"]'
    given = {(f"{kind}{n}", "Q1"): [yes, yes if kind == "a" else no] for kind in "ad" for n in range(6)}
    part = pd.DataFrame([(item, task, yes if item < "d3" else no, yes, item) for item, task in given])
    part.columns = pd.Index(["item_id", "task", "parsed", "gold", "cluster"])
    (row,) = by_agreement(part, given)
    values = {name: row[name] for name in ("n_agreed", "n_disputed", "agreed", "disputed", "difference", "votes")}
    assert values == {"n_agreed": 6, "n_disputed": 6, "agreed": 1, "disputed": 0.5, "difference": 0.5, "votes": 0.75}
    few = next(by_agreement(part[part.item_id < "d3"], given))
    assert few["disputed"] == 1 and few["disputed_lo"] is None and "difference" not in few


@pytest.mark.real
def test_the_released_votes(mirror: Path) -> None:
    files = {name: (mirror / "pixelhumor" / name).read_bytes() for name in pixelhumor.TABLES["table2"].files}
    assert sum(len(given) for _, task, given in ballots(files) if task == "Q1") == 6494
    expected = {"humor_presence": 0.910, "sound_effect": 0.925, "panel_contribution": 0.862, "modality": 0.606}
    assert people_in("table2", "f1", files) == pytest.approx(expected, abs=5e-4)
    assert people_in("table3", "f1", files) == pytest.approx({"None": 0.633}, abs=5e-4)  # the best model printed: .499
