"""A full recipient in front of a support agent, until it is masked again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.infra.outbox.model import DeliveryOutcome
from bot.orders.order import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """A full recipient in front of a member of staff, in their private chat, until it is masked again."""

    id: str
    reference: str
    staff_id: int
    message_id: int | None = None
    at: datetime
    until: datetime
    masked_at: datetime | None = None


class RevealScreen(Protocol):
    """The one message in which a member of staff sees a full recipient, in their private chat."""

    async def open(self, staff_id: int, order: Order) -> DeliveryOutcome:
        """Send it, with nothing in it yet that isn't masked; it can't be forwarded."""
        ...

    async def show(self, reveal: Reveal, order: Order) -> DeliveryOutcome:
        """Put the full recipient in."""
        ...

    async def mask(self, reveal: Reveal, order: Order | None) -> DeliveryOutcome:
        """Take it out again; `Sent` too where there is no such message any more."""
        ...
