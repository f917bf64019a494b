"""Errors that servers return instead of answers, whatever the HTTP status, and what to do about each."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import msgspec

from punchline.core.engine import refuses_system
from punchline.core.waits import retry_after
from punchline.engines.openai.waits import RETRY_IN, duration, from_now, reset_in, seconds_in

WORDS_MOST = 4000  # characters of a server's words that are looked at
CODE_MOST = 200  # characters of a name of an error
REASONS_MOST = 8  # of a moderation decision
PACIFIC = "at midnight Pacific time"  # Google's quotas of a day (ai.google.dev, rate limits)

_TOO_LONG = re.compile(
    r"context[ _](length|window)|too long|too many (input |prompt )?tokens|context (the )?overflow"
    r"|(request|image|payload|body) .{0,20}too large|exceed\w* .{0,40}(context|input token|prompt)"
    r"|less than .{0,30}context|reduce the length",
    re.IGNORECASE,
)
_TOO_LONG_CODE = re.compile(
    r"context_?(length|size|window)_?exceed|exceed_context|string_above_max|request_too_large|prompt_too_long",
    re.IGNORECASE,
)
# Moderation. Numbers: GLM 1301 (docs.bigmodel.cn), MiniMax 1026 and 1027 (platform.minimax.io).
_FILTER_CODE = re.compile(
    r"content_?filter|content_?policy|moderation|data_?inspection|sensitive|safety|guardrail|responsible_?ai|prohibited"
    r"|flagged|invalid_prompt|bio_policy|\b(1301|1026|1027)\b",
    re.IGNORECASE,
)
_FILTER_WORDS = re.compile(
    r"violates? (our |the )?usage guidelines|content exists risk|data_?inspection_?failed|inappropriate content"
    r"|content[ _]?policy[ _]?violation|(blocked|rejected|filtered|flagged|triggered) .{0,60}"
    r"(content (filter|management|polic)|guardrail|moderation|safety|usage polic)|sensitive[_ ](words?|content)",
    re.IGNORECASE,
)
_FILTER_HINT = re.compile(r"\bflagged\b|\bmoderation\b|\bsafety\b|\bguardrails?\b", re.IGNORECASE)
_ACCOUNT = re.compile(  # flagged or blocked: not the input
    r"\b(account|organi[sz]ation|user|project|key|access)\b.{0,40}"
    r"\b(flagged|suspended|disabled|deactivated|terminated|banned|blocked)\b",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"api[ _-]?key (not valid|invalid|expired|is (not valid|invalid|expired))|API_KEY_INVALID|invalid_api_key"
    r"|(incorrect|invalid|wrong|expired|missing) api[ _-]?key|authentication_error|unauthenticated|login fail",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(location|country|region|territory)[^.]{0,20} not supported|not (available|supported) in your (country|region)",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"used all available credits|spending limit|insufficient.?(credit|balance|fund|account balance)|out of credit"
    r"|credit balance|balance .{0,20}(too low|insufficient|not enough)|arrear|余额不足|欠费|budget.{0,20}exceeded"
    r"|insufficient_(user_)?quota|billing_(hard_limit|not_active)|exceeded_current_quota_error|\b1113\b",
    re.IGNORECASE,
)
_NO_PLAN = re.compile(r"\blimit: 0\b(?![.,]?\d)")
_RATE = re.compile(r"allocat\w+.?quota|per[ -]?min|\b(TPM|RPM|QPS|QPM)\b", re.IGNORECASE)
_LONG_QUOTA = re.compile(
    r"\b(RPD|TPD)\b|per[ _-]?(day|week|month)\b|PerDay|(^|[^a-z])(daily|weekly|monthly)([^a-z]|$)", re.IGNORECASE
)
_LONG_QUOTA_CODE = re.compile(r"\b(1304|1308|1310)\b")  # GLM's
_MODEL = re.compile(
    r"model .{0,80}(does not exist|not found|not exist)|no such model|unknown model\b|模型不存在"
    r"|invalid model( name)?\b(?! output)|not a valid model\b",
    re.IGNORECASE,
)
_MODEL_CODE = re.compile(r"model_?not_?(found|exist)|invalid_model|unknown_model|\b1211\b", re.IGNORECASE)
_AGAINST = re.compile(
    r"unsupported|not support|unrecognized|unrecognised|unknown|unexpected|invalid|not (permitted|allowed|a valid)"
    r"|deprecated|incompatible|must be|should be|at most|at least|only the default|cannot find|out of range|removed",
    re.IGNORECASE,
)
_STREAM_ONLY = re.compile(
    r"stream\W{0,3}(parameter )?(must|should|has to|needs to) be (set to )?\W?true|only supports? stream"
    r"|streaming (mode )?is required|stream .{0,20}is required",
    re.IGNORECASE,
)
_NO_VERSION = re.compile(
    r"(missing|required?|specify|provide)\b.{0,40}\b[a-z]+[- ]version\b"
    r"|\b(api|anthropic)[- ]version\b.{0,40}\b(missing|required?)\b",
    re.IGNORECASE,
)
# Status of an error in a reply of HTTP 200 that has none, by its words.
_STATUS_OF = (
    (401, _KEY),
    (429, re.compile(r"rate.?limit|resource_exhausted|too_?many_?requests|insufficient_quota", re.IGNORECASE)),
)


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """An error that a server returned instead of an answer."""

    status: int
    message: str
    param: str | None = None
    codes: str = ""  # all that the error is called by, separated by spaces
    reasons: tuple[str, ...] = ()  # of a moderation decision
    wait: float = 0.0  # seconds that the server asks for
    long_quota: bool = False  # a quota of a day or more
    resets: str = ""  # when that quota begins anew

    def __str__(self) -> str:
        reasons = f" ({', '.join(self.reasons)})" if self.reasons else ""
        return f"HTTP {self.status}: {self.message}{reasons}" if self.message or reasons else f"HTTP {self.status}"


Verdict = Literal["stop", "limited", "again", "too long", "failed", "refused"]
Cause = Literal[
    "key",
    "credit",
    "plan",
    "quota",
    "place",
    "model",
    "parameter",
    "proxy",
    "access",
    "address",
    "system",
    "stream",
    "version",
]


class Judgement(NamedTuple):
    """A verdict on a refusal.

    stop: every request would meet the same, for a cause; limited: too many at once; again: the server's trouble; too
    long, failed and refused concern this request alone.
    """

    verdict: Verdict
    cause: Cause | None = None
    parameter: str | None = None  # one that was sent and that the server will not take


def read_refusal(status: int, content: bytes, headers: Mapping[str, str] | None = None) -> Refusal:
    """The error of a body, in any shape in use (OpenAI's, Gemini's list, FastAPI's `detail`, plain text)."""
    headers = headers or {}
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = content[:WORDS_MOST].decode(errors="replace")
    if isinstance(body, list) and body:
        body = body[0]
    body = body if isinstance(body, dict) else {"error": body if isinstance(body, str) else ""}
    error = body.get("error") or body.get("base_resp") or body
    if not isinstance(error, dict):
        words = ": ".join(word for word in (error, body.get("message")) if isinstance(word, str))
        error = {**body, "message": words}
    codes = " ".join(_codes(error))
    message = _message(error)
    if status == 200:
        status = _status_in(error) or _status_by(f"{codes} {message}")
    metadata = as_object(error.get("metadata"))
    said = {str(name).lower(): str(value) for name, value in as_object(metadata.get("headers")).items()}
    quotas = _quotas(error)
    long_quota = status == 429 and _is_long_quota(message, codes, quotas, metadata)
    if long_quota and "PerDay" in quotas:
        resets, message = PACIFIC, RETRY_IN.sub("try again later", message)
    else:
        resets = reset_in(said) or reset_in({name.lower(): value for name, value in headers.items()})
    waits = [retry_after(headers), retry_after(said), _delay(error), seconds_in(message)]
    if long_quota:  # other waits are of shorter quotas
        waits = [seconds_in(message)]
    wait = next((wait for wait in waits if wait is not None), 0.0)
    if long_quota and not resets and wait:
        resets = from_now(wait)
    return Refusal(
        status=status,
        message=message,
        param=as_text(error.get("param")),
        codes=codes,
        reasons=_reasons(error, metadata),
        wait=wait,
        long_quota=long_quota,
        resets=resets,
    )


def _message(error: dict[str, Any]) -> str:
    names = ("message", "detail", "status_msg", "msg")
    message: Any = next((error[name] for name in names if error.get(name)), "")
    words = message if isinstance(message, str) else json.dumps(message)
    return words[:WORDS_MOST]


def _codes(error: dict[str, Any]) -> list[str]:
    """Names and numbers by which an error, or the error inside it, is called."""
    values = [error.get(name) for name in ("code", "type", "status", "status_code")]
    values.append(_inner(error).get("code"))
    values += [detail.get("reason") for detail in _details(error)]
    return [str(value)[:CODE_MOST] for value in values if isinstance(value, (str, int))]


def _status_in(error: dict[str, Any]) -> int | None:
    """The HTTP status that an error names itself."""
    for name in ("code", "status", "status_code"):
        with suppress(ValueError):
            if 400 <= (number := int(str(error.get(name)))) < 600:
                return number
    return None


def _status_by(words: str) -> int:
    return next((status for status, pattern in _STATUS_OF if pattern.search(words)), 200)


def _quotas(error: dict[str, Any]) -> str:
    """Names of the quotas that Google says were exceeded."""
    names = []
    for detail in _details(error):
        violations = detail.get("violations")
        for violation in violations if isinstance(violations, list) else []:
            names.append(str(as_object(violation).get("quotaId") or as_object(violation).get("quota_id") or ""))
    return " ".join(names)


def _is_long_quota(message: str, codes: str, quotas: str, metadata: dict[str, Any]) -> bool:
    if quotas.strip():
        return "PerDay" in quotas
    if _LONG_QUOTA_CODE.search(codes) or "daily" in str(metadata.get("limit_source")):
        return True
    return bool(_LONG_QUOTA.search(message)) and (not _RATE.search(message) or "PD)" in message)


def _delay(error: dict[str, Any]) -> float | None:
    """Seconds of Google's RetryInfo, and of fields that gateways have."""
    for detail in _details(error):
        if delay := detail.get("retryDelay"):
            return duration(str(delay))
    for name in ("retry_after", "retry_after_seconds"):
        value = error.get(name, as_object(error.get("metadata")).get(name))
        if isinstance(value, (int, float)) and 0 <= value < 1e8:
            return float(value)
    return None


def _reasons(error: dict[str, Any], metadata: dict[str, Any]) -> tuple[str, ...]:
    """Reasons of a moderation decision (OpenRouter's metadata, Azure's results)."""
    found = [metadata.get("reasons"), metadata.get("patterns"), metadata.get("flagged_input") and "flagged input"]
    values = [value for one in found for value in (one if isinstance(one, list) else [one]) if value]
    values += filtered_by(_inner(error).get("content_filter_result") or error.get("content_filter_result"))
    return tuple(str(value)[:60] for value in values[:REASONS_MOST])


def _details(error: dict[str, Any]) -> list[dict[str, Any]]:
    """Google's details of an error."""
    details = error.get("details")
    return [as_object(detail) for detail in details] if isinstance(details, list) else []


def _inner(error: dict[str, Any]) -> dict[str, Any]:
    """Azure's error inside an error."""
    return as_object(error.get("innererror") or error.get("inner_error"))


def filtered_by(results: Any) -> list[str]:
    """Categories that Azure's filter objects to."""
    return [str(name) for name, result in as_object(results).items() if as_object(result).get("filtered") is True]


def as_text(value: Any) -> str | None:
    """A value that is a text, else None."""
    return value if isinstance(value, str) else None


def as_object(value: Any) -> dict[str, Any]:
    """A value that is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def judge(refusal: Refusal, sent: Collection[str], patience: float = 0.0) -> Judgement:
    """The verdict on a refusal. Moderation goes before the status.

    `sent`: names of the parameters that were sent; `patience`: the longest wait, in seconds, for a quota of a day.
    """
    status, about = refusal.status, f"{refusal.codes} {refusal.message}"
    if (judgement := _judge_input(refusal)) is not None:
        return judgement
    if status == 429:
        return _judge_limit(refusal, patience)
    if status == 413 or _TOO_LONG_CODE.search(about):
        return Judgement("too long")
    if status >= 500 or status in (408, 409, 425):
        return Judgement("again")
    if status in (200, 400, 403):
        for cause, pattern in _CAUSES.items():
            if pattern.search(about):
                return Judgement("stop", cause)
        if _TOO_LONG.search(refusal.message):  # before the parameter: vLLM names max_tokens then
            return Judgement("too long")
    if status == 200:
        return Judgement("again")
    if _is_about_model(refusal, about):
        return Judgement("stop", "model")
    if status < 400 or status in _CAUSE_OF:
        return Judgement("stop", _CAUSE_OF.get(status, "address"))
    return _judge_request(refusal, sent)


_CAUSES: dict[Cause, re.Pattern[str]] = {"key": _KEY, "place": _PLACE, "credit": _CREDIT}
_CAUSE_OF: dict[int, Cause] = {401: "key", 402: "credit", 403: "access", 404: "address", 405: "address", 407: "proxy"}


def _judge_input(refusal: Refusal) -> Judgement | None:
    """The verdict on an error about the input's content or form, whatever its status; None for other errors."""
    if _is_moderated(refusal):
        return Judgement("refused")
    option = _option_for(refusal)
    return None if option is None else Judgement("stop", option)


def _is_moderated(refusal: Refusal) -> bool:
    """True if a server declines this input for what it says."""
    status, message = refusal.status, refusal.message
    if status == 451 or refusal.reasons or _FILTER_CODE.search(refusal.codes):
        return True
    page = message.lstrip()[:9].lower().startswith(("<html", "<!doctype"))  # a firewall's
    if page or _ACCOUNT.search(message):  # concerns no single input
        return False
    return bool(_FILTER_WORDS.search(message)) or (status in (200, 403) and bool(_FILTER_HINT.search(message)))


def _option_for(refusal: Refusal) -> Cause | None:
    """The card's option that a refusal asks for; llama.cpp refuses a role with status 500."""
    if refusal.status in (400, 422, 500) and refuses_system(refusal.message):
        return "system"
    if refusal.status in (400, 404, 422) and _NO_VERSION.search(refusal.message):
        return "version"
    return "stream" if refusal.status in (400, 422) and _STREAM_ONLY.search(refusal.message) else None


def _judge_limit(refusal: Refusal, patience: float) -> Judgement:
    about = f"{refusal.codes} {refusal.message}"
    if "must be reduced" in refusal.message:  # one request larger than the limit of a minute
        return Judgement("too long")
    if _NO_PLAN.search(refusal.message):
        return Judgement("stop", "plan")
    if _CREDIT.search(about) and not _RATE.search(about):
        return Judgement("stop", "credit")
    waits = 0 < refusal.wait <= patience  # OpenAI's quotas of a day fill up again bit by bit
    return Judgement("stop", "quota") if refusal.long_quota and not waits else Judgement("limited")


def _is_about_model(refusal: Refusal, about: str) -> bool:
    if refusal.status not in (400, 404, 422):
        return False
    return refusal.param == "model" or bool(_MODEL_CODE.search(refusal.codes) or _MODEL.search(about))


def _judge_request(refusal: Refusal, sent: Collection[str]) -> Judgement:
    """The verdict on an error of status 4xx about one request."""
    if _TOO_LONG.search(refusal.message):
        return Judgement("too long")
    if refusal.param is not None and refusal.param.split(".")[0].split("[")[0] in sent:
        return Judgement("stop", "parameter", refusal.param)
    if _AGAINST.search(refusal.message) or "unsupported" in refusal.codes or "unknown" in refusal.codes:
        for name in sorted(sent, key=len, reverse=True):
            if re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", refusal.message):
                return Judgement("stop", "parameter", name)
    return Judgement("refused" if _FILTER_HINT.search(refusal.message) else "failed")
