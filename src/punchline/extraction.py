"""Extraction: a second model says what an answer chooses that rule `paper` cannot read. Rule `released` never uses it.

The extractor sees the question and the answer, no picture and no gold. Its reply is read as the answer would be; NONE,
a failed reply, and one that cannot be read either leave the answer unparsable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import msgspec
from msgspec.structs import replace

from punchline.core.benchmark import Benchmark, Verdict
from punchline.read import reasoning
from punchline.responses import Exchange, Unit, by_item
from punchline.schema import Gold, Item, Message, Request, Response, Sampling, Score, Text, sha256
from punchline.scores import EXTRACTED

PROMPT = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, str])["prompt"]
_PROMPT_DIGEST = sha256(PROMPT.encode())[:12]

Extracted = Mapping[tuple[str, str, int, str], Verdict]  # replies by item id, condition, sample and task
Rescore = Callable[[Mapping[str, Response]], Sequence[Score]]  # scores of answers by task


def extraction_requests(
    benchmark: Benchmark, items: Mapping[str, Item], golds: Mapping[str, Gold], exchanges: Iterable[Exchange]
) -> Iterator[Request]:
    """Requests about one model's answers to CLOSED tasks that rule `paper` cannot read; an answer's task is theirs."""
    for item_id, pairs in groupby(exchanges, key=lambda pair: pair[0].item_id):
        of_item = list(pairs)
        questions = {request.request_id: request for request, _ in of_item}
        for _, units in by_item(of_item):
            for (_, condition, _), answers in units.items():
                scores = benchmark.score_item(answers, items[item_id], golds[item_id], "", "paper", None, condition)
                unparsable = {score.task for score in scores if score.state == "unparsable"} & answers.keys()
                for task in benchmark.CLOSED:
                    if task in unparsable and (text := reasoning.remove(answers[task].text or "").text):
                        yield _request(questions[answers[task].request_id], text)


def _request(question: Request, answer: str) -> Request:
    texts = [part.text for one in question.messages for part in one.content if isinstance(part, Text)]
    content = PROMPT.format(question="\n\n".join(texts), answer=answer)
    message = Message(role="user", content=(Text(text=content),))
    return replace(question, messages=(message,), sampling=Sampling(temperature=0.0, max_tokens=256))


def read_replies(extractor: str, exchanges: Iterable[Exchange]) -> Extracted:
    """An extractor's replies, by what they are about."""
    return {(r.item_id, r.condition, r.sample, r.task): Verdict(extractor, reply) for r, reply in exchanges}


def with_replies(
    scores: Sequence[Score], answers: Mapping[str, Response], unit: Unit, extracted: Extracted, rescore: Rescore
) -> Iterator[Score]:
    """Scores under rule `paper`, those of unparsable answers by the extractor's reply.

    Such a score names the extractor in its signature, and both responses.
    """
    replies: dict[str, Verdict] = {}
    for score in scores:
        verdict = extracted.get((*unit, score.task))
        text = (verdict.response.text or "").strip() if verdict and verdict.response.state == "ok" else ""
        if verdict and score.state == "unparsable" and text and text.strip(" .\"'*`").upper() != "NONE":
            replies[score.task] = verdict
    if not replies:
        yield from scores
        return
    read = {task: replace(answers[task], text=reply.response.text) for task, reply in replies.items()}
    both = {read[task].digest: (answers[task].digest, reply.response.digest) for task, reply in replies.items()}
    for before, score in zip(scores, rescore({**answers, **read}), strict=True):
        reply = replies.get(score.task)
        if reply and score.state == "unparsable":
            yield before
            continue
        responses = tuple(digest for one in score.responses for digest in both.get(one, (one,)))
        by_extractor = f"{EXTRACTED}{reply.judge}|prompt:{_PROMPT_DIGEST}" if reply else ""
        yield replace(score, responses=responses, signature=score.signature + by_extractor)
