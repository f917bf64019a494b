"""StripCipher's grades: right or not; a sequence also by its other reading."""

from __future__ import annotations

from collections.abc import Iterator

from punchline.bench.grade import Answered, Mark, grades
from punchline.benchmarks.stripcipher.answers import read
from punchline.benchmarks.stripcipher.questions import asked
from punchline.comics.shuffle import inverse
from punchline.core.records import Gold, Rule


def signature(task: str, rule: Rule) -> str:
    """What names all that changes a grade's values."""
    return f"{'sequence' if task == 'reordering_generation' else 'option'}|rule:{rule}|v:3"


def _values(task: str, parsed: tuple[str, ...] | None, gold: Gold) -> dict[str, float]:
    """correct; for a generated sequence also correct_as_places: whether it is right if number k is frame k's place."""
    if task != "reordering_generation":
        return {"correct": float(parsed == (gold.values[task],))}
    right = [int(number) for number in gold.values[task]]
    places = [place + 1 for place in inverse([number - 1 for number in right])]
    said = [int(number) for number in parsed or ()]
    return {"correct": float(said == right), "correct_as_places": float(said == places)}


def marks(answered: Answered) -> Iterator[Mark]:
    """Whether one model's answers on one strip are right. Both rules are the same.

    A refusal and an answer that cannot be read are wrong; a missing or failed one leaves the denominator.
    """
    for task in asked(answered.item, answered.condition):
        mark = answered.mark(task, signature(task, answered.rule))
        mark.read(None if mark.text is None else read(task, mark.text, answered.item))
        mark.scored = mark.state in ("ok", "refused", "unparsable")
        if mark.scored:
            mark.values = _values(task, mark.parsed, answered.gold)
        yield mark


grade_item = grades(marks)
