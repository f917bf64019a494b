"""Answers that do not answer: refusals, and pictures that were not seen."""

from __future__ import annotations

import re

from punchline.read import dress
from punchline.read.result import Read, reader

_NOT_ABLE = (
    r"(?:cannot|can't|can not|could not|couldn't|am unable to|'m unable to|am not able to|'m not able to|won't"
    r"|will not|unable to|am not going to|must decline to|have to decline to)"
)
_ACTS = (
    r"(?:see|view|access|open|load|display|assist|help|provide|comply|answer|determine|identify|analy[sz]e|process"
    r"|interpret|evaluate|tell|say"
    r"|explain|describe|complete|do that|fulfil+|engage|discuss|give|read|make out|respond|choose|participate"
    r"|create|generate|support)"
)
_PICTURE = r"(?:image|picture|comic|cartoon|photo|attachment|file|strip|panels?|visual|illustration|upload)s?"
_REFUSAL = re.compile(
    rf"\b(?:i|we)(?: \w+ly)? ?{_NOT_ABLE} (?:\w+ly )?(?:be able to )?{_ACTS}\b"
    rf"|\b(?:i'?m|i am|we are|we're) (?:really |very |so |terribly )?(?:sorry|afraid)\b(?! (?:but )?i (?:do not"
    rf"|don't) (?:get|understand))"
    rf"|(?:^|[.!\n]\s?)(?:sorry|apologies|unfortunately)\b"
    rf"(?! for (?:the|any|my) (?:confusion|mix-?up|mistake|error|typo))"
    rf"(?!(?<=unfortunately) for (?:him|her|them|(?:the|his|her|their) \w+))"
    rf"|\b(?:do not|don't) have (?:the )?(?:ability|capability|capacity|means) to\b|\b(?:message|request|conversation"
    rf"|input|prompt) (?:does|did)(?:n't| not) (?:contain|include|have) (?:\w+ ){{0,2}}{_PICTURE}\b"
    rf"|\bi apologi[sz]e\b|\bas an ai\b"
    rf"|\b(?:against|violates?) (?:my|our|the|openai\S*) (?:\w+ )?(?:polic(?:y"
    rf"|ies)|guidelines)"
    rf"|\b(?:no|any|the|an?|your) {_PICTURE} (?:was|were|is|are|has been|have been|seems?|appears?|does|did|failed"
    rf"|to be)? ?"
    rf"(?:not |n't |to be |been )*(?:provided|attached|included|uploaded|visible|shown|present|given|missing|found"
    rf"|loaded|load|available|(?<!panel )(?<!panels )here|blank|come through|open)"
    rf"|\b(?:do not|don't|did not|didn't|cannot|can't) (?:see|have|find|receive|get|detect) (?:access to )?(?:any"
    rf"|an|the|your|a) (?:\w+ )?{_PICTURE}\b"
    rf"|\b(?:please|could you|can you|you could) (?:\w+ )?(?:provide|upload|attach|share|re-?upload|resend|send)\b"
    rf"|\bno (?:\w+ )?{_PICTURE}\b(?! (?:style|humou?r|modality|pun))|\bi (?:must |have to |would )?(?:decline"
    rf"|refuse|prefer not)\b"
    rf"|\b(?:it is|it's) (?:not possible|impossible) (?:for me )?to (?:determine|answer|say|tell|identify)"
    rf"|\b(?:cannot|can't) be (?:determined|identified|answered|seen|named|read)\b|\b(?:not"
    rf"|n't) enough (?:information|context)\b|\binsufficient (?:information|context)\b"
)
_BEGINNING = 1_500  # characters in which a refusal is looked for


def refuses(low: str) -> bool:
    """Whether a plain text in lower case says that it does not answer."""
    return _found(low) is not None


def _found(low: str) -> re.Match[str] | None:
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
    """Whether a plain text in lower case ends with asking what was wanted."""
    return _ASKS.search(low, max(0, len(low) - 200)) is not None


@reader
def refusal(answer: str) -> Read[bool]:
    """True, with the span of its words, where an answer declines, or says that it saw no picture; nothing elsewhere.

    It looks at the beginning only, and does not ask whether an answer follows all the same: readers of answers do.
    """
    text = dress.plain(answer, head=_BEGINNING, tail=0)
    match = _found(text.low)
    return Read(True, *text.span(match.start(), match.end())) if match else Read(None)
