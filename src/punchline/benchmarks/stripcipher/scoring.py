"""StripCipher's grades: right or not; a sequence also by its other reading."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.benchmarks.score import Answered, Mark, scores
from punchline.benchmarks.stripcipher.answers import read
from punchline.benchmarks.stripcipher.questions import asked
from punchline.comics.shuffle import inverse
from punchline.schema import Rule


def signature(task: str, rule: Rule) -> str:
    """A name of everything that changes a score's values."""
    return f"{'sequence' if task == 'reordering_generation' else 'option'}|rule:{rule}|v:4"


def _sequence(mark: Mark, right: list[int]) -> Mark:
    """correct; and correct_as_places: whether it is right if number k is frame k's place."""
    places = [place + 1 for place in inverse([number - 1 for number in right])]
    mark.scored = mark.state in ("ok", "refused", "unparsable")
    order = [int(number) for number in mark.parsed or ()]
    mark.metrics = {"correct": order == right, "correct_as_places": order == places} if mark.scored else {}
    return mark


def marks(answered: Answered) -> Iterator[Mark]:
    """True if one model's answers on one strip are right. Both rules are the same.

    A refusal and an answer that cannot be read are wrong; a missing or failed one leaves the denominator.
    """
    for task in (task.name for task in asked(answered.item, answered.condition)):
        mark = answered.mark(task, signature(task, answered.rule))
        parsed = None if mark.text is None else read(task, mark.text, answered.item)
        right = answered.gold.values[task]
        if task == "reordering_generation":
            yield _sequence(mark.read(parsed), [int(number) for number in right])
        else:
            yield mark.correct(parsed[0] if parsed else None, right)


score_item = scores(marks)
