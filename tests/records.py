"""Records that many tests make or look into."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from punchline.errors import PunchlineError
from punchline.fetch.log import Missing
from punchline.schema import Gold, Image, Item, Message, Request, Response, Sampling, Score, State, Text


def response(to: Request | str, text: str | None, state: State = "ok", **more: Any) -> Response:
    """A response to a request, or to a request of this id."""
    requests = to if isinstance(to, str) else to.request_id
    fields: dict[str, Any] = {"model_key": "k", "engine": "e", "engine_version": "1"}
    reason = None if text is not None else "why"
    return Response(request_id=requests, state=state, text=text, **fields | {"reason": reason} | more)


def request(*content: str | Image, temperature: float = 0.0, max_tokens: int = 16, **more: Any) -> Request:
    """A user's request with these texts and images."""
    parts = tuple(Text(text=part) if isinstance(part, str) else part for part in content)
    fields: dict[str, Any] = {"benchmark": "b", "item_id": "i", "task": "t", "condition": "default"}
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
    return Request(messages=(Message(role="user", content=parts),), sampling=sampling, **fields | more)


def score(item: str, **more: Any) -> Score:
    """An answer to an item that is scored under the paper's rule."""
    fields: dict[str, Any] = {"benchmark": "b", "item_id": item, "cluster": item, "model": "m", "rule": "paper"}
    fields |= {"task": "Q", "condition": "default", "sample": 0, "signature": "s", "responses": (), "gold_digest": "g"}
    return Score(**fields | {"state": "ok", "scored": True} | more)


def texts_of(request: Request) -> list[str]:
    return [part.text for message in request.messages for part in message.content if isinstance(part, Text)]


def text_of(request: Request) -> str:
    """All texts of a request, one after the other."""
    return "".join(texts_of(request))


def images_of(request: Request) -> list[str | None]:
    """The sha256 of each image of a request; None where an image is missing."""
    return [part.sha256 for message in request.messages for part in message.content if isinstance(part, Image)]


def read_items(benchmark: Any, files: Mapping[str, bytes]) -> dict[str, Item]:
    """All items of a benchmark's files by id, without images."""
    result = benchmark.items(files, {item_id: "no image" for item_id, _, _ in benchmark.listing(files)})
    return {item.item_id: item for item in result}


def read_golds(benchmark: Any, files: Mapping[str, bytes]) -> dict[str, Gold]:
    return {gold.item_id: gold for gold in benchmark.golds(files)}


def asked_in(condition: str, requests: Iterable[Request]) -> dict[str, Request]:
    """{task: request} of one condition."""
    return {request.task: request for request in requests if request.condition == condition}


def answers_of(engine: Any, requests: Sequence[Request], images: Mapping[str, Path] | None = None) -> list[Response]:
    """An engine's responses in the order of the requests; each has one."""
    given = list(engine.answer(requests, images or {}, "key"))
    assert sorted(one.request_id for one in given) == sorted(one.request_id for one in requests)
    by_id = {response.request_id: response for response in given}
    return [by_id[request.request_id] for request in requests]


def outcome(work: Callable[[], Any], seconds: float = 120) -> Any:
    """The result of work, or the error that it ends with; fails where it hangs."""
    result: list[Any] = []

    def watched() -> None:
        try:
            result.append(work())
        except (PunchlineError, Missing) as error:
            result.append(error)

    thread = threading.Thread(target=watched, daemon=True)
    thread.start()
    thread.join(seconds)
    assert result, f"no end within {seconds} s"
    return result[0]


REFUSED: dict[str, list[Any]] = yaml.safe_load((Path(__file__).parent / "refused.yaml").read_text(encoding="utf-8"))


def refused(name: str) -> list[Any]:
    """A table of tests/refused.yaml."""
    return REFUSED[name]
