"""Entities that Telegram detects in any text: commands, mentions, addresses, hashtags, phone numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.text import utf16

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import JsonObject

_TOP_LEVEL = "com|org|net|io|id|me|app|dev|info|xyz|co|gov|edu|ai|gg|uk|sg|my|link|site|money|finance"
_EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z]{2,24}(?![\w-])"
_URL = (
    r"(?:https?|tg)://[^\s<>\"']+"
    rf"|(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]{{0,61}}[a-z0-9])?\.)+(?:{_TOP_LEVEL})(?![\w-])(?:[/?#][^\s<>\"']*)?"
)
_PATTERNS = (
    ("email", re.compile(_EMAIL, re.IGNORECASE)),
    ("url", re.compile(_URL, re.IGNORECASE)),
    ("bot_command", re.compile(r"(?<![\w/@#<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/])", re.ASCII)),
    ("mention", re.compile(r"(?<![\w/@.])@[A-Za-z0-9_]{4,32}(?!\w)", re.ASCII)),
    ("hashtag", re.compile(r"(?<![\w#&/])#(?=\w*[^\W\d_])\w{1,256}(?![\w#])")),
    ("cashtag", re.compile(r"(?<![\w$])\$[A-Z]{1,8}(?!\w)")),
    ("phone_number", re.compile(r"(?<![\w+])\+\d(?:[ ()-]{0,2}\d){6,14}(?!\w)")),
)
_TRAILING = ".,;:!?)'\"”\u2019…"
_WORTH_A_LOOK = re.compile(r"[@#$/+]|\.\w")


def find(text: str, taken: list[tuple[int, int]]) -> list[JsonObject]:
    """Return the entities outside of `taken`, UTF-16 ranges that other entities cover."""
    if not _WORTH_A_LOOK.search(text):
        return []
    positions = utf16.Positions(text)
    taken = list(taken)
    found: list[JsonObject] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            words = match[0].rstrip(_TRAILING) if kind == "url" else match[0]
            start = positions.units(match.start())
            end = positions.units(match.start() + len(words))
            if not any(start < other_end and other_start < end for other_start, other_end in taken):
                taken.append((start, end))
                found.append({"type": kind, "offset": start, "length": end - start})
    return found
