"""A provider's batch mode: the same requests at a lower price, answered within a day.

What is under way stands in data/responses/batches/<model>.json (ids and digests only), so that a run that was killed
waits for the batch that it paid for and asks nothing twice.
"""

from __future__ import annotations

import io
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
import msgspec
from openai import AsyncOpenAI, NotFoundError

from punchline.engines import openai as openai_engine
from punchline.engines.openai import chat
from punchline.engines.openai.calls import Fault, call_once
from punchline.files import decoded, write_bytes
from punchline.journal import locked
from punchline.paths import BATCHES
from punchline.schema import Record, Request, Response
from punchline.text import log_line

if TYPE_CHECKING:
    from punchline.engines.openai import OpenAI

FOLDER = Path(BATCHES)  # relative to the project root, which is the working directory
MOST_REQUESTS = 50_000  # OpenAI's limits for one batch: requests, and bytes of its file (200 MB, less some room)
MOST_BYTES = 180_000_000
ENDPOINT = "/v1/chat/completions"
MOST_PAGES = 100  # of a hundred batches each, that are looked through for one of ours
FILE_BYTES = 2**30  # of a file of answers
FILE_S = 3600.0  # to bring one
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")  # of a batch or a file: it becomes part of an address
ENDED = ("completed", "failed", "expired", "cancelled")

TWICE = {"error": {"message": "the batch has two different answers to it"}}  # in place of a line

T = TypeVar("T")


class Batch(Record, frozen=True, kw_only=True):
    """One batch that was, or was about to be, created."""

    mark: str  # random; the provider keeps it as the batch's metadata
    model_key: str
    requests: tuple[str, ...]  # ids of the requests whose answers have not been handed out
    id: str | None = None  # None: creating it was begun


class State(Record, frozen=True, kw_only=True):
    """The state file."""

    batches: tuple[Batch, ...] = ()


def answer(
    engine: OpenAI, requests: Sequence[Request], images: Mapping[str, Path], model_key: str
) -> Iterator[Response]:
    """Responses by way of the provider's batches: first those under way that hold such requests, then new ones."""
    run = _Run(engine, images, model_key)
    by_id = {request.request_id: request for request in requests}
    for batch in run.under_way():
        if batch.model_key == model_key and (left := [by_id.pop(i) for i in batch.requests if i in by_id]):
            yield from run.hand_out(batch, left)
    todo: Sequence[Request] = list(by_id.values())
    while todo:
        batch, taken = run.start(todo)
        todo = todo[len(taken) :]
        yield from run.hand_out(batch, taken)


async def _get(client: AsyncOpenAI, path: str) -> dict[str, Any]:
    return chat.parse_object((await client.get(path, cast_to=httpx2.Response)).content)


def _name(body: Mapping[str, Any]) -> str:
    """The id of a batch or a file. Raises Unusable for none."""
    name = body.get("id")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise chat.Unusable("the reply has no id")
    return name


class _Run:
    def __init__(self, engine: OpenAI, images: Mapping[str, Path], model_key: str) -> None:
        self.engine, self.images, self.model_key = engine, images, model_key
        self.state = FOLDER / f"{engine.card.name}.json"

    def under_way(self) -> tuple[Batch, ...]:
        """The batches of the state file."""
        if not self.state.exists():
            return ()
        hint = "Delete it; batches under way are then asked, and paid, again"
        return decoded(self.state.read_bytes(), State, "a list of batches", self.state, hint=hint).batches

    def _write(self, batch: Batch, *, keep: bool = True) -> None:
        """Put a batch into the state file, which shards share, or take it out."""
        with locked(str(self.state)):
            others = [other for other in self.under_way() if other.mark != batch.mark]
            write_bytes(self.state, msgspec.json.encode(State(batches=(*others, *([batch] if keep else ())))))

    def start(self, todo: Sequence[Request]) -> tuple[Batch, Sequence[Request]]:
        """Begin a batch of as many of the first requests as it may hold."""
        lines: list[bytes] = []
        size = 0
        for request in todo[:MOST_REQUESTS]:
            body = self.engine.body(request, self.images, self.engine.parameters(request))
            about = {"custom_id": request.request_id, "method": "POST", "url": ENDPOINT, "body": body}
            lines.append(json.dumps(about).encode() + b"\n")
            size += len(lines[-1])
            if len(lines) > 1 and size > MOST_BYTES:
                lines.pop()
                break
        taken = todo[: len(lines)]
        ids = tuple(request.request_id for request in taken)
        batch = Batch(mark=secrets.token_hex(16), model_key=self.model_key, requests=ids)
        self._write(batch)
        return self._known(batch, b"".join(lines)), taken

    def _known(self, batch: Batch, content: bytes | None) -> Batch:
        """The batch with its id: as the provider lists it, else created from `content`."""

        async def find(client: AsyncOpenAI) -> str | None:
            after = ""
            for _ in range(MOST_PAGES):
                page = await _get(client, f"/batches?limit=100{after}")
                listed = chat.objects(page)
                for listed_batch in listed:
                    if chat.as_object(listed_batch.get("metadata")).get("punchline") == batch.mark:
                        return _name(listed_batch)
                if page.get("has_more") is not True or not listed:
                    break
                after = f"&after={_name(listed[-1])}"
            return None

        async def upload(client: AsyncOpenAI) -> str:
            raw = await client.files.with_raw_response.create(file=("punchline.jsonl", content or b""), purpose="batch")
            return _name(chat.parse_object(raw.content))

        async def create(client: AsyncOpenAI) -> str:
            if name := await find(client):  # a try whose reply was lost may have made it
                return name
            about = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h"}
            body = {**about, "metadata": {"punchline": batch.mark}}
            return _name(chat.parse_object((await client.post("/batches", body=body, cast_to=httpx2.Response)).content))

        file = None if content is None else self._call(upload)
        name = self._call(find) if content is None else self._call(create)
        if name is not None:
            batch = msgspec.structs.replace(batch, id=name)
            self._write(batch)
            log_line(f"{self.engine.card.name}: batch {name} of {len(batch.requests):,} requests is under way")
        return batch

    def hand_out(self, batch: Batch, requests: Sequence[Request]) -> Iterator[Response]:
        """Wait for a batch; its answers to `requests`. Every one of them gets a response."""
        if batch.id is None:
            batch = self._known(batch, None)
        if batch.id is None:  # it was never created
            self._write(batch, keep=False)
            batch, taken = self.start(requests)
            assert len(taken) == len(requests)  # they fitted into one batch before
        ended = self._wait(batch)
        status = ended["status"]
        if status == "failed" or (status == "cancelled" and not ended.get("output_file_id")):
            self._write(batch, keep=False)
            errors = [error.get("message") for error in chat.objects(chat.as_object(ended.get("errors")))]
            messages = "; ".join(str(error)[: chat.WORDS_MOST] for error in errors[:20] if error)
            words = chat.one_line(messages or status, self.engine.key)
            what = f"the provider ended batch {batch.id} ({status}): {words}"
            hint = "Mend what it says, or write `batch: false`; then run again"
            raise self.engine.wrong(what, field="batch", hint=hint)
        wanted = {request.request_id for request in requests}
        lines = self._lines(ended.get("error_file_id"), wanted) | self._lines(ended.get("output_file_id"), wanted)
        responses = [self._response(request, lines.get(request.request_id)) for request in requests]
        left = tuple(sorted(set(batch.requests) - wanted))
        batch = msgspec.structs.replace(batch, requests=left)
        failed = [response.reason for response in responses if response.state == "failed"]
        if len(failed) == len(responses) and status == "completed":
            self._write(batch, keep=bool(left))
            raise self.engine.wrong(f"every request of batch {batch.id} failed; the first error: {failed[0]}")
        yield from responses  # the state file says so only once they are journalled
        self._write(batch, keep=bool(left))

    def _response(self, request: Request, line: Any) -> Response:
        sent = {**self.engine.parameters(request), "batch": True}
        line = chat.as_object(line)
        got, kind = line.get("response"), "failed"
        words = str(chat.as_object(line.get("error")).get("message", "no answer in the batch"))
        if isinstance(got, dict):
            content, status, name = json.dumps(got.get("body")).encode(), got.get("status_code"), got.get("request_id")
            try:
                if status == 200:
                    reply = chat.read_reply(content)
                    call_id = name if isinstance(name, str) else reply.id
                    return self.engine.answered(request, self.model_key, reply, sent, provider_id=call_id)
                refusal = chat.read_refusal(status if isinstance(status, int) else 0, content)
                kind, words = chat.judge(refusal, sent)[0], str(refusal)
            except chat.Unusable as error:
                words = str(error)
        return self.engine.unanswered(request, self.model_key, kind, words[: chat.WORDS_MOST], sent)

    def _lines(self, file: Any, wanted: Collection[str]) -> dict[str, Any]:
        """{custom_id: line} of one of a batch's files; TWICE where there are two that differ."""
        if not isinstance(file, str) or not NAME.fullmatch(file):
            return {}

        async def fetch(client: AsyncOpenAI) -> bytes:
            return bytes((await client.get(f"/files/{file}/content", cast_to=httpx2.Response)).content)

        lines: dict[str, Any] = {}
        for line in io.BytesIO(self._call(fetch, most=FILE_BYTES, seconds=FILE_S)):
            try:
                value = json.loads(line) if len(line) <= openai_engine.REPLY_BYTES else None
            except (ValueError, RecursionError):  # its request gets "no answer in the batch"
                continue
            name = chat.as_object(value).get("custom_id")
            if isinstance(name, str) and name in wanted:
                lines[name] = value if lines.get(name, value) == value else TWICE
        return lines

    def _wait(self, batch: Batch) -> dict[str, Any]:
        """The batch as the provider has it, once it has ended. Raises PunchlineError for one that does not."""
        status, until = None, monotonic() + self.engine.options.batch_wait

        async def look(client: AsyncOpenAI) -> dict[str, Any] | None:
            try:
                return await _get(client, f"/batches/{batch.id}")
            except NotFoundError:
                return None

        while True:
            current = self._call(look)
            if current is None:
                self._write(batch, keep=False)
                what = f"the provider does not know batch {batch.id} any more"
                hint = "Run again: its requests are then asked, and paid, anew"
                raise self.engine.wrong(what, field="batch", hint=hint)
            word = chat.one_line(str(current.get("status")), self.engine.key)
            if current.get("status") != status:
                status = current.get("status")
                log_line(f"{self.engine.card.name}: batch {batch.id} is {word}")
            if status in ENDED:
                return current
            if monotonic() > until:
                hint = "Run again to go on waiting: it is kept, and not paid twice"
                what = f"batch {batch.id} has not ended after {self.engine.options.batch_wait:,.0f} s ({word})"
                raise self.engine.wrong(what, field="batch_wait", hint=hint)
            sleep(self.engine.options.batch_poll)

    def _call(self, call: Callable[[AsyncOpenAI], Awaitable[T]], most: int | None = None, seconds: float = 0.0) -> T:
        """Result of one call of the API; `seconds`: that it may take where the card says nothing."""
        total = self.engine.options.timeouts.total
        if total == openai_engine.Timeouts().total:
            total = max(total, seconds)
        outcome = call_once(self.engine, call, total, most)
        if isinstance(outcome, Fault):
            what = f"the batch API gave no answer: {outcome.words}"
            raise self.engine.wrong(what, field="batch", hint="Run again: a batch under way is not paid twice")
        return outcome
