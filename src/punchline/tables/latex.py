"""Tables for a paper: booktabs, heads in words, the best value of a column bold, the paper's own rows apart."""

from __future__ import annotations

from collections.abc import Sequence

from punchline.grouping import grouped
from punchline.tables.declare import Table
from punchline.tables.render import Line, for_people, on_one_line
from punchline.tables.tabulate import Tabulated

WORDS = (
    {"acc": "accuracy", "avg": "average", "bbox": "box", "hl": "highlight", "neg": "negative", "pos": "positive"}
    | {"bert": "BERTScore", "cer": "CER", "f1": "F1", "gpt": "GPT score", "iou": "IoU", "k": "Krippendorff's"}
    | {"minilm": "(MiniLM)", "r2": "ROUGE-2", "rho": "Spearman's rho", "rouge1": "ROUGE-1", "rouge2": "ROUGE-2"}
    | {"fn": "FN", "fnr": "FNR", "fp": "FP", "fpr": "FPR", "tn": "TN", "tp": "TP", "wer": "WER"}
    | {"sd": "SD", "se": "SE", "std": "SD"}
)
UNITS = {"cost": "US\\$"}
ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$"}
ESCAPED = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}"}
)


def as_latex(tabulated: Tabulated, table: Table) -> str:
    """The table as a tabular of booktabs, its title and notes as comments before it.

    Arrows say which way is better. Bold: the best of the comparable rows with the same keys; where no row is
    comparable with the paper's, of ours.
    """
    columns, lines = for_people(tabulated, table)
    same = {name for name in ("scoring", "subset", *table.keys) if len({line.row.get(name) for line in lines}) == 1}
    columns = [name for name in columns if name not in {"kind", "engine"} | same]
    best = _best(lines, table, [name for name in columns if name in table.columns])
    body: list[str] = []
    for apart in (False, True):
        rows = [line for line in lines if (line.row["kind"] == "published") == apart]
        body += [r"\midrule", *(_row(line, columns, best, table.columns) for line in rows)] if rows else []
    return "\n".join(
        (
            *(f"% {on_one_line(text)}" for text in (table.title, *tabulated.notes)),
            rf"\begin{{tabular}}{{{''.join('r' if name in ('n', *table.columns) else 'l' for name in columns)}}}",
            r"\toprule",
            f"{' & '.join(_head(name, table) for name in columns)} \\\\",
            *(body or [r"\midrule"]),
            r"\bottomrule",
            "\\end{tabular}\n",
        )
    )


def _row(line: Line, columns: Sequence[str], best: set[tuple[int, str]], metrics: Sequence[str]) -> str:
    def cell(name: str) -> str:
        value, _, interval = line.cells[name].partition(" [") if name in metrics else (line.cells[name], "", "")
        text = value.translate(ESCAPED)
        text = rf"\textbf{{{text}}}" if (id(line), name) in best else text
        return f"{text} {{\\scriptsize [{interval.translate(ESCAPED)}}}" if interval else text

    return f"{' & '.join(map(cell, columns))} \\\\"


def _head(name: str, table: Table) -> str:
    """A column's name in words, with its unit and an arrow to where it is better."""
    if name == "n":
        return "$n$"
    text = " ".join(WORDS.get(word, word) for word in name.split("_"))
    unit = UNITS.get(name) or (r"\%" if name in table.percents else "")
    arrow = ARROWS.get(table.better(name), "") if name in table.columns else ""
    return f"{text[:1].upper()}{text[1:]}".translate(ESCAPED) + (f" ({unit})" if unit else "") + arrow


def _best(lines: Sequence[Line], table: Table, columns: Sequence[str]) -> set[tuple[int, str]]:
    """(identity of a line, column) of each best value, as far as it is shown."""
    compared = [line for line in lines if line.row.get("comparable") == "yes"]
    compared = compared or [line for line in lines if line.row["kind"] in ("measured", "baseline")]
    groups = grouped(compared, lambda line: tuple(line.row.get(key) for key in ("subset", *table.keys)))
    best = set()
    for name in columns:
        if (better := table.better(name)) == "neither":
            continue
        for group in groups.values():
            values = {id(line): float(text) for line in group if (text := line.cells[name].partition(" [")[0])}
            if len(set(values.values())) > 1:
                most = (min if better == "lower" else max)(values.values())
                best |= {(line, name) for line, value in values.items() if value == most}
    return best
