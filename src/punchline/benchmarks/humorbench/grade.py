"""Grades of answers to HumorBench."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.benchmarks.humorbench import CONDITION, NAME
from punchline.benchmarks.humorbench.answers import LAST_TOKENS, explained, parse_verdict
from punchline.benchmarks.humorbench.judge import judge_request
from punchline.benchmarks.humorbench.texts import normal
from punchline.core.benchmark import Verdict
from punchline.core.records import Gold, Grade, Item, Response, Rule, State, sha256
from punchline.score.length import tokenizer

VERSION: dict[Rule, int] = {"released": 1, "paper": 2}  # of the reading


def signature(rule: Rule, judge: str | None) -> str:
    """What names all that changes a grade's values."""
    counted = f"last:{LAST_TOKENS[rule]}|tokenizer:{tokenizer()}"
    return f"element|rule:{rule}|{counted}|judge:{judge or 'none'}|v:{VERSION[rule]}"


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = CONDITION,
) -> list[Grade]:
    """Whether one model's explanation covers the element, as its judge has it.

    A verdict that is neither PASS nor FAIL leaves the denominator (released code), as does one that is missing or
    failed. A refusal to explain is judged by nobody and is wrong, and so is, under rule `paper`, an answer without an
    explanation: thoughts, or the prompt's own words. `verdicts`: by id of the judge's request; None: no
    judge was asked, and nothing is scored.
    """
    response = responses.get("explain")
    state: State = response.state if response is not None else "missing"
    scored, verdict, judge = False, None, None
    parsed: tuple[str, ...] | None = None
    values: dict[str, float] = {}
    if response is not None:
        values |= _tokens(response, "")
    text = explained(response.text or "", rule) if response is not None and state == "ok" else None
    if response is not None and text is not None:
        asked = judge_request(item, gold, response, rule)
        verdict = (verdicts or {}).get(asked.request_id)
        parsed = (sha256(normal(text).encode())[:16],)
        if verdict is None:
            state = "missing"
        else:
            judge = verdict.judge
            values |= _tokens(verdict.response, "judge_")
            state = verdict.response.state
            word = parse_verdict(verdict.response.text or "", rule) if state == "ok" else None
            if word is not None:
                scored, parsed = True, (*parsed, word)
                values["passed"] = float(word == "PASS")
            elif state == "ok":
                state = "unparsable"
    elif state in ("refused", "ok"):
        state = "unparsable" if state == "ok" else state
        if verdicts is not None:
            scored = True
            values["passed"] = 0.0
    return [
        Grade(
            benchmark=NAME,
            item_id=item.item_id,
            task="explain",
            condition=CONDITION,
            sample=0,
            model=model,
            judge=judge,
            rule=rule,
            signature=signature(rule, judge),
            responses=tuple(r.digest for r in (response, verdict.response if verdict else None) if r is not None),
            gold=gold.digest,
            state=state,
            scored=scored,
            parsed=parsed,
            values=values,
        )
    ]


def _tokens(response: Response, prefix: str) -> dict[str, float]:
    counted = {"tokens_in": response.usage.prompt, "tokens_out": response.usage.completion}
    return {f"{prefix}{name}": float(count) for name, count in counted.items() if count is not None}
