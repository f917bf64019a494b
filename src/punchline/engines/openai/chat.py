"""The chat completions protocol without its network: what is sent, and servers' words as they are passed on."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from punchline.core.engine import ImageFiles, image_file
from punchline.engines.openai.refusals import WORDS_MOST
from punchline.errors import PunchlineError
from punchline.schema import Image, Request, Scalar, Text
from punchline.text import without_secret

SHORTEST_KEY = 8  # characters
REASON_LENGTH = 300  # characters of a server's words that are passed on

_MEDIA_TYPE = re.compile(
    rb"(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpeg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)|(?P<webp>RIFF.{4}WEBP)|(?P<bmp>BM)",
    re.DOTALL,
)


def messages(request: Request, images: ImageFiles) -> list[dict[str, Any]]:
    """The request's messages as the protocol has them; images as data URIs of the unchanged bytes, parts in order."""
    result: list[dict[str, Any]] = []
    for message in request.messages:
        content = [_part(part, request, images) for part in message.content]
        one_text = [part["type"] for part in content] == ["text"]  # some servers take no list from "system"
        result.append({"role": message.role, "content": content[0]["text"] if one_text else content})
    return result


def media_type(content: bytes) -> str | None:
    """Media type of an image, told from its first bytes; None for one that no API takes."""
    match = _MEDIA_TYPE.match(content)
    return f"image/{match.lastgroup}" if match else None


def _part(part: Text | Image, request: Request, images: ImageFiles) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    file = image_file(part.sha256, request, images)
    kind = media_type(content := file.read_bytes())
    if kind is None:
        what, hint = "no API takes this kind of image", "Use PNG, JPEG, GIF, WebP or BMP"
        raise PunchlineError(what, file=file, record=request.item_id, hint=hint)
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{base64.b64encode(content).decode()}"}}


def flat(parameters: Mapping[str, Any]) -> dict[str, Scalar]:
    """Parameters as a record holds them: what is no scalar becomes its JSON."""
    return {k: json.dumps(v, sort_keys=True) if isinstance(v, (dict, list)) else v for k, v in parameters.items()}


def same_model(requested: str, served: str) -> bool:
    """True if `served` names the model that was asked for: itself, or a dated release of it."""
    requested, served = (name.lower().removeprefix("models/") for name in (requested, served))
    dated = r"[-@](\d{4}-?\d{2}-?\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{3,4})"
    return requested == served or bool(re.fullmatch(re.escape(requested.removesuffix("-latest")) + dated, served))


def redacted(text: str, secrets: Iterable[str]) -> str:
    """Text without secrets, and without any part of one of at least SHORTEST_KEY characters.

    A secret of fewer than SHORTEST_KEY characters is a placeholder (EMPTY, none): words stay as they are.
    """
    for secret in secrets:
        if not any(secret[at : at + SHORTEST_KEY] in text for at in range(len(secret) - SHORTEST_KEY + 1)):
            continue
        for size in range(len(secret), SHORTEST_KEY - 1, -1):
            for at in range(len(secret) - size + 1):
                text = text.replace(secret[at : at + size], "[key]")
    return text


def one_line(text: str, secrets: Iterable[str]) -> str:
    """A server's words on one short line, without secrets."""
    words = " ".join(without_secret(redacted(text[:WORDS_MOST], secrets)).split())
    words = "".join(filter(str.isprintable, words))
    return words if len(words) <= REASON_LENGTH else words[: REASON_LENGTH - 1] + "…"
