"""PixelHumor's tables of the data itself, from the released annotations alone.

Ryan, Tan, Choo, Lee: Humor in Pixels: Benchmarking Large Multimodal Models Understanding of Online Comics. 2025.
Tables 10, 11 and 12, section 3.3 and figure 2; besides, whether the raw votes give the released labels. Differences
from the print, and their reasons: docs/pixelhumor.md.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, get_type_hints

import msgspec
import numpy as np
import pandas as pd

from punchline.benchmarks.annotations import Literals
from punchline.benchmarks.comic_panels import Comic, Some, by_comic
from punchline.benchmarks.pixelhumor import ANNOTATIONS, OBJECTIVE, SOUND_EFFECTS, STYLES, SUBJECTIVE
from punchline.benchmarks.pixelhumor.data import Objective, Subjective, source_of
from punchline.core.benchmark import Files
from punchline.stats.agreement import consolidate
from punchline.stats.estimate import (
    COEFFICIENT,
    EXACT,
    PERCENT,
    POSITIVE,
    SHARE,
    Estimate,
    Kind,
    Sums,
    Value,
    mean,
    over_blocks,
)
from punchline.stats.functions import average, count
from punchline.stats.ratings import nominal_alpha, nominal_counts
from punchline.tables.declare import Row, table

QUESTIONS = ("Q1", "Q2", "Q3", "Q4", "Q5")
ANNOTATORS = tuple(f"A{number}" for number in range(1, 9))  # undergraduates, section 3.2
EXPERTS = tuple(f"A{number}" for number in range(9, 13))  # asked where the others did not settle a comic
PAIRS = (("A1", "A2"), ("A3", "A4"), ("A5", "A6"), ("A7", "A8"))  # each pair labelled 700 comics
RELEASED = "released annotations"  # the name of every row

Labels = tuple[str, ...]
Votes = dict[str, Labels]  # labels of one question about one comic, by annotator

_LABELS = get_type_hints(Subjective, include_extras=True) | {"Q3": Annotated[list[str], Some]}  # a vote: any text
Annotation = msgspec.defstruct(
    "Annotation",
    [(who + question, _LABELS[question], ()) for who in (*ANNOTATORS, *EXPERTS) for question in QUESTIONS],
    bases=(Comic, Literals),
    frozen=True,
)


def votes(files: Files) -> dict[tuple[str, str], Votes]:
    """annotation.csv: votes by comic and question, without empty cells.

    Every comic has two or three of the eight annotators, one comic in seven an expert too.
    """
    return {
        (comic, question): {
            who: tuple(labels) for who in (*ANNOTATORS, *EXPERTS) if (labels := getattr(row, who + question))
        }
        for comic, row in by_comic(files, ANNOTATIONS, Annotation).items()
        for question in QUESTIONS
    }


def consolidate_votes(cast: Votes, question: str) -> Labels:
    """The label of one comic for one question out of its votes; () without votes.

    Annotators write ['Text', 'Visual'] for both modalities: the two count one by one, and a tie of them is 'Both'.
    """
    ballots = ([labels for who, labels in cast.items() if who in group] for group in (ANNOTATORS, EXPERTS))
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


@table("table12", of="data", files=(SUBJECTIVE, ANNOTATIONS))
def styles(files: Files) -> Iterator[Row]:
    """Comics by source and style, each comic under one style: of its labels the one with most votes of A1-A8.

    Ties go to the label listed first. The paper does not say how it chose; this rule comes nearest.
    """
    voted, style = votes(files), {}
    for comic, gold in by_comic(files, SUBJECTIVE, Subjective).items():
        cast = voted.get((comic, "Q5"), {})
        counts = Counter(label for who in ANNOTATORS for label in cast.get(who, ()))
        style[comic] = max(gold.Q5, key=counts.__getitem__)  # the first of several
    for source, of_source in pd.Series(style).groupby(source_of):
        columns = {label.lower(): count(of_source == label, of_source.index) for label in (*STYLES, "NA")}
        yield Row(model=RELEASED, source=str(source), **columns)


def _pairs(voted: dict[tuple[str, str], Votes]) -> pd.DataFrame:
    """Labels of both annotators of each comic's main pair, by question, where both answered all questions."""
    pairs: dict[str, dict[str, tuple[frozenset[str], ...]]] = {}
    for (comic, _), pair in itertools.product(voted, PAIRS):
        if comic not in pairs and all(who in voted[comic, question] for who in pair for question in QUESTIONS):
            pairs[comic] = {q: tuple(frozenset(voted[comic, q][who]) for who in pair) for q in QUESTIONS}
    return pd.DataFrame.from_dict(pairs, orient="index", columns=QUESTIONS)


@table("agreement", of="data", files=(ANNOTATIONS,))
def agreement(files: Files) -> Iterator[Row]:
    """Section 3.3: agreement and nominal Krippendorff alpha of the main pairs, by question and their means.

    Q1-Q4 agree when the answers are the same, Q5 when they share a style. Q2-Q5 leave out comics where either annotator
    said No to Q1. Alpha of Q5 pools one yes-or-no question for each of the eight styles.
    """
    pairs = _pairs(votes(files))
    comics = pairs.index.to_numpy()
    yes = np.array([pair == ({"Yes"}, {"Yes"}) for pair in pairs.Q1], np.bool_)
    answered = (label for question in QUESTIONS if question != "Q5" for pair in pairs[question] for label in pair)
    scale = [True, False, *dict.fromkeys(answered)]
    values: dict[str, tuple[Value, Kind]] = {"agreement": (mean, SHARE), "alpha": (nominal_alpha, COEFFICIENT)}
    blocks: dict[str, list[Sums]] = {name: [] for name in values}
    for question in QUESTIONS:
        answers, counted = list(pairs[question]), yes | (question == "Q1")
        if question == "Q5":
            agreed = [bool(a & b) for a, b in answers]
            given = [[style in styles for styles in pair] for pair in answers for style in STYLES]
            statistics = nominal_counts(given, scale).reshape(len(pairs), len(STYLES), len(scale) + 1).sum(axis=1)
        else:
            agreed, statistics = [a == b for a, b in answers], nominal_counts(answers, scale)
        sums: dict[str, Sums] = {"agreement": np.stack([agreed, np.ones(len(pairs))], axis=1), "alpha": statistics}
        estimates = {
            name: Estimate(sums[name][counted], value, comics[counted], kind=kind)
            for name, (value, kind) in values.items()
        }
        yield Row(model=RELEASED, question=question, **estimates)
        for name, block in sums.items():
            blocks[name].append(block * counted[:, None])  # a comic that was not asked adds nothing
    overall = {}
    for name, (value, kind) in values.items():
        of_all = over_blocks(value, blocks[name][0].shape[1])
        overall[name] = Estimate(np.concatenate(blocks[name], axis=1), of_all, comics, kind=kind)
    yield Row(model=RELEASED, question="overall", **overall)


@table("figure2", of="data", files=(SUBJECTIVE,))
def labels(files: Files) -> Iterator[Row]:
    """Comics by sound effects (Q2), modality (Q4) and style (Q5; a comic counts under each of its styles)."""
    gold = pd.DataFrame(map(msgspec.structs.asdict, by_comic(files, SUBJECTIVE, Subjective).values()))
    absent, contribute, do_not_contribute = SOUND_EFFECTS
    present = gold[[absent not in listed for listed in gold.Q2]]
    parts = [
        ("sound_effects", "absent", gold, "Q2", {absent}),
        ("sound_effects", "present", gold, "Q2", {contribute, do_not_contribute}),
        ("sound_effects", "contribute", gold, "Q2", {contribute}),
        ("sound_effects", "do_not_contribute", gold, "Q2", {do_not_contribute}),
        ("sound_effects", "contribute_of_present", present, "Q2", {contribute}),
        *(("modality", modality.lower(), gold, "Q4", {modality}) for modality in ("Text", "Both", "Visual", "NA")),
        *(("styles", style.lower(), gold, "Q5", {style}) for style in (*STYLES, "NA")),
    ]
    for part, label, comics, question, wanted in parts:
        has = comics[question].map(lambda listed: not wanted.isdisjoint(listed))  # noqa: B023
        yield Row(model=RELEASED, part=part, label=label, **_count_and_percent("count", has, comics.comic_id))


def _count_and_percent(name: str, flags: pd.Series[bool], comics: pd.Index | pd.Series[str]) -> dict[str, Estimate]:
    return {name: count(flags, comics), "percent": average(100 * flags, comics, PERCENT)}


@table("consolidation", of="data", files=(SUBJECTIVE, ANNOTATIONS))
def consolidation(files: Files) -> Iterator[Row]:
    """Comics whose raw votes consolidate into the released label, labels and their order alike, by question."""
    gold, voted = by_comic(files, SUBJECTIVE, Subjective), votes(files)
    for question in QUESTIONS:
        labels = {comic: consolidate_votes(voted.get((comic, question), {}), question) for comic in gold}
        equal = pd.Series({c: [*label] == getattr(gold[c], question) for c, label in labels.items() if label})
        yield Row(model=RELEASED, question=question, equal=count(equal, equal.index), share=average(equal, equal.index))


@table("disagreements", of="data", files=(ANNOTATIONS,))
def disagreements(files: Files) -> Iterator[Row]:
    """Section 3.2: comics where the main pair's answers differ, by question; comics with a third vote."""
    voted = votes(files)
    differs = _pairs(voted).map(lambda pair: pair[0] != pair[1])
    voters = {comic: {*itertools.chain(*(voted[comic, q] for q in QUESTIONS))} for comic, _ in voted}
    third = pd.Series({comic: len(who.intersection(ANNOTATORS)) > 2 for comic, who in voters.items()})
    expert = pd.Series({comic: not who.isdisjoint(EXPERTS) for comic, who in voters.items()})
    cases = [("pair_differs", question, differs[question]) for question in QUESTIONS]
    cases.append(("pair_differs", "any", differs.any(axis=1)))
    cases += [("third_annotator", "any", third), ("expert", "any", expert)]
    for case, question, flags in cases:
        yield Row(model=RELEASED, case=case, question=question, **_count_and_percent("comics", flags, flags.index))


TABLES = (panels, words_by_source, styles, agreement, disagreements, labels, consolidation)
