"""Texts without a model for a scorer: pairs that tables 8 and 9 print with their similarity, and the parts that the
annotations mark in image and caption with the domains of their metaphors (section 5)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from punchline.benchmarks.hummus import NAME
from punchline.benchmarks.hummus.data import Metaphor, metaphors, pairs
from punchline.benchmarks.hummus.scope import plain
from punchline.core.benchmark import DEFAULT, Files, comparison
from punchline.read import highlight
from punchline.schema import Request

Printed = Mapping[str, str]  # a row of config/published/

# statistic: the domain that it counts, the other one; "X is Y" has its target first
DOMAINS = {"image_in_target_domain": ("target", "source"), "caption_in_source_domain": ("source", "target")}
CASED = "cosine_cased"  # the column of pairs in the case in which they are printed
_VERB = re.compile(r"\s(?:is|are|has|have)\s", re.IGNORECASE)


def data_requests(files: Files, printed: Sequence[Printed]) -> list[Request]:
    """Printed pairs, as all texts are compared and as they are printed; each marked part with each term."""
    requests = [request for row in printed for request in of_pair(row).values()] + list(marked_parts(files)["request"])
    return list({request.request_id: request for request in requests}.values())


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


def marked_parts(files: Files) -> pd.DataFrame:
    """Marked parts of image and caption of the metaphorical pairs, each with each term of their metaphors.

    Columns: item_id, statistic (of DOMAINS), part, domain (target or source), request to compare part and term.
    """
    rows = []
    for item_id, pair in pairs(files).items():
        if isinstance(pair, Metaphor):
            sides = zip(*(_VERB.split(one, maxsplit=1) for one in metaphors(pair.conceptual_metaphor)), strict=True)
            sided = zip(("target", "source"), sides, strict=True)
            terms = [(domain, term) for domain, side in sided for term in dict.fromkeys(side)]
            marked = zip(DOMAINS, (pair.objects, highlight.passages(pair.caption_hl)), strict=True)
            for statistic, part in ((statistic, part) for statistic, parts in marked for part in dict.fromkeys(parts)):
                rows += [(item_id, statistic, part, domain, compare(item_id, part, term)) for domain, term in terms]
    return pd.DataFrame(rows, columns=["item_id", "statistic", "part", "domain", "request"])
