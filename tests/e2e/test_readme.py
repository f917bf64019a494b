"""README's table of reproduced values: each command gives them, from the released data."""

import re
from pathlib import Path

import pytest
from tests.documents import ROOT

from .project import Project

pytestmark = [pytest.mark.long, pytest.mark.real, pytest.mark.timeout(1200)]

TABLE = re.findall(r"^\| (\w+)[^|]*\| [^|]+ \| ([^|]+) \| `(\w[^`]+)` \|$", (ROOT / "README.md").read_text(), re.M)
MADE = {  # benchmark: the table that its command builds, the row, column
    "HumorBench": ("results/runs/humorbench-released/humorbench/leaderboard.csv", {}, "accuracy"),
    "Hummus": ("results/hummus/table2.csv", {"model": "random (closed form)"}, "classification_pos"),
    "YesBut": ("results/yesbut/table1.csv", {"kind": "measured"}, "length"),
    "xkcd": ("results/runs/xkcd/table8.csv", {"subset": "multi-panel", "model": "reading-order"}, "panel_acc"),
}


@pytest.mark.parametrize(("name", "values", "command"), TABLE, ids=[name for name, *_ in TABLE])
def test_a_command_gives_the_values(name: str, values: str, command: str, mirror: Path, fresh: Project) -> None:
    project = fresh
    project.execute(command, *(["--config"] if "--config" not in command else []), f"mirror={mirror}")
    if name in MADE:
        path, wanted, column = MADE[name]
        rows = (row for row in project.rows(path, **wanted) if row["kind"] != "published")
        result = {row[column] for row in rows if row[column]}
        for value in re.findall(r"\d*\.\d+", values):
            digits = len(value.partition(".")[2])
            assert any(round(float(one), digits) == float(value) for one in result), (value, result)
    else:  # PixelHumor's ground truth: equal to the printed values
        rows = [row for row in project.rows("results/pixelhumor/table4.csv") if "ground truth" in row["model"].lower()]
        ours, printed = rows[:2]
        columns = [key for key, value in printed.items() if key not in _ABOUT and value]
        assert len(columns) >= 5 and [float(ours[key]) for key in columns] == [float(printed[key]) for key in columns]


_ABOUT = {"model", "kind", "engine", "scoring", "subset", "comparable", "note"}
