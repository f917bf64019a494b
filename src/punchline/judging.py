"""Which judge says what of whose answers, and in which journal its answers lie."""

from __future__ import annotations

import re
from collections.abc import Sequence

from punchline.benchmarks import Benchmark
from punchline.engines import Engine, Verdicts
from punchline.records import Request

RELEASED = "released"  # in place of a judge's name: verdicts were released with the answers
UNNAMED = "unnamed"


def judge_of(benchmark: Benchmark, engine: Engine, judge: str | None) -> str:
    """Who judges the engine's answers: `judge`, RELEASED, or "" for nobody.

    Released verdicts are taken where no other judge is asked for, or just the one that gave them.
    """
    if not benchmark.JUDGED:
        return ""
    if isinstance(engine, Verdicts) and engine.format == benchmark.NAME and judge in (None, *_who(engine)):
        return RELEASED
    return judge or ""


def _who(engine: Verdicts) -> set[str]:
    """The one judge of all an engine's answers; nobody where there are several."""
    judges = set(engine.judges().values())
    return judges if len(judges) == 1 else set()


def by_journal(judge: str, engine: Engine, requests: Sequence[Request]) -> dict[str, list[Request]]:
    """{stem of a journal: requests whose answers it holds}. A released verdict lies in the journal of who gave it."""
    if judge != RELEASED:
        return {judge: list(requests)}
    assert isinstance(engine, Verdicts)
    judges = engine.judges()
    grouped: dict[str, list[Request]] = {}
    for request in requests:
        name = re.sub(r"[^A-Za-z0-9._-]", "_", judges.get(request.item_id, UNNAMED)).lstrip("._-") or UNNAMED
        grouped.setdefault(name, []).append(request)
    return grouped
