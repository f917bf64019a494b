"""The openai engine against a real server that misbehaves: nothing asked twice, nothing lost, no key anywhere."""

import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import urllib.request
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.asked import answers_in, ask, lines_of
from tests.servers import misbehaving
from tests.servers.batches import Provider, to
from tests.servers.scripted import scripted

from punchline.core.engine import model_key
from punchline.engines.openai import batch, chat
from punchline.engines.openai import engine as load
from punchline.errors import PunchlineError
from punchline.schema import Image, Message, ModelCard, Request, Response, Sampling, Text, sha256

pytest.importorskip("openai", reason="OPENAI ABSENT: pip install 'openai>=3'")

ROOT = Path(__file__).resolve().parent.parent
KEY = "sk-Planted0Key1That2Must3Never4Be5Written"
VARIABLE = "PUNCHLINE_TEST_KEY"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
QUICK = {"backoff": {"first": 0.01, "most": 0.05}, "attempts": 4}


class Served:
    """The server as a process of its own."""

    def __init__(self, port: int = 0, log: Path | None = None, tls: Path | None = None) -> None:
        command = [sys.executable, "-m", "tests.servers.misbehaving", "--port", str(port)]
        command += [*(["--log", str(log)] if log else []), *(["--tls", str(tls)] if tls else [])]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}{path}", timeout=10) as reply:
            return json.load(reply)

    def script(self, **script: Any) -> None:
        data = json.dumps(script).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/script", data, method="POST"), timeout=10).close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def process() -> Iterator[Served]:
    served = Served()
    yield served
    served.kill()


@pytest.fixture
def server(process: Served) -> Served:
    process.script()
    return process


def card(url: str | None, sampling: dict[str, Any] | None = None, **options: Any) -> ModelCard:
    base = {"base_url": f"{url}/v1"} if url else {}
    options = {"id": "m", **base, **QUICK, **options}
    return ModelCard(name="m", engine="openai", options=options, sampling=sampling or {})


def requests(*texts: str, image: bytes | None = None, images: int = 1) -> list[Request]:
    shown = tuple(Image(sha256=sha256(image)) for _ in range(images)) if image else ()
    system = Message(role="system", content=(Text(text="Be brief."),))
    asked = [(system, Message(role="user", content=(*shown, Text(text=text)))) for text in texts]
    of: dict[str, Any] = {"benchmark": "b", "task": "Q1", "condition": "default"}
    of["sampling"] = Sampling(temperature=0, max_tokens=64)
    return [Request(item_id=f"i{n}", messages=messages, **of) for n, messages in enumerate(asked)]


def many(count: int, name: str) -> list[Request]:
    return requests(*(f"{name} {n}" for n in range(count)))


def run(
    folder: Path, of: ModelCard, asked: list[Request], images: dict[str, Path] | None = None, retry: bool = False
) -> dict[str, int]:
    engine = load(of, 0)
    files = {"journal": folder / "m.jsonl", "index": folder / "m.parquet"}
    return dict(ask(engine, asked, images or {}, **files, key=model_key(engine, of, "b"), retry=retry))


def journal(folder: Path) -> list[Response]:
    """All lines, in order."""
    answers_in(folder / "m.jsonl")  # no line is damaged
    return lines_of(folder / "m.jsonl")


def expected(request: Request) -> str:
    return misbehaving.answer(chat.messages(request, {}))


def assert_each_answered_once(folder: Path, asked: list[Request]) -> None:
    """The journal holds one ok answer a request, and it is that request's own."""
    ok = [r for r in journal(folder) if r.state == "ok"]
    assert Counter(r.request_id for r in ok) == Counter(r.request_id for r in asked)
    texts = {r.request_id: r.text for r in ok}
    assert all(texts[r.request_id] == expected(r) for r in asked)


def assert_completes(folder: Path, of: ModelCard, asked: list[Request]) -> None:
    """A run answers every request, and the journal holds one answer of each."""
    assert run(folder, of, asked) == {"ok": len(asked)}
    assert_each_answered_once(folder, asked)


def error_of(folder: Path, of: ModelCard, asked: list[Request]) -> str:
    with pytest.raises(PunchlineError) as caught:
        run(folder, of, asked)
    return str(caught.value)


def another_process(url: str, folder: Path, count: int, name: str, **options: Any) -> subprocess.Popen[str]:
    """A run in a process of its own, which is in the folder."""
    command = [sys.executable, "-m", "tests.servers.asker", url, str(count), name, json.dumps(options)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)


# What is sent, and what is kept of the answer


def test_an_answer_with_all_that_is_known_of_it(server: Served, tmp_path: Path) -> None:
    asked = many(1, "all")
    parameters = {"temperature": 0.0, "max_tokens": 64, "seed": 7, "top_p": 0.5}
    assert run(tmp_path, card(server.url, {"seed": 7, "top_p": 0.5}), asked) == {"ok": 1}
    (answer,) = journal(tmp_path)
    assert answer.text == expected(asked[0])
    assert answer.finish_reason == "stop"
    assert (answer.usage.prompt, answer.usage.completion) == (100, 20)
    assert (answer.usage.reasoning, answer.usage.cached) == (7, 64)
    assert answer.latency_s is not None and answer.latency_s > 0
    assert answer.provider_id is not None and answer.provider_id.startswith("req-")
    assert answer.effective == {**parameters, "model": "m", "system_fingerprint": "fp_1"}
    sent = server.get("/state")["bodies"][-1]
    assert {k: v for k, v in sent.items() if k != "messages"} == {**parameters, "model": "m"}


def test_every_option_that_changes_the_body_arrives(server: Served, tmp_path: Path) -> None:
    options = {"reasoning_effort": "low", "search": True, "thinking_budget": 512, "thinking_style": "gemini"}
    options |= {"max_tokens_field": "max_completion_tokens", "extra_body": {"verbosity": "low"}}
    run(tmp_path, card(server.url, {"temperature": None}, **options), many(1, "options"))
    sent = server.get("/state")["bodies"][-1]
    assert "temperature" not in sent and "max_tokens" not in sent
    arrives = {"max_completion_tokens": 64, "reasoning_effort": "low", "web_search_options": {}, "verbosity": "low"}
    arrives["extra_body"] = {"google": {"thinking_config": {"thinking_budget": 512}}}
    assert {name: sent.get(name) for name in arrives} == arrives
    (answer,) = journal(tmp_path)
    assert answer.effective["web_search_options"] == "{}"


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("wanted", [False, True])
def test_account_headers_go_to_openai_or_where_the_card_says(
    wanted: bool, batched: bool, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = {"openai-organization": "org-of-mine", "openai-project": "project-of-mine", "x-tenant": "mine"}
    monkeypatch.setenv(VARIABLE, KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-mine")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "admin")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Tenant: mine\nauthorization: Bearer another\ncontent-type: x/y\n\n:")
    if wanted:
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Tenant: mine")
    options = {**({"account_headers": True} if wanted else {}), **(BATCH if batched else {})}
    with scripted(Provider()) as server:
        assert run(here, card(server.url, api_key_env=VARIABLE, **options), requests("who asks")) == {"ok": 1}
    headers = {name.lower(): value for name, value in server.calls[-1][2].items()}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["user-agent"].startswith("AsyncOpenAI/Python ")
    assert headers["accept"] == "application/json"
    assert batched or headers["content-type"] == "application/json"
    assert {name: headers[name] for name in account if name in headers} == (account if wanted else {})


@pytest.mark.parametrize("url", [None, "https://api.openai.com/v1", "https://api.openai.com.example/v1"])
def test_account_headers_by_host(url: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Tenant: mine")
    engine = load(card(None, **({"base_url": url} if url else {})), 0)
    headers = engine.client().default_headers
    sent = {name for name in ("OpenAI-Organization", "X-Tenant") if isinstance(headers[name], str)}
    assert sent == (set() if "example" in str(url) else {"OpenAI-Organization", "X-Tenant"})


@pytest.mark.parametrize(
    ("style", "body"),
    [
        ("anthropic", {"thinking": {"type": "enabled", "budget_tokens": 512}}),
        ("openrouter", {"reasoning": {"max_tokens": 512}}),
        ("qwen", {"enable_thinking": True, "thinking_budget": 512}),
    ],
)
def test_the_other_shapes_of_a_thinking_budget(style: str, body: dict[str, Any]) -> None:
    assert load(card(None, thinking_budget=512, thinking_style=style), 0).constants() == body


def test_images_are_sent_unchanged_and_before_the_text(server: Served, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(PNG)
    run(tmp_path, card(server.url), requests("look", image=PNG, images=3), {sha256(PNG): path})
    parts = server.get("/state")["bodies"][-1]["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["image_url"] * 3 + ["text"]
    kind, _, data = parts[0]["image_url"]["url"].partition(";base64,")
    assert kind == "data:image/png"
    assert base64.b64decode(data) == PNG


def test_half_a_surrogate_pair_in_an_answer_ends_no_run(server: Served, tmp_path: Path) -> None:
    assert run(tmp_path, card(server.url), requests("<<surrogates:always>> half")) == {"ok": 1}
    (answer,) = journal(tmp_path)
    assert (answer.text, answer.finish_reason, answer.effective["model"]) == ("half \ufffd", "st", "m")


def test_media_types_come_from_the_bytes() -> None:
    kinds = {PNG: "png", b"\xff\xd8\xff\xe0": "jpeg", b"GIF89a": "gif", b"RIFF\0\0\0\0WEBPVP8 ": "webp"}
    assert [chat.media_type(start) for start in kinds] == [f"image/{kind}" for kind in kinds.values()]
    assert chat.media_type(b"RIFF\0\0\0\0WAVE") is chat.media_type(b"<svg/>") is None


def test_a_model_that_reads_no_or_fewer_images_is_not_asked(server: Served, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(PNG)
    blind = msgspec.structs.replace(card(server.url), modality=("text",))
    assert run(tmp_path, blind, requests("blind", image=PNG), {sha256(PNG): path}) == {"missing": 1}
    one = msgspec.structs.replace(card(server.url, revision="2"), images_per_prompt=1)
    assert run(tmp_path, one, requests("two", image=PNG, images=2), {sha256(PNG): path}) == {"missing": 1}
    said = {"the model reads no images", "the model reads 1 images at once, not 2"}
    assert {r.reason for r in journal(tmp_path)} == said
    assert not {"blind", "two"} & set(server.get("/counts"))


# Faults of the server


@pytest.mark.parametrize(
    "fault", ["500", "502", "429", "closed", "reset", "no_http", "empty_body", "malformed", "no_choices", "null"]
)
def test_a_passing_fault_costs_nothing_but_another_try(fault: str, server: Served, tmp_path: Path) -> None:
    asked = [*many(6, f"once {fault}"), *requests(f"<<{fault}>> {fault}", f"<<{fault}:2>> {fault}")]
    assert_completes(tmp_path, card(server.url), asked)
    counts = server.get("/counts")
    assert counts[f"<<{fault}>> {fault}"] == 2
    assert counts[f"<<{fault}:2>> {fault}"] == 3
    assert all(counts[f"once {fault} {n}"] == 1 for n in range(6))


@pytest.mark.parametrize("fault", ["500", "closed", "reset", "malformed", "empty_body"])
def test_a_lasting_fault_of_one_request_is_failed_and_asked_again_by_a_retry(
    fault: str, server: Served, tmp_path: Path
) -> None:
    asked = [*many(6, f"beside {fault}"), *requests(f"<<{fault}:4>> lasting {fault}")]
    assert run(tmp_path, card(server.url), asked) == {"ok": 6, "failed": 1}
    (failed,) = [r for r in journal(tmp_path) if r.state == "failed"]
    assert failed.reason is not None and "(4 tries)" in failed.reason and failed.text is None
    assert run(tmp_path, card(server.url), asked) == {"ok": 6, "failed": 1}
    assert run(tmp_path, card(server.url), asked, retry=True) == {"ok": 7}
    assert server.get("/counts")[f"<<{fault}:4>> lasting {fault}"] == 5


@pytest.mark.parametrize("fault", ["hang", "slow"])
def test_a_call_that_hangs_is_ended_and_tried_again(fault: str, server: Served, tmp_path: Path) -> None:
    timeouts = {"read": 0.3, "total": 0.6}
    asked = [*many(3, f"beside {fault}"), *requests(f"<<{fault}>> {fault}", f"<<{fault}:always>> {fault}")]
    assert run(tmp_path, card(server.url, timeouts=timeouts), asked) == {"ok": 4, "failed": 1}
    (failed,) = [r for r in journal(tmp_path) if r.state == "failed"]
    assert failed.reason is not None and "time-out" in failed.reason and "(3 tries)" in failed.reason


def test_calls_at_a_time_go_down_to_what_the_server_takes(server: Served, tmp_path: Path) -> None:
    server.script(at_once=3, latency=0.02)
    before = server.get("/state")["calls"]
    asked = many(80, "crowd")
    assert_completes(tmp_path, card(server.url, concurrency=24, attempts=10), asked)
    refused = server.get("/state")["calls"] - before - 80
    assert 0 < refused < 100  # 24 at a time all along would meet several hundred


SLOW_START = {"backoff": {"first": 0.2, "most": 1}}
ONE = {"concurrency": 1}


@pytest.mark.parametrize(
    ("texts", "options", "calls", "least", "most"),
    [
        (["<<429_after>> wait"], ONE, 2, 1.0, 4),
        (["<<429_date>> wait"], ONE, 2, 1.0, 4),
        (["<<429_now:2>> at once"], SLOW_START, 3, 0.29, 60),  # half of 0.2 s and half of 0.4 s at least
        ([], {"requests_per_minute": 600}, 8, 0.67, 60),  # seven gaps of 0.1 s
        ([], {"requests_per_minute": 2400, "shards": 4}, 8, 0.67, 60),  # four jobs at a time, each its part
        # Seven gaps of 0.12 s: the server counts 120 tokens. 6,000 tokens reserved each time would take 42 s.
        ([], {"tokens_per_minute": 60_000, "max_tokens": 64}, 8, 0.4, 4),
        ([], {"tokens_per_minute": 60_000, "max_tokens": 6000}, 8, 0.4, 4),
    ],
)
def test_pace(
    texts: list[str], options: dict[str, Any], calls: int, least: float, most: float, server: Served, tmp_path: Path
) -> None:
    """The first `calls` calls take between `least` and `most` seconds: a Retry-After and budgets hold for all."""
    names = {name: options[name] for name in options if name not in ("shards", "max_tokens")}
    sampling = {"max_tokens": options.get("max_tokens", 64)}
    of = msgspec.structs.replace(card(server.url, sampling, **names), shards=options.get("shards", 1))
    asked = [*requests(*texts), *many(3 if options == ONE else 0 if texts else 8, f"pace {options} {texts}")]
    begun = len(server.get("/state")["starts"])
    assert_completes(tmp_path, of, asked)
    starts = server.get("/state")["starts"][begun:]
    assert least <= starts[calls - 1] - starts[0] < most


def test_a_wait_of_a_day_ends_the_run(server: Served, tmp_path: Path) -> None:
    assert "asks to wait 86,400 s" in error_of(tmp_path, card(server.url), requests("<<429_long>> wait"))


def test_a_clock_that_jumps_does_not_matter(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = iter(range(10**6))
    monkeypatch.setattr(time, "time", lambda: 1e9 * (-1) ** next(jumps))
    asked = [*requests("<<429_date>> jump"), *many(5, "jump")]
    assert run(tmp_path, card(server.url, requests_per_minute=6000), asked) == {"ok": 6}


def certificate(folder: Path) -> Path:
    """One of 127.0.0.1, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([]), datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1))
    address = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    signed = made.add_extension(address, critical=True).sign(key, hashes.SHA256())
    parts = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), signed.public_bytes(Encoding.PEM)
    (folder / "tls.pem").write_bytes(b"".join(parts))
    return folder / "tls.pem"


def test_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose certificate is trusted is asked, one whose is not is not."""
    tls = certificate(tmp_path)
    server = Served(tls=tls)
    try:
        asked = many(40, "over tls")
        assert "certificate verify failed" in error_of(tmp_path, card(server.url, attempts=1), asked)
        assert not journal(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(tls))
        assert_completes(tmp_path, card(server.url), asked)
    finally:
        server.kill()


# What ends a run at once


def test_a_server_that_always_fails_ends_the_run_with_its_first_error(server: Served, tmp_path: Path) -> None:
    server.script(fault="500")
    before = server.get("/state")["calls"]
    asked = many(500, "doomed")
    words = error_of(tmp_path, card(server.url, concurrency=8, breaker=5), asked)
    assert "5 requests in a row failed; the first error: HTTP 500: status 500, as asked" in words
    assert server.get("/state")["calls"] - before < 4 * 20
    assert run(tmp_path / "on", card(server.url, breaker=0, attempts=1), asked[:30]) == {"failed": 30}
    server.script()
    assert run(tmp_path, card(server.url), asked, retry=True) == {"ok": 500}


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1", "tls"])
def test_a_server_that_is_not_there_is_said_at_once(url: str, server: Served, tmp_path: Path) -> None:
    url = f"https://127.0.0.1:{server.port}/v1" if url == "tls" else url
    words = error_of(tmp_path, card(None, base_url=url, attempts=2, timeouts={"connect": 0.5}), many(50, "nobody"))
    assert "the server cannot be reached" in words and "base_url" in words
    assert not journal(tmp_path)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        *((status, "Check the key in the environment variable") for status in ("401", "403")),
        ("404", "the server has no m at"),
        ("429_quota", "can pay for no more"),
        ("parameter", "refuses the parameter temperature for m: HTTP 400: Unsupported parameter: 'temperature'"),
    ],
)
def test_what_every_request_would_meet_ends_the_run(fault: str, said: str, server: Served, tmp_path: Path) -> None:
    server.script(fault=fault, latency=0.01)
    before = server.get("/state")["calls"]
    asked = many(40, f"stop {fault}")
    assert said in error_of(tmp_path, card(server.url, concurrency=4), asked)
    assert server.get("/state")["calls"] - before <= 8
    server.script()
    assert_completes(tmp_path, card(server.url), asked)


def test_another_model_ends_the_run(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    asked = requests("<<wrong_model:always>> who")
    words = error_of(tmp_path, card(server.url, api_key_env=VARIABLE), asked)
    assert "asked for the model m, the server answered as 'cheaper-model'" in words
    assert not journal(tmp_path)
    assert run(tmp_path, card(server.url, api_key_env=VARIABLE, served_as="cheaper-model"), asked) == {"ok": 1}
    (answer,) = journal(tmp_path)
    assert answer.effective["model"] == "cheaper-model"
    # A server without a key may call its model what it likes.
    assert run(tmp_path / "own", card(server.url), asked) == {"ok": 1}
    assert "answered as" in error_of(tmp_path / "x", card(server.url, served_as="x"), asked)


@pytest.mark.parametrize(
    ("asked", "served", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", True),
        ("gemini-2.5-flash", "models/gemini-2.5-flash", True),
        ("o3", "o3-2025-04-16", True),
        ("gpt-4-0613", "gpt-4", False),
    ],
)
def test_longer_dated_names_are_the_same_model(asked: str, served: str, same: bool) -> None:
    assert chat.same_model(asked, served) is same


# What concerns one request


def test_states_of_single_requests(server: Served, tmp_path: Path) -> None:
    faults = ("too_long", "bad", "content_filter", "refusal", "empty_text", "length")
    asked = [*many(4, "single"), *requests(*(f"<<{fault}:always>> single" for fault in faults))]
    assert run(tmp_path, card(server.url), asked) == {"ok": 6, "failed": 2, "refused": 2}
    by_fault = dict(zip(faults, asked[4:], strict=True))
    made = {r.request_id: r for r in journal(tmp_path)}
    got = {fault: made[request.request_id] for fault, request in by_fault.items()}
    assert got["too_long"].reason is not None and "maximum context length" in got["too_long"].reason
    assert (got["content_filter"].state, got["content_filter"].text) == ("refused", None)
    assert got["refusal"].reason == "I won't say."
    assert (got["empty_text"].state, got["empty_text"].text) == ("ok", "")
    assert (got["length"].state, got["length"].text, got["length"].truncated) == ("ok", "", True)
    run(tmp_path, card(server.url), asked, retry=True)
    counts = server.get("/counts")
    assert counts["<<too_long:always>> single"] == 2  # failed: asked again, once a run and without another try
    assert all(counts[f"<<{fault}:always>> single"] == 1 for fault in faults[2:])


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (400, {"error": {"message": "Unknown: 'seed'.", "param": "seed", "code": "unknown_parameter"}}, "stop"),
        (400, [{"error": {"code": 400, "message": 'Unknown name "seed": Cannot find field.'}}], "stop"),
        (400, {"error": {"message": "seed: Extra inputs are not permitted", "type": "invalid_request_error"}}, "stop"),
        (422, {"detail": [{"loc": ["body", "seed"], "msg": "Input should be a valid integer"}]}, "stop"),
        (400, {"error": {"message": "too large: the context length is 4", "param": "max_tokens"}}, "too long"),
        (400, {"error": {"message": "Your input was flagged", "code": "content_filter"}}, "refused"),
        (400, {"error": {"message": "The image seeded trouble: invalid"}}, "failed"),
        (413, {"error": "Request Entity Too Large"}, "too long"),
        (429, {"error": {"message": "slow down"}}, "limited"),
        (529, {"error": {"message": "overloaded"}}, "again"),
        (402, {"error": {"message": "no credit"}}, "stop"),
    ],
)  # fmt: skip
def test_what_refusals_mean(status: int, body: Any, verdict: str) -> None:
    refusal = chat.read_refusal(status, json.dumps(body).encode())
    assert chat.judge(refusal, ["seed", "max_tokens"])[0] == verdict


FILTERED = ("refused", None, "content_filter")


@pytest.mark.parametrize(
    ("word", "said", "state", "text", "finish"),
    [
        *((word, {"content": "a"}, "ok", "a", "stop") for word in ("stop", "end_turn", "eos")),
        *((word, {"content": "a"}, "ok", "a", "length") for word in ("length", "MAX_TOKENS")),
        *((word, {"content": "a"}, "ok", "a", word) for word in ("Length of it", "tool_calls", None)),
        ("max_tokens", {"content": None}, "ok", "", "length"),
        *(("stop", {"content": None, name: "hm"}, "ok", "", "stop") for name in ("reasoning_content", "reasoning")),
        ("content_filter", {"content": "a"}, *FILTERED),
        *((word, {"content": None}, *FILTERED) for word in ("content_filter: SAFETY", "SAFETY")),
        ("refusal", {"content": "I'd rather"}, *FILTERED),
    ],
)
def test_why_an_answer_ended_is_said_in_one_vocabulary(
    word: str | None, said: dict[str, Any], state: str, text: str | None, finish: str | None
) -> None:
    reply = chat.read_reply(json.dumps({"choices": [{"message": said, "finish_reason": word}]}).encode())
    assert (reply.state, reply.text, reply.finish_reason) == (state, text, finish)
    thoughts = said.get("reasoning_content") or said.get("reasoning")
    assert reply.reasoning == (thoughts or msgspec.UNSET)


def test_thoughts_have_room_beside_the_answer() -> None:
    plain, asked = card(None), many(1, "room")
    thinking = msgspec.structs.replace(plain, thinking_tokens=1000)
    own = msgspec.structs.replace(thinking, sampling={"max_tokens": 9})
    limits = [load(of, 0).parameters(asked[0])["max_tokens"] for of in (plain, thinking, own)]
    assert limits == [64, 1064, 1009]
    assert "max_tokens" not in load(msgspec.structs.replace(own, sampling={"max_tokens": None}), 0).parameters(asked[0])
    assert ModelCard(**thinking.asked() | {"papers": {}}).thinking_tokens == 1000


def test_answers_in_parts_and_hostile_bodies() -> None:
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    body = {"choices": [{"message": {"content": parts}, "finish_reason": 3}], "usage": {"prompt_tokens": "many"}}
    reply = chat.read_reply(json.dumps(body).encode())
    assert (reply.text, reply.finish_reason, reply.usage.prompt) == ("ab", None, None)
    for hostile in (b"[]", b"null", b"3", b'{"choices": [null]}', b'{"choices": {}}', b"\xff", b"[" * 100_000):
        with pytest.raises(chat.Unusable):
            chat.read_reply(hostile)


# Kills


def test_a_server_that_dies_and_comes_back_in_the_middle_of_a_run(tmp_path: Path) -> None:
    served = Served()
    served.script(latency=0.05)
    asked = many(200, "phoenix")
    back: list[Served] = []

    def restart() -> None:
        while len(served.get("/counts")) < 60:
            time.sleep(0.02)
        served.kill()
        time.sleep(0.5)
        back.append(Served(served.port))

    thread = threading.Thread(target=restart)
    thread.start()
    try:
        of = card(served.url, concurrency=8, attempts=10, backoff={"first": 0.05, "most": 0.5})
        assert_completes(tmp_path, of, asked)
        assert len(back[0].get("/counts")) >= 100  # the second server did its part
    finally:
        thread.join()
        for each in (served, *back):
            each.kill()


def test_leaving_early_ends_the_calls_in_flight(server: Served) -> None:
    server.script(latency=0.1)
    threads = threading.active_count()
    engine = load(card(server.url, concurrency=8), 0)
    answers = engine.answer(many(100, "leave"), {}, "key")
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads
    calls = server.get("/state")["calls"]
    time.sleep(0.3)
    assert server.get("/state")["calls"] == calls


def test_ctrl_c_ends_a_run_and_the_next_one_completes_it(server: Served, tmp_path: Path) -> None:
    server.script(latency=0.1)
    before = server.get("/state")["calls"]
    process = another_process(server.url, tmp_path, 100, "interrupted", concurrency=4)
    while not (tmp_path / "m.jsonl").exists() or (tmp_path / "m.jsonl").stat().st_size < 2000:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode != 0 and "KeyboardInterrupt" in errors and "Ctrl-C again drops them" in errors
    assert "never retrieved" not in errors and "Unclosed" not in errors
    calls = server.get("/state")["calls"]
    time.sleep(0.3)
    assert server.get("/state")["calls"] == calls
    assert 0 < len(journal(tmp_path)) == calls - before < 100  # those under way were waited for
    server.script()
    assert_completes(tmp_path, card(server.url), many(100, "interrupted"))
    assert server.get("/state")["calls"] - before == 100


def test_a_slow_reader_holds_the_calls_back(server: Served) -> None:
    answers = load(card(server.url, concurrency=4), 0).answer(many(500, "slow reader"), {}, "key")
    before = server.get("/state")["calls"]
    next(answers)
    time.sleep(0.5)
    assert server.get("/state")["calls"] - before < 60
    assert sum(1 for _ in answers) == 499


# Keys


@pytest.mark.parametrize("fault", ["401", "echo_key", "answer_key", "refused_key"])
def test_the_key_is_written_nowhere(
    fault: str, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any, caplog: Any
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv(VARIABLE, KEY)
    server.script(key="another" if fault == "refused_key" else KEY)
    asked = requests(*(f"<<{fault}:always>> key {n}" for n in range(3)))
    said = ""
    try:
        run(tmp_path, card(server.url, api_key_env=VARIABLE), asked)
    except PunchlineError as error:
        assert VARIABLE in str(error)
        said = "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error.__context__)
    out, err = capfd.readouterr()
    written = [path.read_bytes().decode(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    for place in (out, err, said, caplog.text, *written):
        assert not any(KEY[n : n + 8] in place for n in range(len(KEY) - 8))
    if fault in ("echo_key", "answer_key"):
        assert any("[key]" in place for place in written)


def test_redaction_takes_out_parts_of_a_key_and_nothing_else() -> None:
    assert chat.redacted(f"a {KEY} b {KEY[4:20]} c {KEY[:5]} d", KEY) == f"a [key] b [key] c {KEY[:5]} d"
    assert chat.redacted("plain words", KEY) == "plain words"
    assert chat.redacted("anything", None) == "anything"
    assert chat.redacted("EMPTY is empty", "EMPTY") == "EMPTY is empty"  # a placeholder, no secret


def test_a_missing_key_is_named_and_a_key_in_the_yaml_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    engine = load(card(None), 0)
    assert engine.unavailable() == "the environment variable OPENAI_API_KEY holds no API key"
    with pytest.raises(PunchlineError, match="OPENAI_API_KEY"):
        next(iter(engine.answer(many(1, "x"), {}, "key")))
    addresses = [{"base_url": address} for address in (f"https://user:{KEY}@host/v1", f"https://host/v1?key={KEY}")]
    for options in ({"api_key_env": KEY}, {"concurrency": KEY}, {"api_key": KEY}, *addresses):
        with pytest.raises(PunchlineError) as caught:
            load(card(None, **options), 0)
        assert KEY not in str(caught.value)
    assert load(card(None, base_url="http://127.0.0.1:1/v1"), 0).unavailable() is None


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    reason = load(card(None, base_url="http://127.0.0.1:1/v1"), 0).unavailable()
    assert reason is not None and "the package openai is not installed" in reason


# Batch mode


BATCH = {"batch": True, "batch_poll": 0.05}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pending(folder: Path) -> list[Any]:
    return json.loads((folder / batch.FOLDER / "m.json").read_bytes())["batches"]  # type: ignore[no-any-return]


def test_a_batch_answers_every_request(here: Path) -> None:
    """The request that failed, in the error file, is in another batch at a retry."""
    provider, asked = Provider(), many(5, "batch")
    bad = {"status_code": 400, "request_id": "r", "body": {"error": {"message": "no: bad"}}}

    def with_errors(batch: dict[str, Any]) -> dict[str, Any]:
        done = [json.loads(line) for line in provider.files[batch["output_file_id"]].splitlines()]
        provider.files["errors"] = json.dumps({**done[0], "response": bad}).encode()
        provider.files["done"] = b"\n".join(json.dumps(line).encode() for line in done[1:])
        return {**batch, "output_file_id": "done", "error_file_id": "errors"}

    provider.change = {"look": with_errors}
    with scripted(provider) as server:
        of = card(server.url, **BATCH)
        assert run(here, of, asked) == {"ok": 4, "failed": 1}
        (failed,) = [r for r in journal(here) if r.state == "failed"]
        assert (failed.reason, failed.request_id) == ("HTTP 400: no: bad", asked[0].request_id)
        assert pending(here) == []
        provider.change = {}
        assert run(here, of, asked, retry=True) == {"ok": 5}
    assert Counter(provider.asked) == Counter([request.request_id for request in (*asked, asked[0])])
    assert all(r.effective.get("batch") is True for r in journal(here))


def test_a_run_killed_while_a_batch_runs_picks_it_up(here: Path) -> None:
    provider = Provider({"look": lambda batch: {**batch, "status": "in_progress"}})
    with scripted(provider) as server:
        process = another_process(server.url, here, 10, "picked up", **BATCH)
        while not (here / batch.FOLDER / "m.json").exists() or pending(here)[0]["id"] is None:
            time.sleep(0.02)
        process.kill()
        process.communicate()
        assert not journal(here)
        provider.change = {}
        asked = many(12, "picked up")
        assert run(here, card(server.url, **BATCH), asked) == {"ok": 12}
    assert Counter(provider.asked) == Counter(request.request_id for request in asked)
    assert pending(here) == []


def test_a_batch_whose_creation_got_no_reply_is_found_and_not_made_twice(here: Path) -> None:
    provider = Provider({"create": to(lambda call: setattr(call, "close_connection", True))})
    with scripted(provider) as server:
        assert run(here, card(server.url, **BATCH), many(5, "lost reply")) == {"ok": 5}
    assert len(provider.batches) == 1 and len(provider.asked) == 5


def test_a_batch_in_which_everything_fails_is_an_error(here: Path) -> None:
    provider, asked = Provider({"content": to(b"")}), many(5, "all bad")
    with scripted(provider) as server:
        assert "every request of batch" in error_of(here, card(server.url, **BATCH), asked)
        provider.change = {}
        assert run(here, card(server.url, **BATCH), asked) == {"ok": 5}
