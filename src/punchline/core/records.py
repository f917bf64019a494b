"""The whole contract of Punchline: one frozen record for each noun, and how records are hashed.

A record's `digest` is the sha256 of its whole content; records downstream refer to that digest, so that changing a
stored answer breaks every grade built on it. Keys that must stay the same while content moves (`Request.request_id`,
model_key) are hashes of a named part only.
"""

from __future__ import annotations

import datetime
import hashlib
import itertools
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

State = Literal["ok", "missing", "failed", "refused", "unparsable"]
STATES: tuple[State, ...] = ("ok", "missing", "failed", "refused", "unparsable")

# Why an answer ended. What servers call by other names (finish_reason) is one of these; what is neither is kept.
LENGTH, FILTERED = "length", "content_filter"
_FINISHES = {
    "stop": ("end_turn", "stop_sequence", "eos", "eos_token", "complete"),
    LENGTH: ("max_tokens", "max_output_tokens", "max_completion_tokens", "model_length"),
    FILTERED: ("safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal", "sensitive"),
}
_FINISH_OF = {word: finish for finish, words in _FINISHES.items() for word in (finish, *words)}

Rule = Literal["released", "paper"]
RULES: tuple[Rule, ...] = ("released", "paper")

Scalar = str | int | float | bool | None


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no white space: the one byte form that is hashed.

    Floats keep their shortest exact form; JSON has no NaN and no infinities, which are null here: none comes
    from YAML.
    """
    return msgspec.json.encode(value, order="sorted")


def sha256(value: bytes) -> str:
    """Hexadecimal sha256 of bytes."""
    return hashlib.sha256(value).hexdigest()


def digest_of(value: Any) -> str:
    """Hexadecimal sha256 of the canonical form of a record or of plain data."""
    return sha256(canonical(value))


def digest_of_all(digests: Iterable[str]) -> str:
    """One digest for a set of digests, whatever their order."""
    return _hashed(b"", (digest.encode() for digest in sorted(digests)), b"\n", b"")


def digest_of_texts(name: str, texts: Iterable[str]) -> str:
    """The `digest_of` of [name, texts], of which none has to be escaped; they need not be in memory at once."""
    return _hashed(f'["{name}",['.encode(), (f'"{text}"'.encode() for text in texts), b",", b"]]")


def _hashed(head: bytes, parts: Iterable[bytes], between: bytes, tail: bytes) -> str:
    hashed, rest, joint = hashlib.sha256(head), iter(parts), b""
    while some := list(itertools.islice(rest, 10_000)):
        hashed.update(joint + between.join(some))
        joint = between
    hashed.update(tail)
    return hashed.hexdigest()


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Base of all records: frozen, strictly typed when decoded, hashed as a whole; in no cycle, so no garbage."""

    @property
    def digest(self) -> str:
        """sha256 of the whole content."""
        return digest_of(self)


def finish_of(word: str) -> str:
    """A server's word for why an answer ended, in the vocabulary of `Response.finish_reason`; one of none as it is."""
    return _FINISH_OF.get(word.partition(":")[0].strip().lower(), word)


class ImageRef(Record, frozen=True, kw_only=True):
    """An image as a model sees it."""

    path: str  # relative to the project root
    sha256: str
    width: int  # pixels
    height: int  # pixels
    name: str = ""  # which of an item's pictures it is; "" where there is one only


class LedgerEntry(Record, frozen=True, kw_only=True):
    """What became of one image that was to be fetched or drawn."""

    item_id: str
    source: str
    state: Literal["ok", "missing"]
    reason: str | None = None  # why it is missing
    path: str | None = None  # of the published bytes, relative to the project root
    sha256: str | None = None
    bytes: int | None = None
    width: int | None = None  # pixels
    height: int | None = None  # pixels
    media_type: str | None = None
    url: str | None = None  # where the bytes came from
    note: str | None = None
    fetched_at: str | None = None  # ISO 8601, UTC; enters no digest that is compared

    def __post_init__(self) -> None:
        if (self.state == "missing") != (self.reason is not None):
            raise ValueError("a reason stands with state missing, and only there")
        if self.state == "ok" and None in (self.path, self.sha256, self.bytes, self.width, self.height):
            raise ValueError("state ok needs path, sha256, bytes, width and height")


class Pictures(Record, frozen=True, kw_only=True):
    """What models see of one item, and all that it was made from."""

    item_id: str
    images: tuple[ImageRef, ...]
    source: str  # path of the published image
    source_sha256: str
    derivations: tuple[dict[str, Any], ...]  # one a picture: boxes, OpenCV's version, font, …
    reason: str | None = None  # why there are no pictures


class Item(Record, frozen=True, kw_only=True):
    """One unit of a benchmark as it may be shown to a model: it never holds a label."""

    benchmark: str
    item_id: str
    source: str  # where the item comes from, for tables by source
    cluster: str  # the unit that intervals take as one
    fields: dict[str, Scalar] = {}
    images: tuple[ImageRef, ...] = ()
    missing: str | None = None  # why an image is not there; None when all are


class Gold(Record, frozen=True, kw_only=True):
    """What is right for one item. Apart from Item, so that a corrected label re-asks nobody."""

    benchmark: str
    item_id: str
    values: dict[str, Any]


class Text(Record, frozen=True, kw_only=True, tag="text", tag_field="type"):
    text: str


class Image(Record, frozen=True, kw_only=True, tag="image", tag_field="type"):
    sha256: str | None  # None: the image is missing; only an engine that needs no image can answer


class Message(Record, frozen=True, kw_only=True):
    role: Literal["system", "user", "assistant"]
    content: tuple[Text | Image, ...]


class Sampling(Record, frozen=True, kw_only=True):
    """Requested sampling parameters."""

    temperature: float
    max_tokens: int
    seed: int | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "temperature", float(self.temperature))  # 0 and 0.0 hash alike


class Request(Record, frozen=True, kw_only=True):
    """One question to any model. Holds no gold and no file digest but those of its images."""

    benchmark: str
    item_id: str
    task: str
    condition: str
    messages: tuple[Message, ...]
    sampling: Sampling
    sample: int = 0

    @property
    def request_id(self) -> str:
        """Key of the request: sha256 of all that can change its answer, whichever model answers."""
        return self.digest


class Usage(Record, frozen=True, kw_only=True):
    """Tokens, as the engine counts them; None where it does not."""

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None  # part of completion
    cached: int | None = None  # part of prompt


class Response(Record, frozen=True, kw_only=True):
    """One answer, or the recorded fact that there is none."""

    request_id: str
    model_key: str
    state: State  # as known before grading; `unparsable` is found by grading only
    text: str | None = None  # None exactly when there is no answer; "" is an answer
    reason: str | None = None  # why there is none
    finish_reason: str | None = None  # stop, length, content_filter (`finish_of`), or a server's own word
    usage: Usage = Usage()
    latency_s: float | None = None  # None for engines that do no work worth timing
    engine: str
    engine_version: str
    effective: dict[str, Scalar] = {}  # the parameters that the engine really used
    provider_id: str | None = None  # the provider's id of the call
    # What a server gives as reasoning apart from the answer: shown, never read. Where there is none it is left out of
    # the record and its digest.
    thoughts: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def truncated(self) -> bool:
        """Whether the answer was cut off by its limit of tokens."""
        return self.finish_reason == LENGTH


class Grade(Record, frozen=True, kw_only=True):
    """One answer scored under one rule."""

    benchmark: str
    item_id: str
    task: str
    condition: str
    sample: int
    model: str
    judge: str | None = None  # whose verdict was read; None where no judge is needed or none was asked
    rule: Rule
    signature: str  # names all that changes the values, e.g. wer|rule:released|lib:jiwer-4.0.0|v:1
    responses: tuple[str, ...]  # digests of the responses that were read
    gold: str  # digest of the Gold record
    state: State
    scored: bool  # whether the item is in the denominator under this rule
    truncated: bool = False  # whether the answer was cut off by its limit of tokens, whatever its state
    parsed: tuple[str, ...] | None = None  # what was read out of the answer; None when nothing was
    values: dict[str, float] = {}  # scores and sufficient statistics

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "values", {k: float(v) for k, v in self.values.items()})  # 1 is 1.0


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
    grades: str = ""  # digest_of_all of the grades' digests
    interval: str = ""  # how lo and hi were made, e.g. korn-graubard|0..1|level:0.95|v:1
    filter: dict[str, Scalar] = {}  # what selects those grades


class Paper(Record, frozen=True, kw_only=True):
    """What a paper says of a model: the name of its row, in all tables or in some, and its sampling parameters."""

    row: str | None = None
    rows: dict[str, str] = {}  # by table
    sampling: dict[str, Scalar] = {}


Modality = Literal["text", "image"]
# Sampling parameters that are numbers wherever they are known.
NUMBERS = frozenset(["temperature", "top_p", "top_k", "min_p", "max_tokens", "seed"]) | {
    f"{kind}_penalty" for kind in ("presence", "frequency", "repetition")
}


class Price(Record, frozen=True, kw_only=True):
    """What a provider charges for a million tokens."""

    input: Annotated[float, msgspec.Meta(ge=0)]
    output: Annotated[float, msgspec.Meta(ge=0)]
    currency: str = "USD"
    date: datetime.date  # when it was so
    source: str


class ModelCard(Record, frozen=True, kw_only=True):
    """One YAML file of config/model/ or config/judge/. `name` is the file's stem."""

    name: str
    folder: str = "config/model"
    engine: str
    options: dict[str, Any] = {}  # what the engine needs; checked by the engine
    sampling: dict[str, Scalar] = {}  # goes before what a benchmark asks for
    thinking_tokens: Annotated[int, msgspec.Meta(ge=0)] = 0  # room for thoughts, on top of what an answer may have
    modality: Annotated[tuple[Modality, ...], msgspec.Meta(min_length=1)] = ("text", "image")  # what the model reads
    context: int | None = None  # tokens
    images_per_prompt: int | None = None
    papers: dict[str, Paper] = {}  # by benchmark
    # About the model only; nothing below can change an answer.
    gpus: int | None = None  # that its job asks a scheduler for; None: as many as its engine takes
    shards: Annotated[int, msgspec.Meta(ge=1)] = 1  # jobs that ask it, each a part of the items
    # Minutes that its job asks a scheduler for. Left out of the record where it is not said.
    runtime: Annotated[int, msgspec.Meta(ge=1)] | msgspec.UnsetType = msgspec.UNSET
    published_as: str | None = None
    licence: str | None = None
    price: Price | None = None
    gone: str | None = None  # why it can be had no more
    base: str | None = None  # card of the model that this one is a tuned, thinking or searching variant of
    caveat: str | None = None  # shown wherever its numbers are
    note: str | None = None

    def __post_init__(self) -> None:
        for where, sampling in {
            "": self.sampling,
            **{f"papers.{n}.": p.sampling for n, p in self.papers.items()},
        }.items():
            for name in NUMBERS & sampling.keys():
                value = sampling[name]
                if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                    raise ValueError(f"{where}sampling.{name}: expected a number, got {value!r}")

    @property
    def file(self) -> str:
        """Where the card lies, for messages."""
        return f"{self.folder}/{self.name}.yaml"

    def sampling_for(self, benchmark: str) -> dict[str, Scalar]:
        """Sampling parameters that go before what the benchmark's requests ask for."""
        paper = self.papers.get(benchmark)
        return {**self.sampling, **(paper.sampling if paper else {})}

    def printed_as(self, benchmark: str, table: str) -> str | None:
        """Name of the model's row in a table of that benchmark's paper."""
        paper = self.papers.get(benchmark, Paper())
        return paper.rows.get(table) or paper.row or self.published_as

    def asked(self) -> dict[str, Any]:
        """The part of the card that can change an answer, as plain data; `ModelCard` can be made of it again."""
        papers = {name: {"sampling": paper.sampling} for name, paper in self.papers.items() if paper.sampling}
        fields = ("name", "folder", "engine", "options", "sampling", "thinking_tokens", "modality", "context")
        return {field: getattr(self, field) for field in (*fields, "images_per_prompt")} | {"papers": papers}
