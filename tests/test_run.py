"""`punchline run` and `init --model-card`: a card from answers, paths of models, sentences on leaders, tables."""

import re
import signal
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cases import cases
from typer.testing import CliRunner

from punchline import cli, start
from punchline.benchmarks.pixelhumor.tables import TABLES
from punchline.cli.commands import app
from punchline.cli.printing import printed
from punchline.cli.run import _model, _sentence
from punchline.config.cards import read_card
from punchline.errors import PunchlineError


def test_ctrl_c_during_the_imports_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(start, "import_module", lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(SystemExit, match="130"):
        cli.main()
    assert capsys.readouterr().err == f"{start.STOPPED}\n"


ONE = {"column": "acc", "row": "subset=hard", "n": (400, 400), "detectable": 0.05}


@pytest.mark.parametrize(("difference", "low", "high", "clusters", "text"), cases(__file__, "differences"))
def test_a_difference_in_words(difference: float, low: float, high: float, clusters: int, text: str) -> None:
    of = {"difference": difference, "low": low, "high": high, "clusters": clusters}
    assert _sentence("A", "B", ONE | of, percent=False) == text


def test_a_card_is_asked_for_and_its_path_names_a_model(here: Path) -> None:
    (here / "config/model").mkdir(parents=True)
    answers = "http://127.0.0.1:9/v1\norg/model\n\ny\n"
    done = CliRunner().invoke(app, ["init", "--model-card", "mine.yaml"], input=answers)
    assert done.exit_code == 0, done.output
    card = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1", "id": "org/model", "modality": ["text", "image"]}
    assert yaml.safe_load((here / "mine.yaml").read_text()) == card
    assert _model("mine.yaml") == "mine"
    assert read_card("mine").options["id"] == "org/model"
    (here / "mine.yaml").write_text("engine: baselines\n")
    with pytest.raises(PunchlineError, match="another card has this name"):
        _model("mine.yaml")
    with pytest.raises(PunchlineError, match="no such card"):
        _model("absent.yaml")


CSV = cases(__file__, "table")
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


@pytest.mark.parametrize(("width", "header", "first", "more"), cases(__file__, "misfits"))
def test_columns_that_do_not_fit_are_named(path: str, width: int, header: str, first: str, more: str) -> None:
    text = printed(path, TABLES["table8"], width)
    lines = text.split("\n\n")[1].splitlines()
    assert [" ".join(line.split()) for line in lines[:2]] == [f"model kind {header}", f"a measured {first}"]
    assert max(map(len, lines)) <= width and not any(line.startswith("silent") for line in lines)
    result = re.search("^More columns in the CSV: (.*)$", text, re.MULTILINE)
    assert (result[1] if result else "") == more
