"""HumorBench's explanations with human labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from punchline.benchmarks.humorbench import ANNOTATIONS
from punchline.benchmarks.humorbench.data import normal, row_in, rows_of
from punchline.benchmarks.humorbench.summaries import plain
from punchline.errors import PunchlineError
from punchline.files import csv_text, parse_csv
from punchline.schema import ModelCard, sha256

RUBRIC = "rubric/gpt_4o_rubric.csv"
LABELS = "human_labels.csv"
# Of the released runs. rubric.csv and claude_rubric.csv, drafts of another mixture and without labels, are left out.
LABELLED = tuple(f"cc99276/rubric/{name}_rubric.csv" for name in ("gemini_2.5_pro", "llama_4_maverick", "claude_2"))
VERDICTS = tuple(f"816fe32/autograder_runs/gpt_4o_20250424_{time}.csv" for time in ("162155", "162907", "163002"))
JUDGE = "gpt-4o"  # the judge of those
SHOWN = "table1"  # the table that reads all of these

Key = tuple[str, str]  # item id, digest of the explanation


class Labelled(NamedTuple):
    """An explanation with a human label."""

    item_id: str
    explainer: str
    explanation: str
    label: str  # PASS or FAIL


def read_labelled(content: bytes, file: str, annotations: bytes) -> list[Labelled]:
    """Explanations with human labels, from a CSV with the columns explanation and label.

    The element is named by annotation_row or found by caption and element, as in the released rubric; explainer_model
    (or model) names the explainer. Raises PunchlineError for a label that is neither PASS nor FAIL and for an element
    that `annotations` (comprehensive_annotations.csv) does not have.
    """
    rows, labelled = rows_of(annotations), []
    known = {*rows.values()}
    for line, cells in parse_csv(content, ("explanation", "label"), file=file):
        label = cells["label"].strip().upper()
        if label not in ("PASS", "FAIL"):
            raise PunchlineError(f"expected PASS or FAIL, got {cells['label']!r}", file=file, line=line, field="label")
        item_id = cells.get("annotation_row", "").strip() or row_in(rows, cells)
        if item_id is None or item_id not in known:
            what = "the annotations have no such row, or none with this caption and element"
            hint = f"Give the column annotation_row: the 0-based row of {ANNOTATIONS}"
            raise PunchlineError(what, file=file, line=line, hint=hint)
        explainer = cells.get("explainer_model") or cells.get("model") or "labelled"
        labelled.append(Labelled(item_id, explainer, cells["explanation"], label))
    return labelled


def as_released(labelled: Iterable[Labelled]) -> str:
    """Labelled explanations in the form that `replay` reads (format humorbench), without any verdict."""
    columns = ("annotation_row", "model", "explanation", "autograder_judgment")
    return csv_text(columns, (dict(zip(columns, (*one[:3], ""), strict=True)) for one in labelled))


def _key(item_id: str, explanation: str) -> Key:
    return item_id, sha256(normal(explanation).encode())[:16]


def labelled(files: Mapping[str, bytes]) -> Iterator[tuple[str, str, Key, bool]]:
    """(judge, explainer, explanation, passed): judge "" for people, then released verdicts on the same."""
    labels = {
        _key(one.item_id, one.explanation): (one.explainer, one.label == "PASS")
        for name in (RUBRIC.split("/")[-1], *LABELLED, LABELS)
        if name in files
        for one in read_labelled(files[name], name, files[ANNOTATIONS])
    }
    yield from (("", explainer, key, passed) for key, (explainer, passed) in labels.items())
    rows = rows_of(files[ANNOTATIONS]) if labels else {}
    columns = ("caption", "element", "explanation", "autograder_judgment")
    for name in filter(files.__contains__, VERDICTS):
        for _, cells in parse_csv(files[name], columns, file=name):
            key, verdict = _key(row_in(rows, cells) or "", cells["explanation"]), cells["autograder_judgment"]
            if key in labels and verdict in ("PASS", "FAIL"):
                yield JUDGE, labels[key][0], key, verdict == "PASS"


def explains(card: ModelCard, explainer: str) -> bool:
    """True if files of labels call a card's model so."""
    return plain(explainer) in {plain(name) for name in (card.name, card.published_as) if name}
