"""Replies of HTTP 200: the answer in one, whole or streamed, or the reason why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

import msgspec

from punchline.engines.openai.refusals import Refusal, as_object, as_text, filtered_by, read_refusal
from punchline.schema import FILTERED, LENGTH, State, Usage, finish_of

TOKENS_MOST = 10**9  # of one call; a larger count is no count
STREAMED = ("content", "refusal", "reasoning_content", "reasoning")  # fields that come piece by piece

# Finish reasons of answers that the server did not end: another try may bring a whole one. vLLM and SGLang; DeepSeek,
# GLM, watsonx, Ollama, Cohere; Google.
_INTERRUPTED = (
    *("error", "abort", "aborted", "cancelled", "canceled", "user_cancel", "timeout", "insufficient_system_resource"),
    *("network_error", "time_limit", "not_finished", "load", "unload", "null", "none", "in_progress"),
    *("other", "unexpected_tool_call", "too_many_tool_calls", "no_image", "finish_reason_unspecified"),
)
_TEXT, _THOUGHT, _REFUSED = ("text", "output_text", None), ("thinking", "reasoning"), ("refusal",)


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
    """A reply without an answer in it; worth another try unless it is a NoAnswer."""


class NoAnswer(Unusable):
    """A reply whose answer cannot be used; another try would get the same."""


class Empty(Unusable):
    """A reply without choices and without a reason: another try rarely gets more."""


class ErrorReply(Unusable):
    """A reply of HTTP 200 with an error in it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class Parts(msgspec.Struct):
    """Parts of a message by kind; `unread`: it has parts of no known kind."""

    text: list[str] = []
    thought: list[str] = []
    refusal: list[str] = []
    unread: bool = False


def read_reply(content: bytes, *, streamed: bool = False, finished_as: Collection[str] = ()) -> Reply:
    """A reply of HTTP 200; `streamed`: a stream was asked for; `finished_as`: more words that end a whole answer.

    Raises Unusable for anything that holds no answer. A null text that was cut off at max_tokens (all of them went
    into reasoning), or that ended after reasoning, is the answer "": asking again would give the same. Any other null
    text is unusable.
    """
    streamed = streamed and content.lstrip()[:1] not in (b"{", b"[")  # not every server streams
    body = _joined_stream(content) if streamed else parse_object(content)
    choice = _choice(body)
    for place in (body, choice):
        if _holds_error(place):
            raise ErrorReply(read_refusal(200, json.dumps(place).encode()))
    message = choice.get("message")
    parts = _parts(as_object(message))
    word, finish = _finish(choice, finished_as)
    fields: dict[str, Any] = {"usage": _usage(as_object(body.get("usage"))), "provider_id": as_text(body.get("id"))}
    fields |= {name: as_text(body.get(name)) for name in ("model", "system_fingerprint")}
    if (why := _refused(body, choice, finish, word, parts)) is not None:
        blocked = FILTERED if finish == FILTERED or not choice else finish
        return Reply(state="refused", reason=why, finish_reason=blocked, **fields)
    if not choice:
        raise Empty("no answer in the body")
    if not isinstance(message, dict):
        raise Unusable("no message in the body")
    _check_finish(word, finish)
    text = _answer(message, parts, finish)
    thought = "".join(parts.thought)
    return Reply(state="ok", text=text, reasoning=thought or msgspec.UNSET, finish_reason=finish, **fields)


def _choice(body: dict[str, Any]) -> dict[str, Any]:
    """The choice with index 0, else the first; empty if there is none."""
    choices = body.get("choices")
    found = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    return next((choice for choice in found if choice.get("index") == 0), found[0] if found else {})


def _holds_error(place: dict[str, Any]) -> bool:
    """True for a body, or a choice, with an error in one of the shapes in use."""
    status = as_object(place.get("base_resp")).get("status_code")  # MiniMax
    if place.get("error") or place.get("object") == "error" or (type(status) is int and status != 0):
        return True
    bare = not {"choices", "finish_reason", "delta", "index"} & place.keys()
    return bare and bool(as_text(place.get("message")) or place.get("detail") or place.get("msg"))


def _finish(choice: dict[str, Any], finished_as: Collection[str]) -> tuple[str | None, str | None]:
    """The word by which an answer ended, and what it means; the provider's own word if the gateway's hides more."""
    word, native = as_text(choice.get("finish_reason")), as_text(choice.get("native_finish_reason"))
    finish = "stop" if word in finished_as else None if word is None else finish_of(word)
    hidden = None if native is None or native in finished_as else finish_of(native)
    if hidden is not None and finish == "stop" and (hidden in (FILTERED, LENGTH) or _is_interrupted(hidden)):
        return native, hidden
    return word, finish


def _is_interrupted(word: str) -> bool:
    return word.lower() in _INTERRUPTED or word.lower().startswith("malformed_")


def _check_finish(word: str | None, finish: str | None) -> None:
    """Raises Unusable for an answer that is not known to be whole, or cut off at its limit."""
    if finish is None or not finish or _is_interrupted(finish):
        raise Unusable(f"the answer is unfinished (finish_reason {word})")
    if finish not in ("stop", LENGTH):
        raise NoAnswer(f"finish_reason {word!r} is not known to end an answer; `finished_as` lists such words")


def _refused(
    body: dict[str, Any], choice: dict[str, Any], finish: str | None, word: str | None, parts: Parts
) -> str | None:
    """Reason why the provider, or the model, declined; None: it did not."""
    refusal = "".join(parts.refusal)
    if finish == FILTERED:
        reasons = [refusal, *filtered_by(choice.get("content_filter_results") or choice.get("content_filter_result"))]
        return ", ".join([word or FILTERED, *filter(None, reasons)])
    feedback = as_object(body.get("promptFeedback") or body.get("prompt_feedback"))
    blocked = as_text(feedback.get("blockReason") or feedback.get("block_reason"))
    if blocked and not parts.text:
        return f"{FILTERED}: {blocked}"
    return refusal if refusal and not "".join(parts.text) else None


def _answer(message: dict[str, Any], parts: Parts, finish: str | None) -> str:
    """The text of an answer. Raises Unusable."""
    text = "".join(parts.text)
    if not text and parts.unread:
        raise NoAnswer("the answer has no part of a known type (text, output_text)")
    if not text and (message.get("tool_calls") or message.get("function_call")):
        raise NoAnswer("the model called a tool instead of answering")
    if parts.text:
        return text
    thought = parts.thought or any(message.get(name) for name in STREAMED[2:])
    if finish != LENGTH and not thought:
        raise Unusable(f"no text in the answer (finish_reason {finish})")
    return ""


def _parts(message: dict[str, Any]) -> Parts:
    """The parts of a message: a text, or parts of documented types."""
    parts = Parts()
    content = message.get("content")
    for part in content if isinstance(content, list) else [] if content is None else [content]:
        _add(part, parts)
    if refusal := as_text(message.get("refusal")):
        parts.refusal.append(refusal)
    for name in STREAMED[2:]:
        if not parts.thought and (thought := _words(message.get(name))):
            parts.thought.append(thought)
    return parts


def _add(part: Any, parts: Parts) -> None:
    if isinstance(part, str):
        parts.text.append(part)
        return
    kind = part.get("type") if isinstance(part, dict) else part
    lists = ((_TEXT, parts.text), (_THOUGHT, parts.thought), (_REFUSED, parts.refusal))
    into = next((found for kinds, found in lists if kind in kinds), None) if isinstance(part, dict) else None
    fields = ("thinking", "reasoning", "summary", "refusal", "text", "content")
    words = next((found for name in fields if (found := _words(as_object(part).get(name))) is not None), None)
    if into is None or words is None:
        parts.unread = True
    else:
        into.append(words)


def _words(value: Any) -> str | None:
    """The text of a part, which may be parts again, or an object with a value."""
    if isinstance(value, list):
        inner = [
            _words(as_object(part).get("text")) if isinstance(part, dict) else as_text(part) for part in value[:1000]
        ]
        return "".join(filter(None, inner))
    return as_text(as_object(value).get("value")) if isinstance(value, dict) else as_text(value)


def _joined_stream(stream: bytes) -> dict[str, Any]:
    """The reply that a stream of server-sent events adds up to.

    Raises Unusable for a stream that breaks off, and ErrorReply for one that brings an error.
    """
    body, choices, done = dict[str, Any](), dict[Any, _Pieces](), False
    for line in re.findall(rb"(?:^|\r|\n)data:([^\r\n]*)", stream):
        data = line.strip()
        if done := data == b"[DONE]":
            break
        chunk = parse_object(data)
        if _holds_error(chunk):
            raise ErrorReply(read_refusal(200, data))
        body |= {name: value for name, value in chunk.items() if value is not None and name != "choices"}
        pieces = chunk.get("choices")
        for piece in pieces if isinstance(pieces, list) else []:  # the chunk with usage has none
            index = as_object(piece).get("index") or 0
            choices.setdefault(index if isinstance(index, int) else 0, _Pieces()).add(as_object(piece))
    joined = [choices[index].choice(index) for index in sorted(choices)]
    finished = any(choice.get("finish_reason") is not None for choice in joined)
    blocked = body.get("promptFeedback") or body.get("prompt_feedback")
    if not done and not finished and not blocked:
        raise Unusable("the stream broke off")
    return {**body, "choices": joined}


class _Pieces:
    """One choice of a stream."""

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.parts: dict[str, list[Any]] = {}

    def add(self, piece: dict[str, Any]) -> None:
        self.fields |= {name: value for name, value in piece.items() if value is not None}
        delta = as_object(piece.get("delta"))
        for name in STREAMED:
            if (value := delta.get(name)) is not None:
                self.parts.setdefault(name, []).extend(value if isinstance(value, list) else [value])
        for name in ("tool_calls", "function_call"):
            if delta.get(name):
                self.parts[name] = [delta[name]]

    def choice(self, index: int) -> dict[str, Any]:
        """The choice as a reply that is not streamed has it."""
        message: dict[str, Any] = dict(self.parts)
        for name in STREAMED[1:]:
            if name in message:
                message[name] = "".join(filter(None, map(_words, message[name])))
        return {**self.fields, "index": index, "message": message}


def parse_object(content: bytes) -> dict[str, Any]:
    """JSON object of a reply. Raises Unusable."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Unusable("empty body" if not content.strip() else "the body is not JSON") from error
    if isinstance(body, list) and len(body) == 1 and isinstance(body[0], dict) and body[0].get("error"):
        return body[0]  # Gemini's errors
    if not isinstance(body, dict):
        raise Unusable("the body is no object")
    return body


def _usage(usage: dict[str, Any]) -> Usage:
    prompt, completion = (as_object(usage.get(f"{name}_tokens_details")) for name in ("prompt", "completion"))
    counts = {"prompt": usage.get("prompt_tokens"), "completion": usage.get("completion_tokens")}
    counts |= {"reasoning": completion.get("reasoning_tokens"), "cached": prompt.get("cached_tokens")}
    return Usage(**{name: n for name, n in counts.items() if type(n) is int and 0 <= n <= TOKENS_MOST})
