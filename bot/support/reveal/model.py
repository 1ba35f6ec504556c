"""Reveals: who sees a full recipient, for which reason, until when, and in which message."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.infra.outbox.model import DeliveryOutcome
from bot.recipients.matching import mask_number
from bot.support.service_orders import Subject

SHOWN_FOR: Final = timedelta(minutes=1)
MIN_CHARACTERS, MAX_CHARACTERS = 3, 200
"""Characters of a reason."""

_NUMBER: Final = re.compile(r"\d(?:[ .-]?\d){5,}")
"""What can be an account number. Readers of the audit log need only its last digits."""


class Reason(StrEnum):
    """The usual reasons. Agents can type another."""

    COMPARE = "compare"  # the user says or shows where the payout should have gone
    WRONG = "wrong"  # the user says that the number was wrong
    TRACE = "trace"  # the bank or the service asks for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """A full recipient that a support agent sees in their private chat, until it is masked."""

    id: str
    reference: str
    staff_id: int
    message_id: int | None = None
    at: datetime
    until: datetime
    masked_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Return whether the recipient has to be masked now. It also has to if the clock was set back since."""
        return not self.at <= now < self.until


class RevealScreen(Protocol):
    """The message that shows a full recipient in a support agent's private chat."""

    async def open(self, staff_id: int, order: Subject) -> DeliveryOutcome:
        """Send the message without the recipient. It can't be forwarded."""
        ...

    async def show(self, reveal: Reveal, order: Subject) -> DeliveryOutcome:
        """Show the full recipient."""
        ...

    async def mask(self, reveal: Reveal, order: Subject | None) -> DeliveryOutcome:
        """Mask the recipient. Return `Sent` also if the message no longer exists."""
        ...


def read_reason(typed: str) -> str:
    """Return a typed reason for the audit log: one line, with account numbers masked.

    Raises:
        Rejection: the reason is too short or too long.
    """
    reason = _NUMBER.sub(lambda found: mask_number(re.sub(r"\D", "", found[0])), plain(typed))
    if len(reason) < MIN_CHARACTERS or not any(map(str.isalpha, reason)):
        raise Rejection("support.reveal.reason_too_short")
    if len(reason) > MAX_CHARACTERS:
        raise Rejection("support.reveal.reason_too_long", longest=MAX_CHARACTERS)
    return reason
