"""Passes: the rounds of requests that follow the main one, and their respondents.

A pass sends requests about a model's responses: `chained` to the model itself, `extractor` to a model that says what an
unparsable answer chooses, `judge` to a judge, `bertscore` and `cosine` to scorers, which compare two texts. Its files
are named after it (paths.py). A scorer may also compare texts of the dataset itself, which belong to no model: DATA.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from punchline.config.cards import read_card, stems
from punchline.core.benchmark import SCORERS, Benchmark
from punchline.core.engine import Engine
from punchline.errors import PunchlineError
from punchline.schema import ModelCard

CHAINED = "chained"
JUDGE = "judge"
EXTRACTOR = "extractor"
PASSES = (CHAINED, EXTRACTOR, JUDGE, *SCORERS)  # in the order in which they are answered

ALL = "all"  # in place of a shard's name: the job of the respondent itself
JUDGES = "judge/"  # before the name of a judge or scorer, where models are named too
RELEASED = "released"  # in place of a judge's name: verdicts were released with the answers
DATA = "_data"  # in place of a model's name: texts that no model gave; no card's name begins with _


class Round(NamedTuple):
    """Requests to a respondent in one go: about items, or about the answers of some models."""

    benchmark: str
    pass_: str  # "": about items
    models: tuple[str, ...]  # whose items or answers; DATA


def scorers_of(cards: Iterable[ModelCard]) -> dict[str, str]:
    """{pass: name of the scorer that answers it}. Raises PunchlineError for two of one pass, or for another card."""
    scorers: dict[str, str] = {}
    for card in cards:
        pass_ = card.options.get("metric")
        if card.engine != "similarity" or pass_ not in SCORERS:
            hint = f"scorers= takes cards with `engine: similarity` and `metric: {' | '.join(SCORERS)}`"
            raise PunchlineError(f"{card.name} is no scorer: it compares no texts", file=card.file, hint=hint)
        if pass_ in scorers:
            what = f"both {scorers[pass_]} and {card.name} measure {pass_}"
            raise PunchlineError(what, field="scorers", hint="Choose one of them")
        scorers[pass_] = card.name
    return scorers


def passes_of(
    benchmark: Benchmark, model: ModelCard, engine: Engine, conditions: Sequence[str], chosen: Mapping[str, str | None]
) -> dict[str, str]:
    """{pass: who answers it} for one model, in order; nothing for a pass that nobody answers.

    `chosen`: names of the selected judge, extractor and scorers, by pass. The judge is RELEASED where verdicts were
    released with the answers and no other judge is asked for, or just the one that gave them.
    """
    judged = JUDGE in benchmark.JUDGES and engine.format == benchmark.NAME  # else its file need not be read
    if judged and engine.givers() and chosen[JUDGE] in (None, *_judges_of(engine)):
        chosen = {**chosen, JUDGE: RELEASED}
    respondents = {
        CHAINED: model.name if set(benchmark.CHAINED) & set(conditions) else None,
        EXTRACTOR: chosen[EXTRACTOR] if benchmark.CLOSED else None,
        **{pass_: chosen.get(pass_) for pass_ in benchmark.JUDGES},
    }
    return {pass_: name for pass_ in PASSES if (name := respondents.get(pass_))}


def _judges_of(engine: Engine) -> set[str]:
    """The one judge of all an engine's answers; nobody where there are several, or none."""
    judges = engine.givers()
    return judges if len(judges) == 1 else set()


def card_of_released(engine: Engine) -> ModelCard | None:
    """The card of the one judge who gave released verdicts, for its price; None where there is none."""
    name = next(iter(_judges_of(engine)), "")
    return read_card(name, "config/judge") if name in stems("config/judge") else None
