"""A study drawn up: what of a run's answers is shown to whom."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from punchline.benchmarks.study import HUMAN, Study
from punchline.config.runs import making
from punchline.core.benchmark import names, shown, studies
from punchline.errors import PunchlineError, nearest
from punchline.files import parse_csv, read_records
from punchline.paths import Paths
from punchline.people.assignment import assigned, chosen, with_checks
from punchline.people.sheet import explanations
from punchline.people.votes import Ask, Sheet, Shown, Unit
from punchline.schema import Gold, Item
from punchline.tables.ratings import from_spreadsheet
from punchline.text import log_line

CHECK = "This is no answer but a check that you read along: choose {} here."
TEXTS = ("item_id", "source", "text")  # of a file of texts that people wrote
RELEASED = ("comic_id", "explanation")  # of PixelHumor's

Texts = dict[tuple[str, str, str], str]  # by item, task and source


def declared(name: str) -> tuple[str, str, Study]:
    """(benchmark, name, declaration) of a study: `pixelhumor/relevance`, or `relevance`. Raises PunchlineError."""
    known = {f"{benchmark}/{study}": (benchmark, study) for benchmark in names() for study in studies(benchmark)}
    of = [full for full in known if name in (full, known[full][1])]
    if len(of) != 1:
        raise PunchlineError(f"no study {name!r}", hint=nearest(name, known))
    benchmark, study = known[of[0]]
    return benchmark, study, studies(benchmark)[study]


def answered(where: Paths, benchmark: str, study: Study, models: Sequence[str]) -> Texts:
    """What models have answered in a run now, as raters read it; an answer that says nothing is left out."""
    found: Texts = {}
    for task, called in study.tasks.items() if models else ():
        for one in explanations(where, benchmark, task, models):
            if text := (study.reading(one.text) or "").strip():
                found[one.item_id, called, one.source] = text
    return found


def written(content: bytes, file: str, study: Study, items: Mapping[str, Item]) -> Texts:
    """Texts that people wrote: a CSV with item_id, source and text, and task where the study has several; or
    PixelHumor's released one, of which what is about no item of this run is left out, and a second one of an item."""
    found: Texts = {}
    if all(name in content.partition(b"\n")[0].decode("utf-8-sig", "replace") for name in RELEASED):
        rows = [tuple(cells[name].strip() for name in RELEASED) for _, cells in parse_csv(content, RELEASED, file=file)]
        for item_id, text in rows:
            if item_id in items and text:
                found.setdefault((item_id, "", HUMAN), text)
        log_line(f"{file}: {len(found):,} of {len(rows):,} explanations are of comics of this run, the first of each")
        return found
    for line, cells in parse_csv(content, TEXTS, file=file):
        item_id, source, text = (from_spreadsheet(cells[name].strip()) for name in TEXTS)
        task = cells.get("task", "").strip()

        def wrong(what: str, field: str, hint: str, line: int = line, record: str = item_id) -> PunchlineError:
            return PunchlineError(what, file=file, line=line, record=record, field=field, hint=hint)

        if item_id not in items:
            raise wrong("no such item", "item_id", "Check the id")
        if task not in study.questions:
            raise wrong(f"unknown task {task!r}", "task", nearest(task, study.questions))
        if not source or not text:
            raise wrong("the cell is empty", "text" if source else "source", "Say who wrote it, and what")
        if (item_id, task, source) in found:
            raise wrong("a second text by the same source", "source", "Keep one of the two")
        found[item_id, task, source] = text
    return found


def _units(
    study: Study, texts: Texts, items: Mapping[str, Item], golds: Mapping[str, Gold], blurred: Mapping[str, str]
) -> list[Unit]:
    """What can be rated: a unit a text, or an item where the best of its texts is chosen or one is written.

    `blurred`: values of gold that a picture is blurred for.
    """
    groups: dict[tuple[str, ...], list[Shown]] = {}
    if study.writes:
        groups = {(item_id, task): [] for item_id in sorted(items) for task in study.questions}
    for (item_id, task, source), text in sorted(texts.items()):
        key = (item_id, task) if study.best else (item_id, task, source)
        groups.setdefault(key, []).append(Shown(source=source, text=text))
    made = []
    for (item_id, task, *_), own in groups.items():
        item = items[item_id]
        pictures = item.images if study.picture else ()
        if (study.picture and not pictures) or (study.best and len(own) < 2):
            continue
        context = [(name, str(item.fields.get(name, ""))) for name in study.fields]
        context += [(name, str(golds[item_id].values[name])) for name in study.gold]
        path, sha256 = (pictures[0].path, pictures[0].sha256) if pictures else ("", "")
        harmful = any(golds[item_id].values.get(name) == value for name, value in blurred.items())
        made.append(
            Unit(
                item_id=item_id,
                task=task,
                texts=tuple(own),
                context=tuple(context),
                picture=path,
                sha256=sha256,
                blurred=harmful or msgspec.UNSET,
            )
        )
    return made


def _check(unit: Unit, study: Study, draw: random.Random) -> Unit:
    """An attention check in the clothes of a unit."""
    if study.best:
        place = draw.randrange(len(unit.texts))
        texts = [Shown(source="", text=shown.text) for shown in unit.texts]
        texts[place] = Shown(source="", text=CHECK.format("this text"))
        right = str(place)
    else:
        right = draw.choice(study.options)[0]
        texts = [Shown(source="", text=CHECK.format(right))]
    return replace(unit, texts=tuple(texts), kind="check", right=right)


def _there(units: Sequence[Unit]) -> None:
    for picture in sorted({unit.picture for unit in units if unit.picture}):
        if not Path(picture).is_file():
            raise PunchlineError("the picture is not there", file=picture, hint="Run the target `prepare_all`")


def draw_up(
    where: Paths,
    name: str,
    models: Sequence[str],
    *,
    raters: int,
    seed: int,
    overlap: int | None = None,
    items: int | None = None,
    texts: tuple[str, bytes] | None = None,
) -> tuple[Sheet, dict[str, list[int]]]:
    """(sheet, units by rater) of a study of a run's answers, and of `texts`: (name, content) of a file of people's.

    Items are drawn, of each source as many as of any other, with `texts` of those that people wrote about; the practice
    items are others than those that count. Raises PunchlineError where there is nothing to rate, for fewer raters than
    a text is to have, and for a picture that is not there.
    """
    benchmark, study_name, study = declared(name)
    if study.writes and texts is not None:
        raise PunchlineError("in this study texts are written", file=texts[0], hint="--texts goes with one of ratings")
    overlap = min(study.overlap, raters) if overlap is None else overlap
    if not 1 <= overlap <= raters:
        raise PunchlineError(
            f"{overlap} raters a text of {raters} raters", hint=f"--overlap goes from 1 to --raters, {raters}"
        )
    if not Path(where.items(benchmark)).is_file():
        target = "prepare" if study.writes else "responses"
        hint = f"Run {making(where.run, target, benchmarks=f'[{benchmark}]')}"
        raise PunchlineError("no item is prepared", file=where.items(benchmark), hint=hint)
    all_items = {item.item_id: item for item in read_records(where.items(benchmark), Item)}
    blurred: Mapping[str, str] = getattr(shown(benchmark), "BLURRED", {})
    golds = {gold.item_id: gold for gold in read_records(where.gold(benchmark), Gold)} if study.gold or blurred else {}
    models = () if study.writes else models
    found = answered(where, benchmark, study, models)
    if texts is not None:
        own_words = written(texts[1], texts[0], study, all_items)
        about = {item_id for item_id, *_ in own_words}
        found = {key: text for key, text in found.items() if key[0] in about} | own_words
    ratable = _units(study, found, all_items, golds, blurred)
    if not ratable:
        what = "no item has two texts to choose from" if study.best else "no item has a text to rate"
        hint = "Run the target `respond_all` with models that look at pictures, or name more models: --model"
        if study.writes:
            what, hint = "no item", "Run the target `prepare_all` with more of them"
        raise PunchlineError(what + (" and a picture" if study.picture else ""), hint=hint)
    sources = {unit.item_id: all_items[unit.item_id].source for unit in ratable}
    drawn = chosen(sources, len(sources), seed)
    count = min(items or len(drawn), len(drawn))
    counted, spare = set(drawn[:count]), drawn[count : count + study.practice]
    units = [unit for unit in ratable if unit.item_id in counted]
    draw = random.Random(f"study/{seed}")
    practice = [
        replace(draw.choice([unit for unit in ratable if unit.item_id == item_id]), kind="practice")
        for item_id in spare
    ]
    groups = [f"{unit.task}/{unit.texts[0].source if len(unit.texts) == 1 else ''}" for unit in units]
    if raters > (most := len(units) * overlap):
        raise PunchlineError(
            f"{raters:,} raters of {len(units):,} pages with {overlap} raters each: {raters - most:,} would have none",
            hint=f"--raters {most} at most, a larger --overlap, or more --items",
        )
    own = assigned(groups, raters, overlap, seed)
    checks = [max(1, len(mine) // study.check_every) if mine and not study.writes else 0 for mine in own]
    checking = [_check(draw.choice(units), study, draw) for _ in range(max(checks))]
    first_check = len(units) + len(practice)
    called = [f"{number:0{len(str(raters))}d}" for number in range(1, raters + 1)]
    seats = {}
    for rater, mine, n in zip(called, own, checks, strict=True):
        among = with_checks(mine, range(first_check, first_check + n), rater, seed)
        seats[rater] = [*range(len(units), first_check), *among]
    sheet = Sheet(
        benchmark=benchmark,
        study=study_name,
        run=where.run,
        models=tuple(models),
        seed=seed,
        title=study.title,
        intro=study.intro,
        options=study.options,
        questions={
            task: tuple(Ask(aspect=q.aspect, ask=q.ask) for q in asks) for task, asks in study.questions.items()
        },
        note=study.note,
        units=(*units, *practice, *checking),
    )
    _there(sheet.units)
    return sheet, seats
