"""The openai engine: what is sent and kept, states of single requests, batches; nothing asked twice, nothing lost."""

import base64
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.servers import runs
from tests.servers.batches import Provider, to
from tests.servers.runs import (
    BATCH,
    KEY,
    VARIABLE,
    Served,
    card,
    expected,
    journal,
    many,
    pending,
    requests,
    run,
)
from tests.servers.scripted import Call, completion, scripted

from punchline.engines.openai import batch, chat
from punchline.engines.openai import engine as load
from punchline.engines.openai.replies import Unusable, read_reply
from punchline.schema import ModelCard, Usage, sha256

PNG = b"\x89PNG\r\n\x1a\n and so on"


def test_what_is_sent_and_all_that_is_known_of_an_answer(server: Served, tmp_path: Path) -> None:
    requests = many(1, "all")
    options = {"reasoning_effort": "low", "search": True, "thinking_budget": 512, "thinking_style": "gemini"}
    options |= {"max_tokens_field": "max_completion_tokens", "extra_body": {"verbosity": "low"}}
    of = card(server.url, {"seed": 7, "top_p": 0.5, "temperature": None}, **options)
    assert run(tmp_path, of, requests) == {"ok": 1}
    parameters = {"max_completion_tokens": 64, "seed": 7, "top_p": 0.5, "reasoning_effort": "low", "verbosity": "low"}
    nested = {"web_search_options": {}, "extra_body": {"google": {"thinking_config": {"thinking_budget": 512}}}}
    sent = server.get("/state")["bodies"][-1]
    assert {k: v for k, v in sent.items() if k != "messages"} == {"model": "m", **parameters, **nested}
    (answer,) = journal(tmp_path)
    assert (answer.text, answer.finish_reason) == (expected(requests[0]), "stop")
    assert answer.usage == Usage(prompt=100, completion=20, reasoning=7, cached=64)
    assert answer.latency_s is not None and answer.latency_s > 0
    assert answer.provider_id is not None and answer.provider_id.startswith("req-")
    said = {"model": "m", "system_fingerprint": "fp_1"}
    assert answer.effective == {**parameters, **said, **{name: json.dumps(value) for name, value in nested.items()}}


@pytest.mark.parametrize(("wanted", "batched"), [(False, False), (False, True), (True, False)])
def test_account_headers_go_where_the_card_says(wanted: bool, batched: bool, here: Path, monkeypatch: Any) -> None:
    account = {"openai-organization": "org", "openai-project": "project", "x-tenant": "mine"}
    custom = "X-Tenant: mine" if wanted else "X-Tenant: mine\nauthorization: Bearer another\ncontent-type: x/y\n\n:"
    names = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_CUSTOM_HEADERS", VARIABLE)
    for name, value in zip(names, ("org", "project", "admin", custom, KEY), strict=True):
        monkeypatch.setenv(name, value)
    options = {"account_headers": wanted, **(BATCH if batched else {})}
    with scripted(Provider()) as server:
        assert run(here, card(server.url, api_key_env=VARIABLE, **options), requests("who asks")) == {"ok": 1}
    headers = {name.lower(): value for name, value in server.calls[-1][2].items()}
    assert headers["authorization"] == f"Bearer {KEY}" and headers["user-agent"].startswith("AsyncOpenAI/Python ")
    assert batched or headers["content-type"] == "application/json"
    assert {name: headers[name] for name in account if name in headers} == (account if wanted else {})


@pytest.mark.parametrize("batched", [False, True])
def test_a_classic_azure_address(batched: bool, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call carries headers and parameters: upload, list, create, look and download of a batch, too."""
    secret = "tenant-Planted9Secret8Value"
    monkeypatch.setenv(VARIABLE, KEY)
    monkeypatch.setenv("TENANT", secret)
    options: dict[str, Any] = {"headers": {"HTTP-Referer": "https://h"}, "headers_env": {"x-tenant": "TENANT"}}
    options |= {"query": {"api-version": "2024-10-21"}, "key_header": "api-key", "api_key_env": VARIABLE}

    def answer(call: Call) -> None:
        call.json(completion(f"A, {secret}", model=secret) if len(server.calls) > 1 else {"error": secret}, 200)

    path = "/v1" if batched else "/openai/deployments/d"
    with scripted(Provider() if batched else answer) as server:
        options |= {"base_url": f"{server.url}{path}", "served_as": [secret], **(BATCH if batched else {})}
        of = card(None, **options)
        assert run(here, of, requests("who asks")) == {"ok": 1}
    assert len(server.calls) == (5 if batched else 2)
    for _, address, sent in server.calls:
        headers = {name.lower(): value for name, value in sent.items()}
        assert address.startswith(path) and "api-version=2024-10-21" in address.partition("?")[2].split("&")
        assert (headers["api-key"], headers["x-tenant"], headers["http-referer"]) == (KEY, secret, "https://h")
        assert "authorization" not in headers
    written = "".join(file.read_text(errors="replace") for file in here.rglob("*.json*") if file.is_file())
    assert secret not in written and KEY not in written
    monkeypatch.delenv("TENANT")
    assert load(of, 0).unavailable() == "the environment variable TENANT holds no value for the header x-tenant"


def test_the_system_prompt_in_the_users_turn(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    images = {sha256(PNG): tmp_path / "a.png"}
    for asked, kinds in (
        (requests("look", image=PNG, images=2)[0], ["image_url"] * 2 + ["text"]),
        (requests("b")[0], None),
    ):
        (message,) = load(card(None, system="user"), 0).body(asked, images, {})["messages"]
        assert message["role"] == "user"
        content = message["content"]
        assert kinds is None or [part["type"] for part in content] == kinds
        assert (content[-1]["text"] if kinds else content) == f"Be brief.\n\n{'look' if kinds else 'b'}"


@pytest.mark.parametrize("url", ["https://api.openai.com/v1", "https://api.openai.com.example/v1"])
def test_account_headers_by_host(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    headers = load(card(None, base_url=url), 0).client().default_headers
    assert isinstance(headers["OpenAI-Organization"], str) is (url == "https://api.openai.com/v1")


def test_the_other_shapes_of_a_thinking_budget() -> None:
    bodies = {
        "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 512}},
        "openrouter": {"reasoning": {"max_tokens": 512}},
        "qwen": {"enable_thinking": True, "thinking_budget": 512},
    }
    for style, body in bodies.items():
        assert load(card(None, thinking_budget=512, thinking_style=style), 0).constants() == body


def test_images_are_sent_unchanged_and_before_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    (asked,) = requests("look", image=PNG, images=3)
    parts = chat.messages(asked, {sha256(PNG): tmp_path / "a.png"})[1]["content"]
    assert [part["type"] for part in parts] == ["image_url"] * 3 + ["text"]
    assert parts[0]["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"


def test_media_types_come_from_the_bytes() -> None:
    kinds = {PNG: "png", b"\xff\xd8\xff\xe0": "jpeg", b"GIF89a": "gif", b"RIFF\0\0\0\0WEBPVP8 ": "webp", b"BM": "bmp"}
    assert [chat.media_type(start) for start in kinds] == [f"image/{kind}" for kind in kinds.values()]
    assert chat.media_type(b"RIFF\0\0\0\0WAVE") is chat.media_type(b"<svg/>") is None


def test_a_model_that_reads_no_or_fewer_images_is_not_asked() -> None:
    reasons = {"the model reads no images": {"modality": ("text",)}}
    reasons |= {"the model reads 1 images at once, not 2": {"images_per_prompt": 1}}
    for reason, fields in reasons.items():
        of = msgspec.structs.replace(card("http://nobody"), **fields)
        (answer,) = load(of, 0).answer(requests("look", image=PNG, images=2), {}, "k")
        assert (answer.state, answer.reason) == ("missing", reason)


def test_half_of_a_surrogate_pair_is_stored_as_a_replacement(tmp_path: Path) -> None:
    with scripted(lambda call: call.json(completion("half \ud83d", model="m\ud83d"))) as server:
        assert run(tmp_path, card(server.url), many(1, "half")) == {"ok": 1}
    (half,) = journal(tmp_path)
    assert (half.text, half.effective["model"]) == ("half \ufffd", "m")


def test_thoughts_have_room_beside_the_answer() -> None:
    plain, requests = card(None), many(1, "room")
    thinking = msgspec.structs.replace(plain, thinking_tokens=1000)
    own = msgspec.structs.replace(thinking, sampling={"max_tokens": 9})
    without = msgspec.structs.replace(own, sampling={"max_tokens": None})
    limits = [load(of, 0).parameters(requests[0]).get("max_tokens") for of in (plain, thinking, own, without)]
    assert limits == [64, 1064, 1009, None]
    assert ModelCard(**thinking.asked() | {"papers": {}}).thinking_tokens == 1000


@pytest.mark.parametrize("hostile", [b"", b"null", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_reply_is_unusable(hostile: bytes) -> None:
    with pytest.raises(Unusable):
        read_reply(hostile)


@pytest.mark.parametrize("number", [10**30, 2**63, -1, 1.5, True, "7", None, [1], 10**9 + 1])
def test_a_count_that_no_server_can_mean_is_none(number: Any) -> None:
    usage = {"prompt_tokens": number, "completion_tokens": number, "prompt_tokens_details": {"cached_tokens": number}}
    usage["completion_tokens_details"] = {"reasoning_tokens": number}
    assert read_reply(json.dumps(completion("a", usage=usage)).encode()).usage == Usage()


def test_a_batch_answers_every_request(here: Path) -> None:
    """The request that failed, in the error file, is in another batch at a retry."""
    provider, requests = Provider(), many(5, "batch")
    bad = {"status_code": 400, "request_id": "r", "body": {"error": {"message": "no: bad"}}}

    def with_errors(batch: dict[str, Any]) -> dict[str, Any]:
        done = [json.loads(line) for line in provider.files[batch["output_file_id"]].splitlines()]
        provider.files["errors"] = json.dumps({**done[0], "response": bad}).encode()
        provider.files["done"] = b"\n".join(json.dumps(line).encode() for line in done[1:])
        return {**batch, "output_file_id": "done", "error_file_id": "errors"}

    provider.change = {"look": with_errors}
    with scripted(provider) as server:
        of = card(server.url, **BATCH)
        assert run(here, of, requests) == {"ok": 4, "failed": 1}
        (failed,) = [r for r in journal(here) if r.state == "failed"]
        assert (failed.reason, failed.request_id) == ("HTTP 400: no: bad", requests[0].request_id)
        assert pending(here) == []
        provider.change = {}
        assert run(here, of, requests, retry=True) == {"ok": 5}
    assert Counter(provider.asked) == Counter([request.request_id for request in (*requests, requests[0])])
    assert all(r.effective.get("batch") is True for r in journal(here))


def test_a_run_killed_while_a_batch_runs_picks_it_up(here: Path) -> None:
    provider = Provider({"look": lambda batch: {**batch, "status": "in_progress"}})
    with scripted(provider) as server:
        process = runs.another_process(server.url, here, 10, "picked up", **BATCH)
        while not (here / batch.FOLDER / "m.json").exists() or pending(here)[0]["id"] is None:
            time.sleep(0.02)
        process.kill()
        process.communicate()
        assert not journal(here)
        provider.change = {}
        requests = many(12, "picked up")
        assert run(here, card(server.url, **BATCH), requests) == {"ok": 12}
    assert Counter(provider.asked) == Counter(request.request_id for request in requests)
    assert pending(here) == []


def test_a_batch_whose_creation_got_no_reply_is_found_and_not_made_twice(here: Path) -> None:
    provider = Provider({"create": to(lambda call: setattr(call, "close_connection", True))})
    with scripted(provider) as server:
        assert run(here, card(server.url, **BATCH), many(5, "lost reply")) == {"ok": 5}
    assert len(provider.batches) == 1 and len(provider.asked) == 5
