"""Answers that do not answer: refusals, and pictures that were not seen."""

from __future__ import annotations

import re

from punchline.read import normalize
from punchline.read.result import Read, reader

_NOT_ABLE = (
    r"(?:cannot|can't|can not|could not|couldn't|am unable to|'m unable to|am not able to|'m not able to|won't|will not"
    r"|unable to|am not going to|must decline to|have to decline to)"
)
_ACTS = (
    r"(?:see|view|access|open|load|display|assist|help|provide|comply|answer|determine|identify|analy[sz]e|process"
    r"|interpret|evaluate|tell|say(?! (?:that )?i\b)|explain|describe|complete|do that|fulfil+|engage|discuss|give|read"
    r"|make out|respond|choose|participate|create|generate|support)"
)
_PICTURE = r"(?:image|picture|comic|cartoon|photo|attachment|file|strip|panels?|visual|illustration|upload)s?"
_REFUSAL = re.compile(
    rf"\b(?:i|we)(?: \w+ly)? ?{_NOT_ABLE} (?:\w+ly )?(?:be able to )?{_ACTS}\b|\b(?:i'?m|i am|we are|we're) (?:really "
    rf"|very |so |terribly )?(?:sorry|afraid)\b(?! (?:but )?i (?:do not|don't) (?:get|understand))|(?:^"
    rf"|[.!\n]\s?)(?:sorry|apologies|unfortunately)\b(?! for (?:the|any|my) (?:confusion|mix-?up|mistake|error"
    rf"|typo))(?!(?<=unfortunately) for (?:him|her|them|(?:the|his|her|their) \w+))|\b(?:do not"
    rf"|don't) have (?:the )?(?:ability|capability|capacity|means) to\b|\b(?:message|request|conversation|input"
    rf"|prompt) (?:does|did)(?:n't| not) (?:contain|include|have) (?:\w+ ){{0,2}}{_PICTURE}\b|\bi apologi[sz]e\b"
    rf"|\bas an ai\b|\b(?:against|violates?) (?:my|our|the|openai\S*) (?:\w+ )?(?:polic(?:y|ies)|guidelines)|\b(?:no"
    rf"|any|the|an?|your) {_PICTURE} (?:was|were|is|are|has been|have been|seems?|appears?|does|did|failed"
    rf"|to be)? ?(?:not |n't |to be |been )*(?:provided|attached|included|uploaded|visible|shown|present|given|missing"
    rf"|found|loaded|load|available|(?<!panel )(?<!panels )here|blank|come through|open)|\b(?:do not|don't|did not"
    rf"|didn't|cannot|can't) (?:see|have|find|receive|get|detect) (?:access to )?(?:any|an|the|your"
    rf"|a) (?:\w+ )?{_PICTURE}\b|\b(?:please|could you|can you|you could) (?:\w+ )?(?:provide|upload|attach|share"
    rf"|re-?upload|resend|send)\b|\bno (?:\w+ )?{_PICTURE}\b(?! (?:style|humou?r|modality|pun))|\bi (?:must |have to "
    rf"|would )?(?:decline|refuse|prefer not)\b|\b(?:it is|it's) (?:not possible|impossible) (?:for me )?to "
    rf"(?:determine|answer|say|tell|identify)|\b(?:cannot|can't) be (?:determined|identified|answered|seen|named"
    rf"|read)\b|\b(?:not|n't) enough (?:information|context)\b|\binsufficient (?:information|context)\b"
)
_BEGINNING = 1_500  # characters in which a refusal is looked for


def refuses(low: str) -> bool:
    """True if a plain text in lower case says that it does not answer."""
    return _first_match(low) is not None


def _first_match(low: str) -> re.Match[str] | None:
    """The first words of a refusal that somebody in the picture, or a sign, does not say."""
    for match in _REFUSAL.finditer(low[:_BEGINNING]):
        before = low[: match.start()]
        if before.count('"') % 2 == 0 or not before[: before.rfind('"')].strip():
            return match
    return None


_ASKS = re.compile(
    r"\b(?:what (?:would you like|do you want|should i|can i)|how (?:can|may) i (?:help|assist)|which (?:one|of them"
    r"|option) do you mean)\b[^?]{0,80}\?\W*$"
)


def asks_back(low: str) -> bool:
    """True if a plain text in lower case ends with asking what was wanted."""
    return _ASKS.search(low, max(0, len(low) - 200)) is not None


@reader
def refusal(answer: str) -> Read[bool]:
    """True, with the span of its words, where an answer declines, or says that it saw no picture; nothing elsewhere.

    It looks at the beginning only, and does not ask whether an answer follows all the same: readers of answers do.
    """
    text = normalize.plain(answer, head=_BEGINNING, tail=0)
    match = _first_match(text.low)
    return Read(True, *text.span(match.start(), match.end())) if match else Read(None)
