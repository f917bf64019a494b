"""Artifacts are current by content, whatever the times of files say; what is rebuilt."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from punchline import jobs as job
from punchline.errors import PunchlineError
from punchline.files import sha256_file
from punchline.paths import record_of
from punchline.workflow import code, provenance
from punchline.workflow.provenance import (
    Artifact,
    Input,
    Provenance,
    Status,
    dependencies,
    read_provenance,
    write_provenance,
)

SOURCE, OTHER, ONE, TWO, THREE = "source.txt", "other.txt", "data/one.txt", "data/two.txt", "data/three.txt"
VERSIONS = {"numpy": "2.1", "opencv": "4.10"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own, and code and libraries that a test changes with `code_is` and `VERSIONS`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(code, "parts", lambda *scopes: {name: f"code of {name}" for name in scopes})
    monkeypatch.setattr(provenance, "version_of", lambda name: VERSIONS.get(name, "absent"))
    monkeypatch.delenv(job.AGAIN, raising=False)
    (tmp_path / SOURCE).write_text("abc")
    (tmp_path / OTHER).write_text("xyz")
    yield tmp_path


def make(step: Artifact) -> None:
    """Make an artifact, as a stage does: its content depends on its inputs and parameters."""
    before = step.input_digests()
    write(step)
    write_provenance(step, before)


def write(step: Artifact) -> None:
    content = "".join(Path(need.path).read_text() for need in step.inputs if need.decides)
    for path in [*step.outputs, *step.extra()]:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(f"{path} of [{content}] and {json.dumps(dict(step.parameters), default=str)}\n")


BUILD = "tests.test_provenance:build_one"


def build_one(given: Callable[[Artifact], None], *wildcards: str) -> None:
    """What job.build calls; the test is in place of a project."""
    given(one())


def one(**changes: Any) -> Artifact:
    fields: dict[str, Any] = {
        "rule": "one",
        "wildcards": ("b",),
        "outputs": (ONE, "data/one.md"),
        "inputs": (Input("source", SOURCE),),
        "parameters": {"limit": 3, "models": ["a", "b"], "about": {"x": 1}},
        "build": BUILD,
        "code": ("common",),
        "libraries": ("numpy",),
        "extra": lambda: ["data/extra/1.png", "data/extra/2.png"],
    }
    return Artifact(**fields | changes)


def why(step: Artifact, *again: str) -> str | None:
    return Status(again)(step)


def put(path: str, text: str) -> Callable[[], object]:
    return lambda: Path(path).write_text(text)


def gone(*names: str) -> Callable[[], object]:
    return lambda: [Path(name).unlink() for name in names]


def same_size_same_time(path: str) -> None:
    """Another content of the same size, with the times that the file had."""
    result = Path(path).stat()
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[::-1])
    os.utime(path, ns=(result.st_atime_ns, result.st_mtime_ns))
    assert Path(path).stat().st_size == result.st_size and Path(path).stat().st_mtime_ns == result.st_mtime_ns


def older(path: str) -> None:
    same_size_same_time(path)
    os.utime(path, (1, 1))


def moved_over(path: str, content: str) -> None:
    """A rename, as git, rsync and editors write: another inode with the same size and time."""
    result = Path(path).stat()
    Path("moved").write_text(content)
    os.utime("moved", ns=(result.st_atime_ns, result.st_mtime_ns))
    Path("moved").replace(path)


RECORD = record_of(ONE)
NO_RECORD = "no provenance record"


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        # the record
        (gone(RECORD), NO_RECORD),
        (gone(RECORD, ONE), "not built yet"),
        *((put(RECORD, text), NO_RECORD) for text in ("", "{", "{}", "\0")),
        # its inputs
        (put(SOURCE, "abcd"), f"{SOURCE} changed"),
        (lambda: same_size_same_time(SOURCE), f"{SOURCE} changed"),
        (lambda: moved_over(SOURCE, "ABC"), f"{SOURCE} changed"),
        (gone(SOURCE), f"{SOURCE} changed"),
        # its outputs: they will come out the same
        (gone(ONE), f"{ONE} is gone"),
        (gone("data/one.md"), "data/one.md is gone"),
        (gone("data/extra/2.png"), "data/extra/2.png is gone"),
        (put(ONE, "x"), f"{ONE} is not what was made"),
        (lambda: older("data/extra/1.png"), "data/extra/1.png is not what was made"),
        # both: what changed decides
        (lambda: [older(SOURCE), Path(ONE).unlink()], f"{SOURCE} changed"),
        # nothing that counts
        (lambda: os.utime(SOURCE, (1, 1)), None),
        (lambda: os.utime(ONE, (1, 1)), None),
        (lambda: moved_over(SOURCE, "abc"), None),
        (put("data/extra/3.png", "of another selection"), None),
    ],
)
def test_what_is_there(spoil: Callable[[], object], reason: str | None) -> None:
    make(one())
    assert why(one()) is None
    content = Path(ONE).read_bytes()
    spoil()
    recorded = reason not in (NO_RECORD, "not built yet")
    unchanged = Path(ONE).is_file() and Path(ONE).read_bytes() == content
    assert provenance.is_intact(ONE) is (recorded and unchanged)
    assert not provenance.is_intact(SOURCE)  # not an output
    assert why(one()) == reason
    if Path(SOURCE).is_file():
        make(one())
        assert why(one()) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"parameters": {"limit": 4, "models": ["a", "b"], "about": {"x": 1}}}, "limit: 3 → 4"),
        ({"parameters": {"limit": "3", "models": ["a", "b"], "about": {"x": 1}}}, 'limit: 3 → "3"'),
        ({"parameters": {"limit": 3, "models": ["a", "b"], "about": {"x": True}}}, 'about: {"x":1} → {"x":true}'),
        ({"parameters": {"limit": 3, "models": ["b", "a"], "about": {"x": 1}}}, 'models: ["a","b"] → ["b","a"]'),
        ({"parameters": {"limit": 3, "models": ["a", "b"], "about": {"x": 1}, "new": 1}}, "new: null → 1"),
        ({"parameters": {"limit": 3, "models": ["a", "b"]}}, 'about: {"x":1} → null'),
        ({"parameters": {"limit": None, "models": [], "about": {"x": 1}}}, 'limit: 3 → null; models: ["a","b"] → []'),
        ({"parameters": {"limit": 3, "models": ("a", "b"), "about": {"x": 1}}}, None),  # a tuple is a list in a record
        ({"code": ("common", "other")}, "other changed"),
        ({"code": ("a.py", "b.txt")}, "b.txt changed (and 2 more)"),  # prompts first
        ({"code": ()}, "common changed"),
        ({"libraries": ("numpy", "opencv")}, "opencv None → 4.10"),
        ({"libraries": ("gone",)}, "gone None → absent; numpy 2.1 → None"),
        ({"inputs": ()}, f"{SOURCE} counts no more"),
        ({"inputs": (Input("source", SOURCE), Input("source", OTHER))}, f"{OTHER} is new"),
        ({"inputs": (Input("source", OTHER),)}, f"{OTHER} is new (and 1 more)"),
        ({"inputs": (Input("another role", SOURCE),)}, None),
        ({"inputs": (Input("source", SOURCE), Input("first", OTHER, decides=False))}, None),
        ({"outputs": (ONE, "data/one.md", "data/one.tex")}, "data/one.tex was never made"),
        ({"rule": "renamed", "wildcards": ("c",)}, None),
        ({"extra": list}, None),  # what was recorded counts
    ],
)
def test_what_is_asked(changes: dict[str, Any], reason: str | None) -> None:
    make(one())
    assert why(one(**changes)) == reason
    make(one(**changes))
    assert why(one(**changes)) is None


def test_who_asks_gets_it_made_again() -> None:
    make(one())
    for again in ("all", "one", ONE, "data/one.md"):
        assert why(one(), "other", again) == "asked for"
    assert why(one(), "two", "on", "") is None


def test_what_counts_in_a_file_can_be_less_than_its_bytes() -> None:
    def step() -> Artifact:
        words = Input("source", SOURCE, content=lambda: sorted(Path(SOURCE).read_text().split()))
        return one(inputs=(words,))

    make(step())
    for text, reason in (("abc", None), (" abc\n", None), ("abc d", f"{SOURCE} changed"), ("", f"{SOURCE} changed")):
        Path(SOURCE).write_text(text)
        assert why(step()) == reason
    Path(SOURCE).unlink()
    assert why(step()) == f"{SOURCE} changed"


@pytest.mark.parametrize("error", [PunchlineError("no table", file=SOURCE), OSError("no permission")])
def test_what_cannot_be_read_is_not_current_and_no_error(error: Exception) -> None:
    make(one())

    def broken() -> Any:
        raise error

    assert why(one(inputs=(Input("source", SOURCE, content=broken),))) == f"cannot be checked: {error}"


def test_a_record_names_all_and_neither_time_nor_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(one())
    content = Path(RECORD).read_bytes()
    result = read_provenance(one().record)
    assert result == Provenance(
        step="one b",
        inputs={SOURCE: sha256_file(SOURCE)},
        parameters={"limit": 3, "models": ["a", "b"], "about": {"x": 1}},
        code={"common": "code of common"},
        libraries={"numpy": "2.1"},
        outputs={name: sha256_file(name) for name in (ONE, "data/one.md", "data/extra/1.png", "data/extra/2.png")},
    )
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    shutil.copy2(SOURCE, elsewhere)
    os.utime(elsewhere / SOURCE, (1, 1))
    monkeypatch.chdir(elsewhere)
    monkeypatch.setattr(time, "time", lambda: 1.0)
    make(one())
    assert Path(RECORD).read_bytes() == content


def build(step: Artifact, *meanwhile: Callable[[], object]) -> None:
    """Build an artifact as a job does; at the end of it something happens."""

    def write_and_go_on(step: Artifact) -> None:
        write(step)
        for happens in meanwhile:
            happens()

    job.build(write_and_go_on, step)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [put(SOURCE, "changed"), lambda: same_size_same_time(SOURCE), gone(SOURCE)])
def test_an_input_that_changes_while_it_is_read(change: Callable[[], object]) -> None:
    build(one(), change)
    assert why(one()) == f"{SOURCE} changed"


def test_intact_outputs_can_be_outdated_all_the_same() -> None:
    asking = one(verify=lambda: None if Path(OTHER).read_text() == "xyz" else "other answers count")
    make(asking)
    assert why(asking) is None
    Path(OTHER).write_text("more")
    assert why(asking) == "other answers count"


def test_a_build_that_fails_leaves_no_record_of_what_it_began() -> None:
    def fails(step: Artifact) -> None:
        put(ONE, "half")()
        raise PunchlineError("no more")

    Path(ONE).parent.mkdir()
    for reason in (NO_RECORD, f"{ONE} is not what was made"):
        with pytest.raises(PunchlineError, match="no more"):
            job.build(fails, one())  # type: ignore[arg-type]
        assert why(one()) == reason
        build(one(wildcards=()))
        assert why(one()) is None


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


def test_a_damaged_output_is_stale_for_its_own_part_only() -> None:
    made = one(outputs=(ONE, "data/one.md", TWO))
    make(made)
    parts = [(ONE, "data/one.md"), (TWO,)]
    assert Status().of_parts(made, parts) == [None, None]
    put("data/one.md", "x")()
    assert Status().of_parts(made, parts) == ["data/one.md is not what was made", None]
    gone(TWO)()
    assert Status().of_parts(made, parts) == ["data/one.md is not what was made", f"{TWO} is gone"]
    put(SOURCE, "x")()
    assert Status().of_parts(made, parts) == [f"{SOURCE} changed"] * 2


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
