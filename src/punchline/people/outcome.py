"""What a study has brought: progress, agreement, and the file that the tables read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from punchline.benchmarks.study import HUMAN, Study, Vote
from punchline.core.benchmark import studies
from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv, write_text
from punchline.paths import Paths, own
from punchline.people.drawing import answered
from punchline.people.votes import Given, Shown, Votes
from punchline.stats.estimate import COEFFICIENT, Estimate
from punchline.stats.intervals import interval
from punchline.stats.ratings import alpha_of, coincidences
from punchline.tables.ratings import RATINGS, read_ratings


class Progress(NamedTuple):
    """How far a rater is."""

    rater: str
    rated: int  # texts that count
    of: int
    checks: int  # attention checks that were answered
    passed: int
    last: str  # time of the last vote


class Agreement(NamedTuple):
    """Krippendorff's alpha of what several raters said of the same."""

    task: str
    aspect: str
    level: str
    units: int  # with two raters or more
    alpha: float | None
    lo: float | None
    hi: float | None


def study_of(votes: Votes) -> Study:
    """The declaration that a sheet was made of. Raises PunchlineError where there is none of that name now."""
    declared = studies(votes.sheet.benchmark)
    if votes.sheet.study not in declared:
        raise PunchlineError(f"no study {votes.sheet.study!r} is declared", file=votes.path)
    study: Study = declared[votes.sheet.study]
    return study


def _passed(votes: Votes, given: Given) -> bool:
    return all(value == votes.sheet.units[given.unit].right for value in given.answers.values())


def progress(votes: Votes) -> list[Progress]:
    """By rater."""
    given, units = votes.given(), votes.sheet.units
    found = []
    for rater in votes.raters():
        seats = votes.seats(rater)
        said = [given[rater, unit] for unit in seats if (rater, unit) in given]
        checks = [one for one in said if units[one.unit].kind == "check"]
        found.append(
            Progress(
                rater,
                sum(units[one.unit].kind == "counts" for one in said),
                sum(units[unit].kind == "counts" for unit in seats),
                len(checks),
                sum(_passed(votes, one) for one in checks),
                max((one.time for one in said), default=""),
            )
        )
    return found


def _values(votes: Votes) -> dict[tuple[str, str], dict[int, list[str]]]:
    """What raters said, by (task, aspect) and unit."""
    found: dict[tuple[str, str], dict[int, list[str]]] = {}
    for given in votes.given().values():
        unit = votes.sheet.units[given.unit]
        for aspect, value in given.answers.items() if unit.kind == "counts" else ():
            found.setdefault((unit.task, aspect), {}).setdefault(given.unit, []).append(value)
    return found


def agreement(votes: Votes) -> list[Agreement]:
    """Of every question."""
    sheet, level = votes.sheet, study_of(votes).level
    codes = {value: float(place) for place, (value, _) in enumerate(sheet.options)} or {
        str(place): float(place) for place in range(max(len(unit.texts) for unit in sheet.units))
    }
    found = []
    for (task, aspect), by_unit in sorted(_values(votes).items()):
        several = {unit: [codes[value] for value in said] for unit, said in by_unit.items() if len(said) > 1}
        scale = sorted({value for said in several.values() for value in said})
        if not several:
            found.append(Agreement(task, aspect, level, 0, None, None, None))
            continue
        sums = coincidences(list(several.values()), scale)
        items = [sheet.units[unit].item_id for unit in several]
        estimate = Estimate(sums, alpha_of(scale, level), items, kind=COEFFICIENT)
        lo, hi = interval(estimate)
        found.append(Agreement(task, aspect, level, len(several), estimate.point(), lo, hi))
    return found


def cast(votes: Votes) -> list[Vote]:
    """All votes that count, by unit, under their sources' names.

    Who writes a text is Human, or Human-<rater> where several write about the same.
    """
    found = []
    writers = Counter(unit for rater in votes.raters() for unit in votes.seats(rater)) if votes.sheet.writing else {}
    for (rater, at), given in sorted(votes.given().items(), key=lambda one: (one[0][1], one[0][0])):
        unit = votes.sheet.units[at]
        for aspect, value in given.answers.items() if unit.kind == "counts" else ():
            if votes.sheet.writing:
                shown = Shown(source=HUMAN if writers[at] == 1 else f"{HUMAN}-{rater}", text=value)
            else:
                shown = unit.texts[int(value) if votes.sheet.best else 0]
            found.append(
                Vote(
                    unit.item_id,
                    shown.source,
                    unit.task,
                    aspect,
                    value,
                    shown.text,
                    rater,
                    given.time,
                    given.note,
                    votes.version,
                )
            )
    return found


def unchanged(votes: Votes) -> None:
    """Raises PunchlineError where the run's answers are others now than those that were rated."""
    sheet, study = votes.sheet, study_of(votes)
    now = answered(Paths(run=sheet.run), sheet.benchmark, study, sheet.models)
    changed = [
        (shown.source, unit.item_id)
        for unit in sheet.units
        for shown in unit.texts
        if unit.kind == "counts"
        and shown.source in sheet.models
        and now.get((unit.item_id, unit.task, shown.source)) != shown.text
    ]
    if changed:
        (source, item_id), count = changed[0], len(changed)
        raise PunchlineError(
            f"people have rated other answers than run {sheet.run} has now: {count:,}, the first that of {source}",
            file=votes.path,
            record=item_id,
            hint="Bring the selection and the answers of that time back, or make a new study: punchline rate new "
            f"{sheet.benchmark}/{sheet.study} --raters N --name NAME",
        )


def export(votes: Votes, out: Path) -> tuple[int, int]:
    """Write the file that the tables read; (rows of this study, rows of others that were kept).

    Rows of another sheet, and rows without one, stay in the file; this sheet's are written anew. Raises PunchlineError
    where the run's answers have changed, nothing was rated yet, or a rater of the same name has rated the same before.
    """
    study = study_of(votes)
    unchanged(votes)
    rows = study.rows(cast(votes))
    if not rows:
        raise PunchlineError(
            "nothing to export yet", file=votes.path, hint=f"See who has rated: punchline rate status {votes.name}"
        )
    kept: list[dict[str, Any]] = []
    if out.is_file():
        kept = [cells for _, cells in parse_csv(out.read_bytes(), (), file=out)]
        kept = [cells for cells in kept if cells.get("sheet") != votes.version]
    columns = list(dict.fromkeys(name for row in (*kept, *rows) for name in row))
    text = csv_text(columns, [*kept, *rows])
    if study.file == RATINGS:
        read_ratings(text.encode(), str(out))  # what the tables would refuse is refused here
    write_text(out, text)
    return len(rows), len(kept)


def target(votes: Votes) -> Path:
    """Where the tables look for a study's export."""
    return Path(own(votes.sheet.benchmark, study_of(votes).file))
