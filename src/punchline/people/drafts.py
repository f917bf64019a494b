"""StripCipher's drafted texts on pages: the strip beside them, and the review sheet that comes of it."""

from __future__ import annotations

from pathlib import Path

from punchline.benchmarks.stripcipher.review import CATEGORY, KINDS, SHEET
from punchline.benchmarks.stripcipher.strips import CATEGORIES
from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv, read_records
from punchline.paths import Paths
from punchline.people.assignment import assigned
from punchline.people.votes import Ask, Sheet, Shown, Unit, Votes
from punchline.schema import Item
from punchline.tables.ratings import for_spreadsheet, from_spreadsheet

STUDY = "drafts"  # of stripcipher; no declaration: what is asked is the review sheet's
USES = (("", "leave out"), ("answer", "answer"), ("distractor", "distractor"))
WHOLE = "page"  # the picture of all frames
_ASK = {
    "prediction": "What happens in the second-to-last frame?",
    "comprehension": "What does the strip tell and mean?",
}


def draw_up(where: Paths, file: str, content: bytes, *, raters: int, seed: int) -> tuple[Sheet, dict[str, list[int]]]:
    """(sheet, units by rater) of the drafts of a review sheet: a page a strip and task, each strip with one reviewer.

    Raises PunchlineError for a strip that is not prepared, and for a sheet without drafts.
    """
    prepared = Path(where.items("stripcipher"))
    if not prepared.is_file():
        raise PunchlineError("no strip is prepared", file=prepared, hint="Run the target `prepare_all` first")
    strips = {item.item_id: item for item in read_records(prepared, Item)}
    drafted: dict[tuple[str, str], list[Shown]] = {}
    for line, cells in parse_csv(content, SHEET, file=file):
        if cells["kind"] not in KINDS or cells["task"] not in _ASK:
            continue
        if cells["item_id"] not in strips:
            raise PunchlineError("no such strip is prepared", file=file, line=line, record=cells["item_id"])
        shown = Shown(source=cells["drafted_by"], text=from_spreadsheet(cells["text"]), kind=cells["kind"])
        drafted.setdefault((cells["item_id"], cells["task"]), []).append(shown)
    if not drafted:
        raise PunchlineError("no drafts", file=file, hint="Make them: punchline drafts MODEL")
    units = []
    for (item_id, task), texts in drafted.items():
        picture = next((image for image in strips[item_id].images if image.name == WHOLE), None)
        if picture is None or not Path(picture.path).is_file():
            raise PunchlineError("the strip has no picture", file=prepared, record=item_id, hint="Run `prepare`")
        units.append(Unit(item_id=item_id, task=task, texts=tuple(texts), picture=picture.path, sha256=picture.sha256))
    ids = list(dict.fromkeys(unit.item_id for unit in units))
    called = [f"{number:0{len(str(raters))}d}" for number in range(1, raters + 1)]
    seats = {
        rater: [place for strip in own for place, unit in enumerate(units) if unit.item_id == ids[strip]]
        for rater, own in zip(called, assigned([""] * len(ids), raters, 1, seed), strict=True)
    }
    sheet = Sheet(
        benchmark="stripcipher",
        study=STUDY,
        run=where.run,
        models=(),
        seed=seed,
        title="Which texts are right?",
        intro=(
            "You see a strip and drafts of answers to a question about it. Choose one as the answer and three as "
            "distractors: plausible, and wrong. Correct their words where they need it.",
            "Where no four will do, leave all of them out and send the page.",
        ),
        options=USES,
        questions={task: (Ask(aspect="", ask=ask),) for task, ask in _ASK.items()},
        note="",
        units=tuple(units),
    )
    return sheet, seats


def wrong(uses: list[str], texts: list[str]) -> str:
    """Why a page cannot be taken; "" where it can."""
    used = [" ".join(text.split()).casefold() for use, text in zip(uses, texts, strict=True) if use]
    if not used or (uses.count("answer"), uses.count("distractor"), len(set(used) - {""})) == (1, 3, 4):
        return ""
    return "Nothing is saved yet: a question needs one answer and three distractors, all different, or none at all."


def reviewed_sheet(votes: Votes) -> str:
    """The review sheet as people have filled it in, for `punchline reviewed`."""
    rows = []
    for given in sorted(votes.given().values(), key=lambda one: one.unit):
        unit = votes.sheet.units[given.unit]
        for place, shown in enumerate(unit.texts):
            use = given.answers[f"use-{place}"]
            row = (
                unit.item_id,
                unit.task,
                use or shown.kind,
                for_spreadsheet(given.answers[f"text-{place}"]),
                shown.source,
                "x" if use else "",
                given.rater,
                f"{given.time} sheet {votes.version}",
            )
            rows.append(dict(zip(SHEET, row, strict=True)))
    for item_id in dict.fromkeys(str(row["item_id"]) for row in rows):
        note = "one of " + ", ".join(CATEGORIES)
        rows.append({"item_id": item_id, "task": CATEGORY, "kind": CATEGORY, "note": note})
    return csv_text(SHEET, rows)
