"""What the engine openai makes of every reply in replies.yaml: whole, streamed, in a batch, over HTTP."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.servers.batches import Provider
from tests.servers.runs import BATCH, card, journal, many, run
from tests.servers.scripted import Call, completion, scripted

from punchline.engines.openai.refusals import Refusal, judge, read_refusal
from punchline.engines.openai.replies import ErrorReply, NoAnswer, Reply, Unusable, read_reply
from punchline.schema import Response

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
        return "failed" if isinstance(error, NoAnswer) else "again", str(error)
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
STATES["too long"] = "failed"
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
