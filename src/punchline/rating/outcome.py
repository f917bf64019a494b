"""Results of a study: progress, agreement, even votes, and the file that tables read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from punchline.benchmarks.study import HUMAN, Study, Vote
from punchline.core.benchmark import studies
from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv, write_text
from punchline.paths import Paths, manifest, own
from punchline.rating import drafts
from punchline.rating.texts import answered
from punchline.rating.votes import Shown, Unit, Votes
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


def progress(votes: Votes) -> list[dict[str, Any]]:
    """A row per rater: texts rated and not judged, attention checks passed, time of the last vote."""
    given, units, rows = votes.given(), votes.sheet.units, []
    for rater in votes.raters():
        seats = votes.seats(rater)
        own = [given[rater, unit] for unit in seats if (rater, unit) in given]
        checks = [
            set(one.answers.values()) == {units[one.unit].right} for one in own if units[one.unit].kind == "check"
        ]
        counted = [one for one in own if units[one.unit].kind == "counts"]
        row = {"rater": rater, "rated": len(counted), "of": sum(units[unit].kind == "counts" for unit in seats)}
        row |= {"not judged": sum(not one.answers for one in counted), "checks": len(checks), "passed": sum(checks)}
        rows.append(row | {"last vote": max((one.time for one in own), default="")})
    return rows


def agreement(votes: Votes) -> list[dict[str, Any]]:
    """A row per question: Krippendorff's alpha with a 95 % interval; none for written texts and drafts."""
    sheet, level = votes.sheet, study_of(votes).level
    if sheet.drafts or sheet.writing:
        return []
    values: dict[tuple[str, str], dict[int, list[float]]] = {}
    place = {value: float(n) for n, (value, _) in enumerate(sheet.options)}
    for given in votes.given().values():
        unit = sheet.units[given.unit]
        for aspect, value in given.answers.items() if unit.kind == "counts" else ():
            of_unit = values.setdefault((unit.task, aspect), {}).setdefault(given.unit, [])
            of_unit.append(place[value] if place else float(value))
    rows: list[dict[str, Any]] = []
    for (task, aspect), by_unit in sorted(values.items()):
        several = {unit: own for unit, own in by_unit.items() if len(own) > 1}
        row = {"question": f"{task} {aspect}".strip(), "level": level, "rated by several": len(several)}
        row |= dict.fromkeys(("alpha", "lo", "hi"))
        if several:
            scale = sorted({value for own in several.values() for value in own})
            sums = coincidences(list(several.values()), scale)
            items = [sheet.units[unit].item_id for unit in several]
            estimate = Estimate(sums, alpha_of(scale, level), items, kind=COEFFICIENT)
            row |= dict(zip(("alpha", "lo", "hi"), (estimate.point(), *interval(estimate)), strict=True))
        rows.append(row)
    return rows


def even(votes: Votes) -> list[Unit]:
    """Units that two raters or more have rated and none is yet to rate, on which their votes are even.

    Of several texts they have the leading ones; of drafts, those that a rater used.
    """
    found = []
    for index, given in votes.rated().items():
        unit = votes.sheet.units[index]
        if unit.kind != "counts":
            continue
        if votes.sheet.drafts:
            if drafts.winner(given) is None:
                found.append(replace(unit, texts=drafts.used(given) or unit.texts))
            continue
        judged = [one.answers for one in given if one.answers]
        leading = [_leading([answers[aspect] for answers in judged]) for aspect in (judged[0] if judged else ())]
        if tied := [values for values in leading if len(values) > 1]:
            best = [unit.texts[int(value)] for value in sorted(set().union(*tied), key=int)] if votes.sheet.best else []
            found.append(replace(unit, texts=tuple(best) or unit.texts))
    return found


def _leading(values: list[str]) -> set[str]:
    counts = Counter(values)
    return {value for value, count in counts.items() if count == max(counts.values())}


def cast(votes: Votes) -> list[Vote]:
    """All votes that count, by unit, with their sources.

    The source of a written text is Human, or Human-<rater> if several write about the same item.
    """
    found = []
    sheet = votes.sheet
    writers = Counter(unit for rater in votes.raters() for unit in votes.seats(rater)) if sheet.writing else {}
    for (rater, at), given in sorted(votes.given().items(), key=lambda one: (one[0][1], one[0][0])):
        unit = sheet.units[at]
        for aspect, value in given.answers.items() if unit.kind == "counts" else ():
            if sheet.writing:
                shown = Shown(source=HUMAN if writers[at] == 1 else f"{HUMAN}-{rater}", text=value)
            else:
                shown = unit.texts[int(value) if sheet.best else 0]
            about = (unit.item_id, shown.source, unit.task, aspect, value, shown.text)
            found.append(Vote(*about, rater, given.time, given.note, votes.version))
    return found


def not_judged(votes: Votes) -> Counter[str]:
    """{reason: number of pages} of pages that count and that a rater could not judge."""
    units = votes.sheet.units if votes.sheet.judging else ()
    given = (one for one in votes.given().values() if units and units[one.unit].kind == "counts")
    return Counter(one.note for one in given if not one.answers)


def check_unchanged(votes: Votes) -> None:
    """Raises PunchlineError if the run's answers have changed since the study was drawn."""
    sheet = votes.sheet
    now = answered(Paths(run=sheet.run), sheet.benchmark, study_of(votes), sheet.models)
    rated = {
        (unit.item_id, unit.task, text.source): text.text
        for unit in sheet.units
        for text in unit.texts
        if unit.kind == "counts" and text.source in sheet.models
    }
    if changed := [key for key, text in rated.items() if now.get(key) != text]:
        item_id, _, source = changed[0]
        hint = "Restore the selection and the answers of that time, or make a new study: punchline rate new"
        raise PunchlineError(
            f"other answers were rated than run {sheet.run} has now: {len(changed):,}, the first that of {source}",
            file=votes.path,
            record=item_id,
            hint=f"{hint} {sheet.benchmark}/{sheet.study} --raters N --name NAME",
        )


def export(votes: Votes, out: Path) -> tuple[int, int]:
    """Write the file that tables read; (rows of this study, rows of others that stay).

    Raises PunchlineError if the run's answers have changed, nothing was rated yet, or a rater of the same name has
    rated the same before.
    """
    study = study_of(votes)
    check_unchanged(votes)
    rows = study.rows(cast(votes))
    if not rows:
        hint = f"See who has rated: punchline rate status {votes.name}"
        raise PunchlineError("nothing to export yet", file=votes.path, hint=hint)
    others: list[dict[str, Any]] = []
    if out.is_file():
        others = [cells for _, cells in parse_csv(out.read_bytes(), (), file=out)]
        others = [cells for cells in others if cells.get("sheet") != votes.version]
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
