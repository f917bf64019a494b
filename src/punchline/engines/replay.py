"""Released answers from a file. Nothing is asked: a model's published outputs go through the same grading as any other.

A format is named as the benchmark whose requests it answers, and read by that benchmark's module `replay`.

The text of an answer is what the file says; whether it is a refusal is not guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

import punchline
from punchline.benchmarks.released import JUDGE, Answer, Answers
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import files_of
from punchline.core.engine import Engine, ImageFiles, Name, read_options, response
from punchline.errors import check_known
from punchline.schema import ModelCard, Request, Response, digest_of
from punchline.workflow import code, digests

T = TypeVar("T")


class Options(msgspec.Struct, frozen=True):
    """Options of a card."""

    format: Name
    path: Name
    select: Annotated[dict[str, Any], msgspec.Meta(min_length=1)] | None = None
    annotations: Name | None = None
    judge: Name | None = None
    # Of the released run: shown, and sent to nobody.
    reasoning_effort: Any = None
    thinking_budget: Any = None
    search: Any = None


class Replay(Engine):
    """The engine. The file is read once, at the first use."""

    name = "replay"
    version = punchline.__version__
    needs_images = False

    def __init__(self, card: ModelCard, seed: int = 0) -> None:
        super().__init__(card, seed)
        options = read_options(card, Options, "docs/humorbench.md")
        self.format, self.path, self.select, self.judge = options.format, options.path, options.select, options.judge
        self._format: Any = benchmarks.optional_module(self.format, "replay")
        if self._format is None:
            what = f"unknown format {self.format!r}"
            check_known(self.format, benchmarks.having("replay"), what, file=card.file, field="format")
        self.files = [path for path in (self.path, options.annotations) if path is not None]
        if self._format.FILES and Path(self.path).exists():  # else `check_files` says so
            self.files = self._in_folder(self._format.FILES)

    def _in_folder(self, names: Sequence[str]) -> list[str]:
        """Paths of those of the files that are in the folder, in their order.

        Raises PunchlineError for a .json file of another name, and for a folder without any.
        """
        folder = Path(self.path)
        for path in sorted(folder.glob("[!.]*.[jJ][sS][oO][nN]")):
            check_known(path.name, names, f"unknown file {path.name!r} beside the answers", file=self.path)
        paths = [str(folder / name) for name in names if (folder / name).is_file()]
        if not paths:
            what, hint = f"{self.path!r} is no folder with answers", f"Expected any of: {', '.join(names)}"
            raise self.wrong(what, field="path", hint=hint)
        return paths

    def _of_files(self, read: Callable[[Path], T]) -> dict[str, T]:
        """Apply `read` to every file: {name: result}."""
        results: dict[str, T] = {}
        for file in self.files:
            try:
                results[Path(file).name] = read(Path(file))
            except (OSError, ValueError) as error:  # ValueError: a path with a NUL
                what = f"cannot read the answers in {file!r}: {getattr(error, 'strerror', None) or error}"
                hint = "Put the file there; the path is relative to the working directory (the project's root)"
                raise self.wrong(what, field="path", hint=hint) from error
        return results

    @cached_property
    def _answers(self) -> Answers:
        answers: Answers = self._format.read(self._of_files(Path.read_bytes), self.path, self.select)
        judges = {by_task[JUDGE].judge for by_task in answers.values() if JUDGE in by_task}
        if self.judge is not None and judges - {self.judge}:
            names = ", ".join(sorted(name or "nobody" for name in judges))
            hint = f"Take `judge` out of the card, or name the judge of {self.path!r}"
            raise self.wrong(f"the verdicts are of {names}", field="judge", hint=hint)
        return answers

    def identity(self) -> dict[str, Any]:
        """Format, selection and the file's digest; its path does not matter."""
        of_files = self._of_files(digests.of_file)
        digest = digest_of(of_files) if self._format.FILES or len(of_files) > 1 else "".join(of_files.values())
        return {"format": self.format, "sha256": digest, "select": self.select}

    def code(self, benchmark: str) -> str:
        """Digest of the files that read the answers."""
        shared = ("benchmarks/annotations.py", "benchmarks/released.py")
        return code.digest("engines/replay.py", *shared, *files_of(self.format, "__init__", "replay", "data"))

    def unknown(self, item_ids: Collection[str]) -> list[str]:
        """Ids of items that the file answers and that are not among `item_ids`, sorted. Keeps no answer in memory."""
        unknown = sorted(self._answers.keys() - set(item_ids))
        del self._answers  # read again for an answer
        return unknown

    def givers(self) -> set[str]:
        """Judges of the released answers: as the card says, else as the file does."""
        if self.judge is not None:
            return {self.judge}
        return {answer.judge for by_task in self._answers.values() for answer in by_task.values() if answer.judge}

    def answer(self, requests: Sequence[Request], images: ImageFiles, model_key: str) -> Iterator[Response]:
        """The file's answer to each request; `missing`, with the reason, if it has none."""
        for request in requests:
            by_task = self._answers.get(request.item_id)
            answer = (by_task or {}).get(request.task, Answer(None))
            published = (request.condition, request.sample) == ("default", 0)
            reasons = {
                f"the file answers {self.format} only": request.benchmark != self.format,
                "the file has one answer to each question as published": not published,
                "item not in the file": by_task is None,
                "question not in the file": request.task not in (by_task or {}),
                "null in the file": answer.text is None,
            }
            reason = next((reason for reason, holds in reasons.items() if holds), None)
            if reason is not None:
                yield response(self, request, model_key, "missing", reason=reason)
                continue
            effective = {} if answer.judge is None else {"judge": answer.judge}
            yield response(self, request, model_key, "ok", text=answer.text, usage=answer.usage, effective=effective)


engine = Replay
