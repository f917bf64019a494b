"""Paired comparisons and ranks: against simulation and worked examples, and what is refused."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy import stats as distributions
from tests.records import score
from tests.test_stats import estimate
from typer.testing import CliRunner

from punchline.audit import compare
from punchline.cli import commands as cli
from punchline.errors import PunchlineError
from punchline.schema import Gold, Item, Score
from punchline.scores import items_frame, scores_frame
from punchline.stats import functions
from punchline.stats.estimate import POSITIVE, REAL, Estimate, Kind, mean, total
from punchline.stats.intervals import difference, interval
from punchline.stats.paired import Paired, holm, paired_difference
from punchline.tables.declare import Across, Model, Row, Table
from punchline.tables.ranks import Rank, ranked


def paired(a: Any, b: Any, clusters: Sequence[str] | None = None, *more: int, kind: Kind | None = None) -> Paired:
    """`more`: the seed, and the number of resamples."""
    return paired_difference(*(estimate(values, clusters, kind) for values in (a, b)), *(more or (0, 999)))


def simulated(seed: int, clusters: int, size: int, shift: float = 0.0) -> tuple[Any, Any, list[str]]:
    """Answers of two models to clustered items, right or wrong by an ease that a comic and a model share; clusters."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, size + 1, size=clusters)
    ease = np.repeat(random.normal(size=clusters), sizes)
    a, b = (
        (ease + np.repeat(random.normal(size=clusters), sizes) + random.normal(size=len(ease)) + of > 0).astype(float)
        for of in (shift, 0.0)
    )
    return a, b, [f"c{i:03}" for i in range(clusters) for _ in range(sizes[i])]


def test_the_numbers_of_equal_clusters_are_the_textbooks() -> None:
    a, b = np.array([5.0, 7, 6, 8, 9, 4, 6, 7]), np.array([4.0, 7, 5, 6, 9, 5, 4, 6])
    result = paired(a, b, kind=REAL)
    d = a - b
    assert (result.a, result.b, result.difference, result.clusters) == (a.mean(), b.mean(), pytest.approx(d.mean()), 8)
    assert result.effect == pytest.approx(d.mean() / d.std(ddof=1))  # Cohen's d_z
    quantiles = distributions.t.ppf(0.975, 7) + distributions.t.ppf(0.8, 7)
    assert result.detectable == pytest.approx(quantiles * d.std(ddof=1) / np.sqrt(8))
    shares = [1.0, 1, 0, 1, 1, 1, 0, 1], [0.0, 1, 0, 1, 0, 1, 0, 0]
    result = paired(*shares)  # its interval is that of the tables
    assert (result.low, result.high) == interval(difference(*map(estimate, shares)))


def test_equal_answers_one_cluster_and_one_that_only_one_model_has() -> None:
    result = paired([1.0, 0, 1, 1, 0] * 6, [1.0, 0, 1, 1, 0] * 6)
    assert (result.difference, result.p, result.effect, result.detectable) == (0, 1, None, None)
    assert result.high == -result.low == pytest.approx(distributions.t.ppf(0.975, 29) * np.sqrt(2 / 31 / 32))  # type: ignore[operator]
    none = Estimate(np.zeros((5, 1)), total, list("abcde"), ())
    result = paired_difference(none, none, 0)
    assert (result.difference, result.p, result.clusters) == (0, 1, 5)
    result = paired([1.0, 1.0], [0.0, 1.0], ["c", "c"])
    assert result == Paired(1.0, 0.5, 0.5, None, None, None, None, None, 1)
    result = paired_difference(estimate([1.0, 1, 0], ["x", "y", "z"]), estimate([1.0, 0], ["x", "y"]), 0, resamples=99)
    assert result.clusters == 3 and result.difference == pytest.approx(1 / 6)


def test_clusters_that_a_ratio_has_nothing_of_are_no_sample() -> None:
    """A recall that four clusters of forty can have; a count is a count of all forty."""
    hits = np.zeros((40, 2))
    hits[:4] = [(1, 1), (0, 1), (1, 1), (1, 1)]
    missed, names = hits * [0, 1], [f"c{i:02}" for i in range(40)]
    few = paired_difference(Estimate(hits, mean, names), Estimate(missed, mean, names), 0)
    all_of = paired_difference(Estimate(hits[:, :1], total, names), Estimate(missed[:, :1], total, names), 0)
    assert (few.clusters, few.difference, few.p) == (4, 0.75, 2 / 8)
    assert (all_of.clusters, all_of.difference) == (40, 3)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holms_correction_by_its_definition(p_values: list[float]) -> None:
    ordered = [*enumerate(sorted(p_values))]
    expected = [max(min(1, (len(ordered) - at) * q) for at, q in ordered if q <= p) for p in p_values]
    assert holm(p_values) == pytest.approx(expected)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(2, 30))
def test_turned_round_only_the_sign_changes_and_the_seed_decides(seed: int, clusters: int) -> None:
    a, b, names = simulated(seed, clusters, 4, 0.3)
    forth, back = paired(a, b, names, 0, 399), paired(b, a, names, 0, 399)
    assert back.difference == -forth.difference and back.p == forth.p and back.detectable == forth.detectable
    assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low))  # type: ignore[operator]
    few = simulated(1, 30, 3)
    assert paired(*few, 0, 399).p == paired(*few, 0, 399).p != paired(*few, 2, 399).p


def test_intervals_cover_and_tests_reject_as_often_as_they_say() -> None:
    """Within 3 standard errors of .95 and .05."""
    result = [paired(*simulated(seed, 40, 6), 0, 399) for seed in range(500)]
    assert 0.921 <= np.mean([one.low <= 0 <= one.high for one in result]) <= 0.979  # type: ignore[operator]
    assert 0.021 <= np.mean([one.p <= 0.05 for one in result]) <= 0.079  # type: ignore[operator]


def row(scores: pd.DataFrame, **keys: str) -> Row:
    return Row(**keys, acc=functions.mean(scores, "acc"), length=functions.mean(scores, "length", POSITIVE))


ABOUT = {"keys": ("subset",), "columns": ("acc", "length", "never"), "tasks": ("Q",)}
TABLE = Table("t1", "A table", **ABOUT, rows=lambda scores, items: [row(scores, subset="all")])  # type: ignore[arg-type]
NAMES = [f"{letter}{n}" for letter in "abcdefgh" for n in range(3)]
ITEMS = {name: Item(benchmark="b", item_id=name, source="s", cluster=name[0]) for name in NAMES}
GOLDS = {name: Gold(benchmark="b", item_id=name, values={}) for name in ITEMS}
OF_ITEMS = items_frame(ITEMS, GOLDS)


def scores_of(name: str, ids: Sequence[str], **fields: Any) -> list[Score]:
    right = {item: float(hash_of(name, item) % 2) for item in ids}
    fields = {"model": name, "signature": "acc|v:1"} | fields
    return [score(i, cluster=i[0], metrics={"acc": acc, "length": 2 * acc}, **fields) for i, acc in right.items()]


def hash_of(*parts: str) -> int:
    return sum(ord(char) * (7 + n) for n, char in enumerate("".join(parts)))


def compared(a: Sequence[Score], b: Sequence[Score], table: Table = TABLE) -> compare.Comparison:
    frames = [scores_frame(of, OF_ITEMS, table.published_rule, ("acc", "length"))[0] for of in (a, b)]
    one, other = (Model(name, "measured", "e", frame) for name, frame in zip("AB", frames, strict=True))
    return compare.compare("b", table, (one, other), Across([], OF_ITEMS, {}), seed=0)


def test_only_shared_items_count_and_the_rest_is_said() -> None:
    ids = list(ITEMS)
    a, b = scores_of("A", ids[:20]), scores_of("B", ids[5:])
    a[7:9] = [replace(one, scored=False, state="missing", metrics={}) for one in a[7:9]]
    result = compared(a, b)
    shared = {"task": "Q", "condition": "default", "both": 13, "left_out": (5, 6), "unscored": (2, 0)}
    assert result.shared == [shared]
    expected = [np.mean([hash_of(name, item) % 2 for item in (*ids[5:7], *ids[9:20])]) for name in "AB"]
    (acc, length) = result.differences
    assert (acc["a"], acc["b"], acc["n"]) == (*map(pytest.approx, expected), (13, 13))
    assert length["difference"] == pytest.approx(2 * acc["difference"])
    assert acc["p_holm"] == pytest.approx(min(1, 2 * acc["p"]))
    assert any("Fewer than 20 clusters" in note for note in result.notes)


def test_a_value_that_one_lacks_is_left_out_of_both() -> None:
    a, b = scores_of("A", list(ITEMS)), scores_of("B", list(ITEMS))
    a[0] = replace(a[0], metrics={"acc": 1.0})
    result = compared(a, b)
    assert [one["n"] for one in result.differences] == [(24, 24), (23, 23)]
    assert "Only one of the two has it, so it is left out of both: length (1 answers)." in result.notes


BOTH = r"no answer that is scored for both models "


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"signature": "acc|v:2"}, r"scored in another way: acc\|v:1 and acc\|v:2"),
        ({"judge": "gpt"}, "scored by another judge: nobody and gpt"),
        ({"gold_digest": "h"}, "scored against other gold: g and h"),
        ({"rule": "released"}, "no scores of B for t1"),
        ({"task": "R"}, "no scores of B for t1"),
        ({"condition": "blind"}, "no scores of B for t1"),
        ({"scored": False}, rf"{BOTH}\(scored: A 24, B 0\)"),
        ({"sample": 1}, rf"{BOTH}\(scored: A 24, B 24\)"),
        ({"split": 5}, rf"{BOTH}\(scored: A 5, B 19\)"),
        ({"table": {}}, "no column that is defined for both"),
    ],
)
def test_what_cannot_be_compared_is_refused(fields: dict[str, Any], said: str) -> None:
    ids, split = list(ITEMS), fields.pop("split", 0)
    table = replace(TABLE, columns=("never",), **fields.pop("table")) if "table" in fields else TABLE
    with pytest.raises(PunchlineError, match=said):
        compared(scores_of("A", ids[:split] or ids), scores_of("B", ids[split:], **fields), table)


def test_rows_of_one_model_other_items_and_other_denominators_are_said() -> None:
    def uneven(scores: pd.DataFrame, items: pd.DataFrame) -> list[Row]:
        name = "A" if scores["acc"].nunique() == 1 else "B"
        own = scores[scores["item_id"].str.startswith(name.lower())]
        return [row(scores, subset="all"), row(scores, only=name), row(own, own="x")]

    def of_right_ones(scores: pd.DataFrame, items: pd.DataFrame) -> list[Row]:
        return [Row(subset="all", acc=functions.mean(scores, "acc", where=scores["acc"].to_numpy() > 0))]

    a, b = (scores_of(name, list(ITEMS)) for name in "AB")
    same = [replace(one, metrics={"acc": 1.0, "length": 1.0}) for one in a]
    result = compared(same, b, replace(TABLE, rows=uneven))
    assert {one["row"] for one in result.differences} == {"subset=all"}
    assert {"Row only=A: only A has it.", "Row only=B: only B has it."} < set(result.notes)
    assert "Row own=x: not compared, as it is of other items for each model." in result.notes
    result = compared(a, b[:23], replace(TABLE, rows=of_right_ones))
    assert any("acc: denominators depend on the answers" in note for note in result.notes)


def test_tables_across_models_are_compared_by_their_models_rows() -> None:
    def across(of: Across) -> list[Row]:
        assert [one.name for one in of.models] == ["A", "B"]
        named = [row(one.scores, subset="all").set(of=one) for one in of.models]
        return [*named, row(of.models[0].scores, model="all", subset="all")]

    a, b = scores_of("A", list(ITEMS)), scores_of("B", list(ITEMS))
    result = compared(a, b, replace(TABLE, rows=None, across=across))
    assert result.differences == compared(a, b).differences


def answers(shares: dict[str, float], n: int, seed: int = 0) -> dict[str, Estimate]:
    """Right answers of models to the same items, which are hard or easy for all of them."""
    random = np.random.default_rng(seed)
    ease = random.normal(0, 0.2, n)
    return {name: estimate(1.0 * (random.random(n) < share + ease)) for name, share in shares.items()}


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
    rates = {
        name: estimate(random.gamma(2, scale, 200), kind=POSITIVE) for name, scale in (("worse", 2.0), ("better", 0.5))
    }
    assert spans(ranked(rates, lowest=True)) == {"better": (1, 1, 1), "worse": (2, 2, 2)}
    assert spans(ranked(rates)) == {"better": (2, 2, 2), "worse": (1, 1, 1)}


def test_what_cannot_be_ranked_and_a_run_without_a_judge_are_refused(in_root: None) -> None:
    for command, says in (
        ("ranks table10", "no table of this run's models"),
        ("ranks table8 --column panel_ac", "panel_acc"),
        ("judges --benchmark humorbench", "Make it first"),
    ):
        done = CliRunner().invoke(cli.app, command.split())
        assert done.exit_code == 1 and says in str(done.exception or done.output)
