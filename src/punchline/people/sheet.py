"""Answers of models as they are handed to people for rating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from punchline.config.runs import making
from punchline.core.benchmark import DEFAULT
from punchline.core.storage import read_table
from punchline.errors import PunchlineError, nearest
from punchline.files import read_records
from punchline.paths import DEFAULT_RUN, Paths
from punchline.schema import Item, Request, Response
from punchline.tables.ratings import Explanation


def explanations(
    where: Paths, benchmark: str, task: str, models: Sequence[str], condition: str = DEFAULT
) -> list[Explanation]:
    """All answers of the models to a task in one condition, with the picture that they saw.

    Raises PunchlineError for a model that has not answered in the current selection and for a task that was not asked.
    """
    requests = Path(where.requests(benchmark))
    if not requests.is_file():
        hint = f"Run {making(where.run, 'responses', benchmarks=f'[{benchmark}]')} first"
        raise PunchlineError("nothing has been asked yet", file=requests, hint=hint)
    asked = read_table(requests, Request)
    tasks = {request.task for request in asked}
    if task not in tasks:
        raise PunchlineError(f"no request has the task {task!r}", file=requests, hint=nearest(task, tasks))
    pictures = {
        item.item_id: item.images[0].path if item.images else "" for item in read_records(where.items(benchmark), Item)
    }
    found = []
    states: Counter[str] = Counter()
    for model in models:
        snapshot = Path(where.snapshot(benchmark, model))
        if not snapshot.is_file():
            there = [path.stem for path in snapshot.parent.glob("*.parquet")]
            raise PunchlineError("the model has no answers", file=snapshot, hint=nearest(model, there))
        for request, response in zip(asked, read_table(snapshot, Response), strict=True):
            chosen = (request.task, request.condition, request.sample) == (task, condition, 0)
            states[response.state] += chosen
            if chosen and response.state == "ok":
                picture = pictures.get(request.item_id, "")
                found.append(Explanation(request.item_id, model, picture, response.text or ""))
    if not found:
        what = f"no answer to {task} of {', '.join(models)} ({states.total():,} were asked for)"
        hint = f"Select models that answer it: {making(where.run, 'responses', models='[NAME]')}; baselines do not"
        if states["failed"]:
            of_run = "" if where.run == DEFAULT_RUN else f" run={where.run}"
            hint = f"punchline retry{of_run} asks the {states['failed']:,} again that failed"
        raise PunchlineError(what, file=requests, hint=hint)
    return found
