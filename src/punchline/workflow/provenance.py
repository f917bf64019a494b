"""Provenance files: inputs by content, parameters, code and libraries of an artifact, stored next to it.

An artifact is current if its provenance file agrees with the present content. The origin of the bytes (a run, dvc
checkout, git, rsync, a backup) and file times do not matter.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from punchline.errors import PunchlineError
from punchline.files import write_bytes
from punchline.paths import record_of
from punchline.schema import Record, canonical, digest_of
from punchline.workflow import code, digests
from punchline.workflow.code import version_of


class Provenance(Record, frozen=True, kw_only=True):
    """A provenance file. It contains no time and no absolute path: the same build gives the same bytes."""

    step: str
    inputs: dict[str, str]  # digest of what counts in a file, by path
    parameters: dict[str, Any]
    code: str  # digest
    libraries: dict[str, str]  # version by package
    outputs: dict[str, str]  # sha256 by path


class Input(NamedTuple):
    """A file that an artifact depends on."""

    role: str  # name of its kind in a lineage
    path: str
    step: Callable[[], Artifact] | None = None  # artifact that produces it; None: a source file
    content: Callable[[], Any] | None = None  # the content that matters, as JSON; None: its bytes
    decides: bool = True  # False: it must exist first, but the result does not depend on it
    companions: Callable[[], list[str]] = list  # further files of the same kind that a lineage lists

    def digest(self) -> str:
        """Digest of the content that matters now. Raises OSError, or PunchlineError for an unreadable file."""
        if self.content is None:
            return digests.of_file(self.path)
        return digest_of(self.content())


@dataclass(frozen=True, eq=False)
class Artifact:
    """One artifact, or several that one job builds, and its dependencies."""

    rule: str  # of Snakemake
    wildcards: tuple[str, ...]
    outputs: tuple[str, ...]  # the provenance file is next to the first
    needs: tuple[Input, ...]
    parameters: Mapping[str, Any]
    code: tuple[str, ...]  # modules whose code, with its imports, the result depends on
    libraries: tuple[str, ...] = ()  # packages whose version is part of a signature
    extra: Callable[[], list[str]] = list  # further outputs, known after the build
    extra_role: str = ""  # name of their kind in a lineage; "": not listed
    journals: Callable[[], list[tuple[str, str, str]]] = list  # (role, path, digest of the answers that count)
    # What else must hold of intact outputs: (why it does not, whether a rebuild gives the same bytes). With it, outputs
    # that are gone may be made otherwise: who is asked again may answer otherwise.
    verify: Callable[[], tuple[str | None, bool]] | None = None
    follows: tuple[str, ...] = ()  # a rule, a file: who asks for them to be made again asks for this too
    names: Callable[[], list[Input]] = list  # files that it does not read and names: they decide too
    record: str = ""  # where its record lies; by default beside its first output
    job: str = ""  # the file that Snakemake knows its outputs by; "": by their own paths

    def __post_init__(self) -> None:
        if not self.record:
            object.__setattr__(self, "record", record_of(self.outputs[0]))

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.rule, *self.wildcards)))

    @functools.cached_property
    def code_digest(self) -> str:
        return code.digest(*self.code) if self.code else ""

    def rests_on_code(self, module: str) -> bool:
        """True if a module is part of the code that the result depends on."""
        return module in code.closure(*self.code)

    @functools.cached_property
    def versions(self) -> dict[str, str]:
        return {name: version_of(name) for name in self.libraries}

    def deciding(self) -> list[Input]:
        """All inputs that decide whether the artifact is current, each once."""
        return list({need.path: need for need in (*self.names(), *self.needs) if need.decides}.values())

    def inputs(self) -> dict[str, str]:
        """{path: digest} of all deciding inputs now. Raises OSError, PunchlineError."""
        return {need.path: need.digest() for need in self.deciding()}


def read_provenance(step: Artifact) -> Provenance | None:
    """The provenance file of an artifact; None if it is missing or unreadable."""
    return read_record(step.record)


def read_record(file: str) -> Provenance | None:
    """A provenance file; None if it is missing or unreadable."""
    try:
        return msgspec.json.decode(Path(file).read_bytes(), type=Provenance)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


class Check(NamedTuple):
    """The status of an artifact."""

    reason: str | None  # why it must be built; None: it is current
    same: bool = False  # True if a rebuild would be identical, as no dependency has changed


CURRENT = Check(None)
STALE = " is not current: "  # in reasons: the file that changed first, then why


def is_forced(step: Artifact, again: Collection[str]) -> bool:
    """True if a rebuild of an artifact is requested by its rule, one of its files, or `all`."""
    return not {"all", step.rule, step.job or step.rule, *step.outputs, *step.follows}.isdisjoint(again)


def dependencies(
    step: Artifact, past: Callable[[Artifact], bool] = lambda made: True
) -> Iterator[tuple[Input, Artifact]]:
    """All direct and indirect inputs of an artifact, each path once, with the artifact that needs it.

    The inputs of an artifact are included if `past` is true for it.
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


def with_dependencies(step: Artifact) -> list[Artifact]:
    """An artifact and all artifacts that it depends on."""
    made = {id(behind): behind for need, _ in dependencies(step) if need.step is not None for behind in [need.step()]}
    return list(({id(step): step} | made).values())


def differences(step: Artifact) -> Iterator[str]:
    """Differences between the files and parameters of an artifact and its provenance file, code left out."""
    made = read_provenance(step)
    if made is None:
        yield "no provenance record"
        return
    yield from _differences(made, step, step.inputs(), code=False)
    for path, digest in made.outputs.items():
        if not Path(path).is_file() or digests.of_file(path) != digest:
            yield f"{path} is not what was made"


class Status:
    """Status of artifacts, each computed once."""

    def __init__(self, forced: Callable[[Artifact], bool] = lambda step: False, *, below: bool = True) -> None:
        self.forced = forced  # requested rebuilds
        self.below = below  # False: dependencies exist and were checked before
        self._known: dict[str, Check] = {}
        self._digests: dict[tuple[str, Callable[[], Any] | None], str] = {}  # of files, by what counts in them

    def __call__(self, step: Artifact) -> Check:
        """Status of an artifact. An unreadable one is not current; nothing is raised."""
        name = step.outputs[0]
        if name not in self._known:
            self._known[name] = Check("being checked")  # a circle would be a mistake in needs.py; it ends here
            try:
                self._known[name] = self._check(step)
            except (PunchlineError, OSError) as error:
                self._known[name] = Check(f"cannot be checked: {error}")
        return self._known[name]

    def _check(self, step: Artifact) -> Check:
        if self.forced(step):
            return Check("asked for")
        made = read_provenance(step)
        inputs = {}
        for need in step.deciding():
            check = self(need.step()) if need.step is not None and self.below else CURRENT
            if check.reason is not None and not check.same:
                return Check(check.reason if STALE in check.reason else f"{need.path}{STALE}{check.reason}")
            inputs[need.path] = self._digest(need, check)
        if made is None:
            return Check("no provenance record" if _there(step) else "missing")
        if why := "; ".join(_differences(made, step, inputs)):
            return Check(why)
        if missing := [path for path in step.outputs if path not in made.outputs]:
            return Check(f"{missing[0]} was never made")
        same = step.verify is None
        for path, digest in made.outputs.items():
            if not Path(path).is_file():
                return Check(f"{path} is gone", same)
            if digests.of_file(path) != digest:
                return Check(f"{path} is not what was made", same)
        why_not, same = step.verify() if step.verify is not None else (None, False)
        return Check(why_not, same) if why_not is not None else CURRENT

    def _digest(self, need: Input, check: Check) -> str:
        """Digest of the content that matters in a file, or in its identical rebuild."""
        if need.step is not None and check.same and need.content is None:
            made = read_provenance(need.step())
            assert made is not None
            return made.outputs.get(need.path, "")
        key = need.path, need.content
        if key not in self._digests:
            self._digests[key] = need.digest() if Path(need.path).is_file() else ""
        return self._digests[key]


def is_intact(path: str) -> bool:
    """True for a file that is as the record next to it says."""
    made = read_record(record_of(path))
    return made is not None and Path(path).is_file() and digests.of_file(path) == made.outputs.get(path)


def _there(step: Artifact) -> bool:
    return Path(step.outputs[0]).is_file()


def _differences(made: Provenance, step: Artifact, inputs: Mapping[str, str], *, code: bool = True) -> Iterator[str]:
    """Differences between a provenance file and the present state, as text."""
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


def write_provenance(step: Artifact, inputs: Mapping[str, str]) -> None:
    """Write the provenance file of an artifact, after all its outputs.

    `inputs`: digests at the start of the build. Raises PunchlineError if an input has changed since.
    """
    for path, digest in step.inputs().items():
        if inputs.get(path) != digest:
            raise PunchlineError(
                "the file changed while it was being read: what was made of it may be of neither version",
                file=path,
                hint="Run the same command again",
            )
    outputs = [*step.outputs, *step.extra()]
    made = Provenance(
        step=step.name,
        inputs=dict(inputs),
        parameters=_plain(step.parameters),
        code=step.code_digest,
        libraries=step.versions,
        outputs={path: digests.of_file(path) for path in outputs},
    )
    write_bytes(step.record, msgspec.json.format(canonical(made), indent=1) + b"\n")
