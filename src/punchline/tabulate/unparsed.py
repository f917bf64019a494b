"""Counts of parsed and unparsed responses, with examples and likely reasons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from punchline.artifacts.passes import EXTRACTOR, JUDGE
from punchline.artifacts.run import Run
from punchline.core.benchmark import SCORERS
from punchline.core.storage import digests_in, rows_in
from punchline.files import csv_text
from punchline.read import reasoning, refusal
from punchline.schema import LENGTH, STATES
from punchline.text import escape_controls

# Why an answer was not read, as far as it shows that; first what a person should look at: no excuse for the reader.
WHY = ("unexplained", "cut_off", "declines", "thoughts_only", "empty")
EXAMPLES = 3
HEAD, TAIL = 60, 100  # characters of an excerpt
COUNTS = ("answers", "read", "extracted", "unread", "refused", "truncated", "failed", "missing", *WHY)
COLUMNS = ("model", "condition", "task", "rule", *COUNTS, *(f"example_{number}" for number in range(1, EXAMPLES + 1)))
SCORE = ("condition", "task", "rule", "state", "truncated", "responses")
Key = tuple[str, str, str]  # condition, task, rule
Row = dict[str, str | int]


def why_unparsed(text: str, finish_reason: str | None) -> str:
    """Reason why an answer was not parsed, one of WHY."""
    if not text.strip():
        return "empty"
    if finish_reason == LENGTH:
        return "cut_off"
    if not reasoning.remove(text).text:
        return "thoughts_only"
    return "declines" if refusal.refusal(text).value else "unexplained"


def excerpt(text: str) -> str:
    """An answer in one line of harmless characters: its beginning and its end, where answers commit themselves."""
    short = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]} […] {text[-TAIL:]}"
    return escape_controls(short.replace("\\", "\\\\")).replace("\n", "\\n").replace("\t", "\\t")


def count_unparsed(model: str, scores: str | Path, snapshots: Mapping[str, str | Path]) -> list[Row]:
    """Lines of the CSV: a model's answers to each task in each condition under each rule.

    `snapshots` by pass, "" for its own. An answer that a judge has seen is unread where the judge's verdict is: then
    that is the example. An example is the start of the request's id, as `punchline show` takes it, and the excerpt.
    """
    passes = {digest: pass_ for pass_, path in snapshots.items() for digest in digests_in(path)}
    counts: defaultdict[Key, Counter[str]] = defaultdict(Counter)
    places: defaultdict[str, list[Key]] = defaultdict(list)  # by digest of a response: where it was not read
    for condition, task, rule, state, truncated, responses in rows_in(scores, SCORE):
        key = condition, task, rule
        counts[key][state] += 1
        counts[key]["truncated"] += truncated
        extracted = state == "ok" and any(passes.get(digest) == EXTRACTOR for digest in responses)
        counts[key]["extracted"] += extracted
        read = [digest for digest in responses if passes.get(digest) not in (EXTRACTOR, *SCORERS)]
        if state == "unparsable" and read:
            places[next((digest for digest in read if passes.get(digest) == JUDGE), read[-1])].append(key)
    examples: defaultdict[tuple[Key, str], list[str]] = defaultdict(list)  # by reason
    for path in snapshots.values() if places else ():
        for digest, request_id, finish_reason, text in rows_in(path, ("digest", "request_id", "finish_reason", "text")):
            for key in places.get(digest, ()):
                reason = why_unparsed(text or "", finish_reason)
                counts[key][reason] += 1
                if len(examples[key, reason]) < EXAMPLES:
                    examples[key, reason].append(f"{request_id[:12]}: {excerpt(text or '')}")
    rows: list[Row] = []
    for key, states in sorted(counts.items()):
        row: Row = dict(zip(COLUMNS, (model, *key, sum(states[state] for state in STATES)), strict=False))
        row |= {"read": states["ok"], "unread": states["unparsable"]}
        row |= {name: states[name] for name in ("extracted", "refused", "truncated", "failed", "missing", *WHY)}
        first = [one for reason in WHY for one in examples[key, reason]][:EXAMPLES]
        rows.append(row | {f"example_{number}": one for number, one in enumerate(first, 1)})
    return rows


def unparsed_csv(run: Run, benchmark: str) -> str:
    """The text of unread.csv, from scores and indexes."""
    rows: list[Row] = []
    for model in run.selection.models:
        snapshots = {name: run.paths.responses(benchmark, model, name) for name in ("", *run.passes(benchmark, model))}
        rows += count_unparsed(model, run.paths.scores(benchmark, model), snapshots)
    return csv_text(COLUMNS, rows)
