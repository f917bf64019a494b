"""Released answers from a file. Nothing is asked: a model's published outputs go through the same grading as any other.

A format is named as the benchmark whose requests it answers, and read by that benchmark's module `replay`.

The text of an answer is what the file says; whether it is a refusal is not guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import punchline
from punchline.bench.released import JUDGE, Answer, Answers, Format, Select
from punchline.core import benchmark as benchmarks
from punchline.core.benchmark import module_of
from punchline.core.engine import check_options, response
from punchline.core.errors import PunchlineError, nearest
from punchline.core.records import ModelCard, Request, Response, State, digest_of
from punchline.project import code, digests

T = TypeVar("T")

SAID = ("reasoning_effort", "thinking_budget", "search")  # of the released run: shown, and asked of nobody
OPTIONS = ("format", "path", "select", "annotations", "judge", *SAID)


class Replay:
    """The engine. The file is read once, at the first use."""

    name = "replay"
    version = punchline.__version__
    needs_images = False

    def __init__(self, card: ModelCard) -> None:
        file = card.file
        check_options(card, OPTIONS)
        for option in OPTIONS[: -len(SAID)]:
            value = card.options.get(option)
            if option == "select" and (value is None or (isinstance(value, dict) and value)):
                continue
            if option in ("annotations", "judge") and value is None:
                continue
            if not (isinstance(value, str) and value) or option == "select":
                expected = "{column: value}" if option == "select" else "a text"
                raise PunchlineError(
                    "the option is missing" if value is None else f"expected {expected}, got {value!r}",
                    file=file,
                    field=option,
                    way_out=f"The engine replay needs `format` ({', '.join(benchmarks.released_formats())}) and `path`",
                )
        self.format: str = card.options["format"]
        self.path: str = card.options["path"]
        self.select: Select = card.options.get("select")
        found = benchmarks.released_format(self.format)
        if found is None:
            way_out = nearest(self.format, benchmarks.released_formats())
            raise PunchlineError(f"unknown format {self.format!r}", file=file, field="format", way_out=way_out)
        self._format = cast(Format, found)
        annotations: str | None = card.options.get("annotations")
        self.judge: str | None = card.options.get("judge")
        self.files = [self.path, *([annotations] if annotations is not None else [])]
        self._file = file
        if self._format.FILES:
            self.files = self._in_folder(self._format.FILES) or self.files

    def _in_folder(self, names: Sequence[str]) -> list[str]:
        """Paths of those of the files that are in the folder, in their order; [] where there is no folder.

        Raises PunchlineError for a path that is a file, for a .json file of another name, and for a folder without any.
        """
        folder = Path(self.path)
        try:
            there = sorted(path.name for path in folder.iterdir())
        except NotADirectoryError as error:
            raise PunchlineError(
                f"{self.path!r} is no folder",
                file=self._file,
                field="path",
                way_out=f"Name the folder that holds {names[0]} and the like",
            ) from error
        except (OSError, ValueError):  # not there, as `check_files` says; a NUL in the path
            return []
        for name in there:
            if name.lower().endswith(".json") and not name.startswith(".") and name not in names:
                raise PunchlineError(
                    f"unknown file {name!r} beside the answers",
                    file=self.path,
                    way_out=nearest(name.lower(), names),
                )
        found = [str(folder / name) for name in names if name in there]
        if not found:
            raise PunchlineError(
                f"no such file in {self.path!r} as {names[0]}",
                file=self._file,
                field="path",
                way_out=f"Expected any of: {', '.join(names)}",
            )
        return found

    def _of_files(self, read: Callable[[Path], T]) -> dict[str, T]:
        """{name: what is read of it} of the files."""
        return {Path(file).name: self._read(file, read) for file in self.files}

    def _read(self, file: str, read: Callable[[Path], T]) -> T:
        try:
            return read(Path(file))
        except (OSError, ValueError) as error:  # ValueError: a path with a NUL
            raise PunchlineError(
                f"cannot read the answers in {file!r}: {getattr(error, 'strerror', None) or error}",
                file=self._file,
                field="path",
                way_out="Put the file there; the path is relative to the working directory (the project's root)",
            ) from error

    @cached_property
    def _answers(self) -> Answers:
        answers = self._format.read(self._of_files(Path.read_bytes), self.path, self.select)
        said = {answer.judge for by_task in answers.values() if isinstance(answer := by_task.get(JUDGE), Answer)}
        if self.judge is not None and said - {self.judge}:
            names = ", ".join(sorted(name or "nobody" for name in said))
            way_out = f"Take `judge` out of the card, or name the judge of {self.path!r}"
            raise PunchlineError(f"the verdicts are of {names}", file=self._file, field="judge", way_out=way_out)
        return answers

    def identity(self) -> dict[str, Any]:
        """Format, selection and the file's digest; its path does not matter."""
        of_files = self._of_files(digests.of_file)
        digest = digest_of(of_files) if self._format.FILES or len(of_files) > 1 else "".join(of_files.values())
        return {"format": self.format, "sha256": digest, "select": self.select}

    def code(self, benchmark: str) -> str:
        """Digest of what reads the answers."""
        return code.digest("punchline.engines.replay", module_of(self.format, "replay"))

    def unavailable(self) -> str | None:
        """Never: `check_files` says which file is not there."""
        return None

    def close(self) -> None:
        """Nothing is open."""

    def unknown(self, item_ids: Collection[str]) -> list[str]:
        """Ids of items that the file answers and that are not among `item_ids`, sorted. Keeps no answer in memory."""
        found = sorted(self._answers.keys() - set(item_ids))
        del self._answers  # read again where an answer is asked for
        return found

    def judges(self) -> dict[str, str]:
        """{item id: who judged the released answer}, of the items that have a verdict."""
        found = {item_id: by_task.get(JUDGE) for item_id, by_task in self._answers.items()}
        return {i: a.judge for i, a in found.items() if isinstance(a, Answer) and a.judge is not None}

    def givers(self) -> set[str]:
        """Who judged the released answers: as the card says, else as the file does."""
        return {self.judge} if self.judge is not None else set(self.judges().values())

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        """What the file holds for each request; `missing`, with the reason, where it holds nothing."""
        for request in requests:
            answer, reason = self._look_up(request)
            state: State = "ok" if reason is None else "missing"
            effective = {} if answer.judge is None else {"judge": answer.judge}
            yield response(
                self,
                request,
                model_key,
                state,
                text=answer.text,
                reason=reason,
                usage=answer.usage,
                effective=effective,
            )

    def _look_up(self, request: Request) -> tuple[Answer, str | None]:
        """(answer, why there is none)."""
        none = Answer(None)
        if request.benchmark != self.format:
            return none, f"the file answers {self.format} only"
        if request.condition != "default" or request.sample != 0:
            return none, "the file has one answer to each question as published"
        if request.item_id not in self._answers:
            return none, "item not in the file"
        answers = self._answers[request.item_id]
        if request.task not in answers:
            return none, "question not in the file"
        found = answers[request.task]
        answer = found if isinstance(found, Answer) else Answer(found)
        return answer, "null in the file" if answer.text is None else None


def engine(card: ModelCard, seed: int) -> Replay:
    """The engine of a model card with the options `format`, `path` and `select`; `seed` does not matter."""
    return Replay(card)
