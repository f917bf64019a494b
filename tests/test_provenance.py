"""Whether an artefact is current: decided by what is there, by content, whatever its times say."""

import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from punchline import jobs as job
from punchline.artifacts.contents import files_beside
from punchline.core import benchmark as benchmarks
from punchline.errors import PunchlineError
from punchline.files import sha256_file
from punchline.paths import record_of
from punchline.workflow import code, digests, provenance
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
    monkeypatch.setattr(code, "parts", lambda *modules: {name: f"code of {name}" for name in modules})
    monkeypatch.setattr(provenance, "version_of", lambda name: VERSIONS.get(name, "absent"))
    monkeypatch.delenv(job.AGAIN, raising=False)
    (tmp_path / SOURCE).write_text("abc")
    (tmp_path / OTHER).write_text("xyz")
    yield tmp_path


def make(step: Artifact) -> None:
    """Make an artefact of its inputs, as a stage does: what is in it hangs on them and on the parameters."""
    before = step.inputs()
    write(step)
    write_provenance(step, before)


def write(step: Artifact) -> None:
    content = "".join(Path(need.path).read_text() for need in step.needs if need.decides)
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
        "needs": (Input("source", SOURCE),),
        "parameters": {"limit": 3, "models": ["a", "b"], "about": {"x": 1}},
        "build": BUILD,
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
    found = Path(path).stat()
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[::-1])
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert Path(path).stat().st_size == found.st_size and Path(path).stat().st_mtime_ns == found.st_mtime_ns


def older(path: str) -> None:
    same_size_same_time(path)
    os.utime(path, (1, 1))


def copied_over(path: str, content: str) -> None:
    """`cp -p` of a file as old as the first of all."""
    Path("copy").write_text(content)
    os.utime("copy", (1, 1))
    shutil.copy2("copy", path)


def moved_over(path: str, content: str) -> None:
    """A rename, as git, rsync and editors write: another inode with the same size and time."""
    found = Path(path).stat()
    Path("moved").write_text(content)
    os.utime("moved", ns=(found.st_atime_ns, found.st_mtime_ns))
    Path("moved").replace(path)


RECORD = record_of(ONE)
NO_RECORD = "no provenance record"


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        # the record
        (gone(RECORD), NO_RECORD),
        (gone(RECORD, ONE), "not built yet"),
        *((put(RECORD, text), NO_RECORD) for text in ("", "{", "[]", "null", "{}", '{"step": "one b"}', "\0")),
        (lambda: Path(RECORD).write_bytes(b"\xff\xfe"), NO_RECORD),
        (lambda: os.truncate(RECORD, 40), NO_RECORD),
        # its inputs
        (put(SOURCE, "abcd"), f"{SOURCE} changed"),
        (lambda: same_size_same_time(SOURCE), f"{SOURCE} changed"),
        (lambda: copied_over(SOURCE, "ABC"), f"{SOURCE} changed"),
        (lambda: moved_over(SOURCE, "ABC"), f"{SOURCE} changed"),
        (gone(SOURCE), f"{SOURCE} changed"),
        # its outputs: they will come out the same
        (gone(ONE), f"{ONE} is gone"),
        (gone("data/one.md"), "data/one.md is gone"),
        (gone("data/extra/2.png"), "data/extra/2.png is gone"),
        (lambda: shutil.rmtree("data/extra"), "data/extra/1.png is gone"),
        (put(ONE, "x"), f"{ONE} is not what was made"),
        (lambda: same_size_same_time(ONE), f"{ONE} is not what was made"),
        (lambda: older("data/one.md"), "data/one.md is not what was made"),
        (lambda: moved_over(ONE, Path(ONE).read_text().upper()), f"{ONE} is not what was made"),
        (lambda: older("data/extra/1.png"), "data/extra/1.png is not what was made"),
        # both: what changed decides
        (lambda: [older(SOURCE), Path(ONE).unlink()], f"{SOURCE} changed"),
        # nothing that counts
        (lambda: None, None),
        (lambda: os.utime(SOURCE, (1, 1)), None),
        (lambda: os.utime(ONE, (1, 1)), None),
        (put(SOURCE, "abc"), None),
        (lambda: copied_over(SOURCE, "abc"), None),
        (lambda: moved_over(SOURCE, "abc"), None),
        (lambda: copied_over(ONE, Path(ONE).read_text()), None),
        (lambda: Path(SOURCE).chmod(0o600), None),
        (put("data/extra/3.png", "of another selection"), None),
        (put(RECORD + "~", "an editor's"), None),
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
        ({"parameters": {"limit": "3", "models": ["a", "b"], "about": {"x": 1}}}, "limit: 3 → 3"),
        ({"parameters": {"limit": 3, "models": ["a", "b"], "about": {"x": True}}}, 'about: {"x":1} → {"x":true}'),
        ({"parameters": {"limit": 3, "models": ["b", "a"], "about": {"x": 1}}}, 'models: ["a","b"] → ["b","a"]'),
        ({"parameters": {"limit": 3, "models": ["a", "b"], "about": {"x": 2}}}, 'about: {"x":1} → {"x":2}'),
        ({"parameters": {"limit": 3, "models": ["a", "b"], "about": {"x": 1}, "new": 1}}, "new: null → 1"),
        ({"parameters": {"limit": 3, "models": ["a", "b"]}}, 'about: {"x":1} → null'),
        ({"parameters": {"limit": None, "models": [], "about": {"x": 1}}}, 'limit: 3 → null; models: ["a","b"] → []'),
        ({"parameters": {"limit": 3, "models": ("a", "b"), "about": {"x": 1}}}, None),  # a tuple is a list in a record
        ({"parameters": {"about": {"x": 1}, "models": ["a", "b"], "limit": 3}}, None),
        ({"code": ("punchline.stages.other",)}, "punchline.stages.other changed"),
        ({"build": "punchline.one:build"}, "punchline.one changed (and 1 more)"),
        ({"code": None}, "tests.test_provenance changed"),
        ({"libraries": ("numpy", "opencv")}, "opencv None → 4.10"),
        ({"libraries": ()}, "numpy 2.1 → None"),
        ({"libraries": ("numpy", "gone")}, "gone None → absent"),
        ({"needs": ()}, f"{SOURCE} counts no more"),
        ({"needs": (Input("source", SOURCE), Input("source", OTHER))}, f"{OTHER} is new"),
        ({"needs": (Input("source", OTHER),)}, f"{OTHER} is new (and 1 more)"),
        ({"needs": (Input("another role", SOURCE),)}, None),
        ({"needs": (Input("source", SOURCE), Input("first", OTHER, decides=False))}, None),
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


def test_a_new_version_of_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    make(one())
    for library, version, reason in (("opencv", "5.0", None), ("numpy", "2.2", "numpy 2.1 → 2.2")):
        monkeypatch.setitem(VERSIONS, library, version)
        assert why(one()) == reason


def test_long_values_are_shortened_in_words_only() -> None:
    long = "x" * 500
    make(one(parameters={"a": long}))
    said = why(one(parameters={"a": long + "y"}))
    assert said is not None and len(said) < 150 and said.count("…") == 2
    assert why(one(parameters={"a": long})) is None


def test_who_asks_gets_it_made_again() -> None:
    make(one())
    for again in ("all", "one", ONE, "data/one.md"):
        assert why(one(), "other", again) == "asked for"
    assert why(one(), "two", "on", "") is None


def test_what_counts_in_a_file_can_be_less_than_its_bytes() -> None:
    def step() -> Artifact:
        words = Input("source", SOURCE, content=lambda: sorted(Path(SOURCE).read_text().split()))
        return one(needs=(words,))

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

    assert why(one(needs=(Input("source", SOURCE, content=broken),))) == f"cannot be checked: {error}"


def test_the_record_can_lie_elsewhere() -> None:
    step = one(record="data/all.made.json")
    make(step)
    assert not Path(RECORD).exists() and why(one(record="data/all.made.json")) is None
    assert why(one()) == NO_RECORD


def test_a_record_names_all_and_neither_time_nor_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(one())
    content = Path(RECORD).read_bytes()
    made = read_provenance(one().record)
    assert made == Provenance(
        step="one b",
        inputs={SOURCE: sha256_file(SOURCE)},
        parameters={"limit": 3, "models": ["a", "b"], "about": {"x": 1}},
        code={"tests.test_provenance": "code of tests.test_provenance"},
        libraries={"numpy": "2.1"},
        outputs={name: sha256_file(name) for name in (ONE, "data/one.md", "data/extra/1.png", "data/extra/2.png")},
    )
    assert set(json.loads(content)) == {field.name for field in msgspec.structs.fields(Provenance)}
    assert content.endswith(b"}\n") and str(tmp_path).encode() not in content
    make(one())
    assert Path(RECORD).read_bytes() == content
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    shutil.copy2(SOURCE, elsewhere)
    os.utime(elsewhere / SOURCE, (1, 1))
    monkeypatch.chdir(elsewhere)
    monkeypatch.setattr(time, "time", lambda: 1.0)
    make(one())
    assert Path(RECORD).read_bytes() == content


@pytest.mark.parametrize("change", [put(SOURCE, "changed"), lambda: same_size_same_time(SOURCE)])
def test_an_input_that_changes_while_it_is_read(change: Callable[[], object]) -> None:
    for before in (False, True):  # without a record, and with one
        step = one()
        inputs = step.inputs()
        write(step)
        change()
        with pytest.raises(PunchlineError, match=rf"^{SOURCE}: the file changed while it was being read.*same command"):
            write_provenance(step, inputs)
        assert why(one()) is not None
        assert Path(RECORD).exists() is before
        Path(SOURCE).write_text("abc")
        make(one())
        assert why(one()) is None


@pytest.mark.parametrize("lost", [SOURCE, "data/one.md"])
def test_a_file_lost_before_the_record_is_written_leaves_no_record(lost: str) -> None:
    step = one()
    inputs = step.inputs()
    write(step)
    Path(lost).unlink()
    with pytest.raises(OSError, match=lost):
        write_provenance(step, inputs)
    assert not Path(RECORD).exists()


def rebuilt_the_same(step: Artifact) -> None:
    """Build an artifact of a changed source, which its output does not show."""
    content = Path(step.outputs[0]).read_bytes()
    Path(SOURCE).write_text("ABC")
    inputs = step.inputs()
    Path(step.outputs[0]).write_bytes(content)
    write_provenance(step, inputs)


def chain(**parameters: Any) -> dict[str, Artifact]:
    """source → one → two → three; three also takes `other`."""
    steps: dict[str, Artifact] = {}

    def need(name: str) -> Input:
        return Input(name, f"data/{name}.txt", steps[name])

    def step(name: str, *needs: Input) -> None:
        given = {"p": parameters.get(name, 0)}
        steps[name] = Artifact((f"data/{name}.txt",), needs, BUILD, given, rule=name)

    step("one", Input("source", SOURCE))
    step("two", need("one"))
    step("three", need("two"), Input("source", OTHER))
    return steps


def make_chain() -> None:
    for step in chain().values():
        make(step)


def stale(steps: Mapping[str, Artifact], *again: str) -> list[str]:
    """Names of the steps that are not current by their own inputs and outputs."""
    status = Status(again)
    return [name for name, step in steps.items() if status(step) is not None]


def run(steps: Callable[[], Mapping[str, Artifact]]) -> list[str]:
    """Build what is not current when its turn comes; its names."""
    made = []
    for name in steps():
        if stale({name: steps()[name]}):
            make(steps()[name])
            made.append(name)
    return made


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda: None, []),
        (put(SOURCE, "x"), ["one", "two", "three"]),
        (put(OTHER, "x"), ["three"]),
        # a lost or damaged output comes out the same: nothing that depends on it is built
        (gone(ONE), ["one"]),
        (gone(ONE, TWO, THREE), ["one", "two", "three"]),
        (gone(ONE, THREE), ["one", "three"]),
        (lambda: [older(ONE), older(TWO)], ["one", "two"]),
        (lambda: [Path(ONE).unlink(), Path(OTHER).write_text("x")], ["one", "three"]),
        (gone(record_of(ONE)), ["one"]),
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
    found = chain(**{changed: 1})
    status = Status()
    assert [name for name, step in found.items() if status.of_all(step) is not None] == expected
    if changed == "one":
        assert status.of_all(found["three"]) == f"{ONE} is not current: p: 0 → 1"
    assert run(lambda: chain(**{changed: 1})) == expected


def test_a_rebuild_with_the_same_content_ends_there() -> None:
    make_chain()
    rebuilt_the_same(chain()["one"])
    assert stale(chain()) == []


def test_what_must_be_there_first_decides_nothing() -> None:
    steps = chain()
    needs = (Input("source", OTHER), Input("first", ONE, steps["one"], decides=False))
    last = Artifact(("data/last.txt",), needs, BUILD, rule="last")
    make(steps["one"])
    inputs = last.inputs()
    write(last)
    Path(ONE).write_text("changed meanwhile")
    write_provenance(last, inputs)
    for spoil in (put(SOURCE, "x"), gone(ONE), gone(record_of(ONE))):
        spoil()
        assert stale({"one": chain()["one"], "last": last}) == ["one"]
    assert ONE not in read_provenance(last.record).inputs  # type: ignore[union-attr]


def test_what_an_artifact_names_decides_although_it_is_not_read() -> None:
    """A lineage names the source; the source changes, and what is built from it does not."""

    def steps() -> dict[str, Artifact]:
        found = chain()
        return found | {"three": replace(found["three"], names=lambda: dependencies(found["two"]))}

    for step in steps().values():
        make(step)
    assert set(read_provenance(record_of(THREE)).inputs) == {SOURCE, ONE, TWO, OTHER}  # type: ignore[union-attr]
    rebuilt_the_same(steps()["one"])
    assert stale(steps()) == ["three"] and why(steps()["three"]) == f"{SOURCE} changed"
    assert run(steps) == ["three"] and stale(steps()) == []


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda: None, None),
        (put(OTHER, "more"), "other answers count"),
        (gone(ONE), f"{ONE} is gone"),
        (put(ONE, "x"), f"{ONE} is not what was made"),
    ],
)
def test_intact_outputs_can_be_outdated_all_the_same(spoil: Callable[[], object], reason: str | None) -> None:
    before = Path(OTHER).read_text()
    asking = one(verify=lambda: None if Path(OTHER).read_text() == before else "other answers count")
    make(asking)
    spoil()
    assert why(asking) == reason


def test_each_source_is_read_once() -> None:
    looked: list[int] = []
    needs = (Input("source", SOURCE, content=lambda: looked.append(1)),)
    steps = {f"n{n}": Artifact((f"data/n{n}",), needs, BUILD, rule=f"n{n}") for n in range(5)}
    for step in steps.values():
        make(step)
    looked.clear()
    assert stale(steps) == [] and looked == [1]


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from([SOURCE, OTHER]), st.sampled_from(["abc", "abd", "x"])),
        st.tuples(st.just("lose"), st.sampled_from([ONE, TWO, THREE]), st.just("")),
        st.tuples(st.just("lose"), st.sampled_from([record_of(ONE), record_of(TWO), record_of(THREE)]), st.just("")),
        st.tuples(st.just("write"), st.sampled_from([ONE, TWO, THREE]), st.sampled_from(["", "abc", "damaged"])),
        st.tuples(st.just("older"), st.sampled_from([SOURCE, ONE, TWO, THREE]), st.just("")),
        st.tuples(st.just("parameter"), st.sampled_from(["one", "two", "three"]), st.sampled_from("01")),
        st.tuples(st.just("run"), st.just(""), st.just("")),
    ),
    max_size=12,
)
FOLDERS = itertools.count()


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OPERATIONS)
def test_whatever_happens_a_run_gives_what_a_run_from_nothing_gives(
    tmp_path: Path, operations: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path / str(next(FOLDERS))
    folder.mkdir()
    os.chdir(folder)  # monkeypatch.chdir of the fixture puts it back
    parameters: dict[str, str] = {}

    def run_all() -> None:
        run(lambda: chain(**parameters))
        assert stale(chain(**parameters)) == []

    for path in (SOURCE, OTHER):
        Path(path).write_text("abc")
    run_all()
    for what, which, value in operations:
        if what == "write":
            Path(which).write_text(value)
        elif what == "lose":
            Path(which).unlink(missing_ok=True)
        elif what == "older" and Path(which).is_file():
            os.utime(which, (1, 1))
        elif what == "parameter":
            parameters[which] = value
        elif what == "run":
            run_all()
    run_all()
    found = {path: Path(path).read_text() for path in (ONE, TWO, THREE)}
    shutil.rmtree("data")
    run_all()
    assert found == {path: Path(path).read_text() for path in found}


def test_a_build_that_fails_leaves_no_record_of_what_it_began() -> None:
    def fails(step: Artifact) -> None:
        Path(ONE).parent.mkdir(exist_ok=True)
        Path(ONE).write_text("half")
        raise PunchlineError("no more")

    with pytest.raises(PunchlineError, match="no more"):
        job.build(fails, one())  # type: ignore[arg-type]
    assert why(one()) == NO_RECORD
    job.build(write, one(wildcards=()))  # type: ignore[arg-type]
    assert why(one()) is None
    Path(SOURCE).write_text("new")
    with pytest.raises(PunchlineError, match="no more"):
        job.build(fails, one())  # type: ignore[arg-type]
    Path(SOURCE).write_text("abc")  # back, but what was begun is there
    assert why(one()) == f"{ONE} is not what was made"


def test_a_build_may_use_the_code_that_is_named_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asking = benchmarks.module_of("pixelhumor", "ask")
    monkeypatch.setattr(benchmarks, "LOADED", set())
    monkeypatch.setattr(code, "closure", lambda *modules: dict.fromkeys(modules))

    def write_and_ask(step: Artifact) -> None:
        assert benchmarks.load("pixelhumor").requests
        write(step)

    job.build(write_and_ask, one(code=(asking,)))  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match=f"one b used code that its artifact does not name: {asking}"):
        job.build(write_and_ask, one(record="data/other.made.json"))  # type: ignore[arg-type]
    assert not Path("data/other.made.json").exists()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests are kept at once, not when a file is some seconds old. Writes below are apart by more than a tick."""
    monkeypatch.setattr(digests, "_JUST_NOW_NS", 0)
    tick()


def tick() -> None:
    time.sleep(0.03)


class Counted:
    """A digest that counts how often it is computed."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, path: str = SOURCE, kind: str = "kind") -> Any:
        def compute() -> Any:
            self.times += 1
            return [Path(path).read_text()]

        return digests.cached(kind, path, compute)


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda: None, False),
        (put(SOURCE, "longer"), True),
        (lambda: same_size_same_time(SOURCE), True),
        (lambda: older(SOURCE), True),
        (lambda: copied_over(SOURCE, "ABC"), True),
        (lambda: moved_over(SOURCE, "ABC"), True),
        (lambda: os.utime(SOURCE, (1, 1)), True),  # computed again, and the same
    ],
)
def test_a_digest_is_computed_once_for_a_file(settled: None, change: Callable[[], object], again: bool) -> None:
    counted = Counted()
    tick()
    for _ in range(3):
        assert counted() == ["abc"]
    assert counted.times == 1
    tick()
    change()
    tick()
    assert counted() == [Path(SOURCE).read_text()]
    assert counted.times == 1 + again
    assert counted() == [Path(SOURCE).read_text()]
    assert counted.times == 1 + again


def test_a_file_that_may_still_change_is_read_each_time() -> None:
    counted = Counted()
    counted()
    counted()
    assert counted.times == 2
    for text in ("abd", "abe", "abf"):  # within one tick of the clock, and of one size
        Path(SOURCE).write_text(text)
        assert counted() == [text] and digests.of_file(SOURCE) == sha256_file(SOURCE)


def test_a_file_that_changes_while_it_is_read_is_not_remembered(settled: None) -> None:
    def compute() -> str:
        content = Path(SOURCE).read_text()
        tick()
        Path(SOURCE).write_text("newer")
        return content

    assert digests.cached("kind", SOURCE, compute) == "abc"
    tick()
    assert Counted()() == ["newer"]


def test_kinds_and_files_are_apart_and_what_is_kept_is_plain_data(settled: None) -> None:
    counted = Counted()
    assert counted(SOURCE, "a") == counted(SOURCE, "b") == ["abc"] != counted(OTHER, "a")
    assert counted.times == 3
    for compute in (lambda: (1, ("a",)), lambda: None):  # the second is not computed
        assert digests.cached("tuple", SOURCE, compute) == [1, ["a"]]
    with pytest.raises(OSError, match="nowhere"):
        counted("nowhere")


def known() -> digests._Cache:
    return digests._cache(Path.cwd())


def another_process() -> None:
    known().save()
    digests._cache.cache_clear()


@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"[]", b'{"kind:source.txt": 1}', b'{"kind:source.txt": [[1], "x"]}', b"\xff", b"null"]
)
def test_digests_are_kept_between_processes(settled: None, content: bytes | None) -> None:
    """A damaged cache costs time only."""
    counted, cache = Counted(), Path(".punchline/digests.json")
    counted()
    another_process()
    if content is not None:
        cache.write_bytes(content)
    for _ in range(2):
        assert counted() == ["abc"] and counted.times == 1 + (content is not None)
        another_process()
    before = cache.stat().st_mtime_ns
    another_process()  # nothing was learnt: nothing is written
    assert cache.stat().st_mtime_ns == before


def test_a_cache_that_cannot_be_written_costs_time_only(settled: None, here: Path) -> None:
    Path(".punchline").write_text("a file in its place")
    counted = Counted()
    counted()
    known().save()
    assert Path(".punchline").read_text() == "a file in its place"
    shutil.rmtree(here)
    known_before = digests._Cache(here / ".punchline" / "digests.json")
    known_before.changed = True
    known_before.save()  # the folder went: nothing is made in its place
    assert not here.exists()
    here.mkdir()


def test_what_a_kill_left_is_no_file_beside(tmp_path: Path) -> None:
    """A record would name it, and the next look would miss it: it is swept with the next write."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for name in ("index.js", "0.js", "index.js.made.json", ".0.js.abc.part"):
        (folder / name).touch()
    assert files_beside(folder / "index.js") == [(folder / "0.js").as_posix()]
