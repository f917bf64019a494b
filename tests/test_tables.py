"""Tables: states, intervals, published rows, and what people read."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest
from tests.tabulated import Graded, discrepancies, tabulate

from punchline.bench import table as tables
from punchline.bench.column import Better, mean_of
from punchline.bench.frame import Scope, frame_of
from punchline.bench.latex import as_latex
from punchline.bench.render import as_csv, as_markdown
from punchline.bench.table import Row, Table, count_states
from punchline.core.records import Gold, Grade, Item, State


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


TABLE = Table(
    name="t1",
    title="A table",
    file="t1.csv",
    rule="released",
    keys=("subset",),
    columns=[mean_of("acc", "Q1", "acc"), mean_of("other", "Q2", "acc")],
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
    arguments = {"scoring": None, "complete": True} | options
    return tabulate(TABLE, [Graded("m", "measured", "replay", grades)], *known(grades), {}, PUBLISHED, **arguments)


def known(grades: list[Grade]) -> tuple[dict[str, Gold], dict[str, Item]]:
    """Gold and items of grades, each item a cluster of its own."""
    ids = dict.fromkeys(g.item_id for g in grades)
    golds = {name: Gold(benchmark="b", item_id=name, values={}) for name in ids}
    return golds, {name: Item(benchmark="b", item_id=name, source="s", cluster=name) for name in ids}


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


def test_a_column_of_a_value_that_no_grade_has_says_so() -> None:
    """As a misspelt one: answers are there, and nothing of what is asked of them."""
    row = read(as_csv(made([grade("a", "Q2"), grade("b", "Q2")])))[0]
    assert row["n"] == "2"
    misspelt = Table(name="t1", title="A table", columns=[mean_of("accuracy", "Q1", "corect")], rule="released")
    grades = [grade("a", "Q1"), grade("b", "Q1"), grade("c", "Q1", "failed")]
    model = Graded("m", "measured", "replay", grades)
    table = tabulate(misspelt, [model], *known(grades), {}, [], scoring=None, complete=True)
    (row,) = read(as_csv(table))
    assert row["note"] == "nothing to score: 2 items with answers to Q1, and no value for accuracy of them"


def test_failed_answers_make_a_table_incomplete() -> None:
    notes = made([grade("a", "Q1", "failed"), grade("b", "Q1")]).notes
    assert any("INCOMPLETE: m: answers on 1 of 2 items failed" in note for note in notes)
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
    (row,) = discrepancies("b", TABLE, Graded("m", "measured", "replay", grades), *known(grades))
    assert (row["released"], row["paper"], row["difference"]) == (1.0, 0.0, 1.0)


def counts(grades: list[Grade], items: str = "ab", **fields) -> dict[str, int]:  # type: ignore[no-untyped-def]
    """States of a row of two tasks; they and what is ok are all that the row speaks of."""
    scope = Scope(known([grade(name, "Q1") for name in items])[1], {})
    row = Row({}, items=scope.everything, **{"tasks": ("Q1", "Q2"), **fields})
    every, states = count_states(frame_of(grades, scope, "released"), row)
    assert sum(states.values()) - states.get("truncated", 0) <= every
    return states


def test_a_task_that_was_not_attempted_is_no_missing_answer() -> None:
    grades = [grade("a", "Q1"), grade("b", "Q1", "refused")]
    assert counts(grades) == {"refused": 1}
    assert counts([]) == {"missing": 2}
    grades.append(grade("a", "Q2"))
    assert counts(grades) == {"refused": 1}  # b was not asked Q2
    assert counts(grades, never_asked=3) == {"missing": 3, "refused": 1}
    grades.append(msgspec.structs.replace(grade("a", "Q1", "failed"), condition="other"))
    assert counts(grades, asked=(("Q1", "other"),)) == {"failed": 1, "refused": 1}
    assert counts(grades, items="b") == {"refused": 1}


STATE_OF_ITEM = [  # states of an item's answers to two tasks, the item's state
    ("ok", "ok", None),
    ("ok", "unparsable", "unparsable"),
    ("unparsable", "refused", "refused"),
    ("refused", "missing", "missing"),
    ("missing", "failed", "failed"),
    ("failed", "failed", "failed"),
]


@pytest.mark.parametrize(("first", "second", "whole"), STATE_OF_ITEM)
def test_an_item_is_in_one_state(first: State, second: State, whole: str | None) -> None:
    others = [grade("b", task) for task in ("Q1", "Q2")]
    for states in ((first, second), (second, first)):
        grades = [grade("a", task, state) for task, state in zip(("Q1", "Q2"), states, strict=True)] + others
        assert counts(grades) == ({whole: 1} if whole else {})
        (row, _) = read(as_csv(made(grades)))
        absent = int(row["n_missing"]) + int(row["n_failed"])
        assert int(row["n"]) + absent == 2 and absent == (whole in ("missing", "failed"))


def test_what_was_cut_off_is_counted_beside_its_state() -> None:
    grades = [msgspec.structs.replace(grade(f"i{n}", "Q1"), truncated=n < 2) for n in range(200)]
    grades[0] = msgspec.structs.replace(grades[0], state="unparsable")
    table = made(grades)
    row = read(as_csv(table))[0]
    assert (row["n"], row["n_unparsable"], row["n_truncated"]) == ("200", "1", "2")
    assert not any("cut off" in note for note in table.notes)  # one per cent
    table = made(grades[:199])
    for text in (as_markdown(table, TABLE), as_latex(table, TABLE)):
        assert "answers on 2 of 199 items were cut off" in text


def test_a_failed_sample_is_not_hidden_by_a_good_one() -> None:
    first = msgspec.structs.replace(grade("a", "Q1"), state="failed")
    second = msgspec.structs.replace(grade("a", "Q1"), sample=1)
    assert counts([first, second], items="a", tasks=("Q1",)) == {"failed": 1}


def test_the_same_input_gives_the_same_bytes_and_cells() -> None:
    grades = [grade(f"i{n}", "Q1", value=(n * 0.37) % 1) for n in range(30)]
    one, two = made(grades), made(list(grades))
    assert as_csv(one) == as_csv(two) and one.cells == two.cells
    assert one.cells[0].interval == "korn-graubard|0..1|level:0.95|v:1"
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


def test_the_papers_row_stands_under_the_row_with_its_keys() -> None:
    """A tuned model and its base are printed under one name, told apart by a key."""
    ours = [{"model": m, "training": t, "frames": f} for m, t, f in [("b", "no", 4), ("t", "yes", 4), ("b", "no", 5)]]
    papers = [{"model": "P", "training": "yes"}, {"model": "P", "training": "no"}, {"model": "P", "training": "half"}]
    placed = tables._beside(ours, papers, {"b": "P", "t": "P"}, ("training", "frames"))
    said = [(row["model"], row["training"]) for row in placed]
    assert said == [("b", "no"), ("t", "yes"), ("P", "yes"), ("b", "no"), ("P", "no"), ("P", "half")]


def test_latex_has_heads_in_words_the_best_bold_and_the_papers_rows_apart() -> None:
    ways: dict[str, Better] = {"wer": "lower", "acc_sd": "neither"}
    names = ["panel_acc", "wer", "acc_sd", "f1"]
    table = tables.Table("t", "Title", names, keys=("subset",), across=lambda _: [], ways=ways)
    columns = ("model", "kind", "engine", "scoring", "subset", "n", "panel_acc", "wer", "acc_sd", "f1", "comparable")

    def row(model: str, kind: str, subset: str, *values: float | str | None) -> dict[str, str | int | float | None]:
        comparable = "yes" if kind == "published" or subset == "all" else "no"
        cells = (model, kind, "e", "paper", subset, 5, *values, comparable)
        return dict(zip(columns, cells, strict=True))

    rows = [
        row("a_1", "measured", "all", 0.5, 0.25, 0.9, None),
        row("A", "published", "all", "0.70", "0.30", "0.1", None),
        row("b", "measured", "all", 0.5004, 0.5, 0.1, None),
        row("c", "measured", "part", 0.9, 0.1, 0.1, None),
        row("silent", "baseline", "all", None, None, None, None),
    ]
    assert as_latex(tables.Tabulated(columns, rows, [], []), table) == (
        "% Title\n\\begin{tabular}{llrrrr}\n\\toprule\n"
        "Model & Subset & $n$ & Panel accuracy $\\uparrow$ & WER $\\downarrow$ & Accuracy SD \\\\\n\\midrule\n"
        "a\\_1 & all & 5 & 0.500 & \\textbf{0.250} & 0.900 \\\\\n"
        "b & all & 5 & 0.500 & 0.500 & 0.100 \\\\\n"
        "c & part & 5 & 0.900 & 0.100 & 0.100 \\\\\n\\midrule\n"
        "A & all & 5 & \\textbf{0.70} & 0.30 & 0.1 \\\\\n\\bottomrule\n\\end{tabular}\n"
    )
    markdown = as_markdown(tables.Tabulated(columns, rows, [], []), table)
    assert "| silent" not in markdown and "| f1" not in markdown
    assert markdown.endswith("- Without an answer here, and so without a row: silent.\n")
    assert "silent" in as_csv(tables.Tabulated(columns, rows, [], []))
    ours = [dict(row, comparable="no") for row in rows[::2]]
    assert r"\textbf{0.250}" in as_latex(tables.Tabulated(columns, ours, [], []), table)
