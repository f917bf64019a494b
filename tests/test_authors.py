"""What an author of a benchmark gets wrong: a sentence that names the file and the record."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cases import cases

import punchline.benchmarks
from punchline.benchmarks.yesbut.tables import TABLES
from punchline.core.benchmark import every, filled, load, load_on_demand
from punchline.errors import PunchlineError
from punchline.files import write_text
from punchline.prepare import make_gold
from punchline.schema import Gold
from punchline.tabulate.build import _printed
from punchline.workflow import code


@pytest.mark.parametrize(("golds", "selected", "expected"), cases(__file__, "selections"))
def test_labels_of_the_selection(golds: str, selected: str, expected: Any) -> None:
    result = [Gold(benchmark="b", item_id=item_id, values={}) for item_id in golds]
    benchmark: Any = SimpleNamespace(GOLD_FILES=("gold.csv",), golds=lambda files: iter(result))
    with nullcontext() if isinstance(expected, list) else pytest.raises(PunchlineError, match=expected):
        assert [gold.item_id for gold in make_gold(benchmark, {}, list(selected))] == expected


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "odd_benchmark"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.startswith("odd_benchmark")]:
        del sys.modules[name]


def test_a_module_that_is_no_python_or_not_there(package: Path) -> None:
    (package / "ask.py").write_text("a = 1\nx = (\n")
    (package / "data.py").write_text("import nothing_of_that_name")
    for name, message in (
        ("requests", r"\.ask cannot be imported: SyntaxError: .* \(ask\.py, line 2\)"),
        ("TABLES", r"\.tables cannot be imported: ModuleNotFoundError: No module named"),
        ("items", r"\.data cannot be imported: .*nothing_of_that_name"),
    ):
        with pytest.raises(PunchlineError, match=f"odd_benchmark{message}"):
            load_on_demand("odd_benchmark")(name)
    with pytest.raises(PunchlineError, match=r"ask\.py, line 2: not Python"):
        code._digest(package / "ask.py")


def test_a_published_value_of_nothing(here: Path) -> None:
    for table, column, message in (
        ("tabel1", "x", r"yesbut\.csv, record GPT: no such table\. Did you mean 'table1'"),
        ("table2", "acuracy", r"yesbut\.csv, record GPT: table2 has no column 'acuracy'"),
    ):
        text = f"paper,table,row,key,column,value,n,note\nyesbut,{table},GPT,,{column},1,,\n"
        write_text(here / "config/published/yesbut.csv", text)
        with pytest.raises(PunchlineError, match=message):
            _printed(TABLES, "yesbut")


def test_a_place_in_a_prompt_that_nothing_fills() -> None:
    assert filled("Is {text} a pun?", {"text": "{text}"}) == "Is {text} a pun?"
    with pytest.raises(PunchlineError, match=r"'Is \{txet\} a pun.*for \{txet\}.*Did you mean 'text'"):
        filled("Is {txet} a pun?", {"text": "it"})


def test_a_folder_that_calls_itself_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punchline.benchmarks.yesbut.NAME", "yesbt")
    with pytest.raises(PunchlineError, match=r"yesbut/__init__\.py, field NAME: .* calls itself 'yesbt'"):
        load("yesbut")


def test_a_benchmark_that_cannot_be_imported_breaks_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("yesbut", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "broken/__init__.py").write_text("NAME = 1 / 0")
    monkeypatch.setattr(punchline.benchmarks, "__path__", [*punchline.benchmarks.__path__, str(tmp_path)])
    monkeypatch.setattr("punchline.core.benchmark.FOLDER", tmp_path)
    for _ in range(2):  # named once
        assert every(load, ["broken", "yesbut"]) == {"yesbut": load("yesbut")}
    cannot = "punchline.benchmarks.broken cannot be imported: ZeroDivisionError: division by zero"
    assert capsys.readouterr().err == f"warning: benchmark broken is left out: {cannot}\n"
