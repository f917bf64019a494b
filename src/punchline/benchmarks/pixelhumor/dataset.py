"""PixelHumor's tables of the data itself, from the released annotations alone.

Ryan, Tan, Choo, Lee: Humor in Pixels: Benchmarking Large Multimodal Models Understanding of Online Comics. 2025.
Tables 10, 11 and 12, section 3.3 and figure 2; besides, whether the raw votes give the released labels. Differences
from the print, and their reasons: docs/pixelhumor-dataset.md.

Pure functions: bytes of the released CSVs in (by file name), rows out. No model takes part, so the estimates carry no
scores.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, get_type_hints

import msgspec
import numpy as np

from punchline.benchmarks.pixelhumor import ANNOTATIONS, OBJECTIVE, SOUND_EFFECTS, STYLES, SUBJECTIVE
from punchline.benchmarks.pixelhumor.data import Literals, Objective, Some, Subjective, by_comic, source_of
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.stats.agreement import binary_statistics, consolidate, nominal_alpha, nominal_statistics
from punchline.stats.estimate import COEFFICIENT, EXACT, PERCENT, POSITIVE, Array, Estimate, Kind, Sums, mean, total
from punchline.tables.chart import Chart
from punchline.tables.declare import Row, Table

QUESTIONS = ("Q1", "Q2", "Q3", "Q4", "Q5")
ANNOTATORS = tuple(f"A{number}" for number in range(1, 9))  # undergraduates, section 3.2
EXPERTS = tuple(f"A{number}" for number in range(9, 13))  # asked where the others did not settle a comic
PAIRS = (("A1", "A2"), ("A3", "A4"), ("A5", "A6"), ("A7", "A8"))  # each pair labelled 700 comics
RELEASED = "released annotations"  # the name of every row

Cells = dict[str, tuple[str, ...]]  # one comic's labels by column
Answers = dict[str, frozenset[str]]  # one annotator's labels by question

_LABELS = get_type_hints(Subjective, include_extras=True) | {"Q3": Annotated[list[str], Some]}  # a vote: any text
_COLUMNS = [annotator + question for annotator in (*ANNOTATORS, *EXPERTS) for question in QUESTIONS]
Annotation = msgspec.defstruct(
    "Annotation", [(column, _LABELS[column[-2:]], ()) for column in _COLUMNS], bases=(Literals,), frozen=True
)


def votes(files: Files) -> dict[str, Cells]:
    """annotation.csv: labels by comic and column (A1Q1 … A12Q5), without empty cells.

    Every comic has two or three of the eight annotators, one comic in seven an expert too.
    """
    return {comic: _filled(row) for comic, row in by_comic(files, ANNOTATIONS, Annotation).items()}


def gold_labels(files: Files) -> dict[str, Cells]:
    """subjective_label.csv: labels by comic and question, at least one each."""
    return {comic: _filled(row) for comic, row in by_comic(files, SUBJECTIVE, Subjective).items()}


def _filled(row: msgspec.Struct) -> Cells:
    return {column: tuple(labels) for column, labels in msgspec.structs.asdict(row).items() if labels}


def consolidate_comic(cells: Cells, question: str) -> tuple[str, ...]:
    """The label of one comic for one question out of its votes; () without votes.

    Annotators write ['Text', 'Visual'] for both modalities: the two count one by one, and a tie of them is 'Both'.
    """
    ballots = ([cells.get(annotator + question, ()) for annotator in group] for group in (ANNOTATORS, EXPERTS))
    winners = consolidate(*ballots, several=question == "Q5")
    return ("Both",) if question == "Q4" and set(winners) == {"Text", "Visual"} else winners


def _mean(values: Iterable[float], comics: Sequence[str], kind: Kind | None = None) -> Estimate:
    return Estimate(_with_ones(values), mean, comics, kind=kind)


def _with_ones(values: Iterable[float]) -> Sums:
    column = np.fromiter(values, np.float64)
    return np.stack([column, np.ones_like(column)], axis=1)


def _count(values: Iterable[bool], comics: Sequence[str]) -> Estimate:
    return Estimate(np.fromiter(values, np.bool_)[:, None], total, comics)


def _extreme(value: int, n: int) -> Estimate:
    """The largest or smallest of n values: of these comics, so that it has no interval and no sum."""
    return Estimate(np.ones((n, 1)), lambda sums: np.full(sums.shape[:-1], float(value)), [RELEASED] * n, kind=EXACT)


def _sources(comics: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """(source, its comics), sources in alphabetic order."""
    for source, own in itertools.groupby(sorted(comics, key=source_of), source_of):
        yield source, list(own)


def _by_source(values: Mapping[str, int]) -> Iterator[Row]:
    """Largest, smallest and average value of a number per comic, for each source."""
    for source, comics in _sources(values):
        numbers = [values[comic] for comic in comics]
        extremes = {"max": _extreme(max(numbers), len(comics)), "min": _extreme(min(numbers), len(comics))}
        yield Row(model=RELEASED, source=source, **extremes, average=_mean(numbers, comics, POSITIVE))


def _panels(files: Files) -> Iterator[Row]:
    return _by_source({comic: row.number_of_panels for comic, row in by_comic(files, OBJECTIVE, Objective).items()})


def words(text: str) -> int:
    """Number of words of a comic's text without its panel labels: "N:" at the beginning of a line, nothing else."""
    return len(re.sub(r"^[ \t]*\d+:", "", text, flags=re.MULTILINE).split())


def _words(files: Files) -> Iterator[Row]:
    return _by_source({comic: words(row.text) for comic, row in by_comic(files, OBJECTIVE, Objective).items()})


def _voted(files: Files, gold: Mapping[str, Cells]) -> dict[str, Cells]:
    """The votes; raises PunchlineError for a comic with votes and without labels."""
    voted = votes(files)
    for comic in voted.keys() - gold:
        what, hint = f"no record of this comic in {SUBJECTIVE}", "Fetch both files of one release"
        raise PunchlineError(what, file=ANNOTATIONS, record=comic, field="comic_id", hint=hint)
    return voted


def _styles(files: Files) -> Iterator[Row]:
    """Comics by source and style, each comic under one style: of its labels the one with most votes of A1-A8.

    Ties go to the label listed first. The paper does not say how it chose; this rule comes nearest.
    """
    gold = gold_labels(files)
    voted = _voted(files, gold)
    style = {}
    for comic, cells in gold.items():
        counts = Counter(label for a in ANNOTATORS for label in voted.get(comic, {}).get(f"{a}Q5", ()))
        style[comic] = max(cells["Q5"], key=counts.__getitem__)  # the first of several
    for source, comics in _sources(style):
        columns = {label.lower(): _count((style[c] == label for c in comics), comics) for label in (*STYLES, "NA")}
        yield Row(model=RELEASED, source=source, **columns)


def _pairs(files: Files) -> dict[str, tuple[Answers, Answers]]:
    """Answers of each comic's main pair of annotators, where both answered all questions."""
    found: dict[str, tuple[Answers, Answers]] = {}
    for comic, cells in votes(files).items():
        for pair in PAIRS:
            if all(a + question in cells for a in pair for question in QUESTIONS):
                first, second = ({question: frozenset(cells[a + question]) for question in QUESTIONS} for a in pair)
                found.setdefault(comic, (first, second))
    return found


def _agreement(files: Files) -> Iterator[Row]:
    """Section 3.3: agreement and nominal Krippendorff alpha of the main pairs, by question and their means.

    Q1-Q4 agree when the answers are the same, Q5 when they share a style. Q2-Q5 leave out comics where either annotator
    said No to Q1. Alpha of Q5 pools one yes-or-no question for each of the eight styles.
    """
    pairs = _pairs(files)
    comics = list(pairs)
    yes = np.array([first["Q1"] == second["Q1"] == {"Yes"} for first, second in pairs.values()], np.bool_)
    values = {"agreement": (mean, None), "alpha": (nominal_alpha, COEFFICIENT)}
    blocks: dict[str, list[Sums]] = {name: [] for name in values}
    for question in QUESTIONS:
        asked = np.flatnonzero(yes | (question == "Q1"))
        names = [comics[place] for place in asked]
        answers = [(first[question], second[question]) for first, second in map(pairs.__getitem__, names)]
        if question == "Q5":
            agreed, statistics = [bool(a & b) for a, b in answers], binary_statistics(answers, STYLES)
        else:
            agreed, statistics = [a == b for a, b in answers], nominal_statistics(answers)
        sums: dict[str, Sums] = {"agreement": _with_ones(agreed), "alpha": statistics}
        columns = {name: Estimate(sums[name], value, names, kind=kind) for name, (value, kind) in values.items()}
        yield Row(model=RELEASED, question=question, **columns)
        for name, own in sums.items():
            block = np.zeros((len(comics), own.shape[1]), own.dtype)  # a comic that was not asked adds nothing
            block[asked] = own
            blocks[name].append(block)
    overall = {name: _mean_of(blocks[name], *of, comics) for name, of in values.items()}
    yield Row(model=RELEASED, question="overall", **overall)


def _mean_of(blocks: Sequence[Sums], value: Callable[[Array], Array], kind: Kind | None, comics: list[str]) -> Estimate:
    """The unweighted mean of one value over several blocks of statistics."""
    ends = np.cumsum([block.shape[1] for block in blocks])[:-1]

    def of_all(sums: Array) -> Array:
        parts = np.split(sums, ends, axis=-1)
        return np.asarray(np.mean([value(part) for part in parts], axis=0), dtype=np.float64)

    return Estimate(np.concatenate(blocks, axis=1), of_all, comics, kind=kind)


def _labels(files: Files) -> Iterator[Row]:
    """Comics by sound effects (Q2), modality (Q4) and style (Q5; a comic counts under each of its styles)."""
    gold = gold_labels(files)
    absent, contribute, do_not_contribute = SOUND_EFFECTS
    every, present = list(gold), [comic for comic in gold if absent not in gold[comic]["Q2"]]
    parts = [
        ("sound_effects", "absent", every, "Q2", {absent}),
        ("sound_effects", "present", every, "Q2", {contribute, do_not_contribute}),
        ("sound_effects", "contribute", every, "Q2", {contribute}),
        ("sound_effects", "do_not_contribute", every, "Q2", {do_not_contribute}),
        ("sound_effects", "contribute_of_present", present, "Q2", {contribute}),
        *(("modality", modality.lower(), every, "Q4", {modality}) for modality in ("Text", "Both", "Visual", "NA")),
        *(("styles", style.lower(), every, "Q5", {style}) for style in (*STYLES, "NA")),
    ]
    for part, label, comics, question, wanted in parts:
        has = [not wanted.isdisjoint(gold[comic][question]) for comic in comics]
        percent = _mean((100.0 * value for value in has), comics, PERCENT)
        yield Row(model=RELEASED, part=part, label=label, count=_count(has, comics), percent=percent)


def _consolidation(files: Files) -> Iterator[Row]:
    """Comics whose raw votes consolidate into the released label, labels and their order alike, by question."""
    gold = gold_labels(files)
    voted = _voted(files, gold)
    for question in QUESTIONS:
        made = {c: label for c, cells in voted.items() if (label := consolidate_comic(cells, question))}
        equal = [label == gold[comic][question] for comic, label in made.items()]
        yield Row(model=RELEASED, question=question, equal=_count(equal, list(made)), share=_mean(equal, list(made)))


def _table(name: str, title: str, *notes: str, **options: Any) -> Table:
    return Table(name, title, notes=notes, **options)


_EXTREMES = ("max", "min")
_STYLES = tuple(label.lower() for label in (*STYLES, "NA"))
_NO_INTERVAL = "max and min have no interval."
_BY_SOURCE: dict[str, Any] = {"keys": ("source",), "columns": (*_EXTREMES, "average"), "counts": _EXTREMES}
_FILES = (SUBJECTIVE, ANNOTATIONS)

TABLES = (
    _table(
        "table10",
        "Panels per comic by source",
        _NO_INTERVAL,
        "The released annotations were edited after the paper: peanuts and xkcd differ.",
        data=_panels,
        files=(OBJECTIVE,),
        **_BY_SOURCE,
    ),
    _table(
        "table11",
        "Words per comic by source",
        _NO_INTERVAL,
        "Panel labels at the beginning of a line are no words; words are separated by white space.",
        "The released annotations were edited after the paper: explosm and peanuts differ.",
        data=_words,
        files=(OBJECTIVE,),
        **_BY_SOURCE,
    ),
    _table(
        "table12",
        "Comics by source and humour style, one style per comic",
        "Each comic stands under the one of its styles with most votes, ties under the first listed.",
        "The paper does not state its rule: these figures are near the published ones, not the same.",
        data=_styles,
        files=_FILES,
        keys=("source",),
        columns=_STYLES,
        counts=_STYLES,
    ),
    _table(
        "agreement",
        "Agreement of the main pair of annotators (section 3.3)",
        "Comics whose main pair (A1 and A2, A3 and A4, A5 and A6, A7 and A8) did not both answer are not in n.",
        "Q2 to Q5 leave out comics where either annotator said No to Q1; overall is the mean of the five.",
        data=_agreement,
        files=(ANNOTATIONS,),
        keys=("question",),
        columns=("agreement", "alpha"),
    ),
    _table(
        "figure2",
        "Sound effects, modality and humour styles (figure 2)",
        "A comic counts under each of its styles, so their percentages add up to more than 100.",
        data=_labels,
        files=(SUBJECTIVE,),
        keys=("part", "label"),
        columns=("count", "percent"),
        counts=("count",),
        chart=Chart(("percent",), by="label", within=("part",)),
    ),
    _table(
        "consolidation",
        "Raw votes consolidated into the released labels",
        "Comics without votes are not in n.",
        data=_consolidation,
        files=_FILES,
        keys=("question",),
        columns=("equal", "share"),
        counts=("equal",),
    ),
)
