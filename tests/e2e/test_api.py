"""`import punchline` on a small run, and the notebooks of examples/ executed on it."""

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import nbclient
import nbformat
import pandas as pd
import pytest
from tests.ran import ran

import punchline
from punchline.api import Run, Stale
from punchline.errors import PunchlineError
from punchline.files import parse_csv

from .conftest import TABLE
from .project import ROOT, Project

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.fixture
def run(small_run: Project) -> Run:
    """A run is opened from a folder within its project."""
    return punchline.open(small_run.path / "config")  # type: ignore[no-any-return]


def test_what_the_package_names_and_that_no_command_loads_pandas() -> None:
    code = "import sys, punchline, punchline.cli; print([m for m in sys.modules if m in ('pandas', 'punchline.api')]); "
    code += "print(punchline.PunchlineError, punchline.api.Stale)"
    done = ran(sys.executable, "-c", code, check=True)
    assert done.stdout.splitlines() == ["[]", f"{PunchlineError} {Stale}"] and punchline.Stale is Stale
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        punchline.nothing  # noqa: B018


def test_a_table_has_every_digit(run: Run, small_run: Project) -> None:
    frame = run.table("table8")
    lines = [line for _, line in parse_csv((small_run.path / TABLE).read_bytes(), (), file=TABLE)]
    assert list(frame["model"]) == [line["model"] for line in lines]
    for column in ("panel_acc", "panel_acc_lo", "wer"):
        expected = [float(line[column]) if line[column] else None for line in lines]
        assert [None if pd.isna(value) else value for value in frame[column]] == expected
    assert "pixelhumor/table8" in run.tables and len(frame.attrs["root"]) == 64
    assert run.table(TABLE).equals(frame)


def test_items_answers_and_grades_belong_together(run: Run) -> None:
    items = run.items("pixelhumor")
    assert len(items) == 6 and items.item_id.is_unique
    assert all(Path(path).is_file() for paths in items.pictures for path in paths)
    answers = run.answers("reading-order", "pixelhumor")
    assert not answers.duplicated(["item_id", "task", "condition", "sample"]).any()
    scores = run.grades("reading-order", "pixelhumor")
    of_paper = run.grades("reading-order", "pixelhumor", rule="paper")
    assert set(scores.rule) == {"released", "paper"} and len(scores) == 2 * len(of_paper)
    assert set(answers.task) - set(of_paper.task) == {"Q6"}  # people rate it
    assert len(answers) == 6 * 8 and answers.paper_state.notna().sum() == len(of_paper)
    q7 = answers[answers.task == "Q7"]
    assert list(q7.item_id) == list(items.item_id) and (q7.state == "ok").all()
    for _, one in q7.iterrows():
        right = [part.strip() for part in one.gold["panel_sequence"].split(",")]
        assert list(one.reading) == [part.strip() for part in one.answer.split(",")]
        assert one.paper_panel_acc == float(list(one.reading) == right)
        assert "[picture]" in one.question and one.pictures
    row = run.table("table8").query("model == 'reading-order' and subset == 'all'").iloc[0]
    assert row.panel_acc == pytest.approx(q7.released_panel_acc.mean()) and row.n == len(q7)


def test_compare_is_what_the_command_says(run: Run) -> None:
    one = run.compare("reading-order", "random", table="table8").set_index(["row", "column"]).iloc[0]
    frame = run.table("table8").query("subset == 'all' and scoring == 'released'").set_index("model").panel_acc
    assert (one.a, one.b) == (frame["reading-order"], frame["random"])
    assert one.difference == pytest.approx(one.a - one.b) and one.n_a == one.n_b == 6


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda run: run.table("tabel8"), "Did you mean 'table8'"),
        (lambda run: run.table("yesbut/table2"), "has no benchmark 'yesbut'"),
        (lambda run: run.answers("randm", "pixelhumor"), "Did you mean 'random'"),
        (lambda run: run.compare("random", "gpt-4o"), "has no model 'gpt-4o'"),
        (lambda run: run.grades("random", "pixelhumor", rule="papr"), "Did you mean 'paper'"),
        (lambda run: punchline.open(run.root, run="six"), "no run 'six'"),
        (lambda run: punchline.open(run.root.parent), "no project: no Snakefile"),
    ],
)
def test_a_mistake_is_a_sentence(run: Run, call: Callable[[Run], object], expected: str) -> None:
    with pytest.raises(PunchlineError, match=expected):
        call(run)


def test_what_is_not_made_or_not_current_is_said(small: Project) -> None:
    run = punchline.open(small.path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", Stale)
        run.table("table8")
        labels = small.path / "data/raw/demo/pixelhumor/objective_label.csv"
        small.rewrite_raw(labels.relative_to(small.path).as_posix(), labels.read_bytes().replace(b"2, 1", b"1, 2"))
        with pytest.raises(Stale, match="gold"):
            run.grades("random", "pixelhumor")
    table = small.path / TABLE
    table.write_bytes(table.read_bytes().replace(b"random", b"rondam"))
    with pytest.warns(Stale), pytest.raises(PunchlineError, match="not the one that was made"):
        run.table("table8")
    (small.path / "results/pixelhumor/table2.csv").unlink()
    with pytest.raises(PunchlineError, match="snakemake --cores all results/"):
        run.table("table2")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_works(path: Path, small_run: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    book = nbformat.read(path, as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert code and not any(cell.outputs or cell.execution_count for cell in code), "strip its outputs"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(small_run.path / "src"), os.environ.get("PYTHONPATH", "")]))
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": small_run.path / "examples"}}).execute()
    page = [output for cell in code for output in cell.outputs]
    assert not [output for output in page if output.output_type == "error" or output.get("name") == "stderr"]
    assert ("image/png" in str(page)) == (path.stem == "errors")
