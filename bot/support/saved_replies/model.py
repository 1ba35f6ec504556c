"""Saved replies: their names, their texts, and the variables in them."""

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
"""The order's reference, the ticket's, the amount in rupiah, and the masked destination."""

OF_ORDERS: Final = frozenset({"reference", "amount", "destination"})
"""Variables that only a ticket about an order has."""

MAX_COUNT: Final = 60
"""Saved replies at most: nobody finds one among more."""

MAX_UNITS: Final = 1500
"""Of a text, in Telegram's units: both languages of a reply are shown in one message."""

_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])")


def read_name(typed: str) -> str:
    """Return the name that was typed, as buttons can hold it ("Bank is late" is `bank-is-late`).

    Raises:
        Rejection: it isn't 2 to 20 letters and digits.
    """
    name = re.sub(r"[ _-]+", "-", plain(typed).casefold()).strip("-")
    if not _NAME.fullmatch(name):
        raise Rejection("answers.name")
    return name


def read_text(html: str) -> str:
    """Return a text with variables. Raises `Rejection` as `templates.read` does."""
    return templates.read(html, VARIABLES)


def needs_order(template: str) -> bool:
    """Return whether it can be used only in a ticket about an order."""
    return bool(templates.variables_in(template) & OF_ORDERS)


def compute_stamp(filled: str) -> str:
    """Return a short hash, to compare what a preview showed with what would be sent."""
    return sha256(filled.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReply:
    """A saved reply: `texts` by language, with variables in braces."""

    name: str
    texts: Mapping[str, str]
    updated_at: datetime
    updated_by: int
