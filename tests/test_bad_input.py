"""What hurried people and hostile files do ends in one clear message or a counted state, and nothing is lost."""

import resource
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.asked import Counting, ask
from tests.records import refused, response
from tests.selected import selection_in

from punchline.artifacts.project import Project
from punchline.benchmarks import pixelhumor
from punchline.core.storage import read_table
from punchline.errors import PunchlineError, entry_point
from punchline.files import parse_csv
from punchline.jobs import build
from punchline.prepare import select
from punchline.schema import RULES, Gold, Item, Response
from punchline.score import score
from punchline.scores import items_frame, read_scores, scores_frame, write_scores
from punchline.tables.render import read_published

COMICS = [("a_1", "a", "u"), ("a_2", "a", "u"), ("b_1", "b", "u")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [("\ufeffcomic_id\r\na_2\r\n", "a_2"), ('"comic_id"\n"b_1"\n', "b_1"), ("item_id,comic_id\na_1,b_1\n", "a_1")],
)
def test_a_subset(here: Path, content: str, expected: str) -> None:
    Path("mine.csv").write_text(content)
    assert [comic[0] for comic in select(COMICS, None, "mine.csv", None, ())] == [expected]


@pytest.mark.parametrize(("content", "message"), refused("subset"))
def test_a_bad_subset_and_a_source_that_no_comic_has(here: Path, content: str, message: str) -> None:
    Path("mine.csv").write_text(content)
    with pytest.raises(PunchlineError, match=f"^mine.csv.*{message}"):
        select(COMICS, None, "mine.csv", None, ())
    with pytest.raises(PunchlineError, match="field sources: no comic is from 'c'"):
        select(COMICS, ["a", "c"], None, None, ())


@pytest.mark.parametrize(("line", "message"), refused("published"))
def test_broken_published_values(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "p.csv"
    file.write_text(f"paper,table,row,key,column,value,n,note\n{line}\n")
    with pytest.raises(PunchlineError, match=message):
        read_published(file)


ITEM = Item(benchmark="pixelhumor", item_id="demo_1", source="demo", cluster="demo_1")
LABELS = {"Q1": ["Yes"], "Q2": ["Absent"], "Q3": ["1"], "Q4": ["Both"], "Q5": ["Pun"]}
PANELS = {"panel_sequence": "2, 1", "text": '1: "a" 2: "b"', "number_of_panels": 2}
GOLD = Gold(benchmark="pixelhumor", item_id="demo_1", values={**LABELS, **PANELS, "potentially_harmful": "non-harm"})
OF_ITEM = items_frame({ITEM.item_id: ITEM}, {ITEM.item_id: GOLD})


@pytest.mark.parametrize(
    ("column", "value"),
    [("state", "good"), ("sample", "a"), ("scored", 1), ("wer", "a"), ("rule", None), ("wer", 0.5), ("parsed", "{")],
)
def test_a_score_file_that_another_program_changed_is_an_error(tmp_path: Path, column: str, value: object) -> None:
    requests = {request.task: response(request, "1, 2") for request in pixelhumor.requests(ITEM)}
    scores = [one for rule in RULES for one in pixelhumor.score_item(requests, ITEM, GOLD, "m", rule)]
    write_scores(tmp_path / "good.parquet", scores, pixelhumor.METRICS)
    table, bad = pq.read_table(tmp_path / "good.parquet"), tmp_path / "bad.parquet"
    place = table.column_names.index(column)
    other = pa.array([value] * len(table)) if value is not None else None
    changed = table.remove_column(place) if other is None else table.set_column(place, column, other)
    pq.write_table(changed, bad)
    with pytest.raises(PunchlineError, match=r"bad\.parquet"):
        list(read_scores(bad))
    if (column, value) not in (("wer", 0.5), ("parsed", "{")):  # they differ from their digest, which no frame reads
        with pytest.raises(PunchlineError, match=r"bad\.parquet"):
            scores_frame(bad, OF_ITEM, "paper")


@pytest.mark.parametrize(
    "text",
    [
        *("| a | b |\n---", "\\end{table}\\input{/etc/passwd}", "<script>alert(1)</script>", "a\0b", "\ud800 half"),
        *("²,³", "\u202e1, 2", "", '{"record": {}}\n'),
        *("9" * 10_000, "1: " * 50_000, "{" * 200_000, "\n" * 100_000, "x" * 1_000_000),
    ],
    ids=range(14),
)
def test_hostile_answers_are_stored_and_scored(tmp_path: Path, text: str) -> None:
    """Asked once, kept as they came (half a surrogate pair as U+FFFD), scored under both rules."""
    requests = pixelhumor.requests(ITEM)
    journal, snapshot = tmp_path / "m.jsonl", tmp_path / "m.parquet"
    for _ in range(2):
        assert ask(Counting(text=text), requests, {}, journal=journal, index=snapshot, key="k") == {"ok": 8}
    assert journal.read_bytes().count(b"\n") == 8
    answers = read_table(snapshot, Response)
    assert {answer.text for answer in answers} == {text.replace("\ud800", "\ufffd")}
    sent = zip(requests, answers, strict=True)
    scores = list(score(pixelhumor, "m", {ITEM.item_id: ITEM}, {ITEM.item_id: GOLD}, sent))  # type: ignore[arg-type]
    write_scores(tmp_path / "s.parquet", scores, pixelhumor.METRICS)
    assert list(read_scores(tmp_path / "s.parquet")) == scores


ITEMS = "data/items/pixelhumor"


@pytest.fixture
def raw(root: Path, project: Path) -> Path:
    """A copy of the demo's annotations, with all comics selected, to spoil."""
    folder = project / "data/raw/demo/pixelhumor"
    folder.mkdir(parents=True)
    (project / "data/manifests").symlink_to(root / "data/manifests")
    for path in (root / "data/demo/pixelhumor").glob("*.csv"):
        shutil.copy(path, folder)
    chosen = [cells["comic_id"] for _, cells in parse_csv((folder / "comic_url.csv").read_bytes(), [], file="")]
    (project / ITEMS).mkdir(parents=True)
    (project / ITEMS / "selected.csv").write_text("item_id,source,url\n" + "".join(f"{i},demo,u\n" for i in chosen))
    return folder


def build_gold() -> None:
    project = Project(selection_in(Path(), models=["random"]))
    build(project, project.gold("pixelhumor"))


@pytest.mark.parametrize(("name", "old", "new", "message"), refused("annotations"))
def test_broken_annotations(project: Path, raw: Path, name: str, old: str | None, new: str, message: str) -> None:
    left = project / ITEMS / "gold.jsonl"
    left.write_text("old")
    text = (raw / name).read_text()
    (raw / name).write_text(new if old is None else text.replace(old, new, 1))
    with pytest.raises(PunchlineError, match=message):
        build_gold()
    assert left.read_text() == "old"
    assert not left.with_name("gold.jsonl.made.json").exists()


def test_a_full_disk_leaves_nothing_half_written(project: Path, raw: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(SystemExit, match=f"error: {ITEMS}/gold.jsonl: File too large"):
            entry_point(build_gold)()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sorted(path.name for path in (project / ITEMS).iterdir()) == ["selected.csv"]
    assert {path.name for path in project.iterdir()} - {".punchline"} == {"config", "data"}
    assert not list(project.rglob("*.part"))
