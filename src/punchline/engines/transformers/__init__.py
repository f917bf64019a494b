"""Models in process, through Hugging Face transformers: for what vLLM does not serve, and where no server is wanted.

The model's own processor and chat template; batches of prompts of like length; answers batch by batch. Extra packages:
`make hf`. Nothing here needs torchvision. What batching may change: docs/models.md.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

import msgspec

from punchline.config import adapters, revisions
from punchline.config.cards import check_plain
from punchline.core.engine import (
    SYSTEM_HINT,
    Count,
    Engine,
    ImageFiles,
    Name,
    SystemRole,
    image_file,
    images_in,
    parameters,
    read_options,
    refuses_system,
    response,
    system_in_user_turn,
)
from punchline.core.signals import stopping_softly
from punchline.engines.transformers.loaded import Inputs, Loaded, free, is_out_of_memory, pixels_of
from punchline.engines.transformers.prompts import Answer, Prompt, batches, cost
from punchline.engines.transformers.sampling import check_sampling, greedy
from punchline.errors import one_line
from punchline.schema import ModelCard, Request, Response, Scalar, State, Text, Usage
from punchline.workflow.code import version_of

PACKAGES = ("torch", "transformers", "PIL")


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
    system: SystemRole = "system"


class Transformers(Engine):
    """The engine. Weights are loaded at the first batch."""

    name = "transformers"

    def __init__(self, card: ModelCard, seed: int) -> None:
        super().__init__(card, seed)
        self.options = options = read_options(card, Options, "docs/models.md")
        self.at_once = options.batch_size
        revisions.check(options.revision, card.file, options.trust_remote_code)
        if options.adapter is not None:
            check_plain(options.adapter, card.file, "adapter", "adapter")
        check_sampling(card)
        self.id, self.dtype = options.id, options.dtype
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
        chosen = {name: getattr(self.options, name) for name in ("attention", "template", "trust_remote_code")}
        identity |= {name: value for name, value in chosen.items() if value}
        if self.options.system == "user":
            identity["system"] = "user"
        if adapter := self.options.adapter:
            identity["adapter"] = adapters.identity(adapter)
        return identity

    def unavailable(self) -> str | None:
        """Missing packages, or files of the model that cannot be had."""
        adapter = self.options.adapter
        packages = (*PACKAGES, "peft") if adapter else PACKAGES
        if absent := [package for package in packages if importlib.util.find_spec(package) is None]:
            return f"not installed: {', '.join(absent)}; run make hf"
        if adapter and adapters.trained(adapter) is None:
            return adapters.how_to_train(adapter)
        return revisions.unavailable(self.id, self.options.revision)

    def close(self) -> None:
        """Free the model's memory."""
        if self._loaded is not None:
            self._loaded = None
            free()

    def answer(self, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
        """One response a request, batch by batch, the largest prompts first.

        A prompt that does not fit into the context, or for which there is no memory even alone, is `failed`.
        """
        if reason := self.unavailable():
            raise self.wrong(reason)
        loaded = self._loaded = self._loaded or Loaded(self.card, self.id, self.revision, self.dtype)
        respond = functools.partial(response, self, model_key=model_key)
        prompts: dict[tuple[Any, ...], Prompt] = {}
        for request in requests:
            sampling = parameters(self.card, request)
            prompt = self.prompt(request, sampling, images, loaded)
            if isinstance(prompt, tuple):
                state, reason = prompt
                yield respond(request, state=state, reason=reason)
                continue
            sampled = None if greedy(sampling) else request.request_id  # drawn for each request
            key = (prompt.part, prompt.text, prompt.images, tuple(sorted(prompt.sampling.items())), sampled)
            same = prompts.setdefault(key, prompt)
            if same is not prompt:
                same.requests.append(request)

        for prompt, answer in self._run([*prompts.values()], loaded):
            fields: dict[str, Any] = {"state": "failed", "reason": answer}
            if isinstance(answer, Answer):
                fields = {"state": "ok", "text": loaded.decode(answer.tokens), "latency_s": answer.seconds}
                fields["finish_reason"] = "stop" if answer.ended else "length"
                fields["usage"] = Usage(prompt=answer.prompt, completion=len(answer.tokens) + answer.ended)
                fields["effective"] = {**answer.sampling, "dtype": loaded.dtype, "device": loaded.device}
            yield from (respond(request, **fields) for request in prompt.requests)

    def prompt(
        self, request: Request, sampling: dict[str, Scalar], images: ImageFiles, loaded: Loaded
    ) -> Prompt | tuple[State, str]:
        """A request as the model reads it, or the state and the reason why it is not asked."""
        part = adapters.part_for(loaded.parts, request.task) if loaded.parts else ""
        if part is None:
            return "missing", f"the adapter was not trained on the task {request.task}"
        contents = [part for message in request.messages for part in message.content]
        digests = [image.sha256 for image in images_in(request)]
        if digests and not self.needs_images:
            return "missing", "the model reads no images"
        limit = self.card.images_per_prompt
        if limit is not None and len(digests) > limit:
            return "failed", f"{len(digests)} images, and the model takes {limit} at most"
        texts = [content.text for content in contents if isinstance(content, Text)]
        if token := next((token for token in loaded.control if any(token in text for text in texts)), None):
            return "failed", f"the text holds the model's control token {token!r}"
        files = [image_file(digest, request, images) for digest in digests]
        try:
            shown = system_in_user_turn(request) if self.options.system == "user" else request
            text = loaded.render(shown, self.options.template)
            pixels = [pixels_of(file) for file in files]
        except (ValueError, OSError) as error:
            if self.options.system == "system" and refuses_system(str(error)):
                what = f"{self.id} takes no system prompt: {one_line(error)}"
                raise self.wrong(what, field="system", hint=SYSTEM_HINT) from error
            return "failed", one_line(error)
        tokens = loaded.tokenise(text)
        size = len(tokens) + sum(count // 28**2 for count in pixels)  # as Qwen2-VL; for sorting by size only
        if loaded.context and len(tokens) >= loaded.context:
            return "failed", _too_long(len(tokens), loaded.context)
        seeded = {} if greedy(sampling) else {"seed": sampling.get("seed", self.seed + request.sample)}
        known = {key: value for key, value in sampling.items() if key != "seed"} | seeded
        return Prompt([request], text, tokens, tuple(files), size, known, part)

    def _run(self, prompts: list[Prompt], loaded: Loaded) -> Iterator[tuple[Prompt, Answer | str]]:
        """Every prompt with its answer, or with the reason why there is none. The next batch is read while one runs.

        A batch that cannot be answered is halved, to find out whose fault it is; out of memory, the device's or the
        machine's, so are those to come that are as large.
        """
        queue = deque(batches(prompts, self.options.batch_size, self.options.batch_tokens))
        most: float = math.inf  # tokens of a batch that memory holds, as far as is known
        with ThreadPoolExecutor(1) as pool:
            ahead: tuple[list[Prompt], Future[Inputs]] | None = None  # a batch, and its reading
            while queue:
                batch, answers, reason = queue.popleft(), None, ""
                if len(batch) == 1 or cost(batch) <= most:
                    reading = ahead[1] if ahead and ahead[0] is batch else pool.submit(_inputs, loaded, batch)
                    ahead = (queue[0], pool.submit(_inputs, loaded, queue[0])) if queue and queue[0][0].images else None
                    try:
                        answers = loaded.generate(batch, reading.result())
                    except (MemoryError, RuntimeError) as error:
                        if not is_out_of_memory(error):
                            raise
                        reason, most = "out of memory", min(most, cost(batch) / 2)
                    except (ValueError, OSError) as error:
                        reason = one_line(error)
                    del reading
                    if reason == "out of memory":
                        free()  # here, where no traceback holds tensors any more
                if answers is not None:
                    with stopping_softly(lambda: None):  # Ctrl-C comes after the answers of a batch
                        yield from zip(batch, answers, strict=True)
                elif len(batch) == 1:
                    yield batch[0], reason
                else:
                    queue.extendleft([batch[len(batch) // 2 :], batch[: len(batch) // 2]])


engine = Transformers


def _inputs(loaded: Loaded, batch: Sequence[Prompt]) -> Inputs:
    """A batch as tensors. Raises ValueError or OSError for a prompt that is too long, or an image that is damaged."""
    inputs = loaded.read(batch)
    if loaded.context and max(inputs.lengths) >= loaded.context:
        raise ValueError(_too_long(max(inputs.lengths), loaded.context))
    return inputs


def _too_long(tokens: int, context: float) -> str:
    return f"the prompt has {tokens} tokens; with an answer it does not fit into the context of {context}"
