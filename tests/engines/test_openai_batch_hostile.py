"""Batch mode against a provider that breaks its protocol: states or one error, in an end, no traceback."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.servers.batches import Change, Provider, to
from tests.servers.runs import BATCH, card, journal, many, pending, run
from tests.servers.scripted import completion, drip, scripted

from punchline.engines.openai import batch as batches
from punchline.errors import PunchlineError

pytestmark = pytest.mark.timeout(120)  # a reply never makes a run wait for ever
QUICK = {**BATCH, "attempts": 2, "backoff": {"first": 0.01, "most": 0.02}, "batch_wait": 1.0}
BRIEF = {"connect": 1, "read": 1, "total": 0.4}


def outcome(change: dict[str, Change], folder: Path, **options: Any) -> dict[str, int] | str:
    """States of four requests, or the error."""
    with scripted(Provider(change)) as server:
        try:
            return run(folder, card(server.url, **(QUICK | options)), many(4, "b"))
        except PunchlineError as error:
            return str(error)


def put(**values: Any) -> Change:
    return lambda reply: {**reply, **values}


def lines(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Change:
    """Change the lines of an output file."""

    def changed(content: bytes) -> bytes:
        result = change([json.loads(line) for line in content.splitlines()])
        return b"".join(json.dumps(line).encode() + b"\n" for line in result)

    return changed


def first(**values: Any) -> Change:
    return lines(lambda of: [{**of[0], **values}, *of[1:]])


def pages() -> Change:
    """A list without end."""
    numbers = itertools.count()
    return lambda _: {"data": [{"id": f"b{next(numbers)}", "metadata": {}} for _ in range(100)], "has_more": True}


NESTED = b"[" * 100_000


@pytest.mark.parametrize("what", ["upload", "create", "look", "list"])
@pytest.mark.parametrize("reply", [None, [], {}, b"not JSON", NESTED, drip])
def test_no_reply_of_the_api_ends_in_a_traceback(what: str, reply: Any, here: Path) -> None:
    """A batch whose creation got no reply is found; a list that says nothing finds none."""
    output = outcome({what: to(reply)}, here, timeouts=BRIEF)
    if isinstance(output, str):
        assert "batch" in output
    else:
        assert output == {"ok": 4} and what in ("create", "list")


@pytest.mark.parametrize(
    ("change", "words", "left"),
    [
        *(({"look": put(status=status)}, "has not ended after 1 s", 1) for status in ("in_progress", None)),
        *(({"look": put(status=one, output_file_id=None)}, f"({one})", 0) for one in ("failed", "cancelled")),
        ({"look": to(lambda call: call.json({"error": {"message": "No such batch"}}, 404))}, "does not know", 0),
        ({"look": put(output_file_id=None)}, "every request of batch", 0),
        *(({"content": to(content)}, "every request of batch", 0) for content in (b"", NESTED)),
        ({"list": pages()}, "batch API gave no answer", 1),
    ],
)
def test_a_batch_without_answers_is_one_error(change: dict[str, Change], words: str, left: int, here: Path) -> None:
    output = outcome(change, here, batch_poll=0.1, timeouts=BRIEF)
    assert isinstance(output, str) and words in output
    assert len(pending(here)) == left
    assert outcome({}, here) == {"ok": 4} or left  # what is left is asked anew, or waited for


REPLIES: list[Any] = [
    *(None, {"status_code": 200, "body": {"choices": [7]}}, {"status_code": 400, "body": {"error": ["x"]}}),
    {"status_code": 200, "body": completion("x" * 20_000_000)},
]


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        (lines(lambda of: of[1:]), "no answer in the batch"),
        (lambda content: content[:-10], "no answer in the batch"),
        (first(custom_id=None), "no answer in the batch"),
        *((first(response=reply), "") for reply in REPLIES),
        (first(response=None, error={"message": "late"}), "late"),
        (lines(lambda of: [*of, *of, {**of[0], "custom_id": "somebody else's"}]), None),
        (lambda content: b"\n\nnull\n7\n[]\n{}\n" + NESTED + b"\n" + content.replace(b"\n", b"\r\n").rstrip(), None),
    ],
)
def test_lines_of_a_batch_that_cannot_be_read_are_counted(change: Change, failed: str | None, here: Path) -> None:
    assert outcome({"content": change}, here) == ({"ok": 4} if failed is None else {"ok": 3, "failed": 1})
    assert pending(here) == []
    reasons = [str(r.reason) for r in journal(here) if r.state == "failed"]
    assert all(reason and str(failed) in reason for reason in reasons)


@pytest.mark.parametrize("content", [b'{"batches": 7}', b"\xff", NESTED, b""])
def test_a_state_file_that_is_none_is_named(content: bytes, here: Path) -> None:
    (here / batches.FOLDER).mkdir(parents=True)
    (here / batches.FOLDER / "m.json").write_bytes(content)
    output = outcome({}, here)
    assert isinstance(output, str) and "m.json" in output and "Delete it" in output
