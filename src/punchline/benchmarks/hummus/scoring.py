"""Scores of answers to Hummus."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from punchline.benchmarks.hummus import JOINT, NAME, POSITIVE, SCORERS
from punchline.benchmarks.hummus.answers import graded_tasks, readings, text_pairs
from punchline.benchmarks.hummus.scope import in_scope
from punchline.benchmarks.score import Answered, Mark, measured, scores
from punchline.core.benchmark import Verdict, comparison
from punchline.metrics import boxes as box_metrics
from punchline.metrics import highlight, ngrams
from punchline.schema import Gold, Rule


def signature(task: str, rule: Rule, scorer: str | None = None) -> str:
    """Names all that changes a score's metrics."""
    parts = [task, f"rule:{rule}"]
    if task in ("naming", "image_label"):
        parts.append(f"cosine:best of gold, lower case:{scorer or 'none'}")
    if task == "caption_hl":
        parts.append("words:set, lower case")
    if task == "explanation":
        parts.append(ngrams.signature(("rouge1", "rouge2"), stemmer=False) + ":f1")
    return "|".join((*parts, "v:4"))


def _cosine(answered: Answered, task: str, found: Sequence[str]) -> tuple[dict[str, float], list[Verdict]]:
    """({column: similarity}, verdicts read): the mean over the answer's texts of the best match among gold's.

    Nothing where a verdict is absent, cannot be read, or comes from a scorer without a column.
    """
    heard: list[Verdict] = []
    bests: dict[str, list[float]] = {}
    for pairs in text_pairs(task, found, answered.gold):
        scores = []
        for pair in pairs:
            request = comparison(NAME, answered.item.item_id, "cosine", answered.condition, *pair)
            verdict = answered.verdict(request)
            if verdict is None or not (score := measured(verdict, SCORERS, -1.001, 1.001)):
                return {}, []
            scores.append(score)
            heard.append(verdict)
        column, best = max((next(iter(score.items())) for score in scores), key=lambda one: one[1])
        bests.setdefault(column, []).append(best)
    if len({verdict.judge for verdict in heard}) != 1:
        return {}, []
    return {column: sum(scores) / len(scores) for column, scores in bests.items()}, heard


def _scores(task: str, found: tuple[Any, ...], gold: Gold, rule: Rule) -> dict[str, float]:
    """Scores of what was read, those that need no scorer."""
    if task.startswith("classification"):
        positive, right = found[0] == "Yes", gold.values["labels"][rule] in POSITIVE
        cell = ("tp" if right else "fp") if positive else ("fn" if right else "tn")
        return {name: float(name == cell) for name in ("tp", "fp", "fn", "tn")}
    if task == "image_bbox":
        area = box_metrics.overlap(found, [(b[0], b[1], b[2], b[3]) for b in gold.values["boxes"]])
        return {} if area is None else area._asdict()
    if task == "caption_hl":
        shared = highlight.overlap(found, tuple(gold.values["highlight"]))
        return {} if shared is None else shared._asdict()
    if task == "explanation":
        rouge = ngrams.rouge(found[0], gold.values["explanation"], kinds=("rouge1", "rouge2"), stemmer=False)
        return {kind: overlap.f1 for kind, overlap in rouge.items()}
    return {}


def marks(answered: Answered) -> Iterator[Mark]:
    """Marks of the answers on one pair, one for each task of the condition that is scored on it (in_scope).

    `success` is there for every answer that is in the denominator of the success rate: 1 where something can be read, 0
    for a refusal and where nothing can. Scores are there in the first case only. A task that a joint answer does not
    come to is `ok`, not scored and without metrics.
    """
    gold, rule, item, model = answered.gold, answered.rule, answered.item, answered.model
    parsed: dict[str, dict[str, tuple[Any, ...] | None]] = {}  # by the task that was asked
    for task, asked in graded_tasks(answered.condition).items():
        if not in_scope(task, gold, rule):
            continue
        mark = answered.mark(task, signature(task, rule), asked)
        if mark.text is None:
            if mark.state == "refused" and (asked != JOINT or task == "classification"):
                mark.metrics = {"success": 0.0}
            yield mark
            continue
        if asked not in parsed:
            parsed[asked] = readings(asked, mark.text, gold, item, model)
        found = parsed[asked].get(task)
        if found is not None:
            mark.scored, mark.metrics = True, {"success": 1.0, **_scores(task, found, gold, rule)}
            mark.parsed = tuple(json.dumps(list(one)) if isinstance(one, tuple) else str(one) for one in found)
            if task in ("naming", "image_label"):
                similarity, heard = _cosine(answered, task, found)
                mark.metrics |= similarity
                for verdict in heard:
                    mark.hear(verdict)
                mark.signature = signature(task, rule, mark.judge)
        elif task in parsed[asked]:
            mark.state, mark.metrics = "unparsable", {"success": 0.0}
        yield mark


score_item = scores(marks)
