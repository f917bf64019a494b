"""People's raw votes: agreement by item, and models on items where people agree and where they do not."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from punchline.artifacts.lineage import kind_of
from punchline.artifacts.run import Run
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import DEFAULT
from punchline.prepare import raw_files
from punchline.schema import RULES
from punchline.scores import scores_frame
from punchline.stats.estimate import FEWEST
from punchline.stats.functions import average
from punchline.stats.intervals import difference
from punchline.tabulate.ranks import items_of
from punchline.validity.answers import with_limits

VOTES = ("item_id", "task", "people", "agreement", "labels")
VALUES = [f"{name}{end}" for name in ("agreed", "disputed", "difference", "votes") for end in ("", "_lo", "_hi")]
COLUMNS = ("model", "kind", "task", "rule", "n_agreed", "n_disputed", *VALUES)


@functools.lru_cache(maxsize=1)  # of two files
def _ballots(run: Run, benchmark: str) -> tuple[pd.DataFrame, dict[tuple[str, str], list[str]]]:
    """(the items, labels of each person by item and task); none where none were released."""
    module, items = benchmarks.optional_module(benchmark, "people"), items_of(run, benchmark)
    ballots = module.ballots(raw_files(run, benchmark, module.FILES)) if module else ()
    return items, {(item, task): given for item, task, given in ballots if item in items.index}


def agreement(given: list[str]) -> float | None:
    """Share of pairs of people who gave the same labels; None of one person."""
    pairs = list(itertools.combinations(given, 2))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def votes(run: Run, benchmark: str) -> list[dict[str, Any]]:
    """Rows of votes.csv: an item and task, the least agreement first; labels: the share of people that gave each."""
    rows = []
    for (item, task), given in _ballots(run, benchmark)[1].items():
        counts = {" + ".join(msgspec.json.decode(labels)): n for labels, n in Counter(given).most_common()}
        shares = "; ".join(f"{labels} {n / len(given):.2f}" for labels, n in counts.items())
        rows.append(dict(zip(VOTES, (item, task, len(given), agreement(given), shares), strict=True)))
    return sorted(rows, key=lambda row: (row["agreement"] is None, row["agreement"] or 0))


def rows(run: Run, benchmark: str) -> list[dict[str, Any]]:
    """Rows of people.csv: people, then models under both rules, by task."""
    items, ballots = _ballots(run, benchmark)
    if not ballots:
        return []
    tasks = dict.fromkeys(task for _, task in ballots)
    table_rows = [_of_people(ballots, task) for task in tasks]
    for card, rule in itertools.product(run.cards.values(), RULES):
        frame, _ = scores_frame(run.paths.scores(benchmark, card.name), items, rule)
        scored = frame[frame["scored"] & (frame["condition"] == DEFAULT)]
        for task in tasks:
            row = {"model": card.name, "kind": kind_of(card), "task": task, "rule": rule}
            table_rows += [row | found for found in by_agreement(scored[scored["task"] == task], ballots)]
    return table_rows


def _of_people(ballots: dict[tuple[str, str], list[str]], task: str) -> dict[str, Any]:
    """The share of the others who gave a person's labels: the agreement of an item."""
    shares = pd.Series({item: agreement(given) for (item, of), given in ballots.items() if of == task}, dtype=float)
    shares = shares.dropna()
    return {"model": "annotators", "kind": "human", "task": task} | with_limits(votes=average(shares, shares.index))


def by_agreement(part: pd.DataFrame, ballots: dict[tuple[str, str], list[str]]) -> Iterator[dict[str, Any]]:
    """Accuracy on items where all people gave the same labels and on the others; the share of votes for an answer."""
    votes_of = pd.Series([*map(ballots.get, zip(part["item_id"], part["task"], strict=True))], part.index, dtype=object)
    part, given = part[votes_of.notna()], votes_of.dropna()
    if part.empty:
        return
    parsed = part["parsed"].astype(object).fillna("").str.lower()
    right = (parsed == part["gold"].astype(object).str.lower()).to_numpy()
    agree = np.array([len(set(own)) == 1 for own in given])
    clusters = part["cluster"].astype(object).to_numpy()
    shares = [own.count(labels) / len(own) for own, labels in zip(given, parsed, strict=True)]
    agreed, disputed = (average(right[where], clusters[where]) for where in (agree, ~agree))
    cells = {"agreed": agreed, "disputed": disputed, "votes": average(shares, clusters)}
    if min(agreed.n, disputed.n) >= FEWEST:
        cells["difference"] = difference(agreed, disputed)
    yield {"n_agreed": agreed.n, "n_disputed": disputed.n} | with_limits(**cells)
