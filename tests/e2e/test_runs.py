"""The real Snakefile on the demo corpus: what runs, what runs again, and what does not."""

import json
import re
import shutil
from pathlib import Path

import pytest

from .conftest import SMALL, TABLE
from .project import FAST, Project


@pytest.fixture(scope="module")
def one_run(small_run: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The small run, and a run `one` of one model and one comic. Do not change it: take a copy with `one`."""
    project = small_run.copied(tmp_path_factory.mktemp("one"))
    project.snakemake(TABLE, config="run=one models=[random] limit=1")
    return project


@pytest.fixture
def one(one_run: Project, tmp_path: Path) -> Project:
    return one_run.copied(tmp_path / "p")


def test_the_table_has_the_columns_that_scripts_rely_on(small_run: Project) -> None:
    table = small_run.rows(TABLE)
    columns = "model kind scoring subset n n_missing n_failed n_refused n_unparsable panel_acc text_acc wer cer"
    assert set(columns.split()) <= set(table[0])
    ours = [(row["model"], row["subset"]) for row in small_run.rows(TABLE, kind="baseline")]
    assert ours == [(m, s) for m in ("random", "label-order", "reading-order") for s in ("all", "multi-panel")]
    published = small_run.rows(TABLE, kind="published")
    assert {row["model"] for row in published} >= {"GPT-4o", "Qwen2-VL-7B"}
    assert {row["comparable"] for row in published} == {"no"}


def test_another_mirror_or_more_cores_rerun_nothing(small_run: Project) -> None:
    assert small_run.to_run(TABLE, config=f"{SMALL} mirror=elsewhere") == set()
    assert "Nothing to be done" in small_run.snakemake("-n", "--cores", "7", TABLE, config=SMALL)


def test_more_items_ask_only_the_new_ones(small: Project) -> None:
    before = small.journal_lines()
    output = small.snakemake(TABLE, config=f"{FAST} limit=8")
    assert "random on pixelhumor: 64 requests, 48 answered before, 16 to ask" in output
    assert small.audit(TABLE)["verdict"] == "equal"
    small.snakemake(TABLE, config=SMALL)
    assert small.journal_lines() == before + 3 * 2 * 8
    assert {row["n"] for row in small.rows(TABLE, kind="baseline", subset="all")} == {"6"}


def test_a_subset_is_followed_its_bytes_matter_and_its_name_is_no_command(small: Project) -> None:
    """A model's name that is one is refused: tests/test_config.py."""
    subset = "it's;touch$IFS$9RAN;.csv"
    ids = sorted(p.stem for p in (small.path / "data/images/demo/pixelhumor").glob("*.png"))
    (small.path / subset).write_text("comic_id\n" + "\n".join(ids[:3]) + "\n")
    small.snakemake(TABLE, config=f"{FAST} subset={subset}")
    assert {row["n"] for row in small.rows(TABLE, kind="baseline", subset=Path(subset).stem)} == {"3"}
    assert not (small.path / "RAN").exists()
    (small.path / subset).write_text("comic_id\nnobody_1\n")
    output = small.snakemake(TABLE, config=f"{FAST} subset={subset}", fails=True)
    assert f"{subset}, line 2, record nobody_1, field comic_id: no such item in this corpus" in output
    assert "Traceback" not in output


def files(project: Project) -> dict[Path, bytes]:
    """Every file of the default run and of what runs share, but journals and this machine's cache."""
    return {path: path.read_bytes() for path in project.files() if not {"runs", "responses"} & {*path.parts}}


def test_a_named_run_lies_beside_the_default_one_and_asks_nothing_anew(small: Project) -> None:
    before, requests = files(small), small.journal_lines()
    small.snakemake(TABLE, config=f"run=two {FAST} limit=2")
    assert (small.path / "results/runs/two/table8.csv").is_file()
    assert files(small) == before, "the default run is as it was"
    assert small.journal_lines() == requests, "two of six comics were asked about already"
    assert small.wanted(TABLE, config=SMALL) == set()
    assert small.wanted(TABLE, config="run=two") == set(), "a run is remembered by its name"
    ours = small.rows("results/runs/two/table8.csv", kind="baseline", subset="all")
    assert {row["n"] for row in ours} == {"2"}
    assert small.audit("results/runs/two/table8.csv")["verdict"] == "equal"
    output = small.punchline("runs")
    assert "default" in output and "two" in output and "limit 2" in output and "limit 6" in output
    assert "table8 is" not in small.punchline("compare", "random", "reading-order", "--table", "table8", "--run", "two")
    (compared,) = json.loads(small.punchline("compare", "random", "two:random", "--json"))
    assert (compared["table"], compared["models"]) == ("table8", ["random", "two:random"])
    assert {(*one["n"], one["difference"]) for one in compared["differences"]} == {(2, 2, 0.0)}
    assert "no run 'nobody'" in small.punchline("compare", "random", "nobody:random", fails=True)
    assert "results/runs/two/table8.csv" in small.punchline("print", "table8"), "the run made last"
    assert "results/table8.csv" in small.punchline("print", "results/table8.csv")
    small.snakemake(TABLE, config=SMALL)
    assert "results/table8.csv" in small.punchline("print", "table8")
    assert "no run 'three'" in small.snakemake("-n", TABLE, config="run=three", fails=True)
    assert "is not a valid run name" in small.snakemake("-n", TABLE, config="run=../x limit=2", fails=True)


def test_a_run_of_a_file(small: Project) -> None:
    (small.path / "config/runs/three.yaml").write_text("models: [label-order]\nlimit: 3\n")
    small.snakemake(TABLE, config="run=three")
    (ours,) = small.rows("results/runs/three/table8.csv", kind="baseline", subset="all")
    assert (ours["model"], ours["n"]) == ("label-order", "3")
    (small.path / "config/runs/three.yaml").write_text("modles: [label-order]\n")
    output = small.snakemake("-n", config="run=three", fails=True)
    assert "config/runs/three.yaml: unknown key 'modles'" in output and "Traceback" not in output


def test_the_default_run_says_how_it_changes_in_place(small: Project) -> None:
    output = small.snakemake("-n", TABLE, config=f"{FAST} limit=5")
    assert output.count("the default run changes in place: limit: 6 → 5") == 1
    assert "changes in place" not in small.snakemake("-n", TABLE, config=SMALL)


def test_a_run_called_by_its_name_stays_what_it_was(one: Project) -> None:
    one.snakemake("results/pixelhumor/table2.csv", config="run=one")
    one.punchline("retry", "run=one")
    result = one.path / "results/runs/one/run.json"
    assert json.loads(result.read_text())["overrides"] == {"limit": 1, "models": ["random"]}
    assert "changes in place" not in one.snakemake("-n", TABLE, config="run=one")
    output = one.snakemake("-n", TABLE, config="run=one models=[random] limit=2")
    other = one.snakemake("-n", "results/runs/one/table8.csv", fails=True)
    assert other.strip().endswith("results/runs/one/table8.csv belongs to the run one. Add --config run=one")
    assert "the one run changes in place: limit: 1 → 2 (to keep it, give the new one another name)" in output


def test_two_wordings_of_a_prompt_are_compared(small: Project) -> None:
    """The default run's scores were made before the prompt was edited; they are as they were made, and that counts."""
    prompt = "src/punchline/benchmarks/pixelhumor/prompts/Q7.txt"
    old = (small.path / prompt).read_text().splitlines()[-1]
    small.edit(prompt, old, f"{old} Think twice.")
    small.snakemake("results/runs/words/table8.csv", config=f"run=words {SMALL}")
    output = " ".join(small.punchline("compare", "label-order", "words:label-order").split())
    assert "label-order are compared as they were made: data/requests/pixelhumor.parquet is not current" in output
    assert re.search(r'asked otherwise: Q7: "\S+ \S+" → "\S+ \S+ Think twice\."', output), output
    assert "panel_acc" in output
    gold = small.path / "data/items/pixelhumor/gold.jsonl"
    gold.write_bytes(gold.read_bytes() + b"\n")
    output = small.punchline("compare", "label-order", "words:label-order", fails=True)
    assert "these scores were made before data/items/pixelhumor/gold.jsonl changed" in output


def test_a_copied_run_is_a_run_of_its_own(one: Project) -> None:
    for folder in ("data/runs", "results/runs"):
        shutil.copytree(one.path / folder / "one", one.path / folder / "two")
    output = one.punchline("print", "results/runs/two/table8.csv", fails=True)
    assert "the lineage of another table: pixelhumor table8 of the run one" in output
    table = one.path / "results/runs/two/table8.csv"
    honest = table.read_bytes()
    table.unlink()
    assert re.search(r"^table8 .* absent", one.punchline("tables", "--run", "two"), re.M)
    assert "tables pixelhumor" in one.wanted(TABLE, config="run=two")
    one.snakemake(TABLE, config="run=two")
    assert table.read_bytes() == honest
    assert re.search(r"^table8 .* current", one.punchline("tables", "--run", "two"), re.M)
    assert one.audit("results/runs/two/table8.csv")["verdict"] == "equal"
    assert one.wanted(TABLE, config="run=two") == one.wanted(TABLE, config="run=one") == set()


def test_a_run_whose_card_is_gone_hides_no_other(small: Project) -> None:
    card = small.path / "config/model/mine.yaml"
    card.write_text((small.path / "config/model/random.yaml").read_text())
    small.snakemake(TABLE, config="run=two models=[mine] limit=2")
    card.unlink()
    output = small.punchline("runs", fails=True)
    assert re.search(r"^default +.* of \d+", output, re.M) and re.search(r"^two +.*not known", output, re.M)
    assert "two: config/model/mine.yaml: unknown model 'mine'" in output


def test_looking_changes_nothing(small: Project) -> None:
    before = files(small)
    planned = small.punchline("plan", "models=[random,prior]", "limit=3")
    assert "requests to ask" in planned
    for command in (["tables"], ["runs"], ["models"], ["benchmarks"], ["print", "table8"], ["audit", "table8"]):
        small.punchline(*command)
    assert files(small) == before
    assert not list((small.path / "data/runs").glob("*")) and not list((small.path / "results/runs").glob("*"))
    assert small.wanted(TABLE, config=SMALL) == set()
