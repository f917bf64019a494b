"""All records: one frozen struct for each noun, and how records are hashed.

The `digest` of a record is the sha256 of its whole content. Later records refer to that digest, so a changed answer
invalidates every score built on it. Keys that identify a request or a model (`Request.request_id`, model_key) hash a
named part only.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

State = Literal["ok", "missing", "failed", "refused", "unparsable"]
STATES: tuple[State, ...] = ("ok", "missing", "failed", "refused", "unparsable")

# Reasons why generation ended. Servers' synonyms map to these; any other word is stored unchanged.
LENGTH, FILTERED = "length", "content_filter"
_FINISHES = {
    "stop": ("end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed"),
    LENGTH: (
        *("max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "token_limit"),
        *("model_context_window_exceeded", "repetition"),  # repetition: vLLM cuts a loop
    ),
    FILTERED: (
        *("content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal"),
        *("image_safety", "image_prohibited_content", "image_recitation", "model_armor", "guardrail_intervened"),
        *("sensitive", "error_toxic"),
    ),
}
_FINISH_OF = {word: finish for finish, words in _FINISHES.items() for word in (finish, *words)}

Rule = Literal["released", "paper"]
RULES: tuple[Rule, ...] = ("released", "paper")

Scalar = str | int | float | bool | None


def canonical(value: Any) -> bytes:
    """Canonical JSON bytes, the only form that is hashed: sorted keys, no white space.

    Floats keep their shortest exact form. NaN and infinities become null; YAML files contain none.
    """
    return msgspec.json.encode(value, order="sorted")


def sha256(value: bytes) -> str:
    """Hexadecimal sha256 of bytes."""
    return hashlib.sha256(value).hexdigest()


def digest_of(value: Any) -> str:
    """Hexadecimal sha256 of the canonical form of a record or of plain data."""
    return sha256(canonical(value))


def digest_of_all(digests: Iterable[str]) -> str:
    """One digest for a set of digests, independent of their order."""
    return sha256("\n".join(sorted(digests)).encode())


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Base of all records: frozen, strictly typed when decoded, hashed as a whole. Records form no reference cycles."""

    @property
    def digest(self) -> str:
        """Hexadecimal sha256 of the whole content."""
        return digest_of(self)


def finish_of(word: str) -> str:
    """A server's finish reason in the vocabulary of `Response.finish_reason`; an unknown word unchanged."""
    return _FINISH_OF.get(word.partition(":")[0].strip().lower(), word)


class ImageRef(Record, frozen=True, kw_only=True):
    """An image as it is sent to a model."""

    path: Place  # relative to the project root
    sha256: str
    width: int  # pixels
    height: int  # pixels
    name: str = ""  # distinguishes the images of an item; "" if there is only one


# Reasons why an image is missing, as a pattern. docs/data.md explains them.
REASONS = (
    r"host unreachable|timed out|refused by robots\.txt|not found \(404\)|http \d{3}|redirect refused|unsafe address"
    "|wrong content type|too large|encoding refused|truncated|not an image|decompression bomb|no resolver for this site"
    "|resolver found no image|digest differs from lock|digest differs from manifest|same bytes as another comic"
    "|no such file"
)
Reason = Annotated[str, msgspec.Meta(pattern=rf"^({REASONS})\Z")]
PLACE = r"(\w[^/\\\0]*(/|\Z))+\Z"  # no part begins with a dot
Place = Annotated[str, msgspec.Meta(pattern=f"^{PLACE}", title="a path inside its folder")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class FetchEntry(Record, frozen=True, kw_only=True):
    """The result of fetching one image: a line of the fetch log."""

    item_id: str
    source: str
    state: Literal["ok", "missing"]
    reason: Reason | None = None  # reason why it is missing
    path: Place | None = None  # of the published image, relative to the project root
    sha256: str | None = None
    bytes: int | None = None
    width: int | None = None  # pixels
    height: int | None = None  # pixels
    media_type: str | None = None
    url: str | None = None  # source of the bytes
    page: str | msgspec.UnsetType = msgspec.UNSET  # the listed address of a page or image
    note: str | None = None
    fetched_at: str | None = None  # ISO 8601, UTC; part of no compared digest

    @property
    def own_file(self) -> str | None:
        """Path of the project's file that was copied, whose present bytes count; None for an image from elsewhere."""
        is_elsewhere = not self.url or "://" in self.url or self.url.startswith(("mirror:", "demo:"))
        return None if is_elsewhere or self.path is None else self.url


class Pictures(Record, frozen=True, kw_only=True):
    """The images of one item as they are sent to models, and their derivation."""

    item_id: str
    images: tuple[ImageRef, ...]
    source: str  # path of the published image
    source_sha256: str
    derivations: tuple[dict[str, Any], ...]  # one for each image: boxes, OpenCV's version, font, …
    reason: str | None = None  # reason why there are no images


class Item(Record, frozen=True, kw_only=True):
    """One unit of a benchmark without its labels: all that a model may see."""

    benchmark: str
    item_id: str
    source: str  # origin of the item, for tables by source
    cluster: str  # sampling unit of confidence intervals
    fields: dict[str, Scalar] = {}
    images: tuple[ImageRef, ...] = ()
    missing: str | None = None  # reason why an image is missing; None if all are available


class Gold(Record, frozen=True, kw_only=True):
    """Gold labels of one item. Separate from Item, so that a corrected label causes no new request."""

    benchmark: str
    item_id: str
    values: dict[str, Any]


class Text(Record, frozen=True, kw_only=True, tag="text", tag_field="type"):
    text: str


class Image(Record, frozen=True, kw_only=True, tag="image", tag_field="type"):
    sha256: str | None  # None: missing; only an engine that needs no images can answer


class Message(Record, frozen=True, kw_only=True):
    role: Literal["system", "user", "assistant"]
    content: tuple[Text | Image, ...]


class Sampling(Record, frozen=True, kw_only=True):
    """Requested sampling parameters."""

    temperature: float
    max_tokens: int
    seed: int | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "temperature", float(self.temperature))  # 0 and 0.0 have the same hash


class Request(Record, frozen=True, kw_only=True):
    """One request to any model. It contains no gold, and of files only the digests of its images."""

    benchmark: str
    item_id: str
    task: str
    condition: str
    messages: tuple[Message, ...]
    sampling: Sampling
    sample: int = 0

    @property
    def request_id(self) -> str:
        """Key of the request: sha256 of everything that can change an answer, independent of the model."""
        return self.digest


class Usage(Record, frozen=True, kw_only=True):
    """Token counts as reported by the engine; None if it reports none."""

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None  # part of completion
    cached: int | None = None  # part of prompt


class Response(Record, frozen=True, kw_only=True):
    """One answer, or the reason why there is none."""

    request_id: str
    model_key: str
    state: State  # before scoring; only scoring finds `unparsable`
    text: str | None = None  # None if and only if there is no answer; "" is an answer
    reason: str | None = None  # reason why there is no answer
    finish_reason: str | None = None  # stop, length, content_filter (`finish_of`), or the server's word
    usage: Usage = Usage()
    latency_s: float | None = None  # None for engines whose time means nothing
    engine: str
    engine_version: str
    effective: dict[str, Scalar] = {}  # sampling parameters that the engine used
    provider_id: str | None = None  # id of the call at the provider
    # Reasoning that a server returns apart from the answer: shown, never parsed. Omitted from the record and its
    # digest if there is none; stored as `thoughts`.
    reasoning: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="thoughts")

    @property
    def truncated(self) -> bool:
        """True if the answer was cut off by its token limit."""
        return self.finish_reason == LENGTH


class Score(Record, frozen=True, kw_only=True):
    """One answer scored under one rule."""

    benchmark: str
    item_id: str
    cluster: str  # of the item: the unit of intervals
    task: str
    condition: str
    sample: int
    model: str
    judge: str | None = None  # of the verdict that was used; None if there is none
    rule: Rule
    signature: str  # identifies everything that changes the metrics, e.g. wer|rule:released|lib:jiwer-4.0.0|v:1
    responses: tuple[str, ...]  # digests of the responses that were scored
    gold_digest: str  # of the Gold record
    state: State
    scored: bool  # True if the answer is in the denominator under this rule
    truncated: bool = False  # True if the answer was cut off by its token limit, in any state
    parsed: tuple[str, ...] | None = None  # what was parsed from the answer; None if nothing
    gold: tuple[str, ...] | None = None  # correct labels, where answers are compared label by label
    metrics: dict[str, float] = {}

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "metrics", {k: float(v) for k, v in self.metrics.items()})  # 1 is 1.0


class Cell(Record, frozen=True, kw_only=True):
    """One value of one table."""

    table: str
    row: str
    column: str
    value: float | None
    lo: float | None = None
    hi: float | None = None
    n: int = 0
    states: dict[str, int] = {}
    grades: str = ""  # digest_of_all of the scores' digests; lineages of earlier versions call it so
    interval: str = ""  # method of lo and hi, e.g. korn-graubard|0..1|level:0.95|v:1
    filter: dict[str, Scalar] = {}  # selects those scores


class Paper(Record, frozen=True, kw_only=True):
    """A model in a paper: the name of its row, in all tables or in some, and its sampling parameters."""

    row: str | None = None
    rows: dict[str, str] = {}  # by table
    sampling: dict[str, Scalar] = {}


Modality = Literal["text", "image"]
# Sampling parameters with numeric values.
NUMBERS = frozenset(["temperature", "top_p", "top_k", "min_p", "max_tokens", "seed"]) | {
    f"{kind}_penalty" for kind in ("presence", "frequency", "repetition")
}


class Price(Record, frozen=True, kw_only=True):
    """Price of a million tokens at a provider."""

    input: Annotated[float, msgspec.Meta(ge=0)]
    output: Annotated[float, msgspec.Meta(ge=0)]
    currency: str = "USD"
    date: datetime.date  # on which the price was valid
    source: str

    def of(self, usage: Usage) -> float:
        """Cost of an answer; tokens that were not counted cost nothing."""
        return ((usage.prompt or 0) * self.input + (usage.completion or 0) * self.output) / 1e6


class ModelCard(Record, frozen=True, kw_only=True):
    """One YAML file of config/model/ or config/judge/. `name` is the file's stem."""

    name: str
    folder: str = "config/model"
    engine: str
    options: dict[str, Any] = {}  # of the engine, which checks them
    sampling: dict[str, Scalar] = {}  # overrides the benchmark's settings
    thinking_tokens: Annotated[int, msgspec.Meta(ge=0)] = 0  # limit for reasoning, on top of the answer's limit
    modality: Annotated[tuple[Modality, ...], msgspec.Meta(min_length=1)] = ("text", "image")  # input of the model
    context: int | None = None  # tokens
    images_per_prompt: int | None = None
    papers: dict[str, Paper] = {}  # by benchmark
    # Nothing below can change an answer.
    gpus: int | None = None  # requested from a scheduler; None: as many as its engine uses
    shards: Annotated[int, msgspec.Meta(ge=1)] = 1  # parallel jobs, each for a part of the items
    # Minutes requested from a scheduler. Omitted from the record if unset.
    runtime: Annotated[int, msgspec.Meta(ge=1)] | msgspec.UnsetType = msgspec.UNSET
    # Of a judge: verdicts on each answer; tables use the first. Omitted if unset.
    samples: Annotated[int, msgspec.Meta(ge=1, le=1000)] | msgspec.UnsetType = msgspec.UNSET
    published_as: str | None = None
    licence: str | None = None
    price: Price | None = None
    gone: str | None = None  # reason why it is no longer available
    base: str | None = None  # card of the model of which this is a tuned, reasoning or searching variant
    caveat: str | None = None  # shown next to its numbers
    note: str | None = None

    def __post_init__(self) -> None:
        if self.samples and self.folder == "config/model":
            raise ValueError("samples: a judge's only (config/judge/); those of models are in config/run.yaml")
        papers = {f"papers.{name}.": paper.sampling for name, paper in self.papers.items()}
        for where, sampling in {"": self.sampling, **papers}.items():
            for name in NUMBERS & sampling.keys():
                if isinstance(value := sampling[name], bool | str):
                    raise ValueError(f"{where}sampling.{name}: expected a number, got {value!r}")

    @property
    def repeats(self) -> int:
        """Verdicts on each answer."""
        return self.samples or 1

    @property
    def file(self) -> str:
        """Path of the card, for messages."""
        return f"{self.folder}/{self.name}.yaml"

    def sampling_for(self, benchmark: str) -> dict[str, Scalar]:
        """Sampling parameters of the card that override the benchmark's."""
        return self.sampling | self.papers.get(benchmark, Paper()).sampling

    def printed_as(self, benchmark: str, table: str) -> str | None:
        """Name of the model's row in a table of the benchmark's paper."""
        paper = self.papers.get(benchmark, Paper())
        return paper.rows.get(table) or paper.row or self.published_as

    def asked(self) -> dict[str, Any]:
        """The part of the card that can change an answer, as plain data from which a ModelCard can be built."""
        papers = {name: {"sampling": paper.sampling} for name, paper in self.papers.items() if paper.sampling}
        fields = ("name", "folder", "engine", "options", "sampling", "thinking_tokens", "modality", "context")
        repeated = {"samples": self.samples} if self.samples else {}
        return {field: getattr(self, field) for field in (*fields, "images_per_prompt")} | {"papers": papers} | repeated
