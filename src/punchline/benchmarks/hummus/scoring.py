"""Scores of answers to Hummus."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from punchline.benchmarks.hummus import COUNTS, JOINT, POSITIVE, SCORERS, SIMILAR
from punchline.benchmarks.hummus.answers import comparisons, graded_tasks, readings
from punchline.benchmarks.hummus.scope import ANNOTATION, in_scope
from punchline.benchmarks.score import ItemAnswers, ScoreBuilder, compared_texts, measured, scores
from punchline.core.benchmark import Verdict
from punchline.metrics import boxes, highlight, ngrams
from punchline.schema import Gold, Rule

ROUGE = ("rouge1", "rouge2")
METHOD = dict.fromkeys(SIMILAR, "cosine:best of gold, lower case:{scorer}")
OVERLAPS: dict[str, Callable[..., dict[str, float]]] = {"image_bbox": boxes.overlap, "caption_hl": highlight.overlap}
METHOD |= {"caption_hl": "words:set, lower case", "explanation": ngrams.signature(ROUGE, stemmer=False) + ":f1"}


def signature(task: str, rule: Rule, scorer: str | None = None) -> str:
    """Names all that changes a score's metrics."""
    method = METHOD.get(task, "").format(scorer=scorer or "none")
    return "|".join(filter(None, (task, f"rule:{rule}", method, "v:4")))


def _cosine(answers: ItemAnswers, task: str, texts: Sequence[str]) -> tuple[dict[str, float], list[Verdict | None]]:
    """({column: similarity}, verdicts read): the mean over the answer's texts of the best match among gold's.

    Nothing where a verdict is absent, cannot be read, or comes from a scorer without a column.
    """
    requests = comparisons(task, texts, answers.item, answers.gold, answers.condition)
    verdicts = [[answers.verdict(request) for request in group] for group in requests]
    measures = [[measured(verdict, SCORERS, -1.001, 1.001) for verdict in group] for group in verdicts]
    judges = {verdict.judge for group in verdicts for verdict in group if verdict is not None}
    if len(judges) != 1 or not all(map(all, measures)):
        return {}, []
    column = SCORERS[judges.pop()]
    bests = [max(measure[column] for measure in group) for group in measures]
    return {column: sum(bests) / len(bests)}, [verdict for group in verdicts for verdict in group]


def _scores(task: str, parsed: tuple[Any, ...], gold: Gold, rule: Rule) -> dict[str, float]:
    """Scores of what was read, those that need no scorer."""
    if task.startswith("classification"):
        positive, right = parsed[0] == "Yes", gold.values["labels"][rule] in POSITIVE
        cell = ("t" if positive == right else "f") + ("p" if positive else "n")
        return {name: float(name == cell) for name in COUNTS}
    if task in OVERLAPS:
        return OVERLAPS[task](parsed, gold.values[ANNOTATION[task]])
    if task == "explanation":
        text, reference = compared_texts((parsed[0], gold.values["explanation"]), rule)
        rouge = ngrams.rouge(text, reference, kinds=ROUGE, stemmer=False)
        return {kind: overlap.fmeasure for kind, overlap in rouge.items()}
    return {}


@scores
def score_item(answers: ItemAnswers) -> Iterator[ScoreBuilder]:
    """Scores of the answers on one pair, one for each task of the condition that is scored on it (in_scope).

    `success` is there for every answer that is in the denominator of the success rate: 1 where something can be read, 0
    for a refusal and where nothing can. Scores are there in the first case only. A task that a joint answer does not
    come to is `ok`, not scored and without metrics.
    """
    gold, rule = answers.gold, answers.rule
    parsed: dict[tuple[str, str], dict[str, tuple[Any, ...] | None]] = {}  # by the task that was asked, and its answer
    for task, source_task in graded_tasks(answers.condition).items():
        if not in_scope(task, gold, rule):
            continue
        builder = answers.new_score(task, signature(task, rule), source_task)
        text = builder.text or ""
        if task in OVERLAPS:  # scorers were asked about the text as it is
            [text] = compared_texts([text], rule)
        if builder.text is not None and (source_task, text) not in parsed:
            parsed[source_task, text] = readings(source_task, text, gold, answers.item, answers.model)
        by_task = parsed.get((source_task, text), {})
        if (values := by_task.get(task)) is not None:
            builder.scored, builder.metrics = True, {"success": 1.0, **_scores(task, values, gold, rule)}
            builder.parsed = tuple(json.dumps(list(v)) if isinstance(v, tuple) else str(v) for v in values)
            if task in SIMILAR:
                similarity, verdicts = _cosine(answers, task, values)
                builder.metrics |= similarity
                for verdict in verdicts:
                    builder.add_verdict(verdict)
                builder.signature = signature(task, rule, builder.judge)
        elif task in by_task:
            builder.state, builder.metrics = "unparsable", {"success": 0.0}
        elif builder.state == "refused" and (source_task != JOINT or task == "classification"):
            builder.metrics = {"success": 0.0}
        yield builder
