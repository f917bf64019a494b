"""The range of each model's rank: against simulation, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from punchline import cli
from punchline.core.benchmark import load
from punchline.stats.estimate import POSITIVE, Array, Estimate, mean
from punchline.tables.ranks import Rank, ranked


def estimate(values: Array) -> Estimate:
    sums = np.stack([values, np.ones(len(values))], axis=1)
    return Estimate(sums, mean, [f"c{n:04}" for n in range(len(values))], kind=POSITIVE if values.max() > 1 else None)


def answers(shares: dict[str, float], n: int, seed: int = 0) -> dict[str, Estimate]:
    """Right answers of models to the same items, which are hard or easy for all of them."""
    random = np.random.default_rng(seed)
    ease = random.normal(0, 0.2, n)
    return {name: estimate((random.random(n) < share + ease).astype(float)) for name, share in shares.items()}


def spans(made: list[Rank]) -> dict[str, tuple[int, int, int]]:
    return {rank.model: (rank.first, rank.rank, rank.last) for rank in made}


def test_ranks_of_models_apart_and_alike_and_of_nothing() -> None:
    three = ranked(answers({"c": 0.2, "a": 0.8, "b": 0.5}, 400))
    assert spans(three) == {name: (place,) * 3 for place, name in enumerate("abc", 1)}
    of = answers({"a": 0.5}, 30)["a"]
    assert spans(ranked({"x": of, "y": of, "z": of})) == dict.fromkeys("xyz", (1, 1, 3))
    nothing = Estimate(np.zeros((3, 2)), mean, list("abc"))
    two = answers({"a": 0.9, "b": 0.1}, 100)
    assert list(spans(ranked({**two, "c": nothing})).items()) == [("a", (1, 1, 1)), ("b", (2, 2, 2))]
    assert ranked({"c": nothing}) == []
    random = np.random.default_rng(0)  # of error rates the lowest is the best
    rates = {name: estimate(random.gamma(2, scale, 200)) for name, scale in (("worse", 2.0), ("better", 0.5))}
    assert spans(ranked(rates, lowest=True)) == {"better": (1, 1, 1), "worse": (2, 2, 2)}
    assert spans(ranked(rates)) == {"better": (2, 2, 2), "worse": (1, 1, 1)}


def test_what_cannot_be_ranked_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    for arguments, says in (("table10", "no table of this run's models"), ("table8 --column panel_ac", "panel_acc")):
        done = CliRunner().invoke(cli.app, ["ranks", *arguments.split()])
        assert done.exit_code == 1 and says in str(done.exception or done.output)


def test_a_table_says_which_way_is_better() -> None:
    for name, lower, neither in (
        ("pixelhumor/table8", "wer cer", ""),
        ("humorbench/table1", "fpr fnr", ""),
        ("humorbench/leaderboard", "", "se output_tokens cost"),
        ("hummus/table4", "", "positive_sd negative_sd average_sd average_of_four_sd prompts"),
        ("hummus/statistics", "", "value value_minilm"),
    ):
        benchmark, table = name.split("/")
        spec = load(benchmark).TABLES[table]
        for way, names in (("lower", lower), ("neither", neither)):
            assert {one for one in spec.columns if spec.better(one) == way} == {*names.split()}
