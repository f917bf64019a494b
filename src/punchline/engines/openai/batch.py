"""A provider's batch mode: the same requests at a lower price, answered within a day.

What is under way stands in data/responses/batches/<model>.json (ids and digests only), so that a run that was killed
waits for the batch that it paid for and asks nothing twice.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import openai
from openai import AsyncOpenAI

from punchline.core.engine import ImageFiles
from punchline.engines import openai as openai_engine
from punchline.engines.openai import chat
from punchline.engines.openai.calls import Fault, call_once
from punchline.engines.openai.refusals import Refusal, Verdict, judge, read_refusal
from punchline.engines.openai.replies import ErrorReply, Unusable, read_reply
from punchline.errors import PunchlineError
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
ENDPOINT: Final = "/v1/chat/completions"
FILE_BYTES = 2**30  # of a file of answers
FILE_S = 3600.0  # to bring one
ENDED = ("completed", "failed", "expired", "cancelled")

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


def answer(engine: OpenAI, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
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


class Reply(msgspec.Struct):
    """A reply to one request of a batch."""

    status_code: int
    body: Any
    request_id: str | None = None


class Line(msgspec.Struct):
    """A line of a file of answers."""

    custom_id: str
    response: Reply | None = None
    error: Any = None


class _Refused(Exception):
    """A line with an error that ends the run, once the other lines are handed out."""

    def __init__(self, error: PunchlineError) -> None:
        super().__init__(str(error))
        self.error = error


class _Run:
    def __init__(self, engine: OpenAI, images: ImageFiles, model_key: str) -> None:
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
        lines, size = list[bytes](), 0
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

        async def upload(client: AsyncOpenAI) -> str:
            return str((await client.files.create(file=("punchline.jsonl", b"".join(lines)), purpose="batch")).id)

        async def create(client: AsyncOpenAI) -> str:
            if name := await self._find(client, batch):  # a try whose reply was lost may have made it
                return name
            created = client.batches.create(
                input_file_id=file_id, endpoint=ENDPOINT, completion_window="24h", metadata={"punchline": batch.mark}
            )
            return str((await created).id)

        file_id = self._call(upload)
        return self._named(batch, self._call(create)), taken

    async def _find(self, client: AsyncOpenAI, batch: Batch) -> str | None:
        """The id of a batch, as the provider lists it; None if it was never created."""
        async for listed in client.batches.list(limit=100):
            if (listed.metadata or {}).get("punchline") == batch.mark:
                return str(listed.id)
        return None

    def _named(self, batch: Batch, name: str) -> Batch:
        """The batch with its id, which the state file gets."""
        batch = msgspec.structs.replace(batch, id=name)
        self._write(batch)
        log_line(f"{self.engine.card.name}: batch {name} of {len(batch.requests):,} requests is under way")
        return batch

    def hand_out(self, batch: Batch, requests: Sequence[Request]) -> Iterator[Response]:
        """Wait for a batch; its answers to `requests`. Every one of them gets a response."""
        if batch.id is None:
            if name := self._call(lambda client: self._find(client, batch)):
                batch = self._named(batch, name)
            else:
                self._write(batch, keep=False)
                batch, _ = self.start(requests)  # they fitted into one batch before
        ended = self._wait(batch)
        if ended.status == "failed" or (ended.status == "cancelled" and not ended.output_file_id):
            self._write(batch, keep=False)
            errors = ended.model_dump_json(include={"errors"}, exclude_none=True, warnings=False)
            words = chat.one_line(errors, self.engine.secrets)
            what = f"the provider ended batch {batch.id} ({ended.status}): {words}"
            hint = "Mend what it says, or write `batch: false`; then run again"
            raise self.engine.wrong(what, field="batch", hint=hint)
        wanted = {request.request_id for request in requests}
        lines = self._lines(ended.error_file_id) | self._lines(ended.output_file_id)
        responses, wrong = list[Response](), list[PunchlineError]()
        for request in requests:
            try:
                responses.append(self._response(request, lines.get(request.request_id)))
            except _Refused as refused:  # what every request would meet: the next run asks this one again
                wrong.append(refused.error)
            except PunchlineError as error:  # another model: this answer is read again with a corrected card
                wrong.append(error)
                wanted.discard(request.request_id)
        batch = msgspec.structs.replace(batch, requests=tuple(sorted(set(batch.requests) - wanted)))
        failed = [response.reason for response in responses if response.state == "failed"]
        if failed and len(failed) == len(requests) and ended.status == "completed":
            self._write(batch, keep=bool(batch.requests))
            raise self.engine.wrong(f"every request of batch {batch.id} failed; the first error: {failed[0]}")
        yield from responses  # the state file says so only once they are journalled
        self._write(batch, keep=bool(batch.requests))
        if wrong:
            raise wrong[0]

    def _response(self, request: Request, line: Line | None) -> Response:
        sent = {**self.engine.parameters(request), "batch": True}
        refusal, words = None, "no answer in the batch"
        if line is not None and line.response is not None:
            reply, content = line.response, msgspec.json.encode(line.response.body)
            if reply.status_code != 200:
                refusal = read_refusal(reply.status_code, content)
            try:
                if refusal is None:
                    answer = read_reply(content, finished_as=self.engine.options.finished_as)
                    call_id = reply.request_id or answer.provider_id
                    return self.engine.answered(request, self.model_key, answer, sent, provider_id=call_id)
            except ErrorReply as error:
                refusal = error.refusal
            except Unusable as error:
                words = str(error)
            words = words if refusal is None else str(refusal)
        elif line is not None and line.error is not None:
            refusal = read_refusal(400, json.dumps(line.error).encode())
            words = refusal.message
        kind = "failed" if refusal is None else self._verdict(refusal, sent)
        return self.engine.unanswered(request, self.model_key, kind, words, sent)

    def _verdict(self, refusal: Refusal, sent: Collection[str]) -> Verdict:
        """The verdict on a refusal of one line. Raises _Refused for one that every request would meet."""
        judgement = judge(refusal, sent)
        if judgement.cause is not None:
            raise _Refused(self.engine.stopped(refusal, judgement))
        return judgement.verdict

    def _lines(self, file: Any) -> dict[str, Line]:
        """{custom_id: line} of one of a batch's files."""
        if not file:
            return {}

        async def fetch(client: AsyncOpenAI) -> bytes:
            return (await client.files.content(file)).content

        lines: dict[str, Line] = {}
        for text in io.BytesIO(self._call(fetch, most=FILE_BYTES, seconds=FILE_S)):
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # "no answer in the batch"
                line = msgspec.json.decode(text[: openai_engine.REPLY_BYTES], type=Line)
                lines[line.custom_id] = line
        return lines

    def _wait(self, batch: Batch) -> openai.types.Batch:
        """The batch as the provider has it, once it has ended. Raises PunchlineError for one that does not."""
        until = monotonic() + self.engine.options.batch_wait

        async def look(client: AsyncOpenAI) -> openai.types.Batch | None:
            try:
                found = await client.batches.retrieve(str(batch.id))
            except openai.NotFoundError:
                return None
            if not isinstance(found, openai.types.Batch):
                raise TypeError("no batch")
            return found

        while True:
            current = self._call(look)
            if current is None:
                self._write(batch, keep=False)
                what = f"the provider does not know batch {batch.id} any more"
                hint = "Run again: its requests are then asked, and paid, anew"
                raise self.engine.wrong(what, field="batch", hint=hint)
            if current.status in ENDED:
                return current
            if monotonic() > until:
                word = chat.one_line(str(current.status), self.engine.secrets)
                hint = "Run again to go on waiting: it is kept, and not paid twice"
                what = f"batch {batch.id} has not ended after {self.engine.options.batch_wait:,.0f} s ({word})"
                raise self.engine.wrong(what, field="batch_wait", hint=hint)
            sleep(self.engine.options.batch_poll)

    def _call(self, call: Callable[[AsyncOpenAI], Awaitable[T]], most: int | None = None, seconds: float = 0.0) -> T:
        """Result of one call of the API; `seconds`: that it may take at least."""

        async def read(client: AsyncOpenAI) -> T:
            try:
                return await call(client)
            except (AttributeError, TypeError, ValueError, RecursionError) as error:  # the package checks no reply
                raise Unusable(f"the reply is not as the batch API has it: {error}") from error

        outcome = call_once(self.engine, read, max(self.engine.options.timeouts.total, seconds), most)
        if isinstance(outcome, Fault):
            what = f"the batch API gave no answer: {outcome.words}"
            raise self.engine.wrong(what, field="batch", hint="Run again: a batch under way is not paid twice")
        return outcome
