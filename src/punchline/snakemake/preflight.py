"""Checks before the first job: API keys, mirror, GPUs and memory that a run needs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from punchline import paths
from punchline.artifacts.passes import JUDGES
from punchline.artifacts.project import Project
from punchline.artifacts.run import key_so_far
from punchline.config import adapters
from punchline.config.cards import read_card
from punchline.config.recipes import read_recipe
from punchline.config.resources import too_small
from punchline.core.engine import Engine, has_all_images
from punchline.core.storage import Stored
from punchline.errors import PunchlineError
from punchline.grouping import grouped
from punchline.journal import Answers
from punchline.schema import ModelCard, Request
from punchline.workflow.provenance import Status

LOCAL = ("transformers", "vllm")  # engines whose weights may be the hub's
IGNORED = "OPENAI_BASE_URL is ignored: a card without `base_url` asks OpenAI's server; write the address into the card"


def ignores_address(project: Project) -> bool:
    """True if the environment names another server than OpenAI's and a model's card names none."""
    cards = (card for card in project.cards.values() if card.engine == "openai")
    return bool(os.environ.get("OPENAI_BASE_URL")) and any(card.options.get("base_url") is None for card in cards)


def cannot_run(card: ModelCard, engine: Engine) -> str | None:
    """Reason why a model cannot run on this machine; None when it can."""
    return engine.unavailable() or too_small(card)


def check(project: Project, mirror: str | None, jobs: Iterable[Any], *, here: bool) -> None:
    """Raises PunchlineError for the first thing that a run lacks.

    `jobs`: of Snakemake, about to run; `here`: on this machine, not on nodes, whose GPUs are not seen from here.
    """
    of_rules = grouped(jobs, lambda job: str(job.rule.name))
    by_rule = {name: [dict(job.wildcards_dict) for job in of_rule] for name, of_rule in of_rules.items()}
    if mirror and "fetch" in by_rule and not mirror.startswith(("http://", "https://")) and not Path(mirror).is_dir():
        what = f"{mirror} is neither a folder nor an http(s) address"
        raise PunchlineError(what, file="--config", field="mirror", hint="Folders are relative to the project")
    trained = [wildcards["adapter"] for wildcards in by_rule.get("train", ())]
    for name in trained:
        base = read_card(read_recipe(name).base)
        _must_run(base, too_small(base) if here else None)
    for card, engine, requests in _requests_by_respondent(project, by_rule):
        adapter = card.options.get("adapter")
        if here and adapter in trained and engine.unavailable() == adapters.how_to_train(str(adapter)):
            continue  # this run trains it
        if here and card.engine in LOCAL and cannot_run(card, engine) is None:
            engine.identity()  # a hub that does not know the model is found before the fetch; its revision is locked
        if (card.engine == "openai" or here) and any(_missing(card, engine, *one) for one in requests):
            _must_run(card, cannot_run(card, engine) if here else engine.unavailable())


Sought = list[tuple[str, str, list[str]]]  # (benchmark, path of requests, paths of journals)


def _requests_by_respondent(
    project: Project, by_rule: dict[str, list[dict[str, str]]]
) -> Iterator[tuple[ModelCard, Engine, Sought]]:
    """Respondents with what they are asked. A scorer that cannot run leaves its column empty and stops nobody."""
    status = Status()
    unknown = set()
    for name in (wildcards["benchmark"] for wildcards in by_rule.get("prepare", ())):
        if any(status(step) for step in project.built_by("prepare", name) if step.rule != "gold"):
            unknown.add(name)
    for respondent in dict.fromkeys(wildcards["respondent"] for wildcards in by_rule.get("respond", ())):
        if respondent.removeprefix(JUDGES) in project.selection.scorers:
            continue
        requests: Sought = []
        for round_ in project.rounds(respondent):
            journals = paths.with_shards(project.journal(respondent, round_))
            for model in round_.models:
                file = project.paths.requests(round_.benchmark, model if round_.pass_ else "", round_.pass_)
                is_unknown = not round_.pass_ and round_.benchmark in unknown
                requests.append((round_.benchmark, "" if is_unknown else file, journals))
        yield project.card_of(respondent), project.engine_of(respondent), requests


def _missing(card: ModelCard, engine: Engine, benchmark: str, requests: str, journals: Sequence[str]) -> bool:
    """True if an answer is still to be asked for, as far as that is known before the run."""
    if cannot_run(card, engine) is None:
        return False  # nothing to find out
    if not Path(requests).is_file():
        return True
    key, known = key_so_far(engine, card, benchmark), Answers(journals)
    still = (one for one in Stored(requests, Request) if (one.request_id, key) not in known)
    return any(has_all_images(request) or not engine.looks_at(benchmark) for request in still)


def _must_run(card: ModelCard, why: str | None) -> None:
    if why:
        hint = "Nothing was started; `punchline models` lists what can run here"
        raise PunchlineError(f"it cannot run: {why}", file=card.file, hint=hint)
