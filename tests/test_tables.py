"""Tables: states, intervals, published rows, what people read; texts that steer spreadsheets, pages and terminals."""

import csv
import io
import itertools
import json
import re
from typing import Any

import pandas as pd
import pytest
from msgspec.structs import replace
from tests import records
from tests.tabulated import Scored, tabulate

from punchline.audit.show import as_text
from punchline.errors import PunchlineError
from punchline.overview.discrepancies import discrepancies
from punchline.schema import Gold, Item, Score, State
from punchline.scores import items_frame, scores_frame
from punchline.stats.functions import mean
from punchline.tables import tabulate as tables
from punchline.tables.declare import Row, Table, collect
from punchline.tables.latex import as_latex
from punchline.tables.render import as_csv, as_markdown
from punchline.tables.run import Answers, measure
from punchline.tables.tabulate import Tabulated


def score(item: str, task: str, state: State = "ok", value: float = 1, rule: str = "released", **fields) -> Score:  # type: ignore[no-untyped-def]
    scored = state not in ("missing", "failed")
    result = {"task": task, "state": state, "scored": scored, "rule": rule, "signature": "acc|v:1"}
    return records.score(item, **result | {"metrics": {"acc": value} if scored else {}} | fields)


def of_tasks(scores: pd.DataFrame, items: pd.DataFrame) -> list[Row]:
    return [Row(acc=mean(scores[scores.task == "Q1"], "acc"), other=mean(scores[scores.task == "Q2"], "acc"))]


COLUMNS = ("acc", "other")
WORST_LAST: tuple[State, ...] = ("ok", "unparsable", "refused", "missing", "failed")
TABLE = Table("t1", "A table", rows=of_tasks, keys=("subset",), columns=COLUMNS, published_rule="released")
PUBLISHED = {"paper": "p", "table": "t1", "row": "GPT & Co", "key": "subset=all", "n": "9", "note": ""}
PUBLISHED |= {"column": "acc", "value": "0.500"}


def made(scores: list[Score], table: Table = TABLE, **options) -> Tabulated:  # type: ignore[no-untyped-def]
    return tabulate(table, [Scored("m", "measured", "replay", scores)], *known(scores), {}, [PUBLISHED], **options)


def known(scores: list[Score]) -> tuple[dict[str, Gold], dict[str, Item]]:
    """Gold and items of scores, each item a cluster of its own."""
    ids = dict.fromkeys(one.item_id for one in scores)
    golds = {name: Gold(benchmark="b", item_id=name, values={}) for name in ids}
    return golds, {name: Item(benchmark="b", item_id=name, source="s", cluster=name) for name in ids}


def framed(scores: list[Score]) -> tuple[pd.DataFrame, Answers]:
    golds, items = known(scores)
    frame, digests = scores_frame(scores, items_frame(items, golds), "released", ("acc",))
    return frame, Answers([(frame, digests)])


def read(table: Tabulated) -> list[dict[str, str]]:
    """The rows of its CSV that are shown."""
    return list(csv.DictReader(io.StringIO(as_csv(table))))[: len(table.rows)]


def test_missing_and_failed_leave_both_sides_and_are_counted() -> None:
    states: list[State] = ["ok", "ok", "missing", "failed", "refused", "unparsable"]
    row, published = read(made([score(f"i{n}", "Q1", state, float(n == 0)) for n, state in enumerate(states)]))
    assert (row["n"], row["n_missing"], row["n_failed"], row["n_refused"], row["n_unparsable"]) == tuple("41111")
    assert float(row["acc"]) == 1 / 4
    assert row["other"] == "" and row["other_lo"] == ""
    assert 0 <= float(row["acc_lo"]) <= 1 / 4 <= float(row["acc_hi"]) <= 1
    notes = made([score("a", "Q1", "failed"), score("b", "Q1")]).notes
    assert any("INCOMPLETE: m: answers on 1 of 2 items failed" in note for note in notes)
    assert not any("INCOMPLETE" in note for note in made([score("a", "Q1")]).notes)
    assert [published[name] for name in ("model", "kind", "acc", "n")] == ["GPT & Co", "published", "0.500", "9"]


def test_a_column_of_a_metric_that_no_score_has_says_so() -> None:
    """Answers are there, and nothing of what is asked of them; a name that no metric has is refused at once."""
    assert read(made([score("a", "Q2"), score("b", "Q2")]))[0]["n"] == "2"
    scores = [*(replace(score(name, "Q1"), metrics={}) for name in "ab"), score("c", "Q1", "failed"), score("d", "Q2")]
    table = replace(TABLE, rows=lambda scores, _: [Row(accuracy=mean(scores[scores.task == "Q1"], "acc"))])
    row = read(made(scores, replace(table, name="t2", columns=("accuracy",))))[0]
    assert row["note"] == "nothing to score: 2 items with answers to Q1, and no value for accuracy of them"
    misspelt = Table("t3", "A table", rows=lambda scores, items: [Row(accuracy=mean(scores, "corect"))])
    with pytest.raises(PunchlineError, match="no metric 'corect' in a table's function"):
        collect("b", ("correct",), {}, misspelt)


def test_both_rules_are_written_and_one_is_shown() -> None:
    scores = [score("a", "Q1", value=1), score("a", "Q1", value=0, rule="paper")]
    for options, rule, first in (({}, "released", "1.0"), ({"scoring": "paper"}, "paper", "0.0")):
        table = made(scores, **options)
        rows = read(table)
        assert [(row["scoring"], row["acc"]) for row in rows] == [(rule, first), ("released", "0.500")]
        assert [row["comparable"] for row in rows] == ["no" if rule == "paper" else "yes"] * 2
        (other,) = table.others
        assert {other["scoring"], rule} == {"released", "paper"} and other["acc"] == 1 - float(first)
        assert other["comparable"] == ("yes" if rule == "paper" else "no")
        (row,) = discrepancies("b", table.cells)
        assert (row["released"], row["paper"], row["difference"]) == (1.0, 0.0, 1.0)


def counts(scores: list[Score], items: str = "ab", conditions: tuple[str, ...] = ("default",)) -> dict[str, int]:
    """States of a row over some items; they and what is ok are all that the row speaks of."""
    frame, answers = framed(scores)
    given = frame[frame.item_id.isin(list(items)) & frame.condition.isin(conditions)]
    every, states = answers.count_states(given["row"].to_numpy())
    assert sum(states.values()) - states.get("truncated", 0) <= every
    return states


def test_a_task_that_was_not_attempted_is_no_missing_answer() -> None:
    scores = [score("a", "Q1"), score("b", "Q1", "refused"), score("a", "Q2", "missing"), score("b", "Q2", "missing")]
    assert counts(scores) == {"refused": 1}
    assert counts(scores[2:]) == {"missing": 2}  # none was attempted
    scores[2] = score("a", "Q2")
    assert counts(scores) == {"missing": 1}
    assert counts(scores[:3]) == {"refused": 1}  # b has no row of Q2: out of its scope
    scores = [*scores[:3], score("a", "Q1", "failed", condition="other")]
    assert counts(scores) == {"refused": 1}
    assert counts(scores, conditions=("default", "other")) == {"failed": 1, "refused": 1}
    assert counts(scores, items="b") == {"refused": 1}
    assert counts([score("a", "Q1", "failed"), score("a", "Q1", sample=1)]) == {"failed": 1}  # a good one hides none


def test_states_are_counted_over_the_rows_that_a_row_was_given() -> None:
    """Those of all its estimates; digests are of the rows that were used."""
    frame, answers = framed([score("a", "Q1"), score("b", "Q1", "missing"), score("b", "Q2", "failed")])
    first, second = (frame[frame.task == task] for task in ("Q1", "Q2"))
    means = [mean(part, "acc") for part in (first, second)]
    rows = [Row(acc=means[0]), Row(acc=means[0], other=means[1]), Row(acc=means[1])]
    one, both, none = measure(TABLE, "released", [*rows, Row(acc=None)], answers)[:3]
    assert (one.items, one.states, both.items, both.states) == (2, {"missing": 1}, 2, {"failed": 1})
    assert one.cells["acc"].grades == both.cells["acc"].grades and one.cells["acc"].n == 1
    assert (none.items, none.states, none.cells) == (1, {"failed": 1}, {})
    assert [row.tasks for row in (one, both)] == ["Q1", "Q1,Q2"]


def test_a_filter_names_only_other_conditions() -> None:
    for condition, expected in (("default", {}), ("other", {"condition": "other"})):
        frame, answers = framed([score("a", "Q1", condition=condition), score("a", "Q2", condition="third")])
        assert answers.filter(frame["row"][:1]) == {"tasks": "Q1", **expected}
        assert answers.filter(frame["row"]) == {"tasks": "Q1", **expected, "asked": "Q2@third"}


def test_a_row_of_less_than_the_papers_items_does_not_compare() -> None:
    table = replace(TABLE, rows=lambda *of: [row.set(complete=False) for row in of_tasks(*of)])
    of_part = [made([score("a", "Q1")], table), made([score("a", "Q1")], complete=False)]
    assert [row["comparable"] for one in of_part for row in read(one)] == ["no"] * 4
    nothing = read(made([score("a", "Q3")]))[0]
    assert (nothing["n"], nothing["acc"], nothing["comparable"]) == ("0", "", "no")
    assert nothing["note"] == "nothing to score: not asked"


@pytest.mark.parametrize("states", [*itertools.combinations_with_replacement(WORST_LAST, 2)])
def test_an_item_is_in_the_worst_state_of_its_answers(states: tuple[State, State]) -> None:
    others, whole = [score("b", task) for task in ("Q1", "Q2")], max(states, key=WORST_LAST.index)
    for order in (states, states[::-1]):
        scores = [score("a", task, state) for task, state in zip(("Q1", "Q2"), order, strict=True)] + others
        assert counts(scores) == ({} if whole == "ok" else {whole: 1})
        row = read(made(scores))[0]
        absent = int(row["n_missing"]) + int(row["n_failed"])
        assert int(row["n"]) + absent == 2 and absent == (whole in ("missing", "failed"))


def test_what_was_cut_off_is_counted_beside_its_state() -> None:
    scores = [replace(score(f"i{n}", "Q1"), truncated=n < 2) for n in range(200)]
    scores[0] = replace(scores[0], state="unparsable")
    table = made(scores)
    row = read(table)[0]
    assert (row["n"], row["n_unparsable"], row["n_truncated"]) == ("200", "1", "2")
    assert not any("cut off" in note for note in table.notes)  # one per cent
    assert "answers on 2 of 199 items were cut off" in as_markdown(made(scores[:199]), TABLE)


def test_a_changed_score_changes_the_digest_of_its_cell() -> None:
    (one, *_), (changed, *_) = (made([score("a", "Q1"), score("b", "Q1", value=n)]).cells for n in (0, 1))
    assert one.interval == "korn-graubard|0..1|level:0.95|v:1" and changed.grades != one.grades


def test_the_papers_row_follows_its_model_in_the_row_with_its_keys() -> None:
    """A tuned model and its base are printed under one name, told apart by a key."""
    ours = [{"model": "a", "n": 1}, {"model": "b", "n": 2}, {"model": "a", "n": 3}]
    papers = [{"model": "B-7B", "n": 9}, {"model": "A", "n": 8}, {"model": "C", "n": 7}, {"model": "A", "n": 6}]
    placed = tables._beside(ours, papers, {"a": "A", "b": "B-7B", "absent": "C"}, ())
    assert [row["n"] for row in placed] == [1, 2, 9, 3, 8, 6, 7]
    assert tables._beside(ours, papers, {}, ()) == ours + papers
    ours = [{"model": m, "training": t, "frames": f} for m, t, f in [("b", "no", 4), ("t", "yes", 4), ("b", "no", 5)]]
    papers = [{"model": "P", "training": "yes"}, {"model": "P", "training": "no"}, {"model": "P", "training": "half"}]
    placed = tables._beside(ours, papers, {"b": "P", "t": "P"}, ("training", "frames"))
    output = [(row["model"], row["training"]) for row in placed]
    assert output == [("b", "no"), ("t", "yes"), ("P", "yes"), ("b", "no"), ("P", "no"), ("P", "half")]


def test_people_see_no_empty_column_and_no_silent_row() -> None:
    table = Table("t", "Title", across=lambda _: [], keys=("subset",), columns=("panel_acc", "wer", "f1"))
    columns = ("model", "kind", "engine", "scoring", "subset", "n", *table.columns, "comparable")
    rows = [
        dict(zip(columns, (model, kind, "e", "paper", subset, 5, *values, None, "yes"), strict=True))
        for model, kind, subset, *values in (
            ("a_1", "measured", "all", 0.5, 0.25),
            ("A", "published", "part", "0.70", "0.30"),
            ("silent", "baseline", "all", None, None),
        )
    ]
    made = Tabulated(columns, rows, [], [], [])
    lines = [re.sub(" +", " ", line.strip(" \\")) for line in as_latex(made, table).splitlines()]
    assert lines[:3] == ["% Title", "begin{tabular}{llrrr}", "toprule"]
    rows_of_latex = ["Model & Subset & N & Panel accuracy & WER", "a\\_1 & all & 5 & 0.500 & 0.250"]
    assert [line for line in lines if "&" in line] == [*rows_of_latex, "A & part & 5 & 0.70 & 0.30"]
    markdown = as_markdown(made, table)
    assert "| silent" not in markdown and "| f1" not in markdown and "silent" in as_csv(made)
    assert markdown.endswith("- Not shown: silent (does not attempt this task).\n")


def test_latex_has_the_best_value_bold_and_published_rows_apart() -> None:
    columns = ("model", "kind", "engine", "subset", "n", "acc", "acc_lo", "acc_hi", "comparable", "note")

    def row(model: str, kind: str, acc: float, comparable: str) -> dict[str, Any]:
        limits = (acc - 0.1, acc + 0.1) if kind == "measured" else (None, None)
        return dict(zip(columns, (model, kind, "e", "all", 9, acc, *limits, comparable, ""), strict=True))

    ours, theirs = row("b", "measured", 0.9, "no"), row("p", "published", 0.4, "yes")
    best = ["a & 9 & \\textbf{0.500} [0.400, 0.600]", "b & 9 & 0.900 [0.800, 1.000]", "\\midrule", "p & 9 & 0.400"]
    for shown, expected in (
        ([row("a", "measured", 0.5, "yes"), ours, theirs], best),
        ([ours, row("c", "measured", 0.1, "no")], ["b & 9 & \\textbf{0.900} [0.800, 1.000]"]),
    ):
        lines = as_latex(Tabulated(columns, shown, [], [], []), TABLE).split("\n")[5 : 5 + len(expected)]
        assert [re.sub(" +", " ", line.strip()).removesuffix(" \\\\") for line in lines] == expected


STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FORMULAS = ["=cmd|'/c calc'!A0", "+1+cmd", "-1+cmd", "@SUM(A1)", "\t=1", "\r=1", " =1+1"]
LINES = ["a|b", "a\nb", "a\r\n% c\n\\input{x}", "a\u2028b", "a\x85b", "a\x0bb\x0cc", "\\|", "---", "# title"]
CONTROLS = ["\x1b[31mred", "\x9b31m", "\u202egnp", "\u2066x", "\x00"]
MARKUP = ["`<script>alert(1)</script>", "<ScRiPt>", "<x onclick=1>", "<img src=x onerror=1>", "<!-- "]
NASTY = [*FORMULAS, *LINES, *CONTROLS, *MARKUP]


def table_of(text: str) -> Tabulated:
    row = {"model": text, "kind": "measured", "engine": text, "n": 3, "acc": 0.5, "acc_lo": 0.25, "acc_hi": 0.75}
    columns = ("model", "kind", "engine", "n", "acc", "acc_lo", "acc_hi", "comparable", "note")
    return Tabulated(columns, [{**row, "comparable": "no", "note": text}], [], [], [text, f"caveat: {text}"])


@pytest.mark.parametrize("text", NASTY)
def test_no_cell_of_a_csv_is_a_formula(text: str) -> None:
    content = as_csv(table_of(text))
    assert not STEERING.search(content.replace("\r\n", "\n").replace("\\r", ""))
    (row,) = csv.DictReader(io.StringIO(content, newline=""))
    assert not re.match(r"\s*[=+\-@\t\r]", row["model"]) or row["model"].startswith("'")
    assert (row["acc"], row["n"]) == ("0.5", "3")


@pytest.mark.parametrize("number", ["-0.5", "+3", "-1e-9", -0.25, -3, "0.500", 1e300, None, "", "-.5"])
def test_numbers_stay_numbers(number: Any) -> None:
    table = Tabulated(("acc",), [{"acc": number}], [], [], [])
    assert as_csv(table) == f"acc\n{'' if number is None else number}\n".replace("acc\n\n", 'acc\n""\n')


@pytest.mark.parametrize("text", NASTY)
def test_a_row_of_markdown_stays_a_row(text: str) -> None:
    content = as_markdown(table_of(text), TABLE)
    assert not STEERING.search(content) and not re.search("<(?:script|x|img|!)", content, re.IGNORECASE)
    title, _, *rest = content.split("\n")
    head, line, row, empty, *notes = rest
    assert title == f"# {TABLE.title}" and empty == "" and notes[-1] == "" and len(notes) == 3
    bars = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", each)) for each in (head, line, row)}
    assert bars == {len(re.findall(r"\|", head))}
    assert all(note.startswith("- ") for note in notes[:2])


@pytest.mark.parametrize("text", NASTY)
def test_a_note_stays_in_its_latex_comment_and_a_cell_is_text(text: str) -> None:
    content = as_latex(table_of(text), TABLE)
    assert not STEERING.search(content)
    comments, table = content.split("\\begin{tabular}")
    assert comments.count("\n") == 3 and all(line.startswith("% ") for line in comments.splitlines())
    assert table.count("\n") == 7 and not re.search(r"\\input|\\x1b", table)
    head, row = (line for line in table.splitlines() if line.endswith(r"\\"))
    assert len(re.findall(r"(?<!\\)&", row)) == head.count("&")


def test_an_ordinary_table() -> None:
    table = made([score(f"i{n}", "Q1", value=float(n % 2)) for n in range(10)])
    table.notes.append("Naïve “quotes”, 5 % & more: p < .05, a <= b; they're — fine 🦤, x_1 {a} *b*")
    low, high = (f"{table.rows[0][name]:.3f}" for name in ("acc_lo", "acc_hi"))
    lines = as_markdown(table, TABLE).splitlines()
    assert re.sub(" +", " ", lines[4]) == f"| m | measured | replay | released | all | 10 | 0.500 [{low}, {high}] |"
    assert lines[7:] == ["- 95 % intervals, by cluster: korn-graubard (docs/intervals.md).", f"- {table.notes[-1]}"]


@pytest.mark.parametrize("text", NASTY)
def test_a_record_is_shown_without_what_steers_and_loses_nothing(text: str) -> None:
    result: dict[str, Any] = {"item": {"text": text, text: [text]}, "n": 1}
    page = as_text(result)
    assert not STEERING.search(page) and json.loads(page) == result
    result = {"item": {"text": 'naïve 日本語 🦤 “q” a\tb\nc \\ "x"', "n": [1, 2.5, None, True]}}
    assert as_text(result) == json.dumps(result, indent=1, ensure_ascii=False)
    assert as_text({"a": "\ud800"}) == '{\n "a": "\\ud800"\n}'
