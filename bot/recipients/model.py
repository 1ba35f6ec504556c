"""Recipients, and how a saved one is found."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from bot.core.text import plain
from bot.settlement.model import PayoutMethod


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who receives the rupiah. `number` is the result of `clean_number`. `holder` is None if no name was given."""

    method: PayoutMethod
    number: str
    holder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRecipient:
    """A recipient that is offered again. `label` is the user's own name for it ("Ibu")."""

    id: str
    user_id: int
    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(default=None, repr=False)
    label: str | None = field(default=None, repr=False)
    created_at: datetime
    last_used_at: datetime


def recipient_title(recipient: SavedRecipient) -> str:
    """Return the user's own name for the recipient, else the holder's. It may be empty."""
    return recipient.label or recipient.holder or ""


def find_saved(
    recipients: Iterable[SavedRecipient], method: PayoutMethod | None, number: str | None
) -> SavedRecipient | None:
    """Return the recipient at this destination with this number, or None.

    Code and name of a destination are compared as a pair. `number` is in the form that is sent.
    """
    if method is None or not number:
        return None
    return next((each for each in recipients if each.method.pair == method.pair and each.number == number), None)


def find_by_name(recipients: Iterable[SavedRecipient], typed: str) -> tuple[SavedRecipient, ...]:
    """Return the recipients with the typed name."""
    wanted = plain(typed).casefold()
    return tuple(each for each in recipients if wanted and plain(recipient_title(each)).casefold() == wanted)


def find_by_beginning(recipients: Iterable[SavedRecipient], typed: str) -> tuple[SavedRecipient, ...]:
    """Return the recipients whose name begins with `typed`."""
    wanted = plain(typed).casefold()
    return tuple(each for each in recipients if wanted and plain(recipient_title(each)).casefold().startswith(wanted))
