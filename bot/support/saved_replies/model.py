"""Answers that support uses again: what they are called, and what stands for the case at hand."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final

from bot.core import templates
from bot.core.errors import Rejection
from bot.core.text import plain

VARIABLES: Final = ("reference", "ticket", "amount", "destination")
"""The order's reference, the ticket's, the rupiah that arrive, and where, masked."""

OF_ORDERS: Final = frozenset({"reference", "amount", "destination"})
"""What an answer about no order can't be filled with."""

MOST: Final = 60
"""Answers that are kept: more are found by nobody."""

LONGEST: Final = 1500
"""In Telegram's units: both languages of one are shown in a message."""

_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])")


def read_name(typed: str) -> str:
    """What an answer is to be called: short, and fit for a button ("Bank is late" is `bank-is-late`).

    Raises:
        Rejection: it isn't 2 to 20 letters and digits.
    """
    name = re.sub(r"[ _-]+", "-", plain(typed).casefold()).strip("-")
    if not _NAME.fullmatch(name):
        raise Rejection("answers.name")
    return name


def read_text(html: str) -> str:
    """A text with variables. Raises `Rejection` as `templates.read` does."""
    return templates.read(html, VARIABLES)


def needs_order(template: str) -> bool:
    """Whether it can be used in a ticket about an order alone."""
    return bool(templates.variables_in(template) & OF_ORDERS)


def stamp(filled: str) -> str:
    """Tells whether what was looked at is still what would be sent."""
    return sha256(filled.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReply:
    """An answer to be used again: `texts` by language, with variables in braces."""

    name: str
    texts: Mapping[str, str]
    updated_at: datetime
    updated_by: int
