"""StripCipher's grades: right or not; a sequence also by its other reading."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.benchmarks.score import ItemAnswers, ScoreBuilder, scores
from punchline.benchmarks.stripcipher.answers import read
from punchline.benchmarks.stripcipher.questions import pictures_by_task
from punchline.comics.shuffle import inverse
from punchline.schema import Rule


def signature(task: str, rule: Rule) -> str:
    """A name of everything that changes a score's values."""
    return f"{'sequence' if task == 'reordering_generation' else 'option'}|rule:{rule}|v:4"


def _sequence(builder: ScoreBuilder, right: list[int]) -> ScoreBuilder:
    """correct; and correct_as_places: whether it is right if number k is frame k's place."""
    places = [place + 1 for place in inverse([number - 1 for number in right])]
    builder.scored = builder.state in ("ok", "refused", "unparsable")
    order = [int(number) for number in builder.parsed or ()]
    builder.metrics = {"correct": order == right, "correct_as_places": order == places} if builder.scored else {}
    return builder


@scores
def score_item(answers: ItemAnswers) -> Iterator[ScoreBuilder]:
    """True if one model's answers on one strip are right. Both rules are the same.

    A refusal and an answer that cannot be read are wrong; a missing or failed one leaves the denominator.
    """
    for task in (task.name for task in pictures_by_task(answers.item, answers.condition)):
        builder = answers.new_score(task, signature(task, answers.rule))
        parsed = None if builder.text is None else read(task, builder.text, answers.item, answers.condition)
        right = answers.gold.values[task]
        if task == "reordering_generation":
            yield _sequence(builder.set_parsed(parsed), [int(number) for number in right])
        else:
            yield builder.correct(parsed[0] if parsed else None, right)
