"""One rater more for what those before are even on, as in PixelHumor's preference study (section 5.4)."""

from __future__ import annotations

import random
from collections import Counter

from punchline.core.errors import PunchlineError
from punchline.people.assignment import with_checks
from punchline.people.outcome import study_of
from punchline.people.votes import Votes


def undecided(votes: Votes) -> list[int]:
    """Units that two raters or more have rated, nobody is still to rate, and no answer has most votes on."""
    given, said = votes.given(), dict[int, list[dict[str, str]]]()
    for one in given.values():
        said.setdefault(one.unit, []).append(one.answers)
    waited_for = {unit for rater in votes.raters() for unit in votes.seats(rater) if (rater, unit) not in given}
    return [
        unit
        for unit, answers in sorted(said.items())
        if votes.sheet.units[unit].kind == "counts" and unit not in waited_for
        if any(_even([own[aspect] for own in answers]) for aspect in answers[0])
    ]


def _even(values: list[str]) -> bool:
    (_, most), *others = Counter(values).most_common(2)
    return any(count == most for _, count in others)


def one_more(votes: Votes) -> tuple[str, int]:
    """Seat one more rater at what is undecided: (name, how many pages of it).

    After the practice, in drawn order, with the study's attention checks among them. They choose among all texts.
    Raises PunchlineError where nothing is undecided, or votes are points on a scale, which differ and decide nothing.
    """
    study, units = study_of(votes), votes.sheet.units
    if study.level != "nominal":
        raise PunchlineError(
            f"{study.title} Its votes are points on a scale: there is nothing to decide", file=votes.path
        )
    found = undecided(votes)
    if not found:
        raise PunchlineError(
            "nothing is undecided of what all its raters have rated",
            file=votes.path,
            way_out="See who has rated: punchline rate status",
        )
    before = votes.raters()
    rater = f"{len(before) + 1:0{len(before[0])}d}"
    random.Random(f"decide/{rater}/{votes.sheet.seed}").shuffle(found)
    practice = [place for place, unit in enumerate(units) if unit.kind == "practice"]
    checks = [place for place, unit in enumerate(units) if unit.kind == "check"]
    among = with_checks(found, checks[: max(1, len(found) // study.check_every)], rater, votes.sheet.seed)
    votes.seat(rater, [*practice, *among])
    return rater, len(found)
