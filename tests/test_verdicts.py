"""Verdicts of the engine openai on every reply in replies.yaml: whole, streamed, in a batch, over HTTP."""

import json
import re
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
from punchline.engines.openai import NO_TOKEN, calls
from punchline.engines.openai import engine as load
from punchline.engines.openai.refusals import Refusal, judge, read_refusal
from punchline.engines.openai.replies import Empty, ErrorReply, NoAnswer, Unusable, read_reply
from punchline.schema import ModelCard, Response

TABLE = yaml.safe_load((Path(__file__).parent / "replies.yaml").read_text(encoding="utf-8"))
SENT = ("seed", "max_tokens")
STATES = {"ok": "ok", "truncated": "ok", "refused": "refused"}  # of requests, by verdicts that concern one alone
STATES |= dict.fromkeys(("again", "empty", "failed", "too long"), "failed")


def ended(word: Any, **message: Any) -> dict[str, Any]:
    return completion(0, choices=[{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": word}])


def bodies() -> list[tuple[str, Any, str | None, str | None]]:
    """(verdict, body, part of its text or reason, reasoning) of every reply of HTTP 200."""
    rows: list[tuple[str, Any, str | None, str | None]] = []
    for verdict, words in TABLE["finish"].items():
        for word in words:
            expected = word and str(word) if verdict in ("failed", "again", "refused") else "whole"
            rows.append((verdict, ended(word, content="whole"), expected, None))
    for verdict, given, expected, *reasoning in TABLE["choices"]:
        body = completion(0, choices=[{"index": 0, "finish_reason": "stop", **given}])
        rows.append((verdict, body, expected, reasoning[0] if reasoning else None))
    return [*rows, *((*row, None) for row in TABLE["bodies"])]


BODIES: list[Any] = bodies()


def judged(refusal: Refusal) -> tuple[str, str]:
    judgement = judge(refusal, SENT)
    return judgement.cause or judgement.verdict, str(refusal)


def verdict_of(content: bytes, reasoning: str | None, streamed: bool = False) -> tuple[str, str]:
    """(verdict, the answer's text or the reason why there is none)."""
    try:
        reply = read_reply(content, streamed=streamed)
    except ErrorReply as error:
        return judged(error.refusal)
    except Unusable as error:
        return {NoAnswer: "failed", Empty: "empty"}.get(type(error), "again"), str(error)
    assert reasoning is None or reply.reasoning == reasoning
    is_cut = reply.finish_reason == "length"
    return "truncated" if is_cut else reply.state, str(reply.reason if reply.text is None else reply.text)


@pytest.mark.parametrize(("verdict", "body", "expected", "reasoning"), BODIES)
def test_a_reply_means_the_same_whole_and_streamed(verdict: str, body: Any, expected: Any, reasoning: Any) -> None:
    found, words = verdict_of(json.dumps(body).encode(), reasoning)
    assert (found, (expected or "") in words) == (verdict, True), words
    if isinstance(body, dict):
        choices = body.get("choices") if isinstance(body.get("choices"), list) else []
        deltas = [{**one, "delta": one.get("message")} for one in choices or [] if one]
        chunk = {**body, "choices": deltas} if "choices" in body else body
        stream = b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n"
        streamed, said = verdict_of(stream, reasoning, streamed=True)
        assert streamed == verdict, said
        assert verdict not in ("ok", "truncated", "refused") or said == words


@pytest.mark.parametrize(("verdict", "status", "body", "expected"), TABLE["errors"])
def test_what_errors_mean(verdict: str, status: int, body: Any, expected: str) -> None:
    found, words = judged(read_refusal(status, body.encode() if isinstance(body, str) else json.dumps(body).encode()))
    assert (found, expected in words) == (verdict, True), words


def test_a_wait_in_the_body_is_kept() -> None:
    for seconds, error in TABLE["waits"]:
        assert read_refusal(429, json.dumps({"error": error}).encode()).wait == seconds, error
    assert read_refusal(429, b"try again in 9s", {"retry-after": "1"}).wait == 1


ROWS = [(verdict, 200, body) for verdict, body, *_ in BODIES] + [(one[0], one[1], one[2]) for one in TABLE["errors"]]
OF_ONE = [row for row in ROWS if row[0] in STATES]


def texts(answers: list[Response]) -> Counter[tuple[str, str | None]]:
    return Counter((one.state, one.text) for one in answers)


def last_number(call: Call) -> int:
    """The number of a request of `many`."""
    return int(json.loads(call.body)["messages"][-1]["content"].split()[-1])


@pytest.mark.parametrize("batched", [False, True])
def test_a_run_goes_on_and_counts_each_state(batched: bool, here: Path) -> None:
    """Every row that concerns one request alone, over HTTP and as a line of a batch."""
    requests = many(len(OF_ONE), "row")
    of_request = dict(zip((one.request_id for one in requests), OF_ONE, strict=True))
    replies = [(name, {"status_code": status, "body": body}) for name, (_, status, body) in of_request.items()]
    output = "\n".join(json.dumps({"custom_id": name, "response": reply}) for name, reply in replies)
    provider = Provider({"look": lambda batch: {**batch, "output_file_id": "out"}})
    provider.files["out"] = output.encode()

    def answer(call: Call) -> None:
        _, status, body = OF_ONE[last_number(call)]
        call.send(body.encode(), status) if isinstance(body, str) else call.json(body, status)

    with scripted(provider if batched else answer) as server:
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
        together.wait(10)
        if last_number(call) == 0:
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
    options = {"id": "a/b", "revision": "0" * 40, "base_url": "http://h/v1"}
    cards = {404: card(None), 401: ModelCard(name="m", engine="vllm", options=options)}
    words = ("field id: the server has no m .* Check `id`, and that the key in OPENAI_API_KEY may use the model",)
    words += ("field base_url: .*No key is sent by engine vllm",)
    for (status, of), said in zip(cards.items(), words, strict=True):
        refusal = read_refusal(status, b'{"detail": "nothing"}')
        engine: Any = engines.load(of, 0)
        assert re.search(said, str(engine.stopped(refusal, judge(refusal, SENT))))


def test_calls_that_hang_do_not_hold_up_a_stop(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LAST_S", 0.1)
    over = threading.Event()
    with scripted(lambda call: over.wait(30) if last_number(call) else call.json({}, 401)) as server:  # type: ignore[func-returns-value, arg-type, return-value]
        assert "does not let m be asked" in error_of(here, card(server.url, concurrency=4), many(12, "hang"))
        assert not over.is_set() and len(server.calls) <= 4 and not journal(here)
        over.set()


def test_a_word_that_the_card_lists_is_a_finish_and_part_of_the_key(here: Path) -> None:
    with scripted(lambda call: call.json(ended("zebra", content="a"))) as server:
        assert run(here, card(server.url), many(1, "zebra")) == {"failed": 1} and len(server.calls) == 1
        of = card(server.url, finished_as=["zebra"])
        assert run(here, of, many(1, "zebra")) == {"ok": 1}
    assert [one.finish_reason for one in journal(here)] == [None, "stop"]
    assert "finished_as" in load(of, 0).identity() and "finished_as" not in load(card(server.url), 0).identity()


def test_what_may_pass_is_asked_again_and_a_moderated_input_is_not(here: Path) -> None:
    """Moderation counts for no breaker: five refusals in a row, and a breaker of two."""
    flagged = {"error": {"message": "flagged", "metadata": {"reasons": ["hate"]}}}
    rpd = {"error": {"message": "Rate limit reached on requests per day (RPD). Please try again in 0.05s."}}
    passing = [(403, flagged)] * 5 + [(200, ended("abort", content="half")), (429, rpd), (200, {"choices": []})]
    seen = Counter[int]()

    def answer(call: Call) -> None:
        number = last_number(call)
        seen[number] += 1
        status, body = passing[min(number, len(passing) - 1)]
        call.json(completion("whole"), 200) if seen[number] == 2 and number < 8 else call.json(body, status)

    with scripted(answer) as server:
        found = run(here, card(server.url, concurrency=1, breaker=2), many(9, "mixed"))
    assert found == {"refused": 5, "ok": 3, "failed": 1} and [*seen.values()] == [1] * 5 + [2] * 4
    assert {one.reason for one in journal(here)} >= {"HTTP 403: flagged (hate)", None}
    assert [one.reason for one in journal(here) if one.state == "failed"] == [
        "HTTP 200: no answer in the body (2 tries)"
    ]


WRONG_KEY = {"status_code": 401, "body": {"error": {"message": "bad"}}}
NO_CREDIT = {"status_code": 429, "body": {"error": {"code": "insufficient_quota", "message": "bad"}}}


@pytest.mark.parametrize(
    ("line", "said", "kept"),
    [
        ({"response": {"status_code": 200, "body": completion("yes", model="other")}}, "answered as 'other'", 1),
        ({"response": WRONG_KEY}, f"field api_key_env: .* environment variable {VARIABLE}", 0),
        ({"response": NO_CREDIT}, f"the account of {VARIABLE} can pay for no more", 0),
        ({"error": {"code": "model_not_found", "message": "bad"}}, "does not know the model m", 0),
    ],
)
def test_a_line_of_a_batch_that_ends_the_run_loses_no_other_answer(
    line: Any, said: str, kept: int, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer of another model stays in the batch for a corrected card; what was refused is asked again."""
    monkeypatch.setenv(VARIABLE, KEY)
    provider = Provider()

    def another(batch: dict[str, Any]) -> dict[str, Any]:
        first, *rest = provider.files[batch["output_file_id"]].splitlines()
        first = json.dumps({"custom_id": json.loads(first)["custom_id"], **line}).encode()
        provider.files["out"] = b"\n".join([first, *rest])
        return {**batch, "output_file_id": "out"}

    provider.change = {"look": another}
    with scripted(provider) as server:
        of = card(server.url, **BATCH, api_key_env=VARIABLE)
        words = error_of(here, of, many(5, "batch"))
        assert re.search(said, words) and texts(journal(here)) == {("ok", "yes"): 4}, words
        assert sum(len(one["requests"]) for one in pending(here)) == kept
        provider.change = {}
        assert run(here, of, many(5, "batch")) == {"ok": 5}
    assert len(provider.asked) == 6 - kept


@pytest.mark.parametrize("tokens", [2048, 4096, 100, 4095, 0])
def test_a_prompt_that_fills_a_context_or_gets_no_token_is_noted_once(tokens: int, here: Path, capfd: Any) -> None:
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens}
    with scripted(lambda call: call.json(completion("a" if tokens else "", usage=usage))) as server:
        of = msgspec.structs.replace(card(server.url), context=100)
        assert run(here, of, many(3, "cut")) == {"ok": 3}
    output = capfd.readouterr()
    said = f"exactly {tokens:,} prompt tokens" if tokens else "wrote no token"
    assert (output.out + output.err).count(said) == (tokens != 4095)
    assert {one.reason for one in journal(here)} == {None if tokens else NO_TOKEN}
