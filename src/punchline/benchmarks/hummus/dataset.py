"""What Hummus's tables count in its released files: the random baseline, the split, the statistics."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from punchline.benchmarks.hummus import DATASET, POSITIVE, TEST_SET
from punchline.benchmarks.hummus.split import held_out
from punchline.schema import digest_of
from punchline.stats.estimate import EXACT, Array, Estimate, MeanOf, Spread, Value, percent, total
from punchline.tables.declare import Row, Table

FIGURATIVE_METAPHORS = ("personification", "zoomorphism")  # figures that are metaphors themselves (section 5)


def _f1(columns: Array, right: int) -> Array:
    """F1 of sums (tp, fp, fn, tn) for the positive class (right = 0) or the negative one (3)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        twice = 2 * columns[..., right]
        return np.asarray(twice / (twice + columns[..., 1] + columns[..., 2]), dtype=np.float64)


CLASSES: dict[str, Value] = {"pos": lambda c: _f1(c, 0), "neg": lambda c: _f1(c, 3)}
F1 = CLASSES | {"avg": MeanOf(tuple(CLASSES.values()))}


def over_blocks(value: Value, spread: bool = False) -> Value:
    """Mean (or population SD) of `value` over blocks of four sums."""

    def each(columns: Array) -> Array:
        return value(columns.reshape(*columns.shape[:-1], columns.shape[-1] // 4, 4))

    if spread:
        return Spread(each, ddof=0)
    if isinstance(value, MeanOf):
        return MeanOf(tuple(over_blocks(part) for part in value.parts))
    return lambda columns: np.asarray(each(columns).mean(axis=-1), dtype=np.float64)


def loaded(files: Mapping[str, bytes]) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """({item id: record} of the dataset, {item id: label} of the test set); both were checked when items were made."""
    dataset = json.loads(files[DATASET])
    return dataset, {one["combi_id"]: one["is_met"] for one in json.loads(files[TEST_SET])}


def of_items(
    dataset: Mapping[str, Mapping[str, Any]],
    names: Sequence[str],
    sums: Sequence[Sequence[float]] | Array,
    value: Value,
    *,
    whole: bool = False,
) -> Estimate:
    """`whole`: a count of what there is, which has no interval."""
    return Estimate(
        sums=np.array(sums, dtype=np.float64).reshape(len(names), -1),
        value=value,
        clusters=[str(dataset[name]["contest_number"]) for name in names],
        digests=[digest_of(dataset[name]) for name in names],
        kind=EXACT if whole else None,
    )


DRAWS = 100  # section 6.1


def random_rows(files: Mapping[str, bytes]) -> list[Row]:
    """The random baseline of table 2 on test_set.json: in expectation, and as the mean over 100 seeded runs."""
    dataset, labels = loaded(files)
    names = [name for name, label in labels.items() if label != "Discard" and name in dataset]
    positive = np.array([labels[name] in POSITIVE for name in names])
    half = np.stack([positive, ~positive, positive, ~positive], axis=1) / 2  # tp, fp, fn, tn
    drawn = np.random.Generator(np.random.PCG64(0)).integers(2, size=(DRAWS, len(names))).astype(bool)
    cells = np.stack([drawn & positive, drawn & ~positive, ~drawn & positive, ~drawn & ~positive], axis=-1)
    runs = cells.transpose(1, 0, 2).reshape(len(names), 4 * DRAWS).astype(np.float64)
    rows = []
    for name, sums in (("random (closed form)", half), (f"random ({DRAWS} draws)", runs)):
        columns = {f"classification_{which}": of_items(dataset, names, sums, over_blocks(F1[which])) for which in F1}
        rows.append(Row(model=name, **columns))
    return rows


def split_rows(files: Mapping[str, bytes]) -> list[Row]:
    """Table 6 for the project's own split of the pairs that hummus_dataset.json labels."""
    dataset, _ = loaded(files)
    rows = []
    for subset, labels in (("all", (*POSITIVE, "No")), ("met", POSITIVE)):
        names = [name for name, record in dataset.items() if record["met_class"] in labels]
        held = [held_out(dataset[name]["contest_number"]) for name in names]
        columns = {
            part: of_items(dataset, names, [[float(one == test)] for one in held], total, whole=True)
            for part, test in (("train", False), ("test", True))
        }
        rows.append(Row(model="by contest, not the paper's", subset=subset, **columns).set(complete=False))
    return rows


def _pieces(text: str) -> list[str]:
    """What ';' (and '/' between blanks) separates, parentheses apart, in lower case."""
    return [piece.strip().lower() for piece in re.split(r";|\s/\s|[()]", text) if piece.strip()]


def statistics_rows(files: Mapping[str, bytes]) -> list[Row]:
    """What sections 4 and 5 count, as far as the release has it."""
    dataset, labels = loaded(files)
    everything = list(dataset)
    rows: list[Row] = []

    def add(name: str, statistic: str, estimate: Estimate) -> None:
        rows.append(Row(model=name, statistic=statistic, value=estimate))

    def count(name: str, statistic: str, names: Sequence[str], sums: Sequence[float]) -> None:
        add(name, statistic, of_items(dataset, names, [[float(one)] for one in sums], total, whole=True))

    def firsts(keys: Sequence[Sequence[Any]]) -> list[float]:
        """For each item, how many of its keys no item before it has."""
        seen: set[Any] = set()
        made = []
        for own in keys:
            made.append(float(len(set(own) - seen)))
            seen.update(own)
        return made

    tables = {
        DATASET: {name: record["met_class"] for name, record in dataset.items()},
        TEST_SET: {name: label for name, label in labels.items() if name in dataset},
    }
    for file, found in tables.items():
        count(file, "pairs", list(found), [1.0] * len(found))
        count(file, "contests", list(found), firsts([[dataset[name]["contest_number"]] for name in found]))
        for statistic, wanted in (
            ("metaphorical", POSITIVE),
            ("yes", ("Yes",)),
            ("widlii", ("WIDLII",)),
            ("no", ("No",)),
            ("discard", ("Discard",)),
        ):
            count(file, statistic, list(found), [label in wanted for label in found.values()])
    both = [name for name in everything if name in labels]
    count(TEST_SET, "labels_that_differ", both, [labels[name] != dataset[name]["met_class"] for name in both])
    samples = [name for name in everything if dataset[name]["met_class"] in POSITIVE]
    named = {name: _pieces(str(dataset[name].get("conceptual_metaphor", ""))) for name in samples}
    figures = {name: _pieces(str(dataset[name].get("figures", ""))) for name in samples}
    count(DATASET, "conceptual_metaphors", samples, firsts([named[name] for name in samples]))

    def share(statistic: str, hit: Callable[[str], bool]) -> None:
        sums = [[float(hit(name)), 1.0] for name in samples]
        add(DATASET, statistic, of_items(dataset, samples, sums, percent))

    share("animals_are_humans", lambda name: "animals are humans" in named[name])
    share("humans_are_animals", lambda name: "humans are animals" in named[name])
    share("personification", lambda name: "personification" in figures[name])
    share("other_devices", lambda name: any(one not in FIGURATIVE_METAPHORS for one in figures[name]))
    for device in ("pun", "exaggeration", "satire", "idiom"):
        share(device, lambda name, device=device: device in figures[name])  # type: ignore[misc]
    return rows


TABLE6 = Table(
    "table6",
    "Hummus: train and test parts for fine-tuning",
    columns=("train", "test"),
    keys=("subset",),
    counts=("train", "test"),
    data=split_rows,
    files=(DATASET, TEST_SET),
    notes=(
        "The paper tests on the pairs that both people annotated, which is not released: ours is another "
        "split, by contest.",
    ),
)
