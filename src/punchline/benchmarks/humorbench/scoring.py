"""Grades of answers to HumorBench."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.benchmarks.humorbench import EXPLAIN
from punchline.benchmarks.humorbench.answers import LAST_TOKENS, explained, parse_verdict
from punchline.benchmarks.humorbench.data import normal
from punchline.benchmarks.humorbench.judge import judge_request
from punchline.benchmarks.score import ItemAnswers, ScoreBuilder, scores
from punchline.metrics.length import tokenizer
from punchline.schema import Response, Rule, sha256

VERSION: dict[Rule, int] = {"released": 1, "paper": 3}  # of the reading


def signature(rule: Rule, judge: str | None) -> str:
    """A name of everything that changes a score's values."""
    limit = LAST_TOKENS[rule]
    counted = "last:all" if limit is None else f"last:{limit}|tokenizer:{tokenizer()}"
    return f"element|rule:{rule}|{counted}|judge:{judge or 'none'}|v:{VERSION[rule]}"


def _tokens(response: Response | None, prefix: str) -> dict[str, float]:
    usage = {} if response is None else {"in": response.usage.prompt, "out": response.usage.completion}
    return {f"{prefix}tokens_{name}": float(count) for name, count in usage.items() if count is not None}


@scores
def score_item(answers: ItemAnswers) -> Iterator[ScoreBuilder]:
    """True if one model's explanation covers the element, as its judge has it.

    A verdict that is neither PASS nor FAIL leaves the denominator (released code), as does one that is missing or
    failed. A refusal to explain is judged by nobody and is wrong, and so is, under rule `paper`, an answer without an
    explanation: thoughts, or the prompt's own words. Where no judge was asked nothing is scored.
    """
    rule, response = answers.rule, answers.responses.get(EXPLAIN.name)
    builder = answers.new_score(EXPLAIN.name, "")
    builder.metrics = _tokens(response, "")
    text = None if builder.text is None else explained(builder.text, rule)
    if response is not None and text is not None:
        verdict = answers.verdict(judge_request(answers.item, answers.gold, response, rule))
        text_digest = sha256(normal(text).encode())[:16]
        builder.add_verdict(verdict).parsed = (text_digest,)
        builder.state = "missing" if verdict is None else verdict.response.state
        builder.metrics |= _tokens(verdict and verdict.response, "judge_")
        if verdict is not None and builder.state == "ok":
            word = parse_verdict(verdict.response.text or "", rule)
            if word is None:
                builder.state = "unparsable"
            else:
                builder.scored, builder.parsed = True, (text_digest, word)
                builder.metrics["passed"] = float(word == "PASS")
    elif builder.state in ("refused", "ok"):
        builder.set_parsed(None)
        if answers.verdicts is not None:
            builder.scored, builder.metrics["passed"] = True, 0.0
    builder.signature = signature(rule, builder.judge)
    yield builder
