"""Messages for refusals that every request would meet: the variable or field of the card to mend."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from punchline.core.engine import SYSTEM_HINT
from punchline.engines.openai.refusals import PACIFIC, Judgement, Refusal

if TYPE_CHECKING:
    from punchline.engines.openai import OpenAI

KEPT = "what was answered is kept"


def explain(engine: OpenAI, refusal: Refusal, judgement: Judgement) -> tuple[str, str | None, str]:
    """(what is wrong, the card's field, the fix)."""
    model, account, cause = engine.options.id, _account(engine), judgement.cause
    if cause == "parameter" and judgement.parameter is not None:
        field, hint = _of_parameter(engine, judgement.parameter)
        return f"the server refuses the parameter {judgement.parameter} for {model}", field, hint
    if cause == "system":
        hint = "`system: user` is set already: the model takes no such conversation"
        return f"{model} takes no system prompt", "system", hint if engine.options.system == "user" else SYSTEM_HINT
    if cause == "stream":
        return f"the server only streams {model}", "stream", "Write `stream: true` into the card"
    if cause == "model":
        return f"the server does not know the model {model}", "id", "Correct `id`"
    if cause == "version":
        field = "headers" if "header" in refusal.message.lower() else "query"
        return "the server wants the version of its API", field, f"Write it into `{field}`: {{NAME: VERSION}}"
    field_of_key = _key_field(engine) if _variables(engine) else None
    if cause == "credit":
        hint = "Add credit, or take another key" if _variables(engine) else "Add credit there"
        return f"{account} can pay for no more", field_of_key, hint
    if cause == "plan":
        return f"the plan of {account} does not include {model}", "id", "Take another plan, or another model"
    if cause == "quota":
        return f"the quota of {account} is used up", field_of_key, _after(refusal)
    if cause == "place":
        return f"the provider does not serve {model} here", None, "Run from a place that it serves"
    if cause == "proxy":
        return f"the proxy wants another user or password ({_proxy(engine)})", None, f"Correct {_proxy(engine)}"
    if cause in ("key", "access"):
        return f"the server does not let {model} be asked", _key_field(engine), _key_hint(engine)
    return _wrong_address(engine)


def _wrong_address(engine: OpenAI) -> tuple[str, str, str]:
    fields = [name for name in ("base_url", "query") if engine.card.options.get(name)] + ["id"]
    hint = f"Check {' and '.join(f'`{name}`' for name in fields)}"
    if variables := _variables(engine):
        hint += f", and that the key in {' and '.join(variables)} may use the model"
    return f"the server has no {engine.options.id} at {engine.base_url}", fields[0], hint


def reach(engine: OpenAI, words: str) -> str:
    """The fix where a server cannot be reached; `words`: of the error."""
    if "certificate verify failed" in words:
        return "If you trust it, name its certificates by the environment variable SSL_CERT_FILE"
    checks = ["`base_url`"] if "base_url" in engine.card.options else []
    checks += [f"the proxy in {_proxy(engine)}"] if engine.through_proxy and os.environ.get(_proxy(engine)) else []
    return f"Check {' and '.join(checks) or 'the network'}, and that the server runs"


def _variables(engine: OpenAI) -> list[str]:
    """The environment variables that hold the key, or other secrets that are sent."""
    return [*([engine.key_env] if engine.key_env else []), *engine.options.headers_env.values()]


def _account(engine: OpenAI) -> str:
    variables = _variables(engine)
    return f"the account of {' and '.join(variables)}" if variables else f"the account at {engine.base_url}"


def _key_field(engine: OpenAI) -> str | None:
    """The field that names the key's variable; of an engine that sends no key, the server's."""
    if engine.card.engine != "openai":
        return "base_url"
    return "headers_env" if engine.options.headers_env and not engine.key_env else "api_key_env"


def _key_hint(engine: OpenAI) -> str:
    options, checks = engine.options, []
    if engine.key_env:
        names = ", which `api_key_env` names" if options.api_key_env else "; `api_key_env` names another"
        header = f" (sent as {options.key_header}, by `key_header`)" if options.key_header else ""
        checks.append(f"the key in the environment variable {engine.key_env}{header}{names}")
    for header, variable in options.headers_env.items():
        checks.append(f"the value in the environment variable {variable}, which `headers_env` sends as {header}")
    if checks:
        return f"Check {'; and '.join(checks)}"
    if engine.card.engine == "openai":
        return "No key is sent: write `api_key_env: NAME`, the environment variable that holds the server's key"
    return f"No key is sent by engine {engine.card.engine}: `engine: openai` with `api_key_env` sends one"


def _after(refusal: Refusal) -> str:
    if not refusal.resets:
        return f"Run again when it begins anew, by the server's words: {KEPT}"
    again = "then" if refusal.resets == PACIFIC else "after that"
    return f"It begins anew {refusal.resets}: run again {again}; {KEPT}"


def _proxy(engine: OpenAI) -> str:
    """The environment variable that names the proxy."""
    scheme = urlsplit(engine.base_url).scheme
    names = [name for kind in (scheme, "all") for name in (f"{kind}_proxy", f"{kind.upper()}_PROXY")]
    return next((name for name in names if os.environ.get(name)), names[0])


def _of_parameter(engine: OpenAI, parameter: str) -> tuple[str, str]:
    """(field of the card that a parameter comes from, how to change it)."""
    options, name = engine.options, parameter.split(".")[0].split("[")[0]
    for field, names in (("query", options.query), ("headers", options.headers), ("headers_env", options.headers_env)):
        if parameter in names:
            return field, f"Change or remove {parameter} there"
    if name == options.max_tokens_field:
        other = "max_tokens" if name == "max_completion_tokens" else "max_completion_tokens"
        hint = "Change it, or send none: `sampling: {max_tokens: null}`"
        return "sampling.max_tokens", f"{hint}; `max_tokens_field: {other}` sends it by that name"
    if name in options.extra_body:
        return "extra_body", f"Change or remove {name} there"
    of_options = {"reasoning_effort": "reasoning_effort", "web_search_options": "search"}
    of_options |= dict.fromkeys(("stream", "stream_options"), "stream")
    of_options |= dict.fromkeys(("thinking", "reasoning", "enable_thinking", "thinking_budget"), "thinking_budget")
    of_options["extra_body"] = "thinking_budget"  # style gemini
    if name in of_options and name in engine.constants():
        return of_options[name], f"Change or remove `{of_options[name]}`"
    return f"sampling.{name}", f"Change it, or send none: `sampling: {{{name}: null}}`"
