"""StripCipher's grades: right or not; a sequence also by its other reading."""

from __future__ import annotations

from collections.abc import Mapping

from punchline.benchmarks.stripcipher import NAME
from punchline.benchmarks.stripcipher.answers import read
from punchline.benchmarks.stripcipher.questions import asked
from punchline.comics.shuffle import inverse
from punchline.core.benchmark import DEFAULT, Verdict
from punchline.core.records import Gold, Grade, Item, Response, Rule, State


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


def grade_item(
    responses: Mapping[str, Response],
    item: Item,
    gold: Gold,
    model: str,
    rule: Rule,
    verdicts: Mapping[str, Verdict] | None = None,
    condition: str = DEFAULT,
) -> list[Grade]:
    """Whether one model's answers on one strip are right. Both rules are the same.

    A refusal and an answer that cannot be read are wrong; a missing or failed one leaves the denominator.
    """
    graded = []
    for task in asked(item, condition):
        response = responses.get(task)
        state: State = response.state if response is not None else "missing"
        parsed = None
        if response is not None and state == "ok":
            parsed = read(task, response.text or "", item)
            state = "ok" if parsed is not None else "unparsable"
        scored = state in ("ok", "refused", "unparsable")
        graded.append(
            Grade(
                benchmark=NAME,
                item_id=item.item_id,
                task=task,
                condition=condition,
                sample=0,
                model=model,
                rule=rule,
                signature=signature(task, rule),
                responses=(response.digest,) if response is not None else (),
                gold=gold.digest,
                state=state,
                scored=scored,
                parsed=parsed,
                values=_values(task, parsed, gold) if scored else {},
            )
        )
    return graded
