"""Any OpenAI-compatible endpoint: OpenAI, Gemini's compatible API, a server of one's own, vLLM. docs/models.md.

Answers are yielded as they arrive. Calls in flight are bounded, so memory does not grow with the number of requests.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

import punchline
from punchline.core import engine as engines
from punchline.core.certificates import trusted
from punchline.core.engine import ImageFiles, Positive
from punchline.engines.openai import chat, pace
from punchline.engines.openai.refusals import Judgement, Refusal
from punchline.engines.openai.replies import Reply
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Record, Request, Response, State
from punchline.text import log_line
from punchline.workflow.code import version_of

if TYPE_CHECKING:
    import httpx2
    import openai

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
ACCOUNT_HEADERS = ("OpenAI-Organization", "OpenAI-Project")  # OPENAI_ORG_ID, OPENAI_PROJECT_ID
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # a header's name (RFC 9110)
HTTP_HEADERS = ("host", "connection", "content-length", "content-type", "transfer-encoding", "accept-encoding")
SECRET = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)  # names of headers and parameters
REPLY_BYTES = 16 * 2**20  # of one reply, unpacked: more than any model writes
STREAM_BYTES = 4 * REPLY_BYTES  # every token comes with a few hundred bytes around it
FIXED = ("model", "messages", "stream", "stream_options", "n")  # an answer is read by these; not for extra_body

NO_TOKEN = "the server wrote no token (completion_tokens 0)"  # LM Studio, for a prompt longer than its context
SILENT_CUTS = (2048, 4096)  # Ollama's contexts: it cuts longer prompts without a word

ADDRESS = "http(s)://, a server and a path, without a key; what follows a ? goes into `query`"
VARIABLE = "an environment variable's name, not the key itself"
Address = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s/?#@]+(/[^\s?#@]*)?\Z", title=ADDRESS)]
Variable = Annotated[str, msgspec.Meta(pattern=r"^[A-Z][A-Z0-9_]*\Z", title=VARIABLE)]


class Timeouts(Record, frozen=True, kw_only=True):
    """Seconds."""

    connect: Positive = 10.0
    read: Positive = 300.0  # to the first byte, and between bytes
    total: Positive = 600.0  # one try


class Backoff(Record, frozen=True, kw_only=True):
    """Seconds before the second try, and at most."""

    first: Positive = 1.0
    most: Positive = 60.0


class Options(Record, frozen=True, kw_only=True):
    """Options of a model card; docs/models.md says what each does."""

    id: engines.Name
    revision: str | None = None
    base_url: Address | None = None
    api_key_env: Variable | None = None
    account_headers: bool = False
    served_as: str | list[str] | None = None
    finished_as: list[engines.Name] = msgspec.field(default_factory=list)
    reasoning_effort: str | None = None
    thinking_budget: Annotated[int, msgspec.Meta(ge=-1)] | None = None
    thinking_style: Literal["gemini", "anthropic", "openrouter", "qwen"] | None = None
    search: bool = False
    stream: bool = False
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    system: engines.SystemRole = "system"
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    headers_env: dict[str, Variable] = msgspec.field(default_factory=dict)
    key_header: str | None = None
    query: dict[str, str] = msgspec.field(default_factory=dict)
    extra_body: dict[str, Any] = msgspec.field(default_factory=dict)
    concurrency: engines.Count = 16
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    timeouts: Timeouts = Timeouts()
    attempts: engines.Count = 8
    backoff: Backoff = Backoff()
    retry_after_most: Positive = 900.0
    breaker: Annotated[int, msgspec.Meta(ge=0)] = 10
    batch: bool = False
    batch_poll: Positive = 30.0
    batch_wait: Positive = 100_000.0  # a day, which the provider has, and some


class OpenAI(engines.Engine):
    """The engine. `name` and `version` may be set by an engine that asks its own server through this one."""

    name = "openai"
    through_proxy = True  # that the environment names
    keep_alive = False  # True only for a server of our own: another call's late reply may come on a used connection

    def __init__(self, card: ModelCard, seed: int = 0) -> None:
        super().__init__(card, seed)
        self.options = engines.read_options(card, Options, "docs/models.md")
        self.at_once = self.options.concurrency
        self.needs_images = "image" in card.modality
        self._context_noted = False
        self.base_url = self.options.base_url or OPENAI_URL
        self.key_env = self.options.api_key_env or (None if self.options.base_url else OPENAI_KEY)
        self._check()
        self.version = f"{punchline.__version__} (openai {version_of('openai')})"

    def _check(self) -> None:
        """Raises PunchlineError for options that conflict."""
        options = self.options
        if forbidden := [name for name in FIXED if name in options.extra_body]:
            raise self.wrong(f"extra_body may not hold {forbidden[0]!r}", field="extra_body")
        if options.stream and options.batch:
            raise self.wrong("a batch is not streamed", field="stream", hint="Write one of the two")
        self._check_headers()
        if (options.thinking_budget is None) != (options.thinking_style is None):
            hint = "thinking_style: gemini, anthropic, openrouter or qwen says how the server wants the budget"
            raise self.wrong("thinking_budget and thinking_style go together", field="thinking_budget", hint=hint)

    def _check_headers(self) -> None:
        """Raises PunchlineError for a header that cannot be sent, is set twice, or holds a secret in the card."""
        options = self.options
        key_header = [options.key_header] if options.key_header is not None else []
        names = [*options.headers, *options.headers_env, *key_header]
        for name in names:
            if not HEADER.fullmatch(name) or name.lower() in HTTP_HEADERS:
                hint = "It is no header, or the client's"
                raise self.wrong(f"{name!r} cannot be set here", field="headers", hint=hint)
            if [each.lower() for each in names].count(name.lower()) > 1:
                raise self.wrong(f"the header {name} is set twice", field="headers")
        for field, values in (("headers", options.headers), ("query", options.query)):
            for name, value in values.items():
                if SECRET.search(name) or value.startswith("$"):
                    hint = "Set a variable: `headers_env: {Name: VARIABLE}`, or `api_key_env` with `key_header`"
                    raise self.wrong(f"{name} would hold a secret in the card", field=field, hint=hint)
                if not (value.isascii() and value.isprintable()):
                    raise self.wrong(f"the value of {name} is not printable ASCII", field=field)

    def wrong(self, what: str, **where: Any) -> PunchlineError:
        """An error that names the card, without the key and the values of secret headers."""
        return super().wrong(chat.redacted(what, self.secrets), **where)

    @property
    def secrets(self) -> list[str]:
        """The key and the values of `headers_env`. Never to be written anywhere."""
        names = [self.key_env, *self.options.headers_env.values()]
        values = [os.environ.get(name, "").strip() for name in names if name is not None]
        return [value for value in values if value]

    @property
    def key(self) -> str | None:
        """The key, from the environment. Never to be written anywhere."""
        return os.environ.get(self.key_env, "").strip() or None if self.key_env else None

    def identity(self) -> dict[str, Any]:
        """Model and revision, the server where it has a key (one without is the user's own: only its model counts),
        and the options that change answers."""
        options = self.options
        server = self.base_url.rstrip("/") if self.key_env or options.headers_env else None
        chosen: dict[str, Any] = {"id": options.id, "revision": options.revision, "served_as": options.served_as}
        unless_default: dict[str, Any] = {"query": options.query} if options.query else {}
        unless_default |= {"system": "user"} if options.system == "user" else {}
        unless_default |= {"finished_as": sorted(options.finished_as)} if options.finished_as else {}
        return {**chosen, "server": server, "body": self.constants(), **unless_default, "v": 1}

    def constants(self) -> dict[str, Any]:
        """Fields of every call's body besides model, messages and sampling parameters."""
        options = self.options
        body: dict[str, Any] = {}
        if options.reasoning_effort is not None:
            body["reasoning_effort"] = options.reasoning_effort
        if options.search:
            body["web_search_options"] = {}
        if options.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        budget = options.thinking_budget
        shapes: dict[str | None, dict[str, Any]] = {
            None: {},
            "gemini": {"extra_body": {"google": {"thinking_config": {"thinking_budget": budget}}}},
            "anthropic": {"thinking": {"type": "enabled", "budget_tokens": budget}},
            "openrouter": {"reasoning": {"max_tokens": budget}},
            "qwen": {"enable_thinking": budget != 0, "thinking_budget": budget},
        }
        return body | shapes[options.thinking_style] | options.extra_body

    def unavailable(self) -> str | None:
        """A message if a variable that holds the API key or a header is not set, or holds no such value, else None."""
        for header, name in self.options.headers_env.items():
            value = os.environ.get(name, "").strip()
            if not (value and value.isascii() and value.isprintable()):
                return f"the environment variable {name} holds no value for the header {header}"
        try:
            trusted()
        except PunchlineError as error:
            return str(error)
        usable = not self.key_env or (self.key and self.key.isascii() and self.key.isprintable())
        return None if usable else f"the environment variable {self.key_env} holds no API key"

    def answer(self, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
        """One response a request, as they arrive.

        Raises PunchlineError where every request would meet the same: no key or a wrong one, an unknown model, a
        parameter that the server refuses, another model than asked for, `breaker` failures in a row.
        """
        ask, most = [], self.card.images_per_prompt
        for request in requests:
            count = len(engines.images_in(request))
            if count and not self.needs_images:
                yield self.response(request, model_key, "missing", reason="the model reads no images")
            elif most is not None and count > most:
                reason = f"the model reads {most} images at once, not {count}"
                yield self.response(request, model_key, "missing", reason=reason)
            else:
                ask.append(request)
        if not ask:
            return
        if why := self.unavailable():
            raise self.wrong(why, hint="punchline models lists what can run here")
        if self.options.batch:
            from punchline.engines.openai import batch

            yield from batch.answer(self, ask, images, model_key)
            return
        from punchline.engines.openai.calls import Calls

        yield from pace.iterate(functools.partial(Calls(self).answer, ask, images, model_key))

    def parameters(self, request: Request) -> dict[str, Any]:
        """Parameters of a request's body besides model and messages. Those that are null in the card are not sent."""
        sampling = {k: v for k, v in engines.parameters(self.card, request).items() if v is not None}
        if "max_tokens" in sampling:
            sampling[self.options.max_tokens_field] = sampling.pop("max_tokens")
        return {**sampling, **self.constants()}

    def body(self, request: Request, images: ImageFiles, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a request; `sent`: its parameters."""
        if self.options.system == "user":
            request = engines.system_in_user_turn(request)
        return {"model": self.options.id, "messages": chat.messages(request, images), **sent}

    def client(self, most: int | None = None) -> openai.AsyncOpenAI:
        """The package's client, for one event loop; `most`: bytes of a reply that it reads.

        Its own retries are off: they know nothing of budgets.
        """
        import httpx2
        import openai

        from punchline.engines.openai.client import BoundedClient

        timeouts, connections = self.options.timeouts, self.options.concurrency + 8
        timeout = httpx2.Timeout(timeouts.total, connect=timeouts.connect, read=timeouts.read)
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        most = most or (STREAM_BYTES if self.options.stream else REPLY_BYTES)
        about: dict[str, Any] = {"base_url": self.base_url, "max_retries": 0, "timeout": timeout}
        about["default_query"] = self.options.query
        about["http_client"] = BoundedClient(
            most, keep_alive=self.keep_alive, trust_env=self.through_proxy, timeout=timeout, limits=limits
        )
        if self.options.key_header is not None:
            about["http_client"].event_hooks = {"request": [_without_bearer]}  # the package insists on a bearer
        key = self.key or "none"
        return openai.AsyncOpenAI(api_key=key, default_headers=self._default_headers(key), **about)

    def _default_headers(self, key: str) -> dict[str, Any]:
        """Headers that replace the package's own, and those of the card."""
        headers = self._account_headers(key) | self.options.headers
        headers |= {name: os.environ.get(variable, "").strip() for name, variable in self.options.headers_env.items()}
        if self.options.key_header is not None:
            headers[self.options.key_header] = key
        return headers

    def _account_headers(self, key: str) -> dict[str, Any]:
        """Headers that replace the package's own: none of the environment's for a server that is not OpenAI's."""
        import openai

        if self.options.account_headers or urlsplit(self.base_url).hostname == urlsplit(OPENAI_URL).hostname:
            return {}
        lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
        names = [line.partition(":")[0].strip() for line in lines if ":" in line]
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        return {name: headers.get(name.lower(), openai.Omit()) for name in [*ACCOUNT_HEADERS, *names]} | headers

    def response(self, request: Request, model_key: str, state: State, **fields: Any) -> Response:
        """A response of this engine, without the key wherever a server may have put it."""
        secrets = self.secrets

        def cleaned(values: Mapping[str, Any]) -> dict[str, Any]:
            return {n: chat.one_line(v, secrets) if isinstance(v, str) else v for n, v in values.items()}

        whole = {n: v for n in ("text", "reasoning") if isinstance(v := fields.pop(n, None), str)}
        for secret in secrets:
            if len(secret) >= chat.SHORTEST_KEY:
                whole = {n: text.replace(secret, "[key]") for n, text in whole.items()}
        fields = cleaned(fields) | whole | {"effective": cleaned(fields.get("effective", {}))}
        return engines.response(self, request, model_key, state, **fields)

    def unanswered(self, request: Request, model_key: str, kind: str, words: str, sent: Mapping[str, Any]) -> Response:
        """A response that says why there is no answer; `kind`: of the verdict on it (refusals.judge)."""
        state: State = "refused" if kind == "refused" else "failed"
        return self.response(request, model_key, state, reason=words, effective=chat.flat(sent))

    def answered(
        self, request: Request, model_key: str, reply: Reply, sent: Mapping[str, Any], **about: Any
    ) -> Response:
        """A response made of a reply. Raises PunchlineError when another model answered than was asked for."""
        self.check_model(reply.model)
        self._note_cut(reply.usage.prompt)
        if reply.text == "" and reply.usage.completion == 0 and reply.reason is None:
            self._note("the server wrote no token; it may do so for prompts longer than its context")
            reply = msgspec.structs.replace(reply, reason=NO_TOKEN)
        fields = msgspec.structs.asdict(reply)
        served = {name: fields.pop(name) for name in ("model", "system_fingerprint")}
        effective = {**chat.flat(sent), **{k: v for k, v in served.items() if v is not None}}
        return self.response(request, model_key, effective=effective, **{**fields, **about})

    def _note_cut(self, tokens: int | None) -> None:
        """Note that a server counts exactly as many tokens of a prompt as a context has: it may have cut it."""
        if tokens is not None and tokens in (self.card.context, *SILENT_CUTS):
            what = f"the server counts exactly {tokens:,} prompt tokens, the size of a context"
            self._note(f"{what}; it may cut long prompts silently")

    def _note(self, what: str) -> None:
        """Note, once, that answers may lack a part of their prompt."""
        if not self._context_noted:
            self._context_noted = True
            log_line(f"{self.card.name}: {what}. Raise the server's context (docs/models.md)")

    def check_model(self, served: str | None) -> None:
        """Raises PunchlineError when the server names another model than was asked for. A server without a key may
        call its model what it likes, unless `served_as` says what."""
        names = [self.options.served_as] if isinstance(self.options.served_as, str) else self.options.served_as
        if served is None or (names is None and self.key_env is None):
            return
        if not any(chat.same_model(name, served) for name in [self.options.id, *(names or [])]):
            served = chat.one_line(served, self.secrets)
            what = f"asked for the model {self.options.id}, the server answered as {served!r}"
            hint = f"Correct `id`, or write `served_as: {served}` if that is the model you mean"
            raise self.wrong(what, field="id", hint=hint)

    def stopped(self, refusal: Refusal, judgement: Judgement) -> PunchlineError:
        """The error for a refusal that every request would meet."""
        from punchline.engines.openai import stops

        what, field, hint = stops.explain(self, refusal, judgement)
        return self.wrong(f"{what}: {chat.one_line(str(refusal), self.secrets)}", field=field, hint=hint)


async def _without_bearer(request: httpx2.Request) -> None:
    request.headers.pop("Authorization", None)


engine = OpenAI
