"""Verdicts of the engine openai on every reply in replies.yaml: whole, streamed, in a batch, over HTTP."""

import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.servers.batches import Provider
from tests.servers.runs import BATCH, KEY, VARIABLE, card, error_of, journal, many, pending, run
from tests.servers.scripted import Call, completion, scripted

from punchline.core import engine as engines
from punchline.engines.openai import calls
from punchline.engines.openai import engine as load
from punchline.engines.openai.refusals import Refusal, judge, read_refusal
from punchline.engines.openai.replies import Empty, ErrorReply, NoAnswer, Reply, Unusable, read_reply
from punchline.errors import PunchlineError
from punchline.schema import ModelCard, Response

TABLE = yaml.safe_load((Path(__file__).parent / "replies.yaml").read_text(encoding="utf-8"))
SENT = ("seed", "max_tokens")


def bodies() -> list[tuple[str, Any, str | None]]:
    """(verdict, body, part of its text or reason) of every reply of HTTP 200."""
    rows: list[tuple[str, Any, str | None]] = []
    for verdict, words in TABLE["finish"].items():
        for word in words:
            expected = word and str(word) if verdict in ("failed", "again", "refused") else "whole"
            rows.append((verdict, completion(0, choices=[choice("whole", word)]), expected))
    for verdict, given, expected, *_ in TABLE["choices"]:
        rows.append((verdict, completion(0, choices=[{"index": 0, "finish_reason": "stop", **given}]), expected))
    return [*rows, *map(tuple, TABLE["bodies"])]


def choice(text: str, word: Any) -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": word}


BODIES: list[Any] = bodies()


def judged(refusal: Refusal) -> tuple[str, str]:
    judgement = judge(refusal, SENT)
    return judgement.cause or judgement.verdict, str(refusal)


def verdict_of(content: bytes, streamed: bool = False) -> tuple[str, str]:
    """(verdict, the answer's text or the reason why there is none)."""
    try:
        reply: Reply = read_reply(content, streamed=streamed)
    except ErrorReply as error:
        return judged(error.refusal)
    except Unusable as error:
        return {NoAnswer: "failed", Empty: "empty"}.get(type(error), "again"), str(error)
    is_cut = reply.finish_reason == "length"
    return "truncated" if is_cut else reply.state, reply.reason if reply.text is None else reply.text  # type: ignore[return-value]


@pytest.mark.parametrize(("verdict", "body", "expected"), BODIES)
def test_a_reply_means_the_same_whole_and_streamed(verdict: str, body: Any, expected: str | None) -> None:
    found, words = verdict_of(json.dumps(body).encode())
    assert (found, (expected or "") in words) == (verdict, True), words
    if not isinstance(body, dict):
        return
    choices = body.get("choices") if isinstance(body.get("choices"), list) else []
    deltas = [{**one, "delta": one.get("message")} for one in choices or [] if one]
    chunk = {**body, "choices": deltas} if "choices" in body else body
    stream = b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n"
    streamed, said = verdict_of(stream, streamed=True)
    assert streamed == verdict, said
    assert verdict not in ("ok", "truncated", "refused") or said == words


@pytest.mark.parametrize(("verdict", "status", "body", "expected"), TABLE["errors"])
def test_what_errors_mean(verdict: str, status: int, body: Any, expected: str) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    found, words = judged(read_refusal(status, content.encode()))
    assert (found, expected in words) == (verdict, True), words


def test_reasoning_is_kept_apart() -> None:
    for _, given, text, *reasoning in TABLE["choices"]:
        if reasoning:
            body = completion(0, choices=[{"finish_reason": "stop", **given}])
            reply = read_reply(json.dumps(body).encode())
            assert (reply.text, reply.reasoning) == (text, reasoning[0])


STATES = {"truncated": "ok", "refused": "refused", "ok": "ok", "again": "failed", "failed": "failed"}
STATES |= {"too long": "failed", "empty": "failed"}
ROWS = [(verdict, 200, body) for verdict, body, _ in BODIES] + [(one[0], one[1], one[2]) for one in TABLE["errors"]]
OF_ONE = [row for row in ROWS if row[0] in STATES and row[1] != 308]


def texts(answers: list[Response]) -> Counter[tuple[str, str | None]]:
    return Counter((one.state, one.text) for one in answers)


@pytest.mark.parametrize("batched", [False, True])
def test_a_run_goes_on_and_counts_each_state(batched: bool, here: Path) -> None:
    """Every row that concerns one request alone, over HTTP and as a line of a batch."""
    requests = many(len(OF_ONE), "row")
    of_request = dict(zip((one.request_id for one in requests), OF_ONE, strict=True))
    provider = Provider()

    def lines(batch: dict[str, Any]) -> dict[str, Any]:
        output = []
        for name, (_, status, body) in of_request.items():
            output.append(json.dumps({"custom_id": name, "response": {"status_code": status, "body": body}}))
        provider.files["out"] = "\n".join(output).encode()
        return {**batch, "output_file_id": "out"}

    def answer(call: Call) -> None:
        if batched:
            provider(call)
            return
        number = int(json.loads(call.body)["messages"][-1]["content"].split()[-1])
        _, status, body = OF_ONE[number]
        call.send(body.encode(), status) if isinstance(body, str) else call.json(body, status)

    provider.change = {"look": lines}
    with scripted(answer) as server:
        options = BATCH if batched else {"attempts": 1, "breaker": 0}
        run(here, card(server.url, **options), requests)
    found = {one.request_id: one for one in journal(here)}
    assert {name: one.state for name, one in found.items()} == {k: STATES[row[0]] for k, row in of_request.items()}
    assert all(one.reason for one in found.values() if one.state == "refused")


@pytest.mark.parametrize(("options", "status", "error", "named", "absent"), TABLE["stops"])
def test_a_stop_names_what_the_card_uses_and_loses_no_answer(
    options: Any, status: int, error: Any, named: list[str], absent: str, here: Path, monkeypatch: Any
) -> None:
    """One of four calls in flight is refused at once; the others' answers come later and are journalled."""
    monkeypatch.setenv("KEYED", KEY)
    body = json.dumps({"error": error}).replace("RESET", str(int((time.time() + 7230) * 1000)))
    together = threading.Barrier(4)

    def answer(call: Call) -> None:
        text = json.loads(call.body)["messages"][-1]["content"]
        together.wait(10)
        if text == "stop 0":
            call.send(body.encode(), status)
        else:
            time.sleep(0.2)
            call.json(completion("late"))

    with scripted(answer) as server:
        words = error_of(here, card(server.url, concurrency=4, **options), many(12, "stop"))
        assert len(server.calls) == 4
    assert all(part in words for part in named) and absent not in words, words
    assert texts(journal(here)) == {("ok", "late"): 3}


def test_a_stop_names_openais_variable_only_where_its_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    refusal = read_refusal(404, b'{"detail": "nothing"}')
    with pytest.raises(PunchlineError, match=r"field id.*Check `id`, and that the key in OPENAI_API_KEY may use"):
        load(card(None), 0).stopped(refusal, judge(refusal, SENT))
    of_vllm = ModelCard(name="m", engine="vllm", options={"id": "a/b", "revision": "0" * 40, "base_url": "http://h/v1"})
    refusal = read_refusal(401, b"")
    with pytest.raises(PunchlineError, match=r"field base_url.*No key is sent by engine vllm"):
        engines.load(of_vllm, 0).stopped(refusal, judge(refusal, SENT))  # type: ignore[attr-defined]


def test_calls_that_hang_do_not_hold_up_a_stop(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LAST_S", 0.1)
    over = threading.Event()

    def answer(call: Call) -> None:
        if json.loads(call.body)["messages"][-1]["content"].endswith("0"):
            call.json({}, 401)
        else:
            over.wait(30)

    with scripted(answer) as server:
        assert "does not let m be asked" in error_of(here, card(server.url, concurrency=4), many(12, "hang"))
        assert not over.is_set() and len(server.calls) <= 4 and not journal(here)
        over.set()


def test_a_wait_in_the_body_is_kept() -> None:
    bodies = [{"details": [{"retryDelay": "2.5s"}]}, {"message": "try again in 1m2s"}, {"retry_after": 7}]
    bodies += [{"metadata": {"headers": {"Retry-After": "9"}}}, {"message": "Please retry in 36.25s."}, {}]
    waits = [read_refusal(429, json.dumps({"error": body}).encode()).wait for body in bodies]
    assert waits == [2.5, 62, 7, 9, 36.25, 0]
    assert read_refusal(429, b"try again in 9s", {"retry-after": "1"}).wait == 1


def test_a_word_that_the_card_lists_is_a_finish_and_part_of_the_key(here: Path) -> None:
    with scripted(lambda call: call.json(completion(0, choices=[choice("a", "zebra")]))) as server:
        assert run(here, card(server.url), many(1, "zebra")) == {"failed": 1} and len(server.calls) == 1
        of = card(server.url, finished_as=["zebra"])
        assert run(here, of, many(1, "zebra")) == {"ok": 1}
    assert [one.finish_reason for one in journal(here)] == [None, "stop"]
    assert "finished_as" in load(of, 0).identity() and "finished_as" not in load(card(server.url), 0).identity()


def test_an_interrupted_answer_is_asked_again_and_a_moderated_one_is_not(here: Path) -> None:
    """Moderation counts for no breaker: five refusals in a row, and a breaker of two."""
    seen = Counter[str]()

    def answer(call: Call) -> None:
        text = json.loads(call.body)["messages"][-1]["content"]
        seen[text] += 1
        if text.endswith("5"):
            call.json(
                completion(
                    0, choices=[choice("whole" if seen[text] > 1 else "half", "stop" if seen[text] > 1 else "abort")]
                )
            )
        else:
            call.json({"error": {"message": "flagged", "metadata": {"reasons": ["hate"]}}}, 403)

    with scripted(answer) as server:
        assert run(here, card(server.url, concurrency=1, breaker=2), many(6, "mixed")) == {"refused": 5, "ok": 1}
    assert sorted(seen.values()) == [1, 1, 1, 1, 1, 2]
    assert {one.reason for one in journal(here)} == {"HTTP 403: flagged (hate)", None}


def test_a_wrong_model_in_one_line_of_a_batch_loses_no_other_answer(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    provider = Provider()

    def another_model(batch: dict[str, Any]) -> dict[str, Any]:
        lines = provider.files[batch["output_file_id"]].split(b"\n")
        provider.files["out"] = b"\n".join([lines[0].replace(b'"model": "m"', b'"model": "other"'), *lines[1:]])
        return {**batch, "output_file_id": "out"}

    provider.change = {"look": another_model}
    with scripted(provider) as server:
        words = error_of(here, card(server.url, **BATCH, api_key_env=VARIABLE), many(5, "batch"))
    assert "answered as 'other'" in words and texts(journal(here)) == {("ok", "yes"): 4}
    assert len(pending(here)[0]["requests"]) == 1


@pytest.mark.parametrize("tokens", [2048, 4096, 100, 4095])
def test_a_prompt_that_fills_a_context_exactly_is_noted_once(tokens: int, here: Path, capfd: Any) -> None:
    usage = {"prompt_tokens": tokens, "completion_tokens": 1}
    with scripted(lambda call: call.json(completion("a", usage=usage))) as server:
        of = msgspec.structs.replace(card(server.url), context=100)
        assert run(here, of, many(3, "cut")) == {"ok": 3}
    output = capfd.readouterr()
    assert (output.out + output.err).count(f"exactly {tokens:,} prompt tokens") == (tokens != 4095)
