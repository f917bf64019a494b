"""What an audit says of records that differ."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.test_layers import reached

from punchline.artifacts.project import Project
from punchline.audit import sources
from punchline.audit.differences import same, same_cells, same_text
from punchline.cli import base
from punchline.config import runs
from punchline.config.selection import Corpus, read_selection
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.files import write_text
from punchline.workflow import code

ROOT = Path(__file__).resolve().parent.parent
GOLDS = [{"benchmark": "b", "item_id": f"i{n}", "values": {"a": n}} for n in range(5)]


def test_records_that_differ_are_counted_and_the_first_is_named() -> None:
    assert list(same(GOLDS, GOLDS)) == []
    assert list(same(GOLDS, [GOLDS[0], *(gold | {"benchmark": "c"} for gold in GOLDS[1:-1])])) == [
        "4 records stored, 5 rebuilt",
        "3 records differ, first i1: rebuilt {'benchmark': 'b'}, stored {'benchmark': 'c'}",
    ]
    hostile = {"item_id": "\x1b[2J\u202e", "values": 1}
    (output,) = same([hostile | {"values": 2}], [hostile])
    assert output == "1 records differ, first \\x1b[2J\\u202e: rebuilt {'values': 2}, stored {'values': 1}"


def test_cells_that_differ_are_printed_with_both_values() -> None:
    cells = [{"row": f"m{n}", "column": "acc", "value": n / 10, "grades": f"{n}"} for n in range(5)]
    stored = [cell | {"value": 1.0, "grades": "f"} for cell in cells]
    lines = list(same_cells(cells, stored))
    assert lines[0] == "5 cells differ, first row m0, column acc: rebuilt {'value': 0.0}, stored {'value': 1.0}"
    assert len(lines) == 3 and list(same_cells(cells, cells)) == []
    csv_text = "model,acc\nrandom,0.5\nocr,0.7\n"
    assert list(same_text("t.csv", csv_text, csv_text.replace("0.7", "0.9"))) == [
        "1 cells differ, first line 3 (ocr 0.7), column acc: rebuilt '0.7', stored '0.9'"
    ]
    assert list(same_text("t.md", "a\nb\n", "a\nc\n")) == ["1 lines differ, first line 2: rebuilt 'b', stored 'c'"]


# Sources of a corpus that a lineage names, its benchmark, whether the table is of models: the corpus keeps x of b.
@pytest.mark.parametrize(
    ("named", "benchmark", "models", "equal"),
    [
        (["x"], "pixelhumor", ["m"], True),
        (None, "pixelhumor", ["m"], False),  # a table of answers that claims more than was selected
        (["x", "y"], "pixelhumor", ["m"], False),
        (None, "other", ["m"], True),  # the corpus says nothing of its sources
        (None, "pixelhumor", [], True),  # a table of the data itself takes the released files whole
    ],
)
def test_what_counts_of_a_corpus(here: Path, named: Any, benchmark: str, models: list[str], equal: bool) -> None:
    write_text("config/corpus/c.yaml", "name: c\nraw: data/raw\ndrawn: false\nsources: {pixelhumor: [x]}\n")
    corpus = Corpus(name="c", raw="data/raw", drawn=False, sources=named and {"pixelhumor": named})
    of: Any = SimpleNamespace(selection=SimpleNamespace(corpus=corpus, models=models))
    assert (list(sources.corpus(of, benchmark)) == []) == equal
    of.selection.corpus = replace(corpus, drawn=True)
    assert list(sources.corpus(of, benchmark)) != []


def test_a_name_of_two_tables_is_refused_and_a_path_names_its_run(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "config").symlink_to(ROOT / "config")
    assert runs.table_named("table8") == ("pixelhumor", "table8")  # what the run selects
    for made in ("results/hummus/table8.csv", "results/table8.csv"):
        write_text(made, "model\n")
        with pytest.raises(
            PunchlineError, match=r"several benchmarks have a table8.*hummus/table8.csv, results/table8.csv"
        ):
            runs.table_named("table8")
    assert runs.table_named("hummus/table8") == runs.table_named("results/hummus/table8.csv") == ("hummus", "table8")
    monkeypatch.setattr(base, "last_run", lambda: "last")
    for name, run, expected, note in (
        ("results/runs/mine/table8.csv", "", "mine", "of the run mine, as the path says\n"),
        ("results/table8.csv", "", "default", "of the run default, as the path says\n"),
        ("results/runs/last/table8.csv", "", "last", ""),
        ("results/runs/mine/table8.csv", "mine", "mine", ""),
        ("table8", "", "last", "of the run last, which was made last; --run names another\n"),
    ):
        context: Any = SimpleNamespace(params={"table": name})
        assert base._run_named(context, run) == expected
        assert capsys.readouterr().err == note


def packages(path: Path) -> list[str]:
    return re.findall(r"^(?:from|import) (\w+)", path.read_text(), re.MULTILINE)


def test_tables_and_overviews_name_the_libraries_that_they_compute_with(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    project = Project(read_selection({})[0])
    of_one = [make("pixelhumor") for make in (project.tables, project.validity, project.shortcuts)]
    for artifact in (*of_one, project.table("pixelhumor", "table8"), project.overview(), project.shared()):
        assert artifact.versions.keys() >= {"numpy", "pandas", "scipy"}, artifact.name
    for name in benchmarks.names():  # whatever the code of scores imports
        score = project.score(name, "random")
        scoring = f"benchmarks/{name}/{'__init__' if benchmarks.is_one_file(name) else 'scoring'}.py"
        files = reached(code.PACKAGE / "score.py", code.PACKAGE / scoring)
        imported = {found.replace("_", "-") for file in files for found in packages(file)}
        assert score.versions.keys() >= imported & {"numpy", "pandas", "scipy", "jiwer", "rapidfuzz"}, name
