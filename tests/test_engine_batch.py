"""Batch mode of the openai engine: every request answered, once, through kills and lost replies."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.servers.batches import Provider, to
from tests.servers.scripted import scripted
from tests.test_engine_openai import (
    BATCH,
    another_process,
    card,
    error_of,
    here,
    journal,
    many,
    pending,
    process,
    run,
    server,
)

from punchline.engines.openai import batch

__all__ = ["here", "process", "server"]


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
