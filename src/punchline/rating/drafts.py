"""Drafts of StripCipher's texts: models write them, raters choose and correct, strips.json gets the accepted ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import chain
from operator import attrgetter
from pathlib import Path

from msgspec.structs import replace

from punchline.benchmarks.stripcipher.studies import (
    ANSWER,
    CATEGORY,
    DISTRACTOR,
    Accepted,
    Draft,
    draft_requests,
    parse_drafts,
    with_accepted,
)
from punchline.benchmarks.stripcipher.words import plain
from punchline.config.cards import read_card
from punchline.core import engine as engines
from punchline.errors import check_file
from punchline.fetch.manifests import ANNOTATION_COLUMNS
from punchline.files import csv_text, parse_csv, write_text
from punchline.grouping import grouped
from punchline.paths import journal
from punchline.rating.votes import CastVote, ShownText, Unit, Votes
from punchline.respond import answered, image_files
from punchline.schema import Item, sha256
from punchline.tables.ratings import leading

TEXTS = 4  # of a question: an answer and three distractors


def units(items: Mapping[str, Item], models: Sequence[str], seed: int) -> list[Unit]:
    """A unit per strip and task with the drafts of models, which are asked once and journalled."""
    requests = [request for item in items.values() for request in draft_requests(item)]
    pool: list[Draft] = []
    for model in models if requests else ():
        card = read_card(model)
        with closing(engines.load(card, seed)) as engine:
            key, log = engines.model_key(engine, card, "stripcipher"), journal("stripcipher", f"drafts/{model}")
            images = image_files(items.values())
            with answered(engine, requests, images, journal=log, key=key, label=f"drafts of {model}") as answers:
                responses = [answers.read((request.request_id, key)) for request in requests]
        pool += parse_drafts(requests, responses, model)
    return draft_units(items, pool)


def draft_units(items: Mapping[str, Item], pool: Sequence[Draft]) -> list[Unit]:
    """A unit per strip and task, answers before distractors, with empty texts to write in if drafts are too few."""
    drafts = grouped(sorted(pool, key=attrgetter("kind")), attrgetter("item_id", "task"))
    units = []
    for (item_id, task), group in sorted(drafts.items()):
        picture = items[item_id].images[0]
        texts = [ShownText(source=draft.source, text=draft.text, kind=draft.kind) for draft in group]
        texts += [ShownText(source="", text="", kind=DISTRACTOR)] * (TEXTS - len(texts))
        units.append(Unit(item_id=item_id, task=task, texts=tuple(texts), picture=picture.path, sha256=picture.sha256))
    return units


def texts_of(answers: Mapping[str, str]) -> tuple[ShownText, ...]:
    """The texts that a rater used, the answer first."""
    used = [(answers.get(f"use-{place}"), answers.get(f"text-{place}", "")) for place in range(len(answers))]
    texts = [ShownText(source="", text=text, kind=kind) for kind, text in used if kind]
    return tuple(sorted(texts, key=attrgetter("kind")))


def _content(texts: Sequence[ShownText]) -> frozenset[tuple[str, str]]:
    """Kinds and words of texts, by which they are compared."""
    return frozenset((one.kind, plain(one.text)) for one in texts)


def wrong(answers: Mapping[str, str]) -> str:
    """Reason why a page cannot be saved; "" if it can."""
    used = texts_of(answers)
    kinds = [one.kind for one in used]
    if not used or (kinds == [ANSWER, *[DISTRACTOR] * 3] and len({plain(one.text) for one in used} - {""}) == TEXTS):
        return ""
    return "a question needs one answer and three distractors, all different, or none at all."


def winner(votes: Sequence[CastVote]) -> CastVote | None:
    """The vote that most raters of a unit agree with; None if several lead."""
    versions = [(_content(texts_of(vote.answers)), vote.answers.get(CATEGORY, "")) for vote in votes]
    version = leading(Counter(versions))
    return None if version is None else votes[versions.index(version)]


def used(votes: Sequence[CastVote]) -> tuple[ShownText, ...]:
    """All texts that a unit's raters used, each once, in the words of the first."""
    texts: dict[str, ShownText] = {}
    for shown in chain.from_iterable(texts_of(vote.answers) for vote in votes):
        texts.setdefault(plain(shown.text), shown)
    return tuple(sorted(texts.values(), key=attrgetter("kind")))


def accepted(votes: Votes) -> dict[int, tuple[tuple[ShownText, ...], str]]:
    """(texts, category) by unit that all its raters have rated and most agree on."""
    winners = ((unit, winner(given)) for unit, given in votes.rated().items())
    return {unit: (texts_of(vote.answers), vote.answers.get(CATEGORY, "")) for unit, vote in winners if vote}


def verified(votes: Votes) -> list[Unit]:
    """A random tenth of the accepted pages, with their texts as accepted, to be checked (section 4)."""
    texts = {unit: texts for unit, (texts, _) in accepted(votes).items() if texts}
    drawn = sorted(random.Random(f"verify/{votes.sheet.seed}").sample(sorted(texts), -(-len(texts) // 10)))
    return [replace(votes.sheet.units[unit], texts=texts[unit]) for unit in drawn]


def unchanged(votes: Votes) -> int:
    """Number of pages whose raters accept the texts exactly as they were shown."""
    units = votes.sheet.units
    return sum(_content(texts) == _content(units[unit].texts) for unit, (texts, _) in accepted(votes).items())


def export(votes: Votes, out: Path) -> tuple[int, int]:
    """Write accepted texts into strips.json and its digest into the manifest; (pages accepted, pages still even)."""
    check_file(out, "no such file")
    pages, entries = accepted(votes), []
    for index, (texts, category) in pages.items():
        unit = votes.sheet.units[index]
        if texts or category:
            entries.append(Accepted(unit.item_id, unit.task, tuple(one.text for one in texts), category))
    text = with_accepted(out.read_bytes(), entries, str(out))
    write_text(out, text)
    listed = out.with_name("annotations.csv")
    if listed.is_file():
        lines = [cells for _, cells in parse_csv(listed.read_bytes(), ANNOTATION_COLUMNS, file=listed)]
        for cells in lines:
            if cells["path"] == out.name:
                cells |= {"sha256": sha256(text.encode()), "bytes": str(len(text.encode()))}
        write_text(listed, csv_text(ANNOTATION_COLUMNS, lines))
    return len(entries), len(votes.rated()) - len(pages)
