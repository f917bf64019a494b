"""Batch mode against a provider that breaks its protocol: states or one error, in bounded time, no traceback."""

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.batches import Change, Provider, to
from tests.servers.runs import BATCH, card, here, journal, many, pending, run
from tests.servers.scripted import Call, completion, scripted

from punchline.engines.openai import batch as batches
from punchline.errors import PunchlineError

__all__ = ["here"]

QUICK = {**BATCH, "attempts": 2, "backoff": {"first": 0.01, "most": 0.02}, "batch_wait": 1.0}


def outcome(change: dict[str, Change], folder: Path, *, retry: bool = False, **options: Any) -> dict[str, int] | str:
    """States of four requests, or the error; in less than ten seconds."""
    began = time.monotonic()
    with scripted(Provider(change)) as server:
        try:
            return run(folder, card(server.url, **(QUICK | options)), many(4, "b"), retry=retry)
        except PunchlineError as error:
            return str(error)
        finally:
            assert time.monotonic() - began < 10


def put(**values: Any) -> Change:
    return lambda reply: {**reply, **values}


def without(*names: str) -> Change:
    return lambda reply: {k: v for k, v in reply.items() if k not in names}


def lines(change: Callable[[list[dict[str, Any]]], Any]) -> Change:
    def changed(content: bytes) -> bytes:
        result = change([json.loads(line) for line in content.splitlines()])
        return result if isinstance(result, bytes) else b"".join(json.dumps(line).encode() + b"\n" for line in result)

    return changed


def first(**values: Any) -> Change:
    return lines(lambda of: [{**of[0], **values}, *of[1:]])


NESTED = b"[" * 100_000
UNREADABLE: list[dict[str, Any]] = [
    {"status_code": "200", "body": completion("x")},
    {"status_code": 10**30, "body": None},
    {"status_code": 200, "body": None},
    {"status_code": 200, "body": {"choices": [7]}},
    {"status_code": 400, "body": {"error": ["x"]}},
    {"status_code": 200, "request_id": 7, "body": completion("x" * 20_000_000)},
]


@pytest.mark.parametrize("what", ["upload", "create", "look", "list"])
@pytest.mark.parametrize(
    "reply",
    [
        *(None, [], "text", 7, {}, b"", b"not JSON", NESTED, b"\xff\xfe", {"data": 7}),
        *({"id": None}, {"id": 7}, {"id": ""}, {"id": "../../files"}, {"id": "a b\n"}),
        {"data": [None, 7, {"metadata": 7}, {"metadata": {"punchline": 7}}]},
    ],
    ids=lambda value: repr(value)[:30],
)
def test_no_reply_of_the_api_ends_in_a_traceback(what: str, reply: Any, here: Path) -> None:
    output = outcome({what: to(reply)}, here)
    if what == "list" or (what == "create" and isinstance(output, dict)):
        assert isinstance(output, str) or output == {"ok": 4}
    else:
        assert isinstance(output, str) and "batch" in output, output


ODD = [None, 7, [], {}, {"data": 7}, {"data": [None, 7, {}, {"message": ["x"]}]}, "words"]


@pytest.mark.parametrize(
    ("change", "words", "left"),
    [
        *(
            ({"look": put(status=status)}, "has not ended after 1 s", 1)
            for status in ("in_progress", "validating", "a new one", None, 7, "", "COMPLETED", ["completed"])
        ),
        *(
            ({"look": put(status=status, errors=errors, output_file_id=None)}, f"({status})", 0)
            for errors in ODD
            for status in ("failed", "cancelled")
        ),
        *(({"content": to(content)}, "every request of batch", 0) for content in (b"", b"\n", NESTED, b"\0" * 1000)),
    ],
)
def test_a_batch_without_answers_is_one_error(change: dict[str, Change], words: str, left: int, here: Path) -> None:
    output = outcome(change, here, batch_poll=0.1)
    assert isinstance(output, str) and words in output and ("it is kept" in output) is bool(left)
    assert len(pending(here)) == left


def test_a_batch_that_the_provider_forgot_is_asked_anew(here: Path) -> None:
    lost = {"look": to(lambda call: call.json({"error": {"message": "No such batch"}}, 404))}
    output = outcome(lost, here)
    assert isinstance(output, str) and "does not know" in output
    assert pending(here) == []
    assert outcome({}, here) == {"ok": 4}


@pytest.mark.parametrize(
    ("change", "states"),
    [
        (lines(lambda of: of[1:]), {"ok": 3, "failed": 1}),
        (lines(lambda of: [*of, *of]), {"ok": 4}),
        (lines(lambda of: [*of, {**of[0], "custom_id": "somebody else's"}]), {"ok": 4}),
        (lines(lambda of: [*of, {**of[0], "response": None, "error": {"message": "late"}}]), {"ok": 3, "failed": 1}),
        (lines(lambda of: list(reversed(of))), {"ok": 4}),
        (lambda content: b"\n\n" + content.replace(b"\n", b"\r\n"), {"ok": 4}),
        (lambda content: content.rstrip(b"\n"), {"ok": 4}),
        (lambda content: content[:-10], {"ok": 3, "failed": 1}),
        (lambda content: b"\xef\xbb\xbf" + content, {"ok": 4}),
        (lambda content: NESTED + b"\n" + content, {"ok": 4}),
        (lambda content: b"9" * 10_000 + b"\n" + content, {"ok": 4}),
        (lambda content: b"null\n7\n[]\n{}\n" + content, {"ok": 4}),
        *((first(custom_id=name), {"ok": 3, "failed": 1}) for name in (None, ["x"])),
        *((first(response=reply), {"ok": 3, "failed": 1}) for reply in (None, 7, {}, *UNREADABLE)),
        *((first(response=None, error=error), {"ok": 3, "failed": 1}) for error in (["x"], {"message": {"a": 1}})),
    ],
)
def test_lines_of_a_batch_that_cannot_be_read_are_counted(change: Change, states: dict[str, int], here: Path) -> None:
    assert outcome({"content": change}, here) == states
    assert pending(here) == []
    assert all(r.reason for r in journal(here) if r.state == "failed")


@pytest.mark.parametrize("field", ["output_file_id", "error_file_id"])
@pytest.mark.parametrize("value", [7, [], {}, "", "../batches", "a b"])
def test_a_file_that_has_no_name(field: str, value: Any, here: Path) -> None:
    output = outcome({"look": put(**{field: value})}, here)
    assert output == {"ok": 4} if field == "error_file_id" else isinstance(output, str)


def test_two_different_answers_to_one_request_are_none(here: Path) -> None:
    def twice(of: list[dict[str, Any]]) -> list[dict[str, Any]]:
        other = {**of[0], "response": {"status_code": 200, "request_id": "r", "body": completion("no")}}
        return [*of, other]

    assert outcome({"content": lines(twice)}, here) == {"ok": 3, "failed": 1}
    (failed,) = [r for r in journal(here) if r.state == "failed"]
    assert failed.reason == "the batch has two different answers to it"


def test_a_list_without_end_is_left(here: Path) -> None:
    numbers = iter(range(10**6))

    def more(reply: Any) -> Any:
        return {"data": [{"id": f"b{next(numbers)}", "metadata": {}} for _ in range(100)], "has_more": True}

    output = outcome({"list": more}, here)
    assert output == {"ok": 4} or isinstance(output, str)
    assert next(numbers) < 100 * batches.MOST_PAGES * 10
    assert outcome({"list": put(data=[{"id": "same"}], has_more=True)}, here) == {"ok": 4}


@pytest.mark.parametrize("what", ["upload", "create", "look", "list", "content"])
def test_a_reply_that_never_ends_has_a_deadline(what: str, here: Path) -> None:
    def drip(call: Call) -> None:
        def blocks() -> Iterator[bytes]:
            for _ in range(400):
                time.sleep(0.02)
                yield b" "

        call.chunks(blocks())

    output = outcome({what: to(drip)}, here, timeouts={"connect": 1, "read": 1, "total": 0.4})
    if what == "create":  # the next try finds that it was made
        assert output == {"ok": 4}
    else:
        assert isinstance(output, str) and "batch API gave no answer" in output


@pytest.mark.parametrize("seed", range(12))
def test_random_damage(seed: int, here: Path) -> None:
    """One field or one byte of some replies is another: states or one error, and a retry completes it."""
    dice = random.Random(seed)
    values: list[Any] = [None, 7, -1, "", "x", [], {}, [None], True, 1e308, "completed", "in_progress", {"id": 1}]

    def damage(reply: Any) -> Any:
        if dice.random() < 0.5:
            return reply
        if isinstance(reply, bytes):
            spoilt = bytearray(reply)
            for _ in range(dice.randrange(1, 6)):
                if spoilt:
                    spoilt[dice.randrange(len(spoilt))] = dice.randrange(256)
            return bytes(spoilt)
        spoilt = dict(reply)
        for _ in range(dice.randrange(1, 3)):
            spoilt[dice.choice([*spoilt, "has_more", "data"])] = dice.choice(values)
        return spoilt

    for attempt in range(3):
        output = outcome(dict.fromkeys(("upload", "create", "look", "list", "content"), damage), here, batch_poll=0.1)
        assert isinstance(output, str) or set(output) <= {"ok", "failed", "refused"}, attempt
    (here / batches.FOLDER / "m.json").unlink(missing_ok=True)
    assert outcome({}, here, retry=True) == {"ok": 4}


@pytest.mark.parametrize(
    "content", [b"[]", b"7", b'{"batches": 7}', b"\xff", NESTED, b'{"batches": [{"mark": "a"}]}', b""]
)
def test_a_state_file_that_is_none_is_named(content: bytes, here: Path) -> None:
    (here / batches.FOLDER).mkdir(parents=True)
    (here / batches.FOLDER / "m.json").write_bytes(content)
    output = outcome({}, here)
    assert isinstance(output, str) and "m.json" in output and "Delete it" in output
