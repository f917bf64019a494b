"""One rater more for what those before are even on, as in PixelHumor's preference study (section 5.4)."""

from __future__ import annotations

import random
from collections import Counter

from punchline.errors import PunchlineError
from punchline.people.assignment import with_checks
from punchline.people.outcome import study_of
from punchline.people.votes import Votes


def undecided(votes: Votes) -> dict[int, set[str]]:
    """{unit: answers that lead evenly} of units that two raters or more have rated and nobody is still to rate."""
    given, said = votes.given(), dict[int, list[dict[str, str]]]()
    for one in given.values():
        said.setdefault(one.unit, []).append(one.answers)
    waited_for = {unit for rater in votes.raters() for unit in votes.seats(rater) if (rater, unit) not in given}
    found = {}
    for unit, answers in sorted(said.items()):
        if votes.sheet.units[unit].kind == "counts" and unit not in waited_for:
            leading = [_leading([own[aspect] for own in answers]) for aspect in answers[0]]
            if even := [values for values in leading if len(values) > 1]:
                found[unit] = set().union(*even)
    return found


def _leading(values: list[str]) -> set[str]:
    counts = Counter(values)
    return {value for value, count in counts.items() if count == max(counts.values())}


def one_more(votes: Votes) -> tuple[str, int]:
    """Seat one more rater at what is undecided: (name, how many pages of it).

    After the practice, in drawn order, with the study's attention checks among them. Where the best text is chosen,
    they choose among those that lead, as in the paper.
    Raises PunchlineError where nothing is undecided, and where votes are points on a scale, which differ and decide
    nothing, or texts.
    """
    study, units = study_of(votes), votes.sheet.units
    if study.level != "nominal":
        votes_are = "texts" if study.writes else "points on a scale"
        raise PunchlineError(f"{study.title} Its votes are {votes_are}: there is nothing to decide", file=votes.path)
    found = undecided(votes)
    if not found:
        raise PunchlineError(
            "nothing is undecided of what all its raters have rated",
            file=votes.path,
            hint=f"See who has rated: punchline rate status {votes.name}",
        )
    before = votes.raters()
    rater = f"{len(before) + 1:0{len(before[0])}d}"
    order = list(found)
    random.Random(f"decide/{rater}/{votes.sheet.seed}").shuffle(order)
    practice = [place for place, unit in enumerate(units) if unit.kind == "practice"]
    checks = [place for place, unit in enumerate(units) if unit.kind == "check"]
    among = with_checks(order, checks[: max(1, len(found) // study.check_every)], rater, votes.sheet.seed)
    offered = {unit: sorted(map(int, values)) for unit, values in found.items()} if votes.sheet.best else {}
    votes.seat(rater, [*practice, *among], offered)
    return rater, len(found)
