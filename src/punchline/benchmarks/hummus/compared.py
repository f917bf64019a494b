"""Texts without a model for a scorer: pairs that tables 8 and 9 print with their similarity, and the parts that the
annotations mark in image and caption with the domains of their metaphors (section 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from punchline.benchmarks.hummus import NAME
from punchline.benchmarks.hummus.data import Metaphor, metaphors, pairs
from punchline.benchmarks.hummus.plain import plain
from punchline.core.benchmark import DEFAULT, Files, comparison
from punchline.read import highlight
from punchline.schema import Request

Printed = Mapping[str, str]  # a row of config/published/

DOMAINS = {"image_in_target_domain": "target", "caption_in_source_domain": "source"}  # statistic: domain
CASED = "cosine_cased"  # the column of pairs in the case in which they are printed
_VERB = re.compile(r"\s(?:is|are|has|have)\s", re.IGNORECASE)


class Marked(NamedTuple):
    """The marked parts of an image or caption, and the terms of its metaphors by domain."""

    parts: tuple[str, ...]
    terms: dict[str, tuple[str, ...]]  # target, source


def data_requests(files: Files, printed: Sequence[Printed]) -> list[Request]:
    """Printed pairs, as all texts are compared and as they are printed; each marked part with each term."""
    made = [one for row in printed for one in of_pair(row).values()]
    for item_id, statistics in marked_parts(files).items():
        for marked in statistics.values():
            terms = [term for own in marked.terms.values() for term in own]
            made += [compare(item_id, part, term) for part in marked.parts for term in terms]
    return list({request.request_id: request for request in made}.values())


def compare(item_id: str, candidate: str, reference: str) -> Request:
    """A request for the similarity of two texts, in the form in which all are compared."""
    return comparison(NAME, item_id, "cosine", DEFAULT, plain(candidate), plain(reference))


def of_pair(row: Printed) -> dict[str, Request]:
    """{"" for lower case, or CASED: request} of a printed row with `output=…;reference=…` as its key."""
    keys = keys_of(row)
    candidate, reference = keys["output"], keys["reference"]
    cased = comparison(NAME, row["table"], "cosine", DEFAULT, candidate, reference)
    return {"": compare(row["table"], candidate, reference), CASED: cased}


def keys_of(row: Printed) -> dict[str, str]:
    """The texts of a printed row, by the name of their column."""
    return dict(part.split("=", 1) for part in row["key"].split(";"))


def marked_parts(files: Files) -> dict[str, dict[str, Marked]]:
    """{item id: {statistic: marked parts}} of the metaphorical pairs of hummus_dataset.json."""
    found = {}
    for item_id, pair in pairs(files).items():
        if isinstance(pair, Metaphor):
            sides = zip(*(_VERB.split(one, maxsplit=1) for one in metaphors(pair.conceptual_metaphor)), strict=True)
            terms = {domain: tuple(dict.fromkeys(side)) for domain, side in zip(DOMAINS.values(), sides, strict=True)}
            parts = pair.objects, highlight.passages(pair.caption_hl)
            own = zip(DOMAINS, parts, strict=True)
            found[item_id] = {statistic: Marked(tuple(dict.fromkeys(texts)), terms) for statistic, texts in own}
    return found
