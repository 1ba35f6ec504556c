"""A full recipient in front of a support agent, until it is masked again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.infra.outbox.model import DeliveryOutcome
from bot.orders.order import Order


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
