"""A model in memory: prompts to tensors, tensors to answers."""

from __future__ import annotations

import copy
import gc
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from punchline.config import adapters, revisions
from punchline.engines.transformers.prompts import Answer, Prompt
from punchline.engines.transformers.sampling import processors
from punchline.errors import PunchlineError, one_line
from punchline.schema import ModelCard, Request, Text
from punchline.text import quiet


class Inputs(NamedTuple):
    """A batch as tensors. Rows are padded on the left."""

    tensors: dict[str, Any]
    lengths: list[int]  # tokens of each prompt, images included


class Loaded:
    """A model in memory, with its tokeniser and, if it reads images, its processor."""

    def __init__(self, card: ModelCard, model_id: str, revision: str, dtype: str) -> None:
        import torch
        from transformers import AutoTokenizer

        device = card.options.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
        if dtype == "auto":
            dtype = "float32" if device == "cpu" else "bfloat16"
        where: dict[str, Any] = {"revision": revision}
        if revisions.is_folder(model_id):
            revisions.verify_folder(model_id)
            where = {"local_files_only": True}
        if card.options.get("trust_remote_code"):
            where["trust_remote_code"] = True
        try:
            with quiet():
                self.model, config = _model(card, model_id, where, device, dtype)
                self.tokenizer = AutoTokenizer.from_pretrained(model_id, **where, padding_side="left")
                images = "image" in card.modality
                self.processor = _processor(model_id, where, config, self.tokenizer) if images else None
                self.tuned, self.parts = None, tuple[str, ...]()
                if adapter := card.options.get("adapter"):
                    self.tuned, self.parts = adapters.load(adapter, self.model, model_id, revision, card.file)
        except (OSError, ValueError, ImportError, RuntimeError, AssertionError) as error:
            raise PunchlineError(f"the model cannot be loaded: {one_line(error)}", file=card.file) from error
        self._reader = self.processor or self.tokenizer
        if self.processor is not None:
            self.tokenizer = self.processor.tokenizer
            self.tokenizer.padding_side = "left"
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        if not getattr(self._reader, "chat_template", None) and not self.tokenizer.chat_template:
            raise PunchlineError("the model has no chat template", file=card.file, hint="Choose its instruct variant")
        self._decoder = copy.deepcopy(self.tokenizer)  # used while the next batch is tokenised in another thread
        # Tokens of the chat's frame: in a text they could forge a turn, or stand for an image.
        self.control = sorted({str(t) for t in self.tokenizer.all_special_tokens}, key=len, reverse=True)
        self.dtype, self.device = dtype, str(self.model.device.type)
        longest = getattr(config.get_text_config(), "max_position_embeddings", None)
        self.context: int | None = min(filter(None, (card.context, longest)), default=None)

        # The model's own generation defaults (a temperature, a repetition penalty) would silently join ours: only its
        # token ids are kept.
        defaults = self.model.generation_config
        ends = defaults.eos_token_id if defaults.eos_token_id is not None else self.tokenizer.eos_token_id
        self.ends: list[int] = [ends] if isinstance(ends, int) else list(ends or [])
        self._ids = {"eos_token_id": self.ends, "pad_token_id": self.tokenizer.pad_token_id}
        self.model.generation_config = type(defaults)(bos_token_id=defaults.bos_token_id, **self._ids)

    def render(self, request: Request, template: Mapping[str, Any]) -> str:
        """The prompt that the chat template makes. Raises ValueError for a conversation that it does not take."""
        import jinja2

        conversation, image = [], {"type": "image"}
        for message in request.messages:
            parts = [{"type": "text", "text": p.text} if isinstance(p, Text) else image for p in message.content]
            content = parts if self.processor is not None else "".join(part.get("text", "") for part in parts)
            conversation.append({"role": message.role, "content": content})
        settings = {"tokenize": False, "add_generation_prompt": True, **template}
        try:
            return str(self._reader.apply_chat_template(conversation, **settings))
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
        if self.processor is None:
            rows = {"input_ids": [list(prompt.tokens) for prompt in batch]}
            tensors = dict(self.tokenizer.pad(rows, return_tensors="pt"))
        else:
            pictures = [[_open(file) for file in prompt.images] for prompt in batch]
            texts = [prompt.text for prompt in batch]
            settings = {"padding": True, "return_tensors": "pt", "add_special_tokens": False}
            tensors = dict(self.processor(text=texts, images=pictures if any(pictures) else None, **settings))
        return Inputs(tensors, tensors["attention_mask"].sum(dim=1).tolist())

    def on_device(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        """Tensors on the model's device, those of numbers in its precision."""
        to, kind = self.model.device, self.model.dtype
        return {n: value.to(to, kind if value.is_floating_point() else None) for n, value in tensors.items()}

    def generate(self, batch: Sequence[Prompt], inputs: Inputs) -> list[Answer]:
        """Answers of a batch whose prompts have the same sampling parameters. Raises torch.OutOfMemoryError."""
        import torch
        from transformers import GenerationConfig

        if self.tuned is not None:
            self.tuned.set_adapter(batch[0].part)
        started = time.perf_counter()
        tensors = self.on_device(inputs.tensors)
        limits = [int(prompt.sampling["max_tokens"] or 1) for prompt in batch]
        if self.context:  # an answer ends where the context does
            limits = [min(n, self.context - length) for n, length in zip(limits, inputs.lengths, strict=True)]
        width = tensors["input_ids"].shape[1]
        # Sampling is done by the last processor: seeded for each row.
        settings = GenerationConfig(max_new_tokens=max(limits), do_sample=False, **self._ids)
        with torch.inference_mode():
            chain = processors(batch, tensors, self.model.device)
            written = self.model.generate(**tensors, generation_config=settings, logits_processor=chain)
            rows = written[:, width:].tolist()
        seconds = time.perf_counter() - started
        answers = []
        for prompt, tokens, limit, length in zip(batch, rows, limits, inputs.lengths, strict=True):
            end = next((i for i, token in enumerate(tokens[:limit]) if token in self.ends), None)
            sampling = {**prompt.sampling, "max_tokens": limit}
            answers.append(Answer(tokens[: limit if end is None else end], end is not None, length, sampling, seconds))
        return answers


def _model(card: ModelCard, model_id: str, where: Mapping[str, Any], device: str, dtype: str) -> tuple[Any, Any]:
    """(the model on its device, its configuration). Raises PunchlineError for one that reads no images but must."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as READ_IMAGES

    config = AutoConfig.from_pretrained(model_id, **where)
    of_hub = "AutoModelForImageTextToText" in getattr(config, "auto_map", {})  # code from the hub
    reads_images = config.model_type in READ_IMAGES or of_hub
    if "image" in card.modality and not reads_images:
        what, hint = f"{config.model_type} models read no images", "Write modality: [text]"
        raise PunchlineError(what, file=card.file, field="modality", hint=hint)
    kind = AutoModelForImageTextToText if reads_images else AutoModelForCausalLM
    settings = {**where, "dtype": getattr(torch, dtype)}
    if "attention" in card.options:
        settings["attn_implementation"] = card.options["attention"]
    if device == "auto":
        return kind.from_pretrained(model_id, **settings, device_map="auto").eval(), config
    return kind.from_pretrained(model_id, **settings).eval().to(device), config


def _processor(model_id: str, where: Mapping[str, Any], config: Any, tokenizer: Any) -> Any:
    """The model's processor; without its video part where torchvision, which only that part needs, is not installed."""
    from transformers import AutoImageProcessor, AutoProcessor
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

    try:
        return AutoProcessor.from_pretrained(model_id, **where)
    except ImportError as error:
        if "torchvision" not in str(error).lower() or type(config) not in PROCESSOR_MAPPING:
            raise
    whole = PROCESSOR_MAPPING[type(config)]

    class WithoutVideo(whole):  # type: ignore[misc, valid-type]
        @classmethod
        def get_attributes(cls) -> list[str]:
            return [name for name in whole.get_attributes() if "video" not in name]

    settings, _ = whole.get_processor_dict(model_id, **where)
    template = settings.get("chat_template") or tokenizer.chat_template
    images = AutoImageProcessor.from_pretrained(model_id, **where)
    return WithoutVideo(image_processor=images, tokenizer=tokenizer, chat_template=template)


def pixels_of(file: Path) -> int:
    """Number of pixels of an image, from its header. Raises OSError for a file that is none."""
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
            return PIL.Image.alpha_composite(PIL.Image.new("RGBA", clear.size, "white"), clear).convert("RGB")
        return turned.convert("RGB")


def free() -> None:
    """Release memory that no tensor uses any more."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def is_out_of_memory(error: Exception) -> bool:
    """True if memory, the device's or the machine's, does not hold a batch."""
    import torch

    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in str(error)
