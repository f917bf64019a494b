"""HumorBench's hard subset: the elements that models pass least often (tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from punchline.benchmarks.humorbench import ANNOTATIONS, CATEGORIES
from punchline.benchmarks.humorbench.data import category_flags, row_in, rows_of
from punchline.benchmarks.humorbench.estimates import across_models, verdicts
from punchline.files import parse_csv
from punchline.stats.estimate import DIFFERENCE, Difference, Estimate, mean
from punchline.stats.functions import average
from punchline.tables.declare import Across, Row

RELEASED = "cc99276/analysis/hard_subsets/20250503_112359_hard_elements_100.csv"  # of the released runs' manifest
LEAST_VERDICTS = 3  # that an element needs to be ranked
UNITS = {"elements": ["cluster", "element"], "captions": ["cluster"]}  # columns of items by definition
EARLIER = "41cacd4"  # the commit whose category files have the shares of the paper's table 3


def _verdicts_by_element(across: Across) -> pd.DataFrame:
    """Columns `passed` and `n` of verdicts of all models, by item_id in released order."""
    by_element = verdicts(across.models).groupby("item_id", observed=True)
    counts = by_element.agg(passed=("passed", "sum"), n=("passed", "count"))
    return counts.reindex(across.items.index, fill_value=0)


def hardest(across: Across, definition: str) -> pd.Index:
    """Items of the hard subset over the models at hand; none where too few verdicts are there.

    `elements`: the 100 (caption, element) pairs with the lowest pass share among those with at least 3 verdicts, in
    stable order (the public leaderboard's). `captions`: all elements of the 100 captions with the lowest share of
    passed verdicts, each with at least 3 (what the paper's table 4 fits).
    """
    unit = across.items.groupby(UNITS[definition], sort=False, observed=True).ngroup()  # numbered in released order
    by_unit = _verdicts_by_element(across).groupby(unit).sum()
    ranked = by_unit[by_unit.n >= LEAST_VERDICTS]
    share = ranked.passed / ranked.n
    return across.items.index[unit.isin(share.sort_values(kind="stable").index[:100])]


def hard_subsets(across: Across) -> dict[str, pd.Index]:
    """Items of the hard subset by definition; notes why there is none."""
    subsets = {definition: hard for definition in UNITS if len(hard := hardest(across, definition))}
    if len(subsets) < len(UNITS):
        across.notes.append(f"No hard subset: it needs elements with at least {LEAST_VERDICTS} verdicts of all models.")
    if RELEASED in across.files:
        rows = rows_of(across.files[ANNOTATIONS])
        cells = parse_csv(across.files[RELEASED], ("caption", "element"), file=RELEASED)
        subsets["released"] = across.items.index[across.items.index.isin([row_in(rows, one) for _, one in cells])]
    return subsets


def all_ranked(across: Across) -> bool:
    """True if the hard subset is chosen from every element; notes where it is not."""
    every = bool((_verdicts_by_element(across).n >= LEAST_VERDICTS).all())
    if not every:
        few = f"Not every element has {LEAST_VERDICTS} verdicts"
        across.notes.append(f"{few}: the hard subset is chosen from the rest.")
    return every


def _share(items: pd.DataFrame, flags: pd.Series) -> Estimate:
    return average(flags.loc[items.index], items["cluster"].cat.codes, digests=tuple(items["gold_digest"]))


@across_models("table3", runs=tuple(f"{EARLIER}/{file}" for file, _ in CATEGORIES.values()))
def categories(across: Across) -> Iterator[Row]:
    """Table 3: shares of categories in the whole set and in the hard subset, and their difference.

    By the labels of gold, and by those that the paper counts.
    """
    items, hard = across.items, hard_subsets(across).get("elements")
    complete = hard is None or all_ranked(across)
    for category, (file, column) in CATEGORIES.items():
        by_source = {"current": items[category]}
        if (earlier := f"{EARLIER}/{file}") in across.files:
            has = category_flags(across.files[earlier], earlier, column)
            by_source[EARLIER] = pd.Series([has[int(name)][1] for name in items.index], items.index)
        for labels, flags in by_source.items():
            every = _share(items, flags)
            shares = {"entire_set": every}
            if hard is not None:
                both = np.concatenate([every.sums * items.index.isin(hard)[:, None], every.sums], axis=1)
                shares["hard_subset"] = _share(items.loc[hard], flags)
                shares["difference"] = replace(every, sums=both, value=Difference(mean, mean, 2), kind=DIFFERENCE)
            yield Row(model="elements", category=category, labels=labels, **shares).set(complete=complete)
