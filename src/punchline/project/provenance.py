"""What made an artefact, in a record beside it that travels with it: inputs by content, parameters, code, libraries.

Whether an artefact is current is decided by comparing that record with what is there now, by content: how the bytes
came (a run, dvc checkout, git, rsync, a backup) and what their times say does not matter.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from punchline.core.engine import version_of
from punchline.core.errors import PunchlineError
from punchline.core.files import write_bytes
from punchline.core.records import Record, canonical, digest_of
from punchline.project import code, digests
from punchline.project.paths import record_of


class Made(Record, frozen=True, kw_only=True):
    """The record beside an artefact. It holds no time and no place: made of the same things it has the same bytes."""

    step: str
    inputs: dict[str, str]  # digest of what counts in a file, by path
    parameters: dict[str, Any]
    code: str  # digest
    libraries: dict[str, str]  # version by package
    outputs: dict[str, str]  # sha256 by path


class Need(NamedTuple):
    """A file that a step rests on."""

    role: str  # what it is, as a lineage calls it
    path: str
    step: Callable[[], Step] | None = None  # what makes it; None: it is a source
    content: Callable[[], Any] | None = None  # what counts in it, as JSON; None: its bytes
    decides: bool = True  # False: it must be there first, but the result does not hang on it

    def digest(self) -> str:
        """Digest of what counts in the file now. Raises OSError, or PunchlineError for one that cannot be read."""
        if self.content is None:
            return digests.of_file(self.path)
        return digest_of(self.content())


@dataclass(frozen=True, eq=False)
class Step:
    """One artefact, or several that are made together, and all that it rests on."""

    rule: str  # of Snakemake
    wildcards: tuple[str, ...]
    outputs: tuple[str, ...]  # the record lies beside the first
    needs: tuple[Need, ...]
    parameters: Mapping[str, Any]
    code: tuple[str, ...]  # modules whose code, and the code they import, the result hangs on
    libraries: tuple[str, ...] = ()  # packages whose version a signature names
    extra: Callable[[], list[str]] = list  # further files that it makes, known when it is made
    extra_role: str = ""  # what a lineage calls them; "": it does not name them here
    journals: Callable[[], list[tuple[str, str, str]]] = list  # (role, path, digest of the answers that count here)
    kept: tuple[str, ...] = ()  # journals, which a job writes and only adds to: where one is gone, it is written again
    follows: tuple[str, ...] = ()  # a rule, a file: who asks for them to be made again asks for this too
    names: Callable[[], list[Need]] = list  # files that it does not read and names: they decide too
    record: str = ""  # where its record lies; by default beside its first output

    def __post_init__(self) -> None:
        if not self.record:
            object.__setattr__(self, "record", record_of(self.outputs[0]))

    @property
    def name(self) -> str:
        return " ".join((self.rule, *self.wildcards))

    @functools.cached_property
    def code_digest(self) -> str:
        return code.digest(*self.code) if self.code else ""

    def rests_on_code(self, module: str) -> bool:
        """Whether a module is part of the code that the result hangs on."""
        return module in code.closure(*self.code)

    @functools.cached_property
    def versions(self) -> dict[str, str]:
        return {name: version_of(name) for name in self.libraries}

    def deciding(self) -> list[Need]:
        """Every file that decides, once."""
        return list({need.path: need for need in (*self.names(), *self.needs) if need.decides}.values())

    def inputs(self) -> dict[str, str]:
        """Digest of what counts in every file that decides, as it is now. Raises OSError, PunchlineError."""
        return {need.path: need.digest() for need in self.deciding()}


def recorded(step: Step) -> Made | None:
    """The record beside a step's artefact; None where there is none, or none that can be read."""
    try:
        return msgspec.json.decode(Path(step.record).read_bytes(), type=Made)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


class Check(NamedTuple):
    """Whether a step's artefact is current."""

    reason: str | None  # why it must be made (again); None: it is current
    same: bool = False  # whether making it again gives what its record says, because nothing that it rests on changed


CURRENT = Check(None)


def asked_again(step: Step, again: Collection[str]) -> bool:
    """Whether somebody asked to make a step again, current or not: by its rule, a file of it, or `all`."""
    return not {"all", step.rule, *step.outputs, *step.follows}.isdisjoint(again)


def walk(step: Step, past: Callable[[Step], bool] = lambda made: True) -> Iterator[tuple[Need, Step]]:
    """Every need of a step and of what makes its needs, each path once, with the step that it is a need of.

    What makes a need is looked behind where `past` says so.
    """
    seen: set[str] = set()
    queue = deque([step])
    queued = {id(step)}
    while queue:
        current = queue.popleft()
        for need in current.needs:
            if need.path in seen or not need.decides:
                continue
            seen.add(need.path)
            yield need, current
            if need.step is not None and id(made := need.step()) not in queued:
                queued.add(id(made))
                if past(made):
                    queue.append(made)


def way(step: Step) -> list[Step]:
    """A step and every step behind it."""
    made = {id(behind): behind for need, _ in walk(step) if need.step is not None for behind in [need.step()]}
    return list(({id(step): step} | made).values())


def not_as_recorded(step: Step) -> Iterator[str]:
    """Where files and parameters of a step are not those of its record; what code made it is not looked at."""
    made = recorded(step)
    if made is None:
        yield "there is no record of how it was made"
        return
    yield from _differences(made, step, step.inputs(), code=False)
    for path, digest in made.outputs.items():
        if not Path(path).is_file() or digests.of_file(path) != digest:
            yield f"{path} is not what was made"


class Checks:
    """Which artefacts are current, each looked at once."""

    def __init__(self, forced: Callable[[Step], bool] = lambda step: False, *, below: bool = True) -> None:
        self.forced = forced  # what somebody asks to make again
        self.below = below  # False: what lies below is there and was looked at already
        self._known: dict[str, Check] = {}
        self._digests: dict[tuple[str, Callable[[], Any] | None], str] = {}  # of files, by what counts in them

    def __call__(self, step: Step) -> Check:
        """Raises nothing: what cannot be read is not current."""
        name = step.outputs[0]
        if name not in self._known:
            self._known[name] = Check("being checked")  # a circle would be a mistake in needs.py; it ends here
            try:
                self._known[name] = self._check(step)
            except (PunchlineError, OSError) as error:
                self._known[name] = Check(f"cannot be checked: {error}")
        return self._known[name]

    def _check(self, step: Step) -> Check:
        if self.forced(step):
            return Check("asked for")
        made = recorded(step)
        inputs = {}
        for need in step.deciding():
            check = self(need.step()) if need.step is not None and self.below else CURRENT
            if check.reason is not None and not check.same:
                return Check(f"{need.path} must be made again ({check.reason})")
            inputs[need.path] = self._digest(need, check)
        if made is None:
            return Check("there is no record of how it was made" if _there(step) else "it is not there")
        if why := "; ".join(_differences(made, step, inputs)):
            return Check(why)
        for path, digest in made.outputs.items():
            if not Path(path).is_file():
                return Check(f"{path} is gone", same=True)
            if digests.of_file(path) != digest:
                return Check(f"{path} is not what was made", same=True)
        for path in step.kept:
            if not Path(path).is_file():
                return Check(f"{path} is gone", same=True)
        if missing := [path for path in step.outputs if path not in made.outputs]:
            return Check(f"{missing[0]} was never made")
        return CURRENT

    def _digest(self, need: Need, check: Check) -> str:
        """What counts in a file, or in what it will be again."""
        if need.step is not None and check.same and need.content is None:
            made = recorded(need.step())
            assert made is not None
            return made.outputs.get(need.path, "")
        key = need.path, need.content
        if key not in self._digests:
            self._digests[key] = need.digest() if Path(need.path).is_file() else ""
        return self._digests[key]


def intact(path: str, step: Step) -> bool:
    """Whether an output of a step holds what its record says that was made."""
    made = recorded(step)
    return made is not None and Path(path).is_file() and digests.of_file(path) == made.outputs.get(path)


def _there(step: Step) -> bool:
    return Path(step.outputs[0]).is_file()


def _differences(made: Made, step: Step, inputs: Mapping[str, str], *, code: bool = True) -> Iterator[str]:
    """What of a record is not so now, in words."""
    changed = sorted(path for path in inputs.keys() | made.inputs.keys() if inputs.get(path) != made.inputs.get(path))
    if changed:
        before, now_ = changed[0] in made.inputs, changed[0] in inputs
        what = "changed" if before and now_ else "is new" if now_ else "counts no more"
        more = f" (and {len(changed) - 1:,} more)" if len(changed) > 1 else ""
        yield f"{changed[0]} {what}{more}"
    now = _plain(step.parameters)
    for name in sorted(now.keys() | made.parameters.keys()):
        if canonical(now.get(name)) != canonical(made.parameters.get(name)):  # 1 is not true
            yield f"{name}: {_short(made.parameters.get(name))} → {_short(now.get(name))}"
    if code and made.code != step.code_digest:
        yield "its code changed"
    for name in sorted(step.versions.keys() | made.libraries.keys()) if code else ():
        if step.versions.get(name) != made.libraries.get(name):
            yield f"{name} {made.libraries.get(name)} → {step.versions.get(name)}"


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(canonical(parameters))
    return plain


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else canonical(value).decode()
    return text if len(text) <= 60 else text[:57] + "…"


def record(step: Step, inputs: Mapping[str, str]) -> None:
    """Write what made an artefact, last of all: without it the artefact counts as not made.

    `inputs`: what the inputs held when making began. Raises PunchlineError when one of them is another now.
    """
    for path, digest in step.inputs().items():
        if inputs.get(path) != digest:
            raise PunchlineError(
                "the file changed while it was being read: what was made of it may be of neither version",
                file=path,
                way_out="Run the same command again",
            )
    outputs = [*step.outputs, *step.extra()]
    made = Made(
        step=step.name,
        inputs=dict(inputs),
        parameters=_plain(step.parameters),
        code=step.code_digest,
        libraries=step.versions,
        outputs={path: digests.of_file(path) for path in outputs},
    )
    write_bytes(step.record, msgspec.json.format(canonical(made), indent=1) + b"\n")
