"""Hummus's tables of its released files: the split, statistics, and similarities of printed and annotated texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from punchline.benchmarks.hummus import DATASET, LABELS, POSITIVE, SCORERS, TEST_SET
from punchline.benchmarks.hummus.compared import DOMAINS, keys_of, marked_parts, of_pair
from punchline.benchmarks.hummus.scope import held_out
from punchline.benchmarks.score import measured
from punchline.core.benchmark import Files
from punchline.schema import Request, digest_of
from punchline.stats.estimate import EXACT, PERCENT, Array, Estimate, MeanOf, Value, over_blocks, ratio
from punchline.stats.functions import average, count
from punchline.tables.declare import PublishedRow, Row, Table, Verdicts, table

TEXTS = ("conceptual_metaphor", "figures")  # fields of several texts
COUNTED = {"metaphorical": POSITIVE} | {label.lower(): (label,) for label in LABELS}  # labels by statistic


def _f1(columns: Array, right: int) -> Array:
    """F1 of sums (tp, fp, fn, tn) for the positive class (right = 0) or the negative one (3)."""
    twice = 2 * columns[..., right]
    return ratio(twice, twice + columns[..., 1] + columns[..., 2])


CLASSES: dict[str, Value] = {"pos": lambda c: _f1(c, 0), "neg": lambda c: _f1(c, 3)}
F1 = CLASSES | {"avg": MeanOf(tuple(CLASSES.values()))}


def _pieces(record: Mapping[str, Any], field: str) -> list[str]:
    """Parts of a field, separated by ';' (or '/' between blanks, or parentheses), in lower case."""
    pieces = re.split(r";|\s/\s|[()]", str(record.get(field, "")))
    return [piece.strip().lower() for piece in pieces if piece.strip()]


def labelled_pairs(files: Files, file: str = DATASET) -> pd.DataFrame:
    """Pairs of hummus_dataset.json with a label in `file`, in its order; both were checked when items were made.

    Columns: label, contest, digest, metaphors and figures (lists).
    """
    rows = {
        item_id: (pair["met_class"], str(pair["contest_number"]), digest_of(pair), *map(partial(_pieces, pair), TEXTS))
        for item_id, pair in json.loads(files[DATASET]).items()
    }
    pairs = pd.DataFrame.from_dict(rows, orient="index", columns=["label", "contest", "digest", "metaphors", "figures"])
    if file == DATASET:
        return pairs
    labels = {row["combi_id"]: row["is_met"] for row in json.loads(files[TEST_SET])}
    return pairs.loc[list(labels)].assign(label=list(labels.values()))


def metaphorical_pairs(files: Files) -> pd.DataFrame:
    """Pairs that hummus_dataset.json labels Yes or WIDLII; columns as of `labelled_pairs`."""
    pairs = labelled_pairs(files)
    return pairs[pairs["label"].isin(POSITIVE)]


def _count(pairs: pd.DataFrame, flags: npt.ArrayLike) -> Estimate:
    return count(flags, pairs["contest"], EXACT, digests=list(pairs["digest"]))


def _percent(pairs: pd.DataFrame, flags: pd.Series[Any]) -> Estimate:
    return average(100 * flags, pairs["contest"], PERCENT, digests=list(pairs["digest"]))


def _has(texts: pd.Series[Any], text: str) -> pd.Series[Any]:
    """Flags of the lists that have a text."""
    return texts.map(lambda listed: text in listed)


DRAWS = 100  # section 6.1


def random_rows(files: Files) -> Iterator[Row]:
    """The random baseline of table 2 on test_set.json: in expectation, and as the mean over 100 seeded runs."""
    pairs = labelled_pairs(files, TEST_SET)
    pairs = pairs[pairs["label"] != "Discard"]
    positive = pairs["label"].isin(POSITIVE).to_numpy()
    half = np.stack([positive, ~positive, positive, ~positive], axis=1) / 2  # tp, fp, fn, tn
    drawn = np.random.Generator(np.random.PCG64(0)).integers(2, size=(DRAWS, len(pairs))).astype(bool)
    cells = np.stack([drawn & positive, drawn & ~positive, ~drawn & positive, ~drawn & ~positive], axis=-1)
    drawn_cells = cells.transpose(1, 0, 2).reshape(len(pairs), -1).astype(float)
    for name, sums in (("random (closed form)", half), (f"random ({DRAWS} draws)", drawn_cells)):
        values = {f"classification_{which}": over_blocks(f1, 4) for which, f1 in F1.items()}
        of = list(pairs["contest"]), list(pairs["digest"])
        yield Row(model=name, **{column: Estimate(sums, value, *of) for column, value in values.items()})


@table("table6", of="data", files=(DATASET, TEST_SET))
def train_and_test(files: Files) -> Iterator[Row]:
    """Table 6 for the project's own split of the pairs that hummus_dataset.json labels."""
    pairs = labelled_pairs(files)
    for subset, labels in (("all", (*POSITIVE, "No")), ("met", POSITIVE)):
        part = pairs[pairs["label"].isin(labels)]
        test = part["contest"].map(held_out).astype(bool)
        columns = {"train": _count(part, ~test), "test": _count(part, test)}
        yield Row(model="by contest, not the paper's", subset=subset, **columns).set(complete=False)


def statistics_rows(files: Files) -> Iterator[Row]:
    """Counts and shares of sections 4 and 5, as far as they can be computed from the released files."""
    pairs, tested, samples = labelled_pairs(files), labelled_pairs(files, TEST_SET), metaphorical_pairs(files)
    for file, part in ((DATASET, pairs), (TEST_SET, tested)):
        counted: dict[str, npt.ArrayLike] = {"pairs": np.ones(len(part)), "contests": ~part["contest"].duplicated()}
        counted |= {statistic: part["label"].isin(labels) for statistic, labels in COUNTED.items()}
        for statistic, flags in counted.items():
            yield Row(model=file, statistic=statistic, value=_count(part, flags))
    differ = tested["label"] != pairs["label"].reindex(tested.index)
    yield Row(model=TEST_SET, statistic="labels_that_differ", value=_count(tested, differ))
    terms = samples["metaphors"].explode().dropna()
    first = (~terms.duplicated()).groupby(level=0).sum().reindex(samples.index, fill_value=0)
    yield Row(model=DATASET, statistic="conceptual_metaphors", value=_count(samples, first))
    named, figures = samples["metaphors"], samples["figures"]
    hits = {name: _has(named, name.replace("_", " ")) for name in ("animals_are_humans", "humans_are_animals")}
    hits["personification"] = _has(figures, "personification")
    # Figures besides those that are metaphors themselves (section 5).
    hits["other_devices"] = figures.map(lambda devices: not {"personification", "zoomorphism"}.issuperset(devices))
    hits |= {device: _has(figures, device) for device in ("pun", "exaggeration", "satire", "idiom")}
    for statistic, hit in hits.items():
        yield Row(model=DATASET, statistic=statistic, value=_percent(samples, hit))


@table("figure3", of="data", files=(DATASET,))
def frequent_metaphors(files: Files) -> Iterator[Row]:
    """The 100 most frequent conceptual metaphors of the metaphorical pairs; ties in alphabetical order."""
    pairs = metaphorical_pairs(files)
    terms = pairs["metaphors"].explode().dropna().groupby(level=0).unique().explode()
    frequencies = sorted(terms.value_counts().items(), key=lambda entry: (-entry[1], entry[0]))
    for metaphor, _ in frequencies[:100]:
        has = _has(pairs["metaphors"], str(metaphor))
        yield Row(model=DATASET, metaphor=str(metaphor), pairs=_count(pairs, has), percent=_percent(pairs, has))


def _similarity(request: Request, verdicts: Verdicts) -> dict[str, float]:
    """{column of the scorer: similarity}; {} without a valid verdict."""
    return measured(verdicts.get(request.request_id), SCORERS, -1.001, 1.001)


def pair_rows(files: Files, printed: Sequence[PublishedRow], verdicts: Verdicts) -> Iterator[Row]:
    """The similarity of every printed pair. The packaged scorer has its own column and ignores case."""
    for pair in printed:
        columns: dict[str, Estimate] = {}
        scorer = ""
        for case, request in of_pair(pair).items():
            for column, value in _similarity(request, verdicts).items():
                scorer, response = verdicts[request.request_id]
                if not case or column == "cosine":
                    columns[case or column] = average([value], [pair["key"]], EXACT, digests=[response.digest])
        if columns:
            yield Row(model=scorer, **keys_of(pair), **columns).set(complete="cosine" in columns)


def domain_rows(files: Files, printed: Sequence[PublishedRow], verdicts: Verdicts) -> Iterator[Row]:
    """Share of the metaphorical pairs with a marked part in image or caption that is nearest to that domain.

    A pair leaves the share where a scorer did not compare one of its parts with either domain.
    """
    pairs, marked = metaphorical_pairs(files), marked_parts(files)
    similarities = pd.DataFrame([_similarity(request, verdicts) for request in marked["request"]])
    for statistic, (domain, other) in DOMAINS.items() if len(similarities.columns) else ():
        columns = {}
        for name in sorted(map(str, similarities)):
            values = marked.assign(value=similarities[name])[marked["statistic"] == statistic]
            best = values.groupby(["item_id", "part", "domain"])["value"].max().unstack("domain")
            best = best.reindex(columns=[domain, other])
            is_near = (best[domain] > best[other]).astype(float).where(best.notna().all(axis=1))
            near = is_near.groupby("item_id").agg(lambda parts: parts.max(skipna=False))
            share = near.reindex(pairs.index, fill_value=0.0).dropna()
            columns[name.replace("cosine", "value")] = _percent(pairs.loc[share.index], share)
        yield Row(model=DATASET, statistic=statistic, **columns).set(complete="value" in columns)


TABLES = (
    *(Table(name, compared=pair_rows) for name in ("table8", "table9")),
    frequent_metaphors,
    Table("statistics", data=statistics_rows, compared=domain_rows, files=(DATASET, TEST_SET)),
)
