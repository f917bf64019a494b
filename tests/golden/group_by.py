"""Five tables by hand: pandas.read_parquet on score files and a group-by, with nothing of Punchline."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

Values = dict[tuple[str, ...], dict[str, float]]  # by (model, keys of the row)


def _scores(results: Path, benchmark: str, rule: str) -> pd.DataFrame:
    files = sorted((results / benchmark / "scores").glob("*.parquet"))
    scores = pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)
    return scores[scores.rule == rule]


def pixelhumor(results: Path, items: Path) -> Values:
    """Table 8."""
    golds = map(json.loads, (items / "pixelhumor/gold.jsonl").read_text().splitlines())
    several = [gold["item_id"] for gold in golds if gold["values"]["number_of_panels"] > 1]
    scores = _scores(results, "pixelhumor", "released")
    result: Values = {}
    for subset, part in {"all": scores, "multi-panel": scores[scores.item_id.isin(several)]}.items():
        means = part.groupby("model")[["panel_acc", "text_acc", "wer", "cer"]].mean()
        result |= {(str(model), subset): dict(row) for model, row in means.iterrows()}
    return result


def yesbut(results: Path, items: Path) -> Values:
    """Table 2, without judge and BERTScore: means over prompts of means over comics, in per cent."""
    scores = _scores(results, "yesbut", "released")
    scores = scores[scores.condition == "default"]
    kinds = {"description": "r2", "contradiction": "r2", "moral_mcq": "correct", "title_mcq": "correct"}
    names = ("description_r2", "contradiction_r2", "philosophy_acc", "title_acc")
    result: Values = {}
    for model, own in scores.groupby("model"):
        parts = (own[own.task.str.startswith(kind)].groupby("task")[metric] for kind, metric in kinds.items())
        result[str(model), "default"] = {
            name: 100 * part.mean().mean() for name, part in zip(names, parts, strict=True)
        }
    return result


def humorbench(results: Path, items: Path) -> Values:
    """The leaderboard's accuracy."""
    means = _scores(results, "humorbench", "paper").groupby("model").passed.mean()
    return {(str(model),): {"accuracy": share} for model, share in means.items()}


def hummus(results: Path, items: Path) -> Values:
    """Table 2: F1 of both classes and their mean."""
    scores = _scores(results, "hummus", "released")
    scores = scores[scores.condition == "default"]
    cells = scores[scores.task == "classification"].groupby("model")[["tp", "fp", "fn", "tn"]].sum()
    wrong = cells.fp + cells.fn
    columns = {"classification_pos": 2 * cells.tp / (2 * cells.tp + wrong)}
    columns["classification_neg"] = 2 * cells.tn / (2 * cells.tn + wrong)
    columns["classification_avg"] = (columns["classification_pos"] + columns["classification_neg"]) / 2
    return {(str(model),): dict(row) for model, row in pd.DataFrame(columns).iterrows()}


def stripcipher(results: Path, items: Path) -> Values:
    """Table 4 of models asked with separate frames, in per cent."""
    scores = _scores(results, "stripcipher", "paper")
    scores = scores[scores.condition == "default"]
    shares = 100 * scores.groupby(["model", "task"]).correct.mean().unstack()
    return {(str(model), "separate"): dict(row) for model, row in shares.iterrows()}


TABLES: dict[str, tuple[str, tuple[str, ...], Callable[[Path, Path], Values]]] = {
    "table8": ("table8.csv", ("subset",), pixelhumor),
    "yesbut/table2": ("yesbut/table2.csv", ("condition",), yesbut),
    "humorbench/leaderboard": ("humorbench/leaderboard.csv", (), humorbench),
    "hummus/table2": ("hummus/table2.csv", (), hummus),
    "stripcipher/table4": ("stripcipher/table4.csv", ("frames",), stripcipher),
}


def compared(results: Path, items: Path, name: str) -> Iterator[tuple[str, float, float]]:
    """(cell, the table's value, the value by hand) of every value of a model that the table has."""
    file, keys, by_hand = TABLES[name]
    result = by_hand(results, items)
    table = pd.read_csv(results / file)
    page = table[(table.kind != "published") & (table.scoring == table.scoring.iloc[0]) & table.engine.notna()]
    for row in page.to_dict("records"):
        own = result.get((row["model"], *(row[key] for key in keys)), {})
        for column, value in own.items():
            if not (math.isnan(value) and math.isnan(row[column])):
                yield f"{name} {row['model']} {column}", row[column], value
