"""Texts to rate: answers of a run, and blinded sheets of them for a spreadsheet."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from punchline.benchmarks.study import Study
from punchline.config.runs import making
from punchline.core.benchmark import DEFAULT
from punchline.core.storage import read_table
from punchline.errors import PunchlineError, check_file, check_known
from punchline.files import Keyed, csv_text, parse_csv
from punchline.paths import Paths
from punchline.schema import Item, Request, Response
from punchline.tables.ratings import NUMBER, Rating, for_spreadsheet

SHEET = ("row", "item_id", "image", "explanation", "question", "score")
KEY = ("row", "item_id", "source", "task", "aspect")

Texts = dict[tuple[str, str, str], str]  # by item, task and source


def prepared_items(where: Paths, benchmark: str, target: str = "respond_all") -> dict[str, Item]:
    """A run's items by id. Raises PunchlineError, with a target that makes them, if there are none yet."""
    hint = f"Run {making(where.run, target, benchmarks=f'[{benchmark}]')}"
    check_file(where.items(benchmark), "nothing is prepared yet", hint=hint)
    return Keyed(where.items(benchmark), Item)


def answer_texts(where: Paths, benchmark: str, study: Study, models: Sequence[str]) -> Texts:
    """A run's answers as raters read them, without those that are empty then.

    Raises PunchlineError for models without an answer.
    """
    requests = read_table(where.requests(benchmark), Request)
    texts, states = Texts(), Counter[str]()
    for model in models:
        index = Path(where.responses(benchmark, model))
        there = [other.stem for other in index.parent.glob("*.parquet")]
        check_known(model, there, "the model has no answers", file=index)
        for request, response in zip(requests, read_table(index, Response), strict=True):
            if request.task in study.tasks and (request.condition, request.sample) == (DEFAULT, 0):
                states[response.state] += 1
                if response.state == "ok" and (text := (study.reading(response.text or "") or "").strip()):
                    texts[request.item_id, study.tasks[request.task], model] = text
    if not states["ok"]:
        what = f"no answer to {', '.join(study.tasks)} of {', '.join(models)} ({states['failed']:,} failed)"
        hint = f"Ask models: {making(where.run, 'respond_all', models='[NAME]')}; for failed answers: punchline retry"
        raise PunchlineError(what, file=where.requests(benchmark), hint=hint)
    return texts


def blinded(study: Study, texts: Texts, items: Mapping[str, Item], seed: int) -> tuple[str, str]:
    """(sheet without sources, key with them) as CSV: a row per text and question, texts in seeded order.

    Raises PunchlineError for a study in which raters give no points.
    """
    if study.level == "nominal":
        raise PunchlineError("a sheet is for studies in which raters give points", hint="Use pages: --raters N")
    order = sorted(texts.items())
    random.Random(seed).shuffle(order)
    rows = list[dict[str, Any]]()
    for (item_id, task, source), text in order:
        image = items[item_id].images[0].path if items[item_id].images else ""
        about = {"item_id": item_id, "image": image, "explanation": for_spreadsheet(text), "source": source}
        for question in study.questions[task]:
            asked = {"task": task, "aspect": question.aspect, "question": question.ask, "score": ""}
            rows.append({"row": len(rows) + 1, **about, **asked})
    sheet, key = (csv_text(names, ({name: row[name] for name in names} for row in rows)) for names in (SHEET, KEY))
    return sheet, key


def unblinded(sheet: Path, key: Path) -> list[Rating]:
    """Scores of a filled-in sheet with their sources; the file's name is the rater's. Rows without a score are skipped.

    Raises PunchlineError for a row that the key does not have, or has for another item, and for an invalid score.
    """
    rows = {cells["row"]: cells for _, cells in parse_csv(key.read_bytes(), KEY[:3], file=key)}
    ratings = list[Rating]()
    for line, cells in parse_csv(sheet.read_bytes(), ("row", "item_id", "score"), file=sheet):
        row, item_id, score = cells["row"], cells["item_id"], cells["score"].strip()
        refused = partial(PunchlineError, file=sheet, line=line, record=item_id)
        if row not in rows or rows[row]["item_id"] != item_id:
            hint = f"Use the key that was written with this sheet: {key}"
            raise refused(f"the key has no row {row!r} of this item", hint=hint)
        if score and not NUMBER.fullmatch(score):
            raise refused(f"{score!r} is no number", field="score", hint="Write a number, or leave the cell empty")
        if score:
            about = {name: rows[row][name] for name in KEY[3:] if rows[row].get(name)}
            ratings.append(Rating(item_id, rows[row]["source"], sheet.stem, float(score), about))
    return ratings
