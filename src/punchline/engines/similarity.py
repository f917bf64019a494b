"""Text comparison by a model: BERTScore recall, or the cosine of two sentence embeddings.

It answers comparisons: the message of role "assistant" holds the candidate, that of role "user" the reference; the
answer is the number as text. All mathematics is that of the packages bert-score (Zhang et al., ICLR 2020; no idf
weights, no rescaling) and sentence-transformers (Reimers and Gurevych, EMNLP 2019). Extra packages: `make metrics`.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from punchline.config import revisions
from punchline.core.engine import Count, Engine, ImageFiles, read_options, response
from punchline.engines.transformers.loaded import free, is_out_of_memory
from punchline.errors import PunchlineError, one_line
from punchline.grouping import grouped
from punchline.schema import ModelCard, Request, Response, Text
from punchline.text import quiet
from punchline.workflow.code import version_of

METRICS = {"bertscore": "bert-score", "cosine": "sentence-transformers"}  # and the package that computes it
PACKAGE = "package:"  # before the name of a Python package that carries the weights

FEW = 8  # texts; batches are made no smaller to fill them better
PAIRS = 1024  # scored, then returned
# Files of a hub repository that are loaded: not the same weights in other formats.
FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*/pytorch_model.bin")
NOT_FILES = ("onnx/*", "openvino/*")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a card."""

    metric: Literal["bertscore", "cosine"]
    id: Annotated[str, msgspec.Meta(pattern=f"^(?!{PACKAGE}$).")]
    revision: str | None = None
    device: str | None = None
    layers: Count | None = None  # of bertscore only
    batch_size: Count = 64  # texts


class Pair(NamedTuple):
    """A pair of texts to compare."""

    reference: str
    candidate: str


class Similarity(Engine):
    """The engine. Weights are loaded at the first comparison that needs them."""

    name = "similarity"
    needs_images = False

    def __init__(self, card: ModelCard, seed: int = 0) -> None:
        super().__init__(card, seed)
        self.options = read_options(card, Options, "docs/models.md")
        self.metric, self.id = self.options.metric, self.options.id
        self.layers = {} if self.options.layers is None else {"layers": self.options.layers}
        if (self.metric == "bertscore") != bool(self.layers):
            hint = "The layer whose output is compared"
            raise self.wrong("bertscore needs the option, and cosine takes none", field="layers", hint=hint)
        # Files of a package are pinned as a folder's are: by their digest.
        revisions.check(self.options.revision, card.file)
        packages = (METRICS[self.metric], "transformers", "torch")
        self.version = ", ".join(f"{name} {version_of(name)}" for name in packages)

    @functools.cached_property
    def revision(self) -> str | None:
        """Revision that the card pins, else one found without loading: a commit, or a digest of files. None: none."""
        try:
            return self.options.revision or revisions.pinned(_local(self.id) or self.id)
        except PunchlineError:
            return None

    def identity(self) -> dict[str, Any]:
        """Metric, weights and layer; not how texts are batched."""
        return {"metric": self.metric, "id": self.id, "revision": self.revision, **self.layers}

    def unavailable(self) -> str | None:
        """Missing packages, or weights that are neither here nor may be fetched."""
        package = self.id.removeprefix(PACKAGE) if self.id.startswith(PACKAGE) else None
        packages = dict.fromkeys(("torch", "transformers", METRICS[self.metric], package))
        if absent := [name for name in packages if name is not None and not _installed(name)]:
            return f"not installed: {', '.join(absent)}; they are the extra `metrics`: make metrics"
        if package is not None:
            return None if _local(self.id) else f"{package} carries no model's folder"
        return revisions.unavailable(self.id, self.options.revision)

    def close(self) -> None:
        """Free the model's memory."""
        self.__dict__.pop("_loaded", None)
        gc.collect()

    def answer(self, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
        """One response a request. A pair that is asked for several times is scored once, a blank text is 0 unscored.

        `missing` for a request that is no comparison; `failed`, with the reason, for all that cannot be scored.
        """

        respond = functools.partial(response, self, model_key=model_key)
        if reason := self.unavailable():
            yield from (respond(request, state="failed", reason=reason) for request in requests)
            return
        requests_of: dict[Pair, list[Request]] = {}
        for request in requests:
            pair = comparison_in(request)
            if pair is None:
                yield respond(request, state="missing", reason="not a comparison")
            elif not all(map(str.strip, pair)):
                yield respond(request, state="ok", text=repr(0.0), effective={"metric": self.metric})
            else:
                requests_of.setdefault(pair, []).append(request)
        # Pairs of one reference stay together: a call embeds each of its texts once.
        pairs = sorted(requests_of, key=lambda pair: (-len(pair.reference), pair.reference, -len(pair.candidate)))
        for start in range(0, len(pairs), PAIRS):
            part, loaded, began = pairs[start : start + PAIRS], self._loaded, time.perf_counter()
            scored = [(pair, loaded) for pair in part] if isinstance(loaded, str) else _each(part, loaded.values)
            seconds = time.perf_counter() - began
            for request, value in ((request, value) for pair, value in scored for request in requests_of[pair]):
                if isinstance(value, str) or isinstance(loaded, str):
                    yield respond(request, state="failed", reason=value)
                else:
                    effective = {"metric": self.metric, **self.layers, "device": loaded.device}
                    yield respond(request, state="ok", text=repr(value), latency_s=seconds, effective=effective)

    @functools.cached_property
    def _loaded(self) -> BertScore | Cosine | str:
        """The model; or the reason why it cannot be loaded: tried once, not once a request."""
        try:
            import torch

            with quiet():
                folder = self._folder()
                device = self.options.device or ("cuda" if torch.cuda.is_available() else "cpu")
                kind: Callable[..., BertScore | Cosine] = BertScore if self.metric == "bertscore" else Cosine
                return kind(folder, *self.layers.values(), self.options.batch_size, device)
        except Exception as error:  # of three packages, whose errors share no base: none may lose an answer
            return f"the model cannot be loaded: {one_line(error)}"

    def _folder(self) -> str:
        """Folder of the weights, downloaded from the hub if allowed. Raises PunchlineError for other bytes."""
        if local := _local(self.id):
            revisions.pinned(local, self.options.revision)  # raises where the files are others
            return local
        return _fetched(self.id, self.revision or revisions.pinned(self.id))  # raises, and says why


class BertScore:
    """BERTScore recall by the package, at one layer."""

    def __init__(self, folder: str, layers: int, batch_size: int, device: str) -> None:
        from bert_score import BERTScorer
        from transformers import AutoTokenizer

        self.device, self.batch_size = device, batch_size
        with contextlib.chdir(folder):  # the package takes a path with `t5` in it for the name of a T5 model
            self._scorer = BERTScorer(model_type=".", num_layers=layers, lang="en", device=device)
            # The package asks RoBERTa's and GPT-2's tokenisers for a space before the first word, call by call.
            # transformers 5 takes no notice then, only where the tokeniser is made.
            tokenizer = AutoTokenizer.from_pretrained(".", use_fast=False, add_prefix_space=True)
        if type(tokenizer).__name__.startswith(("Roberta", "GPT2")):
            self._scorer._tokenizer = tokenizer
        tokenizer, config = self._scorer._tokenizer, self._scorer._model.config
        if tokenizer.model_max_length > 10**9:  # no limit; the package hands it on, and it fits into no C integer
            offset = 2 if "roberta" in config.model_type else 0  # RoBERTa's first two positions are taken
            tokenizer.model_max_length = config.max_position_embeddings - offset

    def values(self, pairs: Sequence[Pair]) -> list[float]:
        """Values of pairs, whatever other pairs they are scored with.

        The package takes a padded position of a candidate for a token of similarity 0, which beats tokens of negative
        similarity. So a batch holds candidates of one length in tokens, filled up with its last pair.
        """
        from bert_score.utils import sent_encode

        tokenizer = self._scorer._tokenizer
        tokens = {pair.candidate: len(sent_encode(tokenizer, pair.candidate)) for pair in pairs}
        groups = grouped(pairs, lambda pair: tokens[pair.candidate])

        def called(size: int) -> list[float]:
            rows = [row for alike in groups.values() for row in (*alike, *[alike[-1]] * (-len(alike) % size))]
            candidates, references = [row.candidate for row in rows], [row.reference for row in rows]
            _, recall, _ = self._scorer.score(candidates, references, batch_size=size)
            values = dict(zip(rows, recall.tolist(), strict=True))
            return [values[pair] for pair in pairs]

        size = self.batch_size
        while size > FEW and sum(-len(alike) % size for alike in groups.values()) > len(pairs):
            size //= 2  # else more is filled up than scored
        return _in_memory(called, size)


class Cosine:
    """Cosine similarity of sentence embeddings by the package."""

    def __init__(self, folder: str, batch_size: int, device: str) -> None:
        from sentence_transformers import SentenceTransformer

        self.device, self.batch_size = device, batch_size
        self._model = SentenceTransformer(folder, device=device, local_files_only=True)

    def values(self, pairs: Sequence[Pair]) -> list[float]:
        """Values of pairs."""
        import torch
        from sentence_transformers import util

        texts = sorted({text for pair in pairs for text in pair}, key=lambda text: (-len(text), text))
        encode = functools.partial(self._model.encode, texts, convert_to_tensor=True, show_progress_bar=False)
        vectors = _in_memory(lambda size: list(encode(batch_size=size).cpu()), self.batch_size)
        vector_of = dict(zip(texts, vectors, strict=True))
        references, candidates = (torch.stack([vector_of[text] for text in side]) for side in zip(*pairs, strict=True))
        return [float(value) for value in util.pairwise_cos_sim(candidates, references)]


engine = Similarity


def comparison_in(request: Request) -> Pair | None:
    """Reference and candidate of a comparison; None for a request that is none."""
    match [(message.role, *message.content) for message in request.messages]:
        case [("assistant", Text(text=candidate)), ("user", Text(text=reference))]:
            return Pair(reference, candidate)
    return None


def _each(pairs: Sequence[Pair], called: Callable[[Sequence[Pair]], Sequence[float]]) -> list[tuple[Pair, float | str]]:
    """Every pair with its value, within -1 and 1 as it must be but for rounding, or the reason of its failure.

    Pairs that fail together are tried one by one.
    """
    try:
        values = called(pairs)
    except Exception as error:
        if len(pairs) == 1:
            return [(pairs[0], one_line(error))]
        return [scored for pair in pairs for scored in _each([pair], called)]
    bounded = (max(-1.0, min(1.0, v)) if math.isfinite(v) else "the result is not a number" for v in values)
    return list(zip(pairs, bounded, strict=True))


def _in_memory(called: Callable[[int], list[Any]], batch_size: int) -> list[Any]:
    """Outputs of `called` for a batch size; for half of it where memory does not hold that."""
    while True:
        try:
            return called(batch_size)
        except RuntimeError as error:
            if not is_out_of_memory(error) or batch_size == 1:
                raise
        batch_size //= 2
        free()  # here, where no traceback holds tensors any more


def _local(model_id: str) -> str | None:
    """The folder that an id names, or that its package carries; None for a hub repository and an absent package."""
    if not model_id.startswith(PACKAGE):
        return model_id if revisions.is_folder(model_id) else None
    spec = importlib.util.find_spec(model_id.removeprefix(PACKAGE).replace("-", "_"))  # found, not imported
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        for config in sorted(Path(place).rglob("config.json")):
            if any(config.parent.glob("*.safetensors")) or any(config.parent.glob("*.bin")):
                return str(config.parent)
    return None


def _fetched(model_id: str, commit: str) -> str:
    """The folder of a hub repository in the local cache, fetched if it holds no weights. Raises PunchlineError."""
    from huggingface_hub import HfApi, snapshot_download

    def weights(folder: str, *patterns: str) -> bool:
        return any(path.is_file() for pattern in patterns for path in Path(folder).glob(pattern))

    with contextlib.suppress(Exception):  # not there; the reasons share no base
        folder = snapshot_download(model_id, revision=commit, local_files_only=True)
        if weights(folder, "*.safetensors", "*.bin") and weights(folder, "config.json"):
            return str(folder)
    try:
        HfApi().model_info(model_id, revision=commit, timeout=10)  # says at once whether the hub is there
        folder = snapshot_download(model_id, revision=commit, allow_patterns=[*FILES], ignore_patterns=[*NOT_FILES])
        if not weights(folder, "*.safetensors"):
            snapshot_download(model_id, revision=commit, allow_patterns=["pytorch_model*.bin"])
    except Exception as error:  # no network, no such repository: its many errors share no base
        hint = "Check the id and the network, or put the model into a folder and name that as `id`"
        # Not the error's text, which may hold headers.
        what = f"{model_id} is not in the hub's local cache, and fetching it failed ({type(error).__name__})"
        raise PunchlineError(what, hint=hint) from error
    return str(folder)


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package.replace("-", "_")) is not None
