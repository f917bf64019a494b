"""Artifacts that are rebuilt after a change, and those that are not."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.test_provenance import BUILD, ONE, OTHER, SOURCE, THREE, TWO, gone, here, make, put, why

from punchline.paths import record_of
from punchline.workflow.provenance import Artifact, Input, Status, dependencies, read_provenance, write_provenance

__all__ = ["here"]


def chain(**parameters: Any) -> dict[str, Artifact]:
    """source → one → two → three; three also takes `other`."""
    artifacts: dict[str, Artifact] = {}

    def need(name: str) -> Input:
        return Input(name, f"data/{name}.txt", artifacts[name])

    def step(name: str, *needs: Input) -> None:
        given = {"p": parameters.get(name, 0)}
        artifacts[name] = Artifact((f"data/{name}.txt",), needs, BUILD, given, rule=name)

    step("one", Input("source", SOURCE))
    step("two", need("one"))
    step("three", need("two"), Input("source", OTHER))
    return artifacts


def make_chain() -> None:
    for artifact in chain().values():
        make(artifact)


def stale(steps: Mapping[str, Artifact], *again: str) -> list[str]:
    """Names of the steps that are not current by their own inputs and outputs."""
    status = Status(again)
    return [name for name, step in steps.items() if status(step) is not None]


def run(steps: Callable[[], Mapping[str, Artifact]]) -> list[str]:
    """Build what is not current when its turn comes; its names."""
    result = []
    for name in steps():
        if stale({name: steps()[name]}):
            make(steps()[name])
            result.append(name)
    return result


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (put(SOURCE, "x"), ["one", "two", "three"]),
        (put(OTHER, "x"), ["three"]),
        # a lost or damaged output comes out the same: nothing that depends on it is built
        (gone(ONE), ["one"]),
        (gone(ONE, THREE), ["one", "three"]),
        (lambda: [Path(ONE).unlink(), Path(OTHER).write_text("x")], ["one", "three"]),
        (gone(ONE, record_of(ONE)), ["one"]),
        (lambda: [Path(ONE).unlink(), Path(SOURCE).write_text("x")], ["one", "two", "three"]),
    ],
)
def test_a_run_builds_no_more_than_it_must(spoil: Callable[[], object], expected: list[str]) -> None:
    make_chain()
    before = {path: Path(path).read_bytes() for path in (ONE, TWO, THREE)}
    spoil()
    assert run(chain) == expected
    assert stale(chain()) == []
    if Path(SOURCE).read_text() == "abc" and Path(OTHER).read_text() == "xyz":
        assert {path: Path(path).read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("changed", "expected"),
    [("one", ["one", "two", "three"]), ("two", ["two", "three"]), ("three", ["three"]), ("none", [])],
)
def test_a_parameter_changes_all_that_depends_on_it(changed: str, expected: list[str]) -> None:
    make_chain()
    assert stale(chain(), changed) == [name for name in expected if name == changed]
    result = chain(**{changed: 1})
    status = Status()
    assert [name for name, step in result.items() if status.of_all(step) is not None] == expected
    if changed == "one":
        assert status.of_all(result["three"]) == f"{ONE} is not current: p: 0 → 1"
    assert run(lambda: chain(**{changed: 1})) == expected


def test_what_an_artifact_names_decides_although_it_is_not_read() -> None:
    """A lineage names the source; the source changes, and what is built from it does not."""

    def steps() -> dict[str, Artifact]:
        result = chain()
        return result | {"three": replace(result["three"], names=lambda: dependencies(result["two"]))}

    for artifact in steps().values():
        make(artifact)
    assert set(read_provenance(record_of(THREE)).inputs) == {SOURCE, ONE, TWO, OTHER}  # type: ignore[union-attr]
    inputs, content = steps()["one"].input_digests, Path(ONE).read_bytes()
    Path(SOURCE).write_text("ABC")  # its output does not show it
    write_provenance(steps()["one"], inputs())
    assert Path(ONE).read_bytes() == content
    assert stale(steps()) == ["three"] and why(steps()["three"]) == f"{SOURCE} changed"
    assert run(steps) == ["three"] and stale(steps()) == []
