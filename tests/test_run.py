"""`punchline run` and `init --model-card`: a card from answers, names and paths of models, sentences on leaders."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from punchline.cli import app
from punchline.cli.run import _model, _sentence
from punchline.config.cards import read_card
from punchline.errors import PunchlineError

ONE = {"column": "acc", "row": "subset=hard", "n": (400, 400), "detectable": 0.05}
UNSETTLED = "A ahead of B by 2.0 points of acc (hard), 95 % interval -1.0 to 5.0"


@pytest.mark.parametrize(
    ("difference", "low", "high", "clusters", "text"),
    [
        (0.041, 0.012, 0.07, 400, "A ahead of B by 4.1 points of acc (hard), 95 % interval 1.2 to 7.0, on 400 items."),
        (-0.02, -0.05, 0.01, 300, f"{UNSETTLED}, on 300 groups of items; not settled: that needs about 1,875."),
        (0.0, 0.0, 0.0, 400, "A and B: no difference in acc (hard) on 400 items."),
    ],
)
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
