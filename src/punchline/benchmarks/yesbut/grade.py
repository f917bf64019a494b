"""YesBut's grades: the right option; ROUGE, BERTScore and the judge's score of a text."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.benchmarks.yesbut import CHOSEN, DESCRIBED, NAME, TASKS
from punchline.benchmarks.yesbut.answers import drawn_option, read_paper, read_released, read_score
from punchline.benchmarks.yesbut.judge import JUDGE_PROMPTS, JUDGE_SYSTEM, bertscore_request, judge_request, scored_text
from punchline.benchmarks.yesbut.options import options
from punchline.core.benchmark import DEFAULT, Verdict
from punchline.core.records import Gold, Grade, Item, Response, Rule, State, sha256
from punchline.score import ngrams

ROUGE = ("rouge2",)
CHARACTERS: dict[Rule, bool] = {"released": True, "paper": False}  # evaluation.py joins characters by blanks
VERSION: dict[Rule, int] = {"released": 1, "paper": 2}  # of the reading

SCORERS = {"bertscore": "bert", "bertscore-minilm": "bert_minilm", "minilm": "bert_minilm"}  # scorer: its value's name


def _measured(verdict: Verdict | None) -> dict[str, float]:
    """{name of the value: BERTScore recall in 0..1}; {} where there is none, or it is of another encoder."""
    if verdict is None or verdict.response.state != "ok" or verdict.judge not in SCORERS:
        return {}
    try:
        value = float(verdict.response.text or "")
    except ValueError:
        return {}
    return {SCORERS[verdict.judge]: value} if -1 <= value <= 2 else {}  # not NaN, not infinite


def signature(kind: str, rule: Rule, judge: str | None = None, scorer: str | None = None) -> str:
    """What names all that changes a grade's values."""
    version = VERSION[rule]
    if kind in CHOSEN:
        return f"option|rule:{rule}|v:{version}"
    prompt = sha256(f"{JUDGE_SYSTEM}\0{JUDGE_PROMPTS[kind, rule]}".encode())[:12]
    rouge = ngrams.signature(ROUGE, characters=CHARACTERS[rule])
    measured = f"{rouge}|bertscore:{scorer or 'none'}|judge:{judge or 'none'}|prompt:{prompt}"
    return f"{kind}|rule:{rule}|{measured}|v:{version}"


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = DEFAULT,
) -> list[Grade]:
    """Grades of one model's answers on one comic in one condition, one for each task that is asked in it.

    Values: `correct` (0 or 1) of a choice; `r2` (ROUGE-2 recall, 0..1), `bert` or `bert_minilm` (BERTScore recall) and
    `gpt` (the judge's score) of a text, each only where it could be had. A judge without a score gives -1 under
    `released`, none under `paper`; either way the grade's state is unparsable.
    """
    asked = TASKS if condition == DEFAULT else tuple(t for t in TASKS if t.rpartition("_")[0] in DESCRIBED)
    made = []
    for task in asked:
        kind = task.rpartition("_")[0]
        response = responses.get(task)
        if kind in CHOSEN:
            made.append(_grade_choice(response, item, gold, model, rule, condition, task, kind))
        else:
            made.append(_grade_text(response, item, gold, model, rule, condition, task, kind, verdicts or {}))
    return made


def _grade_choice(
    response: Response | None, item: Item, gold: Gold, model: str, rule: Rule, condition: str, task: str, kind: str
) -> Grade:
    state: State = response.state if response is not None else "missing"
    read: str | None = None
    values: dict[str, float] = {}
    if state in ("ok", "refused"):
        choices = options(str(item.fields[kind]))
        letters = "".join(choices)
        if state == "ok":
            text = (response.text if response is not None else None) or ""
            read = read_released(text, letters) if rule == "released" else read_paper(text, choices)
            state = "ok" if read is not None else "unparsable"
        answer = read
        if answer is None and rule == "paper":
            answer = drawn_option(item.item_id, task, letters)
        values = {"correct": float(answer == gold.values[kind])}
    return Grade(
        benchmark=NAME,
        item_id=item.item_id,
        task=task,
        condition=condition,
        sample=0,
        model=model,
        rule=rule,
        signature=signature(kind, rule),
        responses=(response.digest,) if response is not None else (),
        gold=gold.digest,
        state=state,
        scored=bool(values),
        parsed=(read,) if read is not None else None,
        values=values,
    )


def _grade_text(
    response: Response | None,
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    condition: str,
    task: str,
    kind: str,
    verdicts: Mapping[str, Verdict],
) -> Grade:
    state: State = response.state if response is not None else "missing"
    candidate = scored_text(response, rule)
    values: dict[str, float] = {}
    parsed: tuple[str, ...] | None = None
    judged = compared = None
    if state == "ok" and not candidate and response is not None and response.text:
        state = "unparsable"  # thoughts, and nothing else
    if candidate is not None:
        overlap = ngrams.rouge(candidate, str(gold.values[kind]), ROUGE, characters=CHARACTERS[rule])
        if overlap is not None:
            values["r2"] = overlap["rouge2"].recall
        compared = verdicts.get(bertscore_request(item, gold, kind, candidate, condition).request_id)
        values |= _measured(compared)
        judged = verdicts.get(judge_request(item, gold, kind, candidate, condition, rule).request_id)
        if judged is not None and judged.response.state == "ok":
            score = read_score(judged.response.text or "", rule)
            if score is not None:
                parsed, values["gpt"] = (f"{score:g}",), score
            else:
                state = "unparsable" if state == "ok" else state
                values |= {"gpt": -1.0} if rule == "released" else {}
    read = (response, judged.response if judged else None, compared.response if compared else None)
    return Grade(
        benchmark=NAME,
        item_id=item.item_id,
        task=task,
        condition=condition,
        sample=0,
        model=model,
        judge=judged.judge if judged is not None else None,
        rule=rule,
        signature=signature(kind, rule, judged.judge if judged else None, compared.judge if compared else None),
        responses=tuple(one.digest for one in read if one is not None),
        gold=gold.digest,
        state=state,
        scored=candidate is not None,
        parsed=parsed,
        values=values,
    )
