"""YesBut's grades: the right option; ROUGE, BERTScore and the judge's score of a text."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.benchmarks.score import Answered, Mark, measured, scores
from punchline.benchmarks.yesbut import ASKED, CHOSEN
from punchline.benchmarks.yesbut.answers import drawn_option, parse, read_score
from punchline.benchmarks.yesbut.judge import TEXTS, bertscore_request, judge_prompt, judge_request, scored_text
from punchline.benchmarks.yesbut.options import options
from punchline.metrics import ngrams
from punchline.schema import Rule, sha256

ROUGE = ("rouge2",)
CHARACTERS: dict[Rule, bool] = {"released": True, "paper": False}  # evaluation.py joins characters by blanks
VERSION: dict[Rule, int] = {"released": 1, "paper": 3}  # of the reading

SCORERS = {"bertscore": "bert", "bertscore-minilm": "bert_minilm", "minilm": "bert_minilm"}  # scorer: its value's name


def signature(kind: str, rule: Rule, judge: str | None = None, scorer: str | None = None) -> str:
    """A name of everything that changes a score's values."""
    version = VERSION[rule]
    if kind in CHOSEN:
        return f"option|rule:{rule}|v:{version}"
    prompt = sha256(f"{TEXTS['system']}\0{judge_prompt(kind, rule)}".encode())[:12]
    rouge = ngrams.signature(ROUGE, characters=CHARACTERS[rule])
    measured = f"{rouge}|bertscore:{scorer or 'none'}|judge:{judge or 'none'}|prompt:{prompt}"
    return f"{kind}|rule:{rule}|{measured}|v:{version}"


def marks(answered: Answered) -> Iterator[Mark]:
    """Marks of one model's answers on one comic in one condition, one for each task that is asked in it.

    Values: `correct` (0 or 1) of a choice; `r2` (ROUGE-2 recall, 0..1), `bert` or `bert_minilm` (BERTScore recall) and
    `gpt` (the judge's score) of a text, each only where it could be had. A judge without a score gives -1 under
    `released`, none under `paper`; either way the grade's state is unparsable.
    """
    for task in ASKED:
        if task.condition == answered.condition:
            kind = task.name.rpartition("_")[0]
            yield (_choice if kind in CHOSEN else _text)(answered, task.name, kind)


def _choice(answered: Answered, task: str, kind: str) -> Mark:
    mark = answered.mark(task, signature(kind, answered.rule))
    right, choices = answered.gold.values[kind], options(str(answered.item.fields[kind]))
    letter = None if mark.text is None else parse(task, mark.text, answered.rule, options=choices)
    mark.correct(letter, right)
    if letter is None and mark.scored and answered.rule == "paper":
        mark.metrics = {"correct": float(drawn_option(answered.item.item_id, task, "".join(choices)) == right)}
    return mark


def _text(answered: Answered, task: str, kind: str) -> Mark:
    item, gold, rule, condition = answered.item, answered.gold, answered.rule, answered.condition
    mark = answered.mark(task, "")
    candidate = scored_text(answered.responses.get(task), rule)
    scorer = None
    if mark.text and not candidate:
        mark.state = "unparsable"  # thoughts, and nothing else
    if candidate is not None:
        mark.scored = True
        overlap = ngrams.rouge(candidate, str(gold.values[kind]), ROUGE, characters=CHARACTERS[rule])
        mark.metrics["r2"] = overlap["rouge2"].recall
        compared = answered.verdict(bertscore_request(item, gold, kind, candidate, condition))
        mark.metrics |= measured(compared, SCORERS, -1, 2)
        judged = answered.verdict(judge_request(item, gold, kind, candidate, condition, rule))
        mark.hear(judged)
        if judged is not None and judged.response.state == "ok":
            score = read_score(judged.response.text or "", rule)
            mark.read(None if score is None else (f"{score:g}",))
            if score is not None or rule == "released":
                mark.metrics["gpt"] = -1.0 if score is None else score
        if compared is not None:
            mark.responses.append(compared.response)
            scorer = compared.judge
    mark.signature = signature(kind, rule, mark.judge, scorer)
    return mark


score_item = scores(marks)
