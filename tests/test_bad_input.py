"""What hurried people and hostile files do ends in one clear message or a counted state, and nothing is lost."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.selected import selection_json

from punchline.bench.render import read_published
from punchline.benchmarks import pixelhumor
from punchline.benchmarks.pixelhumor import demo
from punchline.core import engine as engines
from punchline.core.errors import PunchlineError
from punchline.core.records import Gold, Grade, Item, ModelCard, Request, Response
from punchline.core.storage import digests_in, parse_csv, read_columns, read_table, write_table
from punchline.project.selection import read_card, read_selection
from punchline.stages.cells import who_in
from punchline.stages.grade import grade
from punchline.stages.infer import infer
from punchline.stages.prepare import select


@pytest.fixture
def project(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the project's config/, to spoil."""
    shutil.copytree(root / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ------------------------------------------------------------------------------------------------------ configuration


def replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text + "  x: [\n", r"config/run.yaml, line \d+: malformed YAML"),
        (replaced("seed: 0", "\tseed: 0"), r"config/run.yaml, line \d+: malformed YAML: found character '\\t'"),
        (lambda text: text + "\nseed: 1\n", r"line \d+: malformed YAML: the key 'seed' is there twice"),
        (replaced("seed:", "sede:"), "unknown key 'sede'. Did you mean 'seed'"),
        (replaced("seed: 0", "#"), "config/run.yaml: the key 'seed' is missing"),
        (replaced("mirror: null", "#"), "the key 'mirror' is missing"),
        (replaced("models: [", "#"), "the key 'models' is missing"),
        (replaced("seed: 0", "seed: zero"), "config/run.yaml, field seed: Expected `int`, got `str`"),
        (replaced("seed: 0", "seed: ${nope}"), "config/run.yaml: Interpolation key 'nope' not found"),
        (replaced("corpus: demo", "corpus: dmeo"), "field corpus: unknown corpus 'dmeo'. Did you mean 'demo'"),
        (replaced("  - corpus: demo", "  - x"), "config/run.yaml, field defaults: expected the name of a corpus"),
        (replaced("mirror: null", "mirror: [a]"), "field mirror: expected one folder or URL"),
        (replaced("judge: null", "judge: x"), "field judge: unknown judge 'x'"),
        (lambda _: "", "config/run.yaml: expected a mapping"),
        (lambda _: "- a\n", "config/run.yaml: expected a mapping"),
    ],
)
def test_a_broken_run_yaml(project: Path, spoil: Callable[[str], str], message: str) -> None:
    file = project / "config/run.yaml"
    file.write_text(spoil(file.read_text()))
    with pytest.raises(PunchlineError, match=message):
        read_selection({})


def test_a_run_yaml_that_is_not_text_or_not_there(project: Path) -> None:
    (project / "config/run.yaml").write_bytes(b"seed: 0\nx: \xff\n")
    with pytest.raises(PunchlineError, match=r"config/run.yaml, line 2: byte 11 is not UTF-8"):
        read_selection({})
    shutil.rmtree(project / "config")
    with pytest.raises(PunchlineError, match=r"config/run.yaml: cannot be read.*project's root"):
        read_selection({})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: open\ndrawn: false\n", "config/corpus/open.yaml: the key 'raw' is missing"),
        ("name: open\nraw: data/raw\ndrwan: false\n", "unknown key 'drwan'. Did you mean 'drawn'"),
        ("name: open\nraw: /etc\ndrawn: false\n", "field raw: '/etc' is no folder inside the project"),
        ("name: open\nraw: a/../../b\ndrawn: false\n", "field raw: .* is no folder inside the project"),
        ("name: open\nraw: 'a; rm b'\ndrawn: false\n", "field raw: .* is no folder inside the project"),
        ("name: full\nraw: data/raw\ndrawn: false\n", "field name: expected the file's stem, 'open', got 'full'"),
        ("name: open\nraw: a\ndrawn: false\nsources: {pixelhumour: [xkcd]}\n", "Did you mean 'pixelhumor'"),
        ("name: open\nraw: a\ndrawn: false\nsources: {pixelhumor: xkcd}\n", "Expected `array`, got `str`"),
    ],
)
def test_a_broken_corpus(project: Path, text: str, message: str) -> None:
    (project / "config/corpus/open.yaml").write_text(text)
    with pytest.raises(PunchlineError, match=message):
        read_selection({"corpus": "open"})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"seed": -1}, "--config, field seed: expected at least 0, got -1"),
        ({"seed": 10**30}, "--config, field seed: expected less than 2"),
        ({"limit": 10**30}, "--config, field limit: expected less than 2"),
        ({"limit": True}, "--config, field limit: Expected"),
        ({"corpus": ["open"]}, "unknown corpus"),
        ({"mirror": {"a": 1}}, "--config, field mirror"),
        ({"subset": "config"}, "--config, field subset: config cannot be read"),
        ({"subset": "a\0b"}, "--config, field subset"),
        ({"subset": "{a}.csv"}, "--config, field subset: braces in the file name"),
        ({"subset": "config/run.yaml"}, r"config/run\.yaml, line 1, field item_id: missing column"),
        ({"models": [None]}, "expected a list of names"),
        ({"models": ["../x"]}, "unknown models '../x'"),
    ],
)
def test_a_bad_override_names_the_command_line(project: Path, overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(PunchlineError, match=message):
        read_selection(overrides)


@pytest.mark.parametrize(
    "stem",
    ["a b", "it's", 'a"b', "a;touch x", "$(id)", "a`id`b", "-x", ".x", "..", "a{b}", "a,b", "a\nb", "x" * 101],
)
def test_a_model_is_never_named_as_a_command(project: Path, stem: str) -> None:
    (project / "config/model" / f"{stem}.yaml").write_text("engine: baselines\nbaseline: random\n")
    with pytest.raises(PunchlineError, match=r"can be no model's name. Rename the file"):
        read_selection({"models": [stem]})
    with pytest.raises(PunchlineError, match="can be no model's name"):
        read_card(stem)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"engine: repl\xe9y", r"line 1: byte 12 is not UTF-8"),
        (b"engine: ocr\nengine: replay\n", r"line 2: malformed YAML: the key 'engine' is there twice"),
        (b"5: x\nengine: replay\n", "expected a name for a key, got 5"),
        (b"- " * 3000, "cannot be read"),
        (b"a: !!timestamp 2020-13-45\n", "month must be in"),
        (b"engine: !!python/object/apply:os.system [id]", "malformed YAML"),
    ],
)
def test_a_broken_card(project: Path, content: bytes, message: str) -> None:
    (project / "config/model/bad.yaml").write_bytes(content)
    with pytest.raises(PunchlineError, match=message) as raised:
        read_card("bad")
    assert str(raised.value).startswith("config/model/bad.yaml")


@pytest.mark.parametrize("path", ["data/replay/none.json", "~/none.json", "../none.json", "config", '"a\\0b"'])
def test_released_answers_that_are_not_there(project: Path, path: str) -> None:
    (project / "config/model/mine.yaml").write_text(f"engine: replay\nformat: pixelhumor\npath: {path}\n")
    card = read_card("mine")
    engine = engines.load(card, 0)
    with pytest.raises(PunchlineError, match=r"config/model/mine.yaml, field path: no such file"):
        engines.check_files(card, engine)
    with pytest.raises(PunchlineError, match=r"config/model/mine.yaml, field path: cannot read"):
        engine.identity()


# -------------------------------------------------------------------------------------------------------------- files

COMICS = [("a_1", "a", "u"), ("a_2", "a", "u"), ("b_1", "b", "u")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbfcomic_id\r\na_2\r\n", ["a_2"]),
        (b'"comic_id"\n"b_1"\n', ["b_1"]),
        (b"item_id,comic_id\na_1,b_1\n", ["a_1"]),
        (b"", "empty file"),
        (b"comic_id\n", "the selection holds no item"),
        (b"id\na_1\n", "line 1, field item_id: missing column"),
        (b"comic_id\na_1\na_1\n", "line 3, record a_1, field comic_id: the id is there already, in line 2"),
        (b"comic_id\nc_1\n", "line 2, record c_1, field comic_id: no such item"),
        ("comic_id\na_1\n".encode("utf-16"), "line 1: byte 0 is not UTF-8"),
        (b"comic_id\na_1,x\n", "line 2, record a_1: 2 cells where the header has 1"),
        (b'comic_id\n"a_1\n', "line 2: malformed CSV"),
    ],
)
def test_a_subset(tmp_path: Path, content: bytes, expected: str | list[str]) -> None:
    file = tmp_path / "mine.csv"
    file.write_bytes(content)
    if isinstance(expected, list):
        chosen = select(COMICS, sources=None, subset=str(file), limit=None)
        assert [comic[0] for comic in chosen] == expected
    else:
        with pytest.raises(PunchlineError, match=expected) as raised:
            select(COMICS, sources=None, subset=str(file), limit=None)
        assert str(raised.value).startswith(str(file))


def test_a_source_that_no_comic_has() -> None:
    with pytest.raises(PunchlineError, match="field sources: no comic is from 'c'"):
        select(COMICS, sources=["a", "c"], subset=None, limit=None)


def test_a_column_twice() -> None:
    with pytest.raises(PunchlineError, match=r"x.csv, line 1, field a: the column is there twice"):
        parse_csv(b"a,a\n1,2\n", ["a"], file="x.csv")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("p,table8,GPT,subset,wer,1.0,5,", "line 2, record GPT, field key: 'subset' cannot be read"),
        ("p,table8,GPT,,wer,high,5,", "line 2, record GPT, field value: 'high' cannot be read"),
        ("p,table8,GPT,,wer,1.0,many,", "line 2, record GPT, field n: 'many' cannot be read"),
    ],
)
def test_broken_published_values(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "p.csv"
    file.write_text(f"paper,table,row,key,column,value,n,note\n{line}\n")
    with pytest.raises(PunchlineError, match=message):
        read_published(file)


def responses(text: str) -> list[Response]:
    return [
        Response(request_id=f"{n:064d}", model_key="k", state="ok", text=text, engine="e", engine_version="1")
        for n in range(8)
    ]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_table_of_records_is_an_error(tmp_path: Path, data: st.DataObject) -> None:
    """Bytes changed or cut off: what was written, or a PunchlineError."""
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    write_table(good, responses("x"), Response)
    content = bytearray(good.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place] ^= data.draw(st.integers(1, 255))
    bad.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) // 2, 7, 0]))])
    try:
        assert read_table(bad, Response) == responses("x")
    except PunchlineError as error:
        assert "bad.parquet" in str(error)
    for read in (digests_in, who_in):
        try:
            read(bad)
        except PunchlineError as error:
            assert "bad.parquet" in str(error)


def test_a_table_without_the_column(tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", responses("x"), Response)
    with pytest.raises(PunchlineError, match="field nope: missing column"):
        read_columns(tmp_path / "a.parquet", ["nope"])


# ------------------------------------------------------------------------------------------------------------ answers


class Saying:
    """An engine that answers everything with one text."""

    name = "saying"
    version = "1"
    needs_images = False

    def __init__(self, text: str) -> None:
        self.text = text

    def identity(self) -> dict[str, Any]:
        return {}

    def answer(self, requests: Sequence[Request], images: Mapping[str, Path], model_key: str) -> Iterator[Response]:
        for request in requests:
            yield Response(
                request_id=request.request_id,
                model_key=model_key,
                state="ok",
                text=self.text,
                engine=self.name,
                engine_version=self.version,
            )


ITEM = Item(benchmark="pixelhumor", item_id="demo_1", source="demo", cluster="demo_1")
GOLD = Gold(
    benchmark="pixelhumor",
    item_id="demo_1",
    values={
        "Q1": ["Yes"],
        "Q2": ["Absent"],
        "Q3": ["1"],
        "Q4": ["Both"],
        "Q5": ["Pun"],
        "panel_sequence": "2, 1",
        "text": '1: "a" 2: "b"',
        "number_of_panels": 2,
        "potentially_harmful": "non-harm",
    },
)


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n---",
        "\\end{table}\\input{/etc/passwd}",
        "<script>alert(1)</script>",
        "a\0b",
        "\ud800 half",
        "²,³",
        "\u202e1, 2",
        "9" * 10_000,
        "1: " * 50_000,
        "{" * 200_000,
        "\n" * 100_000,
        "x" * 1_000_000,
        "",
        '{"record": {}}\n',
    ],
    ids=range(14),
)
def test_hostile_answers_are_stored_and_graded(tmp_path: Path, text: str) -> None:
    """Asked once, kept as they came (half a surrogate pair as U+FFFD), graded under both rules."""
    requests = pixelhumor.requests(ITEM)
    journal, snapshot = tmp_path / "m.jsonl", tmp_path / "m.parquet"
    for _ in range(2):
        engine = Saying(text)
        key = engines.model_key(engine, ModelCard(name="m", engine="saying"), "pixelhumor")
        states = infer(engine, requests, {}, journal=journal, snapshot=snapshot, label="t", key=key)
        assert states == {"ok": 8}
    assert journal.read_bytes().count(b"\n") == 8
    answers = read_table(snapshot, Response)
    assert {answer.text for answer in answers} == {text.replace("\ud800", "\ufffd")}
    asked = zip(requests, answers, strict=True)
    grades = list(grade(pixelhumor, "m", {ITEM.item_id: ITEM}, {ITEM.item_id: GOLD}, asked))  # type: ignore[arg-type]
    write_table(tmp_path / "g.parquet", grades, Grade)
    assert read_table(tmp_path / "g.parquet", Grade) == grades


# ------------------------------------------------------------------------------------------------------------ scripts


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn") / "raw"
    demo.draw(folder)
    return folder


RAW = "data/raw/demo/pixelhumor"
ITEMS = "data/items/pixelhumor"


def script(root: Path, cwd: Path, name: str, *arguments: str, largest: int | None = None) -> tuple[int, str]:
    """Status and what a script says. `largest`: no file may grow beyond it, as on a full disk."""

    def limit() -> None:
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    done = subprocess.run(
        [sys.executable, str(root / "scripts" / f"{name}.py"), *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@pytest.fixture
def raw(drawn: Path, project: Path) -> Path:
    """A copy of the demo's annotations, with all comics selected, to spoil."""
    folder = project / RAW
    folder.mkdir(parents=True)
    for path in drawn.glob("*.csv"):
        shutil.copy(path, folder)
    chosen = [cells["comic_id"] for _, cells in parse_csv((folder / "comic_url.csv").read_bytes(), [], file="")]
    (project / ITEMS).mkdir(parents=True)
    (project / ITEMS / "selected.csv").write_text("item_id,source,url\n" + "".join(f"{i},demo,u\n" for i in chosen))
    return folder


def gold(root: Path, project: Path, **options: Any) -> tuple[int, str]:
    selection = selection_json(project, models=["random"])
    return script(root, project, "gold", "--selection", selection, "--benchmark", "pixelhumor", **options)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("subjective_label.csv", "['", "[x'", rf"{RAW}/subjective_label.csv, line 2, record \w+, field Q1: .* literal"),
        ("objective_label.csv", "panel_sequence", "panel_sequenec", "field panel_sequence: missing column"),
        (
            "harm_annotation.csv",
            "non-harm",
            "harmless",
            r"field potentially_harmful: expected harm or non-harm, got 'harmless'",
        ),
        ("harm_annotation.csv", None, "", f"{RAW}/harm_annotation.csv: empty file"),
    ],
)
def test_broken_annotations_end_in_one_message(
    root: Path, project: Path, raw: Path, name: str, old: str | None, new: str, message: str
) -> None:
    kept = project / ITEMS / "gold.jsonl"
    kept.write_text("old")
    text = (raw / name).read_text()
    (raw / name).write_text(new if old is None else text.replace(old, new, 1))
    status, said = gold(root, project)
    assert status == 1
    assert re.search(message, said), said
    assert kept.read_text() == "old"
    assert not kept.with_name("gold.jsonl.made.json").exists()


def test_oddities_are_counted_and_listed(root: Path, project: Path, raw: Path) -> None:
    text = (raw / "objective_label.csv").read_text()
    (raw / "objective_label.csv").write_text(text.replace('"1, 2"', '"1, 1"', 1))
    status, said = gold(root, project)
    assert status == 0, said
    odd = "logs/prepare/oddities_pixelhumor.log"
    assert f"oddities in the files are taken as they stand: {odd}" in said
    assert "1, 1 is no permutation of 1 to 2" in (project / odd).read_text()


def test_a_full_disk_leaves_nothing_half_written(root: Path, project: Path, raw: Path) -> None:
    status, said = gold(root, project, largest=4096)
    assert status == 1
    assert f"error: {ITEMS}/gold.jsonl: File too large" in said
    assert sorted(path.name for path in (project / ITEMS).iterdir()) == ["selected.csv"]
    assert {path.name for path in project.iterdir()} - {".punchline"} == {"config", "data"}
    assert not list(project.rglob("*.part"))


JOURNAL = """
from punchline.core.errors import entry_point
from punchline.core.journal import Journal
from punchline.core.records import Response
@entry_point
def main():
    with Journal("m.jsonl") as log:
        for n in range(100):
            if (str(n), "k") not in log:
                answer = dict(request_id=str(n), model_key="k", state="ok", text="x")
                log.append(Response(**answer, engine="e", engine_version="1"))
        print(len(log))
main()
"""


def test_a_full_disk_loses_no_answer(root: Path, tmp_path: Path) -> None:
    def run(largest: int | None) -> subprocess.CompletedProcess[str]:
        def limit() -> None:
            if largest is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

        environment = os.environ | {"PYTHONPATH": str(root / "src")}
        command = [sys.executable, "-c", JOURNAL]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, preexec_fn=limit
        )

    full = run(5000)
    assert full.returncode == 1
    assert "error: m.jsonl: no answer can be written: File too large. Make room and run again" in full.stderr
    assert "Traceback" not in full.stderr
    kept = (tmp_path / "m.jsonl").read_bytes()
    whole = kept[: kept.rfind(b"\n") + 1]
    assert whole.count(b"\n") > 5
    again = run(None)
    assert (again.returncode, again.stdout) == (0, "100\n")
    lines = (tmp_path / "m.jsonl").read_bytes()
    assert lines.startswith(whole)
    assert len(lines.splitlines()) == 100
    assert all(json.loads(line) for line in lines.splitlines())
