"""A table on a terminal: the columns that fit, the notes of its run."""

import re
from pathlib import Path

import pytest

from punchline.benchmarks.pixelhumor.tables import TABLES
from punchline.cli.printing import printed

CSV = """model,kind,engine,scoring,subset,n,n_failed,panel_acc,panel_acc_lo,panel_acc_hi,text_acc,wer,cer,comparable
a,measured,openai,released,all,73,1,0.9,0.8,0.95,0.5,0.25,0.25,no
a,measured,openai,released,multi-panel,58,0,0.5,0.4,0.6,0.5,0.25,0.25,no
b,baseline,baselines,released,all,73,0,0.8,0.7,0.9,,,,no
b,baseline,baselines,released,multi-panel,58,0,0.75,0.625,0.875,,,,no
silent,baseline,baselines,released,all,0,0,,,,,,,no
P,published,,released,all,2800,,0.99,,,0.3,0.2,0.2,no
"""
NOTES = "- Means over comics; WER and CER are not clipped at 1.\n- INCOMPLETE: 1 answer failed.\n- 95 % intervals: x.\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "t.csv").write_text(CSV)
    (tmp_path / "t.md").write_text(NOTES)
    return str(tmp_path / "t.csv")


def test_notes_of_the_run_and_the_main_column_are_shown(path: str) -> None:
    text = printed(path, TABLES["table8"], 500)
    assert "INCOMPLETE: 1 answer failed." in text and "Means over" not in text and "95 %" not in text
    assert printed(path, TABLES["table8"], 30).split("\n\n")[1].split()[:3] == ["model", "kind", "panel_acc"]


@pytest.mark.parametrize(
    ("width", "header", "first", "more"),
    [
        (120, "subset n n_failed panel_acc text_acc wer cer", "all 73 1 0.900 [0.800, 0.950] 0.500 0.250 0.250", ""),
        (83, "subset n n_failed panel_acc text_acc wer cer", "all 73 1 0.900 0.500 0.250 0.250", ""),
        (60, "subset n n_failed panel_acc", "all 73 1 0.900", "text_acc, wer, cer"),
    ],
)
def test_columns_that_do_not_fit_are_named(path: str, width: int, header: str, first: str, more: str) -> None:
    text = printed(path, TABLES["table8"], width)
    lines = text.split("\n\n")[1].splitlines()
    assert [" ".join(line.split()) for line in lines[:2]] == [f"model kind {header}", f"a measured {first}"]
    assert max(map(len, lines)) <= width and not any(line.startswith("silent") for line in lines)
    result = re.search("^More columns in the CSV: (.*)$", text, re.MULTILINE)
    assert (result[1] if result else "") == more
