"""Who answers what a model's answers lead to."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from punchline.artifacts.passes import passes_of, scorers_of
from punchline.config.cards import read_card
from punchline.core.benchmark import Benchmark
from punchline.core.engine import Engine
from punchline.errors import PunchlineError
from punchline.schema import ModelCard

ENGINE = cast(Engine, SimpleNamespace(format=None, givers=set))
CARD = ModelCard(name="m", engine="openai")
BOTH = {"CHAINED": ("own",), "JUDGES": ("cosine", "judge")}


def benchmark(**parts: Any) -> Benchmark:
    return cast(Benchmark, SimpleNamespace(**{"NAME": "b", "CHAINED": (), "CLOSED": (), "JUDGES": (), **parts}))


@pytest.mark.parametrize(
    ("parts", "selected", "expected"),
    [
        ({}, {}, {}),
        ({"JUDGES": ("judge",)}, {}, {}),
        ({"JUDGES": ("judge",)}, {"judge": "j"}, {"judge": "j"}),
        ({"JUDGES": ("cosine",)}, {"judge": "j"}, {"cosine": "labse"}),
        ({"JUDGES": ("bertscore",)}, {}, {}),  # nobody was chosen
        ({"CHAINED": ("own",)}, {}, {}),
        ({"CLOSED": ("t",)}, {"extractor": "e"}, {"extractor": "e"}),
        ({"CLOSED": ("t",)}, {}, {}),
        ({"CHAINED": ("own",)}, {"conditions": ["default", "own"]}, {"chained": "m"}),
        (BOTH, {"conditions": ["own"], "judge": "j"}, {"chained": "m", "judge": "j", "cosine": "labse"}),
    ],
)
def test_hops(parts: dict[str, Any], selected: dict[str, Any], expected: dict[str, str]) -> None:
    chosen = {"extractor": None, "judge": None, "cosine": "labse", **selected}
    result = passes_of(benchmark(**parts), CARD, ENGINE, selected.get("conditions", ["default"]), chosen)
    assert list(result.items()) == list(expected.items())  # in the order in which they are answered


def test_scorers() -> None:
    cards = [read_card(name, "config/judge") for name in ("bertscore", "labse", "minilm", "overlap")]
    assert scorers_of(cards[:2]) == {"bertscore": "bertscore", "cosine": "labse"}
    with pytest.raises(PunchlineError, match="both labse and minilm measure cosine"):
        scorers_of(cards[1:3])
    with pytest.raises(PunchlineError, match="overlap is no scorer"):
        scorers_of(cards[3:])
