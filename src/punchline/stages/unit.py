"""Answers that are read together: one item's, in one condition, of one sample."""

from __future__ import annotations

from collections.abc import Sequence

from punchline.core.errors import PunchlineError
from punchline.core.records import Request, Response

Unit = tuple[str, str, int]  # item id, condition, sample


def by_unit(requests: Sequence[Request], responses: Sequence[Response]) -> dict[Unit, dict[str, Response]]:
    """Answers that are read together, by task."""
    units: dict[Unit, dict[str, Response]] = {}
    for request, response in zip(requests, responses, strict=True):
        units.setdefault((request.item_id, request.condition, request.sample), {})[request.task] = response
    return units


def check_snapshot(requests: Sequence[Request], responses: Sequence[Response], file: str) -> None:
    """Raises PunchlineError unless the responses answer the requests, one for one and in their order."""
    if [r.request_id for r in requests] != [r.request_id for r in responses]:
        raise PunchlineError(
            "the snapshot does not answer the current requests", file=file, way_out="Run the target `responses` again"
        )
