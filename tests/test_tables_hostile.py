"""Tables and records whose texts steer: no spreadsheet, page, terminal or LaTeX run does what they say."""

import csv
import io
import json
import re
from typing import Any

import pytest
from tests.test_tables import TABLE, made, score

from punchline.audit.show import as_text
from punchline.tables.latex import as_latex
from punchline.tables.render import as_csv, as_markdown
from punchline.tables.tabulate import Tabulated

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
    assert as_csv(table) == (
        "model,kind,engine,scoring,subset,n,n_missing,n_failed,n_refused,n_unparsable,n_truncated,acc,acc_lo,acc_hi,other,"
        "other_lo,other_hi,comparable,note\n"
        f"m,measured,replay,released,all,10,0,0,0,0,0,0.5,{table.rows[0]['acc_lo']},{table.rows[0]['acc_hi']},,,,yes,\n"
        "GPT & Co,published,,released,all,9,,,,,,0.500,,,,,,yes,\n"
        "m,measured,replay,paper,all,0,0,0,0,0,0,,,,,,,no,nothing to score: not asked\n"
    )
    low, high = (f"{table.rows[0][name]:.3f}" for name in ("acc_lo", "acc_hi"))
    assert as_markdown(table, TABLE) == (
        "# A table\n\n"
        "| model    | kind      | engine   | scoring   | subset   | n   | acc                  |\n"
        "|----------|-----------|----------|-----------|----------|-----|----------------------|\n"
        f"| m        | measured  | replay   | released  | all      | 10  | 0.500 [{low}, {high}] |\n"
        "| GPT & Co | published |          | released  | all      | 9   | 0.500                |\n"
        "\n- 95 % intervals, by cluster: korn-graubard (docs/intervals.md)."
        "\n- Naïve “quotes”, 5 % & more: p < .05, a <= b; they're — fine 🦤, x_1 {a} *b*\n"
    )


@pytest.mark.parametrize("text", NASTY)
def test_a_record_is_shown_without_what_steers_and_loses_nothing(text: str) -> None:
    result = {"item": {"text": text, text: [text]}, "n": 1}
    page = as_text(result)
    assert not STEERING.search(page) and json.loads(page) == result


def test_an_ordinary_record_is_shown_as_it_was_and_half_a_surrogate_pair_too() -> None:
    result = {"item": {"text": 'naïve 日本語 🦤 “q” a\tb\nc \\ "x"', "n": [1, 2.5, None, True]}}
    assert as_text(result) == json.dumps(result, indent=1, ensure_ascii=False)
    assert as_text({"a": "\ud800"}) == '{\n "a": "\\ud800"\n}'
