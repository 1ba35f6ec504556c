"""A full recipient in front of a support agent: why they can see it, for how long, and the message that shows it."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.infra.outbox.model import DeliveryOutcome
from bot.orders.order import Order
from bot.recipients.matching import mask

SHOWN_FOR: Final = timedelta(minutes=1)
MIN_CHARACTERS, MAX_CHARACTERS = 3, 200
"""Characters of a reason."""

_NUMBER: Final = re.compile(r"\d(?:[ .-]?\d){5,}")
"""What can be an account number. Others read the reason later, and need only the last digits."""


class Reason(StrEnum):
    """The usual reasons; any other is typed."""

    COMPARE = "compare"  # the user says or shows where the payout should have gone
    WRONG = "wrong"  # the user says that the number was wrong
    TRACE = "trace"  # the bank or the service asks for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """A full recipient in front of a support agent, in their private chat, until it is masked again."""

    id: str
    reference: str
    staff_id: int
    message_id: int | None = None
    at: datetime
    until: datetime
    masked_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Return whether it has to be masked now, which it has also where the clock was set back since."""
        return not self.at <= now < self.until


class RevealScreen(Protocol):
    """The message in which a support agent sees a full recipient, in their private chat."""

    async def open(self, staff_id: int, order: Order) -> DeliveryOutcome:
        """Send the message, still masked. It can't be forwarded."""
        ...

    async def show(self, reveal: Reveal, order: Order) -> DeliveryOutcome:
        """Replace the mask by the full recipient."""
        ...

    async def mask(self, reveal: Reveal, order: Order | None) -> DeliveryOutcome:
        """Mask the recipient again. `Sent` also where the message no longer exists."""
        ...


def read_reason(typed: str) -> str:
    """Return a reason as the audit log keeps it: one line, with account numbers masked.

    Raises:
        Rejection: it says too little, or too much.
    """
    reason = _NUMBER.sub(lambda found: mask(re.sub(r"\D", "", found[0])), plain(typed))
    if len(reason) < MIN_CHARACTERS or not any(map(str.isalpha, reason)):
        raise Rejection("reveal.reason_too_short")
    if len(reason) > MAX_CHARACTERS:
        raise Rejection("reveal.reason_too_long", longest=MAX_CHARACTERS)
    return reason
