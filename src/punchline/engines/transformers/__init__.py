"""Models in process, through Hugging Face transformers: for what vLLM does not serve, and where no server is wanted.

The model's own processor and chat template; batches of prompts of like length; answers batch by batch. Extra packages:
`make hf`. Nothing here needs torchvision. What batching may change: docs/models.md.
"""

from __future__ import annotations

import functools
import importlib.util
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, Literal

import msgspec

from punchline.config import adapters, revisions
from punchline.config.cards import check_plain
from punchline.core.engine import Count, Engine, Name, image_file, images_in, read_options, response
from punchline.core.interrupt import first_interrupt
from punchline.engines.transformers.loaded import Loaded, free, is_out_of_memory, pixels_of
from punchline.engines.transformers.prompts import Answer, Prompt, batches, cost
from punchline.engines.transformers.sampling import check_sampling, greedy, sampling_of
from punchline.errors import PunchlineError, one_line
from punchline.schema import ModelCard, Request, Response, Scalar, State, Text, Usage
from punchline.workflow.code import version_of

PACKAGES = ("torch", "transformers", "PIL")
PIXELS_PER_TOKEN = 28 * 28  # as Qwen2-VL; for sorting by size only


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a card; docs/models.md explains them."""

    id: Name
    revision: str | None = None
    adapter: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: str | None = None
    attention: str | None = None
    batch_size: Count = 64  # prompts
    batch_tokens: Count = 32768  # prompt and answer of all rows of a batch
    trust_remote_code: bool = False
    template: dict[str, Any] = {}


class Transformers(Engine):
    """The engine. Weights are loaded at the first batch."""

    name = "transformers"

    def __init__(self, card: ModelCard, seed: int) -> None:
        self.options = _read(card)
        self.card = card
        self.seed = seed
        self.id, self.dtype = self.options.id, self.options.dtype
        self.needs_images = "image" in card.modality
        # Both change results.
        self.version = ", ".join(f"{package} {version_of(package)}" for package in ("transformers", "torch"))
        self._loaded: Any = None

    @functools.cached_property
    def revision(self) -> str:
        """The commit, or the digest of the folder's files; asks the hub the first time where the card pins none."""
        return revisions.pinned(self.id, self.options.revision)

    def identity(self) -> dict[str, Any]:
        """Model, revision, dtype and all else in the card that changes the answers; not how they are batched."""
        identity: dict[str, Any] = {"id": self.id, "revision": self.revision, "dtype": self.dtype}
        identity |= {"images": self.needs_images, "seed": self.seed}
        for option in ("attention", "template", "trust_remote_code"):
            if value := getattr(self.options, option):
                identity[option] = value
        if adapter := self.options.adapter:
            identity["adapter"] = adapters.identity(adapter)
        return identity

    def unavailable(self) -> str | None:
        """Missing packages, or a folder that is not there."""
        if absent := [package for package in PACKAGES if importlib.util.find_spec(package) is None]:
            return f"not installed: {', '.join(absent)}; run make hf"
        if adapter := self.options.adapter:
            if importlib.util.find_spec("peft") is None:
                return "not installed: peft; run make hf"
            if adapters.trained(adapter) is None:
                return adapters.how_to_train(adapter)
        if revisions.is_folder(self.id) and not Path(self.id).is_dir():
            return f"no such folder: {self.id}; {revisions.BUILT}"
        return None

    def close(self) -> None:
        """Free the model's memory."""
        if self._loaded is not None:
            self._loaded = None
            free()

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """One response a request, batch by batch, the largest prompts first.

        A prompt that does not fit into the context, or for which there is no memory even alone, is `failed`. Raises
        PunchlineError for an unknown sampling parameter, before anything is loaded. At the first Ctrl-C the batch that
        runs comes to its end, at the second it is dropped.
        """
        if not requests:
            return
        sampled_requests = [(request, sampling_of(self.card, request)) for request in requests]
        if reason := self.unavailable():
            raise PunchlineError(reason, file=self.card.file)
        if self._loaded is None:
            self._loaded = Loaded(self.card, self.id, self.revision, self.dtype)
        loaded: Loaded = self._loaded

        respond = functools.partial(response, self, model_key=model_key)
        prompts: dict[str, dict[tuple[Any, ...], Prompt]] = {}  # by part of the adapter
        for request, sampling in sampled_requests:
            part = loaded.tuned.part_for(request.task) if loaded.tuned is not None else ""
            untrained: tuple[State, str] = "missing", f"the adapter was not trained on the task {request.task}"
            prompt = untrained if part is None else self.prompt(request, sampling, images, loaded)
            if isinstance(prompt, tuple):
                state, reason = prompt
                yield respond(request, state=state, reason=reason)
                continue
            sampled = None if greedy(sampling) else request.request_id  # drawn for each request
            key = (prompt.text, prompt.images, tuple(sorted(sampling.items())), sampled)
            same = prompts.setdefault(part or "", {}).setdefault(key, prompt)
            if same is not prompt:
                same.requests.append(request)

        with first_interrupt(lambda: True) as interrupted:
            for prompt, answer in self._run_parts(prompts, loaded, interrupted):
                fields: dict[str, Any] = {"state": "failed", "reason": answer}
                if isinstance(answer, Answer):
                    fields = {"state": "ok", "text": loaded.decode(answer.tokens), "latency_s": answer.seconds}
                    fields["finish_reason"] = "stop" if answer.ended else "length"
                    fields["usage"] = Usage(prompt=answer.prompt, completion=len(answer.tokens) + answer.ended)
                    fields["effective"] = {**answer.sampling, "dtype": loaded.dtype, "device": loaded.device}
                yield from (respond(request, **fields) for request in prompt.requests)
            if interrupted.is_set():
                raise KeyboardInterrupt

    def prompt(
        self, request: Request, sampling: dict[str, Scalar], images: Mapping[str, Path], loaded: Loaded
    ) -> Prompt | tuple[State, str]:
        """A request as the model reads it, or the state and the reason why it is not asked."""
        parts = [part for message in request.messages for part in message.content]
        digests = [image.sha256 for image in images_in(request)]
        if digests and not self.needs_images:
            return "missing", "the model reads no images"
        if None in digests:
            return "missing", "image missing"
        limit = self.card.images_per_prompt
        if limit is not None and len(digests) > limit:
            return "failed", f"{len(digests)} images, and the model takes {limit} at most"
        for part in parts:
            if isinstance(part, Text) and (token := loaded.control_token_in(part.text)):
                return "failed", f"the text holds the model's control token {token!r}"
        files = [image_file(digest, request, images) for digest in digests]
        try:
            text = loaded.render(request, self.options.template)
            pixels = [pixels_of(file) for file in files]
        except (ValueError, OSError) as error:
            return "failed", one_line(error)
        tokens = loaded.tokenise(text)
        size = len(tokens) + sum(count // PIXELS_PER_TOKEN for count in pixels)
        if loaded.context and len(tokens) >= loaded.context:
            return "failed", _too_long(len(tokens), loaded.context)
        seeded = {} if greedy(sampling) else {"seed": sampling.get("seed", self.seed + request.sample)}
        known = {key: value for key, value in sampling.items() if key != "seed"} | seeded
        return Prompt([request], text, tokens, tuple(files), size, known)

    def _run_parts(
        self, prompts: Mapping[str, Mapping[Any, Prompt]], loaded: Loaded, interrupted: Event
    ) -> Iterator[tuple[Prompt, Answer | str]]:
        """Every prompt with its answer, one part of the adapter after the other."""
        for part, of_part in prompts.items():
            if loaded.tuned is not None:
                loaded.tuned.use(part)
            yield from self._run(list(of_part.values()), loaded, interrupted)

    def _run(self, prompts: list[Prompt], loaded: Loaded, interrupted: Event) -> Iterator[tuple[Prompt, Answer | str]]:
        """Every prompt with its answer, or with the reason why there is none. The next batch is read while one runs.

        Out of memory, the device's or the machine's: the batch is halved, and so are those to come that are as large.
        After an interrupt none begins.
        """
        queue = deque(batches(prompts, self.options.batch_size, self.options.batch_tokens))
        most: float = float("inf")  # tokens of a batch that memory holds, as far as is known
        with ThreadPoolExecutor(1) as pool:
            ahead: Future[Any] | None = None
            read: list[Prompt] = []  # what `ahead` reads
            while queue and not interrupted.is_set():
                batch = queue.popleft()
                halves = [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
                if len(batch) > 1 and cost(batch) > most:
                    queue.extendleft(halves)
                    continue
                inputs: Any = None
                reading, ahead = ahead if read is batch else None, None
                try:
                    inputs = loaded.read(batch) if reading is None else reading.result()
                except MemoryError:  # the machine's: pictures are large before they are on a device
                    pass
                except (ValueError, OSError) as error:  # a damaged image, say: find out whose it is
                    if len(batch) == 1:
                        yield batch[0], one_line(error)
                    else:
                        queue.extendleft([prompt] for prompt in batch)
                    continue
                limit = loaded.context or float("inf")
                lengths = [] if inputs is None else list(zip(batch, inputs.lengths, strict=True))
                if too_long := [(prompt, _too_long(length, limit)) for prompt, length in lengths if length >= limit]:
                    yield from too_long
                    if rest := [prompt for prompt, length in lengths if length < limit]:
                        queue.appendleft(rest)
                    continue
                if inputs is not None and queue and queue[0][0].images:
                    read = queue[0]
                    ahead = pool.submit(loaded.read, read)
                answers = _generated(loaded, batch, inputs) if inputs is not None else None
                del inputs
                if answers is not None:
                    yield from zip(batch, answers, strict=True)
                    continue
                free()  # here, where no traceback holds tensors any more
                if len(batch) == 1:
                    yield batch[0], "out of memory"
                else:
                    most = min(most, cost(batch) / 2)
                    queue.extendleft(halves)


engine = Transformers


def _generated(loaded: Loaded, batch: Sequence[Prompt], inputs: Any) -> list[Answer] | None:
    """Answers of a batch; None where memory does not hold it."""
    try:
        return loaded.generate(batch, inputs)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return None


def _too_long(tokens: int, context: float) -> str:
    return f"the prompt has {tokens} tokens; with an answer it does not fit into the context of {context}"


def _read(card: ModelCard) -> Options:
    """Checked options; sampling parameters are checked too."""
    options = read_options(card, Options, "docs/models.md")
    revisions.check(options.id, options.revision, card.file, options.trust_remote_code)
    if options.adapter is not None:
        check_plain(options.adapter, card.file, "adapter", "adapter")
    for sampling in (card.sampling, *(paper.sampling for paper in card.papers.values())):
        check_sampling(sampling, card.file)
    return options
