"""Provenance files: inputs by content, parameters, code and libraries of an artifact, stored next to it.

An artifact is current if its provenance file agrees with the present content. The origin of the bytes (a run, dvc
checkout, git, rsync, a backup) and file times do not matter.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    code: dict[str, str]  # digest by file of the package
    libraries: dict[str, str]  # version by package
    outputs: dict[str, str]  # sha256 by path


class Input(NamedTuple):
    """A file that an artifact depends on."""

    role: str  # name of its kind in a lineage
    path: str
    artifact: Artifact | None = None  # what produces it; None: a source file
    content: Callable[[], Any] | None = None  # the content that matters, as JSON; None: its bytes
    decides: bool = True  # False: it must exist first, but the result does not depend on it
    companions: Callable[[], list[str]] = list  # further files of the same kind that a lineage lists

    def digest(self) -> str:
        """Digest of the content that matters now. Raises OSError, or PunchlineError for an unreadable file."""
        return digests.of_file(self.path) if self.content is None else digest_of(self.content())


@dataclass(frozen=True, eq=False)
class Artifact:
    """One artifact, or several that are built together, and its dependencies."""

    outputs: tuple[str, ...]  # the provenance file is next to the first
    inputs: Sequence[Input]  # of a file that is named twice, the last counts
    build: str  # "package.module:function", which is called with the project and the wildcards
    parameters: Mapping[str, Any] = field(default_factory=dict)
    code: tuple[str, ...] = ()  # the scope of its code, and benchmarks (workflow/code.py); (): it depends on no code
    libraries: tuple[str, ...] = ()  # packages whose version is part of a signature
    rule: str = ""  # its kind
    wildcards: tuple[str, ...] = ()
    extra: Callable[[], list[str]] = list  # further outputs, known after the build
    extra_role: str = ""  # name of their kind in a lineage; "": not listed
    journals: Callable[[], list[tuple[str, str, str]]] = list  # (role, path, digest of the answers that count)
    verify: Callable[[], str | None] = lambda: None  # why outputs that are as recorded are not current all the same
    follows: tuple[str, ...] = ()  # rules and files: a request to rebuild one of them is a request to rebuild this
    names: Callable[[], list[Input]] = list  # files that are named in its outputs and not read: they decide too
    record: str = ""  # the provenance file; by default next to the first output
    job: str = ""  # the file by which Snakemake knows the job that builds it; by default the first output

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple({need.path: need for need in self.inputs}.values()))
        object.__setattr__(self, "record", self.record or record_of(self.outputs[0]))
        object.__setattr__(self, "job", self.job or self.outputs[0])

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.rule, *self.wildcards)))

    def output(self, role: str = "", at: int = 0) -> Input:
        """One of its outputs as an input of another artifact; `role`: by default its rule."""
        return Input(role or self.rule, self.outputs[at], self)

    @property
    def parts(self) -> dict[str, str]:
        """Digests of the code that the result depends on, by file of the package."""
        return code.parts(*self.code)

    @functools.cached_property
    def versions(self) -> dict[str, str]:
        return {name: version_of(name) for name in self.libraries}

    def deciding(self) -> list[Input]:
        """All inputs that decide whether the artifact is current, each once."""
        return list({need.path: need for need in (*self.names(), *self.inputs) if need.decides}.values())

    def input_digests(self) -> dict[str, str]:
        """{path: digest} of all deciding inputs now. Raises OSError, PunchlineError."""
        return {need.path: need.digest() for need in self.deciding()}


def read_provenance(file: str) -> Provenance | None:
    """A provenance file; None if it is missing or unreadable."""
    try:
        return msgspec.json.decode(Path(file).read_bytes(), type=Provenance)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def with_dependencies(artifact: Artifact) -> list[Artifact]:
    """An artifact and all artifacts that it depends on, each after its own dependencies."""
    artifacts: dict[Artifact, None] = {}

    def visit(artifact: Artifact) -> None:
        for input_ in artifact.inputs:
            if input_.artifact is not None and input_.decides and input_.artifact not in artifacts:
                visit(input_.artifact)
        artifacts[artifact] = None

    visit(artifact)
    return list(artifacts)


def dependencies(artifact: Artifact) -> list[Input]:
    """All direct and indirect inputs of an artifact, each path once, as the artifact nearest to it takes it."""
    taken = [need for made in with_dependencies(artifact) for need in made.inputs if need.decides]
    return list({need.path: need for need in taken}.values())


class Status:
    """Reasons why artifacts are not current, by the present content of their inputs and outputs."""

    def __init__(self, again: Collection[str] = ()) -> None:
        self.again = set(again)  # rules and files of which a rebuild is requested, or `all`
        self._pending: dict[Artifact, str | None] = {}

    def __call__(self, artifact: Artifact) -> str | None:
        """Reason why an artifact must be built; None if it is current. An unreadable one is not; nothing is raised."""
        try:
            return self._reason(artifact)
        except (PunchlineError, OSError) as error:
            return f"cannot be checked: {error}"

    def of_all(self, artifact: Artifact) -> str | None:
        """Reason why an artifact, or one that it depends on, must be built; None if all are current."""
        if (reason := self(artifact)) is not None:
            return reason
        return self._of_dependencies(artifact)

    def of_parts(self, artifact: Artifact, parts: Sequence[Collection[str]]) -> list[str | None]:
        """Reason for each part of an artifact's outputs why it must be built: of an output, only for its own part."""
        reason, damaged = self(artifact), dict(_damaged(artifact))
        if reason is None or reason in damaged.values():  # all but outputs is as recorded
            reason = self._of_dependencies(artifact)
        of_part = (next((damaged[path] for path in part if path in damaged), None) for part in parts)
        return [reason if reason is not None else why for why in of_part]

    def _of_dependencies(self, artifact: Artifact) -> str | None:
        reasons = ((made, self(made)) for made in with_dependencies(artifact)[:-1])
        return next((f"{made.outputs[0]} is not current: {why}" for made, why in reasons if why is not None), None)

    def pending(self, artifact: Artifact) -> str | None:
        """Reason why an artifact will, or may, be built in a run; None if nothing that it depends on may change."""
        if artifact not in self._pending:
            reason = self(artifact)
            makers = (need.artifact for need in artifact.inputs if need.artifact is not None and need.decides)
            changing = next(filter(self.pending, makers), None) if reason is None else None
            may_run = f"may run: if {changing.outputs[0]} changes" if changing is not None else None
            self._pending[artifact] = may_run if reason is None else f"will run: {reason}"
        return self._pending[artifact]

    def _reason(self, artifact: Artifact) -> str | None:
        if self.again & {"all", artifact.rule, artifact.job, *artifact.outputs, *artifact.follows}:
            return "asked for"
        record = read_provenance(artifact.record)
        if record is None:
            return "no provenance record" if Path(artifact.outputs[0]).is_file() else "not built yet"
        inputs = {need.path: need.digest() if Path(need.path).is_file() else "" for need in artifact.deciding()}
        if why := "; ".join(_differences(record, artifact, inputs)):
            return why
        return next((why for _, why in _damaged(artifact)), None) or artifact.verify()


def _damaged(artifact: Artifact) -> Iterator[tuple[str, str]]:
    """(path, what is wrong) of every output that is not as the provenance file says; nothing without such a file."""
    record = read_provenance(artifact.record)
    outputs = {} if record is None else record.outputs
    if record is not None:
        yield from ((path, f"{path} was never made") for path in artifact.outputs if path not in outputs)
    for path, digest in outputs.items():
        if not Path(path).is_file():
            yield path, f"{path} is gone"
        elif digests.of_file(path) != digest:
            yield path, f"{path} is not what was made"


def is_intact(path: str) -> bool:
    """True for a file that is as the record next to it says."""
    record = read_provenance(record_of(path))
    return record is not None and Path(path).is_file() and digests.of_file(path) == record.outputs.get(path)


def _differences(record: Provenance, artifact: Artifact, inputs: Mapping[str, str]) -> Iterator[str]:
    """Differences between a provenance file and the present state, as text."""
    changed = _changed(record.inputs, inputs)
    for path in changed[:1]:
        before, now = path in record.inputs, path in inputs
        what = "changed" if before and now else "is new" if now else "counts no more"
        yield f"{path} {what}{_more(changed)}"
    theirs, ours = ({name: canonical(v).decode() for name, v in of.parameters.items()} for of in (record, artifact))
    for name in _changed(theirs, ours):
        yield f"{name}: {_short(theirs.get(name, 'null'))} → {_short(ours.get(name, 'null'))}"
    files = sorted(_changed(record.code, artifact.parts), key=lambda name: name.endswith(".py"))  # prompts first
    yield from (f"{name} changed{_more(files)}" for name in files[:1])
    for name in _changed(record.libraries, artifact.versions):
        yield f"{name} {record.libraries.get(name)} → {artifact.versions.get(name)}"


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _more(names: Sequence[str]) -> str:
    return f" (and {len(names) - 1:,} more)" if len(names) > 1 else ""


def write_provenance(artifact: Artifact, inputs: Mapping[str, str]) -> None:
    """Write the provenance file of an artifact, after all its outputs.

    `inputs`: digests at the start of the build. An input that has changed since makes the artifact stale.
    """
    record = Provenance(
        step=artifact.name,
        inputs=dict(inputs),
        parameters=dict(artifact.parameters),
        code=artifact.parts,
        libraries=artifact.versions,
        outputs={path: digests.of_file(path) for path in (*artifact.outputs, *artifact.extra())},
    )
    write_bytes(artifact.record, msgspec.json.format(canonical(record), indent=1) + b"\n")
