"""A provider of batches in this process, whose replies a test may change."""

import json
from collections.abc import Callable
from typing import Any

from tests.servers.scripted import Call, completion

Change = Callable[[Any], Any]


def to(value: Any) -> Change:
    """Replace a reply by this one."""
    return lambda _: value


class Provider:
    """A provider of batches; `change[what]` turns a proper reply (plain data, or the bytes of a file) into another."""

    def __init__(self, change: dict[str, Change] | None = None) -> None:
        self.change = change or {}
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []  # custom ids of all lines of all batches

    def __call__(self, call: Call) -> None:
        what, reply = self.reply(call)
        reply = self.change.get(what, lambda same: same)(reply)
        if callable(reply):
            reply(call)
        elif isinstance(reply, bytes):
            call.send(reply)
        else:
            call.json(reply)

    def reply(self, call: Call) -> tuple[str, Any]:
        match call.path.partition("?")[0].split("/")[2:]:
            case ["files"]:
                name = f"file-{len(self.files)}"
                self.files[name] = max(call.body.split(b"\r\n\r\n"), key=len).rpartition(b"\r\n--")[0]
                return "upload", {"id": name, "object": "file", "bytes": 1, "created_at": 1, "purpose": "batch"}
            case ["chat", _]:
                return "answer", completion("yes")
            case ["files", name, _]:
                return "content", self.files.get(name, b"")
            case ["batches"] if call.command == "POST":
                return "create", self.create(json.loads(call.body))
            case ["batches"]:
                return "list", {"object": "list", "data": list(self.batches.values()), "has_more": False}
            case [_, name]:
                return "look", self.batches.get(name, {"error": "no such batch"})
        raise AssertionError(call.path)

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        name = f"batch-{len(self.batches)}"
        ids = [json.loads(line)["custom_id"] for line in self.files[body["input_file_id"]].splitlines()]
        reply = {"status_code": 200, "request_id": "r", "body": completion("yes")}
        lines = [{"id": "l", "custom_id": one, "response": reply, "error": None} for one in ids]
        self.files[f"out-{name}"] = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        batch = {"id": name, "object": "batch", "status": "completed", "metadata": body["metadata"]}
        self.batches[name] = batch | {"output_file_id": f"out-{name}", "errors": None, "error_file_id": None}
        self.asked += ids
        return self.batches[name]
