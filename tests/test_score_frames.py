"""Score files, the frames that are read of them, statistics of their rows, and tables of missing answers only."""

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from msgspec.structs import replace
from tests.records import response
from tests.tabulated import frame_of_items, frame_of_scores, read_benchmark, score_responses
from tests.test_tables import known, score

from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.schema import RULES, STATES, Rule, Score
from punchline.scores import FRAME, items_frame, metrics_of, read_scores, scores_frame, write_scores
from punchline.stats.estimate import PERCENT
from punchline.stats.functions import empty, items_of, mean, mean_of_clusters, paired, sd, total
from punchline.stats.labels import Labels
from punchline.tables.declare import Across, Model, Table
from punchline.tables.run import Answers, rows_of

SCORES = [
    score("b", "Q1", parsed=("Pun", "dark"), gold=("Dark",), responses=("r1", "r2"), judge="j", cluster="z"),
    score("a", "Q1", "missing", parsed=(), gold=()),
    score("a", "Q2", value=0.25, truncated=True, condition="other", sample=2),
    score("b", "Q2", "refused", value=-0.0, rule="paper", metrics={"acc": 0.1 + 0.2, "wer": 1e300}),
]
GOLDS, ITEMS = known([score("a", ""), score("b", ""), score("c", "")])
OF_ITEMS = items_frame({name: replace(item, cluster="z") for name, item in ITEMS.items()}, GOLDS)


def written(path: Path, scores: list[Score], metrics: tuple[str, ...] = ("acc", "wer")) -> Path:
    write_scores(path / "s.parquet", scores, metrics)
    return path / "s.parquet"


def test_scores_are_read_as_they_were_written(tmp_path: Path) -> None:
    for scores in (SCORES, []):
        file = written(tmp_path, scores)
        assert list(read_scores(file)) == scores
        frame, digests = scores_frame(file, OF_ITEMS, "released")
        assert [bytes(one).hex() for one in digests] == [one.digest for one in scores if one.rule == "released"]
        assert metrics_of(frame) == ["acc", "wer"]
        pd.testing.assert_frame_equal(frame, scores_frame(scores, OF_ITEMS, "released", ("acc", "wer"))[0])


def test_a_frame_says_what_the_scores_say(tmp_path: Path) -> None:
    frame, _ = scores_frame(written(tmp_path, SCORES), OF_ITEMS, "released")
    assert set(frame) == {*FRAME, "cluster", "extracted", "row", "acc", "wer"} - {"digest"}
    first, second, third = frame.itertuples(index=False)
    assert (first.parsed, first.gold, first.judge, first.cluster) == ('["Pun","dark"]', '["Dark"]', "j", "z")
    assert (second.state, second.parsed, second.gold, second.scored) == ("missing", "[]", "[]", False)
    assert pd.isna([second.judge, third.parsed]).all() and np.isnan(second.acc) and np.isnan(third.wer)
    assert (third.acc, third.truncated, third.condition, third.sample, third.row) == (0.25, True, "other", 2, 2)


def test_a_metric_that_is_not_declared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PunchlineError) as error:
        written(tmp_path, SCORES, ("acc", "werr"))
    assert str(error.value).startswith("src/punchline/benchmarks/b/__init__.py, field METRICS: 'wer' is not among")
    assert "Did you mean 'werr'" in str(error.value) and not list(tmp_path.iterdir())


def test_models_share_categories_and_items_that_are_not_known_are_left_out() -> None:
    few = {name: ITEMS[name] for name in "ca"}
    of_few = items_frame(few, GOLDS)
    frames = [
        scores_frame(scores, of_few, "released", ("acc", "wer")) for scores in (SCORES, SCORES[:1], [score("c", "Q9")])
    ]
    result = [([*frame.item_id], frame.row.tolist(), len(own)) for frame, own in frames]
    assert result == [(["a", "a"], [0, 1], 2), ([], [], 0), (["c"], [0], 1)]
    kinds = [[frame[name].dtype for name in ("item_id", "cluster", "state")] for frame, _ in frames]
    assert kinds[0] == kinds[1] == kinds[2]
    assert [list(kind.categories) for kind in kinds[0]] == [["c", "a"], ["a", "c"], list(STATES)]


# four items in two clusters
VALUES = {("a", "Q1"): 1.0, ("a", "Q2"): 0.5, ("b", "Q1"): 0.0, ("b", "Q3"): None, ("c", "Q2"): 0.25, ("d", "Q1"): 0.75}
CLUSTERS = {"a": "x", "b": "x", "c": "y", "d": "y"}


def frame_of(values: dict[tuple[str, str], float | None], sample: int = 0) -> pd.DataFrame:
    has = {of: {} if value is None else {"acc": value} for of, value in values.items()}
    scores = [score(*of, sample=sample, metrics=metrics) for of, metrics in has.items()]
    golds, items = known([score(name, "") for name in "abcd"])
    of_items = items_frame({name: replace(item, cluster=CLUSTERS[name]) for name, item in items.items()}, golds)
    return scores_frame(scores, of_items, "released", ("acc",))[0]


def test_statistics_by_hand() -> None:
    part = frame_of(VALUES)
    whole = mean(part, "acc")
    assert (whole.n, whole.point(), whole.used.tolist(), whole.given.tolist()) == (5, 0.5, [0, 1, 2, 4, 5], [*range(6)])
    assert [part.cluster.cat.categories[code] for code in whole.clusters] == ["x", "x", "x", "y", "y"]
    assert mean(part, "acc", PERCENT, where=(part.task == "Q1").to_numpy()).point() == pytest.approx(1.75 / 3)
    tasks = mean(part, "acc", over="task")  # Q3 has no value
    assert (tasks.n, tasks.point()) == (4, pytest.approx((1.75 / 3 + 0.375) / 2))
    assert [mean_of_clusters(part, "acc", how).point() for how in ("mean", "min")] == [0.5, 0.125]
    assert sd(part, "acc").point() == pytest.approx(np.std([1, 0.5, 0, 0.25, 0.75]))
    assert sd(part, "acc", over="task").point() == pytest.approx(np.std([1.75 / 3, 0.375], ddof=1))
    assert (total(part, "acc").n, total(part, "acc").point()) == (5, 2.5)
    for both, n in ((part, 4), (pd.concat([part, frame_of(VALUES, sample=1)]), 8)):  # a sample is a unit of its own
        assert items_of(both, both.acc.notna().to_numpy()).point() == mean(both, "acc", over="task").n == n
    nothing = [empty(part), mean(part[part.task == "Q3"], "acc"), sd(part[part.task == "Q1"], "acc", over="task")]
    assert [(one.n, one.point(), len(one.given)) for one in nothing] == [(0, None, 6), (0, None, 1), (0, None, 3)]


def test_paired_means_are_over_what_both_have() -> None:
    other = {**VALUES, ("a", "Q1"): None, ("b", "Q1"): 1.0, ("d", "Q1"): 1.0}
    one, two = (part[part.task == "Q1"] for part in (frame_of(VALUES), frame_of(other)))
    result = [(each.n, each.point(), len(each.given)) for each in paired(one, two, "acc")]
    assert result == [(2, 0.375, 3), (2, 1, 3), (2, -0.625, 3)]


def test_what_made_false_of_nan_is_refused() -> None:
    part = frame_of(VALUES)
    with pytest.raises(TypeError, match="good is bool, in which NaN has become False"):
        mean(part.assign(good=part.acc >= 0.5), "good")
    assert mean(part.assign(good=(part.acc >= 0.5).where(part.acc.notna())), "good").n == 5


def test_labels_count_scored_rows_and_nothing_else() -> None:
    """A scored row in which nothing was read is an answer without labels; others are in no count."""
    marks = {"a": (("Pun",), True), "b": (None, True), "c": (("Dark", "pun"), True), "d": (("Pun",), False)}
    scores = [score(name, "Q1", parsed=read, gold=("Pun",), scored=counts) for name, (read, counts) in marks.items()]
    part, _ = scores_frame(scores, items_frame(*reversed(known(scores))), "released", ("acc",))
    result = Labels(part)
    cells = {name: cell.point() for name, cell in result.confusion("pun").items()}
    assert cells == {"tp": 2, "fp": 0, "tn": 0, "fn": 1}
    assert (result.exact().point(), result.exact().n) == (1 / 3, 3)
    assert result.recall("pun").point() == result.recall().point() == 2 / 3
    assert [result.with_size(*size).point() for size in ((0, 0), (1, 1), (2, 5))] == [1, 1, 1]
    assert (Labels(part[3:]).f1().n, len(Labels(part[3:]).f1().given)) == (0, 1)


BY_STATE = {
    "hummus/figure5",  # where nothing was answered, the picture's row is over the pairs of the first task
    "yesbut/table2",  # a model that answered descriptions only has their row in place of the picture's
}
COUNTED = "prompts"  # a key that says how many of YesBut's prompts have answers
SAID = ("A", "B", "C", "Yes.", "No", "1, 2, 3", "2: a\n1: b", "Surprise, Pun", "Both", "A dog waits.", "0.5", "hm")


def emptied(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows, none of which was answered."""
    nothing = {"state": pd.Categorical(["missing"] * len(frame), STATES), "scored": False, "truncated": False}
    nothing |= {"parsed": pd.Categorical([None] * len(frame)), **dict.fromkeys(metrics_of(frame), np.nan)}
    return frame.assign(**nothing)


def speaks_of(table: Table, frame: pd.DataFrame, items: pd.DataFrame, files: dict[str, bytes]) -> list[list[object]]:
    """Of each row its keys, its columns, and numbers of the answers that its states are counted over."""
    answers = Answers([(frame, np.empty(len(frame), "V32"))])
    rows = rows_of(table, Across([Model("m", "measured", "openai", frame)], items, files))
    return [[row.keys | {COUNTED: 0}, row.columns, answers.given(row).tolist()] for row in rows]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", benchmarks.names())
def test_no_row_hangs_on_what_was_answered(name: str, rule: Rule) -> None:
    (loaded, items, golds, files), rng = read_benchmark(name), random.Random(0)
    tables = {one: table for one, table in loaded.TABLES.items() if table.of_models}
    scores = []
    for condition in sorted({condition for table in tables.values() for condition in table.conditions}):
        for item in items.values():
            requests = {task: response(f"{condition} {task}", rng.choice(SAID)) for task in loaded.TASKS}
            scores += score_responses(loaded, requests, item, golds[item.item_id], None, condition, [rule])
    of_items = frame_of_items(items, golds)
    frame, _ = frame_of_scores(scores, of_items, rule)
    for one, table in tables.items():
        result, nothing = (speaks_of(table, part, of_items, files) for part in (frame, emptied(frame)))
        assert (result or not table.rows) and (result == nothing) == (f"{name}/{one}" not in BY_STATE), one
