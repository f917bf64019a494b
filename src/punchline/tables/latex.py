"""Tables for a paper: booktabs, heads in words, the best value of a column bold, the paper's own rows apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tabulate import tabulate as tabulate_text

from punchline.grouping import grouped
from punchline.tables.declare import Table
from punchline.tables.render import for_people, on_one_line
from punchline.tables.tabulate import Tabulated

WORDS = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, str])
BOLD, PLAIN = "\x01", "\x02"  # around a best value; cells hold no control characters


def as_latex(tabulated: Tabulated, table: Table) -> str:
    """The table as a tabular of booktabs, its title and notes as comments before it, published rows last."""
    columns, lines = for_people(tabulated, table)
    lines.sort(key=lambda line: line["kind"] == "published")
    _mark_best(lines, table)
    same = {name for name in ("scoring", "subset", *table.keys) if len({line.get(name) for line in lines}) == 1}
    columns = [name for name in columns if name not in {"kind", "engine", *same}]
    cells, heads = [[line[name] for name in columns] for line in lines], [_head(name, table) for name in columns]
    aligned = ["right" if name in ("n", *table.columns) else "left" for name in columns] if lines else None
    body = tabulate_text(cells, heads, tablefmt="latex_booktabs", disable_numparse=True, colalign=aligned)
    text = body.replace(BOLD, r"\textbf{").replace(PLAIN, "}").splitlines()
    own = sum(line["kind"] != "published" for line in lines)
    if 0 < own < len(lines):
        text.insert(own + 4, r"\midrule")  # 4 lines end with the rule below the heads
    return "\n".join((*(f"% {on_one_line(note)}" for note in (table.title, *tabulated.notes)), *text, ""))


def head(column: str) -> str:
    """A column's name in words."""
    text = " ".join(WORDS.get(word, word) for word in column.split("_"))
    return text[:1].upper() + text[1:]


def _mark_best(lines: Sequence[dict[str, str]], table: Table) -> None:
    """Mark the best values of comparable rows with the same keys; of ours, if no row is comparable with the paper's."""
    compared = [line for line in lines if line["comparable"] == "yes"]
    compared = compared or [line for line in lines if line["kind"] != "published"]
    groups = grouped(compared, lambda line: tuple(line.get(key) for key in ("subset", *table.keys)))
    for name, group in itertools.product(table.columns, groups.values()):
        values = [(float(line[name].partition(" ")[0].replace(",", "")), line) for line in group if line.get(name)]
        better = table.better(name)
        if better == "neither" or len({value for value, _ in values}) < 2:
            continue
        best = (min if better == "lower" else max)(value for value, _ in values)
        for line in (line for value, line in values if value == best):
            number, blank, interval = line[name].partition(" ")
            line[name] = f"{BOLD}{number}{PLAIN}{blank}{interval}"


def _head(name: str, table: Table) -> str:
    """A column's name in words, with its unit."""
    unit = "US$" if name == "cost" else "%" if name in table.percents else ""
    return head(name) + (f" ({unit})" if unit else "")
