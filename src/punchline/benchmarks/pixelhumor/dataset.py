"""PixelHumor's tables of the data itself, from the released annotations alone.

Ryan, Tan, Choo, Lee: Humor in Pixels: Benchmarking Large Multimodal Models Understanding of Online Comics. 2025.
Tables 10, 11 and 12, section 3.3 and figure 2; besides, whether the raw votes give the released labels. Differences
from the print, and their reasons: docs/pixelhumor.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, get_type_hints

import msgspec
import numpy as np
import pandas as pd

from punchline.benchmarks.pixelhumor import ANNOTATIONS, OBJECTIVE, SOUND_EFFECTS, STYLES, SUBJECTIVE
from punchline.benchmarks.pixelhumor.data import Literals, Objective, Some, Subjective, by_comic, source_of
from punchline.core.benchmark import Files
from punchline.errors import PunchlineError
from punchline.stats.agreement import binary_statistics, consolidate, nominal_alpha, nominal_statistics
from punchline.stats.estimate import (
    COEFFICIENT,
    EXACT,
    PERCENT,
    POSITIVE,
    Estimate,
    Kind,
    Sums,
    Value,
    mean,
    over_blocks,
)
from punchline.stats.functions import average, count
from punchline.tables.declare import Row, table

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


def _by_source(values: dict[str, int]) -> Iterator[Row]:
    """Largest, smallest and average value of a number per comic, for each source."""
    for source, of_source in pd.Series(values).groupby(source_of):
        comics, n = of_source.index, len(of_source)
        cells = {name: average([of_source.agg(name)] * n, comics, EXACT) for name in ("max", "min")}
        yield Row(model=RELEASED, source=str(source), **cells, average=average(of_source, comics, POSITIVE))


@table("table10", of="data", files=(OBJECTIVE,))
def panels(files: Files) -> Iterator[Row]:
    return _by_source({comic: row.number_of_panels for comic, row in by_comic(files, OBJECTIVE, Objective).items()})


def words(text: str) -> int:
    """Number of words of a comic's text without its panel labels: "N:" at the beginning of a line, nothing else."""
    return len(re.sub(r"^[ \t]*\d+:", "", text, flags=re.MULTILINE).split())


@table("table11", of="data", files=(OBJECTIVE,))
def words_by_source(files: Files) -> Iterator[Row]:
    return _by_source({comic: words(row.text) for comic, row in by_comic(files, OBJECTIVE, Objective).items()})


def _voted(files: Files, gold: dict[str, Cells]) -> dict[str, Cells]:
    """The votes; raises PunchlineError for a comic with votes and without labels."""
    voted = votes(files)
    for comic in voted.keys() - gold:
        what, hint = f"no record of this comic in {SUBJECTIVE}", "Fetch both files of one release"
        raise PunchlineError(what, file=ANNOTATIONS, record=comic, field="comic_id", hint=hint)
    return voted


@table("table12", of="data", files=(SUBJECTIVE, ANNOTATIONS))
def styles(files: Files) -> Iterator[Row]:
    """Comics by source and style, each comic under one style: of its labels the one with most votes of A1-A8.

    Ties go to the label listed first. The paper does not say how it chose; this rule comes nearest.
    """
    gold = gold_labels(files)
    voted = _voted(files, gold)
    style = {}
    for comic, cells in gold.items():
        counts = Counter(label for a in ANNOTATORS for label in voted.get(comic, {}).get(f"{a}Q5", ()))
        style[comic] = max(cells["Q5"], key=counts.__getitem__)  # the first of several
    for source, of_source in pd.Series(style).groupby(source_of):
        columns = {label.lower(): count(of_source == label, of_source.index) for label in (*STYLES, "NA")}
        yield Row(model=RELEASED, source=str(source), **columns)


def _pairs(files: Files) -> dict[str, tuple[Answers, Answers]]:
    """Answers of each comic's main pair of annotators, where both answered all questions."""
    pairs: dict[str, tuple[Answers, Answers]] = {}
    for comic, cells in votes(files).items():
        for pair in PAIRS:
            if all(a + question in cells for a in pair for question in QUESTIONS):
                first, second = ({question: frozenset(cells[a + question]) for question in QUESTIONS} for a in pair)
                pairs.setdefault(comic, (first, second))
    return pairs


@table("agreement", of="data", files=(ANNOTATIONS,))
def agreement(files: Files) -> Iterator[Row]:
    """Section 3.3: agreement and nominal Krippendorff alpha of the main pairs, by question and their means.

    Q1-Q4 agree when the answers are the same, Q5 when they share a style. Q2-Q5 leave out comics where either annotator
    said No to Q1. Alpha of Q5 pools one yes-or-no question for each of the eight styles.
    """
    pairs = _pairs(files)
    comics = np.array(list(pairs))
    yes = np.array([first["Q1"] == second["Q1"] == {"Yes"} for first, second in pairs.values()], np.bool_)
    values: dict[str, tuple[Value, Kind | None]] = {"agreement": (mean, None), "alpha": (nominal_alpha, COEFFICIENT)}
    blocks: dict[str, list[Sums]] = {name: [] for name in values}
    for question in QUESTIONS:
        answers = [(first[question], second[question]) for first, second in pairs.values()]
        if question == "Q5":
            agreed, statistics = [bool(a & b) for a, b in answers], binary_statistics(answers, STYLES)
        else:
            agreed, statistics = [a == b for a, b in answers], nominal_statistics(answers)
        sums: dict[str, Sums] = {"agreement": np.stack([agreed, np.ones(len(pairs))], axis=1), "alpha": statistics}
        counted = yes | (question == "Q1")
        of = {
            name: Estimate(sums[name][counted], of, comics[counted], kind=kind) for name, (of, kind) in values.items()
        }
        yield Row(model=RELEASED, question=question, **of)
        for name, sums_of in sums.items():
            blocks[name].append(sums_of * counted[:, None])  # a comic that was not asked adds nothing
    overall = {name: _mean_of(blocks[name], *of, comics) for name, of in values.items()}
    yield Row(model=RELEASED, question="overall", **overall)


def _mean_of(blocks: list[Sums], value: Value, kind: Kind | None, comics: np.ndarray) -> Estimate:
    """The unweighted mean of one value over several blocks of statistics."""
    width = max(block.shape[1] for block in blocks)  # counts of labels that nobody gave change no value
    sums = np.concatenate([np.pad(block, ((0, 0), (0, width - block.shape[1]))) for block in blocks], axis=1)
    return Estimate(sums, over_blocks(value, width), comics, kind=kind)


@table("figure2", of="data", files=(SUBJECTIVE,))
def labels(files: Files) -> Iterator[Row]:
    """Comics by sound effects (Q2), modality (Q4) and style (Q5; a comic counts under each of its styles)."""
    gold = pd.DataFrame.from_dict(gold_labels(files), orient="index")
    absent, contribute, do_not_contribute = SOUND_EFFECTS
    present = gold[[absent not in found for found in gold.Q2]]
    parts = [
        ("sound_effects", "absent", gold.Q2, {absent}),
        ("sound_effects", "present", gold.Q2, {contribute, do_not_contribute}),
        ("sound_effects", "contribute", gold.Q2, {contribute}),
        ("sound_effects", "do_not_contribute", gold.Q2, {do_not_contribute}),
        ("sound_effects", "contribute_of_present", present.Q2, {contribute}),
        *(("modality", modality.lower(), gold.Q4, {modality}) for modality in ("Text", "Both", "Visual", "NA")),
        *(("styles", style.lower(), gold.Q5, {style}) for style in (*STYLES, "NA")),
    ]
    for part, label, gold_of, wanted in parts:
        has = np.array([not wanted.isdisjoint(own) for own in gold_of], np.bool_)
        percent = average(100 * has, gold_of.index, PERCENT)
        yield Row(model=RELEASED, part=part, label=label, count=count(has, gold_of.index), percent=percent)


@table("consolidation", of="data", files=(SUBJECTIVE, ANNOTATIONS))
def consolidation(files: Files) -> Iterator[Row]:
    """Comics whose raw votes consolidate into the released label, labels and their order alike, by question."""
    gold = gold_labels(files)
    voted = _voted(files, gold)
    for question in QUESTIONS:
        labels = {c: label for c, cells in voted.items() if (label := consolidate_comic(cells, question))}
        equal = [label == gold[comic][question] for comic, label in labels.items()]
        yield Row(model=RELEASED, question=question, equal=count(equal, [*labels]), share=average(equal, [*labels]))


@table("disagreements", of="data", files=(ANNOTATIONS,))
def disagreements(files: Files) -> Iterator[Row]:
    """Section 3.2: comics where the main pair's answers differ, by question; comics with a third vote."""
    pairs, comics = _pairs(files), votes(files)
    differs = pd.DataFrame(
        {question: {comic: a[question] != b[question] for comic, (a, b) in pairs.items()} for question in QUESTIONS}
    )
    annotators = pd.Series({comic: {column[:-2] for column in cells} for comic, cells in comics.items()})
    cases = [("pair_differs", question, differs[question]) for question in QUESTIONS]
    cases += [("pair_differs", "any", differs.any(axis=1))]
    cases += [("third_annotator", "any", annotators.map(lambda own: len(own.intersection(ANNOTATORS)) > 2))]
    cases += [("expert", "any", annotators.map(lambda own: not own.isdisjoint(EXPERTS)))]
    for case, question, flags in cases:
        percent = average(100 * flags, flags.index, PERCENT)
        yield Row(model=RELEASED, case=case, question=question, comics=count(flags, flags.index), percent=percent)


TABLES = (panels, words_by_source, styles, agreement, disagreements, labels, consolidation)
