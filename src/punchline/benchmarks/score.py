"""From parsed answers to scores: state, whether it is scored, and what the score depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, Self

import msgspec

from punchline.core import variants
from punchline.core.benchmark import DEFAULT, Verdict, load
from punchline.read.normalize import normalize_unicode
from punchline.schema import Gold, Item, Request, Response, Rule, Score, State


class ScoreBuilder(msgspec.Struct):
    """One answer on the way to its score; fields as in Score."""

    task: str
    signature: str
    state: State
    responses: list[Response | None]  # that were read
    scored: bool = False
    parsed: tuple[str, ...] | None = None
    gold: tuple[str, ...] | None = None
    metrics: dict[str, float] = {}
    judge: str | None = None
    truncated: bool = False

    @property
    def text(self) -> str | None:
        """The answer's text; None where there is no answer."""
        response = self.responses[0]
        return None if response is None or self.state != "ok" else response.text or ""

    @property
    def digests(self) -> tuple[str, ...]:
        """Digests of the responses that were read, each once."""
        return tuple(dict.fromkeys(response.digest for response in self.responses if response is not None))

    def set_parsed(self, parsed: tuple[str, ...] | None) -> Self:
        """Say what was read of the answer. None: nothing, and one that is there is unparsable."""
        self.parsed = parsed
        if parsed is None and self.state == "ok":
            self.state = "unparsable"
        return self

    def correct(self, label: str | None, right: str) -> Self:
        """One label was read, or none. A refusal and what cannot be read are wrong; no answer is not scored."""
        self.set_parsed(None if label is None else (label,))
        self.scored = self.state in ("ok", "refused", "unparsable")
        if self.scored:
            self.metrics = {"correct": float(label == right)}
        return self

    def add_verdict(self, verdict: Verdict | None) -> Self:
        """A verdict on the answer was read; its judge gives the score its name."""
        if verdict is not None:
            self.responses.append(verdict.response)
            self.judge = verdict.judge
        return self


class ItemAnswers(NamedTuple):
    """One model's answers on one item in one condition, and what they are scored by: arguments of `score_item`."""

    responses: Mapping[str, Response]  # by task
    item: Item
    gold: Gold
    model: str
    rule: Rule
    verdicts: Mapping[str, Verdict] | None = None  # by id of the judge's request; None: nobody was asked
    condition: str = DEFAULT
    tasks: Collection[str] | None = None  # whose scores are wanted; None: all

    def new_score(self, task: str, signature: str, source_task: str | None = None) -> ScoreBuilder:
        """The answer to a task, or to the one that was asked in its place: not scored, nothing read."""
        response = self.responses.get(source_task or task)
        if response is None:
            return ScoreBuilder(task, signature, "missing", [None])
        return ScoreBuilder(task, signature, response.state, [response], truncated=response.truncated)

    def verdict(self, request: Request) -> Verdict | None:
        """The verdict on a request; None: no judge was asked."""
        return (self.verdicts or {}).get(request.request_id)


def compared_texts(texts: Iterable[str], rule: Rule) -> list[str]:
    """Texts in the form in which a rule compares them: rule `paper` normalizes their Unicode."""
    return [normalize_unicode(text) if rule == "paper" else text for text in texts]


def measured(verdict: Verdict | None, names: Mapping[str, str], least: float, most: float) -> dict[str, float]:
    """{name of the scorer's metric: what it measured}; {} where there is none, or one of no such name or size."""
    if verdict is None or verdict.response.state != "ok" or verdict.judge not in names:
        return {}
    with suppress(ValueError):
        value = float((verdict.response.text or "")[:40])
        return {names[verdict.judge]: value} if least <= value <= most else {}  # not NaN
    return {}


def scores(build_scores: Callable[[ItemAnswers], Iterable[ScoreBuilder]]) -> Callable[..., list[Score]]:
    """Decorate the function that builds scores of an item's answers: the benchmark's `score_item`."""

    def score_item(*args: Any, **kwargs: Any) -> list[Score]:
        answers = ItemAnswers(*args, **kwargs)
        item, gold, condition = answers.item, answers.gold, answers.condition
        about = {name: getattr(item, name) for name in ("benchmark", "item_id", "cluster")}
        about |= {"model": answers.model, "rule": answers.rule, "condition": condition, "gold_digest": gold.digest}
        if variants.is_derived(condition):
            item, gold, tasks = variants.scored_as(load(item.benchmark), item, gold, condition)
            answers = answers._replace(item=item, gold=gold, condition=DEFAULT, tasks=tasks)
        wanted = (one for one in build_scores(answers) if answers.tasks is None or one.task in answers.tasks)
        return [Score(**about, sample=0, **msgspec.structs.asdict(one) | {"responses": one.digests}) for one in wanted]

    return score_item
