"""What Hummus trains on (section 6.4): the answers that its annotations give, in the form that its parser reads.

The paper says neither how it writes answers with several metaphors or boxes nor which label it trains ImageLabel on:
all of one, the first object of the other, are ours. Labels are those of the rule `paper`, as in table 7.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from punchline.benchmarks.hummus import JOINT, POSITIVE, split
from punchline.benchmarks.hummus.answers import named, object_name
from punchline.benchmarks.hummus.instructions import involves_is_a
from punchline.benchmarks.hummus.scope import in_scope
from punchline.read import highlight
from punchline.schema import Gold, Item, Request, Rule

CLUSTER = "contest"  # what a cluster is called in recipes
RULE: Rule = "paper"
_WORDS = (  # as punchline.read.highlight has them; then parts of words: <i>they</i>'re
    re.compile(r"\w+(?:['’]\w+)*"),
    re.compile(r"\w+"),
)


def held_out(item: Item) -> bool:
    """Whether tables 6 and 7 test on the item, so that it is never trained on."""
    return split.held_out(item.cluster)


def target(request: Request, item: Item, gold: Gold) -> str | None:
    """The answer to train on; None where the gold has none, or none that can be written in the form asked for."""
    task = request.task
    if task == JOINT or not in_scope(task, gold, RULE):
        return None
    if task.startswith("classification"):
        positive = gold.values["labels"][RULE] in POSITIVE
        if task == "classification_a_b":
            return "A" if involves_is_a(item.item_id) == positive else "B"
        return "Yes" if positive else "No"
    if task == "naming":
        return naming(gold.values["metaphors"])
    if task == "image_bbox":
        return boxes(gold.values["objects"], gold.values["boxes"])
    if task == "image_label":
        return next((name for name in gold.values["objects"] if object_name(name)), None)
    if task == "caption_hl":
        return marked(str(item.fields["caption"]), gold.values["highlight"])
    return str(gold.values["explanation"]).strip()


def naming(metaphors: Sequence[str]) -> str | None:
    """All metaphors, in capitals as the prompt's example is, "; " between them."""
    found = [text.upper() for text in metaphors]
    return "; ".join(found) if named("; ".join(found)) == tuple(found) else None


def boxes(objects: Sequence[str], found: Sequence[Sequence[float]]) -> str | None:
    """One line a box, its sides to three decimals; None where boxes have no names of their own."""
    if len(objects) != len(found):
        return None
    lines = []
    for name, sides in zip(objects, found, strict=True):
        label = " ".join(name.replace("[", " ").replace("]", " ").split())
        lines.append(f"{label}: [{', '.join(f'{side:.3f}' for side in sides)}]")
    return "\n".join(lines)


def marked(caption: str, words: Sequence[str]) -> str | None:
    """The caption with <i></i> around the words, which gold has in order; None where it does not have them all.

    A word that the caption has several times is taken where fewest pairs of tags are needed, the first time else.
    """
    found = (_marked(caption, words, pattern) for pattern in _WORDS)
    return next((text for text in found if text and highlight.highlighted(text) == tuple(words)), None)


def _marked(caption: str, words: Sequence[str], pattern: re.Pattern[str]) -> str | None:
    places = [(highlight.words(word[0]), word.start(), word.end()) for word in pattern.finditer(caption)]
    n, m = len(places), len(words)
    # fewest[i][j][k]: pairs of tags for words[j:] in places[i:]; k: the word before places[i] is marked
    endless = m + 1
    fewest = [[[endless, endless] for _ in range(m + 1)] for _ in range(n + 1)]
    fewest[n][m] = [0, 0]
    for i in range(n - 1, -1, -1):
        for j in range(m, -1, -1):
            fits = j < m and places[i][0] == (words[j],)
            for before in (0, 1):
                skip = fewest[i + 1][j][0]
                take = fewest[i + 1][j + 1][1] + (1 - before) if fits else endless
                fewest[i][j][before] = min(skip, take, endless)
    if not words or fewest[0][0][0] >= endless:
        return None
    spans: list[tuple[int, int]] = []
    j = before = 0
    for i in range(n):
        fits = j < m and places[i][0] == (words[j],)
        if fits and fewest[i + 1][j + 1][1] + (1 - before) <= fewest[i + 1][j][0]:
            _, start, end = places[i]
            if before:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
            j, before = j + 1, 1
        else:
            before = 0
    text, at = "", 0
    for start, end in spans:
        text += f"{caption[at:start]}<i>{caption[start:end]}</i>"
        at = end
    return text + caption[at:]
