"""YesBut's grades: the right option; ROUGE, BERTScore and the judge's score of a text."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.benchmarks.score import ItemAnswers, ScoreBuilder, compared_texts, measured, scores
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


@scores
def score_item(answers: ItemAnswers) -> Iterator[ScoreBuilder]:
    """Scores of one model's answers on one comic in one condition, one for each task that is asked in it.

    Values: `correct` (0 or 1) of a choice; `r2` (ROUGE-2 recall, 0..1), `bert` or `bert_minilm` (BERTScore recall) and
    `gpt` (the judge's score) of a text, each only where it could be had. A judge without a score gives -1 under
    `released`, none under `paper`; either way the grade's state is unparsable.
    """
    for task in ASKED:
        if task.condition == answers.condition:
            kind = task.name.rpartition("_")[0]
            yield (_choice if kind in CHOSEN else _text)(answers, task.name, kind)


def _choice(answers: ItemAnswers, task: str, kind: str) -> ScoreBuilder:
    builder = answers.new_score(task, signature(kind, answers.rule))
    right, choices = answers.gold.values[kind], options(str(answers.item.fields[kind]))
    letter = None if builder.text is None else parse(task, builder.text, answers.rule, options=choices)
    builder.correct(letter, right)
    if letter is None and builder.scored and answers.rule == "paper":
        builder.metrics = {"correct": float(drawn_option(answers.item.item_id, task, "".join(choices)) == right)}
    return builder


def _text(answers: ItemAnswers, task: str, kind: str) -> ScoreBuilder:
    item, gold, rule, condition = answers.item, answers.gold, answers.rule, answers.condition
    builder = answers.new_score(task, "")
    candidate = scored_text(answers.responses.get(task), rule)
    scorer = None
    if builder.text and not candidate:
        builder.state = "unparsable"  # thoughts, and nothing else
    if candidate is not None:
        builder.scored = True
        text, reference = compared_texts((candidate, str(gold.values[kind])), rule)
        overlap = ngrams.rouge(text, reference, ROUGE, characters=CHARACTERS[rule])
        builder.metrics["r2"] = overlap["rouge2"].recall
        compared = answers.verdict(bertscore_request(item, gold, kind, candidate, condition))
        builder.metrics |= measured(compared, SCORERS, -1, 2)
        judged = answers.verdict(judge_request(item, gold, kind, candidate, condition, rule))
        builder.add_verdict(judged)
        if judged is not None and judged.response.state == "ok":
            score = read_score(judged.response.text or "", rule)
            builder.set_parsed(None if score is None else (f"{score:g}",))
            if score is not None or rule == "released":
                builder.metrics["gpt"] = -1.0 if score is None else score
        if compared is not None:
            builder.responses.append(compared.response)
            scorer = compared.judge
    builder.signature = signature(kind, rule, builder.judge, scorer)
    return builder
