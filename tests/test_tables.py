"""Tables: states, intervals, published rows, and what people read."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from punchline.bench import table as tables
from punchline.bench.table import (
    Graded,
    Row,
    Table,
    as_csv,
    as_latex,
    as_markdown,
    count_states,
    discrepancies,
    states_of,
    tabulate,
)
from punchline.core.records import Grade, State
from punchline.core.stats import Estimate, mean


def grade(item: str, task: str, state: State = "ok", value: float = 1, rule: str = "released") -> Grade:
    return Grade(
        benchmark="b",
        item_id=item,
        task=task,
        condition="default",
        sample=0,
        model="m",
        rule=rule,  # type: ignore[arg-type]
        signature="acc|v:1",
        responses=(),
        gold="g",
        state=state,
        scored=state not in ("missing", "failed"),
        values={"acc": value},
    )


def rows(grades, golds, items):  # type: ignore[no-untyped-def]
    used = [g for g in grades if g.scored]
    sums = np.array([[g.values["acc"], 1.0] for g in used]).reshape(-1, 2)
    estimate = Estimate(sums, mean, [g.item_id for g in used], [g.digest for g in used])
    ids = frozenset(g.item_id for g in grades)
    return [Row(keys={"subset": "all"}, columns={"acc": estimate, "other": None}, items=ids, tasks=("Q1", "Q2"))]


TABLE = Table(
    name="t1",
    title="A table",
    file="t1.csv",
    rule="released",
    keys=("subset",),
    columns=("acc", "other"),
    tasks=("Q1", "Q2"),
    rows=rows,
)
PUBLISHED = [
    {
        "paper": "p",
        "table": "t1",
        "row": "GPT & Co",
        "key": "subset=all",
        "column": "acc",
        "value": "0.500",
        "n": "9",
        "note": "",
    }
]


def made(grades: list[Grade], **options):  # type: ignore[no-untyped-def]
    arguments = {"scoring": None, "seed": 0, "complete": True} | options
    models = [Graded("m", "measured", "replay", grades)]
    return tabulate(TABLE, models, {}, {}, {}, PUBLISHED, **arguments)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_missing_and_failed_leave_both_sides_and_are_counted() -> None:
    states: list[State] = ["ok", "ok", "missing", "failed", "refused", "unparsable"]
    grades = [grade(f"i{n}", "Q1", state, float(n == 0)) for n, state in enumerate(states)]
    row, published = read(as_csv(made(grades)))
    assert (row["n"], row["n_missing"], row["n_failed"], row["n_refused"], row["n_unparsable"]) == tuple("41111")
    assert float(row["acc"]) == 1 / 4
    assert row["other"] == "" and row["other_lo"] == ""
    assert 0 <= float(row["acc_lo"]) <= 1 / 4 <= float(row["acc_hi"]) <= 1
    assert (published["model"], published["kind"], published["acc"], published["n"]) == (
        "GPT & Co",
        "published",
        "0.500",
        "9",
    )


def test_failed_answers_make_a_table_incomplete() -> None:
    assert any("INCOMPLETE: 1 answers failed" in note for note in made([grade("a", "Q1", "failed")]).notes)
    assert not any("INCOMPLETE" in note for note in made([grade("a", "Q1")]).notes)


@pytest.mark.parametrize(
    ("options", "comparable"), [({}, "yes"), ({"complete": False}, "no"), ({"scoring": "paper"}, "no")]
)
def test_published_rows_say_whether_they_compare(options: dict, comparable: str) -> None:  # type: ignore[type-arg]
    assert read(as_csv(made([grade("a", "Q1")], **options)))[-1]["comparable"] == comparable


def test_only_the_grades_of_the_rule_count() -> None:
    grades = [grade("a", "Q1", value=1), grade("a", "Q1", value=0, rule="paper")]
    assert read(as_csv(made(grades)))[0]["acc"] == "1.0"
    assert read(as_csv(made(grades, scoring="paper")))[0]["acc"] == "0.0"
    assert read(as_csv(made(grades, scoring="paper")))[0]["scoring"] == "paper"
    (row,) = discrepancies("b", TABLE, Graded("m", "measured", "replay", grades), {}, {})
    assert (row["released"], row["paper"], row["difference"]) == (1.0, 0.0, 1.0)


def test_a_task_that_was_not_attempted_is_no_missing_answer() -> None:
    row = Row(keys={}, columns={}, items=frozenset({"a", "b"}), tasks=("Q1", "Q2"))
    states: dict[tuple[str, str, str], set[State]] = {
        ("a", "Q1", "default"): {"ok"},
        ("b", "Q1", "default"): {"refused"},
    }
    assert count_states(states, row) == {"refused": 1}
    assert count_states({}, row) == {"missing": 2}
    states["a", "Q2", "default"] = {"ok"}
    assert count_states(states, row) == {"refused": 1}  # b was not asked Q2
    assert count_states(states, replace(row, never_asked=3)) == {"missing": 3, "refused": 1}
    states["a", "Q1", "other"] = {"failed"}
    assert count_states(states, replace(row, asked=(("Q1", "other"),))) == {"refused": 1, "failed": 1}


def test_a_failed_sample_is_not_hidden_by_a_good_one() -> None:
    row = Row(keys={}, columns={}, items=frozenset({"i1"}), tasks=("Q1",))
    first = msgspec.structs.replace(grade("i1", "Q1"), state="failed")
    second = msgspec.structs.replace(grade("i1", "Q1"), sample=1)
    assert count_states(states_of([first, second]), row) == {"failed": 1}


def test_the_same_input_gives_the_same_bytes_and_cells() -> None:
    grades = [grade(f"i{n}", "Q1", value=(n * 0.37) % 1) for n in range(30)]
    one, two = made(grades), made(list(grades))
    assert as_csv(one) == as_csv(two) and one.cells == two.cells
    other = made(grades, seed=1)
    assert other.cells[0].value == one.cells[0].value and other.cells[0].lo != one.cells[0].lo
    changed = made([*grades[:-1], grade("i29", "Q1", value=1)])
    assert changed.cells[0].grades != one.cells[0].grades


def test_what_people_read_is_escaped_and_short() -> None:
    table = made([grade(f"i{n}", "Q1", value=float(n % 2)) for n in range(10)])
    assert "| 0.500 [" in as_markdown(table, TABLE)
    assert r"GPT \& Co" in as_latex(table, TABLE)
    assert "other" not in as_markdown(table, TABLE)


def test_the_papers_row_follows_its_model() -> None:
    ours = [{"model": "a", "n": 1}, {"model": "b", "n": 2}, {"model": "a", "n": 3}]
    papers = [{"model": "B-7B", "n": 9}, {"model": "A", "n": 8}, {"model": "C", "n": 7}, {"model": "A", "n": 6}]
    placed = tables._beside(ours, papers, {"a": "A", "b": "B-7B", "absent": "C"})
    assert [row["n"] for row in placed] == [1, 2, 9, 3, 8, 6, 7]
    assert tables._beside(ours, papers, {}) == ours + papers
