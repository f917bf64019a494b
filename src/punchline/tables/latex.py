"""Tables for a paper: booktabs, heads in words."""

from __future__ import annotations

from tabulate import tabulate as tabulate_text

from punchline.tables.declare import Table
from punchline.tables.render import for_people, on_one_line
from punchline.tables.tabulate import Tabulated

WORDS = (
    {"acc": "accuracy", "avg": "average", "bbox": "box", "hl": "highlight", "neg": "negative", "pos": "positive"}
    | {"bert": "BERTScore", "cer": "CER", "f1": "F1", "gpt": "GPT score", "iou": "IoU", "k": "Krippendorff's"}
    | {"minilm": "(MiniLM)", "r2": "ROUGE-2", "rho": "Spearman's rho", "rouge1": "ROUGE-1", "rouge2": "ROUGE-2"}
    | {"fn": "FN", "fnr": "FNR", "fp": "FP", "fpr": "FPR", "tn": "TN", "tp": "TP", "wer": "WER"}
    | {"sd": "SD", "se": "SE", "std": "SD"}
)


def as_latex(tabulated: Tabulated, table: Table) -> str:
    """The table as a tabular of booktabs, its title and notes as comments before it."""
    columns, lines = for_people(tabulated, table)
    same = {name for name in ("scoring", "subset", *table.keys) if len({line.get(name) for line in lines}) == 1}
    columns = [name for name in columns if name not in {"kind", "engine", *same}]
    body = tabulate_text(
        [[line[name] for name in columns] for line in lines],
        [_head(name, table) for name in columns],
        tablefmt="latex_booktabs",
        disable_numparse=True,
        colalign=["right" if name in ("n", *table.columns) else "left" for name in columns] if lines else None,
    )
    notes = "".join(f"% {on_one_line(text)}\n" for text in (table.title, *tabulated.notes))
    return f"{notes}{body}\n"


def _head(name: str, table: Table) -> str:
    """A column's name in words, with its unit."""
    text = " ".join(WORDS.get(word, word) for word in name.split("_"))
    unit = "US$" if name == "cost" else "%" if name in table.percents else ""
    return f"{text[:1].upper()}{text[1:]}" + (f" ({unit})" if unit else "")
