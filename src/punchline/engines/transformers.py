"""Models in process, through Hugging Face transformers: for what vLLM does not serve, and where no server is wanted.

The model's own processor and chat template; batches of prompts of like length; answers batch by batch. Extra packages:
`make hf`. Nothing here needs torchvision. What batching may change: docs/transformers.md.
"""

from __future__ import annotations

import copy
import functools
import gc
import hashlib
import importlib.util
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from punchline.core.engine import check_options, parameters, version_of
from punchline.core.errors import PunchlineError, nearest, one_line
from punchline.core.records import Image, ModelCard, Request, Response, Scalar, State, Text, Usage
from punchline.project import adapters, revisions, small_models
from punchline.project.recipes import DTYPES

OPTIONS: dict[str, type] = {
    "id": str,
    "revision": str,
    "adapter": str,
    "dtype": str,
    "device": str,
    "attention": str,
    "batch_size": int,
    "batch_tokens": int,
    "trust_remote_code": bool,
    "template": dict,
}
SAMPLING = ("temperature", "max_tokens", "top_p", "top_k", "min_p", "repetition_penalty", "seed")
PACKAGES = ("torch", "transformers", "PIL")

BATCH_SIZE = 64  # prompts
BATCH_TOKENS = 32768  # prompt and answer of all rows of a batch
PIXELS_PER_TOKEN = 28 * 28  # as Qwen2-VL; for sorting by size only
SHARED = 16  # tokens that a batch's prompts must have in common before they are computed once for all


@dataclass(frozen=True, eq=False)
class Prompt:
    """One prompt and the requests that it answers: several where the same question is asked greedily twice."""

    requests: list[Request]
    text: str  # rendered by the chat template
    tokens: tuple[int, ...]  # of the text; an image stands for one placeholder still
    images: tuple[Path, ...]
    size: int  # tokens, images estimated from their pixels
    sampling: Mapping[str, Scalar]


@dataclass(frozen=True)
class Answer:
    """What a model wrote: token ids without the end token."""

    tokens: list[int]
    ended: bool  # by an end token
    prompt: int  # tokens, images included
    sampling: Mapping[str, Scalar]
    seconds: float  # that its batch took


class Transformers:
    """The engine. Weights are loaded at the first batch."""

    name = "transformers"

    def __init__(self, card: ModelCard, seed: int) -> None:
        _check_options(card)
        self.card = card
        self.seed = seed
        self.id: str = card.options["id"]
        self.needs_images = "image" in card.modality
        self.batch_size: int = card.options.get("batch_size", BATCH_SIZE)
        self.batch_tokens: int = card.options.get("batch_tokens", BATCH_TOKENS)
        self.dtype: str = card.options.get("dtype", "auto")
        self._loaded: Any = None

    @property
    def version(self) -> str:
        """Of transformers and torch: both change what a model computes."""
        return ", ".join(f"{package} {version_of(package)}" for package in ("transformers", "torch"))

    @functools.cached_property
    def revision(self) -> str:
        """The commit, or the digest of the folder's files; asks the hub the first time where the card pins none."""
        return revisions.pinned(self.id, self.card.options.get("revision"))

    def identity(self) -> dict[str, Any]:
        """Model, revision, dtype and all else in the card that changes the answers; not how they are batched."""
        identity: dict[str, Any] = {
            "id": self.id,
            "revision": self.revision,
            "dtype": self.dtype,
            "images": self.needs_images,
            "seed": self.seed,
        }
        for option in ("attention", "template", "trust_remote_code"):
            if self.card.options.get(option):
                identity[option] = self.card.options[option]
        if adapter := self.card.options.get("adapter"):
            identity["adapter"] = adapters.identity(adapter)
        return identity

    def unavailable(self) -> str | None:
        """Missing packages, or a folder that is not there and that nothing here builds."""
        if absent := [package for package in PACKAGES if importlib.util.find_spec(package) is None]:
            return f"not installed: {', '.join(absent)}; run make hf"
        if adapter := self.card.options.get("adapter"):
            if importlib.util.find_spec("peft") is None:
                return "not installed: peft; run make hf"
            if adapters.trained(adapter) is None:
                return adapters.how_to_train(adapter)
        if revisions.is_folder(self.id) and not Path(self.id).is_dir():
            name = small_models.builder_of(self.id)
            if name is None:
                return f"no such folder: {self.id}"
            if absent := small_models.absent(name):
                return f"building {self.id} needs {', '.join(absent)}; run make hf"
        return None

    def close(self) -> None:
        """Free the model's memory."""
        if self._loaded is not None:
            self._loaded = None
            _free()

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """One response a request, batch by batch, the largest prompts first.

        A prompt that does not fit into the context, or for which there is no memory even alone, is `failed`. Raises
        PunchlineError for an unknown sampling parameter, before anything is loaded.
        """
        if not requests:
            return
        asked = [(request, _sampling(self.card, request)) for request in requests]
        if reason := self.unavailable():
            raise PunchlineError(reason, file=_file(self.card))
        if self._loaded is None:
            self._loaded = Loaded(self.card, self.id, self.revision, self.dtype)
        loaded: Loaded = self._loaded

        def respond(request: Request, state: State, **fields: Any) -> Response:
            return Response(
                request_id=request.request_id,
                model_key=model_key,
                engine=self.name,
                engine_version=self.version,
                state=state,
                **fields,
            )

        prompts: dict[str, dict[tuple[Any, ...], Prompt]] = {}  # by part of the adapter
        for request, sampling in asked:
            part = loaded.tuned.part_for(request.task) if loaded.tuned is not None else ""
            if part is None:
                yield respond(request, "missing", reason=f"the adapter was not trained on the task {request.task}")
                continue
            prompt = self._prompt(request, sampling, images, loaded)
            if isinstance(prompt, tuple):
                state, reason = prompt
                yield respond(request, state, reason=reason)
                continue
            own = None if _greedy(sampling) else request.request_id
            key = (prompt.text, prompt.images, tuple(sorted(sampling.items())), own)
            same = prompts.setdefault(part, {}).setdefault(key, prompt)
            if same is not prompt:
                same.requests.append(request)

        for prompt, answered in self._run_parts(prompts, loaded):
            for request in prompt.requests:
                if isinstance(answered, str):
                    yield respond(request, "failed", reason=answered)
                    continue
                yield respond(
                    request,
                    "ok",
                    text=loaded.decode(answered.tokens),
                    finish_reason="stop" if answered.ended else "length",
                    usage=Usage(prompt=answered.prompt, completion=len(answered.tokens) + answered.ended),
                    latency_s=answered.seconds,
                    effective={**answered.sampling, "dtype": loaded.dtype, "device": loaded.device},
                )

    def _prompt(
        self, request: Request, sampling: dict[str, Scalar], images: Mapping[str, Path], loaded: Loaded
    ) -> Prompt | tuple[State, str]:
        """A request as the model reads it, or the state and the reason why it is not asked."""
        parts = [part for message in request.messages for part in message.content]
        digests = [part.sha256 for part in parts if isinstance(part, Image)]
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
        files = []
        for digest in digests:
            if digest is None or digest not in images:
                raise PunchlineError(
                    f"no file for the image {digest} of {request.task}",
                    record=request.item_id,
                    way_out="Run again with --forcerun pictures",
                )
            files.append(images[digest])
        try:
            text = loaded.render(request, self.card.options.get("template", {}))
            pixels = [_pixels(file) for file in files]
        except (ValueError, OSError) as error:
            return "failed", one_line(error)
        tokens = loaded.tokenise(text)
        size = len(tokens) + sum(count // PIXELS_PER_TOKEN for count in pixels)
        if loaded.context and len(tokens) >= loaded.context:
            return "failed", _too_long(len(tokens), loaded.context)
        seeded = {} if _greedy(sampling) else {"seed": sampling.get("seed", self.seed + request.sample)}
        known = {key: value for key, value in sampling.items() if key != "seed"} | seeded
        return Prompt([request], text, tokens, tuple(files), size, known)

    def _run_parts(
        self, prompts: Mapping[str, Mapping[Any, Prompt]], loaded: Loaded
    ) -> Iterator[tuple[Prompt, Answer | str]]:
        """Every prompt with its answer, one part of the adapter after the other."""
        for part, own in prompts.items():
            if loaded.tuned is not None:
                loaded.tuned.use(part)
            yield from self._run(list(own.values()), loaded)

    def _run(self, prompts: list[Prompt], loaded: Loaded) -> Iterator[tuple[Prompt, Answer | str]]:
        """Every prompt with its answer, or with the reason why there is none. The next batch is read while one runs.

        Out of memory: the batch is halved, and so are those to come that are as large.
        """
        import torch

        queue = deque(batches(prompts, self.batch_size, self.batch_tokens))
        most: float = float("inf")  # tokens of a batch that memory holds, as far as is known
        with ThreadPoolExecutor(1) as pool:
            ahead: Future[Any] | None = None
            read: list[Prompt] = []  # what `ahead` reads
            while queue:
                batch = queue.popleft()
                if len(batch) > 1 and _cost(batch) > most:
                    queue.extendleft([batch[len(batch) // 2 :], batch[: len(batch) // 2]])
                    continue
                try:
                    inputs = ahead.result() if ahead is not None and read is batch else loaded.read(batch)
                except (ValueError, OSError) as error:  # a damaged image, say: find out whose it is
                    ahead = None
                    if len(batch) == 1:
                        yield batch[0], one_line(error)
                    else:
                        queue.extendleft([prompt] for prompt in batch)
                    continue
                ahead = None
                if loaded.context and any(long := [n >= loaded.context for n in inputs.lengths]):
                    for prompt, too_long, length in zip(batch, long, inputs.lengths, strict=True):
                        if too_long:
                            yield prompt, _too_long(length, loaded.context)
                    if rest := [prompt for prompt, too_long in zip(batch, long, strict=True) if not too_long]:
                        queue.appendleft(rest)
                    continue
                if queue and queue[0][0].images:
                    read = queue[0]
                    ahead = pool.submit(loaded.read, read)
                answers: list[Answer] | None = None
                try:
                    answers = loaded.generate(batch, inputs)
                except (torch.OutOfMemoryError, RuntimeError) as error:
                    if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
                        raise
                del inputs
                if answers is not None:
                    yield from zip(batch, answers, strict=True)
                    continue
                _free()  # here, where no traceback holds tensors any more
                if len(batch) == 1:
                    yield batch[0], "out of memory"
                else:
                    most = min(most, _cost(batch) / 2)
                    queue.extendleft([batch[len(batch) // 2 :], batch[: len(batch) // 2]])


@dataclass(frozen=True)
class Inputs:
    """A batch as tensors. Rows are padded on the left."""

    tensors: dict[str, Any]
    lengths: list[int]  # tokens of each prompt, images included


class Loaded:
    """A model in memory, with its tokeniser and, if it reads images, its processor."""

    def __init__(self, card: ModelCard, model_id: str, revision: str, dtype: str) -> None:
        import torch
        from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer
        from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

        device = card.options.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
        if dtype == "auto":
            dtype = "float32" if device == "cpu" else "bfloat16"
        where: dict[str, Any] = {"pretrained_model_name_or_path": model_id}
        if revisions.is_folder(model_id):
            revisions.verify_folder(model_id)
            where["local_files_only"] = True
        else:
            where["revision"] = revision
        if card.options.get("trust_remote_code"):
            where["trust_remote_code"] = True
        try:
            with small_models.quiet():
                config = AutoConfig.from_pretrained(**where)
                reads_images = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES or (
                    "AutoModelForImageTextToText" in getattr(config, "auto_map", {})
                )
                if "image" in card.modality and not reads_images:
                    raise PunchlineError(
                        f"{config.model_type} models read no images",
                        file=_file(card),
                        field="modality",
                        way_out="Write modality: [text]",
                    )
                kind = AutoModelForImageTextToText if reads_images else AutoModelForCausalLM
                attention = {"attn_implementation": card.options["attention"]} if "attention" in card.options else {}
                placed = {"device_map": "auto"} if device == "auto" else {}
                self.model = kind.from_pretrained(**where, dtype=getattr(torch, dtype), **attention, **placed).eval()
                if not placed:
                    self.model.to(device)
                self.tokenizer = AutoTokenizer.from_pretrained(**where, padding_side="left")
                self.processor = _processor(where, config, self.tokenizer) if "image" in card.modality else None
                self.tuned: adapters.Tuned | None = None
                if adapter := card.options.get("adapter"):
                    self.tuned = adapters.load(adapter, self.model, model_id, revision, _file(card))
        except (OSError, ValueError, ImportError, RuntimeError, AssertionError) as error:
            raise PunchlineError(f"the model cannot be loaded: {one_line(error)}", file=_file(card)) from error
        self._reader = self.processor or self.tokenizer
        if self.processor is not None:
            self.tokenizer = self.processor.tokenizer
            self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        if not getattr(self._reader, "chat_template", None) and not self.tokenizer.chat_template:
            raise PunchlineError(
                "the model has no chat template", file=_file(card), way_out="Choose its instruct variant"
            )
        self._decoder = copy.deepcopy(self.tokenizer)  # used while the next batch is tokenised in another thread
        self._control = sorted({str(t) for t in self.tokenizer.all_special_tokens}, key=len, reverse=True)
        self.dtype, self.device = dtype, str(self.model.device.type)
        text = config.get_text_config()
        limits = [n for n in (card.context, getattr(text, "max_position_embeddings", None)) if n]
        self.context: int | None = min(limits, default=None)

        # The model's own generation defaults (a temperature, a repetition penalty) would silently join ours: only its
        # token ids are kept.
        kept = self.model.generation_config
        ends = kept.eos_token_id if kept.eos_token_id is not None else self.tokenizer.eos_token_id
        self.ends: list[int] = [ends] if isinstance(ends, int) else list(ends or [])
        self.model.generation_config = type(kept)(
            bos_token_id=kept.bos_token_id, eos_token_id=self.ends, pad_token_id=self.tokenizer.pad_token_id
        )

    def control_token_in(self, text: str) -> str | None:
        """A token of the chat's frame that a text holds: it could forge a turn, or stand for an image."""
        return next((token for token in self._control if token in text), None)

    def render(self, request: Request, template: Mapping[str, Any]) -> str:
        """The prompt that the chat template makes. Raises ValueError for a conversation that it does not take."""
        import jinja2

        conversation: list[dict[str, Any]] = []
        for message in request.messages:
            if self.processor is None:
                content: Any = "".join(part.text for part in message.content if isinstance(part, Text))
            else:
                content = [
                    {"type": "text", "text": part.text} if isinstance(part, Text) else {"type": "image"}
                    for part in message.content
                ]
            conversation.append({"role": message.role, "content": content})
        try:
            return str(
                self._reader.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True, **template)
            )
        except jinja2.TemplateError as error:
            raise ValueError(f"the chat template: {error}") from error

    def tokenise(self, text: str) -> tuple[int, ...]:
        """Token ids of a rendered prompt, which holds all special tokens itself."""
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of an answer."""
        return str(self._decoder.decode(tokens, skip_special_tokens=True))

    def read(self, batch: Sequence[Prompt]) -> Inputs:
        """Prompts and images as tensors. Raises ValueError or OSError for an image that cannot be read."""
        import torch

        if self.processor is None:
            # Rows share their first tokens; what follows is padded behind these (see `generate`).
            shared = _shared([prompt.tokens for prompt in batch])
            width = max(len(prompt.tokens) for prompt in batch)
            rows, mask = [], []
            for tokens in (prompt.tokens for prompt in batch):
                gap = width - len(tokens)
                rows.append([*tokens[:shared], *[self.tokenizer.pad_token_id] * gap, *tokens[shared:]])
                mask.append([1] * shared + [0] * gap + [1] * (len(tokens) - shared))
            tensors = {"input_ids": torch.tensor(rows), "attention_mask": torch.tensor(mask)}
            return Inputs({**tensors, "shared": shared}, [len(prompt.tokens) for prompt in batch])
        pictures = [[_open(file) for file in prompt.images] for prompt in batch]
        tensors = dict(
            self.processor(
                text=[prompt.text for prompt in batch],
                images=pictures if any(pictures) else None,
                padding=True,
                return_tensors="pt",
                add_special_tokens=False,
            )
        )
        return Inputs({**tensors, "shared": 0}, tensors["attention_mask"].sum(dim=1).tolist())

    def generate(self, batch: Sequence[Prompt], inputs: Inputs) -> list[Answer]:
        """Answers of a batch whose prompts have the same sampling parameters. Raises torch.OutOfMemoryError."""
        import torch
        from transformers import GenerationConfig

        started = time.perf_counter()
        device = self.model.device
        tensors = {
            name: value.to(device, self.model.dtype if value.is_floating_point() else None)
            for name, value in inputs.tensors.items()
            if name != "shared"
        }
        limits = [int(prompt.sampling["max_tokens"] or 1) for prompt in batch]
        if self.context:  # an answer ends where the context does
            limits = [min(n, self.context - length) for n, length in zip(limits, inputs.lengths, strict=True)]
        width = tensors["input_ids"].shape[1]
        settings = GenerationConfig(
            max_new_tokens=max(limits),
            do_sample=False,  # sampling is done by the last processor: seeded for each row
            eos_token_id=self.ends,
            pad_token_id=self.tokenizer.pad_token_id,
        )
        with torch.inference_mode():
            if inputs.tensors["shared"]:
                past = self._past(tensors["input_ids"][:1, : inputs.tensors["shared"]])
                if past is not None:
                    past.batch_repeat_interleave(len(batch))
                    tensors["past_key_values"] = past
            written = self.model.generate(
                **tensors, generation_config=settings, logits_processor=_processors(batch, tensors, device)
            )[:, width:].tolist()
        seconds = time.perf_counter() - started
        answers = []
        for prompt, tokens, limit, length in zip(batch, written, limits, inputs.lengths, strict=True):
            ends = next((i for i, token in enumerate(tokens[:limit]) if token in self.ends), None)
            answers.append(
                Answer(
                    tokens=tokens[: limit if ends is None else ends],
                    ended=ends is not None,
                    prompt=length,
                    sampling={**prompt.sampling, "max_tokens": limit},
                    seconds=seconds,
                )
            )
        return answers

    def _past(self, tokens: Any) -> Any:
        """Keys and values of the tokens that a batch shares; None for a model that keeps other state than those."""
        from transformers import DynamicCache
        from transformers.cache_utils import DynamicLayer

        past = DynamicCache(config=self.model.config)
        if not all(type(layer) is DynamicLayer for layer in past.layers):
            return None
        self.model(input_ids=tokens, past_key_values=past, use_cache=True, logits_to_keep=1)
        return past


def engine(card: ModelCard, seed: int) -> Transformers:
    """The engine of a model card. Raises PunchlineError for an unknown option or sampling parameter."""
    return Transformers(card, seed)


def batches(prompts: Sequence[Prompt], size: int, tokens: int) -> list[list[Prompt]]:
    """Prompts with the same sampling parameters together, the largest first, so that little is padded.

    At most `size` prompts a batch; its rows times its longest prompt and answer are at most `tokens`.
    """
    alike: dict[tuple[Any, ...], list[Prompt]] = {}
    for prompt in prompts:
        key = tuple((name, value) for name, value in sorted(prompt.sampling.items()) if name != "seed")
        alike.setdefault((key, bool(prompt.images)), []).append(prompt)
    made: list[list[Prompt]] = []
    for group in alike.values():
        batch: list[Prompt] = []
        for prompt in sorted(group, key=lambda prompt: -prompt.size):
            if batch and (len(batch) >= size or _cost([batch[0]]) * (len(batch) + 1) > tokens):
                made.append(batch)
                batch = []
            batch.append(prompt)
        made.append(batch)
    return sorted(made, key=_cost, reverse=True)


def _cost(batch: Sequence[Prompt]) -> int:
    """Tokens that a batch's rows take at most; an estimate where there are images."""
    return len(batch) * (max(prompt.size for prompt in batch) + int(batch[0].sampling["max_tokens"] or 1))


def _shared(rows: Sequence[tuple[int, ...]]) -> int:
    """How many first tokens all rows have in common, if that is worth computing them once; the last is left to each."""
    if len(rows) < 2:
        return 0
    low, high = min(rows), max(rows)  # what these two share, all share
    most = min(map(len, rows)) - 1
    shared = next((i for i in range(most) if low[i] != high[i]), most)
    return shared if shared >= SHARED else 0


def _processors(batch: Sequence[Prompt], tensors: Mapping[str, Any], device: Any) -> Any:
    """What is done to the next token's scores, in transformers' order: penalty, temperature, cuts, the draw."""
    import torch
    from transformers import (
        LogitsProcessor,
        LogitsProcessorList,
        MinPLogitsWarper,
        RepetitionPenaltyLogitsProcessor,
        TemperatureLogitsWarper,
        TopKLogitsWarper,
        TopPLogitsWarper,
    )

    class Penalty(LogitsProcessor):  # type: ignore[misc]  # transformers has no types
        """Repetition penalty that padding does not take part in: it would change answers with the batch."""

        def __init__(self, penalty: float) -> None:
            self.penalise = RepetitionPenaltyLogitsProcessor(penalty)
            mask, ids = tensors["attention_mask"].bool(), tensors["input_ids"]
            first = ids.gather(1, mask.int().argmax(1, keepdim=True))
            self.prompt = torch.where(mask, ids, first)

        def __call__(self, ids: Any, scores: Any) -> Any:
            return self.penalise(torch.cat([self.prompt, ids[:, self.prompt.shape[1] :]], dim=1), scores)

    class Draw(LogitsProcessor):  # type: ignore[misc]
        """A draw from the softmax by the Gumbel-max trick: greedy search then takes it.

        Every row has a generator of its own, seeded by the request, so that a draw does not hang on the batch.
        """

        def __init__(self) -> None:
            self.generators = [torch.Generator(device).manual_seed(_row_seed(prompt)) for prompt in batch]

        def __call__(self, ids: Any, scores: Any) -> Any:
            uniform = torch.empty_like(scores, dtype=torch.float32)
            for row, generator in zip(uniform, self.generators, strict=True):
                row.uniform_(generator=generator)
            return scores - torch.log(-torch.log(uniform.clamp_(1e-20, 1 - 6e-8)))

    sampling = batch[0].sampling
    processors = LogitsProcessorList()
    if (penalty := _number(sampling, "repetition_penalty", 1.0)) != 1.0:
        processors.append(Penalty(penalty))
    if not _greedy(sampling):
        if (temperature := _number(sampling, "temperature", 1.0)) != 1.0:
            processors.append(TemperatureLogitsWarper(temperature))
        if (top_k := int(_number(sampling, "top_k", 0))) > 0:
            processors.append(TopKLogitsWarper(top_k))
        if (top_p := _number(sampling, "top_p", 1.0)) < 1.0:
            processors.append(TopPLogitsWarper(top_p))
        if (min_p := _number(sampling, "min_p", 0.0)) > 0.0:
            processors.append(MinPLogitsWarper(min_p))
        processors.append(Draw())
    return processors


def _row_seed(prompt: Prompt) -> int:
    """63 bits from the seed in force (sample included) and the request."""
    name = f"{prompt.sampling['seed']} {prompt.requests[0].request_id}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1


def _number(sampling: Mapping[str, Scalar], name: str, default: float) -> float:
    value = sampling.get(name)
    return default if value is None else float(value)


def _greedy(sampling: Mapping[str, Scalar]) -> bool:
    return _number(sampling, "temperature", 0.0) == 0.0


def _processor(where: Mapping[str, Any], config: Any, tokenizer: Any) -> Any:
    """The model's processor; without its video part where torchvision, which only that part needs, is not installed."""
    from transformers import AutoImageProcessor, AutoProcessor
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    try:
        return AutoProcessor.from_pretrained(**where)
    except ImportError as error:
        if "torchvision" not in str(error).lower() or type(config) not in PROCESSOR_MAPPING:
            raise
    whole = PROCESSOR_MAPPING[type(config)]

    class WithoutVideo(whole):  # type: ignore[misc, valid-type]
        @classmethod
        def get_attributes(cls) -> list[str]:
            return [name for name in whole.get_attributes() if "video" not in name]

    settings, _ = whole.get_processor_dict(where["pretrained_model_name_or_path"], **_but_name(where))
    template = settings.get("chat_template") or tokenizer.chat_template
    images = AutoImageProcessor.from_pretrained(**where)
    return WithoutVideo(image_processor=images, tokenizer=tokenizer, chat_template=template)


def _but_name(where: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in where.items() if key != "pretrained_model_name_or_path"}


def _pixels(file: Path) -> int:
    """Of an image, from its header. Raises OSError for a file that is none."""
    import PIL.Image

    with PIL.Image.open(file) as image:
        return image.width * image.height


def _open(file: Path) -> Any:
    """An image as RGB: turned as its EXIF says, the first frame, on white where it is transparent (as in vLLM)."""
    import PIL.Image
    import PIL.ImageOps

    with PIL.Image.open(file) as image:
        turned = PIL.ImageOps.exif_transpose(image)
        if turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info:
            clear = turned.convert("RGBA")
            white = PIL.Image.new("RGBA", clear.size, "white")
            return PIL.Image.alpha_composite(white, clear).convert("RGB")
        return turned.convert("RGB")


def _too_long(tokens: int, context: int) -> str:
    return f"the prompt has {tokens} tokens; with an answer it does not fit into the context of {context}"


def _free() -> None:
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _file(card: ModelCard) -> str:
    return card.file


def _sampling(card: ModelCard, request: Request) -> dict[str, Scalar]:
    """Checked sampling parameters of a request. Raises PunchlineError for one that is not known here."""
    chosen = parameters(card, request)
    _check_sampling(chosen, _file(card))
    return chosen


def _check_sampling(sampling: Mapping[str, Scalar], file: str) -> None:
    for name, value in sampling.items():
        if name not in SAMPLING:
            raise PunchlineError(
                f"unknown sampling parameter {name!r}", file=file, field="sampling", way_out=nearest(name, SAMPLING)
            )
        whole = name in ("max_tokens", "top_k", "seed")
        if isinstance(value, (bool, str)) or value is None or (whole and not isinstance(value, int)):
            raise PunchlineError(f"expected a number, got {value!r}", file=file, field=f"sampling.{name}")
        least = {"max_tokens": 1.0, "repetition_penalty": 1e-6}.get(name, 0.0)
        if value < least or (name in ("top_p", "min_p") and value > 1):
            raise PunchlineError(f"out of range: {value!r}", file=file, field=f"sampling.{name}")


def _check_options(card: ModelCard) -> None:
    """Raises PunchlineError for an option that is unknown or of the wrong kind."""
    file = _file(card)
    check_options(card, OPTIONS)
    for option, value in card.options.items():
        kind = OPTIONS[option]
        low = kind is int and isinstance(value, int) and (value is True or value < 1)
        if low or not isinstance(value, kind):
            raise PunchlineError(f"expected {kind.__name__}, got {value!r}", file=file, field=option)
    if not card.options.get("id"):
        raise PunchlineError("the option is missing", file=file, field="id", way_out="Name a hub model or a folder")
    dtype = card.options.get("dtype", "auto")
    if dtype not in DTYPES:
        raise PunchlineError(f"unknown dtype {dtype!r}", file=file, field="dtype", way_out=nearest(dtype, DTYPES))
    revision = card.options.get("revision")
    revisions.check(card.options["id"], revision, file)
    if "adapter" in card.options:
        adapters.check(card.options["adapter"], file)
    if card.options.get("trust_remote_code") and revision is None:
        raise PunchlineError(
            "code from the hub runs at a pinned revision only",
            file=file,
            field="trust_remote_code",
            way_out="Read the code, then write the commit that you read as `revision`",
        )
    for sampling in (card.sampling, *(paper.sampling for paper in card.papers.values())):
        _check_sampling(sampling, file)
