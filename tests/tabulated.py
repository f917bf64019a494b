"""Tables made of scores that a test has at hand."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from tests.records import read_golds, read_items

from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import DEFAULT, Verdict
from punchline.schema import RULES, Gold, Item, Request, Response, Rule, Score
from punchline.scores import Digests, items_frame, scores_frame
from punchline.tables import tabulate as tables
from punchline.tables.declare import Across, Model, PublishedRow, Row, Table
from punchline.tables.run import Answers, Measured, measure, rows_of_model
from punchline.tables.run import rows_of as rows_of_table
from punchline.tables.tabulate import Tabulated

DATA = Path(__file__).parent.parent / "data"


class Scored(Model):
    """A model, and its scores under one rule or both."""

    scores: Sequence[Score]  # type: ignore[assignment]


def read_benchmark(
    name: str, folder: Path = DATA / "demo"
) -> tuple[Any, dict[str, Item], dict[str, Gold], dict[str, bytes]]:
    """A benchmark, its items, gold, and files: those of a folder, else the project's own."""
    loaded = benchmarks.load(name)
    of_tables = [file for table in loaded.TABLES.values() if table.of_models for file in table.files]
    wanted = {*loaded.ITEM_FILES, *loaded.GOLD_FILES, *of_tables}
    places = (DATA / "manifests" / name, folder / name)
    files = {file: (place / file).read_bytes() for place in places for file in wanted if (place / file).is_file()}
    return loaded, read_items(loaded, files), read_golds(loaded, files), files


def score_responses(
    benchmark: Any,
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    verdict: Callable[[Request], Verdict | None] | None = None,
    condition: str = DEFAULT,
    rules: Collection[Rule] = RULES,
    name: str = "m",
) -> list[Score]:
    """Scores of responses to an item in a condition. `verdict` answers judge requests; without it no judge is asked."""
    verdicts = None
    if verdict is not None:
        requests = benchmark.judge_requests(item, gold, responses, condition)
        verdicts = {request.request_id: one for request in requests if (one := verdict(request))}
    scored = (benchmark.score_item(responses, item, gold, name, rule, verdicts, condition) for rule in rules)
    return [score for of_rule in scored for score in of_rule]


def frame_of_items(items: Mapping[str, Item], golds: Mapping[str, Gold]) -> pd.DataFrame:
    """Items with the columns that their benchmark's tables need."""
    names = {item.benchmark for item in items.values()} & set(benchmarks.names())
    columns = benchmarks.load(names.pop()).ITEMS if len(names) == 1 else {}
    return items_frame(items, golds, columns)


def frame_of_scores(scores: Sequence[Score], of_items: pd.DataFrame, rule: Rule) -> tuple[pd.DataFrame, Digests]:
    """Scores with all metrics of their benchmark, as a file has them, and their digests."""
    names = {score.benchmark for score in scores} & set(benchmarks.names()) or benchmarks.names()
    metrics = [metric for name in names for metric in benchmarks.load(name).METRICS]
    metrics += [metric for score in scores for metric in score.metrics]
    return scores_frame(scores, of_items, rule, list(dict.fromkeys(metrics)))


def tabulate(
    table: Table,
    models: Sequence[Scored],
    golds: Mapping[str, Gold],
    items: Mapping[str, Item],
    files: Mapping[str, bytes],
    published: Sequence[PublishedRow] = (),
    *,
    scoring: Rule | None = None,
    complete: bool = True,
    **options: Any,
) -> Tabulated:
    """A table under both rules; the one that is shown is `scoring`, or its own."""
    page = scoring or table.published_rule
    of_items = frame_of_items(items, golds)
    measured: dict[Rule, list[Measured]] = {}
    notes: list[str] = []
    for rule in RULES:
        frames = [frame_of_scores(one.scores, of_items, rule) for one in models]
        answers = Answers(frames)  # numbers their rows on from one to the next
        several = [replace(one, scores=frame) for one, (frame, _) in zip(models, frames, strict=True)]
        across = Across(several, of_items, files, notes if rule == page else [])
        data = table.data(files) if table.data is not None and rule == page else []
        measured[rule] = measure(table, rule, data, kind=table.kind)
        measured[rule] += measure(table, rule, rows_of_table(table, across), answers)
    return tables.tabulate(table, measured, published, rule=page, notes=notes, complete=complete, **options)


def rows_of(table: Table, scores: Sequence[Score], golds: Mapping[str, Gold], items: Mapping[str, Item]) -> list[Row]:
    """A model's rows; the rule is that of its scores, where it has any."""
    of_items = frame_of_items(items, golds)
    frame, _ = frame_of_scores(scores, of_items, scores[0].rule if scores else "paper")
    return rows_of_model(table, frame, of_items)
