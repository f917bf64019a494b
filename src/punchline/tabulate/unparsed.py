"""Counts of parsed and unparsed responses, with examples and likely reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from punchline.artifacts.passes import EXTRACTOR, JUDGE
from punchline.artifacts.project import Project
from punchline.core.benchmark import SCORERS
from punchline.core.storage import digests_in, rows_in
from punchline.files import csv_text
from punchline.read import reasoning, refusal
from punchline.schema import LENGTH, STATES, Record
from punchline.text import escape_controls

# Why an answer was not read, as far as it shows that; first what a person should look at: no excuse for the reader.
WHY = ("unexplained", "cut_off", "declines", "thoughts_only", "empty")
EXAMPLES = 3
HEAD, TAIL = 60, 100  # characters of an excerpt
COLUMNS = (
    *("model", "condition", "task", "rule", "answers", "read", "unread", "refused", "truncated", "failed", "missing"),
    *WHY,
    *(f"example_{number}" for number in range(1, EXAMPLES + 1)),
)
SCORE = ("condition", "task", "rule", "state", "truncated", "responses")
RESPONSE = ("digest", "request_id", "finish_reason", "text")
Key = tuple[str, str, str]  # condition, task, rule


class Unread(Record, frozen=True, kw_only=True):
    """Of one model's answers to one task in one condition, under one rule."""

    condition: str
    task: str
    rule: str
    states: dict[str, int]
    truncated: int  # answers that a limit of tokens cut off, read or not
    why: dict[str, int]  # of the unread ones
    examples: list[tuple[str, str]]  # (id of the request, excerpt)


def why_unread(text: str, finish_reason: str | None) -> str:
    """Why an answer was not read, one of WHY."""
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


def unread(scores: str | Path, snapshots: Mapping[str, str | Path]) -> list[Unread]:
    """Parsed and unparsed answers of a model; `snapshots` by pass, "" for its own.

    An answer that a judge has seen is unread where the judge's verdict is: then that is the example.
    """
    judges = set(digests_in(snapshots[JUDGE])) if JUDGE in snapshots else set[str]()
    scorers = {
        digest for pass_ in (EXTRACTOR, *SCORERS) if pass_ in snapshots for digest in digests_in(snapshots[pass_])
    }
    states: dict[Key, Counter[str]] = {}
    truncated: Counter[Key] = Counter()
    told: dict[str, list[Key]] = {}  # by digest of a response: where it was not read
    for *where, state, cut_off, responses in rows_in(scores, SCORE):
        read = [digest for digest in responses if digest not in scorers]
        condition, task, rule = where
        key = (condition, task, rule)
        states.setdefault(key, Counter())[state] += 1
        truncated[key] += cut_off
        heard = next((digest for digest in read if digest in judges), read[-1] if read else None)
        if heard is not None and state == "unparsable":
            told.setdefault(heard, []).append(key)
    why: dict[Key, Counter[str]] = {}
    examples: dict[Key, dict[str, list[tuple[str, str]]]] = {}
    for path in snapshots.values():
        for digest, request_id, finish_reason, text in rows_in(path, RESPONSE):
            keys = told.get(digest, [])
            reason = why_unread(text or "", finish_reason) if keys else ""
            for key in keys:
                why.setdefault(key, Counter())[reason] += 1
                such = examples.setdefault(key, {}).setdefault(reason, [])
                if len(such) < EXAMPLES:
                    such.append((request_id, excerpt(text or "")))
    return [
        Unread(
            condition=key[0],
            task=key[1],
            rule=key[2],
            states=dict(states[key]),
            truncated=truncated[key],
            why=dict(why.get(key, {})),
            examples=[one for reason in WHY for one in examples.get(key, {}).get(reason, ())][:EXAMPLES],
        )
        for key in sorted(states)
    ]


def as_rows(model: str, found: Iterable[Unread]) -> Iterator[dict[str, str | int]]:
    """Lines of the CSV. An example is the start of the request's id, as `punchline show` takes it, and the excerpt."""
    for one in found:
        row: dict[str, str | int] = {"model": model, "condition": one.condition, "task": one.task, "rule": one.rule}
        row |= {state: one.states.get(state, 0) for state in STATES if state not in ("ok", "unparsable")}
        row |= {"answers": sum(one.states.values()), "read": one.states.get("ok", 0)}
        row |= {"unread": one.states.get("unparsable", 0), "truncated": one.truncated}
        row |= {reason: one.why.get(reason, 0) for reason in WHY}
        row |= {f"example_{number}": f"{name[:12]}: {said}" for number, (name, said) in enumerate(one.examples, 1)}
        yield row


def unread_text(project: Project, benchmark: str) -> str:
    """The text of unread.csv, from scores and indexes."""
    rows: list[dict[str, str | int]] = []
    for model in project.selection.models:
        where, passes = project.paths, project.passes(benchmark, model)
        snapshots = {pass_: where.snapshot(benchmark, model, pass_) for pass_ in passes}
        read = unread(where.scores(benchmark, model), {"": where.snapshot(benchmark, model), **snapshots})
        rows += as_rows(model, read)
    return csv_text(COLUMNS, rows)
