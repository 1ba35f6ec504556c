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
from bot.orders.order import OrderStatus

VARIABLES: Final = ("reference", "ticket", "amount", "destination")
"""The references of the order and the ticket, the amount in rupiah, and the masked destination."""

OF_ORDERS: Final = frozenset({"reference", "amount", "destination"})
"""The variables that need a ticket about an order."""

FITS: Final[Mapping[str, frozenset[OrderStatus]]] = {
    "payment-received": frozenset({OrderStatus.PAID, OrderStatus.CONVERTING, OrderStatus.SENDING}),
    "bank-delay": frozenset({OrderStatus.SENT}),
    "failed-checking": frozenset({OrderStatus.FAILED_PAID}),
    "paid-expired": frozenset({OrderStatus.EXPIRED, OrderStatus.GIVEN_UP, OrderStatus.FAILED_UNPAID}),
    "done": frozenset({OrderStatus.SENT}),
}
"""The states of an order for which the first saved replies are written, by name. Others fit any state."""

MAX_COUNT: Final = 60
"""Maximum number of saved replies."""

MAX_UNITS: Final = 1500
"""Maximum length of a text, in Telegram's units. One message shows a reply in both languages."""

_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])")


def read_name(typed: str) -> str:
    """Return a typed name in the form that buttons can hold ("Bank is late" becomes `bank-is-late`).

    Raises:
        Rejection: the name isn't 2 to 20 letters, digits and hyphens.
    """
    name = re.sub(r"[ _-]+", "-", plain(typed).casefold()).strip("-")
    if not _NAME.fullmatch(name):
        raise Rejection("support.saved_reply.name")
    return name


def read_text(html: str) -> str:
    """Return a typed text with its variables checked. Raise `Rejection` as `templates.read` does."""
    return templates.read(html, VARIABLES)


def needs_order(template: str) -> bool:
    """Return whether a text has a variable that only an order can fill."""
    return bool(templates.find_variables(template) & OF_ORDERS)


def hash_text(filled: str) -> str:
    """Return a short hash of a text, to notice if it has changed since its preview."""
    return sha256(filled.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReply:
    """A saved reply. `texts` are by language, with variables in braces."""

    name: str
    texts: Mapping[str, str]
    updated_at: datetime
    updated_by: int
