"""Engines turn requests into responses. One file an engine; `engine:` in a model's YAML is the file's name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

import msgspec

from punchline.errors import PunchlineError, check_known
from punchline.files import as_record
from punchline.schema import NUMBERS, Image, ModelCard, Request, Response, Scalar, State, Text, digest_of

Options = TypeVar("Options", bound=msgspec.Struct)
Name = Annotated[str, msgspec.Meta(min_length=1)]  # types of options
Count = Annotated[int, msgspec.Meta(ge=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
ImageFiles = Mapping[str, Path]  # by sha256
NOT_ATTEMPTED = "not attempted"  # reason of a missing answer to a question that a baseline does not try
SystemRole = Literal["system", "user"]  # the message that holds the system prompt
SYSTEM_HINT = "Write `system: user` into the card: the system prompt then stands before the user's text"
_NO_SYSTEM = re.compile(
    r"system (role|messages?|prompts?|instructions?)( is| are)? not (supported|enabled|allowed)"
    r"|(does not|doesn't|do not) support (the |a )?system|incompatible with system (messages?|prompts?)"
    r"|developer instruction is not enabled|only user and assistant roles|roles must alternate"
    r"|(unknown|unsupported|unexpected|invalid) (message )?role:? ['\"`]?system",
    re.IGNORECASE,
)
FOLDER = Path(__file__).resolve().parent.parent / "engines"


class Engine(ABC):
    """An engine, returned by an engine module's `engine(card, seed)`: cheap, without weights or network."""

    name: str
    version: str  # recorded with every response
    needs_images: bool  # False: requests whose image is missing are answered all the same
    repeatable = False  # True: answers depend on requests and pictures alone, and an audit may compute them again
    at_once = 1  # requests that are answered at a time
    files: Sequence[str] = ()  # of released answers; paths, relative to the project root
    format = ""  # the benchmark whose requests the files answer, verdicts of its judge among them

    def __init__(self, card: ModelCard, seed: int = 0) -> None:
        self.card, self.seed = card, seed

    def wrong(self, what: str, **where: Any) -> PunchlineError:
        """An error that names the card; `where`: field and hint."""
        return PunchlineError(what, file=self.card.file, **where)

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """All that can change an answer but the request: model id, revision, dtype, constants, seed, file digest."""

    @abstractmethod
    def answer(self, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
        """One response a request, in any order, as they come."""

    def looks_at(self, benchmark: str) -> bool:
        """True if the engine looks at that benchmark's images."""
        return self.needs_images

    def code(self, benchmark: str) -> str | None:
        """Digest of the code of this project that computes answers to a benchmark; None: they are a model's."""
        return None

    def attempts(self, request: Request) -> bool:
        """False for a request that the engine will not try to answer."""
        return True

    def unavailable(self) -> str | None:
        """Why the model cannot run on this machine; None when it can. Cheap: nothing is loaded or asked."""
        return None

    def unknown(self, item_ids: Collection[str]) -> list[str]:
        """Items that files answer and that are not among `item_ids`: typing errors, or another benchmark's file."""
        return []

    def givers(self) -> set[str]:
        """Judges of released verdicts; known before the files are there if a card names them."""
        return set()

    def close(self) -> None:  # noqa: B027
        """End what answering has started: servers, connections, weights in memory."""


def reported_state(state: str, reason: str | None) -> str:
    """The state of an answer in counts for people: not attempted apart from missing for another reason."""
    return NOT_ATTEMPTED if reason == NOT_ATTEMPTED else state


def images_in(request: Request) -> list[Image]:
    """Images of a request, in order."""
    return [part for message in request.messages for part in message.content if isinstance(part, Image)]


def system_in_user_turn(request: Request) -> Request:
    """A request whose system prompts stand before the text of its first user message, with a blank line between.

    For models whose chat template has no system role. Images keep their places.
    """
    prompts = [one for one in request.messages if one.role == "system"]
    system = [part.text for one in prompts for part in one.content if isinstance(part, Text)]
    others = [one for one in request.messages if one.role != "system"]
    if not system or not others:
        return request
    prefix, content = "\n\n".join(system), list(others[0].content)
    at = next((number for number, part in enumerate(content) if isinstance(part, Text)), None)
    if at is None:
        content.append(Text(text=prefix))
    else:
        content[at] = Text(text=f"{prefix}\n\n{cast(Text, content[at]).text}")
    others[0] = msgspec.structs.replace(others[0], content=tuple(content))
    return msgspec.structs.replace(request, messages=tuple(others))


def refuses_system(words: str) -> bool:
    """True if a server's or a chat template's words refuse the role of a system prompt."""
    return _NO_SYSTEM.search(words) is not None


def has_all_images(request: Request) -> bool:
    """True if no image of the request is missing."""
    return all(image.sha256 is not None for image in images_in(request))


@cache
def names() -> tuple[str, ...]:
    """The engines there are."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)])))


def load(card: ModelCard, seed: int) -> Engine:
    """The engine that a model card asks for. Raises PunchlineError for an unknown engine or option."""
    check_known(card.engine, names(), f"unknown engine {card.engine!r}", file=card.file, field="engine")
    return cast(Engine, importlib.import_module(f"punchline.engines.{card.engine}").engine(card, seed))


def prompt_tokens(request: Request, characters_a_token: float, tokens_an_image: float) -> float:
    """A guess of the tokens of a request's prompt."""
    parts = [part for message in request.messages for part in message.content]
    return sum(tokens_an_image if isinstance(part, Image) else len(part.text) / characters_a_token for part in parts)


def image_file(digest: str | None, request: Request, images: ImageFiles) -> Path:
    """File of one of the request's images. Raises PunchlineError if there is none."""
    if digest is None or digest not in images:
        what, hint = f"no file for the image {digest} of {request.task}", "Run again with --forcerun prepare"
        raise PunchlineError(what, record=request.item_id, hint=hint)
    return images[digest]


def response(engine: Engine, request: Request, model_key: str, state: State, **fields: Any) -> Response:
    """A response of an engine to a request; `fields`: other fields of Response."""
    by: dict[str, Any] = {"engine": engine.name, "engine_version": engine.version}
    return Response(request_id=request.request_id, model_key=model_key, state=state, **by, **fields)


def read_options(card: ModelCard, kind: type[Options], docs: str) -> Options:
    """Options of a card as a struct of its engine; `docs`: the page that explains them.

    Raises PunchlineError, naming card and option.
    """
    sampling = [f"sampling.{name}" for name in NUMBERS]
    return as_record(card.options, kind, lambda _: card.file, f"See {docs}", "option", sampling)


def sampling_in(card: ModelCard, known: Collection[str]) -> Iterator[tuple[str, Scalar]]:
    """Name and value of each sampling parameter of a card. Raises PunchlineError for one that is not `known`."""
    for sampling in (card.sampling, *(paper.sampling for paper in card.papers.values())):
        for name, value in sampling.items():
            check_known(name, known, f"unknown sampling parameter {name!r}", file=card.file, field="sampling")
            yield name, value


def check_files(card: ModelCard, engine: Engine, fetched: Callable[[str], object] = lambda path: None) -> None:
    """Raises PunchlineError, naming the card, when a file of released answers is neither there nor to be fetched."""
    for path in engine.files:
        if not fetched(path) and not Path(path).is_file():
            hint = "Put the file there; relative paths start at the project's root; no ~"
            raise PunchlineError(f"no such file: {path!r}", file=card.file, field="path", hint=hint)


def parameters(card: ModelCard, request: Request) -> dict[str, Scalar]:
    """Sampling parameters of one request: what it asks for, and before that what the card says for its benchmark.

    The limit of tokens is an answer's; a thinking model's thoughts have theirs on top. A seed, where there is one, is
    that of sample 0; the samples after it count up.
    """
    asked = {name: value for name, value in msgspec.structs.asdict(request.sampling).items() if value is not None}
    chosen: dict[str, Scalar] = asked | card.sampling_for(request.benchmark)
    if isinstance(chosen.get("seed"), int):
        chosen["seed"] = int(chosen["seed"] or 0) + request.sample
    if isinstance(chosen["max_tokens"], int):
        chosen["max_tokens"] += card.thinking_tokens
    return chosen


def model_key(engine: Engine, card: ModelCard, benchmark: str) -> str:
    """model_key: sha256 of all that can change an answer but the request.

    The engine's name and identity, the card's sampling parameters for the benchmark and its room for thoughts, and the
    code of an engine whose answers are computed here.
    """
    sampling, code = card.sampling_for(benchmark), engine.code(benchmark)
    unless_empty = {"sampling": sampling, "thinking_tokens": card.thinking_tokens, "code": code}
    chosen = {name: value for name, value in unless_empty.items() if value}
    return digest_of({"engine": engine.name, **engine.identity(), **chosen})
