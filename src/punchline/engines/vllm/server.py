"""One `vllm serve` as a child on a leash: found, started, waited for, ended.

vLLM has an environment of its own; nothing of it is imported here. https://docs.vllm.ai/en/latest/cli/serve/
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2

from punchline.core import engine as engines
from punchline.engines.openai import OpenAI
from punchline.engines.openai.replies import parse_object
from punchline.engines.vllm.leash import let_go, on_leash
from punchline.errors import PunchlineError
from punchline.schema import Request

DEFAULT = ".venv-vllm/bin/vllm"  # relative to the project root; what `make vllm-cpu` makes
LONGEST = 60.0  # seconds until a reply about the server itself is whole

_SECRET = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)", re.IGNORECASE)
HINT = "Check extra_args; out of memory: lower max_model_len or gpu_memory_utilization, or raise tensor_parallel"
_CAUSE = re.compile(r"\b[A-Z]\w*(Error|Exception)\b: |\berror: ")


def find(executable: str | None) -> Path | None:
    """vLLM's executable: the option, $PUNCHLINE_VLLM, .venv-vllm/, PATH, in this order; None if there is none."""
    name = executable or os.environ.get("PUNCHLINE_VLLM")
    path = shutil.which(name) if name else shutil.which(DEFAULT) or shutil.which("vllm")
    return Path(path) if path else None


def distributions(executable: Path) -> dict[str, str]:
    """{distribution: version} of vllm and vllm-cpu in an executable's environment; empty where it has none."""
    infos = executable.absolute().parent.parent.glob("lib/python3*/site-packages/vllm*.dist-info")
    parts = (info.name.removesuffix(".dist-info").partition("-") for info in infos)
    return {name: version for name, _, version in parts}


def environment(*, offline: bool, cpu: bool) -> dict[str, str]:
    """The child's environment: this process's without anything that looks like a key."""
    allowed = () if offline else ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
    env = {name: value for name, value in os.environ.items() if name in allowed or not _SECRET.search(name)}
    env |= {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    if offline:
        env["HF_HUB_OFFLINE"] = "1"
    if cpu:
        env.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")  # GiB
        env.setdefault("VLLM_CPU_NUM_OF_RESERVED_CPU", "0")
    return env


class Client(OpenAI):
    """Asks one server, whatever proxy the environment names."""

    name = "vllm"
    through_proxy = False

    def parameters(self, request: Request) -> dict[str, Any]:
        """As openai's, with the run's seed, counted up by sample, where neither card nor request names one."""
        seed = {} if "seed" in engines.parameters(self.card, request) else {"seed": self.seed + request.sample}
        return super().parameters(request) | seed

    def about(self, path: str) -> dict[str, Any] | None:
        """A reply of the server about itself; None for none, and for one that is too long, too slow or no object."""
        from punchline.engines.openai.calls import attempt

        async def get() -> dict[str, Any]:
            async with self.client() as api:
                url = self.base_url.rstrip("/").removesuffix("/v1") + path
                return parse_object((await api.get(url, cast_to=httpx2.Response)).content or b"{}")

        with suppress(PunchlineError):
            reply = asyncio.run(attempt(self, get(), LONGEST, ()))
            return reply if isinstance(reply, dict) else None
        return None

    def served(self) -> list[str]:
        """Names of the models that the server serves; empty where it does not answer."""
        try:
            return [str(model["id"]) for model in (self.about("/v1/models") or {})["data"]]
        except (TypeError, KeyError):
            return []

    def find_version(self) -> None:
        """Take the server's version of vLLM for this engine's, if it says one."""
        version = (self.about("/version") or {}).get("version")
        self.version = version[:100] if isinstance(version, str) else self.version


def tail(log: Path, offset: int = 0, lines: int = 12) -> str:
    """The last lines of a log, from byte `offset` on, preceded by the errors above them."""
    text = log.read_bytes()[offset:].decode("utf-8", "replace")
    written = [line.rstrip()[:300] for line in text.splitlines() if line.strip()]
    causes = [line for line in written[:-lines] if _CAUSE.search(line)][-4:]
    return "\n".join(f"    {line}" for line in [*causes, *written[-lines:]])


class Server:
    """A server of our own. It ends with `close`, and with this process in any case."""

    def __init__(self, command: Sequence[str], client: Client, env: Mapping[str, str], log: Path) -> None:
        """Start `command`, a `vllm serve …`, on a free port of this machine, which `client` asks from now on.

        A second, random name of the model tells this server from one that somebody else has on the same port.
        """
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.client = client
        client.base_url = f"http://127.0.0.1:{port}/v1"
        client.keep_alive = True
        self._mark = secrets.token_hex(8)
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            self.offset = file.tell()  # where this server's part of the log begins
            ours = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", client.options.id, self._mark]
            self._sockets = tempfile.TemporaryDirectory(prefix="vllm-")  # vLLM does not remove its sockets
            self._leash = on_leash([*command, *ours], {**env, "VLLM_RPC_BASE_PATH": self._sockets.name}, file)

    def alive(self) -> bool:
        """True if its process runs."""
        return self._leash.poll() is None

    def answers(self) -> bool:
        """True if it can be asked: healthy, its model loaded."""
        return self.client.about("/health") is not None and self._mark in self.client.served()

    def close(self) -> None:
        """End it and wait until nothing is left of it."""
        let_go(self._leash)
        self._sockets.cleanup()


def start(command: Sequence[str], client: Client, *, env: Mapping[str, str], log: Path, timeout: float) -> Server:
    """A server that can be asked. Raises PunchlineError, with the end of its log, when it dies or takes too long."""
    server, until = Server(command, client, env, log), time.monotonic() + timeout
    with ExitStack() as stack:
        stack.callback(server.close)
        while server.alive() and time.monotonic() < until:
            if server.answers():
                stack.pop_all()
                return server
            time.sleep(0.25)
        what = f"did not answer in {timeout:g} s (start_timeout)" if server.alive() else "ended while it started"
    raise PunchlineError(f"vLLM {what}; its log ends:\n{tail(log, server.offset)}\n", file=log, hint=HINT)
