"""A provider's batch mode: the same requests at a lower price, answered within a day.

What is under way stands in data/responses/batches/<model>.json (ids and digests only), so that a run that was killed
waits for the batch that it paid for and asks nothing twice.
"""

from __future__ import annotations

import asyncio
import io
import json
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from punchline.core.errors import PunchlineError
from punchline.core.progress import say
from punchline.core.records import Record, Request, Response
from punchline.core.storage import write_bytes
from punchline.engines.openai import chat, pace

if TYPE_CHECKING:
    import openai

    from punchline.engines.openai import OpenAI

FOLDER = Path("data/responses/batches")  # relative to the project root, which is the working directory
MOST_REQUESTS = 50_000  # OpenAI's limits for one batch: requests, and bytes of its file (200 MB, less some room)
MOST_BYTES = 180_000_000
ENDPOINT = "/v1/chat/completions"
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


def answer(
    engine: OpenAI, requests: Sequence[Request], images: Mapping[str, Path], model_key: str
) -> Iterator[Response]:
    """Responses by way of the provider's batches: first those under way that hold such requests, then new ones."""
    state = FOLDER / f"{engine.card.name}.json"
    asked = {request.request_id: request for request in requests}
    run = _Run(engine, images, model_key, state)
    for batch in _read(state).batches:
        if batch.model_key == model_key and (left := [asked[i] for i in batch.requests if i in asked]):
            for request in left:
                del asked[request.request_id]
            yield from run.hand_out(batch, left)
    todo = list(asked.values())
    while todo:
        batch, taken = run.start(todo)
        todo = todo[len(taken) :]
        yield from run.hand_out(batch, taken)


def _read(path: Path) -> State:
    try:
        return msgspec.json.decode(path.read_bytes(), type=State)
    except FileNotFoundError:
        return State()
    except msgspec.DecodeError as error:
        raise PunchlineError(
            f"not a list of batches: {error}",
            file=path,
            way_out="Delete it; batches under way are then asked, and paid, again",
        ) from error


def _write(path: Path, batch: Batch, *, keep: bool) -> None:
    """Put a batch into the state file, or take it out."""
    others = [other for other in _read(path).batches if other.mark != batch.mark]
    write_bytes(path, msgspec.json.encode(State(batches=(*others, *([batch] if keep else ())))))


class _Run:
    def __init__(self, engine: OpenAI, images: Mapping[str, Path], model_key: str, state: Path) -> None:
        self.engine, self.images, self.model_key, self.state = engine, images, model_key, state

    def start(self, todo: Sequence[Request]) -> tuple[Batch, list[Request]]:
        """Begin a batch of as many requests as one may hold."""
        taken: list[Request] = []
        lines, size = [], 0
        for request in todo[:MOST_REQUESTS]:
            body = self.engine.body(request, self.images)
            about = {"custom_id": request.request_id, "method": "POST", "url": ENDPOINT, "body": body}
            line = json.dumps(about).encode() + b"\n"
            if taken and size + len(line) > MOST_BYTES:
                break
            taken.append(request)
            lines.append(line)
            size += len(line)
        ids = tuple(request.request_id for request in taken)
        batch = Batch(mark=secrets.token_hex(16), model_key=self.model_key, requests=ids)
        _write(self.state, batch, keep=True)
        return self._known(batch, b"".join(lines)), taken

    def _known(self, batch: Batch, content: bytes | None) -> Batch:
        """The batch with its id: as the provider lists it, else created from `content`."""

        async def find(client: openai.AsyncOpenAI) -> str | None:
            async for found in client.batches.list(limit=100):
                if (found.metadata or {}).get("punchline") == batch.mark:
                    return found.id
            return None

        async def upload(client: openai.AsyncOpenAI) -> str:
            assert content is not None
            return (await client.files.create(file=("punchline.jsonl", io.BytesIO(content)), purpose="batch")).id

        async def create(client: openai.AsyncOpenAI) -> str:
            if name := await find(client):  # a try whose reply was lost may have made it
                return name
            made = await client.batches.create(
                input_file_id=file,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={"punchline": batch.mark},
            )
            return made.id

        if content is None:
            name = self._call(find)
        else:
            file = self._call(upload)
            name = self._call(create)
        if name is None:
            return batch
        batch = msgspec.structs.replace(batch, id=name)
        _write(self.state, batch, keep=True)
        say(f"{self.engine.card.name}: batch {name} of {len(batch.requests):,} requests is under way")
        return batch

    def hand_out(self, batch: Batch, requests: Sequence[Request]) -> Iterator[Response]:
        """Wait for a batch; its answers to `requests`. Every one of them gets a response."""
        if batch.id is None:
            batch = self._known(batch, None)
        if batch.id is None:  # it was never created
            _write(self.state, batch, keep=False)
            again, taken = self.start(requests)
            assert len(taken) == len(requests)  # they fitted into one batch before
            yield from self.hand_out(again, taken)
            return
        ended = self._wait(batch.id)
        if ended.status == "failed" or (ended.status == "cancelled" and not ended.output_file_id):
            _write(self.state, batch, keep=False)
            errors = ended.errors.data if ended.errors and ended.errors.data else []
            words = chat.one_line("; ".join(str(e.message) for e in errors) or ended.status, self.engine.key)
            raise PunchlineError(
                f"the provider ended batch {batch.id} ({ended.status}): {words}",
                file=self.engine.file,
                field="batch",
                way_out="Mend what it says, or write `batch: false`; then run again",
            )
        lines = {**self._lines(ended.error_file_id), **self._lines(ended.output_file_id)}
        responses = [self._response(request, lines.get(request.request_id)) for request in requests]
        left = tuple(sorted(set(batch.requests) - {request.request_id for request in requests}))
        batch = msgspec.structs.replace(batch, requests=left)
        failed = [response.reason for response in responses if response.state == "failed"]
        if len(failed) == len(responses) and ended.status == "completed":
            _write(self.state, batch, keep=bool(left))
            raise PunchlineError(
                f"every request of batch {batch.id} failed; the first error: {failed[0]}", file=self.engine.file
            )
        yield from responses  # the state file says so only once they are journalled
        _write(self.state, batch, keep=bool(left))

    def _response(self, request: Request, line: Any) -> Response:
        engine, key = self.engine, self.model_key
        sent = engine.parameters(request)
        effective = {**chat.flat(sent), "batch": True}
        got = line.get("response") if isinstance(line, dict) else None
        if not isinstance(got, dict):
            error = line.get("error") if isinstance(line, dict) else None
            words = str(error.get("message")) if isinstance(error, dict) else "no answer in the batch"
            return engine.response(request, key, "failed", reason=words, effective=effective)
        content, status = json.dumps(got.get("body")).encode(), got.get("status_code")
        if status != 200:
            refusal = chat.read_refusal(status if isinstance(status, int) else 0, content)
            refused = chat.judge(refusal, sent)[0] == "refused"
            return engine.response(
                request, key, "refused" if refused else "failed", reason=str(refusal), effective=effective
            )
        try:
            reply = chat.read_reply(content)
        except chat.Unusable as error:
            return engine.response(request, key, "failed", reason=str(error), effective=effective)
        name = got.get("request_id")
        about = {"provider_id": name if isinstance(name, str) else reply.id}
        return engine.answered(request, key, reply, {**sent, "batch": True}, **about)

    def _lines(self, file: str | None) -> dict[str, Any]:
        """{custom_id: line} of one of a batch's files."""
        if file is None:
            return {}

        async def content(client: openai.AsyncOpenAI) -> bytes:
            return bytes((await client.files.content(file)).content)

        found = {}
        for line in self._call(content).splitlines():
            try:
                made = json.loads(line)
            except ValueError:  # its request gets "no answer in the batch"
                continue
            if isinstance(made, dict) and isinstance(made.get("custom_id"), str):
                found[made["custom_id"]] = made
        return found

    def _wait(self, name: str) -> Any:
        """The batch, once it has ended."""
        status = None

        async def look(client: openai.AsyncOpenAI) -> Any:
            return await client.batches.retrieve(name)

        async def looks(client: openai.AsyncOpenAI, put: pace.Put[Any]) -> None:
            while True:
                batch = await self._tried(client, look)
                await put(batch)
                if batch.status in ENDED:
                    return
                await asyncio.sleep(self.engine.options.batch_poll)

        for batch in self._with_client(looks):
            if batch.status != status:
                status = batch.status
                say(f"{self.engine.card.name}: batch {name} is {chat.one_line(str(status), self.engine.key)}")
        return batch

    def _call(self, call: Callable[[openai.AsyncOpenAI], Awaitable[T]]) -> T:
        """What one call of the API gives, tried again as often as `attempts` says."""

        async def work(client: openai.AsyncOpenAI, put: pace.Put[T]) -> None:
            await put(await self._tried(client, call))

        (made,) = self._with_client(work)
        return made

    def _with_client(self, work: Callable[[openai.AsyncOpenAI, pace.Put[T]], Awaitable[None]]) -> Iterator[T]:
        async def run(put: pace.Put[T]) -> None:
            client = self.engine.client()
            try:
                await work(client, put)
            finally:
                await client.close()

        yield from pace.iterate(run, bound=16)

    async def _tried(self, client: openai.AsyncOpenAI, call: Callable[[openai.AsyncOpenAI], Awaitable[T]]) -> T:
        import aiohttp
        import openai

        options = self.engine.options
        for tries in range(1, options.attempts + 1):
            refusal, wait = None, None
            try:
                return await call(client)
            except openai.APIStatusError as error:
                refusal = chat.read_refusal(error.status_code, error.response.content)
                wait = chat.retry_after(error.response.headers)
                words = str(refusal)
            except (openai.APIConnectionError, aiohttp.ClientError) as error:
                words = f"{type(error).__name__}: {error.__cause__ or error}"
            if refusal is not None:
                verdict, parameter = chat.judge(refusal, ())
                if verdict == "stop":
                    self.engine.stop(refusal, parameter)
                if verdict not in ("again", "limited"):
                    break
            if tries < options.attempts:
                backoff = pace.backoff(tries, options.backoff.first, options.backoff.most)
                await asyncio.sleep(backoff if wait is None else min(wait, options.retry_after_most))
        raise PunchlineError(
            f"the batch API gave no answer: {chat.one_line(words, self.engine.key)}",
            file=self.engine.file,
            field="batch",
            way_out="Run again: a batch under way is not paid twice",
        )
