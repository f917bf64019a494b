"""Ask what has not been answered yet, journal every answer as it comes, write the snapshot of the current requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from punchline.core.engine import Engine, looks_at, model_key
from punchline.core.errors import PunchlineError
from punchline.core.journal import Journal
from punchline.core.progress import say, track
from punchline.core.records import Image, Item, Request, Response, Scalar, State
from punchline.core.storage import sha256_file, write_table

_SURROGATE = re.compile("[\ud800-\udfff]")


def image_files(items: Sequence[Item], root: str | Path = ".") -> dict[str, Path]:
    """{sha256: file} of all images of the items. Raises PunchlineError for one whose bytes are not those."""
    files: dict[str, Path] = {}
    for item in items:
        for image in item.images:
            path = Path(root) / image.path
            if not path.is_file() or sha256_file(path) != image.sha256:
                raise PunchlineError(
                    "the image is gone" if not path.is_file() else "the image's bytes have changed since it was made",
                    file=path,
                    record=item.item_id,
                    way_out="Run again with --forcerun pictures",
                )
            files[image.sha256] = path
    return files


def has_all_images(request: Request) -> bool:
    """Whether no image of the request is missing."""
    parts = (part for message in request.messages for part in message.content)
    return all(part.sha256 is not None for part in parts if isinstance(part, Image))


def infer(
    engine: Engine,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    *,
    journal: str | Path,
    snapshot: str | Path,
    label: str,
    sampling: Mapping[str, Scalar] | None = None,
) -> Counter[str]:
    """Answer requests with an engine; write the snapshot; return how many answers of each state the snapshot holds.

    `sampling`: the card's parameters for these requests' benchmark, part of the key. Answers pass through; the journal
    holds them.
    """
    key = model_key(engine, sampling)
    with Journal(journal) as log:
        _ask(engine, requests, images, log, key, label)
        write_table(snapshot, (log.read((request.request_id, key)) for request in requests), Response)
        return Counter(str(log.state((request.request_id, key))) for request in requests)


def answer(
    engine: Engine,
    requests: Sequence[Request],
    images: Mapping[str, Path],
    *,
    journal: str | Path,
    label: str,
    sampling: Mapping[str, Scalar] | None = None,
) -> list[Response]:
    """The engine's answers to requests, one for one and in their order, by way of the journal."""
    key = model_key(engine, sampling)
    with Journal(journal) as log:
        _ask(engine, requests, images, log, key, label)
        return [log.read((request.request_id, key)) for request in requests]


def _ask(
    engine: Engine, requests: Sequence[Request], images: Mapping[str, Path], log: Journal, key: str, label: str
) -> None:
    """Journal an answer to every request that has none.

    A key that the journal holds is never asked again, save one that failed. A missing image is journalled too, under a
    request id that says so: once the image is there, the request has another id.
    """
    todo = [r for r in requests if log.state((r.request_id, key)) in (None, "failed")]
    say(f"{label}: {len(requests):,} requests, {len(requests) - len(todo):,} answered before, {len(todo):,} to ask")
    ask = []
    for request in todo:
        if looks_at(engine, request.benchmark) and not has_all_images(request):
            log.append(_without_answer(request, key, engine, "missing", "image missing"))
        else:
            ask.append(request)
    if ask:
        for response in track(engine.answer(ask, images, key), len(ask), label):
            log.append(_storable(response))
        for request in ask:
            if (request.request_id, key) not in log.places:
                log.append(_without_answer(request, key, engine, "failed", "the engine gave no response"))


def _storable(response: Response) -> Response:
    """The response with U+FFFD for every half of a surrogate pair, which UTF-8 cannot hold."""
    if response.text is None or response.text.isascii():
        return response
    return msgspec.structs.replace(response, text=_SURROGATE.sub("\ufffd", response.text))


def _without_answer(request: Request, key: str, engine: Engine, state: State, reason: str) -> Response:
    return Response(
        request_id=request.request_id,
        model_key=key,
        state=state,
        reason=reason,
        engine=engine.name,
        engine_version=engine.version,
    )
