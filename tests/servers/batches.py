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
        path = call.path.partition("?")[0].removeprefix("/v1/")
        if path == "files":
            content = max(call.body.split(b"\r\n\r\n"), key=len).rpartition(b"\r\n--")[0]
            name = f"file-{len(self.files)}"
            self.files[name] = content
            return "upload", {"id": name, "object": "file", "bytes": 1, "created_at": 1, "purpose": "batch"}
        if path == "chat/completions":
            return "answer", completion("yes")
        if path.startswith("files/"):
            return "content", self.files.get(path.split("/")[1], b"")
        if path == "batches" and call.command == "POST":
            requests = json.loads(call.body)
            name = f"batch-{len(self.batches)}"
            lines = [json.loads(line) for line in self.files[requests["input_file_id"]].splitlines()]
            done = [
                {
                    "id": "l",
                    "custom_id": line["custom_id"],
                    "response": {"status_code": 200, "request_id": "r", "body": completion("yes")},
                    "error": None,
                }
                for line in lines
            ]
            self.files[f"out-{name}"] = b"".join(json.dumps(line).encode() + b"\n" for line in done)
            result = {"id": name, "object": "batch", "status": "completed", "metadata": requests["metadata"]}
            self.batches[name] = result | {"output_file_id": f"out-{name}", "errors": None, "error_file_id": None}
            self.asked += [line["custom_id"] for line in lines]
            return "create", self.batches[name]
        if path == "batches":
            return "list", {"object": "list", "data": list(self.batches.values()), "has_more": False}
        return "look", self.batches.get(path.split("/")[1], {"error": "no such batch"})
