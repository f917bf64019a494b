"""Grades of answers to Hummus."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from punchline.benchmarks.hummus import JOINT, NAME, POSITIVE
from punchline.benchmarks.hummus.answers import graded_tasks, joint_readings, reading, text_pairs
from punchline.benchmarks.hummus.scope import in_scope
from punchline.core.benchmark import DEFAULT, Verdict, comparison
from punchline.core.records import Gold, Grade, Item, Response, Rule, State
from punchline.score import boxes as box_metrics
from punchline.score import highlight, ngrams

SCORERS = {"labse": "cosine", "minilm": "cosine_minilm"}  # two embedders never share a value


def signature(task: str, rule: Rule, scorer: str | None = None) -> str:
    """What names all that changes a grade's values."""
    parts = [task, f"rule:{rule}"]
    if task in ("naming", "image_label"):
        parts.append(f"cosine:best of gold, lower case:{scorer or 'none'}")
    if task == "caption_hl":
        parts.append("words:set, lower case")
    if task == "explanation":
        parts.append(ngrams.signature(("rouge1", "rouge2"), stemmer=False) + ":f1")
    return "|".join((*parts, "v:3"))


def _cosine(
    task: str,
    found: Sequence[str],
    item: Item,
    gold: Gold,
    condition: str,
    verdicts: Mapping[str, Verdict] | None,
) -> tuple[dict[str, float], list[Verdict]]:
    """({column: similarity}, verdicts read): the mean over the answer's texts of the best match among gold's.

    Nothing where a verdict is absent, cannot be read, or comes from a scorer without a column.
    """
    read_: list[Verdict] = []
    bests = []
    for pairs in text_pairs(task, found, gold):
        scores = []
        for pair in pairs:
            verdict = (verdicts or {}).get(comparison(NAME, item.item_id, "cosine", condition, *pair).request_id)
            if verdict is None or verdict.response.state != "ok" or verdict.judge not in SCORERS:
                return {}, []
            try:
                score = float((verdict.response.text or "")[:40])
            except ValueError:
                return {}, []
            if not -1.001 <= score <= 1.001:
                return {}, []
            scores.append(score)
            read_.append(verdict)
        bests.append(max(scores))
    judges = {verdict.judge for verdict in read_}
    if len(judges) != 1:
        return {}, []
    return {SCORERS[judges.pop()]: sum(bests) / len(bests)}, read_


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
        return {kind: overlap.f1 for kind, overlap in (rouge or {}).items()}
    return {}


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = DEFAULT,
) -> list[Grade]:
    """Grades of one model's answers on one pair in one condition, one for each task.

    `success` is there for every answer that is in the denominator of the success rate: 1 where something can be read, 0
    for a refusal and where nothing can. Scores are there in the first case only. A task that is not scored on the pair
    (in_scope), or that a joint answer does not come to, has a grade that is `ok`, not scored and without values.
    """
    grades = []
    joint: dict[str, tuple[Any, ...] | None] | None = None
    for task, asked in graded_tasks(condition).items():
        response = responses.get(asked)
        state: State = response.state if response is not None else "missing"
        scored, judge, heard = False, None, list[Verdict]()
        parsed: tuple[str, ...] | None = None
        values: dict[str, float] = {}
        if not in_scope(task, gold, rule):
            state, response = "ok", None
        elif response is not None and state == "ok":
            if asked == JOINT:
                joint = joint_readings(response.text or "", gold, item) if joint is None else joint
                found, reached = joint.get(task), task in joint
            else:
                found, reached = reading(task, response.text or "", gold, item), True
            if found is not None:
                scored, values = True, {"success": 1.0, **_scores(task, found, gold, rule)}
                parsed = tuple(json.dumps(list(one)) if isinstance(one, tuple) else str(one) for one in found)
                if task in ("naming", "image_label"):
                    similarity, heard = _cosine(task, found, item, gold, condition, verdicts)
                    values |= similarity
                    judge = heard[0].judge if heard else None
            elif reached:
                state, values = "unparsable", {"success": 0.0}
        elif state == "refused" and (asked != JOINT or task == "classification"):
            values = {"success": 0.0}
        grades.append(
            Grade(
                benchmark=NAME,
                item_id=item.item_id,
                task=task,
                condition=condition,
                sample=0,
                model=model,
                judge=judge,
                rule=rule,
                signature=signature(task, rule, judge),
                responses=tuple(
                    dict.fromkeys(one.digest for one in (response, *(v.response for v in heard)) if one is not None)
                ),
                gold=gold.digest,
                state=state,
                scored=scored,
                parsed=parsed,
                values=values,
            )
        )
    return grades
