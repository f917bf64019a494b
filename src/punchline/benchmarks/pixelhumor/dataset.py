"""PixelHumor's tables of the data itself, from the released annotations alone.

Ryan, Tan, Choo, Lee: Humor in Pixels: Benchmarking Large Multimodal Models Understanding of Online Comics. 2025.
Tables 10, 11 and 12, section 3.3 and figure 2; besides, whether the raw votes give the released labels. What differs
from the print, and why: docs/pixelhumor-dataset.md.

Pure functions: bytes of the released CSVs in (by file name), rows out. No model takes part, so the estimates carry no
grades.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from punchline.benchmarks.pixelhumor import ANNOTATIONS, OBJECTIVE, STYLES, SUBJECTIVE
from punchline.benchmarks.pixelhumor.data import VOCABULARY, source_of
from punchline.errors import PunchlineError
from punchline.files import csv_records
from punchline.stats.agreement import binary_statistics, consolidate, nominal_alpha, nominal_statistics
from punchline.stats.estimate import (
    COEFFICIENT,
    EXACT,
    PERCENT,
    POSITIVE,
    Array,
    Estimate,
    Kind,
    Sums,
    Value,
    mean,
    total,
)
from punchline.tables.chart import Chart
from punchline.tables.declare import Row, Table

QUESTIONS = ("Q1", "Q2", "Q3", "Q4", "Q5")
ANNOTATORS = tuple(f"A{number}" for number in range(1, 9))  # undergraduates, section 3.2
EXPERTS = tuple(f"A{number}" for number in range(9, 13))  # asked where the others did not settle a comic
PAIRS = (("A1", "A2"), ("A3", "A4"), ("A5", "A6"), ("A7", "A8"))  # each pair labelled 700 comics
# Q3 is a panel number, written by hand: any text
LABELS = {question: labels for question, labels in VOCABULARY.items() if labels is not None}

COUNTS = {"max", "min", "count", "equal", *(label.lower() for label in LABELS["Q5"])}  # columns that are whole numbers
RELEASED = "released annotations"  # the name of every row

LIST_OF_TEXTS = "a list of texts such as ['Yes']"

Cells = dict[str, tuple[str, ...]]  # one comic's labels by column


def parse_labels(cell: str, *, file: str, line: int, record: str, field: str) -> tuple[str, ...]:
    """Labels of one cell, a Python list literal such as ['Text', 'Visual']; () of an empty cell.

    Raises PunchlineError for anything else, and for a label that the field's question does not have.
    """
    if not cell.strip():
        return ()
    labels = _texts(cell.strip())
    if labels is None:
        raise PunchlineError(f"{cell!r} is not {LIST_OF_TEXTS}", file=file, line=line, record=record, field=field)
    valid = LABELS.get(field[-2:])
    for label in labels:
        if valid is not None and label not in valid:
            raise PunchlineError(
                f"unknown label {label!r}; expected one of: {' | '.join(valid)}",
                file=file,
                line=line,
                record=record,
                field=field,
            )
    return labels


@lru_cache(maxsize=4096)  # the 170,000 cells of annotation.csv hold a few hundred different texts
def _texts(literal: str) -> tuple[str, ...] | None:
    """The texts of a Python list literal; None where it is anything else or empty."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape is a label like any other
            labels = ast.literal_eval(literal)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
        return None
    return tuple(labels)


def _records(
    files: Mapping[str, bytes], file: str, columns: Sequence[str]
) -> Iterator[tuple[int, str, dict[str, str]]]:
    """(line, comic_id, cells) of every record. Raises PunchlineError: absent file, bad or repeated id."""
    if file not in files:
        raise PunchlineError("file not given", file=file, hint="Fetch PixelHumor's annotations first")
    seen: dict[str, int] = {}
    for line, cells in csv_records(files[file], ("comic_id", *columns), file=file):
        comic = cells["comic_id"]
        if comic in seen:
            raise PunchlineError(
                f"second record of this comic; the first is in line {seen[comic]}", file=file, line=line, record=comic
            )
        if not re.fullmatch(r".+_[^_]+", comic):
            raise PunchlineError(
                f"{comic!r} is not <source>_<number>", file=file, line=line, record=comic, field="comic_id"
            )
        seen[comic] = line
        yield line, comic, cells


def _labels(files: Mapping[str, bytes], file: str, columns: Sequence[str], *, all_of: bool) -> dict[str, Cells]:
    """Labels by comic and column, without empty cells. With `all_of` one is an error."""
    labels: dict[str, Cells] = {}
    for line, comic, cells in _records(files, file, columns):
        labels[comic] = {}
        for column in columns:
            found = parse_labels(cells[column], file=file, line=line, record=comic, field=column)
            if all_of and not found:
                raise PunchlineError(
                    f"empty; expected {LIST_OF_TEXTS}", file=file, line=line, record=comic, field=column
                )
            if found:
                labels[comic][column] = found
    return labels


def votes(files: Mapping[str, bytes]) -> dict[str, Cells]:
    """annotation.csv: labels by comic and column (A1Q1 … A12Q5), of those who answered.

    Every comic has two or three of the eight annotators, one comic in seven an expert too.
    """
    columns = [annotator + question for annotator in (*ANNOTATORS, *EXPERTS) for question in QUESTIONS]
    return _labels(files, ANNOTATIONS, columns, all_of=False)


def gold_labels(files: Mapping[str, bytes]) -> dict[str, Cells]:
    """subjective_label.csv: labels by comic and question, at least one each."""
    return _labels(files, SUBJECTIVE, QUESTIONS, all_of=True)


def consolidate_comic(cells: Cells, question: str) -> tuple[str, ...]:
    """The label of one comic for one question out of its votes; () without votes.

    Annotators write ['Text', 'Visual'] for both modalities: the two count one by one, and a tie of them is 'Both'.
    """
    kept = consolidate(
        *([cells.get(annotator + question, ()) for annotator in asked] for asked in (ANNOTATORS, EXPERTS)),
        several=question == "Q5",
    )
    return ("Both",) if question == "Q4" and set(kept) == {"Text", "Visual"} else kept


def _estimate(sums: Sums, value: Value, comics: Sequence[str], kind: Kind | None = None) -> Estimate:
    return Estimate(sums, value, tuple(comics), kind=kind)


def _mean(values: Iterable[float], comics: Sequence[str], kind: Kind | None = None) -> Estimate:
    found = np.fromiter(values, np.float64)
    return _estimate(np.stack([found, np.ones_like(found)], axis=1), mean, comics, kind)


def _count(values: Iterable[bool], comics: Sequence[str]) -> Estimate:
    return _estimate(np.fromiter(values, np.bool_)[:, None], total, comics)


def _extreme(values: Sequence[int], pick: Callable[[Sequence[int]], int]) -> Estimate:
    """The largest or smallest value: of these comics, so that it has no interval and no sum."""
    found = float(pick(values))
    comics = np.ones((len(values), 1))
    return _estimate(comics, lambda sums: np.full(sums.shape[:-1], found), [RELEASED] * len(values), EXACT)


def _by_source(values: Mapping[str, int]) -> list[Row]:
    """Largest, smallest and average value of a number per comic, for each source in alphabetic order."""
    rows = []
    for source in sorted({source_of(comic) for comic in values}):
        comics = [comic for comic in values if source_of(comic) == source]
        numbers = [values[comic] for comic in comics]
        columns = {
            "max": _extreme(numbers, max),
            "min": _extreme(numbers, min),
            "average": _mean(numbers, comics, POSITIVE),
        }
        rows.append(Row(model=RELEASED, source=source, **columns))
    return rows


def table10(files: Mapping[str, bytes]) -> list[Row]:
    """Panels per comic by source."""
    panels = {}
    for line, comic, cells in _records(files, OBJECTIVE, ("number_of_panels",)):
        cell = cells["number_of_panels"].strip()
        if not (cell.isascii() and cell.isdigit()):
            raise PunchlineError(
                f"{cell!r} is not a whole number", file=OBJECTIVE, line=line, record=comic, field="number_of_panels"
            )
        panels[comic] = int(cell)
    return _by_source(panels)


def words(text: str) -> int:
    """Number of words of a comic's text without its panel labels: "N:" at the beginning of a line, nothing else."""
    return len(re.sub(r"^[ \t]*\d+:", "", text, flags=re.MULTILINE).split())


def table11(files: Mapping[str, bytes]) -> list[Row]:
    """Words per comic by source."""
    return _by_source({comic: words(cells["text"]) for _, comic, cells in _records(files, OBJECTIVE, ("text",))})


def _voted(files: Mapping[str, bytes], gold: Mapping[str, Cells]) -> dict[str, Cells]:
    """The votes; raises PunchlineError for a comic with votes and without labels."""
    voted = votes(files)
    for comic in voted:
        if comic not in gold:
            raise PunchlineError(
                f"no record of this comic in {SUBJECTIVE}",
                file=ANNOTATIONS,
                record=comic,
                field="comic_id",
                hint="Fetch both files of one release",
            )
    return voted


def table12(files: Mapping[str, bytes]) -> list[Row]:
    """Comics by source and style, each comic under one style: of its labels the one with most votes of A1-A8.

    Ties go to the label listed first. The paper does not say how it chose; this rule comes nearest.
    """
    gold = gold_labels(files)
    voted = _voted(files, gold)
    style = {}
    for comic, cells in gold.items():
        counts = Counter(label for a in ANNOTATORS for label in voted.get(comic, {}).get(f"{a}Q5", ()))
        style[comic] = max(cells["Q5"], key=counts.__getitem__)  # the first of several
    rows = []
    for source in sorted({source_of(comic) for comic in style}):
        comics = [comic for comic in style if source_of(comic) == source]
        columns = {label.lower(): _count((style[c] == label for c in comics), comics) for label in LABELS["Q5"]}
        rows.append(Row(model=RELEASED, source=source, **columns))
    return rows


@lru_cache(maxsize=4096)  # few are different
def _set(labels: tuple[str, ...]) -> frozenset[str]:
    return frozenset(labels)


def _pair(cells: Cells) -> tuple[str, str] | None:
    """The comic's main pair of annotators; None where they did not both answer all questions."""
    for pair in PAIRS:
        if all(a + q in cells for a in pair for q in QUESTIONS):
            return pair
    return None


def agreement(files: Mapping[str, bytes]) -> list[Row]:
    """Section 3.3: agreement and nominal Krippendorff alpha of the main pairs, by question and their means.

    Q1-Q4 agree when the answers are the same, Q5 when they share a style. Q2-Q5 leave out comics where either annotator
    said No to Q1. Alpha of Q5 pools one yes-or-no question for each of the eight styles.
    """
    pairs = {comic: (cells, pair) for comic, cells in votes(files).items() if (pair := _pair(cells)) is not None}
    everyone = list(pairs)
    rows: list[Row] = []
    agreed_all: list[Sums] = []
    alpha_all: list[Sums] = []
    for question in QUESTIONS:
        asked = [
            comic
            for comic, (cells, pair) in pairs.items()
            if question == "Q1" or all(cells[f"{a}Q1"] == ("Yes",) for a in pair)
        ]
        answers = [
            (_set(cells[pair[0] + question]), _set(cells[pair[1] + question]))
            for cells, pair in (pairs[comic] for comic in asked)
        ]
        if question == "Q5":
            agreed = _mean((bool(first & second) for first, second in answers), asked)
            statistics = binary_statistics(answers, STYLES)
        else:
            agreed = _mean((first == second for first, second in answers), asked)
            labelled: list[tuple[Hashable, Hashable]] = list(answers)
            statistics = nominal_statistics(labelled)
        columns = {"agreement": agreed, "alpha": _estimate(statistics, nominal_alpha, asked, COEFFICIENT)}
        rows.append(Row(model=RELEASED, question=question, **columns))
        agreed_all.append(_spread(agreed.sums, asked, everyone))
        alpha_all.append(_spread(statistics, asked, everyone))
    columns = {
        "agreement": _mean_of(agreed_all, mean, everyone),
        "alpha": _mean_of(alpha_all, nominal_alpha, everyone, COEFFICIENT),
    }
    rows.append(Row(model=RELEASED, question="overall", **columns))
    return rows


def _spread(sums: Sums, some: Sequence[str], everyone: Sequence[str]) -> Sums:
    """Rows of some comics among those of all; the others add nothing."""
    index = {comic: row for row, comic in enumerate(everyone)}
    spread = np.zeros((len(everyone), sums.shape[1]), sums.dtype)
    spread[[index[comic] for comic in some]] = sums
    return spread


def _mean_of(blocks: Sequence[Sums], value: Value, comics: Sequence[str], kind: Kind | None = None) -> Estimate:
    """The unweighted mean of one value over several blocks of statistics."""
    ends = np.cumsum([block.shape[1] for block in blocks])[:-1]

    def of_all(sums: Array) -> Array:
        parts = np.split(sums, ends, axis=-1)
        return np.asarray(np.mean([value(part) for part in parts], axis=0), dtype=np.float64)

    return _estimate(np.concatenate(blocks, axis=1), of_all, comics, kind)


def figure2(files: Mapping[str, bytes]) -> list[Row]:
    """Figure 2: comics by sound effects (Q2), modality (Q4) and style (Q5; a comic counts under each of its styles)."""
    gold = gold_labels(files)
    comics = list(gold)
    absent, contribute, do_not_contribute = LABELS["Q2"]
    present = [comic for comic in comics if absent not in gold[comic]["Q2"]]
    rows = []

    def add(part: str, label: str, among: Sequence[str], question: str, *wanted: str) -> None:
        held = [not set(wanted).isdisjoint(gold[comic][question]) for comic in among]
        columns = {"count": _count(held, among), "percent": _mean((100.0 * value for value in held), among, PERCENT)}
        rows.append(Row(model=RELEASED, part=part, label=label, **columns))

    add("sound_effects", "absent", comics, "Q2", absent)
    add("sound_effects", "present", comics, "Q2", contribute, do_not_contribute)
    add("sound_effects", "contribute", comics, "Q2", contribute)
    add("sound_effects", "do_not_contribute", comics, "Q2", do_not_contribute)
    add("sound_effects", "contribute_of_present", present, "Q2", contribute)
    for modality in ("Text", "Both", "Visual", "NA"):
        add("modality", modality.lower(), comics, "Q4", modality)
    for style in LABELS["Q5"]:
        add("styles", style.lower(), comics, "Q5", style)
    return rows


def consolidation(files: Mapping[str, bytes]) -> list[Row]:
    """Comics whose raw votes consolidate into the released label, labels and their order alike, by question."""
    gold = gold_labels(files)
    voted = _voted(files, gold)
    rows = []
    for question in QUESTIONS:
        made = {c: label for c, cells in voted.items() if (label := consolidate_comic(cells, question))}
        comics = list(made)
        equal = [made[comic] == gold[comic][question] for comic in comics]
        columns = {"equal": _count(equal, comics), "share": _mean(equal, comics)}
        rows.append(Row(model=RELEASED, question=question, **columns))
    return rows


def _table(
    name: str,
    title: str,
    keys: tuple[str, ...],
    columns: tuple[str, ...],
    data: Callable[[Mapping[str, bytes]], list[Row]],
    files: tuple[str, ...],
    *notes: str,
    chart: Chart | None = None,
) -> Table:
    counts = tuple(column for column in columns if column in COUNTS)
    return Table(
        name, title, keys=keys, columns=columns, counts=counts, data=data, files=files, notes=notes, chart=chart
    )


NO_INTERVAL = "max and min have no interval."

TABLES = (
    _table(
        "table10",
        "Panels per comic by source",
        ("source",),
        ("max", "min", "average"),
        table10,
        (OBJECTIVE,),
        NO_INTERVAL,
        "The released annotations were edited after the paper: peanuts and xkcd differ.",
    ),
    _table(
        "table11",
        "Words per comic by source",
        ("source",),
        ("max", "min", "average"),
        table11,
        (OBJECTIVE,),
        NO_INTERVAL,
        "Panel labels at the beginning of a line are no words; words are separated by white space.",
        "The released annotations were edited after the paper: explosm and peanuts differ.",
    ),
    _table(
        "table12",
        "Comics by source and humour style, one style per comic",
        ("source",),
        tuple(label.lower() for label in LABELS["Q5"]),
        table12,
        (SUBJECTIVE, ANNOTATIONS),
        "Each comic stands under the one of its styles with most votes, ties under the first listed.",
        "The paper does not state its rule: these figures are near the published ones, not the same.",
    ),
    _table(
        "agreement",
        "Agreement of the main pair of annotators (section 3.3)",
        ("question",),
        ("agreement", "alpha"),
        agreement,
        (ANNOTATIONS,),
        "Comics whose main pair (A1 and A2, A3 and A4, A5 and A6, A7 and A8) did not both answer are not in n.",
        "Q2 to Q5 leave out comics where either annotator said No to Q1; overall is the mean of the five.",
    ),
    _table(
        "figure2",
        "Sound effects, modality and humour styles (figure 2)",
        ("part", "label"),
        ("count", "percent"),
        figure2,
        (SUBJECTIVE,),
        "A comic counts under each of its styles, so their percentages add up to more than 100.",
        chart=Chart(("percent",), by="label", within=("part",)),
    ),
    _table(
        "consolidation",
        "Raw votes consolidated into the released labels",
        ("question",),
        ("equal", "share"),
        consolidation,
        (SUBJECTIVE, ANNOTATIONS),
        "Comics without votes are not in n.",
    ),
)
