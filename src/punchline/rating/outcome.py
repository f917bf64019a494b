"""Results of a study: progress, agreement, even votes, and the file that tables read."""

from __future__ import annotations

import itertools
from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd
from msgspec.structs import replace

from punchline.benchmarks.study import Study, Vote
from punchline.core.benchmark import studies
from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv, write_text
from punchline.grouping import grouped
from punchline.paths import Paths, manifest, own
from punchline.rating import drafts
from punchline.rating.texts import answer_texts
from punchline.rating.votes import CastVote, Unit, Votes
from punchline.stats.estimate import COEFFICIENT, Estimate
from punchline.stats.intervals import interval
from punchline.stats.ratings import alpha_of, coincidences
from punchline.tables.ratings import RATINGS, read_ratings


def study_of(votes: Votes) -> Study:
    """The declaration of a study. Raises PunchlineError if it is declared no more."""
    declared = studies(votes.sheet.benchmark)
    if votes.sheet.study not in declared:
        raise PunchlineError(f"no study {votes.sheet.study!r} is declared", file=votes.path)
    study: Study = declared[votes.sheet.study]
    return study


def _counted(votes: Votes) -> list[tuple[Unit, CastVote]]:
    """The last votes on pages that count."""
    given = ((votes.sheet.units[one.unit], one) for one in votes.given().values())
    return [(unit, one) for unit, one in given if unit.kind == "counts"]


def progress(votes: Votes) -> list[dict[str, Any]]:
    """A row per rater: texts rated and not judged, attention checks passed, time of the last vote."""
    given, units, rows = votes.given(), votes.sheet.units, []
    for rater in votes.raters():
        seats = votes.seats(rater)
        own_votes = [(units[unit], given[rater, unit]) for unit in seats if (rater, unit) in given]
        checks = [set(one.answers.values()) == {unit.right} for unit, one in own_votes if unit.kind == "check"]
        counted = [one for unit, one in own_votes if unit.kind == "counts"]
        row = {"rater": rater, "rated": len(counted), "of": sum(units[unit].kind == "counts" for unit in seats)}
        row |= {"not judged": sum(not one.answers for one in counted), "checks": len(checks), "passed": sum(checks)}
        rows.append(row | {"last vote": max((one.time for _, one in own_votes), default="")})
    return rows


def agreement(votes: Votes) -> list[dict[str, Any]]:
    """A row per question: Krippendorff's alpha with a 95 % interval; none for drafts."""
    sheet, level = votes.sheet, study_of(votes).level
    place = {value: float(n) for n, (value, _) in enumerate(sheet.options)}
    values = []
    for unit, given in _counted(votes) if sheet.form != "review" else ():
        for aspect, value in given.answers.items():
            values.append((f"{unit.task} {aspect}".strip(), given.unit, place[value] if place else float(value)))
    rows = []
    for question, group in sorted(grouped(values, itemgetter(0)).items()):
        by_unit = {unit: [value for *_, value in own] for unit, own in grouped(group, itemgetter(1)).items()}
        several = {unit: own for unit, own in by_unit.items() if len(own) > 1}
        row: dict[str, Any] = {"question": question, "level": level, "rated by several": len(several)}
        row |= dict.fromkeys(("alpha", "lo", "hi"))
        if several:
            scale = sorted(set(itertools.chain(*several.values())))
            items = [sheet.units[unit].item_id for unit in several]
            sums = coincidences([*several.values()], scale)
            estimate = Estimate(sums, alpha_of(scale, level), items, kind=COEFFICIENT)
            row |= zip(("alpha", "lo", "hi"), (estimate.point(), *interval(estimate)), strict=True)
        rows.append(row)
    return rows


def even(votes: Votes) -> list[Unit]:
    """Units that two raters or more have rated and none is yet to rate, on which their votes are even.

    Of several texts they have the leading ones; of drafts, those that a rater used.
    """
    units, form = list[Unit](), votes.sheet.form
    for index, given in votes.rated().items():
        unit = votes.sheet.units[index]
        if unit.kind != "counts":
            continue
        if form == "review":
            if drafts.winner(given) is None:
                units.append(replace(unit, texts=drafts.used(given) or unit.texts))
            continue
        judged = pd.DataFrame([one.answers for one in given if one.answers])
        leading = [judged[aspect].mode() for aspect in judged]
        if tied := {value for values in leading if len(values) > 1 for value in values}:
            texts = tuple(unit.texts[place] for place in sorted(map(int, tied))) if form == "choose" else unit.texts
            units.append(replace(unit, texts=texts))
    return units


def cast(votes: Votes) -> list[Vote]:
    """All votes that count, by unit, with their sources."""
    result = []
    for unit, given in sorted(_counted(votes), key=lambda pair: (pair[1].unit, pair[1].rater)):
        for aspect, value in given.answers.items():
            entry = unit.texts[int(value) if votes.sheet.form == "choose" else 0]
            vote = given._asdict() | {"item_id": unit.item_id, "task": unit.task, "sheet": votes.version}
            result.append(vote | {"aspect": aspect, "value": value, "source": entry.source, "text": entry.text})
    return result


def not_judged(votes: Votes) -> Counter[str]:
    """{reason: number of pages} of pages that count and that a rater could not judge."""
    return Counter(one.note for _, one in _counted(votes) if votes.sheet.form != "review" and not one.answers)


def check_unchanged(votes: Votes) -> None:
    """Raises PunchlineError if the run's answers have changed since the study was drawn."""
    sheet = votes.sheet
    if not sheet.models:
        return
    now = answer_texts(Paths(run=sheet.run), sheet.benchmark, study_of(votes), sheet.models)
    for unit in sheet.units:
        for text in unit.texts if unit.kind == "counts" else ():
            if text.source in sheet.models and now.get((unit.item_id, unit.task, text.source)) != text.text:
                what = f"another answer of {text.source} was rated than run {sheet.run} has now"
                hint = "Restore the selection and the answers of that time, or make a new study: punchline rate new"
                raise PunchlineError(what, file=votes.path, record=unit.item_id, hint=hint)


def export(votes: Votes, out: Path) -> tuple[int, int]:
    """Write the file that tables read; (rows of this study, rows of others that stay).

    Raises PunchlineError if the run's answers have changed, nothing was rated yet, or a rater of the same name has
    rated the same before.
    """
    study = study_of(votes)
    check_unchanged(votes)
    rows = list(study.rows(cast(votes)))
    if not rows:
        raise PunchlineError("nothing to export yet", file=votes.path, hint=f"See punchline rate status {votes.name}")
    lines = parse_csv(out.read_bytes(), (), file=out) if out.is_file() else []
    others: list[dict[str, Any]] = [cells for _, cells in lines if cells.get("sheet") != votes.version]
    columns = list(dict.fromkeys(name for row in (*others, *rows) for name in row))
    text = csv_text(columns, [*others, *rows])
    if study.file == RATINGS:
        read_ratings(text.encode(), str(out))  # refuses what tables would refuse
    write_text(out, text)
    return len(rows), len(others)


def target(votes: Votes) -> Path:
    """The file that a study is exported to, where tables find it."""
    sheet, study = votes.sheet, study_of(votes)
    return Path(manifest(sheet.benchmark, study.file) if study.reviews else own(sheet.benchmark, study.file))
