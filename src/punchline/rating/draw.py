"""Draw a study: the pages to rate, and the pages of each rater."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from punchline.benchmarks.study import Study
from punchline.core.benchmark import every, optional_module, studies
from punchline.errors import PunchlineError, check_file, nearest
from punchline.files import read_records
from punchline.grouping import grouped
from punchline.paths import Paths
from punchline.prepare import read_files
from punchline.rating import drafts
from punchline.rating.assignment import assigned, drawing_order, with_checks
from punchline.rating.outcome import even, study_of
from punchline.rating.texts import answer_texts, prepared_items
from punchline.rating.votes import Seats, Sheet, ShownText, Unit, Votes
from punchline.schema import Gold, Item

CHECK = "This is no answer but a check that you read along: choose {} here."


def declared(name: str) -> tuple[str, str, Study]:
    """(benchmark, name, declaration) of a study: `pixelhumor/relevance`, `relevance`, or a benchmark with one study.

    Raises PunchlineError.
    """
    known = {(benchmark, study): of for benchmark, own in every(studies).items() for study, of in own.items()}
    short = {place: place[0] for place, study in known.items() if study.offered is None}
    matches = [place for place in known if name in (place[1], "/".join(place), short.get(place))]
    if len(matches) != 1:
        raise PunchlineError(f"no study {name!r}", hint=nearest(name, map("/".join, matches or known)))
    return *matches[0], known[matches[0]]


def _units(where: Paths, benchmark: str, study: Study, models: Sequence[str], items: Mapping[str, Item]) -> list[Unit]:
    """All units: one per answer of a model or option that the study offers, or per item if the best is chosen."""
    if study.offered is None:
        texts = answer_texts(where, benchmark, study, models)
    else:
        texts = {(one.item_id, *key): text for one in items.values() for key, text in study.offered(one).items()}
    blurred: Mapping[str, str] = getattr(optional_module(benchmark, "shown"), "BLURRED", {})  # values of gold
    golds = {gold.item_id: gold for gold in read_records(where.gold(benchmark), Gold)} if study.gold or blurred else {}
    units = []
    groups = grouped(sorted(texts.items()), lambda entry: entry[0][: 2 if study.best else 3])
    for (item_id, task, *_), group in groups.items():
        item, about = items[item_id], dict[str, Any]()
        if (study.picture and not item.images) or (study.best and len(group) < 2):
            continue
        context = [(name, str(item.fields.get(name, ""))) for name in study.fields]
        context += [(name, str(golds[item_id].values[name])) for name in study.gold]
        if study.picture:
            picture = next(image for image in item.images if image.name == study.pictures.get(task, image.name))
            about = {"picture": picture.path, "sha256": picture.sha256}
        if any(golds[item_id].values.get(name) == value for name, value in blurred.items()):
            about["blurred"] = True
        shown_texts = tuple(ShownText(source=source, text=text) for (*_, source), text in group)
        units.append(Unit(item_id=item_id, task=task, texts=shown_texts, context=tuple(context), **about))
    return units


def agreeing(where: Paths, benchmark: str) -> set[str]:
    """Items on which people's released votes agree in all closed questions but one (PixelHumor, section 5.3).

    The paper does not print its threshold. Raises PunchlineError for a benchmark without released votes.
    """
    votes = optional_module(benchmark, "people")
    if votes is None:
        raise PunchlineError(f"no votes on {benchmark} were released: --agreed is for pixelhumor")
    ballots = votes.ballots(read_files([where.raw(benchmark, name) for name in votes.FILES]))
    differing = [(item_id, len(set(labels)) > 1) for item_id, _, labels in ballots]
    disputed = Counter(item_id for item_id, differ in differing if differ)
    return {item_id for item_id, _ in differing if disputed[item_id] <= 1}


def _check(unit: Unit, study: Study, draw: random.Random) -> Unit:
    """An attention check that looks like a unit."""
    place = draw.randrange(len(unit.texts)) if study.best else 0
    right = str(place) if study.best else draw.choice(study.options)[0]
    texts = [ShownText(source="", text=shown.text) for shown in unit.texts]
    texts[place] = ShownText(source="", text=CHECK.format("this text" if study.best else right))
    return replace(unit, texts=tuple(texts), kind="check", right=right)


def _seated(
    sheet: Sheet, study: Study, practice: Sequence[Unit], raters: Sequence[str], overlap: int, draw: random.Random
) -> tuple[Sheet, Seats]:
    """(sheet with practice and checks, pages by rater) of a sheet that has only the units that count."""
    units = sheet.units
    groups = [f"{unit.task}/{unit.texts[0].source if len(unit.texts) == 1 else ''}" for unit in units]
    pages = assigned(groups, len(raters), overlap, sheet.seed)
    checks = [max(1, len(mine) // 20) if mine and not study.reviews else 0 for mine in pages]  # one in 20 texts
    checking = [_check(draw.choice(units), study, draw) for _ in range(max(checks))]
    first = len(units) + len(practice)
    seats = {}
    for rater, mine, n in zip(raters, pages, checks, strict=True):
        seats[rater] = [*range(len(units), first), *with_checks(mine, range(first, first + n), rater, sheet.seed)]
    sheet = replace(sheet, units=(*units, *practice, *checking))
    for picture in sorted({unit.picture for unit in sheet.units if unit.picture}):
        check_file(picture, "the picture is missing", hint="Run the target `prepare_all`")
    return sheet, seats


def _ratable(
    where: Paths, of: tuple[str, str, Study], models: Sequence[str], items: Mapping[str, Item], seed: int, agreed: bool
) -> list[Unit]:
    """The units that a study may draw. Raises PunchlineError if there is none."""
    benchmark, _, study = of
    units = drafts.units(items, models, seed) if study.reviews else _units(where, benchmark, study, models, items)
    if agreed:
        allowed = agreeing(where, benchmark)
        units = [unit for unit in units if unit.item_id in allowed]
    if not units:
        needed = ("two texts to choose from" if study.best else "a text to rate") + " and a picture" * study.picture
        raise PunchlineError(f"no item has {needed}", hint="Run the target `respond_all`, or name more models: --model")
    return units


def draw_up(
    where: Paths,
    of: tuple[str, str, Study],
    models: Sequence[str],
    *,
    raters: int,
    seed: int,
    overlap: int | None = None,
    items: int | None = None,
    agreed: bool = False,
    pointers: bool = False,
) -> tuple[Sheet, Seats]:
    """(sheet, pages by rater) of a new study of answers of models, or of their drafts; `of`: as `declared`.

    `agreed`: only items of `agreeing`. `pointers`: raters tick those of the study. As many items of every source are
    drawn as of any other; practice items are not among those that count. Raises PunchlineError if there is nothing to
    rate, or a picture is missing.
    """
    benchmark, study_name, study = of
    if pointers and not study.pointers:
        raise PunchlineError(f"{benchmark}/{study_name} has no pointers: --pointers is for pixelhumor/relevance")
    overlap = min(study.overlap, raters) if overlap is None else overlap
    if overlap > raters:
        raise PunchlineError(f"{overlap} raters per text of {raters} raters", hint="--overlap is at most --raters")
    all_items = prepared_items(where, benchmark, "respond_all" if study.of_answers else "prepare_all")
    ratable = _ratable(where, of, models, all_items, seed, agreed)
    drawn = drawing_order({unit.item_id: all_items[unit.item_id].source for unit in ratable}, seed)
    count = items or len(drawn)
    counted = set(drawn[:count])
    draw = random.Random(f"study/{seed}")
    by_item = grouped(ratable, lambda unit: unit.item_id)
    practice = [replace(draw.choice(by_item[name]), kind="practice") for name in drawn[count : count + study.practice]]
    units = tuple(unit for unit in ratable if unit.item_id in counted)
    settings: dict[str, Any] = {name: getattr(study, name) for name in ("title", "intro", "options", "note")}
    settings |= {"pointers": study.pointers} if pointers else {}
    settings |= {"benchmark": benchmark, "study": study_name, "run": where.run, "seed": seed}
    rated = tuple(models) if study.of_answers else ()
    sheet = Sheet(**settings, models=rated, questions=dict(study.questions), units=units)
    called = [f"{number:0{len(str(raters))}d}" for number in range(1, raters + 1)]
    return _seated(sheet, study, practice, called, overlap, draw)


def draw_decision(votes: Votes, *, verify: bool = False) -> tuple[Sheet, Seats]:
    """(sheet, pages) of one more rater who decides the even votes of a study, as in PixelHumor's section 5.4.

    If the best text is chosen, the rater chooses among the leading ones; of drafts, among those that were used.
    `verify`: the rater checks a tenth of the accepted drafts instead, as in StripCipher's section 4. Raises
    PunchlineError for a study of points, and if there is no such page.
    """
    study = study_of(votes)
    if study.level != "nominal" or (verify and not study.reviews):
        what = "no drafts are reviewed in it" if verify else "votes are points on a scale"
        raise PunchlineError(f"{what}: there is nothing to {'verify' if verify else 'decide'}", file=votes.path)
    if not (units := drafts.verified(votes) if verify else even(votes)):
        what = "no page is accepted" if verify else "no votes are even on a page that all its raters have rated"
        raise PunchlineError(what, file=votes.path, hint=f"See who has rated: punchline rate status {votes.name}")
    raters = votes.raters()
    rater = f"{len(raters) + 1:0{len(raters[0])}d}"
    practice = [unit for unit in votes.sheet.units if unit.kind == "practice"]
    draw = random.Random(f"decide/{rater}/{votes.sheet.seed}")
    return _seated(replace(votes.sheet, units=tuple(units)), study, practice, [rater], 1, draw)
