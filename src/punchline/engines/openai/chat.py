"""The chat completions protocol without its network: what is sent, and what a server's reply means."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, Literal

import msgspec

from punchline.core.engine import ImageFiles, image_file
from punchline.errors import PunchlineError
from punchline.schema import FILTERED, LENGTH, Image, Request, Scalar, State, Text, Usage, finish_of
from punchline.text import without_secret

SHORTEST_KEY = 8  # characters
TOKENS_MOST = 10**9  # of one call; a larger count is no count
WORDS_MOST = 4000  # characters of a server's words that are looked at
REASON_LENGTH = 300  # characters of a server's words that are passed on

STREAMED = ("content", "refusal", "reasoning_content", "reasoning")  # texts that come piece by piece

_MEDIA_TYPE = re.compile(
    rb"(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpeg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)|(?P<webp>RIFF.{4}WEBP)|(?P<bmp>BM)",
    re.DOTALL,
)
_TOO_LONG = re.compile(
    r"context[ _](length|window)|too long|too many (input |prompt )?tokens"
    r"|(request|image|payload|body) .{0,20}too large|exceed\w* .{0,40}(context|input token|prompt)",
    re.IGNORECASE,
)
_FILTERED = {"content_filter", "content_policy_violation", "invalid_prompt", "moderation_blocked", "safety"}
_AGAINST = re.compile(
    r"unsupported|not support|unrecognized|unrecognised|unknown|unexpected|invalid|not (permitted|allowed|a valid)"
    r"|deprecated|incompatible|must be|should be|at most|at least|only the default|cannot find|out of range|removed",
    re.IGNORECASE,
)


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """Content of an answered call."""

    state: State
    text: str | None = None
    reasoning: str | msgspec.UnsetType = msgspec.UNSET  # given apart from the text
    reason: str | None = None
    finish_reason: str | None = None
    usage: Usage = Usage()
    model: str | None = None  # that the server says it used
    system_fingerprint: str | None = None
    provider_id: str | None = None


class Unusable(Exception):
    """A reply without an answer in it; worth another try."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """An error that a server returned instead of an answer."""

    status: int
    message: str
    param: str | None = None
    code: str | None = None

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.message}" if self.message else f"HTTP {self.status}"


def messages(request: Request, images: ImageFiles) -> list[dict[str, Any]]:
    """The request's messages as the protocol has them; images as data URIs of the unchanged bytes, parts in order."""
    result: list[dict[str, Any]] = []
    for message in request.messages:
        content = [_part(part, request, images) for part in message.content]
        one_text = [part["type"] for part in content] == ["text"]  # some servers take no list from "system"
        result.append({"role": message.role, "content": content[0]["text"] if one_text else content})
    return result


def media_type(content: bytes) -> str | None:
    """Media type of an image, told from its first bytes; None for one that no API takes."""
    match = _MEDIA_TYPE.match(content)
    return f"image/{match.lastgroup}" if match else None


def _part(part: Text | Image, request: Request, images: ImageFiles) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    file = image_file(part.sha256, request, images)
    kind = media_type(content := file.read_bytes())
    if kind is None:
        what, hint = "no API takes this kind of image", "Use PNG, JPEG, GIF, WebP or BMP"
        raise PunchlineError(what, file=file, record=request.item_id, hint=hint)
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{base64.b64encode(content).decode()}"}}


def flat(parameters: Mapping[str, Any]) -> dict[str, Scalar]:
    """Parameters as a record holds them: what is no scalar becomes its JSON."""
    return {k: json.dumps(v, sort_keys=True) if isinstance(v, (dict, list)) else v for k, v in parameters.items()}


def read_reply(content: bytes, *, streamed: bool = False) -> Reply:
    """A reply of HTTP 200; `streamed`: a stream was asked for. Raises Unusable for anything that holds no answer.

    A null text that was cut off at max_tokens (all of them went into reasoning), or that ended after reasoning, is the
    answer "": asking again would give the same. Any other null text is unusable.
    """
    streamed = streamed and content.lstrip()[:1] not in (b"{", b"[")  # not every server streams
    body = _joined_stream(content) if streamed else parse_object(content)
    if not isinstance(body.get("choices"), list) or not body["choices"]:
        refused = read_refusal(200, content).message if body.get("error") else ""
        raise Unusable(f"no answer in the body{': ' + refused if refused else ''}")
    choice = _object(body["choices"][0])
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unusable("no message in the body")
    word = _text(choice.get("finish_reason"))
    finish = None if word is None else finish_of(word)
    about: dict[str, Any] = {"finish_reason": finish, "usage": _usage(_object(body.get("usage")))}
    about |= {"provider_id": _text(body.get("id"))}
    about |= {name: _text(body.get(name)) for name in ("model", "system_fingerprint")}
    text, refusal = _joined(message.get("content")), _text(message.get("refusal"))
    if finish == FILTERED or (refusal and not text):
        return Reply(state="refused", reason=FILTERED if finish == FILTERED else refusal, **about)
    reasoning = next(filter(None, (_joined(message.get(name)) for name in STREAMED[2:])), "")
    thought = reasoning or any(message.get(name) for name in STREAMED[2:])
    if text is None and finish != LENGTH and not (finish == "stop" and thought):
        raise Unusable(f"no text in the answer (finish_reason {finish})")
    return Reply(state="ok", text=text or "", reasoning=reasoning or msgspec.UNSET, **about)


def _joined_stream(stream: bytes) -> dict[str, Any]:
    """The reply that a stream of server-sent events adds up to.

    Raises Unusable for a stream that breaks off, or that brings an error.
    """
    body, choice = dict[str, Any](), dict[str, Any]()
    message, done = dict[str, list[str]](), False
    for line in re.findall(rb"(?:^|\r|\n)data:([^\r\n]*)", stream):
        data = line.strip()
        if done := data == b"[DONE]":
            break
        chunk = parse_object(data)
        if chunk.get("error"):
            raise Unusable(f"the stream brought an error: {read_refusal(200, data).message}")
        body |= {name: value for name, value in chunk.items() if value is not None and name != "choices"}
        choices = chunk.get("choices")
        piece = _object(choices[0]) if isinstance(choices, list) and choices else {}  # the chunk with usage has none
        choice |= {name: value for name, value in piece.items() if value is not None}
        for name in STREAMED:
            if (text := _joined(_object(piece.get("delta")).get(name))) is not None:
                message.setdefault(name, []).append(text)
    if not done and choice.get("finish_reason") is None:
        raise Unusable("the stream broke off")
    return {**body, "choices": [{**choice, "message": {name: "".join(said) for name, said in message.items()}}]}


def _joined(content: Any) -> str | None:
    """The text of an answer, which some servers give in parts, their reasoning apart."""
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, dict) and part.get("type") == "text")
        return "".join(str(part.get("text", "")) for part in parts)
    return _text(content)


def parse_object(content: bytes) -> dict[str, Any]:
    """JSON object of a reply. Raises Unusable."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Unusable("empty body" if not content.strip() else "the body is not JSON") from error
    if not isinstance(body, dict):
        raise Unusable("the body is no object")
    return body


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _usage(usage: dict[str, Any]) -> Usage:
    prompt, completion = (_object(usage.get(f"{name}_tokens_details")) for name in ("prompt", "completion"))
    counts = {"prompt": usage.get("prompt_tokens"), "completion": usage.get("completion_tokens")}
    counts |= {"reasoning": completion.get("reasoning_tokens"), "cached": prompt.get("cached_tokens")}
    return Usage(**{name: n for name, n in counts.items() if type(n) is int and 0 <= n <= TOKENS_MOST})


def read_refusal(status: int, content: bytes) -> Refusal:
    """What an error body says, in any shape in use (OpenAI's, Gemini's list, FastAPI's `detail`, plain text)."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return Refusal(status=status, message=content[:WORDS_MOST].decode(errors="replace"))
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Refusal(status=status, message=error[:WORDS_MOST] if isinstance(error, str) else "")
    message = error.get("message", error.get("detail", ""))
    words = message if isinstance(message, str) else json.dumps(message)
    code = next(filter(None, (_text(error.get(name)) for name in ("code", "type", "status"))), None)
    return Refusal(status=status, message=words[:WORDS_MOST], param=_text(error.get("param")), code=code)


Verdict = Literal["stop", "limited", "again", "too long", "failed", "refused"]


def judge(refusal: Refusal, sent: Collection[str]) -> tuple[Verdict, str | None]:
    """What to do about a refusal, and the parameter, one of `sent`, that the server will not take.

    stop: every request would meet the same; limited: too many at once; again: the server's trouble; too long, failed
    and refused concern this request alone.
    """
    status, code = refusal.status, refusal.code or ""
    if status == 429:
        return ("stop" if code in ("insufficient_quota", "billing_hard_limit_reached") else "limited"), None
    if status >= 500 or status in (408, 409, 425):
        return "again", None
    if status < 400 or status in (401, 402, 403, 404, 405):
        return "stop", None
    if code in _FILTERED:
        return "refused", None
    if code in ("context_length_exceeded", "string_above_max_length") or status == 413:
        return "too long", None
    if code == "model_not_found" or refusal.param == "model":
        return "stop", "model"
    if _TOO_LONG.search(refusal.message):  # before the parameter: vLLM names max_tokens then
        return "too long", None
    if refusal.param is not None and refusal.param.split(".")[0].split("[")[0] in sent:
        return "stop", refusal.param
    if _AGAINST.search(refusal.message) or "unsupported" in code or "unknown" in code:
        for name in sorted(sent, key=len, reverse=True):
            if re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", refusal.message):
                return "stop", name
    return "failed", None


def same_model(requested: str, served: str) -> bool:
    """True if `served` names the model that was asked for: itself, or a dated release of it."""
    requested, served = (name.lower().removeprefix("models/") for name in (requested, served))
    dated = r"[-@](\d{4}-?\d{2}-?\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{3,4})"
    return requested == served or bool(re.fullmatch(re.escape(requested.removesuffix("-latest")) + dated, served))


def redacted(text: str, key: str | None) -> str:
    """Text with the key, and any part of it of at least SHORTEST_KEY characters, taken out.

    A key of fewer than SHORTEST_KEY characters is a placeholder (EMPTY, none) and no secret: words stay as they are.
    """
    key = key or ""
    if any(key[at : at + SHORTEST_KEY] in text for at in range(len(key) - SHORTEST_KEY + 1)):
        for size in range(len(key), SHORTEST_KEY - 1, -1):
            for at in range(len(key) - size + 1):
                text = text.replace(key[at : at + size], "[key]")
    return text


def one_line(text: str, key: str | None) -> str:
    """A server's words on one short line, without the key."""
    words = " ".join(without_secret(redacted(text[:WORDS_MOST], key)).split())
    words = "".join(filter(str.isprintable, words))
    return words if len(words) <= REASON_LENGTH else words[: REASON_LENGTH - 1] + "…"
