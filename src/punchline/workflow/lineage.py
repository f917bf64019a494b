"""Files that a result depends on, with their digests: the content of a lineage."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress

from punchline.core.storage import digests_in
from punchline.errors import PunchlineError
from punchline.grouping import grouped
from punchline.schema import Record, digest_of, digest_of_all
from punchline.workflow import digests
from punchline.workflow.provenance import Artifact, Input, dependencies, with_dependencies


class File(Record, frozen=True, kw_only=True):
    """One file that a result depends on."""

    path: str  # relative to the project root
    role: str
    sha256: str
    content: str | None = None  # digest of the content that matters, if equal content may have other bytes


def code_of(artifact: Artifact) -> dict[str, str]:
    """{rule: digest of its code} of an artifact and all its dependencies."""
    by_rule = grouped((made for made in with_dependencies(artifact) if made.code), lambda made: made.rule)
    return {rule: digest_of_all({digest_of(one.parts) for one in made}) for rule, made in sorted(by_rule.items())}


def libraries_of(artifact: Artifact) -> dict[str, str]:
    """{package: installed version} of the packages that signatures of an artifact and its dependencies name."""
    return dict(sorted(item for made in with_dependencies(artifact) for item in made.versions.items()))


def files_behind(artifact: Artifact) -> list[File]:
    """All files that an artifact depends on, and its outputs but the lineage itself.

    The digest of a missing or unreadable file is empty.
    """
    files: dict[str, File] = {}
    for input_ in dependencies(artifact):
        _add(files, input_.role, input_.path, functools.partial(_content, input_))
        for path in input_.companions():
            _add(files, input_.role, path)
        if input_.artifact is not None:
            with suppress(OSError, PunchlineError):  # as far as what names them can be read
                for path in input_.artifact.extra() if input_.artifact.extra_role else ():
                    _add(files, input_.artifact.extra_role, path)
                for role, path, answers in input_.artifact.journals():
                    _add(files, role, path, functools.partial(str, answers))
    for path in artifact.outputs:
        if not path.endswith(".lineage.json"):
            _add(files, "table", path)
    return [files[path] for path in sorted(files)]


def _add(files: dict[str, File], role: str, path: str, content: Callable[[], str | None] = lambda: None) -> None:
    try:
        file = File(path=path, role=role, sha256=digests.of_file(path), content=content())
    except (OSError, PunchlineError):
        file = File(path=path, role=role, sha256="")
    files.setdefault(path, file)


def _content(input_: Input) -> str | None:
    """Digest of the content that matters, if equal content may have other bytes; else None."""
    if input_.content is not None:
        return digest_of(input_.content())
    if input_.path.endswith(".parquet"):
        kind = "Score" if input_.role == "scores" else "Request" if input_.role.endswith("requests") else "Response"
        return str(digests.cached(kind, input_.path, lambda: digest_of([kind, [*digests_in(input_.path)]])))
    return None
