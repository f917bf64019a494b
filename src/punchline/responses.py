"""Responses grouped for scoring: those of one item, condition and sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest

from punchline.core.benchmark import Verdict
from punchline.errors import PunchlineError
from punchline.schema import Request, Response

Unit = tuple[str, str, int]  # item id, condition, sample
Exchange = tuple[Request, Response]  # a request and its answer
Verdicts = dict[str, Verdict]  # by id of the judge's request


def by_item(answers: Iterable[Exchange]) -> Iterator[tuple[str, dict[Unit, dict[str, Response]]]]:
    """Answers that are read together, by unit and task, item by item. An item's requests stand together."""
    for item_id, pairs in groupby(answers, key=lambda pair: pair[0].item_id):
        units: dict[Unit, dict[str, Response]] = {}
        for request, response in pairs:
            units.setdefault((item_id, request.condition, request.sample), {})[request.task] = response
        yield item_id, units


def read_verdicts(judge: str, answers: Iterable[Exchange]) -> Verdicts:
    """A judge's answers by id of its request. An answer from a released file says itself whose it is."""
    return {answer.request_id: Verdict(str(answer.effective.get("judge", judge)), answer) for _, answer in answers}


def pair_up(requests: Iterable[Request], responses: Iterable[Response], file: str) -> Iterator[Exchange]:
    """Each request with its answer. Raises PunchlineError unless they belong together, one for one, in their order."""
    for request, response in zip_longest(requests, responses):
        if request is None or response is None or request.request_id != response.request_id:
            what, hint = "the responses do not match the current requests", "Run the target `respond_all` again"
            raise PunchlineError(what, file=file, hint=hint)
        yield request, response
